//! The risk of a card's command queue, in words.

/// What goes wrong with some cards.
pub(crate) const RISK: &str = "with some cards, files then read back wrong without an error, or the system does not \
                              start (raspberrypi/linux issues 6349 and 6561); make a backup first, and then test it: cardproof \
                              verify DIRECTORY --queue";
