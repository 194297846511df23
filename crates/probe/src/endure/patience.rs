//! Many pieces fail in a row: is it the card, or the host, the reader, the cable?
//!
//! The run waits, longer each time, and tries places all over the device. If they work, the fault was
//! not the card's, and the pieces that failed are done again. If some work and some do not, places of
//! the card are bad, which the pass finds by itself. If none works to the end and other cards on the
//! same hub fail too, the run stops without a verdict. Otherwise the card is examined.

use cardproof_io::Fault;
use cardproof_units::Nanos;

use super::autopsy;
use super::passes::Outcome;
use super::run::{Runner, Stop, Why};
use super::state::Pass;

/// So many failed pieces in a row ask for a closer look.
const STREAK: u32 = 8;

/// So many where each took as long as the kernel waits.
const STREAK_OF_TIMEOUTS: u32 = 2;

/// How long to wait before each look, in seconds: 85 in all, longer than the kernel needs to reset a
/// reader.
const PAUSES: [u64; 4] = [1, 4, 16, 64];

/// How many places are tried at each look.
const PLACES: usize = 8;

impl Runner<'_> {
    /// Looks closer if the last pieces failed with `outcome` and those before as well.
    pub(super) fn look_if_many_fail(&mut self, pass: Pass, outcome: Outcome) -> Result<(), Stop> {
        let is_timeout = outcome == Outcome::Failed(Fault::TimedOut);
        let least = if is_timeout { STREAK_OF_TIMEOUTS } else { STREAK };
        if self.streak < least || self.was_looked_at {
            return Ok(());
        }
        if outcome == Outcome::Different {
            self.was_looked_at = true;
            return self.judge();
        }
        self.look_closer(pass)
    }

    /// Whether the device works at any of some places that worked before; taken for granted where it
    /// was looked at in this pass already.
    pub(super) fn works_elsewhere(&mut self, pass: Pass) -> Result<bool, Stop> {
        if self.was_looked_at {
            return Ok(true);
        }
        for place in autopsy::random_places(self, PLACES) {
            match self.try_place(pass, place)? {
                Ok(()) => return Ok(true),
                // One answer that does not come is enough, and costs enough.
                Err(Fault::TimedOut) => return Ok(false),
                Err(_) => {}
            }
        }
        Ok(false)
    }

    /// Waits for a device that fails, and judges it where it does not come back.
    pub(super) fn look_closer(&mut self, pass: Pass) -> Result<(), Stop> {
        self.was_looked_at = true;
        self.watch.fails(true);
        let works = self.wait_for_the_device(pass);
        if !matches!(works, Ok(Works::Nowhere)) {
            self.watch.fails(false);
        }
        match works? {
            Works::Everywhere => return self.go_on_after(pass),
            Works::InPlaces => return Ok(()),
            Works::Nowhere => {}
        }
        if self.watch.others_fail() {
            self.save_without_flush()?;
            return Err(Stop::Why(Why::HostFails));
        }
        self.judge()
    }

    /// Examines the card, and ends the run if the whole card is at its end.
    fn judge(&mut self) -> Result<(), Stop> {
        let places = autopsy::places(self, false);
        let found = self.examine(&places)?;
        self.watch.fails(false);
        match found.of_whole_card() {
            Some(end) => self.finish(end),
            None => Ok(()),
        }
    }

    fn wait_for_the_device(&mut self, pass: Pass) -> Result<Works, Stop> {
        for seconds in PAUSES {
            self.wait(Nanos::from_secs(seconds))?;
            self.look_after_pause()?;
            match self.try_places(pass)? {
                Works::Nowhere => {}
                works => return Ok(works),
            }
        }
        Ok(Works::Nowhere)
    }

    /// Waits in steps of a second at most, so that somebody can stop it.
    fn wait(&mut self, time: Nanos) -> Result<(), Stop> {
        let end = self.drive.now() + time;
        while self.drive.now() < end {
            let step = (self.drive.now() + Nanos::from_secs(1)).min(end);
            self.drive.wait_until(step)?;
            self.tell(true)?;
        }
        Ok(())
    }

    /// Whether pieces all over the device work that did before.
    fn try_places(&mut self, pass: Pass) -> Result<Works, Stop> {
        let (mut good, mut tried) = (0, 0);
        for place in autopsy::random_places(self, PLACES) {
            let outcome = self.try_place(pass, place)?;
            tried += 1;
            match outcome {
                Ok(()) => good += 1,
                // One answer that does not come is enough, and costs enough.
                Err(Fault::TimedOut) => return Ok(Works::Nowhere),
                Err(_) => {}
            }
        }
        Ok(match good {
            0 => Works::Nowhere,
            good if good == tried => Works::Everywhere,
            _ => Works::InPlaces,
        })
    }

    /// Whether a place can be written or read, whatever it holds.
    fn try_place(
        &mut self,
        pass: Pass,
        (offset, length): (u64, u64),
    ) -> Result<Result<(), Fault>, Stop> {
        let stamp = self.plan.stamp(offset, self.state.position.cycle);
        Ok(match pass {
            Pass::Write => self.drive.write_stamped(offset, length, stamp)?,
            Pass::Read => self.drive.check_stamped(offset, length, stamp)?.map(|_| ()),
        })
    }

    /// Does the pieces that failed again; a fault of the host if most of them work.
    fn go_on_after(&mut self, pass: Pass) -> Result<(), Stop> {
        let later = self.state.position.later.clone();
        let mut still = Vec::new();
        for &number in &later {
            if self.piece(pass, number)? != Outcome::Good {
                still.push(number);
            }
        }
        if still.len() * 2 < later.len() {
            self.state.position.tally.host_errors += 1;
            self.was_looked_at = false;
        }
        self.state.position.later = still;
        self.streak = 0;
        Ok(())
    }

    /// Saves the position of a device that takes no flush.
    fn save_without_flush(&mut self) -> Result<(), Stop> {
        let kept = self.watch.keep_position(&self.state.position);
        kept.map_err(|why| Stop::Why(Why::Unsaved(why)))
    }
}

/// Where a device works.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Works {
    Everywhere,
    InPlaces,
    Nowhere,
}
