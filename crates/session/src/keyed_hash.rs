//! Hashes under a key of this computer, so that a card is known again here and by nobody else.

use std::io;

use hmac::{Hmac, KeyInit, Mac};
use rustix::rand::{GetRandomFlags, getrandom};
use sha2::Sha256;

/// The bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;

/// A new random key.
///
/// # Errors
/// The kernel gives no random bytes.
pub(crate) fn new_key() -> io::Result<[u8; KEY_BYTES]> {
    let mut key = [0; KEY_BYTES];
    getrandom(&mut key, GetRandomFlags::empty())?;
    Ok(key)
}

/// The first eight bytes of HMAC-SHA-256 (RFC 2104) of `text` under `key`.
#[must_use]
pub fn keyed_hash(key: &[u8], text: &str) -> [u8; 8] {
    let mut hash = [0; 8];
    // HMAC takes a key of any length.
    if let Ok(mut mac) = Hmac::<Sha256>::new_from_slice(key) {
        mac.update(text.as_bytes());
        hash.copy_from_slice(&mac.finalize().into_bytes()[..8]);
    }
    hash
}
