//! Lines out of a pipe while they come, without waiting where there are none.

use std::fs::File;
use std::io::{self, Read};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How often the pipe is looked at when it was empty.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// Hands each line of `pipe`, which does not block, to `take`, until `is_done` and nothing is left.
pub(super) fn read(
    mut pipe: File,
    is_done: &AtomicBool,
    mut take: impl FnMut(&str),
) -> io::Result<()> {
    let mut buffer = vec![0; 64 << 10];
    let mut rest: Vec<u8> = Vec::new();
    loop {
        // Looked at before the buffer, so that nothing comes between.
        let is_last = is_done.load(Ordering::Relaxed);
        let length = match pipe.read(&mut buffer) {
            Ok(length) => length,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        };
        match length {
            0 if is_last => return Ok(()),
            0 => std::thread::sleep(LOOK_EVERY),
            _ => take_lines(&buffer[..length], &mut rest, &mut take),
        }
    }
}

/// Hands over the whole lines of `rest` and `bytes`, and keeps what is begun.
fn take_lines(bytes: &[u8], rest: &mut Vec<u8>, take: &mut impl FnMut(&str)) {
    rest.extend_from_slice(bytes);
    let Some(end) = rest.iter().rposition(|&byte| byte == b'\n') else { return };
    for line in rest[..end].split(|&byte| byte == b'\n') {
        take(&String::from_utf8_lossy(line));
    }
    rest.drain(..=end);
}
