//! The facts for other programs: well formed, without invented values, and the same in each form.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;

use cardproof_rating::ledger::{CardCounters, CardKey, Day, ErrorCounts, Outlook, outlook};
use cardproof_rating::signs::{
    Attachment, HealthVerdict, LogRead, Sign, SignKind, SignSource, Signs,
};
use cardproof_report::metrics::{
    CardFacts, Facts, MachineFacts, Metric, PluginState, home_assistant_lines,
    home_assistant_messages, metrics, nagios, open_metrics, prometheus,
};
use cardproof_units::Bytes;
use serde_json::Value;

/// A name that a forger may have written into a card.
const HOSTILE: &str = "SN\"64\\\n|G'=\u{1b}[2J";

/// Days of a worn eMMC and of a card that tells nothing.
fn days() -> Vec<Day> {
    let day = |number: u64| Day {
        number,
        date: format!("2026-11-{:02}", number + 1),
        key: CardKey(0x8a1b_2c3d),
        seconds: 86_400,
        counters: CardCounters {
            reads: 5000,
            sectors_read: 200_000,
            read_ms: 4000,
            writes: 9000,
            sectors_written: 4_000_000,
            write_ms: 90_000,
            busy_ms: 60_000,
            flushes: 700,
        },
        errors: ErrorCounts { failed: 0, repeated: number % 2, filesystem: 0 },
        low_power: 1,
        life_used_percent_max: Some(if number < 10 { 30 } else { 40 }),
        partitions: [(1, (10, 20)), (2, (199_990, 3_999_980))].into(),
    };
    let silent =
        Day { number: 99, key: CardKey(7), date: "2026-11-20".to_owned(), ..Day::default() };
    (0..20).map(day).chain([silent]).collect()
}

fn signs(verdict: HealthVerdict, log: LogRead, kinds: &[(SignKind, u64)]) -> Signs {
    let signs = kinds.iter().map(|&(kind, count)| Sign::new(kind, SignSource::KernelLog, count));
    let signs = signs.collect();
    let attachment = Attachment::Unknown;
    Signs { verdict, attachment, log, signs, suspects: Vec::new(), experiments: Vec::new() }
}

/// What the facts of a test are made of.
struct Laboratory {
    totals: Vec<Day>,
    outlooks: Vec<Outlook>,
    signs: Vec<Signs>,
}

impl Laboratory {
    fn new() -> Self {
        let days = days();
        let keys = [CardKey(0x8a1b_2c3d), CardKey(7)];
        let read = LogRead::Read { days: Some(41), earlier: None };
        let marks = [(SignKind::WrongChecksums, 12), (SignKind::SlowerBus, 1)];
        Self {
            totals: keys
                .iter()
                .map(|key| cardproof_rating::ledger::totals(&days, *key).unwrap())
                .collect(),
            outlooks: keys.iter().map(|key| outlook(&days, *key, None).unwrap()).collect(),
            signs: vec![
                signs(HealthVerdict::WatchIt, read, &marks),
                signs(HealthVerdict::NotKnown, LogRead::NotPermitted, &[]),
            ],
        }
    }

    fn card(&self, number: usize, device: &'static str, product: &'static str) -> CardFacts<'_> {
        CardFacts {
            device,
            product: Some(product),
            transport: Some("mmc"),
            size: (number == 0).then_some(Bytes(31_268_536_320)),
            totals: &self.totals[number],
            outlook: &self.outlooks[number],
            signs: &self.signs[number],
        }
    }

    fn facts(&self) -> Facts<'_> {
        Facts {
            version: "0.1.0",
            time_s: 1_795_600_000,
            machine: MachineFacts {
                throttled_flags: Some(0x0005_0001),
                is_under_voltage: Some(true),
                temperatures: vec![("cpu-thermal", 51_234)],
            },
            cards: vec![self.card(0, "mmcblk1", "BJTD4R"), self.card(1, "mmcblk0", HOSTILE)],
        }
    }
}

#[test]
fn the_facts_in_the_form_of_prometheus() {
    insta::assert_snapshot!(prometheus(&Laboratory::new().facts()));
}

/// What the text declares: the kind of each metric, and the samples with their labels.
fn taken_apart(text: &str) -> (BTreeMap<String, String>, Vec<(String, String)>) {
    let mut kinds = BTreeMap::new();
    let mut samples = Vec::new();
    for line in text.lines().filter(|line| *line != "# EOF") {
        if let Some(rest) = line.strip_prefix("# TYPE ") {
            let (name, kind) = rest.split_once(' ').unwrap();
            assert!(kinds.insert(name.to_owned(), kind.to_owned()).is_none(), "{name} twice");
        } else if !line.starts_with('#') {
            let (left, value) = line.rsplit_once(' ').unwrap();
            assert!(value.parse::<f64>().unwrap().is_finite(), "{line}");
            let (name, labels) = left.split_once('{').unwrap_or((left, "}"));
            assert!(labels.ends_with('}'), "{line}");
            samples.push((name.to_owned(), labels.to_owned()));
        }
    }
    (kinds, samples)
}

#[test]
fn each_sample_is_declared_and_told_once() {
    let laboratory = Laboratory::new();
    let facts = laboratory.facts();
    let names: BTreeSet<String> = metrics().iter().map(Metric::name).collect();
    let (kinds, samples) = taken_apart(&prometheus(&facts));
    let once: BTreeSet<_> = samples.iter().collect();
    assert_eq!(once.len(), samples.len());
    for (name, _) in &samples {
        assert!(names.contains(name), "{name}");
        let expected = if name.ends_with("_total") { "counter" } else { "gauge" };
        assert_eq!(kinds[name], expected, "{name}");
    }
    assert_eq!(names, kinds.into_keys().collect(), "the facts of this test fill every metric");
    let text = open_metrics(&facts);
    assert!(text.ends_with("\n# EOF\n"));
    let (kinds, same) = taken_apart(&text);
    assert_eq!(samples, same, "both forms tell the same");
    for (name, _) in &same {
        let base = name.trim_end_matches("_total").trim_end_matches("_info");
        let expected = match name {
            name if name.ends_with("_total") => "counter",
            name if name.ends_with("_info") => "info",
            _ => "gauge",
        };
        assert_eq!(kinds[base], expected, "{name}");
    }
    for line in text.lines().filter_map(|line| line.strip_prefix("# UNIT ")) {
        let (name, unit) = line.split_once(' ').unwrap();
        assert!(name.ends_with(&format!("_{unit}")), "{line}");
    }
}

#[test]
fn what_is_not_known_is_no_zero_in_any_form() {
    let laboratory = Laboratory::new();
    let facts = Facts { machine: MachineFacts::default(), ..laboratory.facts() };
    let text = prometheus(&facts);
    let of_silent = |name: &str| {
        text.lines().filter(|line| line.starts_with(name) && line.contains("00000007")).count()
    };
    for name in ["cardproof_life", "cardproof_write_pace", "cardproof_data_at", "cardproof_slower"]
    {
        assert_eq!(of_silent(name), 0, "{name}\n{text}");
    }
    assert!(
        text.contains("fact=\"life_used_ratio_high\",reason=\"no_wear_report\"} 1\n"),
        "{text}"
    );
    assert!(text.contains("fact=\"data_at_risk\",reason=\"kernel_log_not_permitted\"} 1\n"));
    assert!(!text.contains("under_voltage"), "there is no sensor");
    let (line, _) = nagios(&facts);
    assert!(line.contains("'mmcblk0_life_used'=U"), "{line}");
    let messages = home_assistant_messages(&facts);
    let state = &messages.iter().find(|it| it.topic == "cardproof/00000007/state").unwrap().payload;
    for (entity, reason) in [
        ("health", "this user may not read the kernel log"),
        ("at_risk", "this user may not read the kernel log"),
        ("life_used", "the storage reports no wear, and no endurance is stated"),
        ("slower", "the ledger covers too little time"),
        ("low_voltage", "the board has no such sensor"),
        ("temperature", "the board has no such sensor"),
    ] {
        assert_eq!(state[entity]["value"], Value::Null, "{entity} {state:#}");
        assert_eq!(state[entity]["attributes"]["reason"], reason, "{entity}");
    }
}

/// Every entity that is announced has its value in the state, and the other way round.
#[test]
fn home_assistant_finds_each_value_where_it_is_told_to_look() {
    let laboratory = Laboratory::new();
    let facts = laboratory.facts();
    let messages = home_assistant_messages(&facts);
    let mut ids = BTreeSet::new();
    for pair in messages.chunks(2) {
        let [config, state] = pair else { panic!("{messages:#?}") };
        assert_eq!(config.payload["state_topic"], state.topic.as_str());
        let components = config.payload["components"].as_object().unwrap();
        let values = state.payload.as_object().unwrap();
        assert_eq!(components.keys().collect::<Vec<_>>(), values.keys().collect::<Vec<_>>());
        for (name, entity) in components {
            let template = format!("{{{{ value_json.{name}.value }}}}");
            assert_eq!(entity["value_template"], template.as_str());
            assert_eq!(entity["json_attributes_topic"], state.topic.as_str());
            assert!(ids.insert(entity["unique_id"].to_string()), "{entity}");
        }
    }
    let state = &messages[1].payload;
    assert_eq!(state["written"]["value"], 40.96);
    assert_eq!(state["written_a_day"]["value"], 2.048);
    assert_eq!(state["life_used"]["value"], 40.0);
    assert_eq!(state["health"]["value"], "watch_it");
    assert_eq!(state["health"]["attributes"]["signs"][0], "12 wrong checksums");
    assert_eq!(state["low_voltage"]["value"], "on");
    // What a shell takes apart: one line each, a topic without blanks, a payload without line breaks.
    let lines = home_assistant_lines(&facts);
    assert_eq!(lines.lines().count(), messages.len());
    for (line, message) in lines.lines().zip(&messages) {
        let (topic, payload) = line.split_once(' ').unwrap();
        assert_eq!(topic, message.topic);
        assert_eq!(serde_json::from_str::<Value>(payload).unwrap(), message.payload);
        assert!(!line.contains(cardproof_report::steers), "{line}");
    }
}

#[test]
fn a_plugin_has_the_state_of_the_worst_card() {
    let laboratory = Laboratory::new();
    let with = |verdict, log| {
        let signs = [signs(verdict, log, &[(SignKind::FailedRequests, 3)])];
        let card = CardFacts { signs: &signs[0], ..laboratory.card(1, "mmcblk0", HOSTILE) };
        nagios(&Facts { cards: vec![card], ..laboratory.facts() })
    };
    let read = LogRead::Read { days: Some(1), earlier: None };
    for (verdict, log, state, words) in [
        (HealthVerdict::Fine, read, PluginState::Ok, "STORAGE OK - mmcblk0 fine"),
        (HealthVerdict::WatchIt, read, PluginState::Warning, "STORAGE WARNING - mmcblk0 watch it"),
        (
            HealthVerdict::CopyNow,
            read,
            PluginState::Critical,
            "STORAGE CRITICAL - mmcblk0 COPY YOUR",
        ),
        (HealthVerdict::Dead, read, PluginState::Critical, "STORAGE CRITICAL - mmcblk0 DEAD"),
        (
            HealthVerdict::NotKnown,
            LogRead::Absent,
            PluginState::Unknown,
            "STORAGE UNKNOWN - mmcblk0 not known, because there is no kernel log",
        ),
    ] {
        let (line, found) = with(verdict, log);
        assert_eq!(found, state, "{line}");
        assert!(line.starts_with(words), "{line}");
        assert_eq!(line.matches('|').count(), 1, "{line}");
        assert_eq!(line.lines().count(), 1, "{line}");
    }
    let (line, state) = nagios(&laboratory.facts());
    assert_eq!(state, PluginState::Warning, "{line}");
    let none = nagios(&Facts { cards: Vec::new(), ..laboratory.facts() });
    assert_eq!(none.1, PluginState::Unknown);
}

/// The metrics that `text` names, with the labels by which it chooses among them.
fn named(text: &str) -> Vec<(String, Vec<String>)> {
    let text = text.replace("\\\"", "\"");
    let mut found = Vec::new();
    for part in text.split("cardproof_").skip(1) {
        let is_of_name = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
        let end = part.find(|c: char| !is_of_name(c)).unwrap_or(part.len());
        let (name, rest) = part.split_at(end);
        let chosen = rest.strip_prefix('{').and_then(|rest| rest.split_once('}'));
        let labels = chosen.map_or_else(Vec::new, |(inside, _)| {
            inside
                .split(',')
                .map(|it| it.trim().split(['=', '!']).next().unwrap().to_owned())
                .collect()
        });
        found.push((format!("cardproof_{name}"), labels));
    }
    found
}

#[test]
fn alerts_and_dashboard_name_only_metrics_and_labels_that_there_are() {
    let known: BTreeMap<String, &[&str]> =
        metrics().iter().map(|metric| (metric.name(), metric.labels)).collect();
    let packaging = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../packaging");
    for file in ["prometheus/cardproof.rules.yml", "grafana/cardproof.json"] {
        let text = fs::read_to_string(packaging.join(file)).unwrap();
        let named = named(&text);
        assert!(named.len() >= 8, "{file}");
        for (name, labels) in named {
            let own = known.get(&name).unwrap_or_else(|| panic!("{file}: there is no {name}"));
            for label in labels {
                // What Prometheus itself adds.
                let is_known = label == "instance" || own.contains(&&*label);
                assert!(is_known, "{file}: {name} has no label {label}");
            }
        }
    }
    let (_, samples) = taken_apart(&prometheus(&Laboratory::new().facts()));
    for (name, labels) in samples {
        let own: Vec<&str> = known[&name].to_vec();
        let told: Vec<&str> = labels
            .split("=\"")
            .map(|it| it.rsplit(['"', ',']).next().unwrap())
            .filter(|it| *it != "}")
            .collect();
        assert_eq!(own, told, "{name}{labels}");
    }
}
