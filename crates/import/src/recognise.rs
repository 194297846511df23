//! Which tools a text is of.

use super::lines::lines;
use super::readers::Marks;
use super::{ForeignTool, ImportError};

/// The tools whose outputs are in `text`: a script alone, although it runs other tools.
///
/// # Errors
/// It is of none that is known.
pub fn recognise(text: &str) -> Result<Vec<ForeignTool>, ImportError> {
    let marks = lines(text)
        .iter()
        .map(|line| Marks::of(&line.text, None))
        .fold(Marks::default(), Marks::with);
    if marks.is_empty() {
        return Err(ImportError::Unrecognised);
    }
    Ok(marks.readers().map(|reader| reader.tool).collect())
}
