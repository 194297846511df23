//! CMD56 to an SD card: the maker's own question for its health.
//!
//! The kernel passes it on for whoever may write to the whole device. A card that does not know it
//! may stop answering altogether, so whether to ask is for the caller to decide.

use std::fs::File;
use std::io;
use std::os::fd::AsFd;

use rustix::ioctl::{Opcode, Updater, ioctl};

/// `MMC_IOC_CMD` of `linux/mmc/ioctl.h`: `_IOWR(179, 0, struct mmc_ioc_cmd)`.
const MMC_IOC_CMD: Opcode = 0xc048_b300;

/// The length of an answer.
const ANSWER_LEN: usize = 512;

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

/// The 512 bytes that the SD card `device` answers to CMD56 with `argument`.
///
/// # Errors
/// The card or the driver does not know the command, the argument does not read, or this user may not
/// ask.
pub fn ask_by_cmd56(device: &File, argument: u32) -> io::Result<[u8; ANSWER_LEN]> {
    if argument & READS == 0 {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the argument does not read"));
    }
    let mut answer = [0_u8; ANSWER_LEN];
    let mut command = MmcIocCmd {
        write_flag: 0,
        is_acmd: 0,
        opcode: CMD56,
        argument,
        response: [0; 4],
        flags: FLAGS,
        block_size: ANSWER_LEN as u32,
        blocks: 1,
        postsleep_min_us: 0,
        postsleep_max_us: 0,
        data_timeout_ns: 0,
        command_timeout_ms: TIMEOUT_MS,
        padding: 0,
        data: answer.as_mut_ptr().expose_provenance() as u64,
    };
    // SAFETY: the kernel reads and writes a `mmc_ioc_cmd` for this request, whose fields are numbers.
    // It writes `block_size` times `blocks` bytes to `data`, which is as long and lives until the call
    // is over. A file that is no MMC device refuses the request.
    unsafe { ioctl(device.as_fd(), Updater::<MMC_IOC_CMD, MmcIocCmd>::new(&mut command)) }?;
    Ok(answer)
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
        let file = tempfile::tempfile().unwrap();
        assert!(ask_by_cmd56(&file, 1).is_err());
        assert_eq!(ask_by_cmd56(&file, 0x10).unwrap_err().kind(), io::ErrorKind::InvalidInput);
    }
}
