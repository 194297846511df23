//! What several sections of a page are made of: charts, tables that unfold, sections that unfold.

use super::HtmlError;
use crate::charts::{Chart, draw};
use crate::kept::{ChartFile, Entry, csv_of, with_legend};
use crate::markup::{Markup, markup};
use crate::wrap::sentence;

/// The charts of a page, which are kept as files too.
#[derive(Default)]
pub(super) struct Charts(Vec<ChartFile>);

/// What a chart is about.
#[derive(Clone, Copy)]
pub(super) struct About<'a> {
    /// What its files are called after.
    pub(super) name: &'a str,
    /// What stands above it in its files, where it begins a sentence.
    pub(super) caption: &'a str,
}

impl<'a> About<'a> {
    /// Files are called after their whole caption.
    pub(super) const fn subject(subject: &'a str) -> Self {
        Self { name: subject, caption: subject }
    }
}

impl Charts {
    /// Draws `chart`, and keeps it as a file `about` something, whose lines have `names`, with `legend` below
    /// it.
    pub(super) fn draw(
        &mut self,
        page: &mut Markup,
        chart: &Chart,
        about: About<'_>,
        names: &[String],
        legend: Vec<Entry>,
    ) -> Result<(), HtmlError> {
        let id = format!("chart-{}", self.0.len() + 1);
        let picture =
            draw(chart).map_err(|source| HtmlError { chart: chart.title.clone(), source })?;
        page.drawing(&picture, &id);
        let alone = with_legend(picture, legend);
        self.0.push(ChartFile::new(
            about.name,
            &sentence(about.caption),
            alone,
            csv_of(chart, names),
        ));
        Ok(())
    }

    /// Adds a drawing that is on the page already.
    pub(super) fn add(&mut self, chart: ChartFile) {
        self.0.push(chart);
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(super) fn into_files(self) -> Vec<ChartFile> {
        self.0
    }
}

/// Opens a table that a reader can unfold by `summary`; `label` names it.
pub(super) fn open_table(page: &mut Markup, summary: &str, label: &str, headings: &[&str]) {
    markup!(
        page,
        "<details>\n<summary>{}</summary>\n<div class=\"scroll\" tabindex=\"0\" \
         role=\"region\" aria-label=\"{}\"><table>\n<thead><tr>",
        summary,
        label
    );
    for heading in headings {
        if heading.is_empty() {
            page.literal("<td></td>");
        } else {
            markup!(page, "<th scope=\"col\">{}</th>", heading);
        }
    }
    page.literal("</tr></thead>\n<tbody>\n");
}

/// Closes it.
pub(super) fn close_table(page: &mut Markup) {
    page.literal("</tbody>\n</table></div>\n</details>\n");
}

/// Opens a section of its own width that a reader can unfold by its heading.
pub(super) fn open_fold(page: &mut Markup, id: &str, heading: &str) {
    markup!(
        page,
        "<section id=\"{}\" class=\"wide\">\n<details class=\"fold\">\n<summary><h2>{}</h2></summary>\n",
        id,
        heading
    );
}

/// Closes it.
pub(super) fn close_fold(page: &mut Markup) {
    page.literal("</details>\n</section>\n");
}
