//! The secret that the writer and the witness share.

use std::fs;
use std::path::{Path, PathBuf};

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;

/// The fewest bytes of a secret.
const LENGTH_MIN: usize = 16;

/// The most bytes of a file that holds one.
const LENGTH_MAX: u64 = 4096;

/// A shared secret.
#[derive(Clone)]
pub struct Secret(Vec<u8>);

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Secret")
    }
}

/// Why a file holds no secret.
#[derive(Debug, thiserror::Error)]
pub enum SecretError {
    /// It cannot be read.
    #[error("cannot read the secret in {}", path.display())]
    Unreadable {
        /// Which file.
        path: PathBuf,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It is too short, or no secret at all.
    #[error(
        "{} must hold {LENGTH_MIN} to {LENGTH_MAX} bytes; make one: head -c 32 /dev/urandom | base64", path.display()
    )]
    Length {
        /// Which file.
        path: PathBuf,
    },
}

impl Secret {
    /// The secret in the file at `path`, without white space around it.
    ///
    /// # Errors
    /// The file cannot be read or holds none.
    pub fn read(path: &Path) -> Result<Self, SecretError> {
        let unreadable = |source| SecretError::Unreadable { path: path.to_owned(), source };
        let length = || SecretError::Length { path: path.to_owned() };
        if fs::metadata(path).map_err(unreadable)?.len() > LENGTH_MAX {
            return Err(length());
        }
        let bytes = fs::read(path).map_err(unreadable)?;
        Self::new(bytes.trim_ascii()).ok_or_else(length)
    }

    /// A secret of at least 16 bytes; `None` where it is shorter.
    #[must_use]
    pub fn new(bytes: &[u8]) -> Option<Self> {
        (bytes.len() >= LENGTH_MIN).then(|| Self(bytes.to_vec()))
    }

    /// The HMAC-SHA-256 of `parts`, each with its length before it.
    pub(crate) fn sign(&self, parts: &[&[u8]]) -> [u8; 32] {
        self.mac(parts).map_or([0; 32], |mac| mac.finalize().into_bytes().into())
    }

    /// Whether `signature` is that of `parts`; takes the same time whatever differs.
    pub(crate) fn verify(&self, parts: &[&[u8]], signature: &[u8]) -> bool {
        self.mac(parts).is_some_and(|mac| mac.verify_slice(signature).is_ok())
    }

    fn mac(&self, parts: &[&[u8]]) -> Option<Hmac<Sha256>> {
        let mut mac = Hmac::<Sha256>::new_from_slice(&self.0).ok()?;
        for part in parts {
            mac.update(&(part.len() as u64).to_le_bytes());
            mac.update(part);
        }
        Some(mac)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_holds_for_its_secret_and_its_parts_alone() {
        let secret = Secret::new(b"0123456789abcdef").unwrap();
        let signature = secret.sign(&[b"ab", b"c"]);
        assert!(secret.verify(&[b"ab", b"c"], &signature));
        assert!(!secret.verify(&[b"a", b"bc"], &signature), "other parts");
        assert!(!Secret::new(b"0123456789abcdeg").unwrap().verify(&[b"ab", b"c"], &signature));
        assert!(Secret::new(b"short").is_none());
    }
}
