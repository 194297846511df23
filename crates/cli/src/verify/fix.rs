//! `verify --fix`: a partition that ends where the flash of a fake ends, so that the rest of its life it
//! holds what is written to it.
//!
//! The commands are always shown. They are run with leave to destroy only, and never for a card that
//! is damaged too: a partition does not mend flash.

use cardproof_record::CapacityVerdict;
use cardproof_session::{is_block_device, logical_block_of, make_partition, simulated_name};
use cardproof_units::{Bytes, shell_path};

use super::{Answer, VerifyArgs};
use crate::exit::Failure;
use crate::talk::Talk;

/// The partition begins here and ends at a multiple of this, in bytes: the largest allocation unit of
/// common cards.
const UNIT: u64 = 4 << 20;

/// A smaller partition is not worth having, in bytes.
const SIZE_MIN: u64 = 16 << 20;

/// Refuses `--fix` where it has no meaning, before anything is tested.
pub(super) fn check(args: &VerifyArgs) -> Result<(), Failure> {
    if !args.fix {
        return Ok(());
    }
    let target = args.target.display();
    if simulated_name(&args.target).is_some() || !is_block_device(&args.target) {
        return Err(Failure::usage(format!(
            "--fix is for a block device, and {target} is none; name one or leave --fix out"
        )));
    }
    if args.restore.is_none() && args.destroy.is_none() {
        return Err(Failure::usage(
            "--fix needs the real size, which only a test that writes finds: add \
             --restore to see the commands, or --destroy to run them",
        ));
    }
    Ok(())
}

/// Shows the commands, and runs them with leave to destroy.
pub(super) fn fix(args: &VerifyArgs, answer: &Answer, talk: Talk) -> Result<(), Failure> {
    if !args.fix {
        return Ok(());
    }
    let lines = match script(answer, logical_block_of(&args.target)) {
        Ok(lines) => lines,
        Err(why) => {
            talk.note(&format!("--fix does nothing: {why}."));
            return Ok(());
        }
    };
    talk.note("A partition that ends at the real size (all data on the device are lost):");
    talk.command(&format!(
        "printf '{}\\n' | sudo sfdisk --wipe always {}",
        lines.join("\\n"),
        shell_path(&args.target)
    ));
    talk.note("  then make a file system on the partition, such as: mkfs.vfat -F 32 PARTITION");
    if args.destroy.is_none() {
        return Ok(());
    }
    make_partition(&args.target, &lines.map(|line| line + "\n").concat())?;
    talk.note("The partition is made.");
    Ok(())
}

/// The lines that `sfdisk` reads for a device that is addressed in blocks of `logical_block`, or why no partition
/// helps.
fn script(answer: &Answer, logical_block: Bytes) -> Result<[String; 2], String> {
    match answer.found.verdict {
        CapacityVerdict::Fake if answer.found.damaged_ranges.is_empty() => {}
        CapacityVerdict::Fake => {
            return Err(
                "its flash is damaged too, and a partition does not help against that".to_owned()
            );
        }
        CapacityVerdict::Genuine => return Err("the capacity of the card is real".to_owned()),
        _ => return Err("it is only for fakes with a known real size".to_owned()),
    }
    if !answer.found.holds_front {
        return Err(
            "its missing addresses lie between good ones, so no partition avoids them".to_owned()
        );
    }
    let end = answer.found.real_size.0.get() / UNIT * UNIT;
    if end < UNIT + SIZE_MIN {
        return Err(format!(
            "{} of real size are too little for a partition",
            answer.found.real_size.0
        ));
    }
    let block = logical_block.get();
    let (start, size) = (UNIT / block, (end - UNIT) / block);
    // The table of a PC has no room for more sectors.
    if size > u64::from(u32::MAX) {
        return Err("the partition would be too large for its table".to_owned());
    }
    Ok(["label: dos".to_owned(), format!("start={start}, size={size}, type=c")])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(verdict: CapacityVerdict, low: u64, damaged_ranges: Vec<(u64, u64)>) -> Answer {
        let profile = cardproof_record::ProfileInfo::untimed("verify", 1);
        let identity = cardproof_session::Identity {
            id: "1".to_owned(),
            label: None,
            created: "1970-01-01T00:00:00Z".to_owned(),
        };
        let seed = cardproof_units::Seed::from_bits(1);
        let record = cardproof_session::blank(profile, seed, Default::default(), identity);
        let mut answer = super::super::answer(&record);
        answer.found.verdict = verdict;
        answer.found.real_size = (Bytes(low), Bytes(low + 4096));
        answer.found.damaged_ranges = damaged_ranges;
        answer
    }

    #[test]
    fn the_partition_ends_within_the_flash() {
        let fake = answer(CapacityVerdict::Fake, 100_000_000, Vec::new());
        for (block, numbers) in [(512, "start=8192, size=180224"), (4096, "start=1024, size=22528")]
        {
            let lines = script(&fake, Bytes(block)).unwrap();
            assert_eq!(lines, ["label: dos".to_owned(), format!("{numbers}, type=c")]);
        }
    }

    #[test]
    fn no_partition_is_made_where_it_does_not_help() {
        for (verdict, low, damaged, word) in [
            (CapacityVerdict::Genuine, 1 << 30, vec![], "is real"),
            (CapacityVerdict::Damaged, 1 << 30, vec![], "fakes"),
            (CapacityVerdict::Fake, 1 << 30, vec![(0, 512)], "damaged too"),
            (CapacityVerdict::Fake, 1 << 20, vec![], "too little"),
        ] {
            let why = script(&answer(verdict, low, damaged), Bytes(512)).unwrap_err();
            assert!(why.contains(word), "{why}");
        }
        let mut with_holes = answer(CapacityVerdict::Fake, 1 << 30, vec![]);
        with_holes.found.holds_front = false;
        let why = script(&with_holes, Bytes(512)).unwrap_err();
        assert!(why.contains("between good ones"), "{why}");
    }
}
