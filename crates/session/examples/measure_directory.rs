//! Runs the profile `standard` on a directory and prints each phase's rate.
//!
//!     cargo run --release -p cardproof-session --example measure_directory -- /media/pi/CARD
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::sync::atomic::AtomicBool;

use cardproof_runner::Repeat;
use cardproof_session::{Access, Identity, Options, Phases, Silent, Store, measure};
use cardproof_units::Seed;

fn main() -> Result<(), Box<dyn Error>> {
    let target = std::env::args_os().nth(1).unwrap_or_else(|| ".".into());
    let profile = cardproof_workload::find("standard").ok_or("no such profile")?;
    let phases = Phases {
        profile,
        without_queue_or_cache: None,
        time_budget: None,
        repeat: Repeat::ONCE,
        capacity: None,
    };
    let options = Options {
        target: target.into(),
        size: None,
        seed: Seed::from_bits(1),
        access: Access::default(),
        expect_device: None,
        identity: Identity {
            id: format!("example-{}", std::process::id()),
            label: None,
            created: "2026-01-01T00:00:00Z".to_owned(),
        },
        records: Store::of_user(),
        does_without_record: true,
    };
    let measured = measure(phases, &options, &mut Silent, &AtomicBool::new(false))?;
    for phase in &measured.record.phases {
        let rate = phase.iops.as_ref().map_or("not measured".to_owned(), |iops| {
            format!("{} ({} to {})", iops.estimate, iops.low, iops.high)
        });
        println!("{:<24} {rate}", phase.name);
    }
    Ok(())
}
