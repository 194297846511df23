//! Who makes the synced writes, which slow a card most.

use std::path::Path;
use std::process::{Child, Command, Stdio};

use crate::home::{Home, word};
use crate::said::{in_one_line, said};

/// A program that makes small synced writes until it is dropped.
struct SyncedWriter(Child);

impl SyncedWriter {
    fn start(file: &Path) -> Self {
        let mut command = Command::new("dd");
        command.args(["if=/dev/zero", "bs=4k", "count=10000000", "oflag=dsync", "conv=notrunc"]);
        command.arg(format!("of={}", file.display()));
        Self(command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap())
    }
}

impl Drop for SyncedWriter {
    fn drop(&mut self) {
        // It may have ended, where the disk is full.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What costs a card most is told, however few bytes it has beside other programs'.
#[test]
#[ignore = "on a busy computer the writer waits for a processor; nightly"]
fn who_makes_the_synced_writes_is_named() {
    let home = Home::new();
    let place = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let _writer = SyncedWriter::start(&place.path().join("synced"));
    let words = ["watch", "--who", "--time", "3s", word(place.path())];
    let text = in_one_line(&said(&home, &words, 0).stdout);
    let (_, synced) = text.split_once("Synced writes, which slow a card most, come from ").unwrap();
    assert!(synced.contains("dd (waits "), "{text}");
    assert!(synced.contains(" flushes a minute)"), "{text}");
    let diagnose = ["diagnose", "--time", "3s", word(place.path())];
    let text = in_one_line(&said(&home, &diagnose, 0).stdout);
    assert!(text.contains("dd waited for its synced writes in "), "{text}");
    assert!(text.contains("See which program writes: cardproof watch --who"), "{text}");
}
