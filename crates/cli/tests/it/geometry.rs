//! `cardproof geometry` and `cardproof tune` through the program.

use std::fs;

use cardproof_testkit::{Filesystem, LabError, LoopDevice, Mount, lab_or_skip};
use cardproof_units::Bytes;

use crate::home::{Home, our_directories};
use crate::process::run;

fn json(home: &Home, words: &[&str]) -> serde_json::Value {
    let stdout = run(home.cardproof(words)).expect(0).stdout;
    serde_json::from_str(&stdout).unwrap()
}

const QUANTITIES: [&str; 10] = [
    "allocation_unit",
    "page",
    "open_units_linear",
    "open_units_random",
    "small_write_threshold",
    "slc_cache",
    "slc_recovery",
    "map_reach",
    "mapping",
    "first_area",
];

#[test]
fn every_quantity_is_claimed_with_a_probability_or_has_a_reason() {
    let home = Home::new();
    let words = ["geometry", "sim:sandisk-ultra-a1", "--seed", "1", "--json", "-", "--quiet"];
    let record = json(&home, &words);
    let quantities = record["quantities"].as_object().unwrap();
    assert_eq!(quantities.len(), QUANTITIES.len());
    for name in QUANTITIES {
        let found = &quantities[name];
        let is_reasoned = found["cannot_be_seen"].as_str().is_some_and(|reason| !reason.is_empty());
        let probability = found["probability"].as_f64().unwrap_or(0.0);
        assert!(is_reasoned || (0.5..1.0).contains(&probability), "{name}: {found}");
    }
    assert_eq!(quantities["mapping"]["value"], "pages");
    let timings = record["flash_timings"].to_string();
    assert!(
        timings.contains("\"difference_ns\":-"),
        "a read over a boundary can be the faster one"
    );
    run(home.cardproof(&["show", "latest", "--markdown", "-"])).expect(0);
    run(home.cardproof(&["tune", "sim:sandisk-ultra-a1", "--geometry", "latest"])).expect(0);
}

#[test]
fn the_axes_of_the_charts_are_labelled_with_whole_powers_of_two() {
    let home = Home::new();
    let page = home.place().join("page.html");
    let words = ["geometry", "sim:sandisk-ultra", "--seed", "1", "--quiet", "--html"];
    run(home.cardproof(&[&words[..], &[page.to_str().unwrap()]].concat())).expect(0);
    let page = fs::read_to_string(page).unwrap();
    let words = page.split("</text>").filter_map(|before| before.rsplit('>').next());
    let sizes: Vec<&str> = words.filter(|word| word.ends_with("iB")).collect();
    // By the amount written, and by the alignment.
    for expected in [["256 MiB", "512 MiB", "768 MiB"], ["16 KiB", "128 KiB", "1 MiB"]] {
        assert!(expected.iter().all(|size| sizes.contains(size)), "{expected:?}: {sizes:?}");
    }
    assert!(sizes.iter().all(|size| !size.contains('.')), "{sizes:?}");
}

#[test]
fn a_log_of_flashbench_carries_the_same_quantities() {
    let home = Home::new();
    let log = home.place().join("flashbench.log");
    // As in flashbench's README: an allocation unit of 4 MiB.
    let rows: String = (11..28)
        .rev()
        .map(|power: u32| {
            let extra = match power {
                22.. => 300,
                14.. => 165,
                13 => 53,
                _ => 5,
            };
            let align = 1_u64 << power;
            format!("align {align}\tpre 740µs\ton {}µs\tpost 780µs\tdiff {extra}µs\n", 760 + extra)
        })
        .collect();
    fs::write(&log, rows).unwrap();
    let record = json(&home, &["import", log.to_str().unwrap(), "--json", "-"]);
    assert_eq!(record["quantities"]["allocation_unit"]["value"], 4 << 20);
    assert!(record["quantities"]["slc_cache"]["cannot_be_seen"].is_string());
}

#[test]
fn a_device_is_only_read_without_leave() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(96), 7));
    let before = fs::read(device.image()).unwrap();
    let home = Home::new();
    let path = device.path().to_str().unwrap().to_owned();
    let record = json(&home, &["geometry", &path, "--json", "-", "--quiet"]);
    assert_eq!(record["bytes_written"], 0);
    let reason = record["quantities"]["open_units_linear"]["cannot_be_seen"].as_str().unwrap();
    assert!(reason.contains("writes"), "{reason}");
    assert!(fs::read(device.image()).unwrap() == before, "the device was written to");
}

#[test]
fn a_directory_with_a_small_range_is_not_told_to_name_a_directory() {
    let home = Home::new();
    let place = home.place().to_str().unwrap().to_owned();
    let said = run(home.cardproof(&["geometry", &place, "--size", "1M", "--details"])).expect(0);
    assert!(said.stderr.contains("With --size 768M or more"), "{}", said.stderr);
    let details = said.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(details.contains("too small for writes, which need 768 MiB"), "{}", said.stdout);
    assert!(!said.stdout.contains("not allowed"), "{}", said.stdout);
}

#[test]
fn a_plan_changes_nothing() {
    let home = Home::new();
    let place = home.place().to_str().unwrap().to_owned();
    let plan = json(&home, &["tune", &place, "--json", "-", "--quiet"]);
    let commands = plan["steps"].to_string();
    assert!(!commands.contains("sfdisk") && !commands.contains("mkfs"), "a directory is no device");
    for step in plan["steps"].as_array().unwrap() {
        for key in ["why", "commands", "gain", "risk", "undo"] {
            assert!(!step[key].is_null(), "{step}");
        }
        assert!(step["gain"]["not_measured"].is_string(), "a gain without --prove: {step}");
    }
    assert!(our_directories(home.place()).is_empty());
    assert!(plan["applied"].as_array().unwrap().is_empty());
}

#[test]
fn partition_and_file_system_lie_as_planned() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(256)));
    let home = Home::new();
    let path = device.path().to_str().unwrap().to_owned();
    run(home.cardproof(&["tune", &path, "--apply", "--destroy", "--quiet"])).expect(3);
    let destroy = format!("--destroy={}", device.identity().unwrap());
    let words = ["tune", &path, "--apply", &destroy, "--quiet"];
    run(home.cardproof(&words)).expect(0);
    let table = std::process::Command::new("sfdisk").args(["--json", &path]).output().unwrap();
    let table: serde_json::Value = serde_json::from_slice(&table.stdout).unwrap();
    let partition = &table["partitiontable"]["partitions"][0];
    assert_eq!(partition["start"], (8 << 20) / 512, "{partition}");
    assert_eq!(partition["size"].as_u64().unwrap() % ((8 << 20) / 512), 0, "{partition}");
    let image = fs::read(device.image()).unwrap();
    // The superblock's magic, 1024 bytes into the partition.
    assert_eq!(image[(8 << 20) + 1024 + 56..][..2], [0x53, 0xef]);
}

#[test]
fn a_device_in_use_gets_no_plan_that_deletes_it() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(64)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    let home = Home::new();
    let path = device.path().to_str().unwrap();
    let said = run(home.cardproof(&["tune", path])).expect(0).stdout;
    assert!(!said.contains("mkfs") && !said.contains("sfdisk"), "{said}");
    let point = mount.path().to_str().unwrap();
    assert!(said.replace('\n', " ").contains(&format!("is in use (mounted at {point})")), "{said}");
    let destroy = format!("--destroy={}", device.identity().unwrap());
    run(home.cardproof(&["tune", path, "--apply", &destroy])).expect(3);
}

#[test]
fn a_large_file_that_is_no_image_of_a_disk_gets_no_plan() {
    let home = Home::new();
    let file = home.place().join("film.mp4");
    let write = |bytes: &[u8]| {
        fs::write(&file, bytes).unwrap();
        fs::OpenOptions::new().write(true).open(&file).unwrap().set_len(20 << 20).unwrap();
    };
    let tune = || run(home.cardproof(&["tune", file.to_str().unwrap()]));
    for bytes in [&b"\0\0\0\x20ftypisom\0\0\x02\0isomiso2avc1mp41"[..], b"QFI\xfb\0\0\0\x03"] {
        write(bytes);
        let refused = tune().expect(2).stderr;
        for word in
            ["not an image of a disk", "/dev/sda", "unpacked image", "directory", "sim:NAME"]
        {
            assert!(refused.contains(word), "{word}: {refused}");
        }
    }
    // An empty image, and one of a card with a partition.
    let mut card = vec![0; 512];
    card[446..462].copy_from_slice(&[0, 0, 0, 0, 0xc, 0, 0, 0, 0, 0x20, 0, 0, 0, 0x20, 0, 0]);
    card[510..].copy_from_slice(&[0x55, 0xaa]);
    for bytes in [&[][..], &card] {
        write(bytes);
        assert!(tune().expect(0).stdout.contains("mkfs"));
    }
}

#[test]
fn what_is_mounted_is_not_laid_out() {
    let home = Home::new();
    let place = home.place().to_str().unwrap().to_owned();
    let refused = run(home.cardproof(&["tune", &place, "--apply", "--destroy=x:1"])).expect(2);
    assert!(refused.stderr.contains("directory"), "{}", refused.stderr);
    run(home.cardproof(&["tune", "sim:sandisk-ultra-a1", "--apply"])).expect(2);
    run(home.cardproof(&["tune", "sim:sandisk-ultra-a1", "--undo"])).expect(3);
}

#[test]
fn a_gain_is_shown_only_with_its_interval() {
    let home = Home::new();
    let words = ["tune", "sim:intenso-class-4", "--prove", "--seed", "3", "--json", "-", "--quiet"];
    let plan = json(&home, &words);
    let gain = &plan["steps"][0]["gain"];
    let (low, high) = (gain["low"].as_f64().unwrap(), gain["high"].as_f64().unwrap());
    assert!(low <= gain["ratio"].as_f64().unwrap() && gain["ratio"].as_f64().unwrap() <= high);
    assert_eq!(gain["is_gain"], low > 1.0);
}

#[test]
fn any_two_starts_are_compared() {
    let home = Home::new();
    let target =
        ["tune", "sim:intenso-class-4", "--prove", "--seed", "3", "--json", "-", "--quiet"];
    // The card's unit is 4 MiB: 8,192 and 32,768 begin at one, 63 does not.
    for (starts, before, after, is_gain) in [
        ("8192,32768", 8192, 32_768, false),
        ("63,32768", 63, 32_768, true),
        ("32768,63", 32_768, 63, false),
    ] {
        let words = [&target[..], &["--starts", starts]].concat();
        let gain = json(&home, &words)["steps"][0]["gain"].clone();
        assert_eq!(gain["before_start_bytes"], 512 * before, "{gain}");
        assert_eq!(gain["after_start_bytes"], 512 * after, "{gain}");
        assert_eq!(gain["is_gain"], is_gain, "{gain}");
    }
    // Units of 16 MiB, of which the card tells nothing: sector 8,192 begins inside one.
    let file = home.place().join("card.toml");
    let card = "base = \"intenso-class-4\"\n[model]\nallocation_unit = \"16MiB\"\n";
    fs::write(&file, card).unwrap();
    let large = format!("sim:{}", file.display());
    let words = [&["tune", &large], &target[2..], &["--starts", "8192,32768"]].concat();
    let gain = json(&home, &words)["steps"][0]["gain"].clone();
    assert_eq!(gain["is_gain"], true, "{gain}");
    for wrong in ["8192", "8192,8192", "4MiB,16MiB"] {
        let words = [&target[..], &["--starts", wrong]].concat();
        let refused = run(home.cardproof(&words)).expect(2);
        assert!(refused.stderr.contains("8192,32768"), "{}", refused.stderr);
    }
    run(home.cardproof(&["tune", "sim:intenso-class-4", "--starts", "63,2048"])).expect(2);
}

#[test]
fn a_gain_is_measured_against_the_largest_partition_of_the_device() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(128)));
    let path = device.path().to_str().unwrap().to_owned();
    let home = Home::new();
    let destroy = format!("--destroy={}", device.identity().unwrap());
    let words = ["tune", &path, "--prove", "--pairs", "4", &destroy, "--json", "-", "--quiet"];
    let gain = || json(&home, &words)["steps"][0]["gain"].clone();
    // Where there is no partition: sector 63.
    assert_eq!(gain()["before_start_bytes"], 63 * 512);
    let large_first = "start=10240, size=200000\nstart=220000, size=2048\n";
    for (table, start) in [(large_first, Some(10_240 * 512)), ("start=16384\n", None)] {
        lab_or_skip!(partitioned(&path, table));
        let gain = gain();
        cardproof_testkit::run("partx", ["--delete", &path]).unwrap();
        match start {
            Some(start) => {
                assert_eq!(gain["before_start_bytes"], start, "{gain}");
                assert_eq!(gain["after_start_bytes"], 8 << 20, "{gain}");
            }
            None => {
                let reason = gain["not_measured"].as_str().unwrap();
                assert!(reason.contains("begins at a multiple of 8 MiB already"), "{reason}");
            }
        }
    }
}

/// Writes a partition table from lines of `sfdisk`, and makes the kernel know its partitions.
fn partitioned(device: &str, table: &str) -> Result<(), LabError> {
    let script = "printf \"$2\" | sfdisk --quiet --no-reread \"$1\"";
    cardproof_testkit::run("sh", ["-c", script, "sh", device, table])?;
    cardproof_testkit::run("partx", ["--add", device]).map(drop).map_err(|error| {
        LabError::Unavailable(format!("this kernel has no partitions on loop devices: {error}"))
    })
}

#[test]
fn settings_are_restored_as_they_were_before_the_first_change() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(64)));
    let home = Home::new();
    let path = device.path().to_str().unwrap().to_owned();
    let setting = format!("/sys/block/{}/queue/read_ahead_kb", device.name());
    let value = || fs::read_to_string(&setting).unwrap().trim().to_owned();
    // What the kernel gives a loop device follows from the disk below it.
    let own = value();
    fs::write(&setting, "128").unwrap();
    run(home.cardproof(&["tune", &path, "--apply", "--quiet"])).expect(0);
    assert_eq!(value(), "512");
    // A second time there is nothing left to do, and what was before is not forgotten.
    run(home.cardproof(&["tune", &path, "--apply", "--quiet"])).expect(0);
    run(home.cardproof(&["tune", &path, "--undo", "--quiet"])).expect(0);
    assert_eq!(value(), "128");
    run(home.cardproof(&["tune", &path, "--undo", "--quiet"])).expect(2);
    fs::write(&setting, own).unwrap();
}
