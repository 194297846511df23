//! Power cuts on simulated cards of known harm.

use cardproof_evidence::powercut::Kind;
use cardproof_probe::powercut::{Outcome, Style, Wish, run};
use cardproof_sim::fault::{Harm, Power};
use cardproof_sim::{Card, Keeping, find};
use cardproof_units::{Bytes, Seed};

const WISH: Wish = Wish {
    cuts: 40,
    start: Bytes::mib(8),
    size: Bytes::kib(512),
    epoch_writes: 8,
    style: Style { queue_depth: 4, writes_are_durable: false },
};

fn outcome(card: &str, power: Power, wish: &Wish) -> Outcome {
    let card = Card { power: Some(power), ..*find(card).unwrap() };
    let seed = Seed::from_bits(11);
    let mut target = card.open(seed, Keeping::Bytes).unwrap();
    run(&mut target, wish, seed, &mut |_| true).unwrap()
}

#[test]
fn an_honest_card_keeps_every_promise() {
    for card in ["intenso-class-4", "sandisk-extreme-a1", "sandisk-extreme-pro-a2-queued"] {
        for epoch_writes in [1, 8, 32] {
            let wish = Wish { epoch_writes, size: Bytes::mib(1), ..WISH };
            let Outcome { tally, harmful, .. } = outcome(card, Power::HONEST, &wish);
            assert!(harmful.is_empty(), "{card}: {harmful:?}");
            assert!(tally.effective_cuts >= 36, "{card}: {tally:?}");
            assert!(tally.bound() < 0.1);
        }
    }
}

#[test]
fn every_harm_is_called_by_its_name() {
    for (harm, kind) in [
        (Harm::Lost, Kind::Lost),
        (Harm::Torn, Kind::Torn),
        (Harm::Reordered, Kind::Reordered),
        (Harm::Collateral, Kind::Collateral),
        (Harm::Misdirected, Kind::Misdirected),
    ] {
        let tally = outcome("sandisk-ultra-a1", Power { harm, ..Power::HONEST }, &WISH).tally;
        assert_eq!(tally.findings.keys().collect::<Vec<_>>(), [&kind], "{harm:?}");
        assert!(tally.harmful_cuts >= 39, "{harm:?}: {tally:?}");
    }
    let gone = outcome("sandisk-ultra-a1", Power { harm: Harm::Gone, ..Power::HONEST }, &WISH);
    assert_eq!((gone.tally.cuts, gone.tally.findings[&Kind::Gone]), (1, 1));
}

#[test]
fn a_card_that_ignores_flushes_is_found() {
    let liar = Power { ignores_flush: true, ..Power::HONEST };
    let tally = outcome("sandisk-ultra-a1", liar, &WISH).tally;
    assert!(tally.harmful_cuts >= 39, "{tally:?}");
}

#[test]
fn a_share_of_cuts_is_bounded_from_both_sides() {
    let rare = Power { harm: Harm::Lost, share_ppm: 200_000, ..Power::HONEST };
    let tally = outcome("sandisk-ultra-a1", rare, &Wish { cuts: 200, ..WISH }).tally;
    let (low, high) = tally.interval();
    assert!(low < 0.2 && 0.2 < high && 0.2 < tally.bound(), "{tally:?}");
}

#[test]
fn what_is_stopped_keeps_what_was_seen() {
    let mut target = find("sandisk-ultra-a1").unwrap();
    let card = Card { power: Some(Power::HONEST), ..*target };
    target = &card;
    let seed = Seed::from_bits(1);
    let mut open = target.open(seed, Keeping::Bytes).unwrap();
    let outcome = run(&mut open, &WISH, seed, &mut |done| done < 5).unwrap();
    assert!(outcome.is_cut_short && outcome.tally.cuts == 5);
}
