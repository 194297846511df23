//! A simulated computer with its card: what its kernel logs and counts day by day, and what the program makes of it.

use cardproof_kernel_log::{self as kernel_log, Trouble};
use cardproof_rating::ledger::{CardCounters, CardKey, CardReading, Day, Open, Reading};
use cardproof_rating::signs::{
    Attachment, HostCounter, LogRead, MountedState, RequestMeans, Seen, Signs,
};
use rand_core::Rng;
use rand_xoshiro::Xoshiro256PlusPlus;

use super::hidden::{Hidden, Kind, happens, normal, share};

/// The card's key in the ledger.
pub(super) const KEY: CardKey = CardKey(1);

const DAY_S: u64 = 86_400;

/// Errors of earlier starts that are older have faded, in days.
const RECENT_DAYS: usize = 30;

/// A request moves so many sectors on average: 16 KiB.
const REQUEST_SECTORS: u64 = 32;

/// A computer while time goes on.
pub(super) struct Computer<'h> {
    hidden: &'h Hidden,
    random: Xoshiro256PlusPlus,
    boot: u64,
    boot_day: usize,
    counters: CardCounters,
    /// Lines of the kernel's log since the start, and of earlier starts with their days.
    log: Vec<String>,
    earlier: Vec<(usize, Vec<String>)>,
    /// What they mean, until a line is added.
    troubles: Vec<Trouble>,
    earlier_troubles: Vec<Trouble>,
    checksums: u64,
    command_timeouts: u64,
    is_read_only: bool,
    open: Open,
    /// The days that are over.
    pub(super) days: Vec<Day>,
    written_gb: f64,
}

impl<'h> Computer<'h> {
    pub(super) fn new(hidden: &'h Hidden, random: Xoshiro256PlusPlus) -> Self {
        Self {
            hidden,
            random,
            boot: 1,
            boot_day: 0,
            counters: CardCounters::default(),
            log: Vec::new(),
            earlier: Vec::new(),
            troubles: Vec::new(),
            earlier_troubles: Vec::new(),
            checksums: 0,
            command_timeouts: 12,
            is_read_only: false,
            open: Open::default(),
            days: Vec::new(),
            written_gb: 0.0,
        }
    }

    /// The share of the rated life that is used.
    pub(super) fn used(&self) -> f64 {
        self.written_gb / self.hidden.rated_gb
    }

    /// Lets a day pass; what the program says at its end.
    pub(super) fn pass(&mut self, day: usize) -> Signs {
        self.start_anew(day);
        self.work(day);
        self.disturb(day);
        self.fail(day);
        self.keep(day);
        Signs::new(&self.seen(day))
    }

    /// Goes on with the work from `day` on until the rated life is used up, as if the card had not ended; the day.
    pub(super) fn use_up(&mut self, mut day: usize) -> usize {
        while self.used() < 1.0 {
            self.work(day);
            day += 1;
        }
        day
    }

    /// An orderly start in a month, and a power cut in two.
    fn start_anew(&mut self, day: usize) {
        let is_cut = happens(&mut self.random, 1.0 / 60.0);
        if !is_cut && !happens(&mut self.random, 1.0 / 30.0) {
            return;
        }
        self.boot += 1;
        self.boot_day = day;
        self.counters = CardCounters::default();
        (self.checksums, self.command_timeouts) = (0, 12);
        let log = std::mem::take(&mut self.log);
        self.troubles.clear();
        if self.hidden.has_journal && !log.is_empty() {
            self.earlier.push((day, log));
        }
        if is_cut {
            self.say(
                day,
                "FAT-fs (mmcblk0p1): Volume was not properly unmounted. Some data may be corrupt.",
            );
        }
    }

    /// A line of the kernel's log.
    fn say(&mut self, day: usize, message: &str) {
        let seconds = (day - self.boot_day) as u64 * DAY_S + self.random.next_u64() % DAY_S;
        self.log.push(format!("[{seconds:5}.000000] {message}"));
        self.troubles = of_card(self.log.iter());
    }

    fn work(&mut self, day: usize) {
        let hidden = self.hidden;
        let more = hidden.other_use.filter(|(begin, _)| *begin <= day as f64);
        let usual = hidden.gb_a_day * more.map_or(1.0, |(_, factor)| factor);
        let gb = usual * (hidden.spread * normal(&mut self.random)).exp();
        self.written_gb += gb;
        let sectors = (gb * 1e9 / 512.0) as u64;
        let requests = sectors / REQUEST_SECTORS + 1;
        let slowness = match hidden.kind {
            Kind::SlowsDown => 1.0 + 3.0 * hidden.progress(day as f64).unwrap_or(0.0),
            _ => 1.0,
        };
        let request_ms = 8.0 * slowness * (0.1 * normal(&mut self.random)).exp();
        let busy_ms = (requests as f64 * request_ms) as u64;
        let counters = &mut self.counters;
        counters.writes += requests;
        counters.sectors_written += sectors;
        counters.write_ms += busy_ms;
        counters.reads += requests / 3;
        counters.sectors_read += sectors / 3;
        counters.busy_ms += busy_ms;
    }

    /// What also happens to sound cards.
    fn disturb(&mut self, day: usize) {
        let random = &mut self.random;
        let hidden = self.hidden;
        let is_noisy = happens(random, 1.0 / 500.0);
        let is_late = happens(random, 1.0 / 700.0);
        let is_low = hidden.is_power_weak && happens(random, 0.1);
        let is_reader = hidden.bad_reader_day.is_some_and(|begin| begin <= day as f64);
        let has_bad_contact = is_reader && happens(random, 0.3);
        self.checksums += u64::from(is_noisy);
        if is_late {
            self.say(day, "mmc0: Timeout waiting for hardware interrupt.");
        }
        if is_low {
            self.say(day, "hwmon hwmon1: Undervoltage detected!");
        }
        if has_bad_contact {
            self.checksums += 1 + self.random.next_u64() % 20;
            self.say(
                day,
                "mmcblk0: error -84 transferring data, sector 1, nr 8, cmd response 0x900, card status 0x0",
            );
            if happens(&mut self.random, 0.05) {
                self.io_error(day, "0x0:(READ)");
            }
        }
    }

    fn io_error(&mut self, day: usize, op: &str) {
        let sector = self.random.next_u64() % 60_000_000;
        self.say(
            day,
            &format!("I/O error, dev mmcblk0, sector {sector} op {op} flags 0x0 phys_seg 1"),
        );
    }

    /// What the card's own trouble makes.
    fn fail(&mut self, day: usize) {
        let Some(progress) = self.hidden.progress(day as f64) else { return };
        // Events in a day: from few to many, evenly in their logarithm.
        let (first, last): (f64, f64) = match self.hidden.kind {
            Kind::WearsOut => (0.02, 10.0),
            Kind::ReturnsOtherData => (0.1, 2.0),
            Kind::TimesOut => (0.1, 3.0),
            Kind::Locks => (0.1, 1.0),
            _ => (0.02, 1.0),
        };
        let rate = first * (last / first).powf(progress);
        // The first events of a day tell as much as all of them.
        for _ in 0..3 {
            if happens(&mut self.random, 1.0 - (-rate / 3.0).exp()) {
                self.event(day);
            }
        }
    }

    fn event(&mut self, day: usize) {
        match self.hidden.kind {
            Kind::WearsOut => self.io_error(day, "0x0:(READ)"),
            Kind::ReturnsOtherData => self.say(
                day,
                "EXT4-fs error (device mmcblk0p2): ext4_lookup:1700: inode #123: deleted inode referenced: 5",
            ),
            Kind::TimesOut => {
                self.say(day, "mmc0: Timeout waiting for hardware interrupt.");
                if happens(&mut self.random, 0.1) {
                    self.io_error(day, "0x1:(WRITE)");
                }
            }
            _ => {
                self.say(day, "mmc0: Card stuck being busy! __mmc_poll_for_busy");
                if happens(&mut self.random, 0.05) {
                    self.io_error(day, "0x1:(WRITE)");
                }
            }
        }
        // An error in the file system's own tables stops it now and then (errors=remount-ro).
        let stops = matches!(self.hidden.kind, Kind::WearsOut | Kind::ReturnsOtherData);
        if stops && share(&mut self.random) < 0.05 {
            self.say(day, "EXT4-fs (mmcblk0p2): Remounting filesystem read-only");
            self.is_read_only = true;
        }
    }

    /// A look of the ledger, and the texts as the program keeps them.
    fn keep(&mut self, day: usize) {
        let life = self.hidden.reports_life.then(|| (self.used() * 10.0) as u8 + 1);
        let card = CardReading {
            key: KEY,
            found_as: self.boot,
            counters: self.counters,
            life_used_percent_max: life.map(|code| code.min(11) * 10),
            ..CardReading::default()
        };
        self.open.add(&Reading {
            boot: self.boot,
            uptime_s: ((day - self.boot_day) as u64 + 1) * DAY_S,
            date: date(day),
            is_low_on_power: false,
            cards: vec![card],
        });
        self.days.append(&mut self.open.over);
    }

    fn seen(&mut self, day: usize) -> Seen {
        let count = self.earlier.len();
        self.earlier.retain(|(end, _)| end + RECENT_DAYS >= day);
        if count != self.earlier.len() || self.boot_day == day {
            self.earlier_troubles = of_card(self.earlier.iter().flat_map(|(_, lines)| lines));
        }
        let may_read_log = self.hidden.may_read_log;
        let days = Some((day - self.boot_day) as u64);
        let life = self.hidden.reports_life.then(|| {
            let band = (self.used() * 10.0) as u64 * 10;
            (band.min(100), (band < 100).then_some(band + 10))
        });
        let counters = self.counters;
        let mean = |sum: u64, count: u64| sum.checked_div(count).unwrap_or(0);
        Seen {
            log: if may_read_log {
                LogRead::Read { days, earlier: None }
            } else {
                LogRead::NotPermitted
            },
            troubles: if may_read_log { self.troubles.clone() } else { Vec::new() },
            earlier_troubles: if may_read_log { self.earlier_troubles.clone() } else { Vec::new() },
            attachment: if self.hidden.reports_life {
                Attachment::Soldered
            } else {
                Attachment::Slot
            },
            is_present: Some(true),
            host_counters: may_read_log.then(|| {
                vec![
                    (HostCounter::CommandTimeout, self.command_timeouts),
                    (HostCounter::DataChecksum, self.checksums),
                ]
            }),
            mounted: vec![MountedState {
                filesystem: "ext4".to_owned(),
                partition: "mmcblk0p2".to_owned(),
                is_turned_read_only: self.is_read_only,
                noted_errors: None,
            }],
            requests: Some(RequestMeans {
                reads: counters.reads,
                read_ms: mean(counters.read_ms, counters.reads),
                writes: counters.writes,
                write_ms: mean(counters.write_ms, counters.writes),
            }),
            life_used_percent: life,
            ..Seen::default()
        }
    }
}

/// What `lines` tell of the card and of the computer's power.
fn of_card<'l>(lines: impl Iterator<Item = &'l String>) -> Vec<Trouble> {
    let log = kernel_log::read((1..).zip(lines.map(String::as_str)));
    let card = log.of("mmcblk0", Some("mmc0"));
    card.into_iter().flat_map(|it| it.troubles.clone()).chain(log.others.clone()).collect()
}

fn date(day: usize) -> String {
    format!("{:04}-{:02}-{:02}", 2026 + day / 336, day / 28 % 12 + 1, day % 28 + 1)
}
