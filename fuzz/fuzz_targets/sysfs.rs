//! Any content in the files of a machine, and any text as a dump: identification does not panic,
//! and what it read can be dumped and read again.
#![no_main]

use cardproof_device::Sysroot;
use cardproof_device::identify::{StorageChoice, identify, storages};
use libfuzzer_sys::fuzz_target;

/// Machines to begin with: without them the fuzzer would have to invent the paths.
const MACHINES: [&str; 5] = [
    include_str!("../../crates/device/tests/trees/pi4_a2_ddr50.txt"),
    include_str!("../../crates/device/tests/trees/pi5_a2_command_queue.txt"),
    include_str!("../../crates/device/tests/trees/nanopi_emmc_hs200.txt"),
    include_str!("../../crates/device/tests/trees/usb3_uas_ssd.txt"),
    include_str!("../../crates/device/tests/trees/garbage.txt"),
];

/// What ends the content for one line.
const END: u8 = 0xff;

fuzz_target!(|data: &[u8]| {
    let Some((&[choice, place], rest)) = data.split_first_chunk() else { return };
    let text = match MACHINES.get(usize::from(choice)) {
        Some(machine) => changed(machine, rest),
        None => format!("# cardproof dump 1\n{}", String::from_utf8_lossy(rest)),
    };
    if let Ok(root) = Sysroot::from_dump(&text) {
        look(&root.with_journal(), place.into());
    }
});

/// `machine` with the lines that `changes` names by their first byte given the content that
/// follows it.
fn changed(machine: &str, changes: &[u8]) -> String {
    let mut lines: Vec<String> = machine.lines().map(str::to_owned).collect();
    for change in changes.split(|&byte| byte == END) {
        let Some((&line, content)) = change.split_first() else { continue };
        let Some(line) = lines.get_mut(1 + usize::from(line)) else { continue };
        if let Some((path, _)) = line.split_once(" = ") {
            let content: String = content.iter().map(|byte| format!("\\x{byte:02x}")).collect();
            *line = format!("{path} = {content}");
        }
    }
    lines.join("\n")
}

/// Looks at one of the storages, or at the system's: all of them take half a second each time.
fn look(root: &Sysroot, place: usize) {
    let place = match storages(root).get(place) {
        Some(storage) => StorageChoice::Named(format!("/dev/{}", storage.name).into()),
        None => StorageChoice::System,
    };
    let _ = identify(root, &place);
    assert!(Sysroot::from_dump(&root.dump()).is_ok());
}
