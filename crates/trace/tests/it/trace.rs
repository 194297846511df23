//! Traces as files: what is written is what is read, and nothing damaged is taken for whole.

use cardproof_trace::{
    Request, RequestKind, Shape, Source, TraceError, TraceReader, TraceWriter, find_shipped,
    read_csv,
};
use cardproof_units::{Bytes, Nanos};
use proptest::prelude::*;

fn request() -> impl Strategy<Value = Request> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>());
    let range = (0..1_u64 << 40, 1..1_u64 << 20);
    let service = prop::option::of(0..1_u64 << 40);
    (0..5_000_000_u64, 0..4_u8, range, flags, service).prop_map(
        |(wait, kind, (block, blocks), (durable, sync, metadata), service)| {
            let (kind, is_range) = match kind {
                0 => (RequestKind::Read, true),
                1 => (RequestKind::Write, true),
                2 => (RequestKind::Flush, false),
                _ => (RequestKind::Discard, true),
            };
            let (offset, length) = if is_range { (512 * block, 512 * blocks) } else { (0, 0) };
            let plain = Request::new(Nanos(wait), kind, Bytes(offset), Bytes(length));
            Request { durable, sync, metadata, service: service.map(Nanos), ..plain }
        },
    )
}

/// Requests in order, and the trace of them.
fn written(mut requests: Vec<Request>) -> (Vec<Request>, Vec<u8>) {
    let mut now = Nanos::ZERO;
    let mut writer = TraceWriter::new("job", "a job", Source::Synthetic);
    for request in &mut requests {
        now += request.at;
        request.at = now;
        writer.push(request);
    }
    let bytes = writer.finish(now);
    (requests, bytes)
}

fn read(bytes: &[u8]) -> Result<Vec<Request>, TraceError> {
    TraceReader::new(bytes)?.collect()
}

proptest! {
    #[test]
    fn what_was_written_is_read(requests in prop::collection::vec(request(), 0..300)) {
        let (requests, bytes) = written(requests);
        let reader = TraceReader::new(&bytes).unwrap();
        prop_assert_eq!(reader.header().requests, requests.len() as u64);
        prop_assert_eq!(&reader.restarted().collect::<Result<Vec<_>, _>>().unwrap(), &requests);
        prop_assert_eq!(read(&bytes).unwrap(), requests);
    }

    #[test]
    fn a_trace_cut_off_anywhere_is_an_error(
        requests in prop::collection::vec(request(), 1..50),
        cut in any::<prop::sample::Index>(),
    ) {
        let (_, bytes) = written(requests);
        prop_assert!(read(&bytes[..cut.index(bytes.len())]).is_err());
    }

    #[test]
    fn a_changed_byte_is_an_error_or_changes_nothing(
        requests in prop::collection::vec(request(), 1..50),
        place in any::<prop::sample::Index>(),
        change in 1..=255_u8,
    ) {
        let (requests, mut bytes) = written(requests);
        let place = place.index(bytes.len());
        bytes[place] ^= change;
        // The last bits of a compressed header are padding.
        prop_assert!(read(&bytes).is_err() || read(&bytes) == Ok(requests), "byte {}", place);
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in prop::collection::vec(any::<u8>(), 0..400),
    ) {
        let mut whole = b"CPTRACE".to_vec();
        whole.push(2);
        whole.extend(&bytes);
        prop_assert!(read(&whole).is_err());
        prop_assert!(read(&bytes).is_err());
    }

    #[test]
    fn no_text_makes_the_table_reader_panic(text in "(?s).{0,200}") {
        let _ = read_csv(&text, "t", "");
        let _ = read_csv(&format!("t_s,rwbs,sector,nsect,comm\n{text}"), "t", "");
    }
}

#[test]
fn many_frames_are_read_in_order() {
    let requests: Vec<Request> = (0..40_000_u64)
        .map(|number| Request::new(Nanos(10), RequestKind::Write, Bytes(512 * number), Bytes(512)))
        .collect();
    let (requests, bytes) = written(requests);
    assert_eq!(read(&bytes).unwrap(), requests);
    assert!(bytes.len() < 2_000, "a stream takes next to nothing: {}", bytes.len());
}

#[test]
fn a_foreign_file_is_called_foreign_and_another_form_by_its_number() {
    assert_eq!(read(b"PK\x03\x04").unwrap_err(), TraceError::Foreign);
    assert_eq!(read(b"").unwrap_err(), TraceError::Foreign);
    let (_, mut bytes) = written(Vec::new());
    bytes[7] = 9;
    let error = read(&bytes).unwrap_err();
    assert!(error.to_string().contains("form 9"), "{error}");
}

#[test]
fn an_error_names_its_place() {
    let flush = Request::new(Nanos(1), RequestKind::Flush, Bytes::ZERO, Bytes::ZERO);
    let (_, bytes) = written(vec![flush]);
    let header_end = 12 + u32::from_le_bytes(bytes[8..12].try_into().unwrap()) as usize;
    let cut_off = read(&bytes[..header_end]).unwrap_err();
    assert!(matches!(cut_off, TraceError::CutOff { offset, .. } if offset == header_end));
    let mut longer = bytes.clone();
    longer.push(0);
    let damaged = read(&longer).unwrap_err();
    assert!(matches!(damaged, TraceError::Damaged { offset, .. } if offset == bytes.len()));
}

#[test]
fn shipped_jobs_have_the_shape_that_was_counted() {
    for (name, counts) in [
        ("desktop-install", [2_508, 43_134, 33_646]),
        ("desktop-removal", [73, 20_347, 16_237]),
        ("desktop-reinstall", [2_447, 42_504, 33_561]),
        ("sqlite-delete", [4, 6_046, 4_042]),
        ("sqlite-wal", [4, 2_930, 1_968]),
        ("boot", [1_044, 38, 13]),
    ] {
        let trace = find_shipped(name).unwrap();
        let reader = TraceReader::new(trace.bytes).unwrap();
        assert_eq!(reader.header().name, name);
        let mut shape = Shape::new();
        reader.for_each(|request| shape.add(&request.unwrap()));
        assert_eq!([shape.reads, shape.writes, shape.flushes], counts, "{name}");
        if name == "desktop-reinstall" {
            let shares = [1, 2, 8].map(|streams| (100.0 * shape.sequential_share(streams)).round());
            assert_eq!(shares, [60.0, 81.0, 90.0]);
            assert!((shape.share_up_to_4k() - 0.65).abs() < 0.005);
        }
    }
    assert!(find_shipped("no-such-job").is_none());
}
