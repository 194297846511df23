//! Words of a record that stand for values, and its warnings.

use cardproof_record::{EngineName, SyncMode, Transport, Warning, WarningCause, WarningCode};
use serde::{Deserialize, Serialize};

fn written_again<Word: Serialize + for<'a> Deserialize<'a>>(word: &str) -> (Word, String) {
    let json = serde_json::to_string(word).unwrap();
    let read: Word = serde_json::from_str(&json).unwrap();
    let again = serde_json::to_string(&read).unwrap();
    assert_eq!(again, json);
    (read, again)
}

#[test]
fn known_words_are_values_and_unknown_ones_are_kept() {
    assert_eq!(written_again::<Transport>("mmc").0, Transport::Mmc);
    assert_eq!(written_again::<Transport>("sas").0, Transport::Other("sas".to_owned()));
    assert_eq!(written_again::<EngineName>("io_uring").0, EngineName::IoUring);
    assert_eq!(written_again::<EngineName>("libaio").0.as_str(), "libaio");
    assert_eq!(written_again::<EngineName>("").0, EngineName::default());
}

#[test]
fn a_sync_mode_is_a_number_only_in_the_form_that_is_written() {
    let cases = [
        ("none", SyncMode::None, None),
        ("flush-at-end", SyncMode::FlushAtEnd, None),
        ("fsync-every-1", SyncMode::every(1), Some(1)),
        ("fsync-every-32", SyncMode::every(32), Some(32)),
        ("fsync-every-0", SyncMode::Other("fsync-every-0".to_owned()), None),
        ("fsync-every-+8", SyncMode::Other("fsync-every-+8".to_owned()), None),
        ("fsync-every-second", SyncMode::Other("fsync-every-second".to_owned()), None),
    ];
    for (word, mode, every) in cases {
        let (read, _) = written_again::<SyncMode>(word);
        assert_eq!((read.fsync_every(), read), (every, mode), "{word}");
    }
}

fn read(text: &str) -> Warning {
    serde_json::from_str(text).unwrap()
}

#[test]
fn values_and_their_sentence_are_stored() {
    let warning = Warning::from(WarningCause::FewOperations { ops: 50 }).in_run(2);
    let text = serde_json::to_string(&warning).unwrap();
    let expected = concat!(
        r#"{"code":"few_operations","run":2,"cause":{"kind":"few_operations","ops":50},"#,
        r#""message":"run 2: only 50 operations completed, so the interval is wide"}"#
    );
    assert_eq!(text, expected);
    assert_eq!(read(&text), warning);
}

#[test]
fn a_doubt_of_a_later_version_keeps_its_words() {
    let later = read(
        r#"{"code": "later", "run": 3, "cause": {"kind": "later", "n": 1}, "message": "run 3: m"}"#,
    );
    assert_eq!(later, Warning::stated(WarningCode::Other, "run 3: m"));
    let text = serde_json::to_string(&later).unwrap();
    assert_eq!(text, r#"{"code":"other","message":"run 3: m"}"#);
}

#[test]
fn doubts_are_alike_by_their_values_and_not_by_their_words() {
    let few = |ops| Warning::from(WarningCause::FewOperations { ops });
    assert!(few(1).is_like(&few(2).in_run(7)) && few(1) != few(2));
    let uneven = |width| Warning::from(WarningCause::Uneven { width });
    assert!(!few(1).is_like(&uneven(0.3)) && !uneven(0.3).is_like(&uneven(1.5)));
    let stated = |words: &str| Warning::stated(WarningCode::Other, words);
    assert!(stated("a 1").is_like(&stated("a 1")) && !stated("a 1").is_like(&stated("a 2")));
}
