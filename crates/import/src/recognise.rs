//! Which tool a text is of, by lines that no other tool prints.
//!
//! Scripts that run other tools are asked first, since theirs hold the outputs of those. What has
//! the lines of two tools and is of no such script is refused: the order of two runs, and whether
//! they were on one card, is nothing that a text tells.

use super::text::{Line, lines};
use super::{
    ForeignTool, ImportError, agnostics, dd, f3, fio, flashbench, hdparm, ioping, iozone,
    kdiskmark, microsd_benchmarks, pibenchmarks, sd_card_bench, watched,
};

/// Whether a line is one that only this tool prints.
type Sign = fn(&str) -> bool;

/// The scripts that run other tools.
const SCRIPTS: [(ForeignTool, Sign); 5] = [
    (ForeignTool::SdCardBench, sd_card_bench::is_sign),
    (ForeignTool::Pibenchmarks, pibenchmarks::is_sign),
    (ForeignTool::MicrosdBenchmarks, microsd_benchmarks::is_sign),
    (ForeignTool::Agnostics, agnostics::is_sign),
    (ForeignTool::Kdiskmark, kdiskmark::is_sign),
];

/// The tools that stand alone.
const TOOLS: [(ForeignTool, Sign); 8] = [
    (ForeignTool::Iozone, iozone::is_sign),
    (ForeignTool::Fio, fio::is_sign),
    (ForeignTool::Flashbench, flashbench::is_sign),
    (ForeignTool::Hdparm, hdparm::is_sign),
    (ForeignTool::Dd, dd::is_sign),
    (ForeignTool::F3, f3::is_sign),
    (ForeignTool::Ioping, ioping::is_sign),
    (ForeignTool::Iostat, watched::is_sign),
];

/// The tool whose output `text` is.
///
/// # Errors
/// It is of none that is known, or of several.
pub fn recognise(text: &str) -> Result<ForeignTool, ImportError> {
    of_lines(&lines(text))
}

pub(super) fn of_lines(lines: &[Line]) -> Result<ForeignTool, ImportError> {
    if let Some((script, _)) = first_sign(lines, &SCRIPTS) {
        return Ok(script);
    }
    let Some((first, _)) = first_sign(lines, &TOOLS) else {
        return Err(ImportError::Unrecognised);
    };
    let others: Vec<(ForeignTool, Sign)> =
        TOOLS.into_iter().filter(|(tool, _)| *tool != first).collect();
    match first_sign(lines, &others) {
        None => Ok(first),
        Some((second, line)) => Err(ImportError::Mixed { line, first, second }),
    }
}

/// The first line that is a sign of one of `tools`.
fn first_sign(lines: &[Line], tools: &[(ForeignTool, Sign)]) -> Option<(ForeignTool, usize)> {
    lines.iter().find_map(|line| {
        let (tool, _) = tools.iter().find(|(_, is_sign)| is_sign(&line.text))?;
        Some((*tool, line.number))
    })
}
