//! Any text as a log of the kernel: nothing panics, what happened has a line that exists, and nothing that is
//! shown can steer a terminal.
#![no_main]

use cardproof_import::{clean, decode};
use cardproof_kernel_log::{clock_before, event, read, whole_device, without_host};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    // As every command reads it.
    let text = clean(&decode(data)).text;
    for line in text.lines() {
        let _ = (event(line), clock_before(line), without_host(line));
        assert!(whole_device(line).is_none_or(|device| line.starts_with(device)));
    }
    let log = read(text.lines().enumerate().map(|(index, line)| (index + 1, line)));
    let lines = text.lines().count();
    let troubles = log.devices.iter().flat_map(|device| &device.troubles).chain(&log.others);
    for trouble in troubles {
        assert!(trouble.count > 0 && (1..=lines).contains(&trouble.line));
        let times = [&trouble.first, &trouble.last, &trouble.partition];
        assert!(!times.into_iter().flatten().any(|words| words.contains(steers)));
    }
    for device in &log.devices {
        let names = [&device.device, &device.host, &device.card.name, &device.card.mode];
        assert!(!names.into_iter().flatten().any(|words| words.contains(steers)));
        assert!(device.lines.iter().all(|line| (1..=lines).contains(line)));
        assert!(
            device.findings().all(|finding| finding.line.is_none_or(|line| line <= lines as u64))
        );
    }
});

/// Whether a character steers a terminal; a tab stays in a clean text.
fn steers(c: char) -> bool {
    c.is_control() && c != '\t'
}
