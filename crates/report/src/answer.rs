//! The answer to the five questions, in words: one page for a terminal, and a short Markdown form.
//!
//! A page has at most 24 lines of 80 columns. Colour only repeats the verdict words. Statistics, phases and
//! conditions are a level down, in the report.

pub(crate) mod deciding;
mod document;
pub(crate) mod reserve;
pub(crate) mod steps;
pub(crate) mod words;

use anstyle::{AnsiColor, Style};
use cardproof_rating::answer::{Answer, Overall, Question, Real, SeenBeside, Standing};
use cardproof_record::{Conditions, Record, TargetKind};
use cardproof_units::Throughput;

use crate::clean::{Markdown, harmless, one_line};
use crate::columns::columns_of;
use crate::ended::ended;
use crate::facts::{file_on, title_of_device};
use crate::wrap::{sentence, wrap_into};
use reserve::{Reserve, reserve};

pub use document::CheckDocument;
pub use steps::Step;
pub use words::Reply;

/// The page is set in at most so many columns.
const WIDTH_MAX: usize = 80;

/// Below this there is no room for words.
const WIDTH_MIN: usize = 40;

/// The columns of the question and of the verdict word.
const QUESTION: usize = 11;
const VERDICT: usize = 14;

/// What a page of the answer shows.
#[derive(Clone, Copy, Debug)]
pub struct AnswerPage<'p> {
    /// The answer.
    pub answer: &'p Answer,
    /// The device and its computer.
    pub conditions: &'p Conditions,
    /// The target as a word of a shell.
    pub target: &'p str,
    /// Whether a saved copy of a computer was looked at, so that commands are for that computer.
    pub is_saved: bool,
    /// What the user calls the device.
    pub label: Option<&'p str>,
}

/// Stands for the target in the commands for a record, which holds no path.
pub(crate) const NO_TARGET: &str = "DIRECTORY";

/// What a record of a check holds of its page.
struct Checked<'r> {
    answer: Answer,
    conditions: &'r Conditions,
    target: &'r str,
    label: Option<&'r str>,
}

impl<'r> Checked<'r> {
    fn from_record(record: &'r Record) -> Option<Self> {
        SeenBeside::of_record(record)?;
        let answer = Answer::of_record(record)?;
        let device = record.conditions.device.name.as_deref();
        let target = device.filter(|_| record.is_simulated()).unwrap_or(NO_TARGET);
        let label = record.label.as_deref();
        Some(Self { answer, conditions: &record.conditions, target, label })
    }

    const fn page(&self) -> AnswerPage<'_> {
        let Self { answer, conditions, target, label } = self;
        AnswerPage { answer, conditions, target, is_saved: false, label: *label }
    }
}

/// The page that the check gave of which `record` is, for a terminal as [`AnswerPage::text`] says; `None` of another
/// record, and of one without a figure of the speed.
#[must_use]
pub fn check_text(record: &Record, width: u16, styled: bool) -> Option<String> {
    let checked = Checked::from_record(record)?;
    Some(checked.page().with_end(ended_in_words(record).as_deref(), width, styled))
}

/// The same as [`AnswerPage::markdown`] says.
#[must_use]
pub fn check_markdown(record: &Record) -> Option<String> {
    let text = Checked::from_record(record)?.page().markdown();
    let ended = ended_in_words(record).map(|ended| format!("- {ended}\n"));
    Some(text + &ended.unwrap_or_default())
}

/// The steps that the page of a check names, on a directory that the record does not hold; `None` of another record.
pub(crate) fn check_steps(record: &Record) -> Option<Vec<Step>> {
    Some(Checked::from_record(record)?.page().steps_in_words())
}

/// Whether `record` is of a check, whose page has the answer and the steps.
pub(crate) fn is_of_check(record: &Record) -> bool {
    SeenBeside::of_record(record).is_some() && !record.phases.is_empty()
}

/// That the run of `record` did not reach its end, where it did not.
pub(crate) fn ended_in_words(record: &Record) -> Option<String> {
    let ended = ended(&record.state)?;
    Some(format!("{}: not everything was tested", sentence(ended)))
}

pub(crate) const BOLD: Style = Style::new().bold();
const PLAIN: Style = Style::new();

pub(crate) const fn style_of(standing: Standing) -> Style {
    match standing {
        Standing::Good => AnsiColor::Green.on_default().bold(),
        Standing::Warning => AnsiColor::Yellow.on_default().bold(),
        Standing::Bad => AnsiColor::Red.on_default().bold(),
        Standing::Unknown => PLAIN,
    }
}

impl AnswerPage<'_> {
    /// The page for a terminal of `width` columns (40 to 80 are used), ending in a newline. Without
    /// `styled` it holds no escape sequence. Nothing of the device can bring one in.
    #[must_use]
    pub fn text(&self, width: u16, styled: bool) -> String {
        self.with_end(None, width, styled)
    }

    /// The same, with how the check `ended` below the name of the card, where it did not reach its end.
    fn with_end(&self, ended: Option<&str>, width: u16, styled: bool) -> String {
        let width = usize::from(width).clamp(WIDTH_MIN, WIDTH_MAX);
        let mut out = String::with_capacity(2048);
        wrap_into(&mut out, "", &self.device(), "  ", width);
        out.push('\n');
        if let Some(ended) = ended {
            wrap_into(&mut out, "  ", ended, "  ", width);
            out.push('\n');
        }
        if let Some(overall) = self.answer.overall {
            self.headline(&mut out, overall, width, styled);
            if let Some(reserve) = self.reserve() {
                wrap_into(&mut out, "  ", &reserve.unbroken(), "  ", width);
            }
            out.push('\n');
        }
        for reply in self.replies() {
            let question = format!("  {:<QUESTION$}", reply.question_in_words());
            let verdict = format!("{:<VERDICT$}", reply.verdict);
            out.push_str(&question);
            out.push_str(&painted(&verdict, style_of(reply.standing), styled));
            let used = columns_of(&question) + columns_of(&verdict);
            parts(&mut out, &reply.details, used, width);
        }
        self.steps(&mut out, width);
        out
    }

    /// A few lines of Markdown for a forum. Text of the device cannot make markup.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut lines = vec![format!("**{}**", Markdown(&self.device())), String::new()];
        if let Some(headline) = self.headline_in_words() {
            lines.extend([format!("**{headline}**"), String::new()]);
        }
        if let Some(reserve) = self.reserve() {
            lines.extend([Markdown(&reserve.to_string()).to_string(), String::new()]);
        }
        for reply in self.replies() {
            lines.push(format!(
                "- {} **{}** {}",
                reply.question_in_words(),
                reply.verdict,
                Markdown(&reply.details.join(" · "))
            ));
        }
        // What a fake holds stands in the reply about its capacity.
        let is_fake = matches!(self.answer.real, Some(Real::No { .. }));
        if let Some(quote) = words::quote_in_page(self.answer).filter(|_| !is_fake) {
            lines.push(format!("- {}", Markdown(&quote)));
        }
        lines.join("\n") + "\n"
    }

    /// What a script is told of each question beside its values.
    #[must_use]
    pub fn replies(&self) -> Vec<Reply> {
        let reply = |question| words::reply(self.answer, question, self.target);
        Question::ALL.into_iter().filter_map(reply).collect()
    }

    /// The headline, such as `GOOD FOR A SYSTEM`.
    #[must_use]
    pub fn headline_in_words(&self) -> Option<&'static str> {
        self.answer.overall.map(words::headline)
    }

    /// The reserve below the headline; `None` where the headline needs none.
    pub(crate) fn reserve(&self) -> Option<Reserve> {
        reserve(self.answer, self.conditions, self.target, self.is_saved)
    }

    /// The one figure to quote.
    #[must_use]
    pub fn quote_in_words(&self) -> Option<String> {
        words::quote(self.answer)
    }

    /// What to do next.
    #[must_use]
    pub fn steps_in_words(&self) -> Vec<Step> {
        self.answer.next.iter().map(|step| steps::step(*step, self.target, self.is_saved)).collect()
    }

    /// What the user calls the device, the device, its slot and its computer on one line.
    pub(crate) fn device(&self) -> String {
        let device = self.conditions.device.lowest();
        let made = device.card.as_ref().and_then(|card| card.manufactured.as_deref());
        let board = self.conditions.host.board.as_deref().map(one_line);
        let made = made.map_or_else(String::new, |made| format!(", made {}", one_line(made)));
        let simulated = if self.is_simulated() { " (simulated)" } else { "" };
        let label = self.label.map_or_else(String::new, |label| format!("{}: ", one_line(label)));
        let ceiling = device.link_ceiling_bytes_per_s.map(|bytes| Throughput(bytes as f64));
        let parts = [
            Some(format!("{label}{}{made}{simulated}", self.layered_title())),
            ceiling.map(|ceiling| format!("bus of at most {ceiling}")),
            board,
        ];
        parts.into_iter().flatten().collect::<Vec<_>>().join(" · ")
    }

    /// The device that was asked for, and the storage on which it rests.
    fn layered_title(&self) -> String {
        let device = &self.conditions.device;
        let title = match self.conditions.target.kind {
            TargetKind::File => file_on(&title_of_device(device)),
            _ => title_of_device(device),
        };
        match device.beneath {
            None => title,
            Some(_) => format!("{title} on {}", title_of_device(device.lowest())),
        }
    }

    fn is_simulated(&self) -> bool {
        self.conditions.target.kind == TargetKind::Simulated
    }

    fn headline(&self, out: &mut String, overall: Overall, width: usize, styled: bool) {
        let headline = words::headline(overall);
        let style = match words::standing(overall) {
            Standing::Unknown => BOLD,
            standing => style_of(standing),
        };
        out.push_str("  ");
        out.push_str(&painted(headline, style, styled));
        let Some(quote) = words::quote_in_page(self.answer) else {
            out.push('\n');
            return;
        };
        let used = 2 + columns_of(headline) + 3;
        if used + columns_of(&quote) <= width {
            out.push_str("   ");
            out.push_str(&quote);
            out.push('\n');
        } else {
            out.push('\n');
            wrap_into(out, "  ", &quote, "  ", width);
        }
    }

    fn steps(&self, out: &mut String, width: usize) {
        let steps = self.steps_in_words();
        if steps.is_empty() {
            return;
        }
        out.push('\n');
        for (number, step) in steps.iter().enumerate() {
            let label = if number == 0 { "  Next:" } else { "       " };
            let first = format!("{label} {}. ", number + 1);
            wrap_into(out, &first, &step.unbroken(), &" ".repeat(11), width);
        }
    }
}

/// Puts `details` behind the first `used` columns of a line. A part is broken only where it is longer than
/// a line.
fn parts(out: &mut String, details: &[String], used: usize, width: usize) {
    const BETWEEN: &str = " · ";
    let indent = " ".repeat(used + 1);
    let mut column = used;
    for (number, part) in details.iter().enumerate() {
        let length = columns_of(part);
        let between = if number == 0 { " " } else { BETWEEN };
        if number > 0 && column + columns_of(between) + length > width {
            out.push('\n');
            out.push_str(&indent);
            column = indent.len();
        } else {
            out.push_str(between);
            column += columns_of(between);
        }
        if column + length > width {
            let mut text = String::new();
            wrap_into(&mut text, &" ".repeat(column), part, &indent, width);
            out.push_str(text.trim());
        } else {
            out.extend(part.chars().map(harmless));
        }
        column += length;
    }
    out.push('\n');
}

pub(crate) fn painted(text: &str, style: Style, styled: bool) -> String {
    if styled && style != PLAIN { format!("{style}{text}{style:#}") } else { text.to_owned() }
}
