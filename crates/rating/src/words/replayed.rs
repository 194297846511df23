//! Where a replay's time lies among those of others, in sentences.

use cardproof_facts::{PUBLISHED_CARDS, PUBLISHED_SOURCE};
use cardproof_record::Replay;

use crate::replayed::{SimulatedReplay, place, published_job};

/// Where `replay` lies, in sentences; none where it is not comparable or there is nothing to
/// compare with.
#[must_use]
pub fn standing(replay: &Replay) -> Vec<String> {
    let Some((others, place)) = place(replay) else { return Vec::new() };
    let told = |other: &SimulatedReplay| format!("{} in {}", other.card, other.took);
    let slower: Vec<String> = others[place..].iter().map(told).collect();
    let faster: Vec<String> = others[..place].iter().map(told).collect();
    let mut text = vec![format!(
        "{} simulated cards did the same job: {} in this time or less, {} in more.",
        others.len(),
        faster.len(),
        slower.len()
    )];
    for (what, cards) in [("In this time or less", faster), ("In more time", slower)] {
        if !cards.is_empty() {
            text.push(format!("{what}: {}.", cards.join(", ")));
        }
    }
    text.extend(published(&replay.trace));
    text
}

/// What was published of real cards doing a job of the kind of `trace`.
fn published(trace: &str) -> Option<String> {
    let job = published_job(trace)?;
    let fastest = PUBLISHED_CARDS.iter().min_by_key(|card| job.published(card))?;
    let slowest = PUBLISHED_CARDS.iter().max_by_key(|card| job.published(card))?;
    Some(format!(
        "Published times of real cards for {}: {} on {}, {} on {} ({PUBLISHED_SOURCE}). They include the \
         computing of a slow board, so compare them only roughly.",
        job.noun(),
        job.published(fastest),
        fastest.name,
        job.published(slowest),
        slowest.name
    ))
}
