//! What cardproof refuses to do: with which words, which remedy, which status, and without
//! touching a byte.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt, symlink};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use cardproof_testkit::{
    Contents, Filesystem, LabError, LoopDevice, Mount, Tree, lab_or_skip, require_root, run_command,
};
use cardproof_units::Bytes;

use crate::home::{Home, word};
use crate::process::{Ended, run};

/// Refused for safety.
const REFUSED: i32 = 3;
/// A mistake of the command line.
const USAGE: i32 = 2;
/// Could not be completed.
const INCOMPLETE: i32 = 1;

/// Checks a refusal: its status, what it says and what it advises, silence on standard output,
/// and no record.
fn assert_refused(home: &Home, ended: Ended, code: i32, says: &[&str]) {
    let ended = ended.expect(code);
    for text in says {
        assert!(ended.stderr.contains(text), "no '{text}' in: {}", ended.stderr);
    }
    assert_eq!(ended.stdout, "", "a refusal has no data");
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
    assert_eq!(home.records().len(), 0, "a refusal leaves a record");
}

/// Runs cardproof with `words` and checks that it refuses and leaves `home`'s place as it was.
fn refuse(words: &[&str], home: &Home, code: i32, says: &[&str]) {
    let before = Tree::of_settled(home.place()).unwrap();
    let ended = run(home.cardproof(words));
    assert_refused(home, ended, code, says);
    assert_eq!(before.changes(&Tree::read(home.place()).unwrap()), "");
}

/// Runs cardproof on `device` with `words` and checks that it refuses and leaves every byte of the
/// device as it was.
fn refuse_device(device: &LoopDevice, words: &[&str], code: i32, says: &[&str]) {
    let home = Home::new();
    let before = Contents::read(device.image()).unwrap();
    let ended = run(home.cardproof(&[&["run", word(device.path())], words].concat()));
    assert_refused(&home, ended, code, says);
    let changed = before.differing_mib(&Contents::read(device.image()).unwrap());
    assert_eq!(changed, [0; 0], "these MiB of the device have changed");
}

/// The option that names `device`, which must not help against what is in use.
fn named(device: &LoopDevice, size: Bytes) -> String {
    format!("--destroy={}:{}", device.name(), size.get())
}

#[test]
fn a_target_that_is_not_there() {
    let home = Home::new();
    let missing = home.place().join("no-such-directory");
    refuse(&["run", word(&missing)], &home, USAGE, &["no-such-directory"]);
    refuse(&["verify", "fake-wrap"], &home, USAGE, &["did you mean", "sim:fake-wrap"]);
}

#[test]
fn sizes_times_and_names_that_make_no_sense() {
    let home = Home::new();
    let cases: &[(&[&str], &[&str])] = &[
        (&["--size", "0"], &["size"]),
        (&["--size", "99999999999999999999"], &["2^64-1"]),
        (&["--size", "16777216T"], &["2^64-1"]),
        (&["--size", "-1"], &["size"]),
        (&["--size", "many"], &["number and a unit"]),
        (&["--size", "4q"], &["unit of size"]),
        (&["--time-budget", "0s"], &["time"]),
        (&["--time-budget", "soon"], &["number and a unit"]),
        (&["--seed", "-1"], &["seed"]),
        (&["--seed", "9007199254740992"], &["seed"]),
        (&["--profile", "standrad"], &["standrad", "standard"]),
        (&["--engine", "magic"], &["magic", "psync"]),
        (&["--no-such-option"], &["--no-such-option"]),
    ];
    for (words, says) in cases {
        refuse(&[&["run", word(home.place())], *words].concat(), &home, USAGE, says);
    }
}

/// The largest size that is a size at all, and more than any file system has.
/// It was ignored in silence, and the verdicts had another confidence than was asked for.
#[test]
fn a_confidence_that_no_phase_can_use() {
    let home = Home::new();
    let says = ["--confidence has no effect on the profile standard", "--profile a1"];
    refuse(&["run", ".", "--confidence", "0.95"], &home, USAGE, &says);
    let of_a1 = ["run", "sim:sandisk-ultra-a1", "--profile", "a1", "--confidence", "0.95"];
    run(home.cardproof(&of_a1)).expect(0);
}

#[test]
fn more_than_there_is_room_for() {
    let home = Home::new();
    for size in ["18446744073709551615", "8191P", "16383T", "1T"] {
        let code = if size.ends_with('P') { USAGE } else { REFUSED };
        refuse(&["run", word(home.place()), "--size", size], &home, code, &[]);
    }
}

#[test]
fn an_output_that_cannot_be_written_is_found_out_before_the_run() {
    let home = Home::new();
    let nowhere = home.data().join("missing/report.html");
    for option in ["--html", "--json", "--markdown"] {
        let words = ["run", word(home.place()), option, word(&nowhere)];
        refuse(&words, &home, USAGE, &["report.html"]);
    }
}

#[test]
fn to_diagnose_for_less_than_one_reading() {
    let home = Home::new();
    let words = ["diagnose", word(home.place()), "--time", "1s"];
    refuse(&words, &home, USAGE, &["1.00 s is too short", "at least 2 s"]);
}

#[test]
fn a_symbolic_link_in_the_place_of_a_directory() {
    let home = Home::new();
    let link = home.data().join("card");
    symlink(home.place(), &link).unwrap();
    refuse(&["run", word(&link)], &home, REFUSED, &["link", word(home.place())]);
}

#[test]
fn a_file_that_is_no_target() {
    let home = Home::new();
    refuse(&["run", "/dev/null"], &home, USAGE, &["/dev/null"]);
}

#[test]
fn to_destroy_a_directory() {
    let home = Home::new();
    refuse(&["run", word(home.place()), "--destroy"], &home, USAGE, &["--destroy"]);
}

/// A user's photo is named as the target and as what may be destroyed, but not by its identity.
#[test]
fn a_file_that_holds_data() {
    let home = Home::new();
    let photo = home.place().join("photo.jpg");
    // Large enough to be measured.
    File::options().write(true).open(&photo).unwrap().set_len(2_000_000).unwrap();
    let words = ["run", word(&photo), "--destroy"];
    refuse(&words, &home, REFUSED, &["holds data", "--destroy=photo.jpg:2000000"]);
}

/// cardproof as another user, who may run it but not write to the place.
#[test]
fn a_directory_that_cannot_be_written() {
    let home = Home::for_others();
    let set_mode = |mode| {
        fs::set_permissions(home.place(), fs::Permissions::from_mode(mode)).unwrap();
    };
    set_mode(0o555);
    let before = Tree::of_settled(home.place()).unwrap();
    let (command, _program) = as_nobody(&home, &["run", word(home.place())]);
    let ended = run(command);
    assert_refused(&home, ended, INCOMPLETE, &["may not", "write"]);
    assert_eq!(before.changes(&Tree::read(home.place()).unwrap()), "");
    set_mode(0o755);
}

/// The command as `nobody` where this is root, who can write everywhere; and the copy of the
/// program that `nobody` can reach, to be kept until it has run.
pub(crate) fn as_nobody(home: &Home, words: &[&str]) -> (Command, Option<tempfile::TempDir>) {
    if require_root().is_err() {
        return (home.cardproof(words), None);
    }
    let open = |path: &Path| fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
    let directory = tempfile::tempdir().unwrap();
    let program = directory.path().join("cardproof");
    fs::copy(env!("CARGO_BIN_EXE_cardproof"), &program).unwrap();
    open(directory.path());
    open(&program);
    open(home.data());
    let mut command = Command::new(&program);
    home.surround(&mut command);
    command.args(words).uid(65_534).gid(65_534);
    (command, Some(directory))
}

/// Loop devices of root are in use on every machine with snaps, and no ordinary user may ask the kernel what
/// they go to.
#[test]
fn an_ordinary_users_own_file_is_written_beside_roots_loop_devices() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(3), 5));
    let home = Home::for_others();
    let image = |name: &str, mib: u64| {
        let path = home.place().join(name);
        fs::write(&path, vec![7; (mib << 20) as usize]).unwrap();
        std::os::unix::fs::chown(&path, Some(65_534), Some(65_534)).unwrap();
        format!("{name}:{}", mib << 20)
    };
    let run_on = |name: &str, identity: &str| {
        let path = home.place().join(name);
        let destroy = format!("--destroy={identity}");
        let words = ["run", word(&path), &destroy, "--time-budget", "1s", "--quiet"];
        let (mut command, _program) = as_nobody(&home, &words);
        command.env("XDG_DATA_HOME", home.place().join("data"));
        run(command)
    };
    fs::create_dir(home.place().join("data")).unwrap();
    std::os::unix::fs::chown(home.place().join("data"), Some(65_534), None).unwrap();
    // No loop device of another test has this size.
    let own = image("own.img", 23);
    run_on("own.img", &own).expect(0);
    // One that fits the loop device may be what it goes to, and is told so.
    let alike = image("alike.img", 3);
    let refused = run_on("alike.img", &alike).expect(REFUSED);
    assert!(refused.stderr.contains(word(device.path())), "{}", refused.stderr);
    assert!(!refused.stderr.contains("losetup --detach"), "{}", refused.stderr);
}

#[test]
fn a_read_only_file_system() {
    let (_device, mount) = lab_or_skip!(ext4(Bytes::mib(64)));
    fs::write(mount.path().join("file"), "kept").unwrap();
    mount.remount("ro").unwrap();
    let home = Home::new();
    let ended = run(home.cardproof(&["run", word(mount.path())]));
    assert_refused(&home, ended, REFUSED, &["read-only", "rw"]);
    assert_eq!(fs::read_to_string(mount.path().join("file")).unwrap(), "kept");
}

#[test]
fn too_little_space() {
    let (_device, mount) = lab_or_skip!(ext4(Bytes::mib(32)));
    let home = Home::new();
    let before = Tree::of_settled(mount.path()).unwrap();
    for words in [&["run", word(mount.path())][..], &["run", word(mount.path()), "--size", "1G"]] {
        let ended = run(home.cardproof(words));
        assert_refused(&home, ended, REFUSED, &["space", "MiB"]);
    }
    assert_eq!(before.changes(&Tree::read(mount.path()).unwrap()), "");
}

/// The card was pulled out, or never mounted: the directory is on the disk below.
#[test]
fn a_directory_on_another_device_than_expected() {
    let (device, mount) = lab_or_skip!(ext4(Bytes::mib(256)));
    let home = Home::new();
    let words = ["run", word(home.place()), "--expect-device", word(device.path())];
    refuse(&words, &home, REFUSED, &[&device.name()]);
    let right = ["run", word(mount.path()), "--expect-device", word(device.path())];
    let small = ["--size", "16M", "--time-budget", "1s", "--quiet"];
    run(home.cardproof(&[&right[..], &small[..]].concat())).expect(0);
}

/// A file system in a fresh image, mounted.
fn ext4(size: Bytes) -> Result<(LoopDevice, Mount), LabError> {
    let device = LoopDevice::new(size)?;
    Filesystem::Ext4.make(&device)?;
    let mount = Mount::new(&device, Filesystem::Ext4, "")?;
    Ok((device, mount))
}

#[test]
fn a_mounted_device_even_when_named() {
    let size = Bytes::mib(64);
    let (device, mount) = lab_or_skip!(ext4(size));
    // A journal may be written while the test looks on; nothing is with a read-only mount.
    mount.remount("ro").unwrap();
    for destroy in ["--destroy".to_owned(), named(&device, size)] {
        let says = ["mounted", "umount", word(mount.path())];
        refuse_device(&device, &[&destroy], REFUSED, &says);
    }
}

#[test]
fn a_device_with_a_file_system() {
    let size = Bytes::mib(64);
    let device = lab_or_skip!(LoopDevice::new(size));
    lab_or_skip!(Filesystem::Ext4.make(&device));
    let option = named(&device, size);
    refuse_device(&device, &["--destroy"], REFUSED, &["ext", &option]);
}

#[test]
fn a_device_with_a_partition_table() {
    let size = Bytes::mib(64);
    let device = lab_or_skip!(LoopDevice::new(size));
    lab_or_skip!(partition(&device));
    let option = named(&device, size);
    refuse_device(&device, &["--destroy"], REFUSED, &["partition table", &option]);
}

/// One partition of Linux over the whole device.
fn partition(device: &LoopDevice) -> Result<(), LabError> {
    cardproof_testkit::run("sfdisk", ["--version"])?;
    let mut command = Command::new("sh");
    command.args(["-c", "echo ',,L' | sfdisk --quiet --no-reread \"$1\"", "sh"]);
    run_command({
        command.arg(device.path());
        command
    })
    .map(drop)
}

#[test]
fn a_device_with_a_mounted_partition() {
    let size = Bytes::mib(64);
    let device = lab_or_skip!(LoopDevice::new(size));
    lab_or_skip!(partition(&device));
    lab_or_skip!(scan_partitions(&device));
    let node = format!("{}p1", word(device.path()));
    lab_or_skip!(node_of_partition(&device, &node));
    lab_or_skip!(cardproof_testkit::run("mkfs.ext4", ["-q", "-F", &node]));
    let mount = lab_or_skip!(Mount::node(Path::new(&node), Filesystem::Ext4, "ro"));
    for destroy in ["--destroy".to_owned(), named(&device, size)] {
        refuse_device(&device, &[&destroy], REFUSED, &["mounted", "umount", word(mount.path())]);
    }
    drop(mount);
    cardproof_testkit::run("partx", ["--delete", word(device.path())]).unwrap();
}

#[test]
fn a_partition_where_only_a_whole_device_tells_something() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(64)));
    lab_or_skip!(partition(&device));
    lab_or_skip!(scan_partitions(&device));
    let node = format!("{}p1", word(device.path()));
    lab_or_skip!(node_of_partition(&device, &node));
    let destroy = format!("--destroy={}", cardproof_testkit::identity(Path::new(&node)).unwrap());
    let before = fs::read(device.image()).unwrap();
    let home = Home::new();
    let commands = [
        &["tune"][..],
        &["tune", "--apply"],
        &["tune", "--apply", &destroy],
        &["tune", "--prove", &destroy],
        &["verify"],
        &["verify", &destroy],
        &["geometry"],
        &["geometry", &destroy],
    ];
    for command in commands {
        let refused = run(home.cardproof(&[command, &[&node]].concat())).expect(2);
        let said = &refused.stderr;
        assert!(said.contains("is a partition") && said.contains(word(device.path())), "{said}");
    }
    lab_or_skip!(cardproof_testkit::run("mkfs.ext4", ["-q", "-F", &node]));
    let mount = lab_or_skip!(Mount::node(Path::new(&node), Filesystem::Ext4, "ro"));
    for command in [&["tune", "--apply"][..], &["verify"], &["geometry"]] {
        let refused = run(home.cardproof(&[command, &[&destroy, &node]].concat())).expect(REFUSED);
        assert!(refused.stderr.contains("mounted"), "{}", refused.stderr);
    }
    drop(mount);
    cardproof_testkit::run("partx", ["--delete", word(device.path())]).unwrap();
    // The table is as before; the file system is the test's own.
    assert!(fs::read(device.image()).unwrap()[..512] == before[..512], "the table has changed");
}

/// Makes the kernel know the partitions of `device`.
fn scan_partitions(device: &LoopDevice) -> Result<(), LabError> {
    cardproof_testkit::run("partx", ["--add", word(device.path())]).map(drop).map_err(|error| {
        LabError::Unavailable(format!("this kernel has no partitions on loop devices: {error}"))
    })
}

/// Makes the node of the first partition where nothing on this machine does so by itself.
fn node_of_partition(device: &LoopDevice, node: &str) -> Result<(), LabError> {
    if Path::new(node).exists() {
        return Ok(());
    }
    let name = device.name();
    let number = fs::read_to_string(format!("/sys/block/{name}/{name}p1/dev"));
    let number = number.map_err(|_| LabError::Unavailable("no partition came up".to_owned()))?;
    let (major, minor) = number.trim().split_once(':').unwrap();
    cardproof_testkit::run("mknod", [node, "b", major, minor]).map(drop)
}

#[test]
fn a_device_in_use_as_swap_even_when_named() {
    let size = Bytes::mib(64);
    let device = lab_or_skip!(LoopDevice::new(size));
    lab_or_skip!(cardproof_testkit::run("mkswap", [device.path()]));
    let _swap = lab_or_skip!(Swap::on(&device));
    // The kernel itself may write any page but the first.
    let first_page = || fs::read(device.image()).unwrap()[..4096].to_vec();
    let before = first_page();
    for destroy in ["--destroy".to_owned(), named(&device, size)] {
        let home = Home::new();
        let ended = run(home.cardproof(&["run", word(device.path()), &destroy]));
        assert_refused(&home, ended, REFUSED, &["swap", "swapoff"]);
        assert!(first_page() == before, "the head of the swap device has changed");
    }
}

/// A device in use as swap, out of use when dropped.
struct Swap(String);

impl Swap {
    fn on(device: &LoopDevice) -> Result<Self, LabError> {
        let node = word(device.path()).to_owned();
        cardproof_testkit::run("swapon", [&node])
            .map_err(|error| LabError::Unavailable(format!("no swap here: {error}")))?;
        Ok(Self(node))
    }
}

impl Drop for Swap {
    fn drop(&mut self) {
        let _ = cardproof_testkit::run("swapoff", [&self.0]);
    }
}

#[test]
fn a_device_held_by_another_opener_even_when_named() {
    let size = Bytes::mib(64);
    let device = lab_or_skip!(LoopDevice::filled(size, 4));
    let _holder = hold(device.path());
    let option = named(&device, size);
    refuse_device(&device, &["--destroy"], REFUSED, &[&option]);
    refuse_device(&device, &[&option], REFUSED, &["another program", "fuser"]);
}

/// Opens a device for itself alone, as a file system or a partitioning tool does.
fn hold(device: &Path) -> File {
    const EXCLUSIVE: i32 = rustix::fs::OFlags::EXCL.bits().cast_signed();
    OpenOptions::new().read(true).custom_flags(EXCLUSIVE).open(device).unwrap()
}

#[test]
fn another_identity_than_the_devices_own() {
    let size = Bytes::mib(64);
    let device = lab_or_skip!(LoopDevice::filled(size, 5));
    let right = named(&device, size);
    let of_another_size = named(&device, Bytes::mib(63));
    for wrong in ["--destroy=mmcblk0:31914983424", "--destroy=", &of_another_size] {
        let refused = if wrong.ends_with('=') { USAGE } else { REFUSED };
        refuse_device(&device, &[wrong], refused, &[&right]);
    }
}

/// A read-only run cannot write: without `--destroy` every byte is as before, and the run says so.
#[test]
fn a_device_without_leave_to_write_is_only_read() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(64), 6));
    let home = Home::new();
    let before = Contents::read(device.image()).unwrap();
    let words = ["run", word(device.path()), "--size", "16M", "--time-budget", "1s"];
    let ended = run(home.cardproof(&[&words[..], &["--json", "-"]].concat())).expect(0);
    assert_eq!(before.differing_mib(&Contents::read(device.image()).unwrap()), [0; 0]);
    let record = crate::records::parse(&ended.stdout);
    assert!(record.conditions.target.read_only);
    assert_eq!(record.bytes_written, Bytes::ZERO);
    let option = named(&device, Bytes::mib(64));
    assert!(ended.stderr.contains(&option), "the way to more is not told: {}", ended.stderr);
}

/// With leave, only the announced range is written.
#[test]
fn a_device_is_written_only_where_it_was_said() {
    let device = lab_or_skip!(LoopDevice::filled(Bytes::mib(64), 7));
    let home = Home::new();
    let before = Contents::read(device.image()).unwrap();
    let destroy = named(&device, Bytes::mib(64));
    let words = ["run", word(device.path()), &destroy, "--size", "16M", "--time-budget", "1s"];
    run(home.cardproof(&words)).expect(0);
    let changed = before.differing_mib(&Contents::read(device.image()).unwrap());
    assert!(!changed.is_empty(), "nothing was written");
    assert!(changed.iter().all(|&mib| mib < 16), "written beyond the range: {changed:?}");
}

/// A device without a byte of it, such as a reader without a card.
#[test]
fn a_device_that_holds_nothing() {
    let device = lab_or_skip!(LoopDevice::new(Bytes::mib(16)));
    device.resize(Bytes::ZERO).unwrap();
    let home = Home::new();
    let ended = run(home.cardproof(&["run", word(device.path()), "--destroy"]));
    let code = ended.code();
    assert!(code == REFUSED || code == INCOMPLETE || code == USAGE, "{code}: {}", ended.stderr);
    assert!(!ended.stderr.contains("panicked"), "{}", ended.stderr);
}
