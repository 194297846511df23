//! The kinds of devices of the family, each in words and as a drawing by chance.

mod fakes;
mod genuine;
mod stores;

use super::specimen::{Draw, Specimen};

/// A kind of device.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Kind {
    pub(crate) name: &'static str,
    /// What it is, for the table.
    pub(crate) words: &'static str,
    /// Draws one.
    pub(crate) draw: fn(&mut Draw) -> Specimen,
}

/// A row of the family.
const fn kind(name: &'static str, words: &'static str, draw: fn(&mut Draw) -> Specimen) -> Kind {
    Kind { name, words, draw }
}

/// The family.
pub(crate) const KINDS: [Kind; 51] = [
    kind("sound", "a genuine card", genuine::sound),
    kind("odd", "a genuine card of any number of sectors", genuine::odd),
    kind("tiny", "a genuine device of 16 MiB to 1 GiB", genuine::tiny),
    kind("4Kn", "a genuine device with logical blocks of 4 KiB", genuine::large_blocks),
    kind("scrambled", "a genuine card whose pieces lie in another order", genuine::scrambled),
    kind("slow", "a genuine card of 0.1 to 1 MB/s", genuine::slow),
    kind("burst", "a genuine card with a fast cache in front", genuine::burst),
    kind("pauses", "a genuine card that pauses for seconds", genuine::pauses),
    kind("read errors", "a genuine card; one reading in 300 to 30,000 fails", genuine::read_errors),
    kind("write errors", "a genuine card; one write in 300 to 30,000 fails", genuine::write_errors),
    kind("timeouts", "a genuine card; one request in 300 to 30,000 times out", genuine::timeouts),
    kind(
        "wrong at times",
        "a genuine card; one reading in 300 to 30,000 has a wrong bit",
        genuine::wrong,
    ),
    kind("bad to read", "0.01 to 5 % of the pages fail to read", genuine::bad_to_read),
    kind("bad to write", "0.01 to 5 % of the pages fail to write", genuine::bad_to_write),
    kind("bad to both", "0.01 to 5 % of the pages fail to read and to write", genuine::bad_to_both),
    kind("flips", "0.01 to 5 % of the pages read with wrong bits", genuine::flips),
    kind("blank pages", "0.01 to 5 % of the pages read as zeros or ones", genuine::blanks),
    kind("deaf pages", "0.01 to 5 % of the pages keep what they had", genuine::deaf_pages),
    kind("clusters", "1 to 20 places, together 0.1 to 5 %, fail", genuine::clusters),
    kind(
        "ragged half",
        "most places of the last half fail, others there work",
        genuine::ragged_half,
    ),
    kind("disturbed", "blocks read more than 3 to 50 times have wrong bits", genuine::disturbed),
    kind("turns read-only", "refuses writes from some moment on", genuine::turns_read_only),
    kind("vanishes", "does not answer from some moment on", genuine::vanishes),
    kind(
        "turns deaf",
        "acknowledges writes from some moment on and does none",
        genuine::turns_deaf,
    ),
    kind("protected", "fails every write", genuine::protected),
    kind("deaf", "acknowledges every write and does none", genuine::deaf),
    kind("last half fails", "all from some place on fails to read and write", genuine::last_half),
    kind("errors beyond", "a fake with errors beyond its size", fakes::errors_beyond),
    kind(
        "read errors beyond",
        "a fake that fails to read beyond its size",
        fakes::read_errors_beyond,
    ),
    kind(
        "write errors beyond",
        "a fake that fails to write beyond its size",
        fakes::write_errors_beyond,
    ),
    kind("one edge", "nothing beyond one edge", fakes::one_edge),
    kind("echo", "beyond one edge the last write is read", fakes::echo),
    kind("wraps", "addresses start again at a multiple of 4 KiB", fakes::wraps),
    kind("wraps anywhere", "addresses start again at any sector", fakes::wraps_anywhere),
    kind("funnel", "all beyond an edge leads into the last cells", fakes::funnel),
    kind("holes", "1 to 40 holes, together 0.3 to 90 %", fakes::holes),
    kind("stripes", "a part of each period of 64 KiB to 4 GiB is missing", fakes::stripes),
    kind("both ends", "the middle is missing", fakes::both_ends),
    kind("last part", "the first part is missing", fakes::last_part),
    kind("line cut", "an address line is not connected", fakes::line_cut),
    kind("lines folded", "one address line acts on another", fakes::lines_folded),
    kind("deduplicates", "takes any address, keeps equal pages once", fakes::deduplicates),
    kind("compresses", "takes any address, compresses", fakes::compresses),
    kind("until full", "takes any address until full", stores::until_full),
    kind("newest of all", "keeps the newest of all addresses", stores::newest_of_all),
    kind("first-out store", "holes of any form; a store, the first goes", stores::first_out),
    kind(
        "least-written store",
        "the same; what was written longest ago goes",
        stores::least_written,
    ),
    kind("least-used store", "the same; what was used longest ago goes", stores::least_used),
    kind("random store", "the same; any goes", stores::random),
    kind("timed store", "the same; what is older than 1 to 300 s goes", stores::by_time),
    kind("divided store", "the same; one for each region or set", stores::divided),
];

#[cfg(test)]
mod tests {
    use cardproof_io::{Fault, Op, OpKind, Slot, Submission, Target, Wait};
    use cardproof_units::Bytes;

    use super::super::cells::Numbering;
    use super::super::specimen::Truth;
    use super::*;

    const SECTOR: u64 = 512;

    /// Sectors of one write of the tests.
    const CHUNK: u64 = 64;

    const NUMBERING: Numbering = Numbering {
        further: |numbers, sectors| [numbers[0], numbers[1] + sectors, numbers[2]],
        expand: |numbers, into| {
            for (index, sector) in into.chunks_mut(512).enumerate() {
                let own = numbers[1] + index as u64;
                cardproof_testkit::Noise::new(own.wrapping_mul(0x9e37_79b9_7f4a_7c15)).fill(sector);
            }
        },
        shorten: |_| None,
    };

    fn run(
        target: &mut dyn Target,
        kind: OpKind,
        first: u64,
        sectors: u64,
    ) -> Result<Bytes, Fault> {
        let (offset, length) = (Bytes(first * SECTOR), Bytes(sectors * SECTOR));
        let op = Op { slot: Slot(0), kind, offset, length };
        assert_eq!(target.submit(op).unwrap(), Submission::Queued);
        let mut done = Vec::new();
        target.complete(Wait::One, &mut done).unwrap();
        done[0].outcome
    }

    /// Writes every sector once, in bytes, and tells how many of them are read back right.
    fn kept(specimen: &Specimen, seed: u64) -> u64 {
        let mut target = specimen.open(seed, NUMBERING);
        target.prepare(1, Bytes(CHUNK * SECTOR)).unwrap();
        let mut wanted = vec![0; (CHUNK * SECTOR) as usize];
        let mut right = 0;
        for kind in [OpKind::Write, OpKind::Read] {
            for first in (0..specimen.announced).step_by(CHUNK as usize) {
                let sectors = CHUNK.min(specimen.announced - first);
                let length = (sectors * SECTOR) as usize;
                (NUMBERING.expand)([0, first, 0], &mut wanted[..length]);
                if kind == OpKind::Write {
                    target.buffer(Slot(0))[..length].copy_from_slice(&wanted[..length]);
                }
                if run(&mut target, kind, first, sectors).is_ok() && kind == OpKind::Read {
                    let found = target.buffer(Slot(0))[..length].chunks(512);
                    right += found.zip(wanted.chunks(512)).filter(|(a, b)| a == b).count() as u64;
                }
            }
        }
        right
    }

    #[test]
    #[ignore = "every device of every kind is filled and read; nightly"]
    fn every_kind_keeps_as_much_as_its_truth_says() {
        for kind in KINDS {
            for seed in 1..4 {
                let specimen = (kind.draw)(&mut Draw::small(seed));
                let announced = specimen.announced;
                let right = kept(&specimen, seed);
                let told = format!("{} {seed}: {right} of {announced}: {specimen:?}", kind.name);
                match specimen.truth {
                    Truth::Sound => assert!(right >= announced - announced / 30, "{told}"),
                    Truth::Dying { .. } => assert!(right < announced, "{told}"),
                    // A store may be of use to what is read first only; nothing keeps more.
                    Truth::Fake { real, store } => {
                        assert!(right <= real + store, "{told}");
                        assert!(right < announced - announced / 1000, "{told}");
                    }
                    Truth::Ambiguous { real } => assert!(right <= real, "{told}"),
                    Truth::KeepsNothing => assert_eq!(right, 0, "{told}"),
                }
            }
        }
    }

    #[test]
    fn a_sound_device_keeps_the_contract_of_targets() {
        for (seed, read_only) in [(1, false), (2, true)] {
            cardproof_io::contract::check_all(&mut || {
                let specimen = Specimen { read_only, ..Draw::small(seed).sound() };
                Box::new(specimen.open(seed, NUMBERING))
            });
        }
    }

    #[test]
    fn names_are_different() {
        let names: std::collections::BTreeSet<&str> = KINDS.iter().map(|kind| kind.name).collect();
        assert_eq!(names.len(), KINDS.len());
    }
}
