//! Plans of settings and partitions, and the geometry on which they rest.

use std::fs;

use crate::home::{Home, word};
use crate::said::{in_one_line, said};

/// An image whose DOS table has partitions of 1 GiB that begin at these sectors.
fn image(home: &Home, starts: &[u32]) -> String {
    let mut sector = [0; 512];
    for (entry, start) in sector[446..510].chunks_exact_mut(16).zip(starts) {
        entry[4] = 0x83;
        entry[8..12].copy_from_slice(&start.to_le_bytes());
        entry[12..16].copy_from_slice(&(2_u32 << 20).to_le_bytes());
    }
    if !starts.is_empty() {
        sector[510..].copy_from_slice(&[0x55, 0xaa]);
    }
    let path = home.place().join("card.img");
    fs::write(&path, sector).unwrap();
    fs::File::options().write(true).open(&path).unwrap().set_len(4 << 30).unwrap();
    path.to_str().unwrap().to_owned()
}

#[test]
fn the_plan_uses_the_geometry_of_the_same_card() {
    let home = Home::new();
    let unit = |home: &Home| {
        let text = said(home, &["tune", "sim:sandisk-ultra"], 0).stdout;
        assert!(text.lines().count() <= 24, "{text}");
        text.contains("start=8192")
    };
    assert!(!unit(&home), "nothing is known");
    said(&home, &["geometry", "sim:sandisk-ultra", "--seed", "1", "-q"], 0);
    assert!(unit(&home), "an allocation unit of 4 MiB was measured");
}

#[test]
fn the_plan_for_an_image_begins_with_the_partitions_that_it_has() {
    let home = Home::new();
    let plan = |starts: &[u32]| said(&home, &["tune", &image(&home, starts)], 0).stdout;
    let aligned = plan(&[16_384, 2_113_536]);
    assert!(
        aligned.contains("\n\nPartition 1 begins at 8 MiB, which suits most cards.\n"),
        "{aligned}"
    );
    assert!(aligned.contains("\nPartition 2 begins at 1"), "{aligned}");
    for word in ["DELETES", "sfdisk", "mkfs", "Step 1"] {
        assert!(!aligned.contains(word), "{word} in {aligned}");
    }
    let unclear = plan(&[8192]);
    assert!(
        unclear.contains("needed only if the card's blocks are larger\nthan 4 MiB"),
        "{unclear}"
    );
    let inside = plan(&[63]);
    assert!(inside.contains("\n\nThe partition begins at 31.5 KiB: NOT aligned"), "{inside}");
    assert!(inside.contains("Step 1 deletes what is there: copy it first.\n"), "{inside}");
    assert!(inside.contains("sfdisk"), "{inside}");
    let blank = plan(&[]);
    assert!(!blank.contains("begins at 31") && blank.contains("sfdisk"), "{blank}");
}

#[test]
fn a_geometry_is_one_screen_about_use() {
    let home = Home::new();
    for card in ["sim:sandisk-ultra", "sim:usb-stick"] {
        let answer = said(&home, &["geometry", card, "--seed", "1"], 0).stdout;
        assert!(answer.lines().count() <= 24, "{answer}");
        for word in ["mapping", "by units", "by pages", "confidence", "Open allocation"] {
            assert!(!answer.contains(word), "{word}: {answer}");
        }
    }
    let details = said(&home, &["show", "latest", "--details"], 0).stdout;
    assert!(details.contains("mapping") && details.contains("confidence"), "{details}");
    let answer = said(&home, &["geometry", "sim:sandisk-ultra", "--seed", "2"], 0).stdout;
    let command = "`cardproof tune sim:sandisk-ultra --geometry latest`";
    assert!(in_one_line(&answer).contains(command), "{answer}");
    said(&home, &["tune", "sim:sandisk-ultra", "--geometry", "latest"], 0);
}

/// A Raspberry Pi's system is on the second partition, behind the one that it starts from.
#[test]
fn a_plan_mounts_the_partition_of_the_system() {
    let home = Home::new();
    let plan = said(&home, &["tune", "sim:sandisk-ultra"], 0).stdout;
    let mount = plan.lines().find(|line| line.contains("sudo mount -o noatime"));
    let told = "a Raspberry Pi system is on partition 2";
    assert!(mount.is_some_and(|line| line.contains(told)), "{plan}");
}

#[test]
fn an_image_is_told_how_to_find_the_blocks_and_what_to_add_to_fstab() {
    let home = Home::new();
    let image = home.place().join("card.img");
    let mut bytes = vec![0; 64 << 20];
    // A table with one Linux partition of 56 MiB from 4 MiB on.
    bytes[446..462].copy_from_slice(&[0, 0, 0, 0, 0x83, 0, 0, 0, 0, 32, 0, 0, 0, 0xc0, 1, 0]);
    bytes[510..512].copy_from_slice(&[0x55, 0xaa]);
    fs::write(&image, bytes).unwrap();
    let text = in_one_line(&said(&home, &["tune", word(&image)], 0).stdout);
    let blocks = "run cardproof geometry on the card first, then add --geometry latest";
    assert!(text.contains(blocks), "{text}");
    assert!(text.contains("for good: add noatime to its line in /etc/fstab"), "{text}");
}
