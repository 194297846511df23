//! Every card of the catalogue and every layer keeps the contract of a target.

use cardproof_io::{Target, contract};
use cardproof_sim::fault::{
    AtRisk, Beyond, CapacityFake, FaultyCard, HiddenStore, PowerCutTarget, PowerLoss,
};
use cardproof_sim::{Card, Keeping, SimulatedTarget, catalogue, find};
use cardproof_units::{Bytes, Seed};

fn card(name: &str) -> &'static Card {
    find(name).unwrap()
}

fn build(name: &str) -> SimulatedTarget {
    card(name).build(Seed::from_bits(1), Keeping::Bytes).unwrap()
}

#[test]
fn every_card_of_the_catalogue_keeps_the_contract() {
    for card in catalogue() {
        for keeping in [Keeping::Bytes, Keeping::Nothing] {
            contract::check_all(&mut || -> Box<dyn Target> {
                card.open(Seed::from_bits(7), keeping).unwrap()
            });
        }
    }
}

#[test]
fn a_layer_of_rules_keeps_the_contract() {
    contract::check_all(&mut || {
        Box::new(FaultyCard::new(build("sandisk-ultra-a1"), Vec::new(), Seed::from_bits(1)))
    });
}

#[test]
fn a_layer_of_rules_over_a_queue_keeps_the_contract() {
    contract::check_all(&mut || {
        Box::new(FaultyCard::new(build("v30-a2-queued"), Vec::new(), Seed::from_bits(1)))
    });
}

#[test]
fn a_power_supply_keeps_the_contract() {
    for honours_flush in [true, false] {
        contract::check_all(&mut || {
            let loss = PowerLoss {
                at_operation: None,
                at_risk: AtRisk::Torn,
                honours_flush,
                volatile_max: Bytes::mib(1),
            };
            Box::new(PowerCutTarget::new(build("sandisk-ultra"), loss, Seed::from_bits(1)))
        });
    }
}

#[test]
fn layers_over_layers_keep_the_contract() {
    contract::check_all(&mut || {
        let fake = CapacityFake {
            announced: Bytes::gib(128),
            beyond: Beyond::LastBlock,
            remembers: HiddenStore::new(Bytes::kib(64)),
        };
        let card = Card { fake: Some(fake), ..*find("v30-a2-queued").unwrap() };
        let faked = card.open(Seed::from_bits(1), Keeping::Bytes).unwrap();
        Box::new(FaultyCard::new(faked, Vec::new(), Seed::from_bits(1)))
    });
}
