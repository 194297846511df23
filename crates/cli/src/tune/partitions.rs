//! The partitions that a card or an image has: whether each is aligned, and whether they must be made anew.

use cardproof_device::Partition;
use cardproof_rating::tuning::USUAL_UNIT;
use cardproof_units::Bytes;

/// Smaller partitions hold a boot loader, which nobody writes to in use.
const IN_USE_MIN: Bytes = Bytes::mib(16);

/// A card with smaller blocks than this is not known.
const BLOCK_MIN: Bytes = Bytes::mib(1);

/// A file system without a partition.
const WHOLE: &str =
    "There is no partition: the file system begins where the device begins, so it is aligned.\n";

/// How the start of a partition suits a card's blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fit {
    /// It is where a block begins.
    Aligned(Bytes),
    /// The blocks are not known, and it suits most cards.
    Usual,
    /// The blocks are not known, and it does not suit every card.
    Unclear,
    /// The blocks are not known, and it is inside one on every card.
    Inside,
    /// It is inside a block.
    Misaligned(Bytes),
}

impl Fit {
    const fn new(start: Bytes, unit: Option<Bytes>) -> Self {
        match unit {
            Some(unit) if start.is_multiple_of(unit) => Self::Aligned(unit),
            Some(unit) => Self::Misaligned(unit),
            None if start.is_multiple_of(USUAL_UNIT) => Self::Usual,
            None if start.is_multiple_of(BLOCK_MIN) => Self::Unclear,
            None => Self::Inside,
        }
    }

    /// What follows where a partition begins.
    fn words(self) -> String {
        match self {
            Self::Aligned(unit) => format!(": aligned to the card's blocks of {unit}"),
            Self::Usual => ", which suits most cards".to_owned(),
            Self::Unclear => ", which does not suit every card".to_owned(),
            Self::Inside => ": NOT aligned, so some writes touch two blocks of the card".to_owned(),
            Self::Misaligned(unit) => format!(
                ": NOT aligned to the card's blocks of {unit}, so some writes touch two of them"
            ),
        }
    }
}

/// Whether the partitions must be made anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Need {
    /// They are well as they are.
    Nothing,
    /// Only if the card's blocks are larger than this.
    IfLarger(Bytes),
    /// One is inside a block.
    Anew,
}

/// The partitions of a target.
pub(super) struct Partitions<'p> {
    /// They; none on a blank card.
    pub(super) all: &'p [Partition],
    /// The card's allocation unit, where it is known.
    pub(super) unit: Option<Bytes>,
    /// Whether they are in an image.
    pub(super) is_image: bool,
    /// Whether a file system has the whole device, without a partition.
    pub(super) is_whole: bool,
}

impl Partitions<'_> {
    /// Whether they must be made anew; `None` where there are none.
    pub(super) fn need(&self) -> Option<Need> {
        let is_in_use = |it: &&Partition| it.size >= IN_USE_MIN;
        let has_large = self.all.iter().any(|it| is_in_use(&it));
        let counted = || self.all.iter().filter(|it| !has_large || is_in_use(it));
        let fits = || counted().map(|it| (Fit::new(it.start, self.unit), it.start));
        if fits().any(|(fit, _)| matches!(fit, Fit::Inside | Fit::Misaligned(_))) {
            return Some(Need::Anew);
        }
        let largest = |start: Bytes| Bytes(1 << start.get().trailing_zeros());
        let unclear = fits().filter(|(fit, _)| *fit == Fit::Unclear);
        let suits = unclear.map(|(_, start)| largest(start)).min();
        (!self.all.is_empty()).then(|| suits.map_or(Need::Nothing, Need::IfLarger))
    }

    /// Where each begins, and what follows: a sentence a line. `target` is the word of a shell that names the card, `step`
    /// what makes them anew, where the plan does.
    pub(super) fn told(&self, target: &str, step: Option<&str>) -> String {
        let name = |it: &Partition| match self.all {
            [_] => "The partition".to_owned(),
            _ => format!("Partition {}", it.number),
        };
        let line = |it: &Partition| {
            format!(
                "{} begins at {}{}.\n",
                name(it),
                it.start,
                Fit::new(it.start, self.unit).words()
            )
        };
        let mut text: String = self.all.iter().map(line).collect();
        if self.is_whole {
            text.push_str(WHOLE);
        }
        if self.unit.is_none() && !self.all.is_empty() {
            text.push_str(&match self.is_image {
                true => "The card's blocks are not known: run cardproof geometry on the card first, then add \
                         --geometry latest.\n"
                    .to_owned(),
                false => format!(
                    "The card's blocks are not known. To find them: cardproof geometry {target}\n"
                ),
            });
        }
        if let Some((step, need)) = step.zip(self.need()) {
            text.push_str(&match need {
                Need::Nothing => format!("{step} deletes what is there, which is not needed.\n"),
                Need::IfLarger(block) => format!(
                    "{step} deletes what is there: it is needed only if the card's blocks are larger than {block}.\n"
                ),
                Need::Anew => format!("{step} deletes what is there: copy it first.\n"),
            });
        } else if self.need() == Some(Need::Nothing) {
            text.push_str("Nothing needs to be partitioned anew.\n");
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is told of partitions that begin at so many KiB and have so many MiB, and whether they must be made anew.
    fn of(places: &[(u64, u64)], unit: Option<Bytes>) -> (String, Option<Need>) {
        let partition = |(number, &(kib, mib)): (usize, &(u64, u64))| Partition {
            number,
            start: Bytes::kib(kib),
            size: Bytes::mib(mib),
        };
        let all: Vec<Partition> = (1..).zip(places).map(partition).collect();
        let partitions = Partitions { all: &all, unit, is_image: false, is_whole: false };
        (partitions.told("'my card'", Some("Step 1")), partitions.need())
    }

    #[test]
    fn each_partition_is_told_and_only_what_is_misaligned_must_be_made_anew() {
        let mib = |mib: u64| mib << 10;
        let (text, need) = of(&[(mib(4), 256), (mib(260), 4000)], Some(Bytes::mib(4)));
        assert!(text.contains("Partition 1 begins at 4 MiB: aligned"), "{text}");
        assert!(text.contains("Partition 2 begins at 260 MiB: aligned"), "{text}");
        assert_eq!(need, Some(Need::Nothing));
        let (text, need) = of(&[(mib(4), 256), (mib(261), 4000)], Some(Bytes::mib(4)));
        assert!(text.contains("Partition 2 begins at 261 MiB: NOT aligned"), "{text}");
        assert!(text.ends_with("Step 1 deletes what is there: copy it first.\n"), "{text}");
        assert_eq!(need, Some(Need::Anew));
    }

    #[test]
    fn where_the_blocks_are_not_known_it_is_said_how_large_they_may_be() {
        let mib = |mib: u64| mib << 10;
        let (text, need) = of(&[(mib(8), 256), (mib(520), 4000)], None);
        assert!(text.contains("suits most cards"), "{text}");
        assert!(text.contains("To find them: cardproof geometry 'my card'\n"), "{text}");
        assert_eq!(need, Some(Need::Nothing));
        let (text, need) = of(&[(mib(4), 256), (mib(258), 4000)], None);
        assert!(text.contains("only if the card's blocks are larger than 2 MiB"), "{text}");
        assert_eq!(need, Some(Need::IfLarger(Bytes::mib(2))));
        assert_eq!(of(&[(63, 4000)], None).1, Some(Need::Anew));
        assert_eq!(of(&[], None), (String::new(), None));
    }

    #[test]
    fn an_image_names_the_command_that_finds_the_blocks_and_a_whole_device_is_aligned() {
        let all = [Partition { number: 1, start: Bytes::mib(8), size: Bytes::mib(256) }];
        let image = Partitions { all: &all, unit: None, is_image: true, is_whole: false };
        let text = image.told("card.img", None);
        assert!(text.contains("run cardproof geometry on the card first"), "{text}");
        let whole = Partitions { all: &[], unit: None, is_image: false, is_whole: true };
        assert!(whole.told("/dev/sda", None).ends_with("so it is aligned.\n"));
    }

    #[test]
    fn a_boot_loader_of_its_own_is_no_reason() {
        assert_eq!(of(&[(32, 3), (16 << 10, 4000)], None).1, Some(Need::Nothing));
        assert_eq!(of(&[(32, 3)], None).1, Some(Need::Anew));
    }
}
