//! The steps that spare every card writes: swap, logs, databases.

use super::{AppliedBy, Gain, TuningStep};

/// All of them.
pub(super) fn steps() -> [TuningStep; 3] {
    let step = |name, why: &str, sure, commands: &[&str], risk: &str, undo: &[&str]| TuningStep {
        name,
        why: why.to_owned(),
        sure,
        commands: commands.iter().map(|&command| command.to_owned()).collect(),
        gain: match name {
            "sqlite" => Gain::not_measured_by_prove(),
            _ => Gain::not_measurable(),
        },
        risk: risk.to_owned(),
        undo: undo.iter().map(|&command| command.to_owned()).collect(),
        applied_by: AppliedBy::Hand,
        setting: None,
        deletes_data: false,
        is_habit: true,
        brief: None,
    };
    [
        step(
            "swap",
            "swapping to a card is slow and wears the card; compressed memory (zram) avoids both",
            0.85,
            &["sudo swapoff -a", "sudo apt install zram-tools"],
            "programs may run out of memory if their data does not compress; some systems switch swap on again \
             at the next start",
            &["sudo apt remove zram-tools", "sudo swapon -a"],
        ),
        step(
            "logs",
            "logs in memory avoid many small synced writes to the card",
            0.7,
            &[
                "sudo mkdir -p /etc/systemd/journald.conf.d",
                "printf '[Journal]\\nStorage=volatile\\n' | sudo tee /etc/systemd/journald.conf.d/volatile.conf",
                "sudo systemctl restart systemd-journald",
            ],
            "each restart deletes the logs, and a crash or a power cut those that show its cause",
            &[
                "sudo rm /etc/systemd/journald.conf.d/volatile.conf",
                "sudo systemctl restart systemd-journald",
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
