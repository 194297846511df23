//! The map of a capacity test: speed and errors over the addresses, as a picture.

use cardproof_record::{CapacityRegion, CapacityTest};
use cardproof_units::Bytes;

use crate::clean::Html;
use crate::clean::put;
use crate::kept::ChartFile;

/// The picture's measures, in its own units.
const WIDTH: f64 = 960.0;
const HEIGHT: f64 = 160.0;
const MARK: f64 = 14.0;

/// Appends the map, where something was read.
pub(super) fn write(page: &mut String, test: Option<&CapacityTest>) -> Option<ChartFile> {
    let test = test.filter(|test| test.regions.iter().any(is_read))?;
    let regions = &test.regions;
    let fastest = regions.iter().filter_map(speed).fold(0.0, f64::max);
    let width = WIDTH / regions.len() as f64;
    let mut picture = String::new();
    put!(
        picture,
        "<svg viewBox=\"0 0 {WIDTH} {}\" width=\"100%\" role=\"img\" aria-label=\"{}\">\n",
        HEIGHT + MARK,
        Html(&summary(test))
    );
    for (number, region) in regions.iter().enumerate() {
        let left = number as f64 * width;
        if let Some(speed) = speed(region) {
            let height = (speed / fastest * HEIGHT).max(1.0);
            put!(
                picture,
                "<rect x=\"{left:.2}\" y=\"{:.2}\" width=\"{:.2}\" height=\"{height:.2}\" \
                 fill=\"currentColor\" opacity=\"0.55\"/>\n",
                HEIGHT - height,
                width * 0.9
            );
        }
        if region.wrong > 0 {
            put!(
                picture,
                "<rect x=\"{left:.2}\" y=\"{HEIGHT}\" width=\"{:.2}\" height=\"{MARK}\" \
                 fill=\"var(--alarm)\"/>\n",
                width * 0.9
            );
        }
    }
    picture.push_str("</svg>\n");
    put!(
        page,
        "<section id=\"map\">\n<h2>Map of the addresses</h2>\n{picture}<p>{}</p>\n</section>\n",
        Html(&summary(test))
    );
    Some(ChartFile::of("map of the addresses", &summary(test), &picture, csv(test)))
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

/// Bytes a second.
fn speed(region: &CapacityRegion) -> Option<f64> {
    let seconds = region.read_time_ns.as_secs_f64();
    (seconds > 0.0).then(|| region.read_bytes.as_f64() / seconds)
}

/// What the picture shows, in words.
fn summary(test: &CapacityTest) -> String {
    let part = Bytes(test.announced_bytes.get() / (test.regions.len() as u64).max(1));
    let speeds: Vec<f64> = test.regions.iter().filter_map(speed).collect();
    let least = speeds.iter().copied().fold(f64::INFINITY, f64::min) / 1e6;
    let most = speeds.iter().copied().fold(0.0, f64::max) / 1e6;
    let wrong = test.regions.iter().filter(|region| region.wrong > 0).count();
    let how = if test.surface_bytes > Bytes::ZERO {
        "everything was read in order"
    } else {
        "test blocks were read one by one, so compare the bars with each other only"
    };
    let errors = match wrong {
        0 => "No part had errors.".to_owned(),
        1 => "One part, marked below its bar, had errors or wrong data.".to_owned(),
        parts => format!("{parts} parts, marked below their bars, had errors or wrong data."),
    };
    format!(
        "Each bar is the reading speed of {part}, from the first address on the left to the last: \
         {least:.1} to {most:.1} MB/s; {how}. {errors}"
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
        let mut page = String::new();
        write(&mut page, Some(&test));
        assert!(page.contains("1 MiB, from the first address"), "{page}");
        assert!(page.contains("25.0 to 100.0 MB/s"), "{page}");
        assert_eq!(page.matches("var(--alarm)").count(), 1, "{page}");
        let mut none = String::new();
        write(&mut none, Some(&CapacityTest::default()));
        assert_eq!(none, "", "nothing was read, nothing is drawn");
    }
}
