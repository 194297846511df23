//! The map of a capacity test: speed and errors over the addresses, as a picture.

use cardproof_rating::capacity;
use cardproof_record::{CapacityRegion, CapacityTest, CapacityVerdict, Record};
use cardproof_units::Bytes;

use crate::clean::put;
use crate::drawing::{Colour, Drawing, Paint, Shape, Tone};
use crate::kept::ChartFile;
use crate::markup::{Markup, markup};

use super::parts::{close_fold, open_fold};

/// The picture's measures, in its own units.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 160.0;
const MARK: f64 = 14.0;

const HEADING: &str = "Map of the addresses";

/// Appends the map of `record`, where something was read; folded where the record measured the speed too.
pub(super) fn write(page: &mut Markup, record: &Record) -> Option<ChartFile> {
    let test = record.capacity().filter(|test| test.regions.iter().any(is_read))?;
    let found = capacity(record)
        .filter(|found| found.verdict == CapacityVerdict::Fake && found.holds_front);
    let is_folded = !record.phases.is_empty();
    match is_folded {
        true => open_fold(page, "map", HEADING),
        false => markup!(page, "<section id=\"map\">\n<h2>{}</h2>\n", HEADING),
    }
    let map = draw(page, test, found.map(|found| found.real_size.0));
    match is_folded {
        true => close_fold(page),
        false => page.literal("</section>\n"),
    }
    Some(map)
}

/// Draws the map. Of a fake, the parts from the capacity `real` on are marked: writes to them overwrite
/// the parts below, so wrong data there says nothing of the parts below.
fn draw(page: &mut Markup, test: &CapacityTest, real: Option<Bytes>) -> ChartFile {
    let regions = &test.regions;
    let fastest = regions.iter().filter_map(speed).fold(0.0, f64::max);
    let width = WIDTH / regions.len() as f64;
    let mut shapes = Vec::new();
    for (number, region) in regions.iter().enumerate() {
        let left = number as f64 * width;
        if let Some(speed) = speed(region) {
            let height = (speed / fastest * HEIGHT).max(1.0);
            let paint = Paint::filled(Colour::Ink).faint(0.55);
            let size = (width * 0.9, height);
            shapes.push(Shape::rectangle((left, HEIGHT - height), size, paint));
        }
        if is_bad(test, number, real) {
            let paint = Paint::filled(Colour::Tone(Tone::Alarm));
            shapes.push(Shape::rectangle((left, HEIGHT), (width * 0.9, MARK), paint));
        }
    }
    let (title, size) = (summary(test, real), (WIDTH, HEIGHT + MARK));
    let picture = Drawing { title, size, font_size: 12.0, shapes };
    page.drawing(&picture, "map-of-addresses");
    markup!(page, "<p>{}</p>\n", summary(test, real));
    ChartFile::new("map of the addresses", &summary(test, real), picture, csv(test))
}

/// A line for each bar.
fn csv(test: &CapacityTest) -> String {
    let mut out = String::from("part,bytes_per_s,wrong\n");
    for (number, region) in test.regions.iter().enumerate() {
        let speed = speed(region).map_or(String::new(), |speed| format!("{speed:.0}"));
        put!(out, "{},{speed},{}\n", number + 1, region.wrong);
    }
    out
}

const fn is_read(region: &CapacityRegion) -> bool {
    region.readings > 0
}

/// Whether the part `number` keeps no data.
fn is_bad(test: &CapacityTest, number: usize, real: Option<Bytes>) -> bool {
    match real {
        Some(real) => part_of(test).get() * number as u64 >= real.get(),
        None => test.regions[number].wrong > 0,
    }
}

/// How much of the addresses each bar stands for.
fn part_of(test: &CapacityTest) -> Bytes {
    Bytes(test.announced_bytes.get() / (test.regions.len() as u64).max(1))
}

/// Bytes a second.
fn speed(region: &CapacityRegion) -> Option<f64> {
    let seconds = region.read_time_ns.as_secs_f64();
    (seconds > 0.0).then(|| region.read_bytes.as_f64() / seconds)
}

/// What the picture shows, in words.
fn summary(test: &CapacityTest, real: Option<Bytes>) -> String {
    let speeds: Vec<f64> = test.regions.iter().filter_map(speed).collect();
    let least = speeds.iter().copied().fold(f64::INFINITY, f64::min) / 1e6;
    let most = speeds.iter().copied().fold(0.0, f64::max) / 1e6;
    let all = test.regions.len();
    let wrong = (0..all).filter(|number| is_bad(test, *number, real)).count();
    let how = if test.surface_bytes > Bytes::ZERO {
        "Everything was read in order."
    } else {
        "Test blocks were read one by one, so compare the bars with each other only."
    };
    let errors = match (wrong, real) {
        (_, Some(real)) => format!(
            "The {wrong} parts of {all} that are marked below their bars lie above the real capacity of \
             {real}. They keep no data."
        ),
        (0, None) => "No part had errors.".to_owned(),
        (1, None) => "One part, marked below its bar, had errors or wrong data.".to_owned(),
        (parts, None) => {
            format!("{parts} parts, marked below their bars, had errors or wrong data.")
        }
    };
    format!(
        "Each bar stands for {} of addresses, from the first on the left to the last. Its height is the \
         reading speed ({least:.1} to {most:.1} MB/s). {how} {errors}",
        part_of(test)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use cardproof_units::Nanos;

    #[test]
    fn speed_and_errors_are_drawn_by_address() {
        let region = |wrong, millis| CapacityRegion {
            readings: 1,
            wrong,
            read_bytes: Bytes(1_000_000),
            read_time_ns: Nanos::from_millis(millis),
        };
        let test = CapacityTest {
            announced_bytes: Bytes::mib(2),
            regions: vec![region(0, 10), region(3, 40)],
            ..CapacityTest::default()
        };
        let mut page = Markup::default();
        draw(&mut page, &test, None);
        let page = page.into_text();
        assert!(page.contains("stands for 1 MiB of addresses"), "{page}");
        assert!(page.contains("25.0 to 100.0 MB/s"), "{page}");
        assert_eq!(page.matches("var(--alarm)").count(), 1, "{page}");
    }

    #[test]
    fn of_a_fake_the_parts_above_its_real_capacity_are_marked() {
        let region = |wrong| CapacityRegion {
            readings: 1,
            wrong,
            read_bytes: Bytes(1_000_000),
            read_time_ns: Nanos::from_millis(10),
        };
        // Writes above 2 MiB have overwritten the first part.
        let test = CapacityTest {
            announced_bytes: Bytes::mib(8),
            regions: [1, 0, 0, 1, 0, 0, 1, 0].map(region).to_vec(),
            ..CapacityTest::default()
        };
        let mut page = Markup::default();
        draw(&mut page, &test, Some(Bytes::mib(2)));
        let page = page.into_text();
        assert_eq!(page.matches("var(--alarm)").count(), 6, "{page}");
        assert!(page.contains("The 6 parts of 8 that are marked"), "{page}");
    }
}
