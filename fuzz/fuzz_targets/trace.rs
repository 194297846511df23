//! Any bytes as a trace, as a table and as the kernel's lines: nothing panics, what is read can be
//! laid on a small target within its bounds, and what is written is read again.
#![no_main]

use cardproof_trace::{Fold, PipeReader, Reach, Steps, TraceReader, TraceWriter, read_csv};
use cardproof_units::Bytes;
use libfuzzer_sys::fuzz_target;

/// A target that most traces do not fit.
const SPAN: Bytes = Bytes::mib(16);

fuzz_target!(|data: &[u8]| {
    read(data);
    let mut headed = b"CPTRACE\x02".to_vec();
    headed.extend_from_slice(data);
    read(&headed);
    let text = String::from_utf8_lossy(data);
    if let Ok(trace) = read_csv(&text, "fuzzed", "") {
        read(&trace);
    }
    let mut pipe = PipeReader::default();
    text.lines().for_each(|line| pipe.add(line));
    read(&pipe.finish("fuzzed", "", Bytes::ZERO));
});

fn read(bytes: &[u8]) {
    let Ok(trace) = TraceReader::new(bytes) else { return };
    let Ok(requests) = trace.restarted().collect::<Result<Vec<_>, _>>() else { return };
    let mut writer = TraceWriter::new("again", "", trace.header().source);
    requests.iter().for_each(|request| writer.push(request));
    let again = writer.finish(trace.header().duration_ns);
    let again: Vec<_> =
        TraceReader::new(&again).expect("a trace").map(|it| it.expect("whole")).collect();
    assert_eq!(again, requests);
    let mut steps = Steps::new(&trace);
    while steps.advance().expect("whole").is_some() {}
    let Ok(reach) = Reach::new(&trace) else { return };
    let fold = Fold::new(&reach, SPAN, Bytes::kib(4), Bytes::mib(1)).expect("room");
    let mut pieces = Vec::new();
    for request in &requests {
        fold.pieces(request, &mut pieces);
        assert!(pieces.iter().all(|piece| piece.offset + piece.length <= SPAN), "{request:?}");
    }
}
