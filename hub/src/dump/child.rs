//! The process that makes the dump for a running hub: it has a limit of its own, so that no document can take the hub's
//! memory, and it ends with the hub.

use std::ffi::OsString;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{
    Resource, Rlimit, Signal, getppid, nice, set_parent_process_death_signal, setrlimit,
};

use crate::error::Error;
use crate::log;
use crate::place::Place;

/// The memory that the process may take, in bytes.
pub const MEMORY_MAX: u64 = 256 << 20;

/// The time from one dump to the next.
const EVERY: Duration = Duration::from_secs(3600);

/// After a dump that took long, nothing is dumped for so many times as long, so that changes that go on all the time cost
/// a bounded share of a processor.
const REST_FACTOR: u32 = 10;

/// The longest rest: what was deleted leaves within it and a dump's duration.
const REST_MAX: Duration = Duration::from_secs(6 * 3600);

/// Makes the dump of the hub at `place` again and again, so that nothing that was deleted stays longer in it. Ends never.
pub async fn dump_hourly(place: Place) {
    loop {
        let start = Instant::now();
        match run(&place).await {
            Ok(true) => {}
            Ok(false) => log::event("dump", &[("error", "the process failed".into())]),
            Err(error) => log::event("dump", &[("error", error.kind().to_string().into())]),
        }
        tokio::time::sleep((start.elapsed() * REST_FACTOR).clamp(EVERY, REST_MAX)).await;
    }
}

/// Makes it once; whether that went well. The process goes with whoever waits for it.
async fn run(place: &Place) -> Result<bool, std::io::Error> {
    let mut command = tokio::process::Command::new(std::env::current_exe()?);
    // In one word, so that a name that begins with - is none of an option.
    let mut data = OsString::from("--data=");
    data.push(&place.data);
    command.args(["dump", "--for-hub", &std::process::id().to_string()]).arg(data);
    // An address may hold a password, which arguments would show to everybody.
    match &place.server {
        Some(url) => command.env("CARDPROOF_HUB_DATABASE", url),
        None => command.env_remove("CARDPROOF_HUB_DATABASE"),
    };
    command.stdin(Stdio::null()).stdout(Stdio::null()).kill_on_drop(true);
    Ok(command.status().await?.success())
}

/// What the process does first: it binds its life to that of the hub with the number `hub`, and gives way to it in memory
/// and time.
///
/// # Errors
/// The system refuses it, or the hub has ended already.
pub fn bind(hub: i32) -> Result<(), Error> {
    let failed = |error: rustix::io::Errno| Error::File("cannot be the hub's".into(), error.into());
    set_parent_process_death_signal(Some(Signal::KILL)).map_err(failed)?;
    if getppid().is_none_or(|parent| parent.as_raw_nonzero().get() != hub) {
        return Err(Error::Setup("the hub has ended".to_owned()));
    }
    let limit = Rlimit { current: Some(MEMORY_MAX), maximum: Some(MEMORY_MAX) };
    setrlimit(Resource::Data, limit).map_err(failed)?;
    // Where the machine runs out of memory all the same, this process goes first.
    let _ = std::fs::write("/proc/self/oom_score_adj", "1000");
    let _ = nice(10);
    Ok(())
}
