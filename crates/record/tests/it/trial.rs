//! A record holds one trial at most, in a field that the kind of the trial names.

use cardproof_record::{
    CapacityTest, ComparedSetups, EnduranceRun, IntegrityTest, LogTrial, PowerCutTest, ReadError,
    Record, Trial,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A record without a trial.
const LAYERED: &str = include_str!("../records/layered.json");

/// A record of power cuts, as it was written when each kind of trial had a field of its own in the program too.
const POWER_CUTS: &str = include_str!("../records/power-cuts.json");

/// One trial of each kind.
fn trials() -> [Trial; 6] {
    let layout = json!({"mode": "barriers", "plain_ns": [4], "log_ns": [2], "written_bytes": 8, "asked_bytes": 7,
        "moved_bytes": 0, "cleaned_segments": 0, "segment_bytes": 4096});
    [
        Trial::Setups(ComparedSetups { rounds: 3, ..ComparedSetups::default() }),
        Trial::Capacity(CapacityTest { spread_pieces: 5, ..CapacityTest::default() }),
        Trial::Endurance(EnduranceRun { cycles: 7, ..EnduranceRun::default() }),
        Trial::PowerCuts(PowerCutTest { cuts: 9, ..PowerCutTest::default() }),
        Trial::Integrity(IntegrityTest::default()),
        Trial::Layout(serde_json::from_value::<LogTrial>(layout).unwrap()),
    ]
}

fn fields(text: &str) -> Map<String, Value> {
    serde_json::from_str(text).unwrap()
}

/// The fields of a record without a trial, with `more` of them.
fn with<const N: usize>(more: [(&str, Value); N]) -> Map<String, Value> {
    let mut all = fields(LAYERED);
    all.extend(more.map(|(name, value)| (name.to_owned(), value)));
    all
}

/// The field that holds `trial`, and what it holds.
fn in_json(trial: &Trial) -> (&'static str, Value) {
    (trial.field(), serde_json::to_value(trial).unwrap()[trial.field()].take())
}

/// What is said of `text`, which is no record.
fn refused(text: &str) -> String {
    let error = Record::from_json(text).unwrap_err();
    assert!(matches!(error, ReadError::Malformed(_)), "{error}");
    error.to_string()
}

fn refused_fields(fields: &Map<String, Value>) -> String {
    Record::from_fields(fields).unwrap_err().to_string()
}

/// The fields of trials that have a reader, as `record` answers.
fn held(record: &Record) -> Vec<&'static str> {
    let all = [
        record.setups().map(|_| "setups"),
        record.capacity().map(|_| "capacity"),
        record.endurance().map(|_| "endurance"),
        record.power_cuts().map(|_| "power_cuts"),
        record.integrity().map(|_| "integrity"),
        record.layout().map(|_| "layout"),
    ];
    all.into_iter().flatten().collect()
}

#[test]
fn a_stored_record_of_a_trial_is_written_as_it_was() {
    let record = Record::from_json(POWER_CUTS).unwrap();
    assert_eq!(record.power_cuts().unwrap().effective_cuts, 100);
    assert_eq!(record.to_json().unwrap(), POWER_CUTS);
}

#[test]
fn each_trial_has_its_field_and_unknown_fields_are_kept_beside_it() {
    assert_eq!(trials().map(|trial| trial.field()), Trial::FIELDS);
    for trial in trials() {
        let (field, value) = in_json(&trial);
        // One unknown field comes before the trial in an ordered map, one behind it.
        let unknown = [("a_later_field", json!([1])), ("zz_later_field", json!({"deep": null}))];
        let mut all = with(unknown.clone());
        all.insert(field.to_owned(), value);
        let text = Value::Object(all.clone()).to_string();
        for record in [Record::from_json(&text).unwrap(), Record::from_fields(&all).unwrap()] {
            assert_eq!(record.trial.as_ref(), Some(&trial));
            assert_eq!(held(&record), [field]);
            let extra: Vec<_> =
                record.extra.iter().map(|(name, it)| (&**name, it.clone())).collect();
            assert_eq!(extra, unknown);
            assert_eq!(fields(&record.to_json().unwrap()), all);
            assert_eq!(serde_json::to_value(&record).unwrap(), Value::Object(all.clone()));
        }
    }
}

#[test]
fn a_record_without_a_trial_has_none_and_writes_none() {
    let record = Record::from_json(LAYERED).unwrap();
    assert_eq!((&record.trial, held(&record).len()), (&None, 0));
    assert_eq!(fields(&record.to_json().unwrap()), fields(LAYERED));
}

/// The schema allows it for every optional field, and programs that write all fields use it.
#[test]
fn a_null_is_no_trial() {
    let nulls = Trial::FIELDS.map(|field| (field, Value::Null));
    let record = Record::from_fields(&with(nulls.clone())).unwrap();
    assert_eq!((&record.trial, record.extra.len()), (&None, 0));
    for trial in trials() {
        let mut all = with(nulls.clone());
        let (field, value) = in_json(&trial);
        all.insert(field.to_owned(), value);
        let record = Record::from_json(&Value::Object(all).to_string()).unwrap();
        assert_eq!((record.trial, record.extra.len()), (Some(trial), 0));
    }
}

#[test]
fn a_second_trial_is_refused_and_both_are_named() {
    for one in trials() {
        for other in trials().iter().filter(|it| it.field() != one.field()) {
            let ((one, of_one), (other, of_other)) = (in_json(&one), in_json(other));
            let both = with([(one, of_one), (other, of_other)]);
            let as_text = refused(&Value::Object(both.clone()).to_string());
            for said in [as_text, refused_fields(&both)] {
                let are_named = [one, other].iter().all(|name| said.contains(&format!("`{name}`")));
                assert!(are_named && said.contains("one test at most"), "{said}");
            }
        }
    }
}

#[test]
fn a_field_that_comes_twice_is_refused() {
    for trial in trials() {
        let (field, value) = in_json(&trial);
        let text = Value::Object(with([(field, value.clone())])).to_string();
        let twice = format!("{},\"{field}\":{value}}}", &text[..text.len() - 1]);
        let said = refused(&twice);
        assert!(said.contains(&format!("duplicate field `{field}`")), "{said}");
    }
}

/// The line of `part` in `text`, from 1 on.
fn line_of(text: &str, part: &str) -> usize {
    text.lines().position(|line| line.contains(part)).unwrap() + 1
}

#[test]
fn a_wrong_value_in_a_trial_is_named_with_its_line() {
    let wrong = POWER_CUTS.replace("\"cuts\": 100", "\"cuts\": \"many\"");
    let line = line_of(&wrong, "\"many\"");
    let said = refused(&wrong);
    let place = format!("at line {line} column");
    assert!(
        said.contains("invalid type: string \"many\", expected u64") && said.contains(&place),
        "{said}"
    );
    let lacks = POWER_CUTS.replace("    \"cuts\": 100,\n", "");
    let said = refused(&lacks);
    let place = format!("at line {} column", line_of(&lacks, "\"unstable_sectors\"") + 1);
    assert!(said.contains("missing field `cuts`") && said.contains(&place), "{said}");
    for field in Trial::FIELDS {
        let text = serde_json::to_string_pretty(&with([(field, json!(7))])).unwrap();
        let said = refused(&text);
        let place = format!("at line {} column", line_of(&text, &format!("\"{field}\": 7")));
        assert!(said.contains("invalid type: integer `7`, expected struct"), "{said}");
        assert!(said.contains(&place), "{said}");
        assert!(refused_fields(&with([(field, json!(7))])).contains("integer `7`"));
    }
}

/// The derived function knows no trial. It refuses a record that has one, and never returns it without.
#[test]
fn the_derived_function_loses_no_trial() {
    for trial in trials() {
        let (field, _) = in_json(&trial);
        let value = Value::Object(with([in_json(&trial)]));
        let said = Record::deserialize(&value).unwrap_err().to_string();
        assert!(said.contains(&format!("the test in `{field}` was not read")), "{said}");
        let record = <Record as Deserialize>::deserialize(&value).unwrap();
        assert_eq!(record.trial, Some(trial));
    }
}
