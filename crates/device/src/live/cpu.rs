//! How the processors spend their time, from the first lines of `/proc/stat` (proc(5)): user,
//! nice, system, idle, iowait, irq, softirq, steal, in clock ticks since boot.
//!
//! Time in guests is part of user time and so is not counted again.

use cardproof_record::CpuActivity;

/// Ticks of one processor, or of all.
type Ticks = [u64; 8];

const USER: usize = 0;
const NICE: usize = 1;
const SYSTEM: usize = 2;
const IDLE: usize = 3;
const IOWAIT: usize = 4;
const IRQ: usize = 5;
const SOFTIRQ: usize = 6;
const STEAL: usize = 7;

/// The ticks of all processors together and of each.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct CpuCounters {
    all: Ticks,
    each: Vec<(u32, Ticks)>,
}

impl CpuCounters {
    /// From the text of `/proc/stat`; `None` where it does not begin as that does.
    pub(super) fn parse(text: &str) -> Option<Self> {
        let mut lines = text.lines().map_while(|line| line.strip_prefix("cpu"));
        let all = ticks(lines.next()?)?;
        let each = lines
            .map(|line| {
                let (number, rest) = line.split_once(' ')?;
                Some((number.parse().ok()?, ticks(rest)?))
            })
            .collect::<Option<Vec<_>>>()?;
        Some(Self { all, each })
    }

    /// How the time from `earlier` on was spent; `None` where none has passed.
    pub(super) fn since(&self, earlier: &Self) -> Option<CpuActivity> {
        let spent = spent(&self.all, &earlier.all);
        let total = spent.iter().sum::<u64>();
        if total == 0 {
            return None;
        }
        let share = |ticks: u64| ticks as f64 / total as f64;
        // Of a processor that was off for a while, or that lost ticks, few are counted: it was not busy in the others.
        let window = total / (self.each.len() as u64).max(1);
        let busiest = self.each.iter().filter_map(|(number, ticks)| {
            let (_, before) = earlier.each.iter().find(|(other, _)| other == number)?;
            busy_share(ticks, before, window)
        });
        Some(CpuActivity {
            cpus: u32::try_from(self.each.len()).unwrap_or(u32::MAX),
            user: share(spent[USER]),
            nice: share(spent[NICE]),
            system: share(spent[SYSTEM]),
            interrupts: share(spent[IRQ] + spent[SOFTIRQ]),
            iowait: share(spent[IOWAIT]),
            steal: share(spent[STEAL]),
            idle: share(spent[IDLE]),
            busiest: busiest.fold(0.0, f64::max),
        })
    }
}

/// The numbers of a line; fields that an old kernel does not have are 0.
fn ticks(line: &str) -> Option<Ticks> {
    let mut ticks = Ticks::default();
    let mut count = 0;
    for (field, word) in ticks.iter_mut().zip(line.split_ascii_whitespace()) {
        *field = word.parse().ok()?;
        count += 1;
    }
    (count > IDLE).then_some(ticks)
}

/// What each field grew by. The kernel lets idle and iowait go back by a little (proc(5)): then
/// they did not grow.
fn spent(later: &Ticks, earlier: &Ticks) -> Ticks {
    std::array::from_fn(|field| later[field].saturating_sub(earlier[field]))
}

/// The share of its time in which a processor was busy; of `window` where fewer ticks were counted.
fn busy_share(later: &Ticks, earlier: &Ticks, window: u64) -> Option<f64> {
    let spent = spent(later, earlier);
    let total = spent.iter().sum::<u64>();
    let unused = spent[IDLE] + spent[IOWAIT];
    (total > 0).then(|| (total - unused) as f64 / total.max(window) as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    const BEFORE: &str = "cpu  100 0 100 800 0 0 0 0 0 0\ncpu0 50 0 50 400 0 0 0 0 0 0\n\
                          cpu1 50 0 50 400 0 0 0 0 0 0\nintr 1 2 3\n";

    #[test]
    fn shares_are_of_all_processors_and_the_busiest_stands_out() {
        let before = CpuCounters::parse(BEFORE).unwrap();
        let after = CpuCounters::parse(
            "cpu  190 0 110 850 40 4 2 4 0 0\ncpu0 145 0 55 400 0 0 0 0 0 0\n\
             cpu1 45 0 55 450 40 4 2 4 0 0\nintr 9\n",
        )
        .unwrap();
        let cpu = after.since(&before).unwrap();
        assert_eq!(cpu.cpus, 2);
        assert!((cpu.user - 0.45).abs() < 1e-12);
        assert!((cpu.system - 0.05).abs() < 1e-12);
        assert!((cpu.interrupts - 0.03).abs() < 1e-12);
        assert!((cpu.iowait - 0.2).abs() < 1e-12);
        assert!((cpu.busy() - 0.55).abs() < 1e-12);
        assert!((cpu.busiest - 1.0).abs() < 1e-12);
    }

    #[test]
    fn a_processor_of_which_few_ticks_were_counted_is_not_full() {
        let before = CpuCounters::parse(BEFORE).unwrap();
        let after = CpuCounters::parse(
            "cpu  200 0 160 890 20 0 0 0 0 0\ncpu0 140 0 100 400 0 0 0 0 0 0\n\
             cpu1 60 0 60 490 20 0 0 0 0 0\nintr 9\n",
        )
        .unwrap();
        let cpu = after.since(&before).unwrap();
        // 140 ticks of the first, all busy, and 130 of the second.
        assert!((cpu.busiest - 1.0).abs() < 1e-12, "{cpu:?}");
        let after = CpuCounters::parse(
            "cpu  187 0 100 1000 0 0 0 0 0 0\ncpu0 137 0 50 402 0 0 0 0 0 0\n\
             cpu1 50 0 50 598 0 0 0 0 0 0\nintr 9\n",
        )
        .unwrap();
        let cpu = after.since(&before).unwrap();
        assert!((cpu.busy() - 87.0 / 287.0).abs() < 1e-12, "{cpu:?}");
        assert!((cpu.busiest - 87.0 / 143.0).abs() < 1e-12, "{cpu:?}");
    }

    #[test]
    fn no_time_has_no_shares_and_waiting_may_go_back() {
        let before = CpuCounters::parse(BEFORE).unwrap();
        assert_eq!(before.since(&before), None);
        let back = CpuCounters::parse("cpu 110 0 100 790 0\n").unwrap();
        assert!((back.since(&before).unwrap().user - 1.0).abs() < 1e-12);
    }

    #[test]
    fn garbage_is_nothing() {
        for text in ["", "intr 1", "cpu", "cpu 1 2", "cpu a b c d", "cpu 1 2 3 4\ncpux 1 2 3 4"] {
            assert_eq!(CpuCounters::parse(text), None, "{text}");
        }
    }
}
