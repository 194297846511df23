//! A board's disk: one partition with a Debian system, our package and the script of the visit.

use std::fs::{self, File, OpenOptions};
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::Result;
use cardproof_testkit::run;

use super::board::Board;
use crate::debian;

/// QEMU takes only powers of two for cards.
const SIZE_BYTES: u64 = 1 << 30;

/// Where the partition begins, as SD cards have it.
const PARTITION_BYTES: u64 = 4 << 20;

const SECTOR_BYTES: u64 = 512;

/// What is done on a board.
const SCRIPT: &str = include_str!("visit.sh");

/// Makes the disk of `board` in the file `image`, from the tar file `root`.
///
/// # Errors
/// There is no room, or mke2fs cannot be started.
pub(super) fn make(image: &Path, root: &Path, package: &Path, board: &Board) -> Result<()> {
    let stage = tempfile::tempdir()?;
    debian::unpack(root, stage.path())?;
    fs::copy(package, stage.path().join("cardproof.deb"))?;
    fs::write(stage.path().join("visit.sh"), SCRIPT)?;
    // A Pi has no clock of its own; its system saves the time of the last shutdown.
    let now = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let settings = format!("DEVICE={}\nNOW={now}\n", board.storage.device());
    fs::write(stage.path().join("visit.conf"), settings)?;
    File::create(image)?.set_len(SIZE_BYTES)?;
    let offset = format!("offset={PARTITION_BYTES}");
    let size = format!("{}k", (SIZE_BYTES - PARTITION_BYTES) >> 10);
    run(
        "mke2fs",
        [
            "-q".as_ref(),
            "-F".as_ref(),
            "-t".as_ref(),
            "ext4".as_ref(),
            "-E".as_ref(),
            offset.as_ref(),
            "-d".as_ref(),
            stage.path().as_os_str(),
            image.as_os_str(),
            size.as_ref(),
        ],
    )?;
    OpenOptions::new().write(true).open(image)?.write_all_at(&partition_table(), 0)?;
    Ok(())
}

/// A master boot record with one Linux partition (type 0x83) to the end of the disk. Its entry: status,
/// three bytes of an address that nobody reads, type, three more, first sector, number of sectors.
fn partition_table() -> [u8; SECTOR_BYTES as usize] {
    let first = (PARTITION_BYTES / SECTOR_BYTES) as u32;
    let count = ((SIZE_BYTES - PARTITION_BYTES) / SECTOR_BYTES) as u32;
    let mut sector = [0; SECTOR_BYTES as usize];
    sector[446..454].copy_from_slice(&[0, 0xfe, 0xff, 0xff, 0x83, 0xfe, 0xff, 0xff]);
    sector[454..458].copy_from_slice(&first.to_le_bytes());
    sector[458..462].copy_from_slice(&count.to_le_bytes());
    sector[510..].copy_from_slice(&[0x55, 0xaa]);
    sector
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_partition_reaches_to_the_end_of_the_disk() {
        let sector = partition_table();
        assert_eq!(sector[446 + 4], 0x83);
        assert_eq!(sector[446 + 8..446 + 16], [0, 0x20, 0, 0, 0, 0xe0, 0x1f, 0]);
        assert_eq!(sector[510..], [0x55, 0xaa]);
    }
}
