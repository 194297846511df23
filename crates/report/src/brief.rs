//! A record on one screen: the answer first, then what it rests on, the warnings and the next steps.
//!
//! Only what the run has tested is named. Every figure with its interval, every reason and every doubt is a
//! level down, in [`summary`](crate::summary) and the reports.

use anstyle::{AnsiColor, Style};
use cardproof_rating::answer::{
    Answer, Fast, Known, Overall, PowerFacts, Question, Standing, Untested,
};
use cardproof_rating::signs::{Seen, Signs};
use cardproof_rating::words::data::ALARM;
use cardproof_rating::{Grade, Purpose, wording};
use cardproof_record::{Outcome, Record, Verdict};

use crate::answer::NO_TARGET;
use crate::answer::reserve::reserve;
use crate::answer::words::{self, speed_word};
use crate::answer::{BOLD, ended_in_words, painted, style_of};
use crate::contents::{Contents, Ruling};
use crate::inventory::Entry;
use crate::lead::without_findings;
use crate::warnings::warnings;
use crate::wrap::wrap_into;

/// The text is set in at most so many columns.
const WIDTH_MAX: usize = 80;

/// Below this there is no room for words.
const WIDTH_MIN: usize = 40;

/// The columns of what is told of, and of the word that grades it.
const SUBJECT: usize = 20;
const GRADE: usize = 14;

/// At most so many lines of one test, warnings and steps.
const LINES_MAX: usize = 10;
const WARNINGS_MAX: usize = 2;
const STEPS_MAX: usize = 3;

/// The answer of `record` for a terminal of `width` columns (40 to 80 are used), ending in a newline. With
/// `styled`, verdict words are set in ANSI styles. Nothing of the record can bring an escape sequence in.
#[must_use]
pub fn brief(record: &Record, verdicts: &[Verdict], width: u16, styled: bool) -> String {
    let contents = Contents::from_record(record, verdicts);
    let width = usize::from(width).clamp(WIDTH_MIN, WIDTH_MAX);
    let mut page = Page { out: String::with_capacity(2048), width, styled };
    page.paragraph("", &contents.title);
    if let Some(ended) = ended_in_words(record) {
        page.gap();
        page.paragraph("  ", &ended);
    }
    page.lead(&contents);
    page.special(&contents);
    page.speed(record, &contents);
    page.warnings(&warnings(&without_findings(record)));
    page.steps(&contents.steps);
    page.out
}

/// A text being set.
struct Page {
    out: String,
    width: usize,
    styled: bool,
}

impl Page {
    fn gap(&mut self) {
        if !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    fn paragraph(&mut self, indent: &str, text: &str) {
        wrap_into(&mut self.out, indent, text, &format!("{indent}  "), self.width);
    }

    /// What is bad, and that data were wrong.
    fn lead(&mut self, contents: &Contents) {
        if let Some(lead) = &contents.lead {
            self.gap();
            self.headline(lead.headline, lead.standing, Some(&lead.what));
        }
        if let Some(alarm) = &contents.alarm {
            self.gap();
            self.paragraph("  ", &format!("{ALARM} {alarm}"));
        }
    }

    /// What was tested, how it is graded, and the figure behind it.
    fn line(&mut self, subject: &str, grade: &str, style: Style, figure: &str) {
        self.out.push_str(&format!("  {subject:<SUBJECT$}"));
        if figure.is_empty() {
            self.out.push_str(&painted(grade, style, self.styled));
            self.out.push('\n');
            return;
        }
        self.out.push_str(&painted(&format!("{grade:<GRADE$}"), style, self.styled));
        let indent = " ".repeat(2 + SUBJECT + GRADE);
        let mut text = String::new();
        wrap_into(&mut text, &indent, figure, &indent, self.width);
        self.out.push_str(text.trim_start());
    }

    /// The results of tests that have no rates of phases.
    fn special(&mut self, contents: &Contents) {
        for result in &contents.results {
            self.gap();
            for (number, line) in result.iter().take(LINES_MAX).enumerate() {
                self.paragraph(if number == 0 { "  " } else { "    " }, line);
            }
            if let Some(more @ 1..) = result.len().checked_sub(LINES_MAX) {
                let lines = if more == 1 { "line" } else { "lines" };
                self.paragraph("    ", &format!("{more} more {lines}: --details"));
            }
        }
    }

    /// Grades of the uses that were tested, and classes.
    fn speed(&mut self, record: &Record, contents: &Contents) {
        if contents.is_jobs_only || !contents.flushes.is_empty() {
            return;
        }
        if let Some(class) = only_class(record) {
            self.gap();
            self.classes(contents, Some(class));
            return;
        }
        // What was seen outside of the run is not asked here.
        let signs = Signs::new(&Seen::default());
        let known = Known {
            conditions: &record.conditions,
            speed: Some(record),
            capacity: record.capacity().map(|_| record),
            signs: &signs,
            power: PowerFacts::default(),
            untested: Untested::NotAsked,
            failure: None,
            earlier: None,
            mounts: &[],
        };
        // A fake is no good card, however fast it is.
        let answer = Answer::new(&known, &[Question::Real, Question::Fast]);
        self.gap();
        if let (None, Some(overall @ Overall::ForASystem(_))) = (&contents.lead, answer.overall) {
            let quote = words::quote_in_page(&answer);
            self.headline(words::headline(overall), words::standing(overall), quote.as_deref());
            if let Some(reserve) = reserve(&answer, &record.conditions, NO_TARGET, false) {
                self.paragraph("  ", &reserve.unbroken());
            }
            self.gap();
        }
        let Some(Fast::Measured { purposes, .. }) = &answer.fast else { return };
        let entry = Entry::of(record);
        for (purpose, grade) in purposes.iter().filter(|(_, grade)| *grade != Grade::Unknown) {
            self.line(
                subject(*purpose),
                graded(*purpose, *grade),
                style_of_grade(*grade),
                &figure(*purpose, &entry, contents),
            );
        }
        self.classes(contents, None);
        if let Some(recording) = contents.recording.as_ref().filter(|it| it.is_tested) {
            self.paragraph("  ", &recording.text);
        }
        for figure in contents.figures.iter().take(LINES_MAX) {
            self.paragraph("  ", figure);
        }
        if let Some(more @ 1..) = contents.figures.len().checked_sub(LINES_MAX) {
            self.paragraph("  ", &format!("{more} more figures: --details"));
        }
    }

    fn headline(&mut self, headline: &str, standing: Standing, quote: Option<&str>) {
        let style = if standing == Standing::Unknown { BOLD } else { style_of(standing) };
        self.out.push_str("  ");
        self.out.push_str(&painted(headline, style, self.styled));
        self.out.push('\n');
        if let Some(quote) = quote {
            self.paragraph("  ", quote);
        }
    }

    /// The classes of which this run can tell: all, or `only` one, with what its pass rests on.
    fn classes(&mut self, contents: &Contents, only: Option<&str>) {
        let is_only = only.is_some();
        let is_told = |it: &&Ruling| {
            it.outcome != Outcome::NotTestable && only.is_none_or(|only| it.rule == only)
        };
        for ruling in contents.verdicts.iter().filter(is_told) {
            let reason = match ruling.outcome {
                Outcome::Meets => "",
                _ => ruling.reasons.first().map_or("", |reason| &*reason.text),
            };
            let (word, style) = word_of(ruling.outcome, contents.is_card);
            let subject = if contents.is_card { "Class" } else { "As fast as" };
            self.line(&format!("{subject} {}", ruling.rule), word, style, reason);
            if is_only && ruling.outcome == Outcome::Meets {
                for reason in ruling.reasons.iter().take(LINES_MAX) {
                    self.paragraph("    ", &reason.text);
                }
            }
        }
        for indication in &contents.indications {
            self.paragraph("  ", &indication.label);
        }
    }

    fn warnings(&mut self, warnings: &[String]) {
        let (shown, rest) = warnings.split_at(warnings.len().min(WARNINGS_MAX));
        if shown.is_empty() {
            return;
        }
        self.gap();
        for warning in shown {
            self.paragraph("  ", &format!("Warning: {warning}"));
        }
        match rest.len() {
            0 => {}
            1 => self.paragraph("  ", "One more warning: --details."),
            count => self.paragraph("  ", &format!("{count} more warnings: --details.")),
        }
    }

    fn steps(&mut self, steps: &[String]) {
        if steps.is_empty() {
            return;
        }
        self.gap();
        for (number, step) in steps.iter().take(STEPS_MAX).enumerate() {
            let label = if number == 0 { "  Next:" } else { "       " };
            let first = format!("{label} {}. ", number + 1);
            wrap_into(&mut self.out, &first, step, &" ".repeat(11), self.width);
        }
    }
}

/// The class of a profile that asks for nothing else.
fn only_class(record: &Record) -> Option<&'static str> {
    match record.profile.name.as_str() {
        "a1" => Some("A1"),
        "a2" => Some("A2"),
        _ => None,
    }
}

/// The grade of a use in a word.
const fn graded(purpose: Purpose, grade: Grade) -> &'static str {
    match (purpose, grade) {
        (Purpose::Pauses, Grade::Good) => "none",
        _ => speed_word(purpose, grade),
    }
}

const fn subject(purpose: Purpose) -> &'static str {
    match purpose {
        Purpose::System => "Starting programs",
        Purpose::Programs => "Installing programs",
        Purpose::Databases => "Databases",
        Purpose::LargeFiles => "Video, large files",
        Purpose::Pauses => "Pauses",
    }
}

/// The figure behind the grade of `purpose`; empty where it is not known.
fn figure(purpose: Purpose, entry: &Entry, contents: &Contents) -> String {
    let a_second = |rate: Option<f64>, what: &str| {
        rate.map_or_else(String::new, |rate| format!("{rate:.0} {what} a second"))
    };
    let mb = |rate: f64| cardproof_units::Throughput(rate).to_string();
    match purpose {
        Purpose::System => a_second(entry.random_read_iops, "small reads"),
        Purpose::Programs => a_second(entry.random_write_iops, "small writes"),
        Purpose::Databases => a_second(entry.synced_write_iops, "safe small writes"),
        Purpose::LargeFiles => {
            let read = entry.sequential_read_bytes_per_s.map(|rate| format!("reads {}", mb(rate)));
            let write =
                entry.sequential_write_bytes_per_s.map(|rate| format!("writes {}", mb(rate)));
            [write, read].into_iter().flatten().collect::<Vec<_>>().join(", ")
        }
        Purpose::Pauses => contents.pauses.clone(),
    }
}

const GOOD: Style = AnsiColor::Green.on_default().bold();
const FAIR: Style = AnsiColor::Yellow.on_default().bold();
const POOR: Style = AnsiColor::Red.on_default().bold();

/// A failed class is a fact about a card and no fault of it, so it is not red. What is no card has no class.
const fn word_of(outcome: Outcome, is_card: bool) -> (&'static str, Style) {
    match outcome {
        Outcome::Meets if is_card => ("passed", GOOD),
        Outcome::Misses if is_card => ("not passed", BOLD),
        Outcome::Meets => ("yes", GOOD),
        Outcome::Misses => ("no", BOLD),
        Outcome::Undecided => ("undecided", FAIR),
        Outcome::NotTestable | Outcome::Unknown => (wording::outcome(outcome), BOLD),
    }
}

const fn style_of_grade(grade: Grade) -> Style {
    match grade {
        Grade::Good | Grade::FairOrGood => GOOD,
        Grade::Fair | Grade::PoorOrFair => FAIR,
        Grade::Poor => POOR,
        Grade::Unknown => BOLD,
    }
}
