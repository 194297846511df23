//! Heat: work warms the card, the air around it cools it, and a card that is too warm works slower.
//!
//! One mass behind one thermal resistance: the temperature goes towards that of the air plus the power
//! times the resistance, by a share of the way for each time constant. All on whole numbers: nanokelvin
//! and nanoseconds.

use crate::host::Cooling;
use crate::model::{Heat, Throttle};

/// Work is summed up for so long before it warms the card, in nanoseconds.
const STEP: u64 = 10_000_000;

/// A step is at most this part of the time constant.
const STEPS_A_CONSTANT: u64 = 32;

/// After so many time constants nothing changes any more.
const CONSTANTS_MAX: u64 = 16;

const NK_PER_MK: i64 = 1_000_000;

/// How far a card is slowed down.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Slowed {
    No,
    Lightly,
    Heavily,
}

/// How warm a card is.
#[derive(Debug)]
pub(crate) struct HeatState {
    heat: Heat,
    /// In nanokelvin above 0 °C, as all temperatures here.
    ambient: i64,
    resistance_mk_per_w: u32,
    /// In nanoseconds.
    time_constant: u64,
    temperature: i64,
    /// Until when the temperature is known, in nanoseconds on the card's clock.
    known_until: u64,
    /// Until when the work is counted that side by side goes on.
    busy_until: u64,
    /// Milliwatts times nanoseconds of work since then.
    work: i128,
    slowed: Slowed,
}

impl HeatState {
    /// A card that has been idle under `cooling` for long.
    pub(crate) fn new(heat: &Heat, cooling: &Cooling) -> Self {
        let resistance = u64::from(cooling.resistance_mk_per_w);
        let mut state = Self {
            heat: *heat,
            ambient: i64::from(cooling.ambient_millicelsius) * NK_PER_MK,
            resistance_mk_per_w: cooling.resistance_mk_per_w,
            time_constant: (resistance * u64::from(heat.capacity_mj_per_k) * 1000).max(1),
            temperature: 0,
            known_until: 0,
            busy_until: 0,
            work: 0,
            slowed: Slowed::No,
        };
        state.temperature = state.settled_at(0, 1);
        state
    }

    /// The temperature at `now`, in thousandths of a degree Celsius.
    pub(crate) fn millicelsius(&mut self, now: u64) -> i32 {
        self.advance(now);
        i32::try_from(self.temperature / NK_PER_MK).unwrap_or(i32::MAX)
    }

    /// The pace of work that begins at `start`, in percent.
    pub(crate) fn pace_percent(&mut self, start: u64) -> u64 {
        if start.saturating_sub(self.known_until) >= STEP {
            self.advance(start);
        }
        self.percent().into()
    }

    /// Notes work from `start` to `end`; what goes on side by side counts once.
    pub(crate) fn note_work(&mut self, start: u64, end: u64, is_write: bool) {
        let Heat { reading_mw, writing_mw, .. } = self.heat;
        let power = u64::from(if is_write { writing_mw } else { reading_mw });
        let power = power * u64::from(self.percent()) / 100;
        let busy = end.saturating_sub(start.max(self.busy_until));
        self.busy_until = self.busy_until.max(end);
        self.work += i128::from(power) * i128::from(busy);
    }

    const fn percent(&self) -> u32 {
        match self.slowed {
            Slowed::No => 100,
            Slowed::Lightly => self.heat.throttle.light_percent,
            Slowed::Heavily => self.heat.throttle.heavy_percent,
        }
    }

    /// Brings the temperature to what it is at `now`.
    fn advance(&mut self, now: u64) {
        let span = now.saturating_sub(self.known_until);
        if span == 0 {
            return;
        }
        let goal = self.settled_at(self.work, span);
        (self.work, self.known_until) = (0, now);
        let step = (self.time_constant / STEPS_A_CONSTANT).max(1);
        if span / self.time_constant >= CONSTANTS_MAX {
            self.temperature = goal;
        } else {
            let mut left = span;
            while left > 0 {
                let part = left.min(step);
                let way = i128::from(goal - self.temperature) * i128::from(part);
                self.temperature += (way / i128::from(self.time_constant)) as i64;
                left -= part;
            }
        }
        self.slow_down_or_recover();
    }

    /// Where the temperature goes with `work` in `span` nanoseconds.
    fn settled_at(&self, work: i128, span: u64) -> i64 {
        let idle = i128::from(self.heat.idle_mw) * i128::from(span);
        // Milliwatts times thousandths of a kelvin a watt are millionths of a kelvin.
        let rise = (work + idle) * i128::from(self.resistance_mk_per_w) * 1000 / i128::from(span);
        self.ambient + rise as i64
    }

    fn slow_down_or_recover(&mut self) {
        let Throttle { light_from_millicelsius, heavy_from_millicelsius, hysteresis_mk, .. } =
            self.heat.throttle;
        let limit = |from: i32, is_held: bool| {
            let held = if is_held { i64::from(hysteresis_mk) } else { 0 };
            (i64::from(from) - held) * NK_PER_MK
        };
        self.slowed = if self.temperature
            >= limit(heavy_from_millicelsius, self.slowed == Slowed::Heavily)
        {
            Slowed::Heavily
        } else if self.temperature >= limit(light_from_millicelsius, self.slowed >= Slowed::Lightly)
        {
            Slowed::Lightly
        } else {
            Slowed::No
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    const HEAT: Heat = Heat {
        capacity_mj_per_k: 5_000,
        idle_mw: 50,
        reading_mw: 1_500,
        writing_mw: 2_500,
        throttle: Throttle {
            light_from_millicelsius: 81_000,
            heavy_from_millicelsius: 85_000,
            hysteresis_mk: 2_000,
            light_percent: 50,
            heavy_percent: 10,
        },
    };

    fn cooled_by(kelvin_per_watt: u32) -> HeatState {
        let resistance_mk_per_w = kelvin_per_watt * 1000;
        HeatState::new(&HEAT, &Cooling { ambient_millicelsius: 20_000, resistance_mk_per_w })
    }

    /// Writes from `from` for `seconds`, and returns the mean pace in percent.
    fn write_for(state: &mut HeatState, from: u64, seconds: u64) -> u64 {
        let (mut sum, mut count) = (0, 0);
        for start in (from..from + seconds * SECOND).step_by(5_000_000) {
            sum += state.pace_percent(start);
            count += 1;
            state.note_work(start, start + 5_000_000, true);
        }
        sum / count
    }

    #[test]
    fn the_temperature_goes_to_the_power_times_the_resistance() {
        let mut state = cooled_by(10);
        assert_eq!(state.millicelsius(0), 20_500, "idle");
        assert_eq!(write_for(&mut state, 0, 600), 100);
        let warm = state.millicelsius(600 * SECOND);
        assert!((45_400..=45_500).contains(&warm), "2.55 W at 10 K/W: {warm}");
        let mut state = cooled_by(10);
        write_for(&mut state, 0, 50);
        let after_one_constant = state.millicelsius(50 * SECOND);
        assert!((35_800..=36_800).contains(&after_one_constant), "{after_one_constant}");
    }

    #[test]
    fn too_warm_a_card_slows_down_cools_and_recovers() {
        let mut state = cooled_by(40);
        assert_eq!(write_for(&mut state, 0, 100), 100, "still cold");
        write_for(&mut state, 100 * SECOND, 500);
        let throttled = write_for(&mut state, 600 * SECOND, 600);
        assert!((50..75).contains(&throttled), "{throttled}");
        let hot = state.millicelsius(1200 * SECOND);
        assert!((78_900..82_000).contains(&hot), "{hot}");
        let rested = state.millicelsius(6000 * SECOND);
        assert!((21_900..22_100).contains(&rested), "{rested}");
        assert_eq!(state.pace_percent(6000 * SECOND), 100);
    }

    #[test]
    fn a_card_that_light_throttling_cannot_cool_slows_down_further() {
        let mut state = cooled_by(80);
        write_for(&mut state, 0, 2000);
        let pace = write_for(&mut state, 2000 * SECOND, 500);
        assert!((10..50).contains(&pace), "{pace}");
    }
}
