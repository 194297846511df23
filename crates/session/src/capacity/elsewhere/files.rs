//! Places in the files of a file system that this user may read, where its disk may not be read.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use cardproof_io::{PlaceReader, open_unnoticed};
use cardproof_probe::capacity::Elsewhere;
use cardproof_units::Bytes;
use rustix::fs::{
    AtFlags, CWD, FileType, StatVfsMountFlags, Statx, StatxFlags, makedev, statvfs, statx,
};
use rustix::process::geteuid;

use super::written::Written;

/// The most files and directories that are looked at, and the most files that are kept.
const LOOKED_AT: usize = 200_000;
const KEPT: usize = 20_000;

/// Files on one file system, and their places.
pub(super) struct Files {
    /// Each file, and how many places it and those before it have.
    files: Vec<(PathBuf, u64)>,
    reader: PlaceReader,
    written: Option<Written>,
}

impl Files {
    /// The files on the file system of `directory`, as far as they are found while `goes_on` says so. `None` where
    /// there are none.
    pub(super) fn find(directory: &Path, goes_on: &mut dyn FnMut() -> bool) -> Option<Self> {
        let directory = fs::canonicalize(directory).ok()?;
        let device = fs::metadata(&directory).ok()?.dev();
        let is_on_it = |path: &&Path| fs::metadata(path).is_ok_and(|it| it.dev() == device);
        let top = directory.ancestors().take_while(is_on_it).last()?;
        let user = geteuid();
        let unnoticed = StatVfsMountFlags::NOATIME | StatVfsMountFlags::RDONLY;
        let keeps_times = statvfs(top).is_ok_and(|it| it.f_flag.intersects(unnoticed));
        // Reading what belongs to others would change its time of access.
        let is_readable =
            |found: &Statx| user.is_root() || keeps_times || found.stx_uid == user.as_raw();
        let mut directories = vec![top.to_owned()];
        let mut files = Vec::new();
        let (mut places, mut looked_at) = (0, 0);
        while let Some(directory) = directories.pop() {
            for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
                looked_at += 1;
                if looked_at > LOOKED_AT || files.len() >= KEPT || !goes_on() {
                    directories.clear();
                    break;
                }
                let Some(found) = looked_at_alone(&entry.path()) else { continue };
                if makedev(found.stx_dev_major, found.stx_dev_minor) != device {
                    continue;
                }
                let kind = FileType::from_raw_mode(found.stx_mode.into());
                if kind == FileType::Directory {
                    directories.push(entry.path());
                } else if kind == FileType::RegularFile && is_readable(&found) {
                    let held =
                        found.stx_size.min(found.stx_blocks * 512) / PlaceReader::PLACE.get();
                    places += held;
                    if held > 0 {
                        files.push((entry.path(), places));
                    }
                }
            }
        }
        let written = Written::of(top);
        (places > 0).then_some(Self { files, reader: PlaceReader::new().ok()?, written })
    }
}

/// What is known of `path` itself, not of what a link leads to. A file server that does not answer is not asked, and
/// nothing is mounted for it.
fn looked_at_alone(path: &Path) -> Option<Statx> {
    let flags = AtFlags::SYMLINK_NOFOLLOW | AtFlags::NO_AUTOMOUNT | AtFlags::STATX_DONT_SYNC;
    statx(CWD, path, flags, StatxFlags::BASIC_STATS).ok()
}

impl Elsewhere for Files {
    /// The number of the file, and the place in it.
    type Place = (usize, Bytes);

    fn choose(&mut self, random: u64) -> Option<Self::Place> {
        let number = random.checked_rem(self.files.last()?.1)?;
        let file = self.files.partition_point(|&(_, end)| end <= number);
        let before = file.checked_sub(1).map_or(0, |last| self.files[last].1);
        Some((file, Bytes((number - before) * PlaceReader::PLACE.get())))
    }

    fn read(&mut self, (file, place): Self::Place) -> Option<&[u8]> {
        let file = open_unnoticed(&self.files.get(file)?.0).ok()?;
        if !file.metadata().ok()?.is_file() {
            return None;
        }
        self.reader.read(file, place).ok()
    }

    /// The files of the test have no names.
    fn is_own(&self, _: Self::Place, _: u64, _: u64) -> bool {
        false
    }

    fn written_bytes(&mut self) -> Option<u64> {
        self.written.as_ref()?.bytes()
    }
}
