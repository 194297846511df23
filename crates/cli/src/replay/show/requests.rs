//! What is in a trace of block requests, in words.

use std::fmt::Write;

use cardproof_trace::{Header, Shape, Source, TraceError, TraceReader};
use cardproof_units::{Bytes, Nanos};

/// What is in the trace `bytes`.
pub(super) fn explain(bytes: &[u8]) -> Result<String, TraceError> {
    let reader = TraceReader::new(bytes)?;
    let header = reader.header().clone();
    let mut shape = Shape::new();
    for request in reader {
        shape.add(&request?);
    }
    let mut text = about(&header);
    figures(&mut text, &shape);
    times(&mut text, &shape);
    sizes(&mut text, &shape);
    Ok(text)
}

fn about(header: &Header) -> String {
    let source = match header.source {
        Source::BlockTracepoints => "the kernel's block tracepoints",
        Source::Blktrace => "a file of blktrace",
        Source::FioIolog => "an iolog of fio",
        Source::Csv => "a table of requests",
        Source::Synthetic => "a description",
    };
    let mut text = format!("{}\n", header.name);
    if !header.description.is_empty() {
        let _ = writeln!(text, "  {}", header.description);
    }
    let _ = writeln!(
        text,
        "  Source: {source}. Duration: {}. Needs a device of at least {}.",
        header.duration_ns, header.device_bytes
    );
    text
}

fn figures(text: &mut String, shape: &Shape) {
    let streams = [1, 2, 8].map(|streams| 100.0 * shape.sequential_share(streams));
    let _ = writeln!(
        text,
        "\n  requests    {}\n  reads       {}, {}\n  writes      {}, {}\n  flushes     {}\n  \
         durable     {} writes by forced unit access\n  discards    {}\n  groups      {}, each \
         ended by a flush or a durable write\n  sequential  {:.0} % of the writes begin where the \
         previous write ended\n              {:.0} % begin where one of the last two streams ended\n              \
         {:.0} % begin where one of the last eight streams ended\n  up to 4 KiB {:.0} % of the writes",
        shape.requests(),
        shape.reads,
        shape.bytes_read,
        shape.writes,
        shape.bytes_written,
        shape.flushes,
        shape.durable_writes,
        shape.discards,
        shape.epochs,
        streams[0],
        streams[1],
        streams[2],
        100.0 * shape.share_up_to_4k(),
    );
}

/// How long the device took and how long the job thought, where every request tells.
fn times(text: &mut String, shape: &Shape) {
    if shape.served == 0 {
        return;
    }
    let mean = Nanos(shape.service.0 / shape.served);
    let _ = writeln!(text, "  answered    in {mean} on average, {} at most", shape.service_max);
    // A flush that comes with a write has no end of its own.
    if shape.served + shape.flushes >= shape.requests() {
        let _ = writeln!(text, "  pauses      {} in which no request waited", shape.pauses);
    }
}

fn sizes(text: &mut String, shape: &Shape) {
    text.push_str("\n  writes by size\n");
    for class in &shape.sizes {
        let upto = if class.up_to == Bytes(u64::MAX) {
            "larger".to_owned()
        } else {
            format!("up to {}", class.up_to)
        };
        let _ = writeln!(text, "  {upto:<14} {:>8}  {}", class.writes, class.bytes);
    }
}
