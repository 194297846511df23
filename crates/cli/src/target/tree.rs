//! A directory in which a job may make files: as safe a place as a run's test file has, and room
//! for all that the job makes.

use std::fs;
use std::path::Path;

use cardproof_device::Surroundings;
use cardproof_io::files::FileTree;
use cardproof_io::scratch::Scratch;
use cardproof_units::Bytes;

use super::{Wanted, look, not_there, of_scratch, refuse_link, scratch_in, simulated_name};
use crate::exit::Failure;
use crate::talk::Talk;

/// A tree of our own, and what is known of where it is.
pub(crate) struct OpenedTree {
    pub(crate) tree: FileTree,
    pub(crate) surroundings: Surroundings,
    /// How much the tree may take.
    pub(crate) room: Bytes,
    /// Our directory; it goes when this goes.
    pub(crate) scratch: Scratch,
}

/// Opens a tree in the directory that `args` name, with room for `needed`, or for at least `least`
/// where the user has not said how much may be taken.
pub(crate) fn open_tree(
    args: &Wanted<'_>,
    needed: Bytes,
    least: Bytes,
    talk: &Talk,
) -> Result<OpenedTree, Failure> {
    check_directory(args.target)?;
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
    let surroundings = look(args.target);
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
