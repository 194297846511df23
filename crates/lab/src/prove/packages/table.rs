//! Real jobs beside ours, figure by figure.

use std::fmt::Write;

use anyhow::Result;
use cardproof_trace::Shape;

/// By how much a figure of ours may be off, as a part of the real one.
pub(super) const WITHIN: f64 = 0.15;

/// A figure: its name, how it is taken, and how many decimals it is shown with.
struct ShapeFigure {
    name: &'static str,
    of: fn(&Shape) -> f64,
    decimals: usize,
}

const FIGURES: [ShapeFigure; 5] = [
    ShapeFigure { name: "requests", of: |shape| shape.requests() as f64, decimals: 0 },
    ShapeFigure {
        name: "written, MB",
        of: |shape| shape.bytes_written.get() as f64 / 1e6,
        decimals: 0,
    },
    ShapeFigure { name: "flushes", of: |shape| shape.flushes as f64, decimals: 0 },
    ShapeFigure {
        name: "writes up to 4 KiB, %",
        of: |shape| 100.0 * shape.share_up_to_4k(),
        decimals: 1,
    },
    ShapeFigure {
        name: "writes that go on with one of two streams, %",
        of: |shape| 100.0 * shape.sequential_share(2),
        decimals: 1,
    },
];

/// One job, the real one and ours.
pub(super) struct Pair<'a> {
    pub(super) name: &'a str,
    pub(super) real: &'a Shape,
    pub(super) ours: &'a Shape,
}

/// The table, and whether everything in it is near enough.
pub(super) fn table(pairs: &[Pair<'_>]) -> Result<(String, bool)> {
    let mut out = String::new();
    let mut is_good = true;
    writeln!(out, "| job | figure | apt and dpkg | the job | ratio | within 15 % |")?;
    writeln!(out, "| --- | --- | ---: | ---: | ---: | --- |")?;
    for pair in pairs {
        for (number, figure) in FIGURES.iter().enumerate() {
            let name = if number == 0 { pair.name } else { "" };
            let (real, ours) = ((figure.of)(pair.real), (figure.of)(pair.ours));
            let is_near = (ours / real - 1.0).abs() <= WITHIN;
            is_good &= is_near;
            let (label, decimals) = (figure.name, figure.decimals);
            let verdict = if is_near { "yes" } else { "**no**" };
            writeln!(
                out,
                "| {name} | {label} | {real:.decimals$} | {ours:.decimals$} | {:.2} | {verdict} |",
                ours / real
            )?;
        }
    }
    Ok((out, is_good))
}

#[cfg(test)]
mod tests {
    use cardproof_trace::{Request, RequestKind};
    use cardproof_units::{Bytes, Nanos};

    use super::*;

    fn writes(count: u64) -> Shape {
        let mut shape = Shape::new();
        for block in 0..count {
            let (offset, length) = (Bytes::kib(4 * block), Bytes::kib(4));
            shape.add(&Request::new(Nanos::ZERO, RequestKind::Write, offset, length));
        }
        let (zero, flush) = (Bytes::ZERO, RequestKind::Flush);
        shape.add(&Request::new(Nanos::ZERO, flush, zero, zero));
        shape
    }

    #[test]
    fn one_figure_that_is_off_makes_the_whole_table_off() {
        let (real, near, far) = (writes(100), writes(114), writes(120));
        let pair = |ours| [Pair { name: "job", real: &real, ours }];
        assert!(table(&pair(&near)).unwrap().1);
        let (text, is_good) = table(&pair(&far)).unwrap();
        assert!(!is_good);
        assert!(text.contains("| job | requests | 101 | 121 | 1.20 | **no** |"), "{text}");
        assert!(text.contains("|  | flushes | 1 | 1 | 1.00 | yes |"), "{text}");
    }

    #[test]
    fn what_is_never_there_in_the_real_job_is_not_near() {
        let nothing = Shape::new();
        let (_, is_good) =
            table(&[Pair { name: "job", real: &nothing, ours: &writes(1) }]).unwrap();
        assert!(!is_good);
    }
}
