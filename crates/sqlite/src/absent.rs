//! What stands for SQLite in a build without it: nothing can be laid out, and who asks is told why.

use std::convert::Infallible;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use cardproof_units::{Bytes, Nanos, Seed};

use crate::{DatabaseError, Journal, Limits, Run, Setting};

/// A database; there is none.
#[derive(Debug)]
pub struct Database(Infallible);

impl Database {
    /// Lays out nothing.
    ///
    /// # Errors
    /// [`DatabaseError::BuiltWithout`], always.
    pub fn lay_out(
        _directory: &Path,
        _rows: u32,
        _seed: Seed,
        _stop: &AtomicBool,
    ) -> Result<Self, DatabaseError> {
        Err(DatabaseError::BuiltWithout)
    }

    /// Nothing takes no room.
    #[must_use]
    pub const fn size_max(_rows: u32) -> Bytes {
        Bytes::ZERO
    }

    /// As the real one; it is never called.
    pub fn run(
        &mut self,
        _setting: Setting,
        _limits: Limits,
        _confidence: f64,
        _clock: &dyn Fn() -> Nanos,
        _stop: &AtomicBool,
    ) -> Run {
        match self.0 {}
    }

    /// As the real one; it is never called.
    ///
    /// # Errors
    /// None.
    pub fn remove(self) -> Result<(), DatabaseError> {
        match self.0 {}
    }
}

/// A database of numbered records; there is none.
#[derive(Debug)]
pub struct Numbered(Infallible);

impl Numbered {
    /// Makes nothing.
    ///
    /// # Errors
    /// [`DatabaseError::BuiltWithout`], always.
    pub fn make(_path: &Path, _journal: Journal) -> Result<Self, DatabaseError> {
        Err(DatabaseError::BuiltWithout)
    }

    /// Opens nothing.
    ///
    /// # Errors
    /// [`DatabaseError::BuiltWithout`], always.
    pub fn open(_path: &Path) -> Result<Self, DatabaseError> {
        Err(DatabaseError::BuiltWithout)
    }

    /// As the real one; it is never called.
    ///
    /// # Errors
    /// None.
    pub fn commit(&mut self, _slot: u64, _record: &[u8]) -> Result<(), DatabaseError> {
        match self.0 {}
    }

    /// As the real one; it is never called.
    ///
    /// # Errors
    /// None.
    pub fn read(&self, _each: impl FnMut(u64, &[u8])) -> Result<(), DatabaseError> {
        match self.0 {}
    }
}

/// The version of the SQLite that is driven: none.
#[must_use]
pub const fn version() -> &'static str {
    "(not in this build)"
}
