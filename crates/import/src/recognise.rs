//! Which tools a text is of.

use super::lines::lines;
use super::readers::Marks;
use super::whole;
use super::{ForeignTool, ImportError};

/// The tools whose outputs are in `text`: a script alone, although it runs other tools.
///
/// # Errors
/// It is of none that is known, or holds more measurements than a record may.
pub fn recognise(text: &str) -> Result<Vec<ForeignTool>, ImportError> {
    let lines = lines(text);
    let marks: Vec<Marks> = lines.iter().map(|line| Marks::of(line, None)).collect();
    let whole = whole::read(text, &lines, &marks, None)?;
    let of_whole = whole.into_iter().flat_map(|(_, draft)| draft.tools);
    let marks = marks.into_iter().fold(Marks::default(), Marks::with);
    let mut tools: Vec<ForeignTool> = Vec::new();
    for tool in marks.readers().map(|reader| reader.tool).chain(of_whole) {
        if !tools.contains(&tool) {
            tools.push(tool);
        }
    }
    if tools.is_empty() { Err(ImportError::Unrecognised) } else { Ok(tools) }
}
