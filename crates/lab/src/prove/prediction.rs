//! `cargo xtask prove prediction`: how well jobs are predicted on cards that were left out.
//!
//! Everything is computed from the published table that the program carries; nothing is measured
//! and nothing is drawn at random, so the tables come out the same everywhere.

mod boards;

use std::fmt::Write;

use anyhow::Result;
use cardproof_rating::prediction::{LeftOut, Method, PredictedJob, leave_one_out, numbers};

use super::{Asked, DependsOn, Proof, Proved};

/// The claim.
pub(super) const PROOF: Proof = Proof {
    name: "prediction",
    shows: "how well jobs are predicted on cards that were left out",
    document: "docs/design/prediction.md",
    depends_on: DependsOn::Nothing,
    needs_root: false,
    takes: &[],
    run,
};

/// Pairs in the right order that are asked for, in per cent.
const ORDER_PERCENT: usize = 95;

/// What is asked of the model for a job: the mean and the worst error, in per cent.
const fn asked(job: PredictedJob) -> [f64; 2] {
    match job {
        PredictedJob::Boot => [13.0, 25.0],
        PredictedJob::Install | PredictedJob::Reinstall => [8.0, 20.0],
        PredictedJob::Removal => [10.0, 25.0],
    }
}

/// Computes the tables. What is asked and missed stands in them; it is published as it is.
fn run(_: &Asked) -> Result<Proved> {
    Ok(Proved { tables: tables()?, holds: true })
}

fn tables() -> Result<String> {
    let mut out = String::new();
    write_numbers(&mut out)?;
    out.push('\n');
    write_cards(&mut out)?;
    out.push('\n');
    write_methods(&mut out)?;
    out.push('\n');
    boards::write(&mut out)?;
    Ok(out)
}

/// The numbers behind each job.
fn write_numbers(out: &mut String) -> Result<()> {
    writeln!(out, "| job | processor, s (fitted) | writes (counted) | reads (counted) |")?;
    writeln!(out, "| --- | ---: | ---: | ---: |")?;
    for job in PredictedJob::ALL {
        let numbers = numbers(job);
        let (cpu, writes, reads) = (numbers.cpu_s, numbers.writes, numbers.reads);
        writeln!(out, "| {} | {cpu:.1} | {writes:.0} | {reads:.0} |", job.label())?;
    }
    let merging = numbers(PredictedJob::Install).merging;
    writeln!(out, "\nThe exponent of merging, fitted to all three package jobs, is {merging:.2}.")?;
    Ok(())
}

/// Every card, left out: published and predicted seconds.
fn write_cards(out: &mut String) -> Result<()> {
    let jobs = PredictedJob::ALL.map(|job| leave_one_out(Method::Requests, job));
    let labels = PredictedJob::ALL.map(PredictedJob::label).join(" | ");
    writeln!(out, "| card left out | {labels} |")?;
    writeln!(out, "| --- | ---: | ---: | ---: | ---: |")?;
    for (index, card) in jobs[0].cards.iter().enumerate() {
        write!(out, "| {} |", card.name)?;
        for job in &jobs {
            let card = &job.cards[index];
            let (published, predicted) = (card.published_s, digits(card.predicted_s));
            write!(out, " {published} / {predicted} ({:+.0} %) |", 100.0 * card.error())?;
        }
        writeln!(out)?;
    }
    Ok(())
}

/// The model beside the simple methods, and what is asked of it.
fn write_methods(out: &mut String) -> Result<()> {
    writeln!(
        out,
        "| job | method | mean error | worst | pairs in order | asked: mean, worst, order |"
    )?;
    writeln!(out, "| --- | --- | ---: | ---: | ---: | --- |")?;
    for job in PredictedJob::ALL {
        for method in Method::ALL {
            let left_out = leave_one_out(method, job);
            let (mean, worst) = (100.0 * left_out.mean_error(), 100.0 * left_out.worst_error());
            let (right, all) = left_out.pairs_in_order();
            let is_model = method == Method::Requests;
            let asked = if is_model { answer(job, &left_out) } else { String::new() };
            let method = method.label();
            let label = if is_model { job.label() } else { "" };
            writeln!(
                out,
                "| {label} | {method} | {mean:.1} % | {worst:.1} % | {right} of {all} | {asked} |"
            )?;
        }
    }
    Ok(())
}

/// Whether the model does what is asked, figure by figure.
fn answer(job: PredictedJob, left_out: &LeftOut) -> String {
    let [mean, worst] = asked(job);
    let (right, all) = left_out.pairs_in_order();
    let verdict = |holds: bool| if holds { "met" } else { "**missed**" };
    format!(
        "{mean} %: {}, {worst} %: {}, {ORDER_PERCENT} %: {}",
        verdict(100.0 * left_out.mean_error() <= mean),
        verdict(100.0 * left_out.worst_error() <= worst),
        verdict(100 * right >= ORDER_PERCENT * all),
    )
}

/// Seconds with one decimal below a hundred.
fn digits(seconds: f64) -> String {
    if seconds < 100.0 { format!("{seconds:.1}") } else { format!("{seconds:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document;

    #[test]
    fn the_document_holds_what_the_program_computes() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/design/prediction.md");
        let document = std::fs::read_to_string(path).unwrap();
        let fresh = document::with_text(&document, "prove prediction", &tables().unwrap()).unwrap();
        assert!(document == fresh, "run `cargo xtask prove prediction` and commit the document");
    }
}
