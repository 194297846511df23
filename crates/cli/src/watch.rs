//! `cardproof watch`: what the storage does and what holds it back, window after window.
//!
//! On a terminal it is a live screen, elsewhere plain lines; `--json` gives one document a
//! window. It only reads the kernel's counters and never touches a device.

pub(crate) mod args;
mod columns;
mod document;
mod explain;
#[cfg(feature = "screen")]
mod history;
mod lines;
mod log;
#[cfg(feature = "screen")]
mod screen;
pub(crate) mod source;
#[cfg(feature = "screen")]
mod view;
mod who;

use std::io::{self, IsTerminal};
use std::os::fd::AsFd;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use cardproof_units::Nanos;
use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::exit::{Exit, Failure};
use crate::output;
use crate::signals::Signals;
use args::WatchArgs;
use log::LogFile;
use source::{Sample, Source};

/// How long a wish to stop may go unnoticed.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// Shorter windows hold too little, and would cost what they show.
const INTERVAL_MIN: Nanos = Nanos::from_millis(100);

/// Watches, or explains a log.
pub(crate) fn run(args: &WatchArgs, signals: &Signals) -> Result<Exit, Failure> {
    if let Some(log) = &args.explain {
        return explain::run(log, args);
    }
    if args.who {
        return who::run(args, signals);
    }
    let interval = args.interval.unwrap_or(Nanos::from_secs(1));
    if interval < INTERVAL_MIN {
        return Err(Failure::usage(format!(
            "--interval {interval} is too short to show anything; give at least {INTERVAL_MIN}"
        )));
    }
    let mut watch = Watch {
        source: Source::new(&args.devices)?,
        log: args.log.as_deref().map(LogFile::open).transpose()?,
        interval: Duration::from_nanos(interval.get()),
        windows_left: if args.once { Some(1) } else { args.count },
    };
    if args.json {
        watch.each(signals, |sample| output::hand_on(&document::line(sample)?))
    } else if args.quiet {
        watch.each(signals, |_| Ok(true))
    } else if args.once || !io::stdout().is_terminal() {
        watch.each(signals, |sample| output::hand_on(&lines::block(sample)))
    } else {
        on_terminal(&mut watch, signals)
    }
}

#[cfg(feature = "screen")]
fn on_terminal(watch: &mut Watch, signals: &Signals) -> Result<Exit, Failure> {
    screen::run(watch, signals)
}

/// A build without the live screen shows lines.
#[cfg(not(feature = "screen"))]
fn on_terminal(watch: &mut Watch, signals: &Signals) -> Result<Exit, Failure> {
    watch.each(signals, |sample| output::hand_on(&lines::block(sample)))
}

/// Windows to come, one after the other.
struct Watch {
    source: Source,
    log: Option<LogFile>,
    interval: Duration,
    /// How many windows still come; `None` for no end.
    windows_left: Option<u64>,
}

impl Watch {
    /// Shows window after window until the last, a signal, or until `show` says that nobody looks any
    /// more and nothing is logged either.
    fn each(
        &mut self,
        signals: &Signals,
        mut show: impl FnMut(&Sample) -> Result<bool, Failure>,
    ) -> Result<Exit, Failure> {
        let mut end = Instant::now() + self.interval;
        while !self.is_over() {
            match wait_until(end, signals, self.log.is_none()) {
                Waited::ToTheEnd => {}
                Waited::Left => return Ok(left_by(signals)),
                Waited::Unseen => break,
            }
            end = self.next_end(end);
            let is_wanted = show(&self.take()?)?;
            if !is_wanted && self.log.is_none() {
                break;
            }
        }
        Ok(Exit::Done)
    }

    fn is_over(&self) -> bool {
        self.windows_left == Some(0)
    }

    /// The window that ends now, logged.
    fn take(&mut self) -> Result<Sample, Failure> {
        let sample = self.source.take();
        if let Some(log) = &mut self.log {
            log.write(&sample.activity)?;
        }
        if let Some(left) = &mut self.windows_left {
            *left -= 1;
        }
        Ok(sample)
    }

    /// When the window after that of `end` ends. A machine that was asleep does not catch up.
    fn next_end(&self, end: Instant) -> Instant {
        (end + self.interval).max(Instant::now() + self.interval / 2)
    }
}

/// How a wait ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Waited {
    ToTheEnd,
    /// A signal came first.
    Left,
    /// The reader of the output has gone.
    Unseen,
}

/// Sleeps until `end`, unless a signal comes or, where that `matters`, standard output is closed.
fn wait_until(end: Instant, signals: &Signals, matters: bool) -> Waited {
    loop {
        if signals.stop().load(Ordering::Relaxed) {
            return Waited::Left;
        }
        if matters && is_closed(io::stdout()) {
            return Waited::Unseen;
        }
        match end.checked_duration_since(Instant::now()) {
            None | Some(Duration::ZERO) => return Waited::ToTheEnd,
            Some(left) => thread::sleep(left.min(LOOK_EVERY)),
        }
    }
}

/// Whether the other end of `stream` is gone: a pipe's reader, or a terminal with its window or its
/// connection.
fn is_closed(stream: impl AsFd) -> bool {
    let mut looked_at = [PollFd::new(&stream, PollFlags::empty())];
    let now = Timespec { tv_sec: 0, tv_nsec: 0 };
    let gone = PollFlags::HUP | PollFlags::ERR | PollFlags::NVAL;
    poll(&mut looked_at, Some(&now)).is_ok() && looked_at[0].revents().intersects(gone)
}

/// Ctrl-C is the way to leave a watch, and so its good end.
fn left_by(signals: &Signals) -> Exit {
    match signals.exit() {
        Some(Exit::Terminated) => Exit::Terminated,
        _ => Exit::Done,
    }
}
