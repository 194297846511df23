//! A record with numbers that no storage can have is refused by the name of the field.

use cardproof_record::Record;
use cardproof_testkit::records;
use serde_json::{Value, json};

#[test]
fn a_number_that_no_storage_can_have_is_refused_by_the_name_of_its_field() {
    let record = serde_json::to_value(records::typical_a1_card()).unwrap();
    let cases: [(&str, Value); 7] = [
        ("/phases/0/iops/high", json!(1e308)),
        ("/phases/0/iops/estimate", json!(-1.0)),
        ("/phases/0/throughput_bytes_per_s/low", json!(1e17)),
        ("/phases/0/iops/confidence", json!(1.5)),
        ("/phases/0/duration_ns", json!(u64::MAX)),
        ("/phases/0/span_bytes", json!(u64::MAX)),
        ("/phases/1/ops", json!(u64::MAX)),
    ];
    for (way, number) in cases {
        let mut other = record.clone();
        *other.pointer_mut(way).unwrap() = number;
        let said = Record::from_json(&other.to_string()).unwrap_err().to_string();
        let field = way.trim_start_matches('/').replace('/', ".");
        assert!(said.contains(&field), "{field}: {said}");
    }
    for record in [records::typical_a1_card(), records::slow_class4(), records::interrupted()] {
        let text = record.to_json().unwrap();
        assert!(Record::from_json(&text).is_ok(), "{}", record.id);
    }
}
