//! Names that would steer a terminal or a shell.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt;
use std::process::Command;

use anyhow::Result;
use cardproof_testkit::Noise;

use super::Lab;
use super::world::World;

/// Pieces of hostile names, which are joined at random.
const PIECES: [&[u8]; 12] = [
    b"\x1b[2J",
    b"\x1b]0;title\x07",
    b"\n",
    b"\r",
    b"\xe2\x80\xae",
    b"\xe2\x81\xa6",
    b"\xff\xfe",
    b"'; touch pwned; '",
    b"--destroy",
    b"$(touch pwned)",
    b" ",
    b"%s%n",
];

/// The program on a file and in a directory of such a name.
pub(super) fn hostile(lab: &mut Lab, noise: &mut Noise) -> Result<Option<String>> {
    let world = World::new(noise)?;
    let data = tempfile::tempdir()?;
    let mut name = b"n".to_vec();
    for _ in 0..=noise.below(4) {
        name.extend_from_slice(PIECES[noise.below(PIECES.len() as u64) as usize]);
    }
    let path = data.path().join(OsString::from_vec(name));
    fs::write(&path, "mine")?;
    for words in [
        &["run"][..],
        &["show"],
        &["import"],
        &["replay", "run", "sqlite-wal"],
        &["replay", "list"],
    ] {
        let mut command = Command::new(&lab.program);
        command.args(words).arg(&path).current_dir(world.place());
        let ended = command.env("XDG_DATA_HOME", data.path()).output()?;
        let told = [ended.stdout, ended.stderr].concat();
        let told = String::from_utf8_lossy(&told);
        let steers = |c: char| {
            (c.is_control() && c != '\n')
                || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        if told.contains(steers) {
            return Ok(Some(format!("{words:?} says {told:?}")));
        }
        if fs::read(&path)? != b"mine" || data.path().join("pwned").exists() {
            return Ok(Some(format!("{words:?} changed {}", path.display())));
        }
    }
    world.harm()
}
