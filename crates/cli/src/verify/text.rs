//! The answer for people: the verdict first, the reasons, and at last what to do.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use cardproof_device::guard::{self, Leave};
use cardproof_device::{Sysroot, look_at_path};
use cardproof_rating::{Capacity, wording};
use cardproof_record::{CapacityVerdict, Transport};
use cardproof_report::capacity_headline;
use cardproof_units::{Bytes, shell_path};

use super::{Answer, VerifyArgs};
use crate::output::is_block_device;

/// The page. With `styled`, the verdict is set in an ANSI style.
pub(super) fn page(answer: &Answer, args: &VerifyArgs, styled: bool) -> String {
    let mut text = format!("\n{}\n", capacity_headline(&answer.found, styled));
    let details = if args.details { details(&answer.found) } else { Vec::new() };
    for reason in answer.found.reasons_in_words().iter().chain(&details) {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  - {}.", wording::sentence(reason));
    }
    text.push_str(&ranges(answer));
    let is_early =
        answer.found.verdict == CapacityVerdict::Fake && answer.written < answer.planned.0;
    let end = if is_early { " The test ended early, since the answer was certain." } else { "" };
    let (written, read) = (answer.written.rounded(), answer.read.rounded());
    let _ = writeln!(text, "Written {written}, read {read}.{end}");
    text.push_str(&advice(answer, args, &restoring(args)));
    text.push('\n');
    text
}

/// What else the test of a capacity shows.
fn details(found: &Capacity) -> Vec<String> {
    found.exclusions_in_words().into_iter().chain(found.certainty_in_words()).collect()
}

fn ranges(answer: &Answer) -> String {
    const SHOWN: usize = 8;
    let mut text = String::new();
    for (start, end) in answer.found.damaged_ranges.iter().take(SHOWN) {
        let _ = writeln!(text, "  bad: bytes {start} to {}", end - 1);
    }
    if answer.found.damaged_ranges.len() > SHOWN {
        let _ =
            writeln!(text, "  and {} more (see --json)", answer.found.damaged_ranges.len() - SHOWN);
    }
    text
}

/// The option that puts the data back, with the target's identity, for the terminal: it may hold a serial
/// number.
pub(super) fn restoring(args: &VerifyArgs) -> String {
    restoring_at(&args.target)
}

fn restoring_at(path: &Path) -> String {
    let found = guard::inspect(&Sysroot::default(), path);
    found.map_or_else(|_| RESTORE.to_owned(), |found| found.identity.as_option(Leave::Restore))
}

/// The option without the identity; cardproof then says which one.
pub(super) const RESTORE: &str = "--restore";

/// The whole device below `directory`.
fn device_below(directory: &Path) -> Option<PathBuf> {
    let found = look_at_path(&Sysroot::default(), directory).ok()?;
    let node = Path::new("/dev").join(found.device.name?);
    is_block_device(&node).then_some(node)
}

/// How the rest of the device is tested of which the directory's free space was tested.
fn of_the_rest(args: &VerifyArgs, option: &str) -> String {
    let Some(device) = device_below(&args.target) else { return String::new() };
    if device_below(Path::new("/")).as_ref() == Some(&device) {
        return of_the_system(transport_of(&args.target).as_ref(), &device);
    }
    // The identity of a whole device is not told where the target's own is not.
    let option = if option == RESTORE { RESTORE.to_owned() } else { restoring_at(&device) };
    format!(
        " To test the rest of it, unmount it, then: cardproof verify {} {option}",
        shell_path(&device)
    )
}

/// How the rest of a device is tested from which this computer runs.
fn of_the_system(transport: Option<&Transport>, device: &Path) -> String {
    match transport {
        None | Some(Transport::Sd | Transport::Usb) => {
            " To test the rest of it, put it into another computer, and there: cardproof verify DEVICE --restore"
                .to_owned()
        }
        // Another computer has no part in them.
        Some(Transport::Virtio | Transport::Loop | Transport::Zram | Transport::Ram) => String::new(),
        Some(_) => format!(
            " To test the rest of it, start this computer from another card or stick, then: cardproof verify {} \
             --restore",
            shell_path(device)
        ),
    }
}

/// How the storage below `path` is attached; `None` where that is not known.
fn transport_of(path: &Path) -> Option<Transport> {
    look_at_path(&Sysroot::default(), path).ok()?.device.lowest().transport.clone()
}

/// To repeat the test, with another reader where there is one.
fn again(transport: Option<&Transport>) -> &'static str {
    match transport {
        Some(Transport::Sd) => "repeat the test with another reader",
        Some(Transport::Usb) => "repeat the test with another reader or port",
        _ => "repeat the test",
    }
}

/// One sentence: what to do. `option` is what puts the data back, see [`restoring`] and [`RESTORE`].
pub(super) fn advice(answer: &Answer, args: &VerifyArgs, option: &str) -> String {
    let is_files = args.target.is_dir();
    if let Some(advice) = answer.found.advice() {
        let is_part = answer.found.is_sound() && is_files;
        let rest = if is_part { of_the_rest(args, option) } else { String::new() };
        return format!("Next: {advice}{rest}");
    }
    let target = shell_path(&args.target);
    let by_writing = if is_files {
        format!("cardproof verify {target} --full")
    } else {
        format!("cardproof verify {target} {option}")
    };
    let again = || again(transport_of(&args.target).as_ref());
    let keeps = if is_files { "" } else { " (keeps your data)" };
    match answer.found.verdict {
        CapacityVerdict::Suspicious => {
            format!("Next: test it by writing: {by_writing}{keeps}")
        }
        CapacityVerdict::Undecided if is_files && args.full => {
            format!("Next: {}.{}", again(), of_the_rest(args, option))
        }
        CapacityVerdict::Undecided if is_files => {
            format!("Next: to be sure, test all of the free space: {by_writing}")
        }
        CapacityVerdict::Undecided if answer.written == Bytes::ZERO && is_plain_file(args) => {
            format!(
                "Next: {OF_A_FILE} If this file is an image that stands for a card, such as one \
                 from `cardproof sim serve`: {by_writing}{keeps}"
            )
        }
        CapacityVerdict::Undecided if is_plain_file(args) => format!("Next: {OF_A_FILE}"),
        CapacityVerdict::Undecided if answer.written == Bytes::ZERO => {
            format!("Next: to be sure, test it by writing: {by_writing}{keeps}")
        }
        _ if is_loop(&args.target) => {
            "Next: attach the file with losetup --direct-io=on, and repeat the test.".to_owned()
        }
        _ if args.full || answer.is_full => format!("Next: {}.", again()),
        _ => format!("Next: {}; with --full it writes every byte.", again()),
    }
}

/// What a file cannot tell.
const OF_A_FILE: &str = "name the card itself, such as /dev/mmcblk0, or a directory on it: a file has no capacity of \
                         its own.";

/// Whether the target is a file and no device.
fn is_plain_file(args: &VerifyArgs) -> bool {
    cardproof_session::simulated_name(&args.target).is_none() && args.target.is_file()
}

/// Whether `device` is a file that is attached as a device: the page cache can answer in its place.
fn is_loop(device: &Path) -> bool {
    let real = device.canonicalize().unwrap_or_default();
    real.to_string_lossy().starts_with("/dev/loop")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_can_be_taken_out_is_put_elsewhere() {
        let device = Path::new("/dev/mmcblk0");
        let rest = |transport: Transport| of_the_system(Some(&transport), device);
        assert!(rest(Transport::Sd).contains("another computer"));
        assert!(rest(Transport::Usb).contains("another computer"));
        for built_in in [Transport::Mmc, Transport::Nvme, Transport::Sata, Transport::Ufs] {
            let text = rest(built_in);
            assert!(text.contains("from another card or stick"), "{text}");
            assert!(text.ends_with("cardproof verify /dev/mmcblk0 --restore"), "{text}");
        }
        assert_eq!(rest(Transport::Virtio), "");
        for (transport, expected) in [
            (Transport::Sd, "repeat the test with another reader"),
            (Transport::Usb, "repeat the test with another reader or port"),
            (Transport::Mmc, "repeat the test"),
            (Transport::Virtio, "repeat the test"),
        ] {
            assert_eq!(again(Some(&transport)), expected);
        }
    }
}
