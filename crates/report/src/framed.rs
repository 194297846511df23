//! A page that another program can frame, as a hub does with a record's report.

/// A page in parts, between which others put what is theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FramedPage {
    /// The page up to the end of its styles.
    styles: String,
    /// From there to the end of the styles' element.
    end_of_styles: String,
    /// From there to the beginning of the body.
    rest_of_head: String,
    /// The body.
    body: String,
}

impl FramedPage {
    /// A page of parts that follow each other.
    pub(crate) fn new([styles, end_of_styles, rest_of_head, body]: [String; 4]) -> Self {
        Self { styles, end_of_styles, rest_of_head, body }
    }

    /// The page with `styles` behind its own, `head` behind them, and `above` above all that it shows. They
    /// are put there as they are.
    #[must_use]
    pub fn with(&self, styles: &str, head: &str, above: &str) -> String {
        let Self { styles: own, end_of_styles, rest_of_head, body } = self;
        [own, styles, end_of_styles, head, rest_of_head, above, body].concat()
    }
}
