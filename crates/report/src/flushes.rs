//! What bursts with flushes show, in words.

use cardproof_rating::flushes;
use cardproof_record::Record;

/// The heading above it in every report.
pub(crate) const HEADING: &str = "Flushes";

/// The lines on the flushes of `record`; empty where they were not looked at.
pub(crate) fn flush_lines(record: &Record) -> Vec<String> {
    let Some(found) = flushes(record) else { return Vec::new() };
    let rates =
        found.bursts.iter().map(|burst| format!("{} with its flush: {}", burst.size, burst.rate));
    let rates = rates.collect::<Vec<_>>().join("; ");
    let Some(continuous) = found.continuous else {
        return vec![
            "flushes cannot be judged: too little was written continuously. Run again with a longer \
             --time-budget, such as 3m, and without --size"
                .to_owned(),
            rates,
        ];
    };
    let answer = if found.is_disturbed {
        "flushes cannot be judged: others used the storage during the test. Close other programs and run again"
    } else if found.is_suspicious() {
        "SUSPICIOUS: the storage answers flushes faster than it writes. After a power cut, data that it \
         reported as durable may be gone. Storage with a capacitor or a fast part (SLC cache) does this \
         honestly; only power cuts can tell: `cardproof powercut write --help`"
    } else {
        "no sign that flushes are answered too early. This test sees only flushes that end faster than the \
         storage writes. A card that ignores flushes and takes its usual time looks honest here; only power \
         cuts show it: `cardproof powercut write --help`"
    };
    vec![
        answer.to_owned(),
        format!("continuous writes: at most {continuous}; {rates}"),
        "the bursts have pauses between them; the rates in the table include these pauses"
            .to_owned(),
    ]
}
