//! The steps that spare every card writes: swap, logs, databases.

use super::{AppliedBy, Gain, TuningStep};

/// All of them.
pub(super) fn steps() -> [TuningStep; 3] {
    let step = |name, why: &str, sure, commands: &[&str], risk: &str, undo: &[&str]| TuningStep {
        name,
        why: why.to_owned(),
        sure,
        commands: commands.iter().map(|&command| command.to_owned()).collect(),
        gain: Gain::not_measured_by_prove(),
        risk: risk.to_owned(),
        undo: undo.iter().map(|&command| command.to_owned()).collect(),
        applied_by: AppliedBy::Hand,
        setting: None,
    };
    [
        step(
            "swap",
            "swapping to a card is slow and wears the card; compressed memory (zram) avoids both",
            0.85,
            &["swapoff -a", "apt install zram-tools"],
            "less memory is left for data that does not compress",
            &["apt remove zram-tools", "swapon -a"],
        ),
        step(
            "logs",
            "logs in memory spare the card many small synced writes",
            0.7,
            &[
                "mkdir -p /etc/systemd/journald.conf.d",
                "printf '[Journal]\\nStorage=volatile\\n' > /etc/systemd/journald.conf.d/volatile.conf",
                "systemctl restart systemd-journald",
            ],
            "after a power cut or a crash all logs since the start are lost, also those that show its \
             cause",
            &[
                "rm /etc/systemd/journald.conf.d/volatile.conf",
                "systemctl restart systemd-journald",
            ],
        ),
        step(
            "sqlite",
            "SQLite in WAL mode syncs once where its rollback journal syncs several times",
            0.85,
            &["sqlite3 FILE 'PRAGMA journal_mode=WAL;'"],
            "if the program also sets synchronous=NORMAL, a power cut can lose the last transactions; \
             the database stays whole",
            &["sqlite3 FILE 'PRAGMA journal_mode=DELETE;'"],
        ),
    ]
}
