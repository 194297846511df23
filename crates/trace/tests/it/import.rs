//! Traces of other tools, as those tools wrote them and mangled: what is whole is read, what is not
//! is an error with its place, and nothing panics.

use cardproof_trace::{
    BlktraceReader, RequestKind, Shape, TraceReader, is_blktrace, is_iolog, read_iolog,
};
use cardproof_units::{Bytes, Nanos};
use proptest::prelude::*;

/// Two processors' files of `blktrace -a issue -a complete` on a virtio disk of a virtual machine:
/// eight random writes on each, with an fsync after the fourth.
const BLKTRACE: [&[u8]; 2] =
    [include_bytes!("../import/job.blktrace.0"), include_bytes!("../import/job.blktrace.1")];

/// What `fio --write_iolog` wrote of 16 random writes with an fsync between every four.
const IOLOG: &str = include_str!("../import/job.iolog");

fn shape(bytes: &[u8]) -> Shape {
    let mut shape = Shape::new();
    TraceReader::new(bytes).unwrap().for_each(|request| shape.add(&request.unwrap()));
    shape
}

fn blktrace(files: &[&[u8]]) -> Vec<u8> {
    let mut reader = BlktraceReader::default();
    files.iter().for_each(|file| reader.add(file).unwrap());
    reader.finish("job", "").unwrap()
}

#[test]
fn files_of_blktrace_are_read_together() {
    assert!(BLKTRACE.iter().all(|file| is_blktrace(file)));
    let bytes = blktrace(&BLKTRACE);
    let shape = shape(&bytes);
    assert_eq!((shape.writes, shape.bytes_written), (16, Bytes::kib(64)));
    assert_eq!(shape.flushes, 2);
    let requests: Vec<_> = TraceReader::new(&bytes).unwrap().map(Result::unwrap).collect();
    assert!(requests.iter().all(|request| request.service.is_some()));
    assert!(requests.is_sorted_by_key(|request| request.at));
    assert_eq!(requests[0].at, Nanos::ZERO);
}

#[test]
fn a_log_of_fio_has_its_writes_and_syncs() {
    assert!(is_iolog(IOLOG));
    let shape = shape(&read_iolog(IOLOG, "job", "").unwrap());
    assert_eq!((shape.writes, shape.bytes_written), (16, Bytes::kib(64)));
    assert_eq!(shape.flushes, 3);
    assert_eq!(shape.last_issue, Nanos::from_micros(375_135));
}

/// `text` with the byte at `place` replaced; what is no text any more is made one.
fn mangled(text: &str, place: &prop::sample::Index, byte: u8) -> String {
    let mut bytes = text.as_bytes().to_vec();
    let place = place.index(bytes.len());
    bytes[place] = byte;
    String::from_utf8_lossy(&bytes).into_owned()
}

proptest! {
    #[test]
    fn a_mangled_log_of_fio_is_read_or_has_an_error_in_its_line(
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let text = mangled(IOLOG, &place, byte);
        match read_iolog(&text, "t", "") {
            Ok(trace) => prop_assert!(TraceReader::new(&trace).is_ok()),
            Err(error) => prop_assert!((1..=text.lines().count()).contains(&error.line)),
        }
    }

    #[test]
    fn mangled_events_of_blktrace_are_read_or_have_an_error_at_their_byte(
        place in any::<prop::sample::Index>(),
        byte in any::<u8>(),
    ) {
        let mut file = BLKTRACE[0].to_vec();
        let place = place.index(file.len());
        file[place] = byte;
        let mut reader = BlktraceReader::default();
        if let Err(error) = reader.add(&file) {
            prop_assert!(error.offset < file.len());
        }
        if let Some(trace) = reader.finish("t", "") {
            prop_assert!(TraceReader::new(&trace).unwrap().all(|request| request.is_ok()));
        }
    }

    #[test]
    fn events_of_blktrace_cut_off_anywhere_are_whole_or_an_error(
        cut in any::<prop::sample::Index>(),
    ) {
        let file = &BLKTRACE[0][..cut.index(BLKTRACE[0].len())];
        let added = BlktraceReader::default().add(file);
        prop_assert!(added.is_ok() || added.unwrap_err().offset < file.len());
    }

    #[test]
    fn no_text_makes_a_reader_panic(text in "(?s).{0,200}") {
        let _ = read_iolog(&format!("fio version 2 iolog\n{text}"), "t", "");
        let _ = BlktraceReader::default().add(text.as_bytes());
    }
}

#[test]
fn a_request_kind_has_one_meaning_in_every_tool() {
    let log = "fio version 3 iolog\n0 a trim 0 4096\n1 a sync 0 0\n";
    let bytes = read_iolog(log, "t", "").unwrap();
    let kinds: Vec<_> =
        TraceReader::new(&bytes).unwrap().map(|request| request.unwrap().kind).collect();
    assert_eq!(kinds, [RequestKind::Discard, RequestKind::Flush]);
}
