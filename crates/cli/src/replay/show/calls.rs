//! What is in a trace of system calls, in words.

use std::fmt::Write;

use cardproof_trace::TraceError;
use cardproof_trace::calls::{CallShape, CallTrace, KindCount};
use cardproof_units::{Bytes, Nanos};

/// What is in the trace of calls `bytes`.
pub(super) fn explain(bytes: &[u8]) -> Result<String, TraceError> {
    let trace = CallTrace::read(bytes)?;
    let header = &trace.header;
    let shape = CallShape::of(&trace.calls);
    let mut text = format!("{}\n", header.name);
    if !header.description.is_empty() {
        // Writing to a string does not fail.
        let _ = writeln!(text, "  {}", header.description);
    }
    let _ = writeln!(
        text,
        "  Recorded: the system calls of {}. Duration {}.\n\n  calls       {} that touch files; {} others \
         are left out\n  names       {}\n  opened      {} files, {} of them created if missing\n  \
         written to  {} files\n\n  calls by kind",
        match shape.processes {
            1 => "one process".to_owned(),
            count => format!("{count} processes and threads"),
        },
        header.duration_ns,
        header.calls,
        header.elsewhere,
        header.names,
        shape.opened,
        shape.created,
        shape.written,
    );
    shape.kinds.iter().for_each(|count| kind(&mut text, count));
    Ok(text)
}

fn kind(text: &mut String, count: &KindCount) {
    let mut remarks = Vec::new();
    if count.bytes > Bytes::ZERO {
        remarks.push(count.bytes.to_string());
    }
    if count.failed > 0 {
        remarks.push(format!("{} failed", count.failed));
    }
    if count.took > Nanos::ZERO {
        remarks.push(format!("took {}", count.took));
    }
    let _ =
        writeln!(text, "  {:<22} {:>8}  {}", count.kind.name(), count.calls, remarks.join(", "));
}
