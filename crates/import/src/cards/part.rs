//! What the readers find in one part of a text.

use super::Part;
use crate::draft::RecordDraft;
use crate::lines::Line;
use crate::{ForeignTool, ImportError};

/// What the readers find in a part.
///
/// # Errors
/// There are too many measurements. Other errors are added to `refused`.
pub(super) fn read(
    part: &Part<'_, '_>,
    refused: &mut Vec<ImportError>,
) -> Result<Option<Box<RecordDraft>>, ImportError> {
    let mut found: Option<Box<RecordDraft>> = None;
    let mut read: Vec<ForeignTool> = Vec::new();
    let mut failed: Vec<(ForeignTool, ImportError)> = Vec::new();
    for reader in part.marks.readers() {
        match (reader.read)(part.lines) {
            Ok(mut draft) => {
                if reader.is_script {
                    part.lines.iter().for_each(Line::claim);
                }
                refused.extend(draft.refused.take());
                read.push(reader.tool);
                draft.sign(reader.tool);
                match &mut found {
                    Some(found) => found.absorb(draft),
                    None => found = Some(Box::new(draft)),
                }
            }
            Err(error @ ImportError::TooMany { .. }) => return Err(error),
            Err(error) => failed.push((reader.tool, error)),
        }
    }
    // A tool with several forms has a reader of each, and its banner calls them all.
    failed
        .retain(|(tool, error)| !matches!(error, ImportError::Ends { .. }) || !read.contains(tool));
    refused.extend(failed.into_iter().map(|(_, error)| error));
    Ok(found.filter(|found| found.has_content()))
}
