//! What several fuzz targets share: changes of a known document, for one that the fuzzer would have to
//! invent field by field.

/// What ends a change.
const END: u8 = 0xff;

/// `document` with pieces put in the place of others: of each change in `data` two bytes say where, one
/// says how long the old piece is, and the rest is the new piece.
#[must_use]
pub fn changed(document: &str, data: &[u8]) -> String {
    let mut bytes = document.as_bytes().to_vec();
    for change in data.split(|&byte| byte == END) {
        let Some((head, piece)) = change.split_first_chunk::<3>() else { continue };
        let at = usize::from(u16::from_le_bytes([head[0], head[1]])) % bytes.len();
        let end = (at + usize::from(head[2])).min(bytes.len());
        bytes.splice(at..end, piece.iter().copied());
        if bytes.is_empty() {
            return String::new();
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
