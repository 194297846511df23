//! What reached a device, parted among control groups: what each wrote itself, without swap.
//!
//! The kernel counts for a group with those below it, and charges a group with its pages that are swapped out. What is
//! a group's beyond those below it is also of groups that have ended, for which pages are written after they were seen
//! last, and of groups below it that the kernel does not count for: each has the share of the pages that its programs
//! made dirty. Where no group above is counted either, the pages made dirty are all that is known, with those that
//! waited in memory at the beginning and without those that do so at the end.

use std::collections::{BTreeMap, BTreeSet};

use super::Watched;

/// What control groups have written in the time that was watched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GroupGrowth {
    /// Bytes that reached the device for it and those below it, its swap included.
    pub reached_bytes: u64,
    /// How much of the swap is its, with those below it, in any measure that all groups share.
    pub swap_weight: u64,
    /// Whether it has ended, or begun again under its name.
    pub has_ended: bool,
}

/// What waited in memory to be written for a control group and those below it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Waiting {
    /// At the beginning.
    pub before_bytes: u64,
    /// At the end; absent where the group has ended: what waits for it is then in the figure of the group above.
    pub after_bytes: Option<u64>,
}

/// Bytes by control group.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Owners<'a> {
    /// Of groups that the kernel counts for.
    pub(super) counted: BTreeMap<&'a str, u64>,
    /// Of groups that it does not count for.
    pub(super) estimated: BTreeMap<&'a str, u64>,
    /// What was swapped out.
    pub(super) swapped: u64,
}

impl<'a> Owners<'a> {
    /// The owners of what was `watched`.
    pub(super) fn of(watched: &'a Watched) -> Self {
        let counted = own(&watched.groups, |it| it.reached_bytes);
        let weights = own(&watched.groups, |it| it.swap_weight);
        let mut owners = Self { counted, ..Self::default() };
        owners.take_swap(&weights, watched);
        let dirtied = dirtied(watched);
        owners.part_left_overs(&dirtied, watched);
        owners.estimate(&dirtied, watched);
        owners
    }

    /// Takes from each group what was swapped out for it.
    fn take_swap(&mut self, weights: &BTreeMap<&str, u64>, watched: &Watched) {
        let swapped = watched.swapped_out_bytes;
        let all: u64 = weights.values().sum();
        let mut taken = 0;
        for (group, bytes) in &mut self.counted {
            let weight = weights.get(group).copied().unwrap_or(0);
            let of_swap = share(swapped, weight, all).min(*bytes);
            *bytes -= of_swap;
            taken += of_swap;
        }
        // Where groups tell of no swap it is what no group has.
        let rest = watched.device_bytes.saturating_sub(taken + self.sum());
        self.swapped = taken + (swapped - taken).min(rest);
    }

    /// Parts what is a group's beyond those below it among its programs and the groups below it that have ended or are
    /// not counted.
    fn part_left_overs(&mut self, dirtied: &BTreeMap<&'a str, u64>, watched: &'a Watched) {
        let is_over = |group: &str| watched.groups.get(group).is_none_or(|it| it.has_ended);
        let mut claims: BTreeMap<&'a str, BTreeSet<&'a str>> = BTreeMap::new();
        let groups = dirtied.keys().chain(self.counted.keys()).copied();
        for group in groups.filter(|group| is_over(group)) {
            if let Some(above) = above(group).find(|it| !is_over(it)) {
                claims.entry(above).or_default().extend([above, group]);
            }
        }
        for (above, groups) in claims {
            let left = self.counted.insert(above, 0).unwrap_or(0);
            let has = |group: &str| self.counted.get(group).copied().unwrap_or(0);
            let made = |group: &str| dirtied.get(group).copied().unwrap_or(0);
            let mut weights: Vec<u64> =
                groups.iter().map(|group| made(group).saturating_sub(has(group))).collect();
            if weights.iter().all(|weight| *weight == 0) {
                weights = groups.iter().map(|group| has(group)).collect();
            }
            let all: u64 = weights.iter().sum();
            if all == 0 {
                self.counted.insert(above, left);
                continue;
            }
            for (group, weight) in groups.into_iter().zip(weights) {
                *self.counted.entry(group).or_default() += share(left, weight, all);
            }
        }
    }

    /// Gives groups that the kernel counts for at no level what their programs made dirty, as far as it goes.
    fn estimate(&mut self, dirtied: &BTreeMap<&'a str, u64>, watched: &Watched) {
        let is_known = |group: &str| {
            std::iter::once(group).chain(above(group)).any(|it| watched.groups.contains_key(it))
        };
        let others = written_back(dirtied, watched).into_iter();
        let others: Vec<(&'a str, u64)> = others.filter(|(group, _)| !is_known(group)).collect();
        let all: u64 = others.iter().map(|(_, bytes)| bytes).sum();
        // Pages that were written may be of another device.
        let rest = watched.device_bytes.saturating_sub(self.sum() + self.swapped).min(all);
        self.estimated =
            others.into_iter().map(|(group, bytes)| (group, share(rest, bytes, all))).collect();
    }

    fn sum(&self) -> u64 {
        self.counted.values().sum()
    }
}

/// A figure of each group without that of the groups below it.
fn own<T>(groups: &BTreeMap<String, T>, figure: impl Fn(&T) -> u64) -> BTreeMap<&str, u64> {
    let mut own: BTreeMap<&str, u64> =
        groups.iter().map(|(group, it)| (group.as_str(), figure(it))).collect();
    for (group, it) in groups {
        let above = above(group).find(|it| groups.contains_key(*it));
        if let Some(bytes) = above.and_then(|above| own.get_mut(above)) {
            *bytes = bytes.saturating_sub(figure(it));
        }
    }
    own
}

/// Of what was made `dirtied`, and of what waited before, what does not wait in memory at the end. What waits for
/// groups that have ended waits with the nearest above that has not: each has its part, by the pages that it made dirty.
fn written_back<'a>(dirtied: &BTreeMap<&'a str, u64>, watched: &Watched) -> BTreeMap<&'a str, u64> {
    let before = own(&watched.waiting, |it| it.before_bytes);
    let after = own(&watched.waiting, |it| it.after_bytes.unwrap_or(0));
    let of = |figures: &BTreeMap<&str, u64>, group: &str| figures.get(group).copied().unwrap_or(0);
    let lives = |group: &str| watched.waiting.get(group).is_some_and(|it| it.after_bytes.is_some());
    let heir = |group: &'a str| above(group).find(|it| !lives(group) && lives(it));
    let mut of_ended: BTreeMap<&str, u64> = BTreeMap::new();
    for (group, bytes) in dirtied {
        if let Some(heir) = heir(group) {
            *of_ended.entry(heir).or_default() += bytes;
        }
    }
    let written = |(group, bytes): (&&'a str, &u64)| {
        let left = heir(group).map_or(0, |heir| {
            let grown = of(&after, heir).saturating_sub(of(&before, heir));
            share(grown, *bytes, of(&of_ended, heir))
        });
        let waits = of(&after, group) + left;
        (*group, (bytes + of(&before, group)).saturating_sub(waits))
    };
    dirtied.iter().map(written).collect()
}

/// Bytes of pages that the programs of each group made dirty, less those that were cut off again by whichever of them.
fn dirtied(watched: &Watched) -> BTreeMap<&str, u64> {
    let mut sums: BTreeMap<&str, (u64, u64)> = BTreeMap::new();
    for program in &watched.programs {
        let sum = sums.entry(&program.group).or_default();
        sum.0 += program.dirtied_bytes;
        sum.1 += program.cancelled_bytes;
    }
    let less = |(dirtied, cancelled): (u64, u64)| dirtied.saturating_sub(cancelled);
    let sums = sums.into_iter().map(|(group, sum)| (group, less(sum)));
    sums.filter(|(_, bytes)| *bytes > 0).collect()
}

/// The groups above `group`, the nearest first, without the one above all.
fn above(group: &str) -> impl Iterator<Item = &str> {
    let mut path = group;
    std::iter::from_fn(move || {
        path = path.rsplit_once('/')?.0;
        (!path.is_empty()).then_some(path)
    })
}

/// `weight` of `all` of `bytes`.
fn share(bytes: u64, weight: u64, all: u64) -> u64 {
    if all == 0 {
        return 0;
    }
    u64::try_from(u128::from(bytes) * u128::from(weight) / u128::from(all)).unwrap_or(bytes)
}

#[cfg(test)]
mod tests {
    use super::super::ProgramWrites;
    use super::*;

    fn group(path: &str, reached_bytes: u64) -> (String, GroupGrowth) {
        (path.to_owned(), GroupGrowth { reached_bytes, ..GroupGrowth::default() })
    }

    fn program(group: &str, dirtied_bytes: u64, cancelled_bytes: u64) -> ProgramWrites {
        ProgramWrites {
            group: group.to_owned(),
            dirtied_bytes,
            cancelled_bytes,
            ..ProgramWrites::default()
        }
    }

    const SLICE: &str = "/system.slice";
    const CRON: &str = "/system.slice/cron.service";
    const UPGRADE: &str = "/system.slice/upgrade.service";
    const BACKUP: &str = "/system.slice/backup.service";

    #[test]
    fn what_is_swapped_out_is_not_told_twice() {
        let mut cron = group(CRON, 1000);
        cron.1.swap_weight = 1;
        let mut hungry = group("/system.slice/hungry.service", 9000);
        hungry.1.swap_weight = 9;
        let mut slice = group(SLICE, 10_000);
        slice.1.swap_weight = 10;
        let watched = Watched {
            groups: [slice, cron, hungry].into(),
            device_bytes: 15_000,
            swapped_out_bytes: 8000,
            ..Watched::default()
        };
        let owners = Owners::of(&watched);
        assert_eq!(owners.swapped, 8000);
        let expected = [(SLICE, 0), (CRON, 200), ("/system.slice/hungry.service", 1800)];
        assert_eq!(owners.counted, expected.into());
    }

    #[test]
    fn what_is_written_for_a_service_after_its_end_is_its_own() {
        let mut upgrade = group(UPGRADE, 300);
        upgrade.1.has_ended = true;
        let watched = Watched {
            groups: [group(SLICE, 10_000), group(CRON, 1000), upgrade].into(),
            // This one was never seen among the groups, and half of what it wrote was cut off.
            programs: vec![
                program(UPGRADE, 6300, 0),
                program(BACKUP, 6000, 3000),
                program(CRON, 9000, 0),
            ],
            device_bytes: 10_000,
            ..Watched::default()
        };
        let owners = Owners::of(&watched);
        let expected = [(SLICE, 0), (BACKUP, 2900), (CRON, 1000), (UPGRADE, 300 + 5800)];
        assert_eq!(owners.counted, expected.into());
    }

    #[test]
    fn a_service_shares_its_figure_with_groups_of_its_own_making() {
        let user = "/user.slice/user@1000.service";
        let browser = "/user.slice/user@1000.service/app.slice/browser.scope";
        let watched = Watched {
            groups: [group("/user.slice", 900), group(user, 900)].into(),
            programs: vec![program(user, 100, 0), program(browser, 200, 0)],
            device_bytes: 1000,
            ..Watched::default()
        };
        let owners = Owners::of(&watched);
        assert_eq!(owners.counted, [("/user.slice", 0), (user, 300), (browser, 600)].into());
        assert!(owners.estimated.is_empty());
    }

    #[test]
    fn what_nobody_can_have_written_stays_with_the_group() {
        let watched = Watched {
            groups: [group(SLICE, 500), group(CRON, 100)].into(),
            device_bytes: 500,
            ..Watched::default()
        };
        assert_eq!(Owners::of(&watched).counted, [(SLICE, 400), (CRON, 100)].into());
    }

    #[test]
    fn groups_that_are_not_counted_have_what_their_programs_made_dirty() {
        let user = "/user.slice/user-1000.slice/session-1.scope";
        let watched = Watched {
            groups: [group(SLICE, 600), group(CRON, 600)].into(),
            programs: vec![program(CRON, 900, 0), program(user, 300, 100)],
            device_bytes: 1000,
            ..Watched::default()
        };
        let owners = Owners::of(&watched);
        assert_eq!(owners.estimated, [(user, 200)].into());
        let less = Watched { device_bytes: 700, ..watched };
        assert_eq!(Owners::of(&less).estimated, [(user, 100)].into());
    }

    #[test]
    fn an_estimate_is_of_pages_that_no_longer_wait_in_memory() {
        let waits = |path: &str, before_bytes, after_bytes| {
            (path.to_owned(), Waiting { before_bytes, after_bytes })
        };
        let watched = Watched {
            waiting: [
                // 100 are of a service that ended before; 400 more are of the two that ended since.
                waits(SLICE, 150, Some(700)),
                waits(CRON, 50, Some(200)),
            ]
            .into(),
            programs: vec![
                program(CRON, 1000, 0),
                program(UPGRADE, 3000, 0),
                program(BACKUP, 2000, 1000),
            ],
            device_bytes: 10_000,
            ..Watched::default()
        };
        let expected = [(CRON, 850), (UPGRADE, 2700), (BACKUP, 900)];
        assert_eq!(Owners::of(&watched).estimated, expected.into());
    }
}
