//! Judges a saved record and prints the verdict on each class, with the reasons.
//!
//!     cargo run --release -p cardproof-session --example judge_record -- RECORD.json
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::fs;

use cardproof_record::Record;

fn main() -> Result<(), Box<dyn Error>> {
    let path =
        std::env::args_os().nth(1).ok_or("name a record, such as one of `cardproof list`")?;
    let record = Record::from_json(&fs::read_to_string(path)?)?;
    for verdict in cardproof_rating::judge(&record) {
        println!("{:<4} {:?}", verdict.rule, verdict.outcome);
        for reason in verdict.reasons {
            println!("     {}", reason.text);
        }
    }
    Ok(())
}
