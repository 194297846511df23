//! Wear: how often each allocation unit was erased, and what is left of the spare ones.

use crate::model::Endurance;

/// The erase counts of a card.
#[derive(Debug)]
pub(crate) struct WearState {
    erases: Vec<u32>,
    cycles: u32,
    spares_left: u32,
    erases_total: u64,
    worn_out: bool,
    /// The unit that wear levelling takes next.
    next: usize,
}

impl WearState {
    /// A new card of `units` allocation units.
    pub(crate) fn new(endurance: &Endurance, units: usize) -> Self {
        Self {
            erases: vec![0; units.max(1)],
            cycles: endurance.cycles.max(1),
            spares_left: endurance.spare_units,
            erases_total: 0,
            worn_out: false,
            next: 0,
        }
    }

    /// Erases `unit`; a worn one is replaced by a spare, and without a spare the card is at its end.
    pub(crate) fn erase(&mut self, unit: usize) {
        self.erases_total += 1;
        let Some(count) = self.erases.get_mut(unit) else { return };
        *count += 1;
        if *count < self.cycles {
            return;
        }
        if self.spares_left == 0 {
            self.worn_out = true;
        } else {
            self.spares_left -= 1;
            *count = 0;
        }
    }

    /// Erases the unit whose turn it is.
    pub(crate) fn erase_next(&mut self) {
        let unit = self.next;
        self.next = (unit + 1) % self.erases.len();
        self.erase(unit);
    }

    /// Whether the card has turned read-only.
    pub(crate) const fn worn_out(&self) -> bool {
        self.worn_out
    }

    /// The erases of all units together.
    pub(crate) const fn erases_total(&self) -> u64 {
        self.erases_total
    }

    /// The erases of the most worn unit in use.
    pub(crate) fn erases_max(&self) -> u32 {
        self.erases.iter().copied().max().unwrap_or(0)
    }

    /// How many spare units are left.
    pub(crate) const fn spares_left(&self) -> u32 {
        self.spares_left
    }

    /// How far through its rated life the average unit is, in thousandths, at most 1000.
    pub(crate) fn life_used_permille(&self) -> u32 {
        let rated = u64::from(self.cycles) * self.erases.len() as u64;
        u32::try_from(self.erases_total.saturating_mul(1000) / rated).unwrap_or(1000).min(1000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spares_put_the_end_off() {
        let mut wear = WearState::new(&Endurance { cycles: 10, spare_units: 2 }, 4);
        for _ in 0..29 {
            wear.erase(1);
        }
        assert!(!wear.worn_out());
        assert_eq!((wear.spares_left(), wear.erases_max()), (0, 9));
        wear.erase(1);
        assert!(wear.worn_out());
    }

    #[test]
    fn levelling_uses_all_units_alike() {
        let mut wear = WearState::new(&Endurance { cycles: 100, spare_units: 0 }, 4);
        for _ in 0..200 {
            wear.erase_next();
        }
        assert_eq!((wear.erases_max(), wear.life_used_permille()), (50, 500));
    }
}
