//! The runs of the microSD Express cards, one after the other: what a filling cache and heat do.

use super::table::Table;

/// One run of a card: twelve tests in the order of [`EXPRESS_TESTS`].
#[derive(Clone, Debug, PartialEq)]
pub struct ExpressRun {
    /// The card's maker and model.
    pub card: &'static str,
    /// `active`, `passive` or `mixed`.
    pub cooling: &'static str,
    /// Its number in the row of runs, from 1.
    pub number: u32,
    /// The rates in MB/s.
    pub mb_per_s: [f64; 12],
}

/// The tests of a run, in the order that the figures suggest (the last one meets a full cache first):
/// `PATTERN_OPERATION_BLOCK_qDEPTH`.
pub const EXPRESS_TESTS: [&str; 12] = [
    "sequential_read_1g_q1",
    "sequential_write_1g_q1",
    "sequential_read_512k_q1",
    "sequential_write_512k_q1",
    "sequential_read_32m_q32",
    "sequential_write_32m_q32",
    "random_read_4k_q1",
    "random_write_4k_q1",
    "random_read_4k_q32",
    "random_write_4k_q32",
    "random_read_4k_q64",
    "random_write_4k_q64",
];

/// All runs, those of one card and cooling together and in order.
#[must_use]
pub fn express_runs() -> Vec<ExpressRun> {
    let table = Table::read(include_str!("../../data/express-2025.csv"));
    let run = |row: super::table::Row<'_>| {
        let mut mb_per_s = [0.0; 12];
        for (rate, test) in mb_per_s.iter_mut().zip(EXPRESS_TESTS) {
            *rate = row.number(test)?;
        }
        Some(ExpressRun {
            card: row.text("card")?,
            cooling: row.text("cooling")?,
            number: row.text("run")?.parse().ok()?,
            mb_per_s,
        })
    };
    table.rows().filter_map(run).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_run_has_all_its_tests() {
        let runs = express_runs();
        let of = |cooling: &str| runs.iter().filter(|run| run.cooling == cooling).count();
        assert_eq!([of("active"), of("passive"), of("mixed")], [20, 20, 2]);
        assert!(runs.iter().all(|run| run.mb_per_s.iter().all(|&rate| rate > 5.0)));
    }
}
