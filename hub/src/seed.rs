//! What a new hub begins with: the project's published reference measurements and simulated cards, marked as such.

use cardproof_rating::references;
use cardproof_submission::{Additions, accept, document};

use crate::db::Db;
use crate::error::Error;
use crate::store::draft::Draft;
use crate::store::submissions::seed;

/// Documents of simulated cards, made by `cardproof run sim:NAME` and `cardproof submit --dry-run`.
const SIMULATED: &[(&str, &str)] = &[
    ("sim-sandisk-extreme-a1", include_str!("../seed/sandisk-extreme-a1.json")),
    ("sim-sandisk-ultra", include_str!("../seed/sandisk-ultra.json")),
    ("sim-samsung-emmc", include_str!("../seed/samsung-emmc.json")),
    ("sim-v30-a2", include_str!("../seed/v30-a2.json")),
    ("sim-v30-a2-queued", include_str!("../seed/v30-a2-queued.json")),
    ("sim-intenso-class-4", include_str!("../seed/intenso-class-4.json")),
    ("sim-high-endurance", include_str!("../seed/high-endurance.json")),
    ("sim-usb-stick", include_str!("../seed/usb-stick.json")),
];

/// Adds what is missing and was not deleted; returns how many were added.
///
/// # Errors
/// The database does not take it.
pub async fn fill(db: &Db) -> Result<usize, Error> {
    let mut drafts = Vec::new();
    for card in references() {
        // A table of whole jobs alone has nothing that a page could show.
        if let Ok(accepted) = document(&card.record, &Additions::default()) {
            let draft = Draft::of(&accepted, Some(card.source.clone()))?;
            drafts.push((format!("ref-{}", card.name), draft));
        }
    }
    for (id, text) in SIMULATED {
        drafts.push(((*id).to_owned(), Draft::of(&accept(text.as_bytes())?, None)?));
    }
    seed(db, &drafts).await
}
