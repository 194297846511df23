//! The free space of a directory's file system, reserved for a test and given back.
//!
//! The test file loses its name as soon as it is made, so its space is free again when this process
//! ends, however it ends. A tenth of the file system, and at least 1 GiB, stays free for other programs.

use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use cardproof_device::Surroundings;
use cardproof_io::scratch::{Scratch, Space, UsersDirectory};
use cardproof_io::{
    Abilities, Extent, FreeSpaceError, FreeSpaceTarget, Layer, SampledSpace, Target, Usage, usage,
};
use cardproof_record::{TargetInfo, TargetKind};
use cardproof_units::{Bytes, shell_path, with_causes};

use super::{device_number, look, of_scratch, tell_of_leftovers};
use crate::announcement::Effect;
use crate::failure::{Failure, FailureKind};
use crate::frontend::Frontend;
use crate::options::Options;
use crate::place::Place;

/// The least free space that is worth a test.
const RESERVED_MIN: Bytes = Bytes::mib(64);

/// The free space of a file system, reserved.
pub struct FreeSpace {
    /// Drives it.
    pub target: Reserved,
    /// The room in which it is reserved.
    pub room: Room,
    directory: UsersDirectory,
    surroundings: Surroundings,
}

impl FreeSpace {
    /// A path that leads to the open directory, whatever takes its name.
    #[must_use]
    pub fn lasting_path(&self) -> PathBuf {
        self.directory.lasting_path()
    }
}

/// How the free space is reserved.
pub enum Reserved {
    /// By one file of which the file system says where it lies, in the order of the device.
    Placed(FreeSpaceTarget),
    /// By many files, in the order in which the file system gives out its space; to be laid first.
    Sampled(SampledSpace),
}

impl Reserved {
    /// What drives it.
    pub fn target(&mut self) -> &mut dyn Target {
        match self {
            Self::Placed(target) => target,
            Self::Sampled(target) => target,
        }
    }

    /// Where all lies that was written, as addresses and the pieces of the device from there on, in the order of the
    /// addresses; `None` where the file system does not tell this user.
    #[must_use]
    pub fn pieces(&self) -> Option<Vec<(Bytes, Extent)>> {
        match self {
            Self::Placed(target) => {
                let mut address = Bytes::ZERO;
                let placed = target.pieces().iter().map(|&piece| {
                    address += piece.length;
                    (address - piece.length, piece)
                });
                Some(placed.collect())
            }
            Self::Sampled(target) => target.pieces().ok(),
        }
    }

    /// What it can do.
    #[must_use]
    pub fn abilities(&self) -> &Abilities {
        match self {
            Self::Placed(target) => target.abilities(),
            Self::Sampled(target) => target.abilities(),
        }
    }
}

/// The room in a file system.
pub struct Room {
    /// Its space before any was reserved.
    pub space: Space,
    scratch: Scratch,
}

impl Room {
    /// Whether other programs need the space that is left to them: less than half of it is free.
    #[must_use]
    pub fn is_needed_by_others(&self) -> bool {
        let kept = Bytes(self.space.kept().get() / 2);
        self.scratch.space().is_ok_and(|space| space.free < kept)
    }
}

/// Lays stretches in a room until `stop` says so or others need the space.
pub(crate) struct RoomLayer<'a> {
    /// Where.
    pub room: &'a Room,
    /// Set where it shall end.
    pub stop: &'a AtomicBool,
}

impl Layer for RoomLayer<'_> {
    fn create(&mut self) -> io::Result<File> {
        self.room.scratch.create_nameless_file().map_err(io::Error::other)
    }

    fn goes_on(&mut self) -> bool {
        !self.stop.load(Ordering::Relaxed) && !self.room.is_needed_by_others()
    }
}

impl Place for FreeSpace {
    /// The directory, where somebody has opened it already.
    type Needs = Option<UsersDirectory>;

    fn open(
        opened: &Self::Needs,
        options: &Options,
        frontend: &mut dyn Frontend,
    ) -> Result<Self, Failure> {
        let path = &options.target;
        let expected = options.expect_device.as_deref().map(device_number).transpose()?;
        let directory = match opened {
            Some(directory) => directory.again(),
            None => UsersDirectory::open(path),
        };
        let directory = directory.map_err(|error| of_scratch(&error))?;
        let surroundings = look(&directory.lasting_path());
        let scratch = directory.again().and_then(|own| Scratch::create_in(own, expected));
        let scratch = scratch.map_err(|error| of_scratch(&error))?;
        tell_of_leftovers(&scratch, frontend);
        let space = scratch.space().map_err(|error| of_scratch(&error))?;
        let wanted = options.size.unwrap_or(space.reservable()).min(space.reservable());
        if wanted < RESERVED_MIN {
            return Err(too_little(options, space));
        }
        let file = scratch.create_nameless_file().map_err(|error| of_scratch(&error))?;
        let target = reserved(file, wanted.round_down_to(Bytes::mib(1))).map_err(|error| {
            Failure::of_place(FailureKind::Unsupported, format!(
                "the free space of {} cannot be tested by samples: {}; to write and read files in all of \
                 it: cardproof verify {} --full",
                path.display(),
                with_causes(&error),
                shell_path(path)
            ))
        })?;
        Ok(Self { target, room: Room { space, scratch }, directory, surroundings })
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn target_info(&self) -> TargetInfo {
        let Abilities { engine, logical_block, .. } = self.target.abilities();
        TargetInfo {
            kind: TargetKind::Directory,
            size_bytes: self.room.space.size,
            logical_block_bytes: *logical_block,
            engine: engine.name().into(),
            direct: true,
            ..TargetInfo::default()
        }
    }

    fn cost(&mut self) -> Option<Usage> {
        Some(usage())
    }

    /// The experiment says what it reserves and writes.
    fn announcement(&self, _effect: &Effect) -> Option<String> {
        None
    }

    fn close(self) -> Option<String> {
        drop(self.target);
        self.room.scratch.remove().err().map(|left| left.to_string())
    }
}

/// Free space of `wanted` as the file system allows it. `file` is fresh and has no name.
fn reserved(file: File, wanted: Bytes) -> Result<Reserved, FreeSpaceError> {
    if SampledSpace::is_for(&file).map_err(FreeSpaceError::Reserve)? {
        return SampledSpace::new(file, wanted).map(Reserved::Sampled);
    }
    FreeSpaceTarget::new(file, wanted).map(Reserved::Placed)
}

fn too_little(options: &Options, space: Space) -> Failure {
    Failure::of_place(
        FailureKind::TooLittleSpace,
        format!(
            "{} has {} of free space; the test needs {}, of which {} stay free for other programs; remove \
             something, or fill and test all of it: cardproof verify {} --full",
            options.target.display(),
            space.free,
            space.kept() + RESERVED_MIN,
            space.kept(),
            shell_path(&options.target)
        ),
    )
}
