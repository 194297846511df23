//! A drive on which a request that fails is tried again: an error is counted, and says nothing of data.

use cardproof_evidence::capacity::stamp::Stamp;
use cardproof_io::{Fault, OpKind, Target};
use cardproof_units::{Bytes, Nanos};

use crate::drive::{Drive, DriveError};

/// So often a request is handed over at most.
pub(super) const TRIES: u32 = 4;

/// A test ends at this number of errors of the device.
pub(super) const FAULTS_MAX: u64 = 100;

/// A target, driven one request at a time, with its errors.
#[derive(Debug)]
pub(super) struct Patient<'a> {
    drive: Drive<'a>,
    faults: u64,
    /// Those of them that a further try did not show.
    mended: u64,
    last_fault: Fault,
}

impl<'a> Patient<'a> {
    /// Prepares `target` for requests of up to `buffer` each.
    pub(super) fn new(target: &'a mut dyn Target, buffer: Bytes) -> Result<Self, DriveError> {
        let drive = Drive::new(target, buffer)?;
        Ok(Self { drive, faults: 0, mended: 0, last_fault: Fault::InputOutput })
    }

    pub(super) fn now(&mut self) -> Nanos {
        self.drive.now()
    }

    /// All bytes written so far.
    pub(super) const fn written(&self) -> Bytes {
        self.drive.written()
    }

    /// All bytes read so far.
    pub(super) const fn read_so_far(&self) -> Bytes {
        self.drive.read_so_far()
    }

    /// How many requests were answered with an error, each try counted.
    pub(super) const fn faults(&self) -> u64 {
        self.faults
    }

    /// How many of these errors a further try did not show.
    pub(super) const fn mended(&self) -> u64 {
        self.mended
    }

    /// The last error, once there were so many that the device is asked no more and every request fails.
    pub(super) fn exhausted(&self) -> Option<Fault> {
        (self.faults >= FAULTS_MAX).then_some(self.last_fault)
    }

    /// Writes the test sectors that begin with `stamp`. After an error, what lies there is unknown.
    pub(super) fn write_stamped(
        &mut self,
        offset: u64,
        length: u64,
        stamp: Stamp,
    ) -> Result<Result<(), Fault>, DriveError> {
        self.attempt(OpKind::Write, |drive| drive.write_stamped(offset, length, stamp))
    }

    /// What lies at `offset`; `None` after an error.
    pub(super) fn read(&mut self, offset: u64, length: u64) -> Result<Option<&[u8]>, DriveError> {
        let outcome =
            self.attempt(OpKind::Read, |drive| Ok(drive.read(offset, length)?.map(|_| ())))?;
        Ok(outcome.is_ok().then(|| self.drive.data(length)))
    }

    /// Discards a range. After an error nobody knows what it did, unless it is [`Fault::Unsupported`].
    pub(super) fn discard(
        &mut self,
        offset: u64,
        length: u64,
    ) -> Result<Result<(), Fault>, DriveError> {
        self.attempt(OpKind::Discard, |drive| drive.discard(offset, length))
    }

    /// Flushes, once: after an error, what was written since the flush before is unknown, and another flush
    /// does not bring it back.
    pub(super) fn flush(&mut self) -> Result<Result<(), Fault>, DriveError> {
        if let Some(fault) = self.exhausted() {
            return Ok(Err(fault));
        }
        let outcome = self.drive.flush()?;
        if let Err(fault) = outcome {
            self.note(fault);
        }
        Ok(outcome)
    }

    fn attempt(
        &mut self,
        kind: OpKind,
        mut request: impl FnMut(&mut Drive<'a>) -> Result<Result<(), Fault>, DriveError>,
    ) -> Result<Result<(), Fault>, DriveError> {
        for tries in 0..TRIES {
            if let Some(fault) = self.exhausted() {
                return Ok(Err(fault));
            }
            match request(&mut self.drive)? {
                Ok(()) => {
                    self.mended += u64::from(tries);
                    return Ok(Ok(()));
                }
                // That is an answer, and no error.
                Err(Fault::Unsupported) if kind == OpKind::Discard => {
                    return Ok(Err(Fault::Unsupported));
                }
                Err(fault) => self.note(fault),
            }
        }
        Ok(Err(self.last_fault))
    }

    const fn note(&mut self, fault: Fault) {
        self.faults += 1;
        self.last_fault = fault;
    }
}
