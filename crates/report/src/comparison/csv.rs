//! The comparison for a spreadsheet: one line for each card and thing measured, numbers bare.

use cardproof_rating::Defect;
use cardproof_rating::compare::Comparison;

use crate::clean::csv_quoted as quoted;

/// The comparison as CSV (RFC 4180 with line feeds), with a line of headings. What is not known is
/// empty.
#[must_use]
pub fn comparison_csv(comparison: &Comparison) -> String {
    let mut out = String::from(
        "measured,card,unit,rate,rate_low,rate_high,runs,ratio,ratio_low,ratio_high,no_ratio_because,defect\n",
    );
    for row in &comparison.rows {
        for (card, cell) in comparison.figures.iter().zip(&row.cells) {
            let defect = card.defect.as_ref().map_or_else(String::new, Defect::words);
            let reasons: Vec<String> = cell.not_alike.iter().map(ToString::to_string).collect();
            let ends = |ends: Option<[f64; 2]>| [ends.map(|it| it[0]), ends.map(|it| it[1])];
            let [low, high] = ends(cell.between);
            let [ratio_low, ratio_high] = ends(cell.ratio.and_then(|ratio| ratio.between));
            let ratio = cell.ratio.map(|ratio| ratio.estimate);
            let line = [
                quoted(&row.what.to_string()),
                quoted(&card.name),
                row.unit.to_owned(),
                number(cell.rate, 2),
                number(low, 2),
                number(high, 2),
                cell.runs.to_string(),
                number(ratio, 4),
                number(ratio_low, 4),
                number(ratio_high, 4),
                quoted(&reasons.join("; ")),
                quoted(&defect),
            ];
            out.push_str(&line.join(","));
            out.push('\n');
        }
    }
    out
}

fn number(value: Option<f64>, digits: usize) -> String {
    value.map_or(String::new(), |value| format!("{value:.digits$}"))
}
