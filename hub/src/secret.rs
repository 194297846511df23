//! Random names, tokens, and the hashes under which they are kept.
//!
//! The database holds the hash of a token and never the token. A token is made from the hub's secret, the name of
//! the submission and the client's idempotency key, so that a retried submission gets the same token again.

use sha2::{Digest, Sha256};

use crate::error::Error;

/// The letters of names: digits and small letters without those that look alike.
const LETTERS: &[u8; 32] = b"0123456789abcdefghjkmnpqrstvwxyz";

/// `N` random bytes from the system.
///
/// # Errors
/// The system has none.
pub fn random<const N: usize>() -> Result<[u8; N], Error> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|error| Error::Internal(error.to_string()))?;
    Ok(bytes)
}

/// A name that nobody can guess: 12 letters, 60 bits.
///
/// # Errors
/// As [`random`].
pub fn name() -> Result<String, Error> {
    let bytes: [u8; 12] = random()?;
    Ok(bytes.iter().map(|byte| char::from(LETTERS[usize::from(byte % 32)])).collect())
}

/// The name of a submission: three letters that tell its day, which is public, and ten that nobody can guess (50
/// bits). Names of one day lie together in an index, so that new ones need few of its pages.
///
/// # Errors
/// As [`random`].
pub fn name_of_day(day: i64) -> Result<String, Error> {
    let bytes: [u8; 10] = random()?;
    Ok(dated(day, &bytes))
}

/// The letters that tell `day`, counted from 1970, and those of `bytes`.
#[must_use]
pub fn dated(day: i64, bytes: &[u8]) -> String {
    let of_day = [day >> 10, day >> 5, day].map(|part| (part & 31) as u8);
    let letter = |value: &u8| char::from(LETTERS[usize::from(value % 32)]);
    of_day.iter().chain(bytes).map(letter).collect()
}

/// Whether `text` has the form of a submission's name.
#[must_use]
pub fn is_dated(text: &str) -> bool {
    text.len() == 13 && text.bytes().all(|letter| LETTERS.contains(&letter))
}

/// A token that nobody can guess.
///
/// # Errors
/// As [`random`].
pub fn token() -> Result<String, Error> {
    Ok(hex(&random::<32>()?))
}

/// The hash under which `text` is kept.
#[must_use]
pub fn hash(text: &str) -> String {
    hex(&Sha256::digest(text.as_bytes()))
}

/// The hash of bytes.
#[must_use]
pub fn hash_bytes(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// A value that only who knows `secret` can make from `parts` (two nested hashes, as HMAC does it).
#[must_use]
pub fn keyed(secret: &str, parts: &[&str]) -> String {
    let mut inner = Sha256::new();
    inner.update(format!("inner:{secret}:"));
    for part in parts {
        inner.update((part.len() as u64).to_be_bytes());
        inner.update(part);
    }
    let mut outer = Sha256::new();
    outer.update(format!("outer:{secret}:"));
    outer.update(inner.finalize());
    hex(&outer.finalize())
}

/// Whether two hashes are the same, in a time that does not depend on where they differ.
#[must_use]
pub fn is_same(a: &str, b: &str) -> bool {
    a.len() == b.len() && a.bytes().zip(b.bytes()).fold(0, |sum, (a, b)| sum | (a ^ b)) == 0
}

/// Bytes as hexadecimal digits.
#[must_use]
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_plain_and_differ() {
        let names: std::collections::HashSet<String> = (0..100).map(|_| name().unwrap()).collect();
        assert_eq!(names.len(), 100);
        assert!(names.iter().all(|it| it.len() == 12 && it.bytes().all(|c| LETTERS.contains(&c))));
    }

    #[test]
    fn names_of_later_days_come_later() {
        let days = [0, 31, 32, 20_782, 20_783, 32_767];
        let names: Vec<String> = days.map(|day| dated(day, &[255; 10])).to_vec();
        assert!(names.is_sorted() && names.iter().all(|name| name.len() == 13), "{names:?}");
        assert_eq!(names[0], "000zzzzzzzzzz");
        assert_ne!(name_of_day(7).unwrap(), name_of_day(7).unwrap());
        assert!(names.iter().all(|name| is_dated(name)));
        assert!(["000zzzzzzzzz", "000zzzzzzzzzO", "sandisk extre"].iter().all(|it| !is_dated(it)));
    }

    #[test]
    fn a_keyed_value_depends_on_every_part() {
        let all = [
            keyed("s", &["a", "b"]),
            keyed("s", &["ab", ""]),
            keyed("t", &["a", "b"]),
            keyed("s", &["a"]),
        ];
        let different: std::collections::HashSet<&String> = all.iter().collect();
        assert_eq!(different.len(), 4);
        assert_eq!(keyed("s", &["a", "b"]), all[0]);
    }

    #[test]
    fn hashes_are_compared_in_full() {
        assert!(is_same("abc", "abc"));
        assert!(!is_same("abc", "abd") && !is_same("abc", "ab"));
    }
}
