//! Any bytes as any tool's output: nothing panics, no figure claims an interval or is no number,
//! what was read survives being saved, and what was refused or passed over names lines that exist.
#![no_main]

use cardproof_import::{ForeignTool, ImportError, Imported, Origin, decode, import};
use cardproof_record::Record;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let text = decode(data);
    read(&text, None);
    for tool in ForeignTool::ALL {
        read(&text, Some(*tool));
    }
});

fn read(text: &str, tool: Option<ForeignTool>) {
    let origin = Origin { id: "fuzzed".to_owned(), read_at: "1970-01-01T00:00:00Z".to_owned() };
    match import(text, tool, &origin) {
        Ok(found) => check_all(text, &found),
        Err(error) => check_line(text, &error),
    }
}

fn check_all(text: &str, found: &Imported) {
    assert!(!found.records.is_empty());
    found.records.iter().for_each(check);
    found.refused.iter().for_each(|error| check_line(text, error));
    let lines = text.lines().count();
    assert!(found.skipped.iter().all(|run| run.first <= run.last && run.last <= lines));
}

fn check(record: &Record) {
    for phase in &record.phases {
        assert!(phase.iops.is_none() && phase.throughput_bytes_per_s.is_none());
        let rates = [phase.point_iops().map(|it| it.0), phase.point_throughput().map(|it| it.0)];
        assert!(rates.into_iter().flatten().all(|rate| rate.is_finite() && rate >= 0.0));
    }
    let json = record.to_json().expect("every figure is a number");
    assert!(Record::from_json(&json).is_ok());
}

fn check_line(text: &str, error: &ImportError) {
    let line = match error {
        ImportError::Unexpected { line, .. }
        | ImportError::Ends { line, .. }
        | ImportError::Contradiction { line, .. }
        | ImportError::Claim { line, .. } => *line,
        ImportError::Unrecognised
        | ImportError::NoFault { .. }
        | ImportError::TooMany { .. }
        | ImportError::NoSuchTool { .. } => return,
    };
    assert!((1..=text.lines().count().max(1)).contains(&line), "{error}");
}
