//! Which outputs of a text are of one card: a record must hold them all, and none of another card.
//!
//! The text is cut wherever another card can begin: at headings, at the kernel's message of a card, at
//! another device, and at sentences before an output. Each part is read by itself. Then parts are put
//! together again where nothing speaks for another card: a heading of its own, another device, or a
//! sentence before a measurement that the card already has.

use std::borrow::Cow;
use std::collections::HashSet;

use cardproof_record::{CardInfo, DeviceInfo};
use cardproof_units::Bytes;

use super::draft::{PhaseDraft, RecordDraft};
use super::labels::{self, Between};
use super::lines::Line;
use super::readers::{
    Marks, agnostics, as_ssd, crystaldiskmark, dd, f3, fio, h2testw, hdparm, ioping, iozone,
    kdiskmark, sbc_bench, sd_bench,
};
use super::refusals::check_count;
use super::text::{kernel_name, number};
use super::view::View;
use super::whole;
use super::{ForeignTool, ImportError};

/// What begins a part of a text.
#[derive(Clone, Debug, PartialEq)]
enum Boundary<'l> {
    /// The text's beginning.
    Start,
    /// A heading that speaks of no test.
    Heading(Cow<'l, str>),
    /// The kernel's message of a card.
    Kernel(Box<DeviceInfo>),
    /// A device in a list of devices, which no measurement follows.
    Listed,
    /// A line that names a device, before what was measured on it; the kernel's name where the output
    /// does not repeat it.
    Device(Option<String>),
    /// A sentence, or a heading of a test, before an output.
    Weak(&'l str),
}

/// A part of a text: its lines, and which readers know them.
struct Part<'l, 't> {
    boundary: Boundary<'l>,
    /// The index of its first line.
    start: usize,
    lines: &'l [Line<'t>],
    marks: Marks,
}

/// The cards in `lines` as drafts of records, and the outputs that were refused.
///
/// # Errors
/// There is none; the first refusal, or that nothing is known; or there are too many measurements.
pub(super) fn read(
    text: &str,
    lines: &[Line],
    tool: Option<ForeignTool>,
) -> Result<(Vec<RecordDraft>, Vec<ImportError>), ImportError> {
    let marks: Vec<Marks> = lines.iter().map(|line| Marks::of(&line.text, tool)).collect();
    let whole = whole::read(text, lines, &marks, tool);
    let mut cards = Cards::default();
    for (_, draft) in &whole {
        cards.measurements += draft.measurements().max(1);
        check_count(cards.measurements)?;
    }
    let mut refused = Vec::new();
    cut(lines, &marks, &mut |part| {
        let mut draft = read_part(&part, &mut refused)?;
        if let (Boundary::Device(Some(name)), Some(draft)) = (&part.boundary, &mut draft) {
            draft.conditions.device.name.get_or_insert_with(|| name.clone());
        }
        cards.at = part.start;
        cards.add(part.boundary, draft)
    })?;
    let drafts = with_whole(cards.starts.into_iter().zip(cards.drafts).collect(), whole);
    if drafts.is_empty() {
        return Err(refused.into_iter().next().unwrap_or(ImportError::Unrecognised));
    }
    Ok((drafts, refused))
}

/// The drafts of both in the order of the text. What was found of a device leads the record of what was
/// measured on it, where both name the device and nothing else does.
fn with_whole(
    mut cards: Vec<(usize, RecordDraft)>,
    whole: Vec<(usize, RecordDraft)>,
) -> Vec<RecordDraft> {
    for (at, draft) in whole {
        let name = draft.conditions.device.name.as_deref().map(whole_name);
        let is_its = |(_, card): &(usize, RecordDraft)| {
            name.is_some() && card.conditions.device.name.as_deref().map(whole_name) == name
        };
        let mut own = (0..cards.len()).filter(|index| is_its(&cards[*index]));
        match (own.next(), own.next()) {
            (Some(only), None) if draft.phases.is_empty() => cards[only].1.absorb(draft),
            _ => cards.push((at, draft)),
        }
    }
    cards.sort_by_key(|(at, _)| *at);
    cards.into_iter().map(|(_, draft)| draft).collect()
}

/// What the readers find in a part.
///
/// # Errors
/// There are too many measurements. Other errors are added to `refused`.
fn read_part(
    part: &Part<'_, '_>,
    refused: &mut Vec<ImportError>,
) -> Result<Option<Box<RecordDraft>>, ImportError> {
    let mut found: Option<Box<RecordDraft>> = None;
    for reader in part.marks.readers() {
        match (reader.read)(part.lines) {
            Ok(mut draft) => {
                if reader.is_script {
                    part.lines.iter().for_each(Line::claim);
                }
                refused.extend(draft.refused.take());
                draft.sign(reader.tool);
                match &mut found {
                    Some(found) => found.absorb(draft),
                    None => found = Some(Box::new(draft)),
                }
            }
            Err(error @ ImportError::TooMany { .. }) => return Err(error),
            Err(error) => refused.push(error),
        }
    }
    Ok(found.filter(|found| found.has_content()))
}

/// Cuts `lines` into parts and hands each to `take`, in order.
fn cut<'l, 't>(
    lines: &'l [Line<'t>],
    marks: &'l [Marks],
    take: &mut dyn FnMut(Part<'l, 't>) -> Result<(), ImportError>,
) -> Result<(), ImportError> {
    let all = marks.iter().copied().fold(Marks::default(), Marks::with);
    let mut cutter = Cutter {
        lines,
        marks,
        take,
        is_script: all.are_of_script(),
        start: None,
        sentence: None,
        has_sign: false,
        is_listing: false,
        is_banner: false,
    };
    for (index, (line, mark)) in lines.iter().zip(marks).enumerate() {
        let view = View::of(&line.text);
        if line.is_claimed() && device_of_kernel(&view).is_none() {
            continue;
        }
        if sbc_bench::is_sign(&view) {
            cutter.push(index, Boundary::Listed)?;
            cutter.is_listing = true;
        } else if !mark.is_empty() {
            cutter.at_sign(index, &view, *mark)?;
        } else if let Some(heading) = labels::underlined(line, lines.get(index + 1)) {
            cutter.at_heading(index, heading)?;
        } else {
            cutter.at_other(index, &view)?;
        }
    }
    cutter.finish()
}

/// Finds where parts start.
struct Cutter<'l, 't, 'f> {
    lines: &'l [Line<'t>],
    marks: &'l [Marks],
    take: &'f mut dyn FnMut(Part<'l, 't>) -> Result<(), ImportError>,
    /// Whether the text is a script's, whose output is not cut at sentences.
    is_script: bool,
    /// Where the present part starts, and what begins it, once a start was found.
    start: Option<(usize, Boundary<'l>)>,
    /// The last sentence, if no output has begun since.
    sentence: Option<(usize, &'l str)>,
    /// Whether a sign was seen since the last start.
    has_sign: bool,
    is_listing: bool,
    /// Whether a banner was seen and not yet the table below it.
    is_banner: bool,
}

impl<'l> Cutter<'l, '_, '_> {
    fn push(&mut self, index: usize, boundary: Boundary<'l>) -> Result<(), ImportError> {
        let is_weaker = matches!(boundary, Boundary::Device(_) | Boundary::Weak(_));
        // A heading over a device's name says more than that name.
        if is_weaker && !self.has_sign && self.start.is_some() && !self.is_listing {
            return Ok(());
        }
        self.end_part(index)?;
        self.start = Some((index, boundary));
        (self.sentence, self.has_sign, self.is_listing) = (None, false, false);
        Ok(())
    }

    /// Hands over the part that ends before the line at `end`.
    fn end_part(&mut self, end: usize) -> Result<(), ImportError> {
        let (start, boundary) = match self.start.take() {
            Some(start) => start,
            None if end > 0 => (0, Boundary::Start),
            None => return Ok(()),
        };
        let marks = self.marks[start..end].iter().copied().fold(Marks::default(), Marks::with);
        (self.take)(Part { boundary, start, lines: &self.lines[start..end], marks })
    }

    fn finish(&mut self) -> Result<(), ImportError> {
        self.end_part(self.lines.len())
    }

    fn at_sign(&mut self, index: usize, view: &View, mark: Marks) -> Result<(), ImportError> {
        if self.is_listing {
            self.push(index, Boundary::Weak(""))?;
        } else if hdparm::is_of_device(view) {
            self.push(index, Boundary::Device(None))?;
        }
        if let Some((at, text)) = self.sentence.take()
            && !self.is_script
            && mark.readers().any(|reader| (reader.is_start)(view))
        {
            self.push(at, Boundary::Weak(text))?;
        }
        self.has_sign = true;
        self.is_banner = iozone::is_banner(view);
        Ok(())
    }

    fn at_other(&mut self, index: usize, view: &View<'l>) -> Result<(), ImportError> {
        if let Some(name) = labels::in_table_heading(view) {
            return self.push(index, Boundary::Heading(Cow::Owned(name)));
        }
        if let Some(device) = device_of_kernel(view) {
            // A name on a line of its own stands before what the kernel says of the card.
            let has_heading =
                !self.has_sign && matches!(self.start, Some((_, Boundary::Heading(_))));
            let named = self.sentence.take().filter(|(_, text)| labels::names_card(text));
            if let Some((at, name)) = named.filter(|_| !has_heading) {
                self.push(at, Boundary::Heading(Cow::Borrowed(name)))?;
            }
            return self.push(index, Boundary::Kernel(Box::new(device)));
        }
        if self.is_script {
            return match labels::between(view) {
                Between::Heading(name) => self.push(index, Boundary::Heading(Cow::Borrowed(name))),
                Between::Prose(_) | Between::Noise => Ok(()),
            };
        }
        if view.text.strip_suffix(':').and_then(kernel_name).is_some() {
            return self.push(index, Boundary::Device(None));
        }
        if let Some(name) = dd::device_in(view).or_else(|| fio::device_in(view)) {
            return self.push(index, Boundary::Device(Some(name)));
        }
        let between = labels::between(view);
        if self.is_banner
            || between == Between::Noise
            || labels::is_repeat(view.text)
            || is_of_output(view)
        {
            return Ok(());
        }
        match between {
            Between::Heading(heading) => self.at_heading(index, heading)?,
            Between::Prose(text) => self.sentence = Some((index, text)),
            Between::Noise => {}
        }
        Ok(())
    }

    fn at_heading(&mut self, index: usize, heading: &'l str) -> Result<(), ImportError> {
        if !self.is_script && labels::is_about_test(heading) {
            return self.push(index, Boundary::Weak(heading));
        }
        self.push(index, Boundary::Heading(Cow::Borrowed(heading)))
    }
}

/// Whether a line without a sign is of a tool's output all the same, and no sentence about a card.
fn is_of_output(view: &View) -> bool {
    const PARTS: [fn(&View) -> bool; 4] =
        [fio::is_part, ioping::is_part, kdiskmark::is_part, sd_bench::is_talk];
    const TALK: [fn(&str) -> bool; 6] = [
        as_ssd::is_part,
        iozone::is_of_banner,
        f3::is_talk,
        h2testw::is_finding,
        agnostics::is_talk,
        crystaldiskmark::is_part,
    ];
    PARTS.iter().any(|is_part| is_part(view)) || TALK.iter().any(|is_talk| is_talk(view.text))
}

/// The device in a message of the kernel.
fn device_of_kernel(view: &View) -> Option<DeviceInfo> {
    let (device, product, size, unit) = labels::card_of_kernel(view)?;
    let unit = match unit {
        "MiB" => 1_048_576.0,
        "TiB" => 1_099_511_627_776.0,
        "GiB" => 1_073_741_824.0,
        // Kernels before 4.5 print powers of 1024 under these names.
        "MB" => 1_048_576.0,
        _ => 1_073_741_824.0,
    };
    let size = number(size).map(|size| Bytes((size * unit) as u64));
    let card = CardInfo { product: Some(product.to_owned()), ..CardInfo::default() };
    Some(DeviceInfo {
        name: Some(device.to_owned()),
        size_bytes: size,
        card: Some(card),
        ..DeviceInfo::default()
    })
}

/// The cards found by now.
#[derive(Default)]
struct Cards {
    drafts: Vec<RecordDraft>,
    /// Where each begins.
    starts: Vec<usize>,
    /// Where the present part begins.
    at: usize,
    /// What the last card was measured by.
    shapes: HashSet<String>,
    /// Whether the next output is of another card in any case.
    is_closed: bool,
    heading: Option<String>,
    device: Option<Box<DeviceInfo>>,
    /// The last sentence or heading of a test.
    sentence: String,
    measurements: usize,
}

impl Cards {
    fn add(
        &mut self,
        boundary: Boundary<'_>,
        draft: Option<Box<RecordDraft>>,
    ) -> Result<(), ImportError> {
        let is_listed = boundary == Boundary::Listed;
        let is_weak = matches!(boundary, Boundary::Weak(_));
        let mut sentence = None;
        match boundary {
            Boundary::Start | Boundary::Device(_) => {}
            Boundary::Listed => self.is_closed = true,
            Boundary::Heading(heading) => {
                if !labels::is_repeat(&heading) && self.heading.as_deref() != Some(&*heading) {
                    self.heading = Some(heading.into_owned());
                    (self.is_closed, self.device) = (true, None);
                }
            }
            Boundary::Kernel(device) => {
                if self.device.as_ref() != Some(&device) {
                    (self.is_closed, self.device) = (true, Some(device));
                }
            }
            Boundary::Weak(text) => sentence = Some(text),
        }
        let Some(draft) = draft else { return Ok(()) };
        // What describes a device and measures nothing is a record too.
        self.measurements += draft.measurements().max(1);
        check_count(self.measurements)?;
        let shapes: Vec<String> = draft.phases.iter().map(PhaseDraft::name).collect();
        let is_repeat = is_weak && self.is_another(sentence, &shapes);
        let is_joined = !self.is_closed && !is_repeat && !self.is_other_device(&draft);
        match self.drafts.last_mut().filter(|_| is_joined) {
            Some(last) => last.absorb(*draft),
            None => self.begin(*draft, sentence, is_repeat),
        }
        self.shapes.extend(shapes);
        self.sentence = sentence.unwrap_or_default().to_owned();
        self.is_closed = is_listed;
        Ok(())
    }

    /// Whether an output after a sentence measures again what the last card has: another card, unless
    /// the sentence counts repeats.
    fn is_another(&self, sentence: Option<&str>, shapes: &[String]) -> bool {
        let sentence = sentence.unwrap_or_default();
        shapes.iter().any(|shape| self.shapes.contains(shape))
            && !labels::is_repeat(sentence)
            && !labels::is_only_about_test(sentence)
            && !labels::is_same_but_count(sentence, &self.sentence)
    }

    fn is_other_device(&self, draft: &RecordDraft) -> bool {
        let last = self.drafts.last().and_then(|last| last.conditions.device.name.as_deref());
        let next = draft.conditions.device.name.as_deref();
        last.zip(next).is_some_and(|(last, next)| whole_name(last) != whole_name(next))
    }

    fn begin(&mut self, mut draft: RecordDraft, sentence: Option<&str>, is_repeat: bool) {
        self.shapes.clear();
        if is_repeat {
            // The heading named the card before.
            self.heading = None;
        }
        let name = sentence.filter(|text| labels::is_name(text) || is_repeat);
        let label = self.heading.as_deref().or(name).and_then(labels::name);
        draft.label = draft.label.take().or(label);
        if let Some(device) = &self.device {
            let own = std::mem::take(&mut draft.conditions.device);
            let is_same = own.name.as_deref().is_none_or(|name| {
                device.name.as_deref().is_none_or(|known| whole_name(known) == whole_name(name))
            });
            draft.conditions.device = if !is_same {
                own
            } else {
                DeviceInfo {
                    name: own.name.or_else(|| device.name.clone()),
                    size_bytes: own.size_bytes.or(device.size_bytes),
                    card: own.card.or_else(|| device.card.clone()),
                    ..own
                }
            };
        }
        self.drafts.push(draft);
        self.starts.push(self.at);
    }
}

/// A block device's name without its partition: `mmcblk0` of `mmcblk0p2`, `sda` of `sda1`.
fn whole_name(name: &str) -> &str {
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let has_number =
        name.starts_with("mmcblk") || name.starts_with("nvme") || name.starts_with("loop");
    match digits.strip_suffix('p') {
        Some(device) if has_number && digits.len() < name.len() => device,
        _ if has_number => name,
        _ => digits,
    }
}
