//! What whole commands say, and the preparations that several subjects share.

use serde_json::Value;

use crate::home::Home;
use crate::process::{Ended, run};

/// What `words` print in 80 columns, where they end with `status`.
pub(crate) fn said(home: &Home, words: &[&str], status: i32) -> Ended {
    let mut command = home.cardproof(words);
    command.env("COLUMNS", "80");
    run(command).expect(status)
}

/// `text` without its line breaks.
pub(crate) fn in_one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// An error of the command line, and what it must say.
pub(crate) fn refuses(home: &Home, words: &[&str], expected: &str) {
    let ended = said(home, words, 2);
    let message = in_one_line(&ended.stderr);
    assert!(message.contains(expected), "{words:?}: {message}");
    assert_eq!(ended.stdout, "", "{words:?}");
}

/// A short run of `card`, called `label`.
pub(crate) fn measured(home: &Home, card: &str, label: &str) {
    measured_with_seed(home, card, label, "5");
}

/// A short run of `card`, called `label`, with `seed`.
pub(crate) fn measured_with_seed(home: &Home, card: &str, label: &str, seed: &str) {
    let target = format!("sim:{card}");
    let short = ["--size", "32M", "--time-budget", "15s", "--seed", seed, "--quiet"];
    said(home, &[&["run", &target, "--label", label][..], &short].concat(), 0);
}

/// The ids of the records in a list of `home`, in its order.
pub(crate) fn ids(home: &Home) -> Vec<String> {
    let json: Value =
        serde_json::from_str(&said(home, &["list", "--json", "-"], 0).stdout).unwrap();
    let records = json["records"].as_array().unwrap().iter();
    records.map(|record| record["id"].as_str().unwrap().to_owned()).collect()
}

/// What fio prints of writes that may be those of memory.
pub(crate) const FIO: &str = "\
test: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, iodepth=1
fio-3.33
Starting 1 process

test: (groupid=0, jobs=1): err= 0: pid=2212: Sat Nov 21 10:11:12 2026
  write: IOPS=20.5k, BW=80.2MiB/s (84.1MB/s)(401MiB/5004msec); 0 zone resets
";

/// A check of the simulated `card` with a label, and what it has said beside the page.
pub(crate) fn checked(home: &Home, card: &str, label: &str, seed: &str) -> String {
    let target = format!("sim:{card}");
    let words = ["check", &target, "--label", label, "--seed", seed];
    run(home.cardproof(&words)).stderr
}
