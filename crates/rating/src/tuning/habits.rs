//! The steps that spare every card writes: swap, logs, databases.

use super::{AppliedBy, Command, NoGain, Planned, Remark, Risk, Undo, Why};

/// All of them.
pub(super) fn steps() -> [Planned; 3] {
    let step = |name, why, sure, commands: Vec<Command>, risk, undo: &[&str]| Planned {
        name,
        why,
        sure,
        commands,
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
            vec![
                Command::Remarked("sudo swapoff -a".to_owned(), Remark::SwapUntilNextStart),
                Command::Run("sudo apt install zram-tools".to_owned()),
            ],
            Risk::OutOfMemory,
            &["sudo apt remove zram-tools", "sudo swapon -a"],
        ),
        step(
            "logs",
            Why::Logs,
            0.7,
            run(&[
                "sudo mkdir -p /etc/systemd/journald.conf.d",
                "printf '[Journal]\\nStorage=volatile\\n' | sudo tee /etc/systemd/journald.conf.d/volatile.conf",
                "sudo systemctl restart systemd-journald",
            ]),
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
            run(&["sqlite3 FILE 'PRAGMA journal_mode=WAL;'"]),
            Risk::LostTransactions,
            &["sqlite3 FILE 'PRAGMA journal_mode=DELETE;'"],
        ),
    ]
}

/// Commands without a remark.
fn run(commands: &[&str]) -> Vec<Command> {
    commands.iter().map(|&command| Command::Run(command.to_owned())).collect()
}
