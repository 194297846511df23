//! Journals that were cut, damaged or belong to another run.

use cardproof_units::Bytes;

use super::*;

fn plan() -> Plan {
    let wish = Wish { pattern: Pattern::Random, cycles_max: None, bytes_max: None };
    Plan::new(Bytes::mib(8), wish, Seed::from_bits(3)).unwrap()
}

fn header() -> Header {
    Header {
        schema: SCHEMA.to_owned(),
        card: "00000000000000aa".to_owned(),
        seed: Seed::from_bits(3),
        salt: Some(17),
        span_bytes: 8 << 20,
        pattern: "random".to_owned(),
        wish: "random-0".to_owned(),
    }
}

/// A journal of two cycles and a position in the third.
fn written(place: &Path) -> PathBuf {
    let mut journal = Journal::create(place, &header()).unwrap();
    for number in 1..=2 {
        let new_bad = vec![(number * 10, 2)];
        journal.add_cycle(&Cycle { number, new_bad, ..Cycle::default() }).unwrap();
    }
    let position = Position {
        cycle: 3,
        pass: Pass::Read,
        done: 17,
        later: vec![4],
        new_bad: vec![100],
        ..Position::default()
    };
    journal.add_position(&position).unwrap();
    journal.path
}

#[test]
fn a_state_comes_back_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    let path = written(place.path());
    assert_eq!(of_device(place.path(), "00000000000000aa").unwrap(), std::slice::from_ref(&path));
    assert!(of_device(place.path(), "00000000000000ab").unwrap().is_empty());
    let state = read(&path).unwrap().state(&plan(), &path).unwrap();
    assert_eq!((state.cycles.len(), state.position.cycle, state.bad.count()), (2, 3, 5));
    assert_eq!((state.position.done, state.position.later.as_slice()), (17, &[4][..]));
    let again = read(&path).unwrap();
    drop(again.continued(&path, &state).unwrap());
    assert_eq!(read(&path).unwrap().state(&plan(), &path).unwrap(), state);
}

/// Cut after any byte, the file gives a state that was once true.
#[test]
fn a_torn_line_is_left_out() {
    let place = tempfile::tempdir().unwrap();
    let path = written(place.path());
    let whole = fs::read(&path).unwrap();
    let first = whole.iter().position(|&byte| byte == b'\n').unwrap();
    for length in first + 1..whole.len() {
        fs::write(&path, &whole[..length]).unwrap();
        let state = read(&path).unwrap().state(&plan(), &path).unwrap();
        assert_eq!(state.position.cycle, state.cycles.len() as u64 + 1, "{length} bytes");
    }
}

#[test]
fn a_lost_or_doubled_cycle_is_an_error() {
    let place = tempfile::tempdir().unwrap();
    let path = written(place.path());
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for order in [vec![0, 2, 3], vec![0, 1, 1, 2], vec![0, 1, 3], vec![1, 2]] {
        let changed: String = order.iter().map(|&line| format!("{}\n", lines[line])).collect();
        fs::write(&path, changed).unwrap();
        let outcome = read(&path).and_then(|saved| saved.state(&plan(), &path));
        let message = outcome.unwrap_err().message;
        assert!(message.contains("--restart"), "{order:?}: {message}");
    }
}
