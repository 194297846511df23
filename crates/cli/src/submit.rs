//! `cardproof submit`: shares records with a hub.
//!
//! Nothing is sent before it was shown and agreed to. What is sent is made by an allowlist in
//! `cardproof-submission`; the hub applies the same. Before it is sent it is noted with its key, so that a
//! submission whose answer was lost, or that is made twice, is kept once.

#[cfg(feature = "submit")]
mod sending;
#[cfg(not(feature = "submit"))]
#[path = "submit/not_sending.rs"]
mod sending;
mod show;
#[cfg(feature = "submit")]
mod trust;
mod words;

use std::path::PathBuf;

use cardproof_rating::capacity;
use cardproof_record::{CapacityBounds, Record};
use cardproof_session::submissions::{Note, Notes};
use cardproof_submission::{
    Additions, Capacity, LICENCE, Price, SharedDocument, SharedRecord, document,
};
use cardproof_units::shell_path;
use clap::Args;
use serde_json::Value;

use crate::exit::{Exit, Failure};
use crate::measuring::random_key;
use crate::output::{self, Sink};
use crate::saved;
use crate::signals;
use crate::talk::{self, Talk};
use sending::Hub;

/// What the hub gives for a submission.
#[derive(Debug)]
pub(super) struct Answer {
    /// The permanent address.
    pub(super) url: String,
    /// What amends and deletes it.
    pub(super) token: String,
    /// Whether it is in no list before an administrator has looked at it.
    pub(super) waits: bool,
}

/// Why a submission was not taken.
#[derive(Debug)]
pub(super) struct Trouble {
    /// What happened, and what to do.
    pub(super) message: String,
    /// Whether it may be taken later.
    pub(super) may_pass: bool,
}

/// What to share, and with whom.
#[derive(Debug, Args)]
pub(crate) struct SubmitArgs {
    /// A record: a file, an id as `list` shows it, a label or `latest`. Without a record, `submit
    /// --queue` sends the records that wait in the queue
    #[arg(value_name = "RECORD")]
    records: Vec<PathBuf>,
    /// The hub's address, such as `https://hub.example.org`; there is none by default
    ///
    /// A hub is a page of shared results that somebody runs. cardproof has none of its own: ask the group that
    /// you want to share with, or run one (hub/README.md in the source). Its certificate is one that the system
    /// trusts, or one of the authorities in `SSL_CERT_FILE` or `SSL_CERT_DIR`.
    #[arg(long, value_name = "URL")]
    to: Option<String>,
    /// Send without asking
    #[arg(long, short)]
    yes: bool,
    /// Also share the record's label
    #[arg(long)]
    with_label: bool,
    /// Also share the price of the card today, such as 9.90:EUR
    #[arg(long, value_name = "AMOUNT:CURRENCY", value_parser = price)]
    price: Option<(f64, String)>,
    /// Put the record into a queue if the hub cannot be reached. `submit --queue` without a record sends the
    /// queue later, and fails while any record is left in it
    #[arg(long)]
    queue: bool,
    /// Print what would be sent, and send nothing
    #[arg(long)]
    dry_run: bool,
    /// The address of the shared record and the token that deletes it, or with --dry-run the document that
    /// would be sent, as JSON to a file or to standard output
    #[arg(long, value_name = "FILE|-")]
    json: Option<Sink>,
    /// Print errors only
    #[arg(long, short)]
    quiet: bool,
}

fn price(text: &str) -> Result<(f64, String), String> {
    let wrong = || "a price is an amount and a currency, such as 9.90:EUR".to_owned();
    let (amount, currency) = text.split_once(':').ok_or_else(wrong)?;
    let amount = amount.parse().map_err(|_| wrong())?;
    Ok((amount, currency.to_ascii_uppercase()))
}

/// Shares records, or sends what is queued.
pub(crate) fn run(args: &SubmitArgs) -> Result<Exit, Failure> {
    let hub = args.to.as_deref().map(Hub::at).transpose()?;
    args.json.iter().try_for_each(output::check)?;
    let documents =
        args.records.iter().map(|name| made(args, name)).collect::<Result<Vec<_>, _>>()?;
    if args.dry_run {
        return dry_run(args, &documents);
    }
    let notes = Notes::of_user()?;
    let noted = match (&hub, documents.as_slice()) {
        (_, []) if args.queue => {
            let queued = notes.queued(hub.as_ref().map(Hub::address))?;
            if queued.is_empty() {
                let others = notes.queued(None)?.len();
                let waiting = if others == 0 {
                    "No record is queued.".to_owned()
                } else {
                    format!(
                        "No record is queued for this hub; without --to, {others} for others are sent."
                    )
                };
                Talk::new(args.quiet).note(&waiting);
            }
            queued
        }
        (Some(hub), [_, ..]) => {
            agree(args, hub, &documents)?;
            let note = |document: &Value| {
                Ok::<_, Failure>(notes.note(hub.address(), document, random_key()?)?)
            };
            documents.iter().map(note).collect::<Result<_, _>>()?
        }
        _ => {
            let names: Vec<String> = args.records.iter().map(|name| shell_path(name)).collect();
            let (all, first) = match names.first() {
                Some(first) => (names.join(" "), first.as_str()),
                None => ("latest".to_owned(), "latest"),
            };
            return Err(Failure::usage(format!(
                "cardproof has no hub of its own; name one: cardproof submit {all} --to URL; for a forum: cardproof \
                 show {first} --markdown short, or --picture FILE"
            )));
        }
    };
    send(args, &notes, noted)
}

/// The document of the record that `name` names.
fn made(args: &SubmitArgs, name: &std::path::Path) -> Result<Value, Failure> {
    let record = saved::read(&saved::locate(name)?)?;
    let label = record.label.clone().filter(|_| args.with_label);
    let today = jiff::Timestamp::now().strftime("%Y-%m-%d").to_string();
    let price =
        args.price.clone().map(|(amount, currency)| Price { amount, currency, date: today });
    let additions = Additions { label, price, capacity: capacity_of(&record) };
    let accepted = document(&record, &additions)
        .map_err(|error| Failure::usage(format!("{}: {error}", name.display())))?;
    Ok(accepted.document)
}

/// What the capacity test of `record` has found, in the form that is shared.
fn capacity_of(record: &Record) -> Option<Capacity> {
    let found = capacity(record)?;
    let (low, high) = found.real_size;
    Some(Capacity {
        verdict: found.verdict,
        kind: found.kind.to_owned(),
        probability: found.probability,
        announced_size_bytes: found.announced,
        real_size_bytes: CapacityBounds { low, high: high.min(found.announced) },
        excluded_hidden_store_bytes: found.excluded_store,
        excluded_bad_share: found.excluded_share,
        bytes_written: record.bytes_written,
        bytes_read: record.bytes_read,
    })
}

fn dry_run(args: &SubmitArgs, documents: &[Value]) -> Result<Exit, Failure> {
    let text = match documents {
        [] => return Err(Failure::usage("name a record to see what would be sent")),
        [only] => show::pretty(only),
        several => show::pretty(&Value::from(several.to_vec())),
    };
    if let Some(sink) = &args.json {
        output::write(sink, &text)?;
    } else if !args.quiet {
        let words: Vec<String> = documents.iter().map(words::of).collect();
        let all = "All of it, as JSON: --dry-run --json -";
        output::write(&Sink::Stdout, &talk::paged(&format!("{}\n{all}\n", words.join("\n"))))?;
    }
    Ok(Exit::Done)
}

/// Shows what will be sent and asks, unless it was agreed to before.
fn agree(args: &SubmitArgs, hub: &Hub, documents: &[Value]) -> Result<(), Failure> {
    let talk = Talk::new(args.quiet);
    for document in documents {
        talk.note(&format!("This will be sent to {}:\n{}", hub.address(), words::of(document)));
    }
    talk.note("All of it, as JSON: --dry-run --json -\n");
    talk.note(&format!(
        "It will be public under the licence {LICENCE}: anybody may use it for anything. The token that you \
         get deletes it from the hub; mirrors may keep copies."
    ));
    if args.yes {
        return Ok(());
    }
    if !talk.can_ask() {
        return Err(Failure::usage(
            "there is no terminal to confirm on, so nothing was sent; check with --dry-run, then add --yes",
        ));
    }
    talk.note("Send it? Type yes, then Enter:");
    let mut line = String::new();
    // An answer that cannot be read is none.
    let _ = signals::ending_at_once(|| std::io::stdin().read_line(&mut line));
    if matches!(line.trim(), "yes" | "y") {
        Ok(())
    } else {
        Err(Failure::incomplete("nothing was sent"))
    }
}

/// Sends what is noted, each once, and tells what came of it.
fn send(args: &SubmitArgs, notes: &Notes, noted: Vec<Note>) -> Result<Exit, Failure> {
    let talk = Talk::new(args.quiet);
    let (mut results, mut failures, mut is_any_left) = (Vec::new(), Vec::new(), false);
    let give_up = format!("to give one up, delete its file in {}", notes.directory().display());
    for mut note in noted {
        match Hub::at(&note.to)?.send(&note) {
            Ok(answer) => {
                note.sent(&answer.url, &answer.token);
                notes.save(&note)?;
                results.push(shared(talk, answer));
            }
            Err(trouble) if args.queue && trouble.may_pass => {
                note.is_queued = true;
                notes.save(&note)?;
                let Trouble { message, .. } = trouble;
                if args.records.is_empty() {
                    is_any_left = true;
                    failures.push(format!("still queued: {message}"));
                } else {
                    let later = "Send it with: cardproof submit --queue";
                    talk.note(&format!("Queued: {message}. {later} ({give_up})"));
                }
                results.push(SharedRecord::queued(note.to.clone(), message));
            }
            Err(trouble) => {
                // It was not to be queued now, or the hub will never take it.
                note.is_queued &= trouble.may_pass;
                notes.save(&note)?;
                let advice = match (note.is_queued, trouble.may_pass) {
                    (true, _) => "; it is still queued",
                    (false, true) => "; --queue sends it later",
                    (false, false) => "",
                };
                failures.push(format!("{}{advice}", trouble.message));
            }
        }
    }
    write(args, results)?;
    failures.extend(is_any_left.then_some(give_up));
    if failures.is_empty() { Ok(Exit::Done) } else { Err(Failure::incomplete(failures.join("\n"))) }
}

/// Tells that a record is on the hub; the same for scripts.
fn shared(talk: Talk, answer: Answer) -> SharedRecord {
    let Answer { url, token, waits } = answer;
    talk.note(&format!("Shared: {url}\nToken, to amend or delete it: {token}"));
    if waits {
        talk.note("It is in no list of the hub before an administrator has looked at it.");
    }
    SharedRecord::shared(url, token, waits)
}

/// Writes `results`, where they are asked for and there are any.
fn write(args: &SubmitArgs, results: Vec<SharedRecord>) -> Result<(), Failure> {
    let Some(sink) = &args.json else { return Ok(()) };
    let Some(document) = SharedDocument::new(results) else { return Ok(()) };
    let text = serde_json::to_string(&document)
        .map_err(Failure::because("the answer cannot be put into JSON"))?;
    output::write(sink, &(text + "\n"))
}
