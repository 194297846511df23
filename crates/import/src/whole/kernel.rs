//! The kernel's messages as records: a device each, with what went wrong as its findings.
//!
//! What a log only tells of devices that had no trouble is no record.

use cardproof_kernel_log::{self as kernel_log, CardKind, DeviceLog, Event, Stamp};
use cardproof_record::{BusInfo, CardInfo, Feature, Transport};

use super::index_of;
use crate::ForeignTool;
use crate::draft::RecordDraft;
use crate::lines::Line;
use crate::view::Needle;

const TOOL: ForeignTool = ForeignTool::KernelLog;

/// A record for each device that had trouble, with the index of its first line.
pub(super) fn read(text: &str, lines: &[Line]) -> Vec<(usize, RecordDraft)> {
    let events: Vec<(&Line, Event<'_>)> =
        lines.iter().filter_map(|line| Some((line, event_in(line)?))).collect();
    if !events.iter().any(|(_, event)| event.kind.is_trouble()) {
        return Vec::new();
    }
    // The times that log daemons print are not part of the cleaned lines.
    let printed: Vec<&str> = text.lines().collect();
    let timed = events.into_iter().map(|(line, event)| {
        let clock = printed.get(line.number - 1).and_then(|raw| kernel_log::clock_before(raw));
        let clock = clock.filter(|clock| clock.contains(|c: char| c.is_ascii_digit()));
        (line.number, Event { stamp: clock.map(Stamp::Clock).or(event.stamp), ..event })
    });
    let log = kernel_log::read_events(timed);
    let mut found = Vec::new();
    for device in log.devices.iter().filter(|device| !device.troubles.is_empty()) {
        let first = device.troubles.iter().map(|it| it.line).min().unwrap_or(1);
        claim(lines, &device.lines);
        claim(lines, &device.troubles.iter().map(|it| it.line).collect::<Vec<_>>());
        found.push((index_of(lines, first), draft(device)));
    }
    if !log.others.is_empty() {
        let numbers: Vec<usize> = log.others.iter().map(|it| it.line).collect();
        claim(lines, &numbers);
        let first = numbers.iter().min().copied().unwrap_or(1);
        let nameless = DeviceLog::with_troubles(log.others);
        found.push((index_of(lines, first), draft(&nameless)));
    }
    found
}

fn claim(lines: &[Line], numbers: &[usize]) {
    for number in numbers {
        lines.get(index_of(lines, *number)).into_iter().for_each(Line::claim);
    }
}

/// No message is shorter, in bytes.
const MESSAGE_MIN: usize = 12;

/// The event in a line, which has one of the words without which no message is known.
fn event_in<'l>(line: &'l Line<'_>) -> Option<Event<'l>> {
    static NEEDLES: [Needle; kernel_log::WORDS.len()] = needles();
    if line.text.len() < MESSAGE_MIN {
        return None;
    }
    let view = line.view();
    for needle in &NEEDLES {
        if view.holds(needle) {
            return kernel_log::event(&line.text);
        }
    }
    None
}

const fn needles() -> [Needle; kernel_log::WORDS.len()] {
    let mut needles = [const { Needle::new("") }; kernel_log::WORDS.len()];
    let mut at = 0;
    while at < needles.len() {
        needles[at] = Needle::new(kernel_log::WORDS[at]);
        at += 1;
    }
    needles
}

/// How a card of this kind is attached.
const fn transport(kind: CardKind) -> Option<Transport> {
    match kind {
        CardKind::Sd => Some(Transport::Sd),
        CardKind::Mmc => Some(Transport::Mmc),
        CardKind::Sdio => None,
    }
}

/// The record of a device that had trouble.
fn draft(log: &DeviceLog) -> RecordDraft {
    let mut draft = RecordDraft::new(TOOL);
    let device = &mut draft.conditions.device;
    device.name = log.device.clone();
    device.size_bytes = log.card.size_bytes;
    let seen = &log.card;
    device.model = seen.name.clone();
    device.transport = seen.kind.and_then(transport);
    if seen.name.is_some() || seen.queue.is_some() {
        let command_queue = Feature { enabled: seen.queue, ..Feature::default() };
        let product = seen.name.clone();
        device.card = Some(CardInfo { product, command_queue, ..CardInfo::default() });
    }
    let mode = seen.mode.as_deref().filter(|mode| !mode.is_empty());
    if mode.is_some() || seen.clock_hz.is_some() || seen.width_bits().is_some() {
        let kind = match seen.kind {
            Some(CardKind::Mmc) => "mmc ",
            _ => "sd ",
        };
        device.bus = Some(BusInfo {
            mode: mode.map(|mode| format!("{kind}{mode}")),
            clock_hz: seen.clock_hz,
            width_bits: seen.width_bits(),
            source: Some("kernel log".to_owned()),
            ..BusInfo::default()
        });
    }
    for finding in log.findings() {
        draft.add_finding(finding);
    }
    draft
}
