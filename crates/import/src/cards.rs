//! Which outputs of a text are of one card: a record must hold them all, and none of another card.
//!
//! The text is cut wherever another card can begin: at headings, at the kernel's message of a card, at
//! another device, and at sentences before an output. Each part is read by itself. Then parts are put
//! together again where nothing speaks for another card: a heading of its own, another device, or a
//! sentence before a measurement that the card already has.

use std::collections::HashSet;

use cardproof_record::{CardInfo, DeviceInfo};
use cardproof_units::Bytes;

use super::draft::RecordDraft;
use super::labels::{self, Between};
use super::readers::{Marks, Reader};
use super::text::{Line, kernel_name, number};
use super::{
    ForeignTool, ImportError, MEASUREMENTS_MAX, agnostics, crystaldiskmark, dd, f3, fio, h2testw,
    hdparm, ioping, iozone, kdiskmark, sbc_bench, sd_bench,
};

/// What begins a part of a text.
#[derive(Clone, Debug, PartialEq)]
enum Boundary {
    /// The text's beginning.
    Start,
    /// A heading that speaks of no test.
    Heading(String),
    /// The kernel's message of a card.
    Kernel(Box<DeviceInfo>),
    /// A device in a list of devices, which no measurement follows.
    Listed,
    /// A line that names a device, before what was measured on it; the kernel's name where the output
    /// does not repeat it.
    Device(Option<String>),
    /// A sentence, or a heading of a test, before an output.
    Weak(String),
}

/// A part of a text: its lines, and which readers know them.
struct Part<'l, 't> {
    boundary: Boundary,
    lines: &'l [Line<'t>],
    marks: Marks,
}

/// The cards in `lines` as drafts of records, and the outputs that were refused.
///
/// # Errors
/// There is none; the first refusal, or that nothing is known.
pub(super) fn read(
    lines: &[Line],
    tool: Option<ForeignTool>,
) -> Result<(Vec<RecordDraft>, Vec<ImportError>), ImportError> {
    let marks: Vec<Marks> = lines.iter().map(|line| Marks::of(&line.text, tool)).collect();
    let mut cards = Cards::default();
    let mut refused = Vec::new();
    for part in parts(lines, &marks) {
        let mut draft = read_part(&part, &mut refused);
        if let (Boundary::Device(Some(name)), Some(draft)) = (&part.boundary, &mut draft) {
            draft.conditions.device.name.get_or_insert_with(|| name.clone());
        }
        cards.add(part.boundary, draft)?;
    }
    if cards.drafts.is_empty() {
        return Err(refused.into_iter().next().unwrap_or(ImportError::Unrecognised));
    }
    Ok((cards.drafts, refused))
}

/// What the readers find in a part.
fn read_part(part: &Part<'_, '_>, refused: &mut Vec<ImportError>) -> Option<RecordDraft> {
    let mut found: Option<RecordDraft> = None;
    for reader in part.marks.readers() {
        match read_with(reader, part.lines, refused) {
            Ok(mut draft) => {
                if reader.is_script {
                    part.lines.iter().for_each(Line::claim);
                }
                draft.sign(reader.tool);
                match &mut found {
                    Some(found) => found.absorb(draft),
                    None => found = Some(draft),
                }
            }
            Err(error) => refused.push(error),
        }
    }
    found.filter(RecordDraft::has_content)
}

/// So many outputs of one part are refused one by one, before all of them are.
const REFUSED_MAX: usize = 8;

/// What `reader` finds in `lines`. Where each line is an output by itself, one that contradicts itself
/// does not take the others with it.
fn read_with(
    reader: &Reader,
    lines: &[Line],
    refused: &mut Vec<ImportError>,
) -> Result<RecordDraft, ImportError> {
    let first = match (reader.read)(lines) {
        Err(error @ ImportError::Contradiction { .. }) if reader.tool.prints_lines() => error,
        result => return result,
    };
    let mut kept: Vec<(usize, Line)> = lines.iter().cloned().enumerate().collect();
    let mut errors = vec![first];
    while let Some(ImportError::Contradiction { line: number, .. }) = errors.last()
        && errors.len() <= REFUSED_MAX
    {
        kept.retain(|(_, line)| line.number != *number);
        let tried: Vec<Line> = kept.iter().map(|(_, line)| line.clone()).collect();
        match (reader.read)(&tried) {
            Ok(draft) => {
                let claimed = kept.iter().zip(&tried).filter(|(_, line)| line.is_claimed());
                claimed.for_each(|((index, _), _)| lines[*index].claim());
                refused.extend(errors);
                return Ok(draft);
            }
            Err(error) => errors.push(error),
        }
    }
    Err(errors.swap_remove(0))
}

/// `lines` cut into parts.
fn parts<'l, 't>(lines: &'l [Line<'t>], marks: &[Marks]) -> Vec<Part<'l, 't>> {
    let all = marks.iter().copied().fold(Marks::default(), Marks::with);
    let mut starts = Starts::default();
    let is_script = all.readers().iter().any(|reader| reader.is_script);
    for (index, (line, mark)) in lines.iter().zip(marks).enumerate() {
        if sbc_bench::is_device(&line.text) {
            starts.push(index, Boundary::Listed);
            starts.is_listing = true;
        } else if !mark.is_empty() {
            starts.at_sign(index, line, *mark, is_script);
        } else if let Some(heading) = labels::underlined(line, lines.get(index + 1)) {
            starts.at_heading(index, heading, is_script);
        } else {
            starts.at_other(index, line, is_script);
        }
    }
    starts.cut(lines, marks)
}

/// Where parts start.
#[derive(Default)]
struct Starts {
    starts: Vec<(usize, Boundary)>,
    /// The last sentence, if no output has begun since.
    sentence: Option<(usize, String)>,
    /// Whether a sign was seen since the last start.
    has_sign: bool,
    is_listing: bool,
    /// Whether a banner was seen and not yet the table below it.
    is_banner: bool,
}

impl Starts {
    fn push(&mut self, index: usize, boundary: Boundary) {
        let is_weaker = matches!(boundary, Boundary::Device(_) | Boundary::Weak(_));
        // A heading over a device's name says more than that name.
        if is_weaker && !self.has_sign && !self.starts.is_empty() && !self.is_listing {
            return;
        }
        self.starts.push((index, boundary));
        (self.sentence, self.has_sign, self.is_listing) = (None, false, false);
    }

    fn at_sign(&mut self, index: usize, line: &Line, mark: Marks, is_script: bool) {
        if self.is_listing {
            self.push(index, Boundary::Weak(String::new()));
        } else if hdparm::is_of_device(&line.text) {
            self.push(index, Boundary::Device(None));
        }
        let is_start = mark.readers().iter().any(|reader| (reader.is_start)(&line.text));
        if let Some((at, text)) = self.sentence.take()
            && is_start
            && !is_script
        {
            self.push(at, Boundary::Weak(text));
        }
        self.has_sign = true;
        self.is_banner = iozone::is_banner(&line.text);
    }

    fn at_other(&mut self, index: usize, line: &Line, is_script: bool) {
        let text = &line.text;
        if let Some(name) = labels::in_table_heading(text) {
            return self.push(index, Boundary::Heading(name));
        }
        if let Some(device) = device_of_kernel(text) {
            // A name on a line of its own stands before what the kernel says of the card.
            let has_heading =
                !self.has_sign && matches!(self.starts.last(), Some((_, Boundary::Heading(_))));
            let named = self.sentence.take().filter(|(_, text)| labels::names_card(text));
            if let Some((at, name)) = named.filter(|_| !has_heading) {
                self.push(at, Boundary::Heading(name));
            }
            return self.push(index, Boundary::Kernel(Box::new(device)));
        }
        if is_script {
            if let Between::Heading(heading) = labels::between(text) {
                self.push(index, Boundary::Heading(heading));
            }
            return;
        }
        if text.trim().strip_suffix(':').and_then(kernel_name).is_some() {
            return self.push(index, Boundary::Device(None));
        }
        if let Some(name) = dd::device_in(text).or_else(|| fio::device_in(text)) {
            return self.push(index, Boundary::Device(Some(name)));
        }
        if self.is_banner || labels::is_repeat(text) || is_of_output(text) {
            return;
        }
        match labels::between(text) {
            Between::Heading(heading) => self.at_heading(index, heading, is_script),
            Between::Prose(text) => self.sentence = Some((index, text)),
            Between::Noise => {}
        }
    }

    fn at_heading(&mut self, index: usize, heading: String, is_script: bool) {
        let is_weak = !is_script && labels::is_about_test(&heading);
        let boundary = if is_weak { Boundary::Weak } else { Boundary::Heading };
        self.push(index, boundary(heading));
    }

    fn cut<'l, 't>(self, lines: &'l [Line<'t>], marks: &[Marks]) -> Vec<Part<'l, 't>> {
        let mut starts = self.starts;
        if starts.first().is_none_or(|(index, _)| *index > 0) {
            starts.insert(0, (0, Boundary::Start));
        }
        let ends: Vec<usize> =
            starts.iter().skip(1).map(|(index, _)| *index).chain([lines.len()]).collect();
        let part = |((start, boundary), end): ((usize, Boundary), usize)| Part {
            boundary,
            lines: &lines[start..end],
            marks: marks[start..end].iter().copied().fold(Marks::default(), Marks::with),
        };
        starts.into_iter().zip(ends).map(part).collect()
    }
}

/// Whether a line without a sign is of a tool's output all the same, and no sentence about a card.
fn is_of_output(text: &str) -> bool {
    const PARTS: [fn(&str) -> bool; 9] = [
        iozone::is_of_banner,
        fio::is_part,
        ioping::is_part,
        f3::is_talk,
        h2testw::is_finding,
        agnostics::is_talk,
        kdiskmark::is_part,
        crystaldiskmark::is_part,
        sd_bench::is_talk,
    ];
    PARTS.iter().any(|is_part| is_part(text.trim()))
}

/// The device in a message of the kernel.
fn device_of_kernel(line: &str) -> Option<DeviceInfo> {
    let (device, product, size, unit) = labels::card_of_kernel(line)?;
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
    fn add(&mut self, boundary: Boundary, draft: Option<RecordDraft>) -> Result<(), ImportError> {
        let is_listed = boundary == Boundary::Listed;
        let is_weak = matches!(boundary, Boundary::Weak(_));
        let mut sentence = None;
        match boundary {
            Boundary::Start | Boundary::Device(_) => {}
            Boundary::Listed => self.is_closed = true,
            Boundary::Heading(heading) => {
                if !labels::is_repeat(&heading) && self.heading.as_ref() != Some(&heading) {
                    (self.is_closed, self.heading, self.device) = (true, Some(heading), None);
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
        self.measurements += draft.phases.len() + draft.figures.len();
        if self.measurements > MEASUREMENTS_MAX {
            return Err(ImportError::TooMany { limit: MEASUREMENTS_MAX });
        }
        let shapes: Vec<String> = draft.phases.iter().map(super::draft::PhaseDraft::name).collect();
        let is_repeat = is_weak && self.is_another(sentence.as_deref(), &shapes);
        let is_joined = !self.is_closed && !is_repeat && !self.is_other_device(&draft);
        match self.drafts.last_mut().filter(|_| is_joined) {
            Some(last) => last.absorb(draft),
            None => self.begin(draft, sentence.as_deref(), is_repeat),
        }
        self.shapes.extend(shapes);
        self.sentence = sentence.unwrap_or_default();
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
        last.zip(next).is_some_and(|(last, next)| whole(last) != whole(next))
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
                device.name.as_deref().is_none_or(|known| whole(known) == whole(name))
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
    }
}

/// A block device's name without its partition: `mmcblk0` of `mmcblk0p2`, `sda` of `sda1`.
fn whole(name: &str) -> &str {
    let digits = name.trim_end_matches(|c: char| c.is_ascii_digit());
    let has_number =
        name.starts_with("mmcblk") || name.starts_with("nvme") || name.starts_with("loop");
    match digits.strip_suffix('p') {
        Some(device) if has_number && digits.len() < name.len() => device,
        _ if has_number => name,
        _ => digits,
    }
}
