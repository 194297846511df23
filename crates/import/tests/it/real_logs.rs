//! Logs from real hardware, which are not part of the project: read where they lie beside it.

use std::fs;
use std::path::PathBuf;

use cardproof_record::Record;
use cardproof_testkit::skip;

use crate::imported;

/// The record of the log called `name`; nothing where it is not beside the project.
fn log(test: &str, name: &str) -> Option<Record> {
    let beside = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/real-logs");
    let Ok(text) = fs::read_to_string(beside.join(name)) else {
        skip(test, &format!("{name} is not beside the project"));
        return None;
    };
    Some(imported(&text).unwrap_or_else(|error| panic!("{name}: {error}")))
}

fn scores(record: &Record) -> Vec<f64> {
    record
        .figures
        .iter()
        .filter(|figure| figure.name.starts_with("score"))
        .map(|figure| figure.value)
        .collect()
}

#[test]
fn the_scores_of_two_real_runs() {
    let runs = [("1", 1151.0), ("2", 1208.0)];
    for (run, score) in runs {
        let name = format!("pibenchmarks-sandisk-sd32g-pi4-run{run}.txt");
        let Some(record) = log("the_scores_of_two_real_runs", &name) else { return };
        assert_eq!(scores(&record), [score, score], "{name}");
        assert_eq!(record.warnings, []);
    }
}

#[test]
fn card_and_host_of_a_real_log() {
    let name = "pibenchmarks-sandisk-sd32g-pi4-run1.txt";
    let Some(record) = log("card_and_host_of_a_real_log", name) else { return };
    let (host, device) = (&record.conditions.host, &record.conditions.device);
    assert_eq!(host.board.as_deref(), Some("Raspberry Pi 4 Model B Rev 1.2"));
    assert_eq!(host.kernel.as_deref(), Some("Linux 5.4.0-1041-raspi"));
    let card = device.card.as_ref().unwrap();
    assert_eq!(card.product.as_deref(), Some("SD32G"));
    assert_eq!(card.claims.application_class, Some(1));
    let json = record.to_json().unwrap();
    for secret in ["node1", "68c7f820", "dc:a6:32"] {
        assert!(!json.contains(secret), "{secret}");
    }
}
