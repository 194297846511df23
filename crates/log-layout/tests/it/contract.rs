//! The layer is a target like any other.

use cardproof_io::{Target, contract};
use cardproof_log_layout::{LogLayout, Mode, Options};
use cardproof_sim::{Card, Keeping, Model, find};
use cardproof_units::{Bytes, Seed};

fn card(name: &str) -> Box<dyn Target + Send> {
    let base = find(name).unwrap();
    let card = Card { model: Model { capacity: Bytes::mib(64), ..base.model }, ..*base };
    card.open(Seed::from_bits(1), Keeping::Bytes).unwrap()
}

#[test]
fn both_modes_keep_the_contract() {
    for mode in [Mode::Barriers, Mode::Delayed] {
        for name in ["intenso-class-4", "sandisk-extreme-a1"] {
            contract::check_all(&mut || {
                Box::new(LogLayout::format(card(name), Options::new(mode, 7)).unwrap())
            });
        }
    }
}
