//! `cardproof show`: what a saved record says by the rules of this version, on the terminal or as a report.
//!
//! A record is named by its file, by its id among those kept, by its label, or as the latest of them.

use std::path::PathBuf;

use cardproof_record::Record;
use cardproof_report::{Entry, inventory_text};
use clap::{ArgAction, Args};

use crate::args::OutputArgs;
use crate::charts;
use crate::exit::{Exit, Failure};
use crate::inventory;
use crate::output::{self, Sink};
use crate::result::{self, Requirement};
use crate::saved::{locate, read};
use crate::talk::{self, Talk};

/// What to show, and where.
#[derive(Debug, Args)]
pub(crate) struct ShowArgs {
    /// Records: a file, an id as `list` shows it, a label, `latest`, or `-` for standard input
    #[arg(value_name = "RECORD", required = true)]
    pub(crate) records: Vec<PathBuf>,
    /// Where the report goes.
    #[command(flatten)]
    pub(crate) output: OutputArgs,
    /// Save each chart of the report as SVG and PNG, and its figures as CSV, in this directory
    #[arg(long, value_name = "DIR")]
    pub(crate) charts: Option<PathBuf>,
    /// End with status 4 unless every record passes these classes, such as A1 or A1,C10
    #[arg(long, value_name = "CLASS", action = ArgAction::Append, value_delimiter = ',')]
    pub(crate) require: Vec<String>,
    /// For --require: also accept an indication, the weaker judgement of an imported record
    #[arg(long, requires = "require")]
    pub(crate) accept_indication: bool,
    /// Print errors only
    #[arg(long, short)]
    pub(crate) quiet: bool,
}

impl ShowArgs {
    /// Whether a report of one record is wanted, of which several records have none together.
    const fn wants_report(&self) -> bool {
        self.output.html.is_some()
            || self.output.markdown.is_some()
            || self.charts.is_some()
            || self.output.picture.is_some()
    }
}

/// Shows what `args` name.
pub(crate) fn run(args: &ShowArgs) -> Result<Exit, Failure> {
    let requirements = Requirement::parse_all(&args.require)?;
    check_outputs(args)?;
    let records: Vec<Record> =
        args.records.iter().map(|name| read(&locate(name)?)).collect::<Result<_, _>>()?;
    match records.as_slice() {
        [record] => {
            one(args, record)?;
            tell_of_others(args, record)?;
        }
        _ if args.wants_report() => {
            return Err(Failure::usage(
                "a report is of one record; name one, or `cardproof list --html FILE` for many",
            ));
        }
        several => many(args, several)?,
    }
    Ok(exit_of(args, &requirements, &records))
}

fn check_outputs(args: &ShowArgs) -> Result<(), Failure> {
    result::check_outputs(&args.output)?;
    args.charts.as_deref().map_or(Ok(()), charts::check)
}

/// One record: on the terminal, unless it is wanted elsewhere.
fn one(args: &ShowArgs, record: &Record) -> Result<(), Failure> {
    let talk = Talk::new(args.quiet);
    let verdicts = cardproof_rating::judge(record);
    result::write_outputs(record, &verdicts, &args.output)?;
    if let Some(directory) = &args.charts {
        let drawn = cardproof_report::charts(record, &verdicts)
            .map_err(Failure::because("the charts cannot be drawn"))?;
        charts::write(directory, &drawn)?;
        talk.note(&format!("{} charts: {}", drawn.len(), directory.display()));
    }
    result::tell_files(&args.output, talk);
    if args.quiet || args.wants_report() || args.output.json.is_some() {
        return Ok(());
    }
    result::print(record, &verdicts, args.output.details)?;
    if !args.output.details {
        talk.note("\nMore: --details, or --html FILE for the report.");
    }
    Ok(())
}

/// Says that the label that was named stands for other records too.
fn tell_of_others(args: &ShowArgs, shown: &Record) -> Result<(), Failure> {
    let Some(label) = args.records[0].to_str().filter(|&name| shown.label.as_deref() == Some(name))
    else {
        return Ok(());
    };
    let all = inventory::labelled(label)?;
    let others: Vec<&str> =
        all.iter().map(|(_, record)| &*record.id).filter(|&id| id != shown.id).collect();
    if !others.is_empty() {
        Talk::new(args.quiet).note(&format!(
            "\nThis is the newest of {} records with the label '{label}'. The others: {}",
            others.len() + 1,
            others.join(", ")
        ));
    }
    Ok(())
}

/// Several records, a row each.
fn many(args: &ShowArgs, records: &[Record]) -> Result<(), Failure> {
    if let Some(sink) = &args.output.json {
        let documents: Vec<String> =
            records.iter().map(result::judged_json).collect::<Result<_, _>>()?;
        output::write(sink, &format!("[\n{}]\n", documents.join(",\n")))?;
    }
    if args.quiet || args.output.json == Some(Sink::Stdout) {
        return Ok(());
    }
    let entries: Vec<Entry> = records.iter().map(Entry::of).collect();
    output::write(&Sink::Stdout, &inventory_text(&entries, None, talk::width_wanted()))?;
    Talk::new(false).note("\nWhich is the best: cardproof compare RECORD RECORD ...");
    Ok(())
}

fn exit_of(args: &ShowArgs, requirements: &[Requirement], records: &[Record]) -> Exit {
    let mut exit = Exit::Done;
    for record in records {
        let unmet = Requirement::unmet(requirements, record, args.accept_indication);
        if !unmet.is_empty() {
            exit = Exit::NotMet;
            let of = if records.len() > 1 { format!(" ({})", record.id) } else { String::new() };
            let note = format!("\nRequired, but not passed{of}: {}.", unmet.join(", "));
            Talk::new(args.quiet).note(&note);
        }
    }
    exit
}
