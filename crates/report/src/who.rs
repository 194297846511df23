//! Who writes to a storage, in words.

use std::cmp::Reverse;
use std::fmt::Write;

use cardproof_rating::who::{Change, Remedy, Who, Writer};
use cardproof_units::Bytes;

/// At most so many writers are told.
const WRITERS_MAX: usize = 10;

/// At most so many programs of a writer are told.
const PROGRAMS_MAX: usize = 3;

/// The shortest watch, in seconds, that says something of a whole day. In a shorter one a burst would look like a habit.
const DAY_FROM_S: f64 = 59.5;

/// Of fewer waits for flushes than this share nobody is named.
const SYNCS_MIN: f64 = 0.05;

/// Of fewer flushes a minute nobody asks whose they are.
const FLUSHES_MIN: f64 = 60.0;

/// Where the kernel does not count by group.
const ESTIMATED: &str = "  The kernel does not count writes by service here (io.stat of cgroups), so the shares are \
                         estimates from memory waiting to be written. systemd lets it count with \
                         DefaultIOAccounting=yes in /etc/systemd/system.conf.";

/// Where nothing reached the device.
const NOTHING: &str = "  Nothing reached the storage yet: Linux writes after up to 30 s. Watch for longer, with \
                       --time 5min.";

/// Why a process cannot be looked at.
const OTHERS: &str = "Some had ended, others belong to other users; root sees them";

/// The whole page about the device called `disk`, with what changed since an earlier watch; `command` is what root
/// would type to see all, where this is not root.
#[must_use]
pub fn page(disk: &str, command: Option<&str>, who: &Who, changes: &[Change]) -> String {
    let mut text = format!("Who writes to {disk}? Watched for {:.0} s.\n", who.seconds);
    let amplification = who.amplification.map_or_else(String::new, |ratio| {
        format!(", {ratio:.1} bytes for each byte that programs wrote")
    });
    // Writing to a string does not fail.
    let _ = writeln!(
        text,
        "  Written {}{}{amplification}; {}.\n",
        who.device_bytes,
        pace(who, who.bytes_a_day),
        flushes(who)
    );
    text.push_str(&synced(who));
    for writer in who.writers.iter().take(WRITERS_MAX) {
        let about = if writer.is_counted { "" } else { "about " };
        let _ = writeln!(
            text,
            "  {about}{:.0} %  {}: {}{} reached the device; its programs wrote {} in these {:.0} s",
            100.0 * writer.share,
            writer.name,
            writer.reached_bytes,
            pace(who, writer.bytes_a_day),
            writer.asked_bytes,
            who.seconds
        );
        let programs = programs(writer);
        if !programs.is_empty() {
            let _ = writeln!(text, "        {}", programs.join(", "));
        }
    }
    text.push_str(&unknown(who).unwrap_or_default());
    // An empty line parts it from the writers, and from the heading where there are none.
    let gap = if who.writers.is_empty() { "" } else { "\n" };
    let _ = match who.attributed {
        Some(share) => {
            writeln!(text, "{gap}  The writer of {:.0} % of it is known.", 100.0 * share)
        }
        None if who.device_bytes == Bytes::ZERO => writeln!(text, "{gap}{NOTHING}"),
        None => writeln!(text, "{gap}{ESTIMATED}"),
    };
    if who.hidden > 0 {
        let unseen = if who.writers.is_empty() {
            "It is not known who writes: no program could be seen. "
        } else {
            ""
        };
        let count = who.hidden;
        let processes = if count == 1 { "process" } else { "processes" };
        let who_sees = command.map_or_else(String::new, |command| format!(" {OTHERS}: {command}"));
        let _ = writeln!(text, "  {unseen}{count} {processes} could not be looked at.{who_sees}");
    } else if who.writers.iter().all(|writer| !writer.is_service()) {
        text.push_str(
            "  No program wrote while it was watched; the kernel and its journal may have.\n",
        );
    }
    text.push_str(&remedies(who));
    text.push_str(&saved(who, changes));
    text
}

/// `bytes_a_day` in brackets behind an amount; nothing where the watch was too short to say it of a day.
fn pace(who: &Who, bytes_a_day: Bytes) -> String {
    if who.seconds < DAY_FROM_S {
        return String::new();
    }
    format!(" ({bytes_a_day} a day at this pace)")
}

/// How often the storage was told to keep all that it had, with what that is.
fn flushes(who: &Who) -> String {
    const WHAT: &str = "a flush makes the storage keep all that was written so far";
    if who.seconds >= DAY_FROM_S {
        return format!("{:.0} flushes a minute ({WHAT})", who.flushes_a_minute);
    }
    let count = (who.flushes_a_minute * who.seconds / 60.0).round();
    let noun = if count == 1.0 { "flush" } else { "flushes" };
    format!("{count:.0} {noun} ({WHAT})")
}

/// Who makes the flushes, as far as somebody was seen waiting for them.
fn synced(who: &Who) -> String {
    let told: Vec<String> = who
        .synced
        .iter()
        .filter(|it| it.share >= SYNCS_MIN)
        .take(PROGRAMS_MAX)
        .map(|it| {
            format!(
                "{} (waits {:.0} % of the time, about {} flushes a minute)",
                it.program,
                100.0 * it.waiting,
                two_digits(it.flushes_a_minute)
            )
        })
        .collect();
    if !told.is_empty() {
        return format!(
            "  Synced writes, which slow a card most, come from {}.\n\n",
            told.join(", ")
        );
    }
    if who.flushes_a_minute < FLUSHES_MIN {
        return String::new();
    }
    "  No program was seen waiting for a flush, so it is not known which program asks for them.\n\n"
        .to_owned()
}

/// A count with two digits that tell something, such as `30000`.
fn two_digits(count: f64) -> u64 {
    let step = 10_f64.powf(count.max(1.0).log10().floor() - 1.0).max(1.0);
    ((count / step).round() * step) as u64
}

/// The share of which no writer is known, where shares are estimates; `None` where it rounds to nothing.
fn unknown(who: &Who) -> Option<String> {
    let is_estimate = who.attributed.is_none() && who.device_bytes > Bytes::ZERO;
    let known: f64 = who.writers.iter().map(|writer| writer.share).sum();
    let percent = 100.0 * (1.0 - known);
    let is_told = is_estimate && !who.writers.is_empty() && percent >= 0.5;
    is_told.then(|| format!("  about {percent:.0} %  not known\n"))
}

fn remedies(who: &Who) -> String {
    let mut told: Vec<String> = Vec::new();
    for writer in &who.writers {
        let Some(remedy) = writer.remedy else { continue };
        let words = match (&writer.remedy_for, remedy) {
            (Some(name), Remedy::DatabaseWriteAhead) => {
                format!("{name} (a database): {}", remedy_in_words(remedy))
            }
            _ => remedy_in_words(remedy).to_owned(),
        };
        if !told.contains(&words) {
            told.push(words);
        }
    }
    if told.is_empty() {
        return String::new();
    }
    let lines: String = told.iter().map(|words| format!("  - {words}\n")).collect();
    format!("\nNext (measure with --against whether it helped):\n{lines}")
}

/// The largest writers of a service, those that have ended by the program that started them.
fn programs(writer: &Writer) -> Vec<String> {
    let seen = writer.programs.iter().map(|(program, bytes)| (*bytes, program.clone()));
    let ended = writer.ended_programs.iter().map(|(program, bytes)| {
        (*bytes, format!("programs that have ended (started by {program})"))
    });
    let mut all: Vec<(Bytes, String)> = seen.chain(ended).collect();
    all.sort_by_key(|(bytes, _)| Reverse(*bytes));
    let more = all.len().saturating_sub(PROGRAMS_MAX);
    let told = all.into_iter().take(PROGRAMS_MAX);
    let told = told.map(|(bytes, words)| format!("{words} {bytes}"));
    told.chain((more > 0).then(|| format!("and {more} more (--json lists them)"))).collect()
}

/// A remedy as an instruction without its full stop.
#[must_use]
pub const fn remedy_in_words(remedy: Remedy) -> &'static str {
    match remedy {
        Remedy::JournalInMemory => "Storage=volatile in /etc/systemd/journald.conf",
        Remedy::LogsInMemory => "logs in memory: log2ram, or no rsyslog beside the journal",
        Remedy::SwapOffStorage => {
            "move swap off the storage (zram), or set a smaller vm.swappiness"
        }
        Remedy::DatabaseWriteAhead => "a write-ahead log, fewer commits, or another device",
        Remedy::LongerCommit => "mount with noatime and a longer commit=, such as commit=60",
        Remedy::ContainerVolumes => "containers: put what they write into volumes elsewhere",
    }
}

fn saved(who: &Who, changes: &[Change]) -> String {
    // A short watch tells the same pace by the second.
    let (unit, units_a_day) =
        if who.seconds >= DAY_FROM_S { ("a day", 1) } else { ("a second", 86_400) };
    let in_unit = |bytes_a_day: Bytes| Bytes(bytes_a_day.get() / units_a_day);
    let mut text = String::new();
    for change in changes.iter().filter(|change| change.is_told) {
        let head = if text.is_empty() { "\nMeasured against the earlier watch:\n" } else { "" };
        let name = change.name.as_deref().unwrap_or("all");
        let _ = writeln!(
            text,
            "{head}  {name}: {} {unit} before, {} now",
            in_unit(change.before),
            in_unit(change.now)
        );
    }
    if text.is_empty() && !changes.is_empty() {
        text.push_str("\nNo change of 5 % or more against the earlier watch.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use cardproof_rating::who::{ProgramWrites, Watched, who};

    use super::page;

    #[test]
    fn what_ended_programs_wrote_is_said_of_them_and_not_of_who_started_them() {
        let of = |program: &str, is_of_ended, bytes| ProgramWrites {
            program: program.to_owned(),
            is_of_ended,
            asked_bytes: bytes,
            dirtied_bytes: bytes,
            ..ProgramWrites::default()
        };
        let programs =
            vec![of("bash", false, 512), of("bash", true, 40 << 20), of("dd", false, 80 << 20)];
        let seen =
            Watched { seconds: 6.0, programs, device_bytes: 120 << 20, ..Watched::default() };
        let text = page("vda", None, &who(&seen), &[]);
        let expected = "  about 100 %  programs outside services: 120 MiB reached the device; its programs wrote 120.0 MiB in these 6 s\n        \
                        dd 80 MiB, programs that have ended (started by bash) 40 MiB, bash 512 bytes\n";
        assert!(text.contains(expected), "{text}");
        assert!(!text.contains("a day"), "six seconds are no day: {text}");
        let long = page("vda", None, &who(&Watched { seconds: 600.0, ..seen }), &[]);
        assert!(long.contains("Written 120 MiB (16.9 GiB a day at this pace)"), "{long}");
    }

    #[test]
    fn an_estimate_says_which_share_has_no_known_writer() {
        let program = ProgramWrites {
            program: "dd".to_owned(),
            asked_bytes: 84 << 20,
            dirtied_bytes: 84 << 20,
            ..ProgramWrites::default()
        };
        let seen = Watched {
            seconds: 6.0,
            programs: vec![program],
            hidden: 3,
            device_bytes: 100 << 20,
            ..Watched::default()
        };
        let text = page("vda", None, &who(&seen), &[]);
        assert!(
            text.contains("  about 84 %  ") && text.contains("  about 16 %  not known\n"),
            "{text}"
        );
        let text = page("vda", None, &who(&Watched { hidden: 0, ..seen }), &[]);
        assert!(!text.contains("%  not known"), "{text}");
    }

    #[test]
    fn where_no_program_can_be_seen_the_command_that_would_is_named() {
        let seen = Watched { seconds: 20.0, hidden: 7, device_bytes: 4096, ..Watched::default() };
        let command = Some("sudo cardproof watch --who .");
        let text = page("vda", command, &who(&seen), &[]);
        assert!(text.contains("It is not known who writes: no program could be seen"), "{text}");
        assert!(text.contains("sudo cardproof watch --who .\n"), "{text}");
        // The kernel may keep a process even from root; that it had ended is not known.
        let of_root = page("vda", None, &who(&Watched { hidden: 1, ..seen.clone() }), &[]);
        assert!(of_root.ends_with("1 process could not be looked at.\n"), "{of_root}");
        let text = page("vda", command, &who(&Watched { hidden: 0, ..seen }), &[]);
        assert!(text.contains("No program wrote") && !text.contains("sudo"), "{text}");
    }
}
