//! A directory in which a job may make files: as safe a place as a run's test file has, and room
//! for all that the job makes.

use std::fs;
use std::path::Path;

use cardproof_device::Surroundings;
use cardproof_io::files::FileTree;
use cardproof_io::scratch::Scratch;
use cardproof_io::{Usage, usage};
use cardproof_record::{TargetInfo, TargetKind};
use cardproof_units::Bytes;

use super::{look, not_there, of_scratch, refuse_link, scratch_in, simulated_name};
use crate::announcement::{Effect, Where};
use crate::failure::Failure;
use crate::frontend::Frontend;
use crate::options::Options;
use crate::place::Place;

/// What an experiment needs of an [`OpenedTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FilesNeeds {
    /// How much room it would take.
    pub room: Bytes,
    /// How much it takes at least, such as in a short form.
    pub room_min: Bytes,
}

/// A tree of our own, and what is known of where it is.
pub struct OpenedTree {
    /// Drives it.
    pub tree: FileTree,
    /// What is known of its surroundings.
    pub surroundings: Surroundings,
    /// How much the tree may take.
    pub room: Bytes,
    /// Our directory; it goes when this goes.
    pub scratch: Scratch,
}

impl Place for OpenedTree {
    type Needs = FilesNeeds;

    fn open(
        needs: &FilesNeeds,
        options: &Options,
        frontend: &mut dyn Frontend,
    ) -> Result<Self, Failure> {
        open_tree(options, needs.room, needs.room_min, frontend)
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    /// The size and the engine are the experiment's to say.
    fn target_info(&self) -> TargetInfo {
        TargetInfo {
            kind: TargetKind::Directory,
            direct: false,
            buffered_reason: Some("as programs use files".to_owned()),
            ..TargetInfo::default()
        }
    }

    fn cost(&mut self) -> Option<Usage> {
        Some(usage())
    }

    fn announcement(&self, effect: &Effect) -> Option<String> {
        effect.sentence(Where::OwnFiles)
    }

    fn close(self) -> Option<String> {
        drop(self.tree);
        self.scratch.remove().err().map(|left| left.to_string())
    }
}

/// Opens a tree in the directory that `args` name, with room for `needed`, or for at least `least`
/// where the user has not said how much may be taken.
///
/// # Errors
/// It is no directory, has no room, or using it is not safe.
pub fn open_tree(
    args: &Options,
    needed: Bytes,
    least: Bytes,
    talk: &mut dyn Frontend,
) -> Result<OpenedTree, Failure> {
    check_directory(&args.target)?;
    if let Some(size) = args.size.filter(|size| *size < least) {
        return Err(Failure::refused(format!(
            "the job needs room for {least}, and --size {size} allows less; allow more"
        )));
    }
    let wanted = args.size.map_or(needed, |size| size.min(needed));
    let (scratch, allowance) = scratch_in(args, wanted, talk)?;
    if allowance.size < least {
        return Err(Failure::refused(format!(
            "the job needs room for {least}, more than a tenth of the {} that are free; free some, \
             or allow it with --size {least}",
            allowance.free
        )));
    }
    let tree = scratch.create_tree().map_err(|error| of_scratch(&error))?;
    let surroundings = look(&args.target);
    Ok(OpenedTree { tree, surroundings, room: allowance.size, scratch })
}

/// A job works on files, and these are made in a directory.
fn check_directory(path: &Path) -> Result<(), Failure> {
    if simulated_name(path).is_some() {
        return Err(Failure::usage(format!(
            "this job works on files, and {} has no file system; serve the card with `cardproof sim \
             serve`, make a file system on it, and name a directory there; or replay a trace on it",
            path.display()
        )));
    }
    let metadata = fs::metadata(path).map_err(|error| not_there(path, &error))?;
    if !metadata.is_dir() {
        return Err(Failure::usage(format!(
            "this job works on files, and {} is not a directory; name a directory on the storage",
            path.display()
        )));
    }
    refuse_link(path)
}
