//! `cardproof watch` as its user has it, on whatever this machine does.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::home::Home;
use crate::process::run;

fn watch(words: &[&str]) -> Command {
    Home::new().cardproof(&[&["watch"], words].concat())
}

/// The documents on standard output, a line each.
pub(crate) fn documents(stdout: &str) -> Vec<Value> {
    stdout.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn once_in_json_is_exactly_one_document() {
    let ended = run(watch(&["--once", "--json", "--interval", "200ms"])).expect(0);
    let [document] = documents(&ended.stdout).try_into().unwrap();
    assert_eq!(document["schema"], "cardproof.watch/1");
    assert!(document["window_ns"].as_u64().unwrap() >= 200_000_000);
    assert!(document["limited_by"]["limit"].is_string(), "{document}");
    assert!(document["cpu"]["cpus"].as_u64().unwrap() >= 1);
    assert_eq!(ended.stderr, "");
}

#[test]
fn who_writes_is_asked_of_the_current_directory_unless_another_is_named() {
    let home = Home::new();
    let mut command = home.cardproof(&["watch", "--who", "--time", "100ms"]);
    command.current_dir("/");
    let ended = run(command);
    // Below a container's root there may be no device.
    let named = run(home.cardproof(&["watch", "--who", "--time", "100ms", "/"]));
    assert_eq!(ended.code(), named.code(), "{} {}", ended.stderr, named.stderr);
    assert!(!ended.stderr.contains("name one device"), "{}", ended.stderr);
}

#[test]
fn a_pipe_gets_a_block_of_plain_lines_for_each_window() {
    let ended = run(watch(&["--count", "2", "--interval", "100ms"])).expect(0);
    let blocks: Vec<&str> = ended.stdout.trim_end().split("\n\n").collect();
    assert_eq!(blocks.len(), 2, "{}", ended.stdout);
    for block in blocks {
        assert!(block.contains("CPU user"), "{block}");
        let last = block.lines().last().unwrap();
        let is_told =
            ["Limited by ", "No bottleneck: "].iter().any(|start| last.starts_with(start));
        assert!(is_told, "{block}");
    }
    assert!(!ended.stdout.contains('\x1b'), "{}", ended.stdout);
}

#[test]
fn the_log_is_added_to_and_can_be_explained() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("rows.txt");
    let path = log.to_str().unwrap();
    for _ in 0..2 {
        let words = ["--count", "2", "--interval", "100ms", "--log", path, "--json"];
        run(watch(&words)).expect(0);
    }
    let text = fs::read_to_string(&log).unwrap();
    assert_eq!(text.matches("\nDevice ").count(), 4, "{text}");
    if text.lines().any(|line| {
        line.starts_with(|c: char| c.is_ascii_lowercase()) && !line.starts_with("avg-cpu")
    }) {
        let told = run(watch(&["--explain", path])).expect(0).stdout;
        assert!(told.contains("4 reports") || told.contains("Idle throughout"), "{told}");
    }
}

const SLOW_CARD: &str = "\
Device:            tps    kB_read/s    kB_wrtn/s    kB_read    kB_wrtn
mmcblk0          25.00         0.00       700.00          0      14000
mmcblk0          27.00         0.40       900.00          8      18000
mmcblk0          31.00         0.00       990.00          0      19800
";

#[test]
fn a_log_is_explained_in_words_and_in_json() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("iostat.txt");
    fs::write(&log, SLOW_CARD).unwrap();
    let path = log.to_str().unwrap();
    let told = run(watch(&["--explain", path])).expect(0).stdout;
    assert!(told.contains("Limited by small writes of the storage mmcblk0"), "{told}");
    assert!(told.contains("28\nrequests/s") || told.contains("28 requests/s"), "{told}");
    let told = run(watch(&["--explain", path, "--json"])).expect(0).stdout;
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!(told["devices"][0]["limited_by"]["limit"], "storage_small_write");
    assert_eq!(told["devices"][0]["time_ns"], 60_000_000_000_u64);
}

#[test]
fn what_is_no_log_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let log = directory.path().join("iostat.txt");
    fs::write(&log, "Dear diary,\nthe card was slow today.\n").unwrap();
    let refused = run(watch(&["--explain", log.to_str().unwrap()])).expect(2);
    assert!(refused.stderr.contains("is not a log that can be explained"), "{}", refused.stderr);
    assert_eq!(refused.stdout, "");
}

#[test]
fn what_cannot_be_watched_is_a_wrong_command_line() {
    for (words, said) in [
        (["nosuchdevice", "--once"], "there is no device or path nosuchdevice"),
        (["--once", "--interval=1ms"], "too short"),
        (["--once", "--count=2"], "cannot be used with"),
        (["--once", "--log=/no/such/directory/rows.txt"], "cannot write"),
    ] {
        let refused = run(watch(&words)).expect(2);
        assert!(refused.stderr.contains(said), "{words:?}: {}", refused.stderr);
    }
}

/// `cardproof watch | head -1` has nobody left to tell after a line.
#[test]
fn a_watch_ends_with_its_reader() {
    let program = watch(&[]);
    let line = "\"$0\" watch --interval 100ms --json | head -n 1";
    let mut piped = Command::new("sh");
    piped.args(["-c", line]).arg(program.get_program());
    let ended = run(piped).expect(0);
    assert!(ended.stdout.starts_with("{\"schema\":\"cardproof.watch/1\""), "{}", ended.stdout);
}

/// A saved record holds what was seen; what limited is derived, and so only on output.
#[test]
fn a_run_tells_what_the_system_did_beside_it() {
    let home = Home::new();
    let place = home.place().to_str().unwrap().to_owned();
    let words = [&["run", &place, "--quiet", "--json", "-"], crate::home::SMALL].concat();
    let shown: Value = serde_json::from_str(&run(home.cardproof(&words)).stdout).unwrap();
    let saved: Value =
        serde_json::from_str(&fs::read_to_string(&home.records()[0]).unwrap()).unwrap();
    let phases = |record: &Value| record["phases"].as_array().unwrap().clone();
    for (shown, saved) in phases(&shown).iter().zip(phases(&saved)) {
        if shown["state"] == "measured" {
            assert!(shown["limited_by"]["limit"].is_string(), "{}", shown["name"]);
            assert!(shown["surroundings"]["activity"]["cpu"].is_object());
        }
        assert!(saved.get("limited_by").is_none());
        let points = saved["surroundings"]["moments"].as_array().map_or(0, Vec::len);
        assert!(points <= 100);
    }
    let seen = &saved["monitor"]["seen"];
    assert!(seen["samples"].as_u64().unwrap() >= 2 * phases(&saved).len() as u64, "{seen}");
    let text = serde_json::to_string(&saved).unwrap();
    assert!(!text.contains(&place), "no path gets into a record");
}
