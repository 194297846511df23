//! Where setups are compared: a directory of the user's, or a device that may be destroyed.

use std::fs::{self, File};
use std::io::{Seek, SeekFrom};
use std::os::unix::fs::FileTypeExt;
use std::path::PathBuf;

use cardproof_device::{Surroundings, Sysroot, look_at_path};
use cardproof_io::scratch::Scratch;
use cardproof_io::{Usage, usage};
use cardproof_record::{EngineName, TargetInfo, TargetKind};
use cardproof_units::Bytes;

use crate::announcement::{self, Effect};
use crate::failure::Failure;
use crate::frontend::Frontend;
use crate::options::Options;
use crate::place::Place;
use crate::target::{Existing, not_there, of_scratch, refuse_link, tell_of_leftovers};

/// What comparing setups needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SetupsNeeds {
    /// Whether file systems are compared, which needs a ground for them.
    pub file_systems: bool,
    /// The size of each file system, unless the user asks for another.
    pub size: Bytes,
    /// What jobs take on the file system that is there.
    pub little: Bytes,
}

/// Where setups are compared.
pub struct SetupsPlace {
    pub(super) path: PathBuf,
    pub(super) kind: Where,
    /// How large each file system is.
    pub(super) size: Bytes,
    /// A directory of ours: in the user's directory, or for the mounts of what is on a device.
    pub(super) scratch: Option<Scratch>,
    file_systems: bool,
    surroundings: Surroundings,
}

/// What the user named.
pub(super) enum Where {
    /// A directory.
    Directory,
    /// A device, open until it is the ground of file systems.
    Device { file: Option<File>, whole: Bytes },
}

/// Whether this process may mount.
fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

impl SetupsPlace {
    /// Whether file systems are wanted and can be mounted.
    pub(super) fn makes_file_systems(&self) -> bool {
        self.file_systems && is_root()
    }

    /// Removes our directory.
    pub(super) fn clear(&mut self, frontend: &mut dyn Frontend) {
        if let Some(Err(left)) = self.scratch.take().map(Scratch::remove) {
            frontend.note(&left.to_string());
        }
    }

    /// A fresh directory of ours with `room`, in the place of the last one.
    pub(super) fn fresh(
        &mut self,
        room: Bytes,
        frontend: &mut dyn Frontend,
    ) -> Result<&Scratch, Failure> {
        self.clear(frontend);
        let (scratch, _) = Scratch::create_for(&self.path, None, room, false)
            .map_err(|error| of_scratch(&error))?;
        Ok(self.scratch.insert(scratch))
    }
}

impl Place for SetupsPlace {
    type Needs = SetupsNeeds;

    fn open(
        needs: &SetupsNeeds,
        options: &Options,
        frontend: &mut dyn Frontend,
    ) -> Result<Self, Failure> {
        let path = &options.target;
        let metadata = fs::metadata(path).map_err(|error| not_there(path, &error))?;
        if metadata.is_dir() {
            in_directory(needs, options, frontend)
        } else if metadata.file_type().is_block_device() {
            on_device(needs, options, frontend)
        } else {
            Err(Failure::usage(format!(
                "{} is neither a directory nor a block device; name one",
                path.display()
            )))
        }
    }

    fn surroundings(&self) -> &Surroundings {
        &self.surroundings
    }

    fn target_info(&self) -> TargetInfo {
        let (kind, size_bytes) = match self.kind {
            Where::Directory => (TargetKind::Directory, self.size),
            Where::Device { whole, .. } => (TargetKind::BlockDevice, whole),
        };
        TargetInfo {
            kind,
            size_bytes,
            engine: EngineName::Files,
            direct: false,
            buffered_reason: Some("as programs use files".to_owned()),
            ..TargetInfo::default()
        }
    }

    fn cost(&mut self) -> Option<Usage> {
        Some(usage())
    }

    fn announcement(&self, effect: &Effect) -> Option<String> {
        effect.sentence(match self.kind {
            Where::Directory => announcement::Where::OwnFiles,
            Where::Device { whole, .. } => announcement::Where::Over(whole, "device"),
        })
    }

    fn close(self) -> Option<String> {
        self.scratch?.remove().err().map(|left| left.to_string())
    }
}

fn in_directory(
    needs: &SetupsNeeds,
    options: &Options,
    frontend: &mut dyn Frontend,
) -> Result<SetupsPlace, Failure> {
    let path = &options.target;
    refuse_link(path)?;
    if options.access.destroy.is_some() {
        return Err(Failure::usage(format!(
            "--destroy is for block devices, and {} is a directory, of which nothing is touched; \
             leave --destroy out",
            path.display()
        )));
    }
    let makes_image = needs.file_systems && is_root();
    let wanted = if makes_image { options.size.unwrap_or(needs.size) } else { needs.little };
    let is_asked_for = makes_image && options.size.is_some();
    let (scratch, allowance) = Scratch::create_for(path, None, wanted, is_asked_for)
        .map_err(|error| of_scratch(&error))?;
    tell_of_leftovers(&scratch, frontend);
    Ok(SetupsPlace {
        path: path.clone(),
        kind: Where::Directory,
        size: allowance.size.round_down_to(Bytes::mib(1)),
        scratch: Some(scratch),
        file_systems: needs.file_systems,
        surroundings: look_at_path(&Sysroot::default(), path).unwrap_or_default(),
    })
}

fn on_device(
    needs: &SetupsNeeds,
    options: &Options,
    frontend: &mut dyn Frontend,
) -> Result<SetupsPlace, Failure> {
    let path = &options.target;
    let existing = Existing { path, direct: true };
    let mut file = existing.for_writing(&options.access, frontend)?;
    if !is_root() {
        return Err(Failure::incomplete(
            "comparing file systems on a device needs root, to mount them; run it with sudo",
        ));
    }
    let whole = file.seek(SeekFrom::End(0)).map_err(Failure::because("cannot tell its size"))?;
    let whole = Bytes(whole);
    let scratch =
        Scratch::create(&std::env::temp_dir(), None).map_err(|error| of_scratch(&error))?;
    Ok(SetupsPlace {
        path: path.clone(),
        kind: Where::Device { file: Some(file), whole },
        size: options.size.unwrap_or(needs.size).min(whole).round_down_to(Bytes::mib(1)),
        scratch: Some(scratch),
        file_systems: needs.file_systems,
        surroundings: look_at_path(&Sysroot::default(), path).unwrap_or_default(),
    })
}
