//! `verify` of a directory whose file system a FUSE daemon serves: the daemon reads the device through the page
//! cache, which gives back what was written whatever the card has kept.

use std::fs;
use std::path::PathBuf;

use cardproof_testkit::{lab_or_skip, require_root, run as run_tool};
use serde_json::Value;

use crate::home::{Home, word};
use crate::powercut_real::lines_of;
use crate::process::run;

/// A mount that goes when this goes.
struct Mounted(PathBuf);

impl Drop for Mounted {
    fn drop(&mut self) {
        let _ = run_tool("umount", [&self.0]);
    }
}

#[test]
fn a_fake_behind_a_daemon_is_told_and_nothing_stays_in_its_directory() {
    lab_or_skip!(require_root());
    for (size, verdict, status) in [
        ("size = \"64MB\"\nreal_size = \"40MB\"\nbeyond = \"drop\"\n", "fake", 4),
        ("size = \"64MB\"\n", "genuine", 0),
    ] {
        let home = Home::new();
        let card = home.data().join("card.toml");
        fs::write(&card, size).unwrap();
        let words = ["sim", "serve", word(&card), "--speed", "1000", "--quiet"];
        let (_server, lines) = lines_of(home.cardproof(&words), 2);
        let device = lines.iter().find(|line| line.starts_with("/dev/")).unwrap();
        lab_or_skip!(run_tool("mkfs.ntfs", ["-Q", "-F", device]));
        let point = home.data().join("mounted");
        fs::create_dir(&point).unwrap();
        lab_or_skip!(run_tool("ntfs-3g", [device.as_str(), word(&point)]));
        let mounted = Mounted(point);
        let words = ["verify", word(&mounted.0), "--full", "--quiet", "--json", "-"];
        let found = run(home.cardproof(&words)).expect(status);
        let found: Value = serde_json::from_str(&found.stdout).unwrap();
        assert_eq!(found["verdict"], verdict, "{found}");
        assert_eq!(fs::read_dir(&mounted.0).unwrap().count(), 0, "something stays");
    }
}
