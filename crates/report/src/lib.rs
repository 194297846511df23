//! A record for people: a terminal summary, Markdown, one HTML file.
//!
//! All three are made from one `Contents`, so that they never say different things.
//! This crate turns a record and its verdicts into text. It measures nothing, judges nothing,
//! reads no file and prints nothing; and it trusts no text of a record, since a device names
//! itself.

mod answer;
mod brief;
mod capacity;
mod catalogue;
mod charts;
mod clean;
mod columns;
mod comparison;
mod contents;
mod course;
mod day;
mod decoded;
mod drawing;
mod ended;
mod explained;
mod facts;
mod figures;
mod flushes;
mod found;
mod framed;
mod html;
mod integrity;
mod inventory;
mod jobs;
mod kept;
mod layout;
mod lead;
mod markdown;
mod markup;
pub mod metrics;
mod powercut;
mod published;
mod raster;
mod replays;
mod result_picture;
mod rows;
mod setups;
mod shared;
mod short;
pub mod signs;
mod summary;
mod warnings;
pub mod who;
mod wrap;
mod yardstick;

pub use answer::{AnswerPage, CheckDocument, Reply, Step, check_markdown, check_text};
pub use brief::brief;
pub use capacity::capacity_headline;
pub use catalogue::{CardKind, Catalogue, CatalogueEntry};
pub use charts::PlotError;
pub use clean::{one_line, steers};
pub use columns::{beginning, columns_of, left, right};
pub use comparison::{
    View, comparison_charts, comparison_csv, comparison_html, comparison_markdown, comparison_page,
    comparison_text,
};
pub use decoded::{DecodedCard, REGISTERS_SCHEMA, RegistersDocument};
pub use explained::{EXPLAINED_SCHEMA, ExplainedDocument, ExplainedTotals, ExplainedWriter};
pub use facts::{attachment, sold_as, title};
pub use framed::FramedPage;
pub use html::{HtmlError, charts, check_html, html, shared_page};
pub use integrity::{TestInWords, integrity_in_words};
pub use inventory::{
    Entry, LIST_SCHEMA, List, inventory_csv, inventory_html, inventory_markdown, inventory_table,
    inventory_text, share_defects, short_id, tell_ids_apart,
};
pub use kept::ChartFile;
pub use markdown::markdown;
pub use powercut::power_cut_lines;
pub use published::published_list;
pub use raster::RasterError;
pub use replays::replay_lines;
pub use result_picture::{check_picture, result_picture};
pub use short::markdown_short;
pub use summary::{details, summary};
pub use wrap::{wrap_into, wrapped};
