//! Why bytes are not a trace.

/// What is wrong with a trace file, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TraceError {
    /// It does not begin as a trace does.
    #[error("not a cardproof trace: it does not begin with {expected:?}", expected = super::header::MAGIC_TEXT)]
    Foreign,
    /// A trace of another form.
    #[error("a trace of form {found}; this version of cardproof reads form {known}")]
    OtherForm {
        /// The form's number in the file.
        found: u8,
        /// The number that is known here.
        known: u8,
    },
    /// The file ends too early.
    #[error("the trace is cut off at byte {offset}: {what} is missing; copy the file again")]
    CutOff {
        /// Where the missing part would begin.
        offset: usize,
        /// What is missing.
        what: &'static str,
    },
    /// The file holds something that no writer writes.
    #[error("the trace is damaged at byte {offset}: {what}; copy the file again")]
    Damaged {
        /// Where the damaged part begins.
        offset: usize,
        /// What is wrong with it.
        what: &'static str,
    },
}

/// What is wrong with a text that should become a trace, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {what}: '{text}'")]
pub struct TextError {
    /// The line's number, from 1.
    pub line: usize,
    /// What was expected.
    pub what: &'static str,
    /// What stands there, shortened.
    pub text: String,
}

impl TextError {
    /// The error of `line`, from 1, whose text is `text`.
    pub(crate) fn new(line: usize, what: &'static str, text: &str) -> Self {
        Self { line, what, text: text.chars().take(60).collect() }
    }
}

/// What is wrong with bytes that should become a trace, and where.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("byte {offset}: {what}")]
pub struct ByteError {
    /// Where the part that is wrong begins.
    pub offset: usize,
    /// What is wrong with it.
    pub what: &'static str,
}
