//! `cardproof replay list`: the recorded jobs that come with cardproof.

use std::fmt::Write;

use cardproof_report::CatalogueEntry;
use cardproof_trace::SHIPPED;
use clap::Args;

use super::loading::{broken, entry_of};
use crate::catalogue;
use crate::exit::{Exit, Failure};
use crate::output::{self, Sink};
use crate::talk;

/// How to list them.
#[derive(Debug, Args)]
pub(crate) struct ListArgs {
    /// The list as JSON, to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    pub(crate) json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

/// Lists the recorded jobs that are shipped.
pub(crate) fn run(args: &ListArgs) -> Result<Exit, Failure> {
    if let Some(sink) = &args.json {
        catalogue::write(sink, &entries()?)?;
    }
    if !args.quiet && args.json != Some(Sink::Stdout) {
        output::write(&Sink::Stdout, &talk::paged(&text()))?;
    }
    Ok(Exit::Done)
}

fn entries() -> Result<Vec<CatalogueEntry>, Failure> {
    let entry = |trace: &cardproof_trace::ShippedTrace| {
        entry_of(trace.bytes).map_err(|error| broken(trace.name, &error))
    };
    SHIPPED.iter().map(entry).collect()
}

/// One line for each job, and what to do next.
fn text() -> String {
    let width = SHIPPED.iter().map(|trace| trace.name.len()).max().unwrap_or(0);
    let mut text = String::new();
    for trace in &SHIPPED {
        // Writing to a string does not fail.
        let _ = writeln!(text, "{:<width$}  {}", trace.name, trace.purpose);
    }
    text.push_str("\nWhat is in one: cardproof replay show NAME\nRepeat one: cardproof replay run NAME TARGET\n");
    text
}
