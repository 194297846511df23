//! Jobs on files, as their user has them: what is said, what is kept, what is left behind.

use std::fs;
use std::path::Path;

use cardproof_record::{PhaseState, Record, State};
use cardproof_testkit::{Filesystem, LoopDevice, Mount, Tree, lab_or_skip};
use cardproof_units::{Bytes, Nanos};
use rustix::process::Signal;

use crate::home::{Home, our_directories, word};
use crate::process::{run, start};
use crate::records;

/// A job that is over in seconds wherever the tests run.
const QUICK: &str = "boot";

/// A job that is not.
const LONG: &str = "package-install";

fn job<'a>(name: &'a str, place: &'a Path) -> [&'a str; 4] {
    ["run", word(place), "--profile", name]
}

#[test]
fn a_job_is_told_kept_and_cleaned_up() {
    let home = Home::new();
    let before = Tree::of_user(home.place()).unwrap();
    let markdown = home.data().join("job.md");
    let words = [&job(QUICK, home.place())[..], &["--markdown", word(&markdown)]].concat();
    let ended = run(home.cardproof(&words)).expect(0);
    assert_eq!(before.changes(&Tree::of_user(home.place()).unwrap()), "");
    assert_eq!(our_directories(home.place()), [""; 0]);

    let saved = home.records();
    let record = records::read(&saved[0]);
    let [of_job] = record.job_runs.as_slice() else { panic!("{:?}", record.job_runs) };
    assert_eq!((&record.state, &of_job.state), (&State::Complete, &PhaseState::Measured));
    assert_eq!(record.jobs[0].name, "job-boot");
    assert_eq!(record.jobs[0].duration_ns, of_job.duration_ns);
    assert!(of_job.surroundings.is_some(), "nobody looked");
    lab_or_skip!(records::assert_valid(&saved));

    let sentence =
        format!("Reading what a starting system reads (130 MB): {}.", of_job.duration_ns);
    assert!(ended.stdout.contains(&sentence), "{}", ended.stdout);
    assert!(ended.stderr.contains("removed afterwards"), "{}", ended.stderr);
    let report = fs::read_to_string(saved[0].with_extension("html")).unwrap();
    for text in [report, fs::read_to_string(markdown).unwrap()] {
        assert!(text.contains("(130 MB): ") && text.contains("Jobs"), "{text}");
        assert!(!text.contains("aily use"), "a job says nothing of that");
    }
}

/// A small file system has no room for all of a job, and gets its short form, unless there is no
/// room for that either.
#[test]
fn where_there_is_little_room_the_job_is_short_or_refused() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::gib(4)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    let home = Home::new();
    let ended = run(home.cardproof(&job(LONG, mount.path()))).expect(0);
    assert!(ended.stderr.contains("doing its short form, package-install-short"));
    assert!(ended.stdout.contains("The full job package-install, which syncs"), "{}", ended.stdout);
    let record = records::read(&home.records()[0]);
    let part = record.job_runs[0].part_of.as_ref().unwrap();
    assert_eq!((part.name.as_str(), record.profile.name.as_str()), (LONG, "package-install-short"));

    let words = [&job(LONG, mount.path())[..], &["--size", "100M"]].concat();
    let refused = run(home.cardproof(&words)).expect(3);
    assert!(refused.stderr.contains("--size 100 MiB allows less"), "{}", refused.stderr);
    assert_eq!(our_directories(mount.path()), [""; 0]);
}

#[test]
fn a_file_system_without_room_is_refused_before_anything_is_written() {
    let mount = lab_or_skip!(Mount::tmpfs("size=600M"));
    let home = Home::new();
    let refused = run(home.cardproof(&job(QUICK, mount.path()))).expect(3);
    assert!(refused.stderr.contains("allow it with --size"), "{}", refused.stderr);
    assert_eq!(fs::read_dir(mount.path()).unwrap().count(), 0);
    assert_eq!(home.records().len(), 0);
}

/// What is asked of memory is no figure of a storage, and the report says so.
#[test]
fn a_job_in_memory_is_doubted() {
    let mount = lab_or_skip!(Mount::tmpfs("size=600M"));
    let home = Home::new();
    let words = [&job(QUICK, mount.path())[..], &["--size", "200M"]].concat();
    let ended = run(home.cardproof(&words)).expect(0);
    let text = ended.stdout.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("Warning: "), "{text}");
    assert!(text.contains("came from the storage, the rest"), "{text}");
}

/// The device has less room than it claims, as thin volumes do.
#[test]
fn a_job_that_meets_a_fault_has_a_cause_and_no_time() {
    let lower = lab_or_skip!(Mount::tmpfs("size=180M"));
    let device = lab_or_skip!(LoopDevice::sparse_in(lower.path(), Bytes::gib(2)));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let mount = lab_or_skip!(Mount::new(&device, Filesystem::Ext4, ""));
    let home = Home::new();
    let words = [&job("package-install-short", mount.path())[..], &["--size", "1G"]].concat();
    let ended = run(home.cardproof(&words)).expect(1);
    assert!(ended.stdout.contains("was not measured: in the step"), "{}", ended.stdout);
    let record = records::read(home.records().last().unwrap());
    assert_eq!((record.state, record.jobs.len()), (State::Failed, 0));
    assert_eq!(record.job_runs[0].duration_ns, Nanos::ZERO);
}

/// Ctrl-C while the job is under way: the record says partial, and nothing stays.
#[test]
fn an_interrupted_job_is_partial_and_leaves_nothing() {
    for (signal, code) in [(Signal::INT, 130), (Signal::TERM, 143)] {
        let home = Home::new();
        let before = Tree::of_user(home.place()).unwrap();
        let words = [&job(LONG, home.place())[..], &["--size", "4G", "--json", "-"]].concat();
        let mut running = start(home.cardproof(&words));
        assert!(running.until(|| has_files(home.place())), "it ended before its first file");
        running.signal(signal);
        let ended = running.end().expect(code);
        let record: Record = records::parse(&ended.stdout);
        assert_eq!((record.state, record.jobs.len()), (State::Partial, 0));
        assert_eq!(record.job_runs[0].state, PhaseState::Partial);
        assert_eq!(before.changes(&Tree::of_user(home.place()).unwrap()), "");
        assert_eq!(our_directories(home.place()), [""; 0]);
    }
}

/// A job that was killed leaves its tree, and the next run takes it away.
#[test]
fn the_next_run_takes_a_killed_job_s_files_away() {
    let home = Home::new();
    let words = [&job(LONG, home.place())[..], &["--size", "4G", "--quiet"]].concat();
    let mut running = start(home.cardproof(&words));
    assert!(running.until(|| has_files(home.place())), "it ended before its first file");
    running.signal(Signal::KILL);
    running.end().expect(137);
    assert_eq!(our_directories(home.place()).len(), 1);
    let ended = run(home.cardproof(&job(QUICK, home.place()))).expect(0);
    assert!(ended.stderr.contains("Removed what an earlier run left"), "{}", ended.stderr);
    assert_eq!(our_directories(home.place()), [""; 0]);
}

/// Whether a job has begun to make its files in `place`.
fn has_files(place: &Path) -> bool {
    our_directories(place).iter().any(|name| {
        let tree = place.join(name).join("test-tree");
        fs::read_dir(tree).is_ok_and(|mut entries| entries.next().is_some())
    })
}

#[test]
fn what_does_not_go_with_a_job_is_a_mistake() {
    let home = Home::new();
    let file = home.place().join("photo.jpg");
    let cases: &[(&[&str], i32, &str)] = &[
        (&["sim:class10-2015"], 2, "no file system"),
        (&[word(&file)], 2, "not a directory"),
        (&[word(home.place()), "--time-budget", "10s"], 2, "--time-budget does not go with boot"),
        (&[word(home.place()), "--repeat", "3"], 2, "--repeat"),
        (&[word(home.place()), "--require", "A1"], 2, "--require"),
        (&[word(home.place()), "--engine", "psync"], 2, "--engine"),
        (&[word(home.place()), "--destroy"], 2, "--destroy"),
        (&[word(home.place()), "--size", "0"], 3, "allows less"),
        (&["/no/such/place"], 2, "does not exist"),
    ];
    for (words, code, said) in cases {
        let words = [&["run", "--profile", QUICK][..], words].concat();
        let ended = run(home.cardproof(&words)).expect(*code);
        assert!(ended.stderr.contains(said), "{words:?}: {}", ended.stderr);
    }
    assert_eq!(home.records().len(), 0);
}

#[test]
fn jobs_are_explained_beside_profiles() {
    let home = Home::new();
    let all = run(home.cardproof(&["profiles"])).expect(0).stdout;
    for name in cardproof_jobs::names() {
        assert!(all.contains(&format!("\n{name}  ")), "{name}");
    }
    let one = run(home.cardproof(&["profiles", "package-remove"])).expect(0).stdout;
    assert!(one.contains("dpkg") && one.contains("settle"), "{one}");
    let unknown = run(home.cardproof(&["run", "--profile", "package-instal"])).expect(2).stderr;
    assert!(unknown.contains("package-install"), "{unknown}");
}
