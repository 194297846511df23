//! The live screen: the terminal taken over and given back, however the watch ends.

use std::io::{self, Stdout, stdout};
use std::sync::atomic::Ordering;
use std::time::Instant;

use ratatui::Terminal;
use ratatui::backend::CrosstermBackend;
use ratatui::crossterm::cursor::Show;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind, KeyModifiers};
use ratatui::crossterm::execute;
use ratatui::crossterm::terminal::{
    EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};

use super::history::History;
use super::source::Sample;
use super::view::View;
use super::{LOOK_EVERY, Watch, left_by};
use crate::exit::{Exit, Failure};
use crate::signals::Signals;
use crate::talk;

/// Shows window after window until the user leaves, the last has ended, or a signal comes.
pub(super) fn run(watch: &mut Watch, signals: &Signals) -> Result<Exit, Failure> {
    let mut screen = Screen::take().map_err(of_terminal)?;
    let mut history = History::default();
    let mut sample: Option<Sample> = None;
    let mut end = Instant::now() + watch.interval;
    while !watch.is_over() {
        screen.draw(&View {
            sample: sample.as_ref(),
            history: &history,
            interval: format!("{:?}", watch.interval),
            has_colour: talk::is_styled(),
        })?;
        match wait(end, signals)? {
            Waited::Left => return Ok(left_by(signals)),
            Waited::Resized => continue,
            Waited::ToTheEnd => {}
        }
        end = watch.next_end(end);
        let taken = watch.take()?;
        history.push(&taken.activity);
        sample = Some(taken);
    }
    Ok(Exit::Done)
}

/// How a wait ended.
enum Waited {
    ToTheEnd,
    Resized,
    Left,
}

/// Waits for `end`, for a key or for a signal.
fn wait(end: Instant, signals: &Signals) -> Result<Waited, Failure> {
    loop {
        if signals.stop().load(Ordering::Relaxed) {
            return Ok(Waited::Left);
        }
        let left = end.saturating_duration_since(Instant::now());
        if left.is_zero() {
            return Ok(Waited::ToTheEnd);
        }
        if !event::poll(left.min(LOOK_EVERY)).map_err(of_terminal)? {
            continue;
        }
        match event::read().map_err(of_terminal)? {
            Event::Key(key) if key.kind == KeyEventKind::Press => {
                let is_ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
                match key.code {
                    KeyCode::Char('q') | KeyCode::Esc => return Ok(Waited::Left),
                    KeyCode::Char('c') if is_ctrl => return Ok(Waited::Left),
                    _ => {}
                }
            }
            Event::Resize(..) => return Ok(Waited::Resized),
            _ => {}
        }
    }
}

#[allow(clippy::needless_pass_by_value, reason = "the form that map_err takes")]
fn of_terminal(error: io::Error) -> Failure {
    Failure::incomplete(format!(
        "the terminal cannot be drawn on: {error}; `cardproof watch | cat` gives plain lines"
    ))
}

/// The terminal while it is ours. It is given back when this goes, after an error or a panic too.
struct Screen {
    terminal: Terminal<CrosstermBackend<Stdout>>,
}

impl Screen {
    fn take() -> io::Result<Self> {
        let terminal = Terminal::new(CrosstermBackend::new(stdout()))?;
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
        // A terminal that is gone cannot be told, and need not be.
        let _ = disable_raw_mode();
        let _ = execute!(stdout(), LeaveAlternateScreen, Show);
    }
}
