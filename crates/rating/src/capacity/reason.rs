//! Why a capacity is judged so: values with their figures. `words/capacity.rs` makes the sentences.

use cardproof_record::ReadOrigin;
use cardproof_units::Bytes;

/// A reason of a verdict on a capacity.
#[derive(Clone, Debug, PartialEq)]
pub enum CapacityReason {
    /// As the inference or the record says it.
    Stated(String),
    /// The test could not be done.
    NotDone,
    /// Nothing was written, and nothing suspicious was found.
    NothingSuspicious,
    /// The figures are those of the tested space.
    PartTested {
        /// Whether it is not known where on the device that space lies.
        is_order_unknown: bool,
    },
    /// How much the test covered; the figures are those of that space.
    Covered {
        /// What was tested.
        tested: Bytes,
        /// Of so much that was free, where that is known.
        free: Option<Bytes>,
        /// Of a device that announces so much.
        announced: Bytes,
        /// Whether it is not known where on the device that space lies.
        is_order_unknown: bool,
    },
    /// A fake that holds as much as was tested may pass.
    LargerFakePasses {
        /// What was tested.
        tested: Bytes,
    },
    /// A fake whose free space lies beyond what it holds looks like this damage.
    FakeBeyondLooksSame,
    /// The reads may have come from memory.
    Origin(ReadOrigin),
    /// The device was disconnected and connected again before it was read.
    Reconnected,
    /// The part that could not be read, and so was not tested.
    Untested(Bytes),
    /// The part that was read without an error.
    SurfaceSound(Bytes),
    /// A part of what was read cannot be read.
    SurfaceUnreadable {
        /// The part that cannot be read.
        unreadable: Bytes,
        /// The part that was tried.
        of: Bytes,
    },
    /// Data of the test are at places that it has not written, for a cause that is not known.
    FoundElsewhere {
        /// The number of these places.
        places: u64,
    },
    /// The data of the test appear at no other place.
    NowhereElse {
        /// The number of places read.
        places: u64,
        /// A fake that really holds so much or less would have been found.
        excluded: Bytes,
    },
    /// Other places change when the test writes.
    ChangesElsewhere {
        /// The number of places read.
        places: u64,
        /// The number of those that change.
        changed: u64,
    },
    /// What was read of files, in sectors.
    FilesRead {
        /// The size of the files.
        tested: Bytes,
        /// Sectors that are right.
        right: u64,
        /// Sectors with data of another address.
        foreign: u64,
        /// Sectors with wrong data.
        wrong: u64,
        /// Sectors that cannot be read.
        unreadable: u64,
    },
    /// The number of errors that did not occur at a second attempt.
    TransientErrors(u64),
    /// The number of files of the set that are missing.
    MissingFiles(u64),
    /// This part of the file system is covered by the files, 0 to 1.
    FilesCover {
        /// The part.
        share: f64,
    },
}
