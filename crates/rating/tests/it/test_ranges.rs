//! Cards over different ranges of addresses: what is told apart, and what the ranges may explain.

use std::sync::atomic::AtomicBool;

use cardproof_rating::compare::{Contender, Pairing, Ranking, compare};
use cardproof_record::{Conditions, ProfileInfo, Record, TargetInfo, TargetKind, Tool};
use cardproof_runner::{Plan, Silent, run};
use cardproof_sim::{Card, Keeping};
use cardproof_testkit::some_of;
use cardproof_units::{Bytes, Nanos, Seed};
use cardproof_workload::{Profile, standard};

/// A run of the standard profile on `card` over `span`.
fn measured(card: &Card, span: Bytes) -> Record {
    let profile = Profile { time_budget: Nanos::from_secs(60), ..standard::profile() };
    let plan = Plan {
        time_budget: profile.time_budget,
        profile: profile.with_span(span),
        seed: Seed::from_bits(7),
        span_offset: Bytes::ZERO,
        span,
    };
    let mut target = card.open(Seed::from_bits(7), Keeping::Nothing).unwrap();
    let kind = TargetKind::Simulated;
    let conditions = Conditions {
        target: TargetInfo { kind, direct: true, ..TargetInfo::default() },
        ..Conditions::default()
    };
    let info = ProfileInfo {
        name: plan.profile.name.clone(),
        version: plan.profile.version,
        time_budget_ns: plan.time_budget,
        extra: Default::default(),
    };
    let tool = Tool { name: "cardproof".to_owned(), version: "test".to_owned() };
    let begun = Record::begun("test".to_owned(), "2026-01-01T00:00:00Z".to_owned(), tool, info);
    let draft = Record { seed: plan.seed, conditions, ..begun };
    run(&mut *target, &plan, draft, &mut Silent, &AtomicBool::new(false))
}

fn rankings(records: &[(String, Record)]) -> Vec<Ranking> {
    let contenders: Vec<Contender<'_>> = records
        .iter()
        .map(|(name, record)| Contender { name: name.clone(), runs: vec![record], price: None })
        .collect();
    compare(&contenders, Pairing::Independent, 1).rankings
}

/// The allowance for ranges, held against every simulated card: over whatever range it is measured, none
/// is better than itself.
#[test]
fn no_card_beats_itself_over_another_range() {
    let mut wrong = Vec::new();
    let sound = cardproof_sim::catalogue().iter().filter(|card| card.fake.is_none());
    for card in some_of(sound, 4) {
        let spans = [16, 32, 64, 128, 256].map(Bytes::mib);
        let records: Vec<(String, Record)> =
            spans.iter().map(|span| (span.to_string(), measured(card, *span))).collect();
        for ranking in rankings(&records) {
            for ranked in ranking.cards.iter().filter(|ranked| ranked.place > 1) {
                wrong.push(format!("{}: {:?} over {}", card.name, ranking.by, ranked.name));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

/// Slow cards of which the layout does not finish, each slower at random than the one before, and the
/// second with the longer layout.
#[test]
fn slow_cards_of_which_one_is_clearly_faster_have_different_ranks() {
    let slow = |name: &'static str, random: &str, rate: &str| {
        let text = format!(
            "base = \"sandisk-ultra-a1\"\n[model]\nwrite.page_map.rate = \"{rate}\"\n\
             write.page_map.random = \"{random}\"\n"
        );
        (name, cardproof_sim::describe(name, &text).unwrap())
    };
    let cards = [
        slow("brisk", "2ms", "3MB/s"),
        slow("middling", "60ms", "7MB/s"),
        slow("slow", "400ms", "4MB/s"),
    ];
    let records: Vec<(String, Record)> = cards
        .iter()
        .map(|(name, card)| ((*name).to_owned(), measured(card, standard::SPAN)))
        .collect();
    let spans: Vec<Bytes> = records.iter().map(|(_, record)| record.phases[2].span_bytes).collect();
    assert!(spans.iter().all(|span| *span < standard::SPAN), "{spans:?}");
    assert!(spans[1] > spans[0], "{spans:?}");
    let rankings = rankings(&records);
    let system = rankings.first().unwrap();
    let places: Vec<(usize, &str)> =
        system.cards.iter().map(|card| (card.place, &*card.name)).collect();
    assert_eq!(places, [(1, "brisk"), (2, "middling"), (3, "slow")]);
}
