//! What makes a kind of writer write less, and whether one is there that it helps with.

use serde::{Deserialize, Serialize};

use super::{Synced, Writer};

/// Nothing is advised for less than this share of what is written and of the waits for writes to be kept.
const SHARE_MIN: f64 = 0.05;

/// What makes a kind of writer write less.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Remedy {
    /// Keep the journal of systemd in memory.
    JournalInMemory,
    /// Keep text logs in memory (log2ram), or let the journal have them alone.
    LogsInMemory,
    /// Move swap off the storage: zram, or none.
    SwapOffStorage,
    /// Write ahead instead of a rollback journal, and sync less often.
    DatabaseWriteAhead,
    /// Mount with a longer commit interval and without times of access.
    LongerCommit,
    /// Move a container's writable files to a volume in memory or on another device.
    ContainerVolumes,
}

/// Beginnings of names with the remedy of their kind.
const REMEDIES: [(&str, Remedy); 13] = [
    ("systemd-journal", Remedy::JournalInMemory),
    ("rsyslog", Remedy::LogsInMemory),
    ("syslog", Remedy::LogsInMemory),
    ("docker-", Remedy::ContainerVolumes),
    ("libpod-", Remedy::ContainerVolumes),
    ("containerd", Remedy::ContainerVolumes),
    ("docker", Remedy::ContainerVolumes),
    ("influx", Remedy::DatabaseWriteAhead),
    ("mariadb", Remedy::DatabaseWriteAhead),
    ("mysql", Remedy::DatabaseWriteAhead),
    ("postgres", Remedy::DatabaseWriteAhead),
    ("home-assistant", Remedy::DatabaseWriteAhead),
    ("pihole", Remedy::DatabaseWriteAhead),
];

/// Adds to each service what helps, by its own name or by that of a program that writes a part worth naming.
pub(super) fn add(writers: &mut [Writer], synced: &[Synced]) {
    let all: u64 = writers.iter().map(|writer| writer.asked_bytes.get()).sum();
    for writer in writers.iter_mut().filter(|writer| writer.is_service()) {
        let waits = |is_meant: &dyn Fn(&Synced) -> bool| -> f64 {
            let own = synced.iter().filter(|it| it.service == writer.name && is_meant(it));
            own.map(|it| it.share).sum()
        };
        let is_much = writer.share.max(waits(&|_| true)) >= SHARE_MIN;
        let programs = writer.programs.iter().filter(|(program, bytes)| {
            let share = bytes.as_f64() / all.max(1) as f64;
            share.max(waits(&|it| it.program == *program)) >= SHARE_MIN
        });
        let names = is_much.then_some(&writer.name).into_iter();
        let mut names = names.chain(programs.map(|(program, _)| program));
        let found = names.find_map(|name| Some((of(name)?, name.clone())));
        (writer.remedy, writer.remedy_for) = found.unzip();
    }
}

/// What helps with whatever is called `name`.
fn of(name: &str) -> Option<Remedy> {
    let row = REMEDIES.iter().find(|(beginning, _)| name.starts_with(beginning))?;
    Some(row.1)
}

#[cfg(test)]
mod tests {
    use super::super::{ProgramWrites, Watched, who};

    fn remedies(postgres: u64) -> Vec<Option<String>> {
        let of = |program: &str, bytes| ProgramWrites {
            program: program.to_owned(),
            dirtied_bytes: bytes,
            ..ProgramWrites::default()
        };
        let programs = vec![of("rustc", 1000 - postgres), of("postgres", postgres)];
        let seen = Watched { seconds: 1.0, programs, device_bytes: 1000, ..Watched::default() };
        who(&seen).writers.into_iter().map(|writer| writer.remedy_for).collect()
    }

    #[test]
    fn nothing_is_advised_for_a_program_that_writes_next_to_nothing() {
        assert_eq!(remedies(30), [None]);
        assert_eq!(remedies(300), [Some("postgres".to_owned())]);
    }
}
