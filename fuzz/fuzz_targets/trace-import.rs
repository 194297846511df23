//! Any bytes as other tools' traces: files of blktrace, lines of blkparse, logs of fio. Nothing panics, and what is
//! read can be written and read again.
#![no_main]

use cardproof_trace::{BlktraceReader, Reach, TraceReader, read_blkparse, read_iolog};
use libfuzzer_sys::fuzz_target;

/// The magic number and version of an event of blktrace, in the order of most computers.
const EVENT: [u8; 4] = 0x6561_7407_u32.to_le_bytes();

fuzz_target!(|data: &[u8]| {
    requests_of_events(data);
    requests_of_events(&events(data));
    let text = String::from_utf8_lossy(data);
    for head in ["", "fio version 2 iolog\n", "fio version 3 iolog\n"] {
        if let Ok(trace) = read_iolog(&format!("{head}{text}"), "fuzzed", "") {
            whole(&trace);
        }
    }
    lines_of_blkparse(&text);
});

/// The bytes as events that begin as events must.
fn events(data: &[u8]) -> Vec<u8> {
    data.chunks(44).flat_map(|rest| EVENT.iter().chain(rest).copied()).collect()
}

fn requests_of_events(bytes: &[u8]) {
    let mut reader = BlktraceReader::default();
    // What came before an error is read all the same.
    let _ = reader.add(bytes);
    if let Some(trace) = reader.finish("fuzzed", "") {
        whole(&trace);
    }
}

fn lines_of_blkparse(text: &str) {
    let events: String =
        text.lines().map(|line| format!("179,0 0 1 0.000001 1 {line}\n")).collect();
    for text in [text, &events] {
        if let Ok(Some(trace)) = read_blkparse(text, "fuzzed", "") {
            whole(&trace);
        }
    }
}

/// `trace` is sound to its end.
fn whole(trace: &[u8]) {
    let reader = TraceReader::new(trace).expect("a trace");
    let _ = Reach::new(&reader);
    assert!(reader.into_iter().all(|request| request.is_ok()));
}
