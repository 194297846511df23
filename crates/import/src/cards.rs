//! Which outputs of a text are of one card: a record must hold them all, and none of another card.
//!
//! The text is cut wherever another card can begin: at headings, at the kernel's message of a card, at
//! another device, and at sentences before an output. Each part is read by itself. Then parts are put
//! together again where nothing speaks for another card: a heading of its own, another device, or a
//! sentence before a measurement that the card already has.

mod kinds;
mod part;

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use cardproof_record::{DeviceInfo, Stated};

use super::draft::{PhaseDraft, RecordDraft};
use super::labels::{self, Between};
use super::lines::Line;
use super::readers::{Marks, crystaldiskmark, dd, fio, h2testw, hdparm, iozone, sbc_bench};
use super::refusals::check_count;
use super::text::kernel_name;
use super::view::View;
use super::whole;
use super::{ForeignTool, ImportError};
use kinds::{device_of_kernel, is_banner, is_command, is_of_output, whole_name};

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
    /// The banner of another report of a tool that prints one for each.
    Banner,
}

/// A part of a text: its lines, and which readers know them.
struct Part<'l, 't> {
    boundary: Boundary<'l>,
    /// The index of its first line.
    start: usize,
    /// The device that a command in it names.
    device: Option<String>,
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
    let marks: Vec<Marks> = lines.iter().map(|line| Marks::of(line, tool)).collect();
    let whole = whole::read(text, lines, &marks, tool)?;
    let mut cards = Cards::default();
    for (_, draft) in &whole {
        cards.measurements += draft.measurements().max(1);
        check_count(cards.measurements)?;
    }
    let mut refused = Vec::new();
    cut(lines, &marks, &mut |part| {
        let mut draft = part::read(&part, &mut refused)?;
        let named = match &part.boundary {
            Boundary::Device(Some(name)) => Some(name),
            _ => part.device.as_ref(),
        };
        if let (Some(name), Some(draft)) = (named, &mut draft) {
            draft.conditions.device.name.get_or_insert_with(|| name.clone());
        }
        cards.at = part.start;
        cards.add(part.boundary, draft)
    })?;
    let drafts = with_whole(cards.starts.into_iter().zip(cards.drafts).collect(), whole);
    if drafts.is_empty() {
        let first = refused.into_iter().next();
        return Err(first.unwrap_or_else(|| ImportError::unrecognised(lines)));
    }
    Ok((drafts, refused))
}

/// The drafts of both in the order of the text. What was found of a device leads the record of what was
/// measured on it, where both name the device and nothing else does.
fn with_whole(
    mut cards: Vec<(usize, RecordDraft)>,
    whole: Vec<(usize, RecordDraft)>,
) -> Vec<RecordDraft> {
    let key = |draft: &RecordDraft| {
        let name = draft.conditions.device.name.as_deref().map(whole_name).map(str::to_owned);
        (name, draft.tools.clone())
    };
    let keys: Vec<_> = whole.iter().map(|(_, draft)| key(draft)).collect();
    for (at, draft) in whole {
        let name = draft.conditions.device.name.as_deref().map(whole_name);
        // Two devices had the name one after the other.
        let is_again = keys.iter().filter(|other| **other == key(&draft)).count() > 1;
        let is_its = |(_, card): &(usize, RecordDraft)| {
            name.is_some() && card.conditions.device.name.as_deref().map(whole_name) == name
        };
        let mut own = (0..cards.len()).filter(|index| is_its(&cards[*index]));
        match (own.next(), own.next()) {
            (Some(only), None) if draft.phases.is_empty() && !is_again => {
                cards[only].1.absorb(draft);
            }
            _ => cards.push((at, draft)),
        }
    }
    cards.sort_by_key(|(at, _)| *at);
    cards.into_iter().map(|(_, draft)| draft).collect()
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
        command: None,
        device: None,
        report: None,
        has_speed: false,
        is_disk_mark: false,
        has_sign: false,
        is_listing: false,
        is_banner: false,
    };
    for (index, (line, mark)) in lines.iter().zip(marks).enumerate() {
        let view = line.view();
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

/// Where a report of a tool with banners stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Report {
    /// At its last lines.
    Ended,
    /// Another one may begin at this line.
    Begun(usize),
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
    /// The first command since the last output, which tells of the next one.
    command: Option<usize>,
    /// The device that a command below the present part's start names.
    device: Option<String>,
    /// Where the next report of a tool with banners begins, when one has ended.
    report: Option<Report>,
    /// Whether a speed of h2testw was seen since the last start.
    has_speed: bool,
    /// Whether the last sign was that of `CrystalDiskMark`.
    is_disk_mark: bool,
    /// Whether a sign was seen since the last start.
    has_sign: bool,
    is_listing: bool,
    /// Whether a banner was seen and not yet the table below it.
    is_banner: bool,
}

impl<'l> Cutter<'l, '_, '_> {
    fn push(&mut self, index: usize, boundary: Boundary<'l>) -> Result<(), ImportError> {
        let is_weaker =
            matches!(boundary, Boundary::Device(_) | Boundary::Weak(_) | Boundary::Banner);
        // A name over a device's name begins the part.
        if let Boundary::Device(_) = boundary
            && let Some((at, text)) = self.sentence.take_if(|(_, text)| labels::is_name(text))
            && !self.is_script
        {
            self.push(at, Boundary::Weak(text))?;
        }
        // A heading over a device's name says more than that name.
        if is_weaker && !self.has_sign && self.start.is_some() && !self.is_listing {
            if let Boundary::Device(Some(name)) = boundary {
                self.device.get_or_insert(name);
            }
            return Ok(());
        }
        // A command stands before the words over its output.
        let index = match (&boundary, self.command.take()) {
            (Boundary::Weak(_), Some(command)) => command.min(index),
            _ => index,
        };
        if is_weaker && self.start.is_none() && !self.has_sign {
            self.start = Some((0, boundary));
        } else {
            self.end_part(index)?;
            self.start = Some((index, boundary));
        }
        (self.report, self.has_speed, self.is_disk_mark) = (None, false, false);
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
        let device = self.device.take();
        (self.take)(Part { boundary, start, device, lines: &self.lines[start..end], marks })
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
            && (labels::begins_card(text) || mark.readers().any(|reader| (reader.is_start)(view)))
        {
            self.push(at, Boundary::Weak(text))?;
        } else if !self.is_script && self.has_sign {
            match self.report {
                Some(Report::Begun(at)) => self.push(at, Boundary::Banner)?,
                Some(Report::Ended) => self.push(index, Boundary::Banner)?,
                None if is_banner(view) || self.has_speed && h2testw::is_start(view) => {
                    self.push(index, Boundary::Banner)?;
                }
                None => {}
            }
        }
        self.has_sign = true;
        (self.command, self.report) = (None, None);
        self.has_speed |= h2testw::is_speed(view.text);
        self.is_disk_mark = crystaldiskmark::is_sign(view);
        self.is_banner = iozone::is_banner(view);
        Ok(())
    }

    /// Notes where a report of a tool with banners ends, and what comes behind it.
    fn note_report(&mut self, index: usize, view: &View) {
        let is_end = crystaldiskmark::is_end(view.text);
        self.report = match self.report {
            _ if is_end && self.is_disk_mark => Some(Report::Ended),
            Some(Report::Ended) => Some(Report::Begun(index)),
            other => other,
        };
    }

    fn at_other(&mut self, index: usize, view: &View<'l>) -> Result<(), ImportError> {
        self.note_report(index, view);
        if is_command(view) {
            self.command.get_or_insert(index);
        }
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

/// The bits of what a tool states of a phase, by which the same figures are found again.
type Rates = [Option<u64>; 4];

fn rates(stated: &Stated) -> Rates {
    let iops = [stated.iops, stated.read_iops, stated.write_iops].map(|it| Some(it?.0.to_bits()));
    let rate = stated.throughput_bytes_per_s.map(|it| it.0.to_bits());
    [iops[0], iops[1], iops[2], rate]
}

/// The cards found by now.
#[derive(Default)]
struct Cards {
    drafts: Vec<RecordDraft>,
    /// Where each begins.
    starts: Vec<usize>,
    /// Where the present part begins.
    at: usize,
    /// What the last card was measured by, and the different figures of each.
    shapes: HashMap<String, HashSet<Rates>>,
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
        let is_banner = boundary == Boundary::Banner;
        let mut sentence = None;
        match boundary {
            Boundary::Start | Boundary::Device(_) | Boundary::Banner => {}
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
        let rates: Vec<Rates> = draft.phases.iter().map(|phase| rates(&phase.stated)).collect();
        let is_repeat = is_weak && self.is_another(sentence, &shapes)
            || is_banner && self.is_other_result(&shapes, &rates);
        let is_joined = !self.is_closed && !is_repeat && !self.is_other_device(&draft);
        match self.drafts.last_mut().filter(|_| is_joined) {
            Some(last) => last.absorb(*draft),
            None => self.begin(*draft, sentence, is_repeat),
        }
        for (shape, rates) in shapes.into_iter().zip(rates) {
            self.shapes.entry(shape).or_default().insert(rates);
        }
        self.sentence = sentence.unwrap_or_default().to_owned();
        self.is_closed = is_listed;
        Ok(())
    }

    /// Whether an output after a sentence measures again what the last card has: another card, unless
    /// the sentence counts repeats.
    fn is_another(&self, sentence: Option<&str>, shapes: &[String]) -> bool {
        let sentence = sentence.unwrap_or_default();
        let has_again = shapes.iter().any(|shape| self.shapes.contains_key(shape));
        let known = self.heading.as_deref().unwrap_or(&self.sentence);
        (has_again || labels::names_other_product(sentence, known))
            && !labels::is_repeat(sentence)
            && !labels::is_only_about_test(sentence)
            && !labels::is_same_but_count(sentence, &self.sentence)
    }

    /// Whether a report behind a banner of its own has other figures of what the last card has: another
    /// card, for nothing says that the report was repeated.
    fn is_other_result(&self, shapes: &[String], rates: &[Rates]) -> bool {
        shapes.iter().zip(rates).any(|(shape, rates)| {
            self.shapes.get(shape).is_some_and(|known| !known.contains(rates))
        })
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
