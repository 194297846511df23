//! Several cards on one terminal: a line for each card, at most every few seconds.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use cardproof_session::{Event, Frontend};

use crate::talk::Talk;

/// How often a card is told of.
const EVERY: Duration = Duration::from_secs(10);

/// What the cards share.
pub(super) struct Screen {
    talk: Talk,
    /// One line at a time.
    turn: Mutex<()>,
}

impl Screen {
    pub(super) const fn new(talk: Talk) -> Self {
        Self { talk, turn: Mutex::new(()) }
    }

    fn say(&self, card: &str, sentence: &str) {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        self.talk.note(&format!("{card}: {sentence}"));
    }
}

/// The frontend of one card.
pub(super) struct CardLines {
    screen: Arc<Screen>,
    card: String,
    told: Option<Instant>,
}

impl CardLines {
    pub(super) fn new(screen: &Arc<Screen>, card: &str) -> Self {
        Self { screen: Arc::clone(screen), card: card.to_owned(), told: None }
    }

    fn is_due(&self) -> bool {
        self.told.is_none_or(|told| told.elapsed() >= EVERY)
    }
}

impl Frontend for CardLines {
    fn tell(&mut self, event: Event<'_>) {
        match event {
            Event::Note(sentence) => self.screen.say(&self.card, sentence),
            Event::Ready { announcement, .. } => {
                announcement.iter().for_each(|sentence| self.screen.say(&self.card, sentence));
            }
            Event::Step { deed, .. } if self.is_due() => {
                self.told = Some(Instant::now());
                self.screen.say(&self.card, deed);
            }
            _ => {}
        }
    }
}
