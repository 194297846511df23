//! The live screen: the terminal taken over and given back, however the watch ends.

use std::fs::File;
use std::io::{self, IsTerminal, Stdout, stdin, stdout};
use std::mem::ManuallyDrop;
use std::os::fd::{AsFd, OwnedFd};
use std::panic;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::{Duration, Instant};

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use super::history::History;
use super::source::Sample;
use super::view::View;
use super::{LOOK_EVERY, Watch, is_closed, left_by, lines};
use cardproof_units::in_words;

use crate::exit::{Exit, Failure};
use crate::output;
use crate::signals::Signals;
use crate::talk;

/// Shows window after window until the user leaves, the last has ended, or a signal comes.
pub(super) fn run(watch: &mut Watch, signals: &Signals) -> Result<Exit, Failure> {
    let mut screen = Screen::take().map_err(of_terminal)?;
    let mut history = History::default();
    let mut sample: Option<Sample> = None;
    let mut end = Instant::now() + watch.interval;
    let keys = Keys::new();
    while !watch.is_over() {
        let size = size_of_terminal();
        screen.draw(&View {
            sample: sample.as_ref(),
            history: &history,
            interval: format!("{:?}", watch.interval),
            has_colour: talk::is_styled(),
        })?;
        match keys.wait(end, signals, size) {
            Waited::Left => return Ok(left_by(signals)),
            Waited::Resized => continue,
            Waited::Unseen => return Ok(Exit::Terminated),
            Waited::ToTheEnd => {}
        }
        end = watch.next_end(end);
        let taken = watch.take()?;
        history.push(&taken.activity);
        sample = Some(taken);
    }
    // The live screen vanishes with what it shows.
    drop(screen);
    if let Some(last) = &sample {
        output::hand_on(&lines::block(last))?;
    }
    Ok(Exit::Done)
}

/// How a wait ended.
enum Waited {
    ToTheEnd,
    Resized,
    Left,
    /// The terminal is gone.
    Unseen,
}

/// Where keys come from: standard input, or the terminal itself where that is something else.
///
/// They are read here and not by crossterm, whose reading never ends when the terminal is gone.
struct Keys {
    terminal: Option<OwnedFd>,
}

impl Keys {
    fn new() -> Self {
        let of_terminal = || File::open("/dev/tty").map(OwnedFd::from);
        let is_input = stdin().is_terminal();
        let opened = if is_input { stdin().as_fd().try_clone_to_owned() } else { of_terminal() };
        Self { terminal: opened.ok() }
    }

    /// Waits for `end`, for a key, for a signal, or for another size of the terminal than `size`.
    fn wait(&self, end: Instant, signals: &Signals, size: Option<(u16, u16)>) -> Waited {
        loop {
            if signals.stop().load(Ordering::Relaxed) {
                return Waited::Left;
            }
            if is_closed(stdout()) {
                return Waited::Unseen;
            }
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Waited::ToTheEnd;
            }
            if size_of_terminal() != size {
                return Waited::Resized;
            }
            match self.pressed(left.min(LOOK_EVERY)) {
                Some(keys) if keys.is_empty() => return Waited::Unseen,
                Some(keys) if is_wish_to_leave(&keys) => return Waited::Left,
                _ => {}
            }
        }
    }

    /// What is typed within `time`; nothing typed is `None`, and no terminal any more no bytes.
    fn pressed(&self, time: Duration) -> Option<Vec<u8>> {
        let Some(terminal) = &self.terminal else {
            thread::sleep(time);
            return None;
        };
        let mut looked_at = [PollFd::new(terminal, PollFlags::IN)];
        let time = Timespec { tv_sec: 0, tv_nsec: time.subsec_nanos().into() };
        // An interrupted wait is a short one.
        poll(&mut looked_at, Some(&time)).ok().filter(|&ready| ready > 0)?;
        if !looked_at[0].revents().contains(PollFlags::IN) {
            return Some(Vec::new());
        }
        let mut keys = [0; 64];
        match rustix::io::read(terminal, &mut keys) {
            Err(Errno::INTR | Errno::AGAIN) => None,
            Ok(length) => Some(keys[..length].to_vec()),
            Err(_) => Some(Vec::new()),
        }
    }
}

/// Whether `keys` hold q, Ctrl-C, or Escape alone: other keys are told by Escape and more.
fn is_wish_to_leave(keys: &[u8]) -> bool {
    const ESCAPE: u8 = 0x1b;
    const CTRL_C: u8 = 0x03;
    keys == [ESCAPE]
        || (!keys.contains(&ESCAPE) && keys.iter().any(|key| [b'q', CTRL_C].contains(key)))
}

/// Columns and rows of the terminal.
fn size_of_terminal() -> Option<(u16, u16)> {
    rustix::termios::tcgetwinsize(stdout()).ok().map(|size| (size.ws_col, size.ws_row))
}

#[allow(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn of_terminal(error: io::Error) -> Failure {
    Failure::incomplete(format!(
        "the terminal cannot be drawn on: {error}; `cardproof watch | cat` gives plain lines",
        error = in_words(&error)
    ))
}

/// The terminal while it is ours. It is given back when this goes, after an error too, and before the
/// message of a panic: a release ends there without unwinding.
struct Screen {
    /// Never dropped: it would complain of a terminal that is gone to that terminal, and panic.
    terminal: ManuallyDrop<Terminal<CrosstermBackend<Stdout>>>,
}

impl Screen {
    fn take() -> io::Result<Self> {
        let terminal = ManuallyDrop::new(Terminal::new(CrosstermBackend::new(stdout()))?);
        let usual = panic::take_hook();
        panic::set_hook(Box::new(move |panicked| {
            give_back();
            usual(panicked);
        }));
        enable_raw_mode()?;
        let screen = Self { terminal };
        execute!(stdout(), EnterAlternateScreen)?;
        Ok(screen)
    }

    fn draw(&mut self, view: &View<'_>) -> Result<(), Failure> {
        self.terminal.draw(|frame| view.draw(frame)).map_err(of_terminal)?;
        Ok(())
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        give_back();
    }
}

fn give_back() {
    // A terminal that is gone cannot be told, and need not be.
    let _ = disable_raw_mode();
    let _ = execute!(stdout(), LeaveAlternateScreen, Show);
}
