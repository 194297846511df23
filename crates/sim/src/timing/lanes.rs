//! Who works when: the card's ways side by side, the bus one transfer at a time.

/// The most ways a card can have.
pub(crate) const WAYS_MAX: usize = 16;

/// When each way and the bus are free, in nanoseconds on the card's clock.
#[derive(Debug)]
pub(crate) struct Lanes {
    free_at: [u64; WAYS_MAX],
    ways: usize,
    bus_free_at: u64,
}

impl Lanes {
    /// `ways` idle ways, at least one and at most [`WAYS_MAX`], and an idle bus.
    pub(crate) fn new(ways: u16) -> Self {
        Self { free_at: [0; WAYS_MAX], ways: usize::from(ways).clamp(1, WAYS_MAX), bus_free_at: 0 }
    }

    /// A read: a way finds the data, then the bus carries them.
    pub(crate) fn read(&mut self, now: u64, latency: u64, transfer: u64) -> u64 {
        let way = self.next_way();
        let found = self.free_at[way].max(now) + latency;
        let end = found.max(self.bus_free_at) + transfer;
        self.bus_free_at = end;
        self.free_at[way] = end;
        end
    }

    /// A write: the bus carries the data, then the same way programs them; the pause that
    /// follows stops every way.
    pub(crate) fn write(&mut self, now: u64, transfer: u64, program: u64, pause: u64) -> u64 {
        let way = self.next_way();
        let arrived = self.free_at[way].max(now).max(self.bus_free_at) + transfer;
        self.bus_free_at = arrived;
        let end = arrived + program + pause;
        self.free_at[way] = end;
        if pause > 0 {
            for free_at in &mut self.free_at[..self.ways] {
                *free_at = end.max(*free_at);
            }
        }
        end
    }

    /// A command that another one follows while it is under way: it takes the time that it takes
    /// `alone`, and keeps the next one waiting for `queued`, then its data flow.
    pub(crate) fn pipelined(&mut self, now: u64, alone: u64, queued: u64, data: u64) -> u64 {
        let free_at = self.free_at[0];
        let found = if free_at > now { (free_at + queued).max(now + alone) } else { now + alone };
        let end = found.max(self.bus_free_at) + data;
        self.bus_free_at = end;
        self.free_at.fill(end);
        end
    }

    /// Data over the bus alone; returns when they have arrived.
    pub(crate) fn transfer(&mut self, now: u64, latency: u64, transfer: u64) -> u64 {
        let end = self.bus_free_at.max(now) + latency + transfer;
        self.bus_free_at = end;
        end
    }

    /// When the first way is free, not before `now`.
    pub(crate) fn start(&self, now: u64) -> u64 {
        self.free_at[self.next_way()].max(now)
    }

    fn next_way(&self) -> usize {
        if self.ways == 1 {
            return 0;
        }
        // The first of the earliest.
        let mut first = 0;
        for way in 1..self.ways.min(WAYS_MAX) {
            if self.free_at[way] < self.free_at[first] {
                first = way;
            }
        }
        first
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_way_does_one_thing_at_a_time() {
        let mut lanes = Lanes::new(1);
        assert_eq!(lanes.read(0, 100, 10), 110);
        assert_eq!(lanes.write(0, 10, 50, 0), 170);
        assert_eq!(lanes.read(500, 100, 10), 610);
    }

    #[test]
    fn two_ways_look_things_up_together_and_share_the_bus() {
        let mut lanes = Lanes::new(2);
        assert_eq!(lanes.read(0, 100, 10), 110);
        assert_eq!(lanes.read(0, 100, 10), 120);
        assert_eq!(lanes.read(0, 100, 10), 220, "the first way is free at 110");
    }

    #[test]
    fn a_queue_hides_a_part_of_what_a_command_takes_alone() {
        let mut lanes = Lanes::new(1);
        assert_eq!(lanes.pipelined(0, 100, 30, 10), 110);
        assert_eq!(lanes.pipelined(0, 100, 30, 10), 150, "30 after the first, then the data");
        assert_eq!(lanes.pipelined(145, 100, 30, 10), 255, "never sooner than alone");
        assert_eq!(lanes.pipelined(500, 100, 30, 10), 610);
    }

    #[test]
    fn a_pause_stops_every_way() {
        let mut lanes = Lanes::new(4);
        assert_eq!(lanes.write(0, 10, 50, 1000), 1060);
        assert_eq!(lanes.read(0, 100, 10), 1170);
    }
}
