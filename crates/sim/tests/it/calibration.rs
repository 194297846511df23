//! The calibrated cards give their published figures, in the published order, under any seed.

use cardproof_sim::Keeping;
use cardproof_sim::calibration::{Cell, Figures, PUBLISHED, measure, order_broken};
use cardproof_units::Seed;

#[test]
fn every_cell_is_near_the_published_figure_and_every_row_in_order() {
    for seed in [1, 2] {
        let seed = Seed::from_bits(seed);
        let simulated: [Figures; 8] = PUBLISHED.map(|published| {
            let card = cardproof_sim::find(published.card).unwrap();
            let mut target = card.build(seed, Keeping::Nothing).unwrap();
            measure(&mut target, seed).unwrap()
        });
        for (published, simulated) in PUBLISHED.iter().zip(&simulated) {
            for cell in Cell::ALL {
                let ratio = simulated.of(cell) / published.figures.of(cell);
                assert!(
                    (0.97..1.03).contains(&ratio),
                    "seed {seed}: {} of {}: {} instead of {}",
                    cell.name(),
                    published.card,
                    simulated.of(cell),
                    published.figures.of(cell),
                );
            }
        }
        assert_eq!(order_broken(&simulated), [], "seed {seed}");
    }
}
