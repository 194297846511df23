//! CMD56 to an SD card: the maker's own question for its health.
//!
//! The kernel passes it on for whoever may write to the whole device. A card that does not know it
//! may stop answering altogether, so whether to ask is for the caller to decide. Some cards want to be told what
//! they will be asked: the same command with 512 bytes to the card, which go to its controller and not to its
//! memory.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;
use std::time::Duration;

use rustix::ioctl::{Opcode, Updater, ioctl};

/// `MMC_IOC_CMD` of `linux/mmc/ioctl.h`: `_IOWR(179, 0, struct mmc_ioc_cmd)`.
const MMC_IOC_CMD: Opcode = 0xc048_b300;

/// The length of an answer, and of what a card is told.
pub const CMD56_BLOCK_LEN: usize = 512;

/// `GEN_CMD` of the SD specification: the lowest bit of its argument says that the card answers.
const CMD56: u32 = 56;
const READS: u32 = 1;

/// `MMC_RSP_R1 | MMC_CMD_ADTC` of `linux/mmc/core.h`.
const FLAGS: u32 = 1 << 0 | 1 << 2 | 1 << 4 | 1 << 5;

/// How long the card may take, in milliseconds.
const TIMEOUT_MS: u32 = 2000;

/// `struct mmc_ioc_cmd`.
#[repr(C)]
struct MmcIocCmd {
    write_flag: i32,
    is_acmd: i32,
    opcode: u32,
    argument: u32,
    response: [u32; 4],
    flags: u32,
    block_size: u32,
    blocks: u32,
    postsleep_min_us: u32,
    postsleep_max_us: u32,
    data_timeout_ns: u32,
    command_timeout_ms: u32,
    padding: u32,
    data: u64,
}

/// A card that takes CMD56, and a clock to wait by.
pub trait CardChannel {
    /// The 512 bytes that the card answers to CMD56 with `argument`.
    ///
    /// # Errors
    /// The card or the driver does not know the command, the argument does not read, or this user may not
    /// ask.
    fn ask(&mut self, argument: u32) -> io::Result<[u8; CMD56_BLOCK_LEN]>;

    /// Sends `block` to the card's controller by CMD56 with `argument`.
    ///
    /// # Errors
    /// As [`ask`](Self::ask), or the argument reads.
    fn tell(&mut self, argument: u32, block: &[u8; CMD56_BLOCK_LEN]) -> io::Result<()>;

    /// Lets the card work for `time`.
    fn pause(&mut self, time: Duration);
}

/// The whole device of a card, open for reading and writing.
impl CardChannel for File {
    fn ask(&mut self, argument: u32) -> io::Result<[u8; CMD56_BLOCK_LEN]> {
        if argument & READS == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the argument does not read"));
        }
        let mut answer = [0; CMD56_BLOCK_LEN];
        send(self, argument, &mut answer)?;
        Ok(answer)
    }

    fn tell(&mut self, argument: u32, block: &[u8; CMD56_BLOCK_LEN]) -> io::Result<()> {
        if argument & READS != 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidInput, "the argument reads"));
        }
        send(self, argument, &mut block.clone())
    }

    fn pause(&mut self, time: Duration) {
        std::thread::sleep(time);
    }
}

/// Sends CMD56; by its argument the card fills `block` or takes it.
fn send(device: &File, argument: u32, block: &mut [u8; CMD56_BLOCK_LEN]) -> io::Result<()> {
    let mut command = MmcIocCmd {
        write_flag: i32::from(argument & READS == 0),
        is_acmd: 0,
        opcode: CMD56,
        argument,
        response: [0; 4],
        flags: FLAGS,
        block_size: CMD56_BLOCK_LEN as u32,
        blocks: 1,
        postsleep_min_us: 0,
        postsleep_max_us: 0,
        data_timeout_ns: 0,
        command_timeout_ms: TIMEOUT_MS,
        padding: 0,
        data: block.as_mut_ptr().expose_provenance() as u64,
    };
    // SAFETY: the kernel reads and writes a `mmc_ioc_cmd` for this request, whose fields are numbers.
    // It reads or writes `block_size` times `blocks` bytes at `data`, which is as long and lives until the
    // call is over. A file that is no MMC device refuses the request.
    unsafe { ioctl(device.as_fd(), Updater::<MMC_IOC_CMD, MmcIocCmd>::new(&mut command)) }?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_request_is_as_long_as_the_kernels() {
        assert_eq!(size_of::<MmcIocCmd>(), 72);
        assert_eq!(MMC_IOC_CMD >> 16 & 0x3fff, 72);
    }

    #[test]
    fn a_file_that_is_no_card_refuses() {
        let mut file = tempfile::tempfile().unwrap();
        let block = [0; CMD56_BLOCK_LEN];
        assert!(file.ask(1).is_err() && file.tell(0x10, &block).is_err());
        for refused in [file.ask(0x10).map(|_| ()), file.tell(0x21, &block)] {
            assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::InvalidInput);
        }
    }
}
