//! What the program says is true: of a test that is complete, of a file, of a saved computer, of a cause.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::checking::tree;
use crate::home::{Home, word};
use crate::process::run;
use crate::refusals::as_nobody;
use crate::said::{in_one_line, said};

const SIZE: u64 = 16 << 20;

/// An empty image of this home, and its option to write.
fn image(home: &Home) -> (String, String) {
    let path = home.place().join("card.img");
    fs::File::create(&path).unwrap().set_len(SIZE).unwrap();
    (word(&path).to_owned(), format!("--destroy=card.img:{SIZE}"))
}

/// What `words` say on the terminal, in one line.
fn notes(home: &Home, words: &[&str], status: i32) -> String {
    in_one_line(&said(home, words, status).stderr)
}

#[test]
fn a_complete_test_of_a_card_is_not_called_interrupted() {
    let home = Home::new();
    let (path, destroy) = image(&home);
    for (limit, larger) in [("--cycles=2", "--cycles=3"), ("--budget=40MiB", "--budget=90MiB")] {
        let restart = ["endure", &path, &destroy, limit, "--restart"];
        let first = notes(&home, &restart, 0);
        assert!(first.contains("uses up life of the card"), "{first}");
        assert!(!first.contains("WEARS THE CARD OUT"), "{first}");
        let before = fs::read(&path).unwrap();
        let second = notes(&home, &["endure", &path, &destroy, limit], 0);
        assert!(second.contains("This test is complete ("), "{second}");
        let option = limit.split('=').next().unwrap();
        assert!(second.contains(&format!("give a larger {option}; to begin again")), "{second}");
        for wrong in ["interrupted", "The test ends", "cycle 3", "uses up life"] {
            assert!(!second.contains(wrong), "{wrong}: {second}");
        }
        assert!(fs::read(&path).unwrap() == before, "nothing is written");
        let third = notes(&home, &["endure", &path, &destroy, larger], 0);
        assert!(third.contains("The test of this card continues with cycle"), "{third}");
    }
}

#[test]
fn the_test_of_a_file_is_not_told_as_that_of_a_disk() {
    let home = Home::new();
    let (path, destroy) = image(&home);
    let refused = notes(&home, &["endure", &path], 3);
    assert!(refused.contains("holds no data"), "{refused}");
    assert!(refused.contains(&format!("add {destroy}")), "{refused}");
    assert!(!refused.contains("would destroy"), "{refused}");
    let ended = said(&home, &["endure", &path, &destroy, "--cycles", "2"], 0);
    assert!(ended.stdout.contains("(tested: a file of 16 MiB)"), "{}", ended.stdout);
    assert!(ended.stdout.contains("Written in total: 32 MiB."), "{}", ended.stdout);
    let shown = in_one_line(&said(&home, &["show", "latest", "--details"], 0).stdout);
    assert!(shown.contains("the command again with a larger --cycles"), "{shown}");
    // A simulated card is new each time.
    said(&home, &["endure", "sim:sandisk-ultra", "--cycles", "1", "--seed", "1", "-q"], 0);
    let shown = in_one_line(&said(&home, &["show", "latest", "--details"], 0).stdout);
    assert!(!shown.contains("Continue it"), "{shown}");
    let list = said(&home, &["list", "--csv", "-"], 0).stdout;
    assert!(list.contains("sim") && !list.contains("1970"), "{list}");
}

#[test]
fn a_saved_computer_is_not_this_one() {
    let home = Home::new();
    let tree = tree("nanopi_emmc_hs200");
    let page = said(&home, &["check", "--sysroot", word(&tree)], 0).stdout;
    assert!(!page.contains("this computer"), "{page}");
    let page = said(&home, &["health", "--sysroot", word(&tree)], 0).stdout;
    assert!(!page.contains("this computer"), "{page}");
}

#[test]
fn a_directory_that_may_not_be_written_is_named_with_its_cause() {
    let home = Home::new();
    let directory = home.data().join("closed");
    fs::create_dir(&directory).unwrap();
    fs::set_permissions(&directory, fs::Permissions::from_mode(0o555)).unwrap();
    let log = home.data().join("dd.txt");
    fs::write(&log, "104857600 bytes (105 MB, 100 MiB) copied, 10.4 s, 10.1 MB/s\n").unwrap();
    let words = ["import", word(&log), "--as", "dd", "--output", word(&directory)];
    let (command, _program) = as_nobody(&home, &words);
    let refused = in_one_line(&run(command).expect(1).stderr);
    let told =
        format!("this user may not write to {}; name another directory", directory.display());
    assert!(refused.contains(&told), "{refused}");
    assert!(!refused.contains("disk is full"), "{refused}");
}

#[test]
fn what_was_asked_for_and_not_done_is_told() {
    let home = Home::new();
    let (path, _) = image(&home);
    let read = notes(&home, &["verify", &path, "--full"], 4);
    assert!(
        read.contains("Not every byte is tested: --full needs --restore or --destroy"),
        "{read}"
    );
    let place = word(home.place());
    let proved = notes(&home, &["tune", place, "--prove", "--size", "4M"], 0);
    assert!(proved.contains("--prove has measured nothing: "), "{proved}");
    said(
        &home,
        &["run", "sim:v30-a2", "--size", "16M", "--time-budget", "2s", "-q", "--label", "my card"],
        0,
    );
    let refused = notes(&home, &["submit", "my card"], 2);
    assert!(refused.contains("cardproof submit 'my card' --to URL"), "{refused}");
    let refused = notes(&home, &["powercut", place], 2);
    assert!(refused.contains("is no simulated card"), "{refused}");
}

#[test]
fn the_day_of_an_import_is_not_that_of_the_measurement() {
    let home = Home::new();
    let log = home.data().join("fio.txt");
    let text = "rr: (g=0): rw=randwrite, bs=(R) 4096B-4096B, (W) 4096B-4096B, (T) 4096B-4096B, ioengine=libaio, \
                iodepth=1\nfio-3.25\nrr: (groupid=0, jobs=1): err= 0: pid=1: Sun Mar 10 10:13:49 2024\n  \
                write: IOPS=312, BW=1248KiB/s (1278kB/s)(36.6MiB/30001msec); 0 zone resets\n";
    fs::write(&log, text).unwrap();
    said(&home, &["import", word(&log)], 0);
    let list = said(&home, &["list"], 0).stdout;
    assert!(list.contains("2024-03-10"), "{list}");
    let shown = in_one_line(&said(&home, &["show", "latest", "--details"], 0).stdout);
    assert!(shown.contains("fio 3.25, measured 2024-03-10, imported 20"), "{shown}");
    assert!(shown.contains("Not read from this output: intervals of the rates"), "{shown}");
}
