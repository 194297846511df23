//! Every output as a record.

use cardproof_import::recognise;
use cardproof_record::Record;

use crate::compact::compact;
use crate::{fixture, fixture_names, imported};

#[test]
fn every_output_becomes_the_record_that_it_tells_of() {
    for name in fixture_names() {
        let record = imported(&fixture(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        insta::with_settings!({ omit_expression => true, prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name.replace('.', "-"), compact(&record));
        });
    }
}

#[test]
fn every_output_is_recognised_as_its_tool_s() {
    for name in fixture_names() {
        let tools = recognise(&fixture(&name)).unwrap_or_else(|error| panic!("{name}: {error}"));
        let [tool] = tools[..] else { panic!("{name} is taken for {tools:?}") };
        assert!(name.starts_with(tool.name()), "{name} is taken for {tool}");
    }
}

#[test]
fn no_figure_claims_an_interval() {
    for name in fixture_names() {
        let record = imported(&fixture(&name)).unwrap();
        assert!(record.is_imported(), "{name}");
        for phase in &record.phases {
            assert_eq!((phase.iops, phase.throughput_bytes_per_s), (None, None), "{name}");
            assert_eq!(phase.stated.is_some(), phase.is_measured(), "{name}: {}", phase.name);
        }
    }
}

#[test]
fn a_record_of_another_tool_survives_being_saved() {
    for name in fixture_names() {
        let record = imported(&fixture(&name)).unwrap();
        let again = Record::from_json(&record.to_json().unwrap()).unwrap();
        assert_eq!(compact(&again), compact(&record), "{name}");
    }
}

#[test]
fn what_identifies_a_machine_stays_in_the_log() {
    let text = fixture("pibenchmarks.txt");
    let json = imported(&text).unwrap().to_json().unwrap();
    for secret in ["a-host-name", "feedbeef", "02:00:00:ab:cd:ef", "/dev/"] {
        assert!(text.contains(secret), "{secret} should be in the log");
        assert!(!json.contains(secret), "{secret} is in the record");
    }
}
