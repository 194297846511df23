//! What every HTML report must be, whatever the record: one sound file that fetches nothing, runs
//! nothing, has a name for every chart and shows every pause.

use std::collections::HashSet;

use cardproof_rating::compare::{Contender, Pairing, Use, compare};
use cardproof_rating::judge;
use cardproof_record::{Interval, Phase, Record, Warning, WarningCode};
use cardproof_report::{
    charts, comparison_html, comparison_page, html, markdown, result_picture, shared_page, summary,
};
use cardproof_testkit::{few_or_all, records};
use cardproof_units::{Bytes, Iops, Nanos, Throughput};
use proptest::prelude::*;

fn page(record: &Record) -> String {
    html(record, &judge(record)).unwrap()
}

fn all() -> [Record; 6] {
    [
        records::typical_a1_card(),
        records::slow_class4(),
        records::ram_disk(),
        records::read_only_device(),
        records::interrupted(),
        records::with_pauses(),
    ]
}

/// The tags of `page` in order, each without its angle brackets, the style sheet left out.
fn tags(page: &str) -> Vec<&str> {
    let style = page.find("<style>").unwrap() + "<style>".len();
    let end = page.find("</style>").unwrap();
    [&page[..style], &page[end..]]
        .iter()
        .flat_map(|part| part.split('<').skip(1))
        .map(|rest| rest.split('>').next().unwrap())
        .collect()
}

#[test]
fn every_tag_is_closed_in_order() {
    const VOID: [&str; 2] = ["meta", "!DOCTYPE"];
    for record in all() {
        let page = page(&record);
        let mut open: Vec<&str> = Vec::new();
        for tag in tags(&page) {
            let name = tag.split([' ', '\n', '/']).next().unwrap();
            if let Some(closed) = tag.strip_prefix('/') {
                assert_eq!(open.pop(), Some(closed), "{}", record.id);
            } else if !tag.ends_with('/') && !VOID.contains(&name) {
                open.push(name);
            }
        }
        assert_eq!(open, Vec::<&str>::new(), "{}", record.id);
    }
}

#[test]
fn a_page_opens_with_the_answer_and_its_chart_and_the_small_charts_are_folded_away() {
    for record in all() {
        let page = page(&record);
        let (_, main) = page.split_once("<main class=\"report\">\n").unwrap();
        assert!(main.starts_with("<section id=\"answer\""), "{}", record.id);
        let (answer, rest) = main.split_once("</section>").unwrap();
        assert!(answer.contains("class=\"replies\""), "{}", record.id);
        let folded: usize = rest
            .split("<details class=\"fold\">")
            .skip(1)
            .map(|fold| fold.split("</section>").next().unwrap().matches("<svg role=").count())
            .sum();
        assert_eq!(rest.matches("<svg role=").count(), folded, "{}", record.id);
    }
    let page = page(&records::typical_a1_card());
    let (answer, _) = page.split_once("</section>").unwrap();
    for name in ["this storage", "SanDisk Ultra A1", "Samsung eMMC", "Intenso Class 4"] {
        assert!(answer.contains(&format!(">{name}</text>")), "{name}");
    }
}

/// The width and height of a PNG.
fn size_of_png(bytes: &[u8]) -> [u32; 2] {
    [16, 20].map(|at| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()))
}

#[test]
fn a_picture_has_the_size_that_forums_show_and_a_colour_for_each_reply() {
    const GOOD: &str = "#1a6e3c";
    const BAD: &str = "#b3261e";
    for record in all() {
        let picture = result_picture(&record);
        assert_eq!(size_of_png(&picture.png().unwrap()), [1200, 630], "{}", record.id);
    }
    let slow = result_picture(&records::slow_class4()).svg();
    let line = |words: &str| {
        let end =
            slow.find(&format!(">{words}</text>")).unwrap_or_else(|| panic!("{words}: {slow}"));
        slow[..end].rsplit('<').next().unwrap().to_owned()
    };
    assert!(line("TOO SLOW FOR A SYSTEM").contains(BAD), "{slow}");
    assert!(!line("TOO SLOW FOR A SYSTEM").contains(GOOD), "{slow}");
    assert!(slow.contains(GOOD), "what is good is not told in red: {slow}");
}

#[test]
fn a_page_fetches_nothing_and_runs_nothing() {
    for record in all() {
        let page = page(&record);
        for forbidden in ["<script", "javascript:", "http:", "https:", "src=", "href=", "@import"] {
            assert!(!page.contains(forbidden), "{}: {forbidden}", record.id);
        }
        assert!(!page.contains(" onload="), "{}", record.id);
        assert!(page.contains("default-src 'none'"), "{}", record.id);
    }
}

#[test]
fn ids_are_unique_and_what_refers_to_them_finds_them() {
    for record in all() {
        let page = page(&record);
        let after = |mark: &str, end: char| -> Vec<String> {
            page.split(mark)
                .skip(1)
                .map(|rest| rest.split(end).next().unwrap().to_owned())
                .collect()
        };
        let ids = after(" id=\"", '"');
        let unique: HashSet<&String> = ids.iter().collect();
        assert_eq!(unique.len(), ids.len(), "{}", record.id);
        for reference in after("url(#", ')').iter().chain(&after("aria-labelledby=\"", '"')) {
            assert!(unique.contains(reference), "{}: {reference}", record.id);
        }
    }
}

#[test]
fn every_chart_has_a_name_and_its_figures_in_a_table() {
    for record in all() {
        let page = page(&record);
        let charts = page.matches("<svg role=\"img\" aria-labelledby").count();
        let hidden = page.matches("<svg aria-hidden=\"true\"").count();
        assert_eq!(page.matches("<svg").count(), charts + hidden, "{}", record.id);
        assert_eq!(page.matches("</title>").count(), charts + 1, "{}", record.id);
        for figure in page.split("<figure>").skip(1) {
            let figure = figure.split("</figure>").next().unwrap();
            assert!(figure.contains("<details>"), "{}", record.id);
        }
    }
}

#[test]
fn a_chart_is_called_after_its_subject_and_not_after_the_rest_of_its_caption() {
    let mut record = records::typical_a1_card();
    record.phases[0].name = "first: of two".to_owned();
    let files = charts(&record, &judge(&record)).unwrap();
    let file = |name: &str| files.iter().find(|file| file.name == name);
    let published = file("among-published-cards").unwrap();
    assert!(published.svg().contains("Among published cards: small reads (to the right)"));
    assert!(file("first-of-two-longest-latency").is_some(), "a colon of the user's cuts nothing");
}

#[test]
fn a_page_has_three_places_for_a_frame() {
    // A record may hold what ends a place in a page.
    let mut record = records::typical_a1_card();
    record.label = Some("</style><body>\n".to_owned());
    let other = records::slow_class4();
    let cards = [&record, &other].map(|one| Contender {
        name: "<body>\n".to_owned(),
        runs: vec![one],
        price: None,
    });
    let comparison = compare(&cards, Pairing::Independent, 1);
    let shown = [&record, &other];
    let compared = comparison_page(&comparison, Use::System, &shown).unwrap();
    let alone = comparison_html(&comparison, Use::System, &shown).unwrap();
    assert_eq!(compared.with("", "", ""), alone);
    for page in [shared_page(&record, &judge(&record), None).unwrap(), compared] {
        let framed = page.with(".hub {}\n", "<meta name=\"a\">", "<nav>hub</nav>");
        let placed = ".hub {}\n</style><meta name=\"a\">\n</head>\n<body>\n<nav>hub</nav>";
        assert_eq!(framed.matches(placed).count(), 1);
        assert_eq!(framed.replace(placed, "</style>\n</head>\n<body>\n"), page.with("", "", ""));
    }
}

#[test]
fn colours_come_from_the_style_sheet_alone() {
    for record in all() {
        let page = page(&record);
        let charts = page.split("</style>").nth(1).unwrap();
        for colour in ["fill=\"#", "stroke=\"#", "\"black\"", "\"white\""] {
            assert!(!charts.contains(colour), "{}: {colour}", record.id);
        }
    }
}

#[test]
fn a_minute_in_slices_of_50_ms_stays_under_600_kb() {
    for record in all() {
        let slices: usize = record.phases.iter().map(|phase| phase.intervals.len()).sum();
        assert!(slices <= 1200);
        let length = page(&record).len();
        assert!(length < 600_000, "{}: {length}", record.id);
    }
}

/// A record whose every text is hostile to where it may be shown.
fn hostile() -> Record {
    const TEXT: &str = "<script>alert(1)</script>\"'><img src=x onerror=y> | `_*[a](b) \u{1b}[2J";
    let text = || Some(TEXT.to_owned());
    let mut record = records::read_only_device();
    record.id = TEXT.to_owned();
    record.created = TEXT.to_owned();
    record.tool.name = TEXT.to_owned();
    record.tool.version = TEXT.to_owned();
    record.profile.name = TEXT.to_owned();
    let conditions = &mut record.conditions;
    conditions.target.engine = TEXT.into();
    conditions.target.engine_fallback = text();
    conditions.target.direct = false;
    conditions.target.buffered_reason = text();
    conditions.device.model = text();
    conditions.device.vendor = text();
    conditions.device.name = text();
    conditions.device.transport = text().map(Into::into);
    conditions.device.link = text();
    conditions.host.board = text();
    conditions.host.kernel = text();
    conditions.host.architecture = text();
    conditions.settings.scheduler = text();
    conditions.settings.governor = text();
    conditions.settings.write_cache = text();
    conditions.filesystem = records::typical_a1_card().conditions.filesystem;
    let filesystem = conditions.filesystem.as_mut().unwrap();
    filesystem.kind = TEXT.to_owned();
    filesystem.options = vec![TEXT.to_owned()];
    let warning = Warning::stated(WarningCode::Other, TEXT);
    record.warnings.push(warning.clone());
    for phase in &mut record.phases {
        phase.name = TEXT.to_owned();
        phase.warnings.push(warning.clone());
        if let cardproof_record::PhaseState::NotMeasured { cause } = &mut phase.state {
            *cause = TEXT.to_owned();
        }
    }
    record
}

#[test]
fn a_record_cannot_bring_tags_into_a_page() {
    let record = hostile();
    let mut verdicts = judge(&record);
    for verdict in &mut verdicts {
        verdict.rule = record.id.clone();
        verdict.reasons[0].text = record.id.clone();
    }
    let page = html(&record, &verdicts).unwrap();
    for tag in ["<script", "<img", "\u{1b}"] {
        assert!(!page.contains(tag), "{tag:?}");
    }
    let names: HashSet<&str> = tags(&page)
        .iter()
        .map(|tag| tag.trim_start_matches('/').split([' ', '\n']).next().unwrap())
        .collect();
    assert!(!names.contains("img") && !names.contains("script"), "{names:?}");
    let outside_quotes = |tag: &str| tag.split('"').step_by(2).collect::<String>();
    assert!(!tags(&page).iter().any(|tag| outside_quotes(tag).contains("onerror")));
}

#[test]
fn a_record_cannot_move_the_cursor_or_make_markup() {
    let record = hostile();
    let verdicts = judge(&record);
    assert!(!summary(&record, &verdicts, 80, false).contains('\u{1b}'));
    let text = markdown(&record, &verdicts);
    assert!(!text.contains('\u{1b}'));
    for raw in ["<script", "[a](b)", " `"] {
        assert!(!text.contains(raw), "{raw}");
    }
    for line in text.lines().filter(|line| line.starts_with('|')) {
        let columns = line.replace("\\|", "").matches('|').count();
        assert_eq!(columns, 7, "{line}");
    }
}

#[test]
fn a_figure_in_doubt_has_no_place_among_published_devices() {
    let mut record = records::typical_a1_card();
    let place = ">this storage</text>";
    assert!(page(&record).contains(place));
    for phase in &mut record.phases {
        let message = "through the page cache".to_owned();
        phase.warnings.push(Warning::stated(WarningCode::Buffered, message));
    }
    assert!(!page(&record).contains(place));
}

#[test]
fn a_record_with_nothing_in_it_is_still_a_report() {
    let mut record = records::typical_a1_card();
    record.phases.clear();
    record.conditions = cardproof_record::Conditions::default();
    record.conditions.target.direct = true;
    let verdicts = judge(&record);
    assert!(page(&record).contains("<h1>Unknown storage</h1>"));
    assert!(summary(&record, &verdicts, 80, false).contains("not measured"));
    assert!(markdown(&record, &verdicts).contains("Unknown storage"));
}

/// Numbers from nothing to the impossible.
fn any_number() -> impl Strategy<Value = u64> {
    prop_oneof![Just(0), Just(1), Just(u64::MAX), 0..1_000_u64, 0..1_000_000_000_u64, any::<u64>()]
}

fn any_rate() -> impl Strategy<Value = f64> {
    prop_oneof![Just(0.0), Just(f64::NAN), Just(f64::INFINITY), -1e3..1e6_f64, any::<f64>()]
}

prop_compose! {
    fn any_interval()(numbers in prop::array::uniform5(any_number())) -> Interval {
        let [start, duration, ops, bytes, latency_max] = numbers;
        Interval {
            start_ns: Nanos(start),
            duration_ns: Nanos(duration),
            ops,
            bytes: Bytes(bytes),
            latency_max_ns: Nanos(latency_max),
        }
    }
}

prop_compose! {
    /// A phase as no runner writes it, but as a file may hold it.
    fn any_phase()(
        which in 0..10_usize,
        rates in prop::array::uniform3(any_rate()),
        intervals in prop::collection::vec(any_interval(), 0..400),
        buckets in prop::collection::vec((any_number(), any_number()), 0..30),
        queue_depth in prop_oneof![Just(1_u16), Just(32), any::<u16>()],
        block_size in prop_oneof![Just(4096), any_number()],
    ) -> Phase {
        let mut phase = records::typical_a1_card().phases.swap_remove(which);
        let [low, value, high] = rates;
        if let Some(iops) = &mut phase.iops {
            (iops.low, iops.estimate, iops.high) = (Iops(low), Iops(value), Iops(high));
        }
        if let Some(rate) = &mut phase.throughput_bytes_per_s {
            (rate.low, rate.estimate, rate.high) =
                (Throughput(low), Throughput(value), Throughput(high));
        }
        phase.ops = intervals.iter().map(|slice| slice.ops).fold(0, u64::saturating_add);
        phase.intervals = intervals;
        for (bucket, (up_to_ns, ops)) in phase.histogram.iter_mut().zip(buckets) {
            (bucket.up_to_ns, bucket.ops) = (Nanos(up_to_ns), ops);
        }
        phase.queue_depth = queue_depth;
        phase.block_size_bytes = Bytes(block_size);
        phase
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: few_or_all(16, 64), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_record_breaks_a_report(
        phases in prop::collection::vec(any_phase(), 0..5), width: u16, styled: bool,
    ) {
        let mut record = records::typical_a1_card();
        record.phases = phases;
        let verdicts = judge(&record);
        let drawn = html(&record, &verdicts);
        prop_assert!(drawn.is_ok(), "{:?}", drawn.err());
        prop_assert!(!summary(&record, &verdicts, width, styled).is_empty());
        prop_assert!(!markdown(&record, &verdicts).is_empty());
    }
}
