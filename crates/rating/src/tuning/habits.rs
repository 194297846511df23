//! The steps that spare every card writes: swap, logs, databases.

use super::{AppliedBy, Command, NoGain, Planned, Remark, Risk, Undo, Why};

/// All of them.
pub(super) fn steps() -> [Planned; 3] {
    let step = |name, why, sure, commands: &[&str], risk, undo: &[&str]| Planned {
        name,
        why,
        sure,
        commands: commands.iter().map(|&command| of_shell(command)).collect(),
        gain: match name {
            "sqlite" => NoGain::OfSetups,
            _ => NoGain::BeforeAndAfter,
        },
        risk,
        undo: undo.iter().map(|&command| Undo::Command(command.to_owned())).collect(),
        applied_by: AppliedBy::Hand,
        setting: None,
        deletes_data: false,
        is_habit: true,
        brief: None,
    };
    [
        step(
            "swap",
            Why::Swap,
            0.85,
            &[SWAP_OFF, "sudo apt install zram-tools"],
            Risk::OutOfMemory,
            &["sudo apt remove zram-tools", "sudo swapon -a"],
        ),
        step(
            "logs",
            Why::Logs,
            0.7,
            &[
                "sudo mkdir -p /etc/systemd/journald.conf.d",
                "printf '[Journal]\\nStorage=volatile\\n' | sudo tee /etc/systemd/journald.conf.d/volatile.conf",
                "sudo systemctl restart systemd-journald",
            ],
            Risk::LostLogs,
            &[
                "sudo rm /etc/systemd/journald.conf.d/volatile.conf",
                "sudo systemctl restart systemd-journald",
            ],
        ),
        step(
            "sqlite",
            Why::Sqlite,
            0.85,
            &["sqlite3 FILE 'PRAGMA journal_mode=WAL;'"],
            Risk::LostTransactions,
            &["sqlite3 FILE 'PRAGMA journal_mode=DELETE;'"],
        ),
    ]
}

/// Takes swap off; at the next start it may be on again.
const SWAP_OFF: &str = "sudo swapoff -a";

fn of_shell(command: &str) -> Command {
    match command {
        SWAP_OFF => Command::Remarked(command.to_owned(), Remark::SwapUntilNextStart),
        _ => Command::Run(command.to_owned()),
    }
}
