//! `cardproof compare`: records and published measurements side by side.

use std::collections::HashSet;
use std::fmt::Write;
use std::path::Path;

use cardproof_rating::compare::{
    Comparison, Contender, Pairing, Use, compare_knowing, is_measured_alike,
};
use cardproof_rating::{find_reference, references};
use cardproof_record::{OpName, Record, RecordHead};
use cardproof_report::{
    CatalogueEntry, View, comparison_charts, comparison_csv, comparison_html, comparison_markdown,
    comparison_text, title,
};
use cardproof_session::{LATEST, Store, simulated_card, simulated_name};
use cardproof_units::Bytes;

use crate::args::CompareArgs;
use crate::catalogue;
use crate::charts;
use crate::exit::{Exit, Failure};
use crate::inventory;
use crate::output::{self, Sink};
use crate::saved;
use crate::suggestion::did_you_mean;
use crate::talk;

/// What published cards and tables are called by.
const REFERENCE: &str = "ref:";

/// Decides the draws of the bootstrap; fixed, so that the same records give the same intervals.
const SEED: u64 = 1;

/// A card with its records, read.
struct Card {
    name: String,
    /// What the user called it.
    given: String,
    runs: Vec<Record>,
}

/// Compares what `args` name.
pub(crate) fn run(args: &CompareArgs) -> Result<Exit, Failure> {
    if let (true, Some(sink)) = (args.list, &args.json) {
        catalogue::write(sink, &entries())?;
        return Ok(Exit::Done);
    }
    if args.list {
        let text = if args.details { list() } else { list_in_short() };
        output::write(&Sink::Stdout, &talk::paged(&text))?;
        return Ok(Exit::Done);
    }
    check_outputs(args)?;
    if args.cards.is_empty() && inventory::files(&Store::of_user()?)?.is_empty() {
        return Err(Failure::usage(inventory::NO_RECORD));
    }
    let cards = cards(&args.cards)?;
    if cards.len() < 2 {
        return Err(Failure::usage(
            "name at least two cards; `cardproof list` shows your records, and `cardproof compare --list` \
             published cards, such as ref:NAME",
        ));
    }
    let contenders = contenders(&cards, args)?;
    let pairing = if args.paired { Pairing::ByRun } else { Pairing::Independent };
    check_pairs(&contenders, pairing)?;
    let records: Vec<&Record> = cards.iter().filter_map(|card| card.runs.first()).collect();
    let kept = kept_of(&cards);
    let others: Vec<Vec<&Record>> = cards.iter().map(|card| others_of(card, &kept)).collect();
    show(&compare_knowing(&contenders, &others, pairing, SEED), &records, args)?;
    Ok(Exit::Done)
}

/// The kept records, where one of `cards` has a label that others may have.
fn kept_of(cards: &[Card]) -> Vec<Record> {
    let runs = || cards.iter().flat_map(|card| &card.runs);
    let is_wanted =
        |head: &RecordHead| head.label.is_some() && runs().any(|run| run.label == head.label);
    let kept = inventory::kept(is_wanted).unwrap_or_default();
    kept.into_iter().map(|(_, record)| record).collect()
}

/// The other records of `card` among `kept`: those with its label.
fn others_of<'k>(card: &Card, kept: &'k [Record]) -> Vec<&'k Record> {
    let has_label = |record: &Record| {
        record.label.is_some() && card.runs.iter().any(|run| run.label == record.label)
    };
    kept.iter().filter(|record| has_label(record)).collect()
}

const fn has_rates(record: &Record) -> bool {
    !record.phases.is_empty()
}

/// The published measurements by table, a line each.
fn list_in_short() -> String {
    let width = references().iter().map(|card| card.name.len()).max().unwrap_or_default();
    let mut text = format!(
        "Random reads and writes of 4 KiB a second, as published:\n\n{:<width$}       read   write\n",
        "card"
    );
    let mut table = "";
    for card in references() {
        if card.table != table {
            table = card.table;
            let count = references().iter().filter(|other| other.table == table).count();
            text.push_str(&format!("\n{REFERENCE}{table}: all {count} of this table\n"));
        }
        let [read, write] = [OpName::Read, OpName::Write].map(|op| {
            random_rate(&card.record, op)
                .map_or_else(|| "-".to_owned(), |rate| format!("{rate:.0}"))
        });
        text.push_str(&format!("{REFERENCE}{:<width$} {read:>6}  {write:>6}\n", card.name));
    }
    text.push_str("\nWho measured, where, when and how: --list --details\n");
    text
}

/// The published measurements with their sources, by table.
fn list() -> String {
    let mut text = String::new();
    let mut table = "";
    for card in references() {
        if card.table != table {
            table = card.table;
            let about = format!("{REFERENCE}{table}: {}", card.source);
            let gap = if text.is_empty() { "" } else { "\n" };
            // Writing to a string does not fail.
            let _ = writeln!(text, "{gap}{about}");
        }
        let _ = writeln!(text, "  {REFERENCE}{}\n      {}", card.name, in_short(&card.record));
    }
    text
}

/// The published measurements as JSON.
fn entries() -> Vec<CatalogueEntry> {
    let entry = |card: &cardproof_rating::ReferenceCard| CatalogueEntry {
        name: format!("{REFERENCE}{}", card.name),
        purpose: format!("{}. {}", in_short(&card.record), card.source),
        size_bytes: card.record.conditions.device.size_bytes,
        ..CatalogueEntry::default()
    };
    references().iter().map(entry).collect()
}

/// What was measured where, with its random rates.
fn in_short(record: &Record) -> String {
    let board = record.conditions.host.board.as_deref().unwrap_or("host not known");
    format!("{}; {board}{}", title(record), rates(record))
}

/// Random operations of 4 KiB a second.
fn random_rate(record: &Record, op: OpName) -> Option<f64> {
    let mut phases = record.phases.iter();
    let phase = phases.find(|it| it.op == op && it.block_size_bytes == Bytes::kib(4))?;
    Some(phase.point_iops()?.0)
}

/// The random rates of a record, in a few words.
fn rates(record: &Record) -> String {
    match (random_rate(record, OpName::Read), random_rate(record, OpName::Write)) {
        (Some(read), Some(write)) => format!("; 4 KiB read {read:.0}, write {write:.0} IOPS"),
        _ => String::new(),
    }
}

fn check_outputs(args: &CompareArgs) -> Result<(), Failure> {
    let html = args.html.clone().map(Sink::File);
    let sinks: Vec<&Sink> =
        [&args.json, &args.csv, &args.markdown, &html].into_iter().flatten().collect();
    if sinks.iter().filter(|sink| ***sink == Sink::Stdout).count() > 1 {
        return Err(Failure::usage(
            "only one of --json, --csv and --markdown can go to standard output; name files for \
             the others",
        ));
    }
    args.charts.as_deref().map_or(Ok(()), charts::check)?;
    sinks.into_iter().try_for_each(output::check)
}

/// The cards that `names` name, each once.
fn cards(names: &[String]) -> Result<Vec<Card>, Failure> {
    let mut cards: Vec<Card> = Vec::with_capacity(names.len());
    for name in names {
        let of_table = name.strip_prefix(REFERENCE).map(table).unwrap_or_default();
        if of_table.is_empty() {
            let runs = runs(name)?;
            cards.push(Card { name: called(name, &runs), given: short(name), runs });
        } else {
            cards.extend(of_table);
        }
    }
    refuse_twins(&cards)?;
    tell_apart(&mut cards);
    Ok(cards)
}

/// A record has nothing to be compared with in itself.
fn refuse_twins(cards: &[Card]) -> Result<(), Failure> {
    for (at, card) in cards.iter().enumerate() {
        let is_of = |run: &Record| card.runs.iter().any(|own| own.id == run.id);
        if let Some(twin) = cards[..at].iter().find(|other| other.runs.iter().any(is_of)) {
            if twin.runs.len() + card.runs.len() > 2 {
                return Err(Failure::usage(format!(
                    "'{}' and '{}' have a record in common; a label stands for all records of its card: to compare \
                     single ones, name their ids (`cardproof list` shows them)",
                    twin.given, card.given
                )));
            }
            return Err(Failure::usage(format!(
                "'{}' and '{}' are the same record; name records of different cards (`cardproof list` shows them)",
                twin.given, card.given
            )));
        }
    }
    Ok(())
}

/// The published cards of the table called `name`; none where there is no such table.
fn table(name: &str) -> Vec<Card> {
    let of_table = references().iter().filter(|card| card.table.eq_ignore_ascii_case(name));
    let card = |card: &cardproof_rating::ReferenceCard| Card {
        name: card.name.clone(),
        given: card.name.clone(),
        runs: vec![card.record.clone()],
    };
    of_table.map(card).collect()
}

/// What the card of `runs` is called in the comparison: by its label, or by what the user called it. An
/// id that no user has chosen says nothing, so the card is called by its device.
fn called(given: &str, runs: &[Record]) -> String {
    let Some(first) = runs.first() else { return short(given) };
    if let Some(label) = &first.label {
        return label.clone();
    }
    let short_id = short(given);
    let is_id = first.id.starts_with(&short_id) || first.id.ends_with(&short_id) || given == LATEST;
    if is_id && !given.starts_with(REFERENCE) { device(first) } else { short(given) }
}

/// The device of `record` in few words: its model, what it may have been sold as, and its size.
fn device(record: &Record) -> String {
    let device = &record.conditions.device;
    // The name of a simulated card holds its size.
    let size = device.size_bytes.filter(|_| !record.is_simulated());
    let model = device.model.clone().map(|model| match cardproof_report::sold_as(device) {
        Some(product) => format!("{model} (perhaps {product})"),
        None => model,
    });
    if model.is_none() && device.transport.is_some() {
        return title(record);
    }
    let parts = [model, size.map(Bytes::as_sold)];
    let name = parts.into_iter().flatten().collect::<Vec<_>>().join(", ");
    match name.is_empty() {
        false => name,
        // What another tool printed may name no device.
        true if record.is_imported() => {
            let day = record.created.get(..10).unwrap_or_default();
            format!("{} of {day}", record.tool.name)
        }
        true => record.id.clone(),
    }
}

/// Adds the end of the record's id to names that several cards have, and a number where that is the same too.
fn tell_apart(cards: &mut [Card]) {
    let names: Vec<String> = cards.iter().map(|card| card.name.clone()).collect();
    let is_shared = |name: &String| names.iter().filter(|other| *other == name).count() > 1;
    let mut seen: HashSet<String> = names.iter().filter(|name| !is_shared(name)).cloned().collect();
    for card in cards.iter_mut().filter(|card| is_shared(&card.name)) {
        let id = card.runs.first().map(|first| first.id.clone()).unwrap_or_default();
        let with_id = format!("{} ({})", card.name, cardproof_report::short_id(&id));
        let numbered = (2_u32..).map(|number| format!("{with_id} {number}"));
        let free = std::iter::once(with_id.clone()).chain(numbered).find(|it| !seen.contains(it));
        card.name = free.unwrap_or(with_id);
        seen.insert(card.name.clone());
    }
}

/// What the user calls a card: a file's name without its directory and ending.
fn short(name: &str) -> String {
    if let Some(name) = name.strip_prefix(REFERENCE) {
        return name.to_owned();
    }
    let first =
        if Path::new(name).exists() { name } else { name.split(',').next().unwrap_or(name) };
    let stem = Path::new(first).file_stem().map(|stem| stem.to_string_lossy().into_owned());
    stem.unwrap_or_else(|| name.to_owned())
}

/// The records that `name` names: one, or with commas several runs of one card.
fn runs(name: &str) -> Result<Vec<Record>, Failure> {
    let runs: Vec<Record> = if Path::new(name).exists() {
        vec![saved::read(Path::new(name))?]
    } else {
        name.split(',').map(records).collect::<Result<Vec<_>, _>>()?.concat()
    };
    refuse_several_cards(name, &runs)?;
    if let Some(other) = runs.iter().find(|run| run.phases.is_empty()) {
        return Err(Failure::usage(format!(
            "{name} is a record of '{}' and holds no rates to compare; name a record of \
             `cardproof run` (`cardproof list` shows them)",
            other.profile.name
        )));
    }
    Ok(runs)
}

/// Commas join runs of one card, and never two cards.
fn refuse_several_cards(name: &str, runs: &[Record]) -> Result<(), Failure> {
    let is_label = |part: &&str| runs.iter().any(|run| run.label.as_deref() == Some(*part));
    let mut labels: Vec<&str> = name.split(',').filter(is_label).collect();
    labels.dedup();
    if let [one, other, ..] = labels.as_slice() {
        return Err(Failure::usage(format!(
            "{one} and {other} are labels of different cards; separate them by a space, or join ids with commas if \
             they are one card"
        )));
    }
    let apart = runs.windows(2).find(|pair| !saved::is_alike(&pair[0], &pair[1]));
    let Some([one, other]) = apart else { return Ok(()) };
    Err(Failure::usage(format!(
        "{name} joins records of different cards ({} and {}); a comma joins runs of one card: separate cards by a space",
        device(one),
        device(other)
    )))
}

/// The records that `name` stands for: one, or all of a label's card that were measured alike.
fn records(name: &str) -> Result<Vec<Record>, Failure> {
    if let Some(name) = name.strip_prefix(REFERENCE) {
        let card = find_reference(name).ok_or_else(|| {
            let tables = references().iter().map(|card| card.table);
            let names = references().iter().map(|card| card.name.as_str()).chain(tables);
            Failure::usage(format!(
                "there is no published card or table '{name}'; {}`cardproof compare --list` shows them",
                did_you_mean(name, names)
            ))
        })?;
        return Ok(vec![card.record.clone()]);
    }
    if let Some(card) = simulated_name(Path::new(name)) {
        simulated_card(card)?;
        return Err(Failure::usage(format!(
            "sim:{card} is a simulated card and no record; name its record (`cardproof list` shows it), or make one: \
             cardproof run sim:{card} --label NAME, then compare NAME"
        )));
    }
    // What is called like nothing of the user's may be a published card.
    saved::read_all_for(Path::new(name), has_rates, is_of_label).or_else(|failure| {
        find_reference(name).map(|card| vec![card.record.clone()]).ok_or(failure)
    })
}

/// Whether `record` counts beside the youngest one of its label.
fn is_of_label(record: &Record, youngest: &Record) -> bool {
    saved::is_alike(record, youngest) && is_measured_alike(record, youngest)
}

fn contenders<'c>(cards: &'c [Card], args: &CompareArgs) -> Result<Vec<Contender<'c>>, Failure> {
    // The name in the comparison comes first; what was given counts where it is of one card alone.
    let is_of = |name: &str, card: &Card| {
        let name = name.strip_prefix(REFERENCE).unwrap_or(name);
        let is_shown = cards.iter().any(|card| card.name == name);
        let given = cards.iter().filter(|card| card.given == name).count();
        card.name == name || (!is_shown && given == 1 && card.given == name)
    };
    for price in &args.price {
        if !cards.iter().any(|card| is_of(&price.name, card)) {
            let names: Vec<&str> = cards.iter().map(|card| card.name.as_str()).collect();
            return Err(Failure::usage(format!(
                "--price names '{}', and what is compared is: {}",
                price.name,
                names.join(", ")
            )));
        }
    }
    let contender = |card: &'c Card| Contender {
        name: card.name.clone(),
        runs: card.runs.iter().collect(),
        price: args.price.iter().find(|price| is_of(&price.name, card)).map(|price| price.amount),
    };
    Ok(cards.iter().map(contender).collect())
}

/// Runs can be taken in pairs only where there are as many of each.
fn check_pairs(cards: &[Contender<'_>], pairing: Pairing) -> Result<(), Failure> {
    let count = |card: &Contender<'_>| card.runs.len();
    let Some(first) = cards.first().map(count) else { return Ok(()) };
    match cards.iter().find(|card| count(card) != first) {
        Some(other) if pairing == Pairing::ByRun => Err(Failure::usage(format!(
            "--paired takes as many runs of every card, and {} has {} where the first has {first}",
            other.name,
            count(other)
        ))),
        _ => Ok(()),
    }
}

fn show(comparison: &Comparison, records: &[&Record], args: &CompareArgs) -> Result<(), Failure> {
    let view = View { wanted: args.wanted.into(), has_details: args.details };
    if let Some(path) = &args.html {
        let page = comparison_html(comparison, view.wanted, records)
            .map_err(Failure::because("the comparison cannot be drawn"))?;
        output::write(&Sink::File(path.clone()), &page)?;
    }
    if let Some(directory) = &args.charts {
        let charts = comparison_charts(comparison, view.wanted, records)
            .map_err(Failure::because("the comparison cannot be drawn"))?;
        charts::write(directory, &charts)?;
    }
    if let Some(sink) = &args.json {
        output::write(sink, &document(comparison, view.wanted)?)?;
    }
    if let Some(sink) = &args.csv {
        output::write(sink, &comparison_csv(comparison))?;
    }
    if let Some(sink) = &args.markdown {
        output::write(sink, &comparison_markdown(comparison, view))?;
    }
    let sinks = [&args.json, &args.csv, &args.markdown];
    if args.quiet || sinks.into_iter().flatten().any(|sink| *sink == Sink::Stdout) {
        return Ok(());
    }
    let text = comparison_text(comparison, view, talk::width(), talk::is_styled());
    output::write(&Sink::Stdout, &text)
}

/// The comparison as JSON, with the answers for the use asked for.
fn document(comparison: &Comparison, wanted: Use) -> Result<String, Failure> {
    let document = cardproof_rating::compare::Document::new(comparison, wanted);
    let mut text = serde_json::to_string_pretty(&document)
        .map_err(Failure::because("the comparison cannot be put into JSON"))?;
    text.push('\n');
    Ok(text)
}
