//! Every text field that the schema of the record knows, hostile, and every way out.
//!
//! The schema is walked, so a field that is added tomorrow is attacked tomorrow. A record that was drawn as
//! if measured is the ground, so that its figures lead into every section; what it lacks is made from the
//! schema. Words of a fixed set stay as they are in one half of the attacks and are hostile in the other.

use std::collections::HashSet;

use cardproof_rating::answer::Answer;
use cardproof_rating::compare::{Contender, Pairing, Use, compare};
use cardproof_rating::judge;
use cardproof_record::{Record, Trial};
use cardproof_report::{
    AnswerPage, ChartFile, Entry, View, charts, check_html, check_picture, comparison_charts,
    comparison_csv, comparison_html, comparison_markdown, comparison_text, html, inventory_csv,
    inventory_html, inventory_markdown, inventory_table, inventory_text, markdown, markdown_short,
    power_cut_lines, published_list, replay_lines, result_picture, steers, summary, title,
};
use cardproof_testkit::{records, some_of};
use serde_json::{Map, Value};

/// The published schema, which a test of its own compares with the types.
const SCHEMA: &str = include_str!("../../../../docs/record-v1.schema.json");

/// A formula of a spreadsheet, ends of lines, what steers a terminal, marks of direction, and what would leave
/// an attribute, a tag, a table or a sentence.
const HOSTILE: &str = "=cmd()\r\nFORGED\u{2028}FORGED\u{1b}[2J\u{1b}]0;t\u{7}\u{9b}1m\u{202e}\u{2066}\u{200f}\
                       \u{0}<img src=q onerror=p>q\"q'q&q </title></style><![CDATA[--> ~|~ [a](b) `c` \
                       ${d} ![e](f)";

/// How often a type that holds itself is followed into itself.
const INTO_ITSELF_MAX: usize = 2;

/// The walk over the schema, and the text leaves that it has made or met.
struct Walk<'s> {
    definitions: &'s Map<String, Value>,
    /// Which of several forms of a field is made where the record has none.
    choice: usize,
    leaves: Vec<String>,
    /// The types that lead to where the walk is.
    within: Vec<String>,
}

impl Walk<'_> {
    /// `value` with all that `schema` allows added to it, or a value made from the schema alone.
    fn filled(&mut self, value: Option<&Value>, schema: &Value, way: &str) -> Value {
        if let Some(name) = schema.get("$ref").and_then(Value::as_str) {
            let name = name.rsplit('/').next().unwrap().to_owned();
            if self.within.iter().filter(|around| **around == name).count() >= INTO_ITSELF_MAX {
                return value.cloned().unwrap_or(Value::Null);
            }
            let of_type = self.definitions[&name].clone();
            self.within.push(name);
            let filled = self.filled(value, &of_type, way);
            self.within.pop();
            return filled;
        }
        let forms = ["oneOf", "anyOf"].iter().find_map(|key| schema.get(*key)?.as_array());
        let merged = forms.map(|forms| self.form(value, schema, forms));
        let schema = merged.as_ref().unwrap_or(schema);
        if merged.is_some() && schema.get("$ref").is_some() {
            return self.filled(value, schema, way);
        }
        match kind(schema, value) {
            "object" => self.object(value, schema, way),
            "array" => {
                let item = schema.get("items").cloned().unwrap_or(Value::Bool(true));
                let places = schema.get("prefixItems").and_then(Value::as_array).cloned();
                let given = value.and_then(Value::as_array).cloned().unwrap_or_default();
                let least = schema.get("minItems").and_then(Value::as_u64).unwrap_or(1) as usize;
                let count = given.len().max(places.as_ref().map_or(least.max(1), Vec::len));
                let mut items = Vec::new();
                for at in 0..count {
                    let schema = places.as_ref().and_then(|it| it.get(at)).unwrap_or(&item).clone();
                    items.push(self.filled(given.get(at), &schema, &format!("{way}/{at}")));
                }
                Value::Array(items)
            }
            "string" => {
                let known = schema.get("const").or_else(|| schema.get("enum")?.get(0)).cloned();
                self.leaves.push(way.to_owned());
                value.cloned().or(known).unwrap_or_else(|| Value::from("word"))
            }
            "integer" => value.cloned().unwrap_or_else(|| Value::from(4)),
            "number" => value.cloned().unwrap_or_else(|| Value::from(0.5)),
            "boolean" => value.cloned().unwrap_or(Value::Bool(true)),
            _ => value.cloned().unwrap_or(Value::Null),
        }
    }

    /// The one of `forms` that `value` has, or the chosen one, joined with what `schema` says of all.
    fn form(&self, value: Option<&Value>, schema: &Value, forms: &[Value]) -> Value {
        let real: Vec<&Value> =
            forms.iter().filter(|form| form.get("type") != Some(&Value::from("null"))).collect();
        let fits = |form: &&&Value| value.is_some_and(|value| is_of(value, form));
        let chosen = real.iter().find(fits).or(real.get(self.choice % real.len().max(1)));
        let mut joined = schema.as_object().cloned().unwrap_or_default();
        joined.retain(|key, _| key != "oneOf" && key != "anyOf");
        for (key, part) in chosen.and_then(|form| form.as_object()).into_iter().flatten() {
            match (joined.get_mut(key).and_then(Value::as_object_mut), part.as_object()) {
                (Some(all), Some(more)) => all.extend(more.clone()),
                _ => {
                    joined.insert(key.clone(), part.clone());
                }
            }
        }
        Value::Object(joined)
    }

    fn object(&mut self, value: Option<&Value>, schema: &Value, way: &str) -> Value {
        let mut object = value.and_then(Value::as_object).cloned().unwrap_or_default();
        let properties = schema.get("properties").and_then(Value::as_object).cloned();
        for (name, schema) in properties.into_iter().flatten() {
            let given = object.get(&name).cloned();
            let filled = self.filled(given.as_ref(), &schema, &format!("{way}/{name}"));
            if !filled.is_null() {
                object.insert(name, filled);
            }
        }
        // Names are text too: of a table that the record keeps, and of fields of a newer version.
        let entry = schema.get("additionalProperties").filter(|it| it.is_object()).cloned();
        let name = format!("{HOSTILE}{}", object.len());
        if let Some(entry) = entry {
            let filled = self.filled(None, &entry, &format!("{way}/{}", escaped(&name)));
            object.insert(name, filled);
        } else if value.is_some() && schema.get("additionalProperties") != Some(&Value::Bool(false))
        {
            object.insert(name, Value::from(HOSTILE));
        }
        Value::Object(object)
    }
}

/// A name as a part of a JSON pointer.
fn escaped(name: &str) -> String {
    name.replace('~', "~0").replace('/', "~1")
}

/// Whether `value` may be of `form`, as far as its constants and required fields tell.
fn is_of(value: &Value, form: &Value) -> bool {
    if let Some(constant) = form.get("const") {
        return value == constant;
    }
    let properties = form.get("properties").and_then(Value::as_object);
    let constants =
        properties.into_iter().flatten().filter_map(|(name, of)| Some((name, of.get("const")?)));
    let mut all = constants.peekable();
    if all.peek().is_some() {
        return all.all(|(name, constant)| value.get(name) == Some(constant));
    }
    form.get("$ref").is_some() || kind(form, None) == kind(form, Some(value))
}

/// The type of `schema`, of several the one that `value` has or that is not null.
fn kind<'s>(schema: &'s Value, value: Option<&Value>) -> &'s str {
    let of_value = match value {
        Some(Value::String(_)) => Some("string"),
        Some(Value::Array(_)) => Some("array"),
        Some(Value::Object(_)) => Some("object"),
        Some(Value::Bool(_)) => Some("boolean"),
        Some(Value::Number(number)) if number.is_f64() => Some("number"),
        Some(Value::Number(_)) => Some("integer"),
        Some(Value::Null) | None => None,
    };
    match schema.get("type") {
        Some(Value::String(kind)) => kind,
        Some(Value::Array(kinds)) => {
            let mut names = kinds.iter().filter_map(Value::as_str);
            let same = names.clone().find(|name| Some(*name) == of_value);
            same.or_else(|| names.find(|name| *name != "null")).unwrap_or("null")
        }
        _ if schema.get("properties").is_some() => "object",
        _ if schema.get("const").is_some_and(Value::is_string) => "string",
        _ => "null",
    }
}

/// `ground` with every field of the schema but, of the trials, only that called `trial`, and hostile text in all that
/// take it; words of a fixed set stay unless `words_too`.
fn attacked(
    ground: &Record,
    trial: &str,
    choice: usize,
    words_too: bool,
    refused: &mut HashSet<String>,
) -> Record {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let definitions = schema["$defs"].as_object().unwrap();
    let mut walk = Walk { definitions, choice, leaves: Vec::new(), within: Vec::new() };
    let before = serde_json::to_value(ground).unwrap();
    let mut value = walk.filled(Some(&before), &schema, "");
    let mut words = Vec::new();
    words_in(&schema, &mut words);
    let is_record = |value: &Value| Record::from_json(&value.to_string()).is_ok();
    // What is derived on output is not read from a record that somebody hands in.
    let is_other_trial = |name: &str| Trial::FIELDS.contains(&name) && name != trial;
    let is_read = |name: &str| !["quantities", "indications"].contains(&name);
    value.as_object_mut().unwrap().retain(|name, _| is_read(name) && !is_other_trial(name));
    if !is_record(&value) {
        value = repaired(&before, &value);
    }
    assert!(is_record(&value), "{:?}", Record::from_json(&value.to_string()).err());
    let mut hostile = 0;
    let benign = value.clone();
    for _ in 0..2 {
        value.clone_from(&benign);
        hostile = 0;
        for way in &walk.leaves {
            let Some(leaf) = value.pointer_mut(way) else { continue };
            let stays_word = !words_too && words.contains(&*leaf);
            if !stays_word && !refused.contains(&kind_of_way(way)) {
                *leaf = Value::from(HOSTILE);
                hostile += 1;
            }
        }
        if is_record(&value) {
            break;
        }
        // Some fields take no such text, each tried by itself, and once of all in a list.
        let mut tried = refused.clone();
        for way in &walk.leaves {
            if benign.pointer(way).is_none() || !tried.insert(kind_of_way(way)) {
                continue;
            }
            let mut one = benign.clone();
            one.pointer_mut(way).unwrap().clone_from(&Value::from(HOSTILE));
            if !is_record(&one) {
                refused.insert(kind_of_way(way));
            }
        }
    }
    assert!(hostile > 60, "only {hostile} fields are hostile; these refuse it: {refused:?}");
    Record::from_json(&value.to_string()).unwrap()
}

/// The words that the schema lists.
fn words_in(schema: &Value, words: &mut Vec<Value>) {
    match schema {
        Value::Object(fields) => {
            words.extend(fields.get("const").cloned());
            fields.values().for_each(|part| words_in(part, words));
        }
        Value::Array(parts) => parts.iter().for_each(|part| words_in(part, words)),
        _ => {}
    }
}

/// `way` without the numbers of places in lists.
fn kind_of_way(way: &str) -> String {
    let parts = way.split('/').map(|part| if part.parse::<usize>().is_ok() { "#" } else { part });
    parts.collect::<Vec<_>>().join("/")
}

/// Of the fields that were made from the schema alone, those with which the record can be read.
fn repaired(before: &Value, made: &Value) -> Value {
    let mut value = before.clone();
    let mut dropped = Vec::new();
    for (name, field) in made.as_object().unwrap() {
        let old = value.as_object_mut().unwrap().insert(name.clone(), field.clone());
        if let Err(error) = Record::from_json(&value.to_string()) {
            dropped.push(format!("{name}: {error:?}"));
            match old {
                Some(old) => value.as_object_mut().unwrap().insert(name.clone(), old),
                None => value.as_object_mut().unwrap().remove(name),
            };
        }
    }
    assert!(dropped.is_empty(), "fields that cannot be made: {dropped:?}");
    value
}

/// What a way out makes of text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Form {
    Terminal,
    Markdown,
    Html,
    Svg,
    Csv,
}

fn assert_harmless(form: Form, name: &str, text: &str) {
    let steering = text.chars().find(|c| steers(*c) && *c != '\n');
    assert_eq!(steering, None, "{name}:\n{text}");
    let raw: &[&str] = match form {
        Form::Terminal => &[],
        Form::Markdown => &["<img", "</title></style>", "~|~", "[a]", "`c`", "![e]"],
        Form::Html | Form::Svg => &["<img", "</title></style>", "<![CDATA", "q\"q", "q'q", "q&q "],
        Form::Csv => &["\n=cmd", ",=cmd", ",\"=cmd"],
    };
    for part in raw {
        let at = text.find(part);
        assert_eq!(at, None, "{name}: {part} in {:?}", at.map(|at| around(text, at)));
    }
    if form == Form::Terminal {
        // A long line is broken between words; `assert_flat` finds lines that are forged there.
        return;
    }
    let forged = text.lines().find(|line| line.trim_start().starts_with("FORGED"));
    assert_eq!(forged, None, "{name}: a line is forged");
}

/// What stands before and behind the byte `at`.
fn around(text: &str, at: usize) -> String {
    let before: String = text[..at].chars().rev().take(200).collect();
    let after: String = text[at..].chars().take(60).collect();
    before.chars().rev().chain(after.chars()).collect()
}

fn assert_pictures(charts: &[ChartFile]) {
    for chart in charts {
        assert_harmless(Form::Svg, "picture", &chart.svg());
        assert_harmless(Form::Csv, "figures of a picture", &chart.csv);
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
        assert!(chart.name.chars().all(is_plain), "the file {:?}", chart.name);
    }
}

/// A width of a terminal.
const WIDE: u16 = 100;

/// `record` with blanks where its text breaks lines.
fn flat(record: &Record) -> Record {
    let text = serde_json::to_value(record).unwrap().to_string();
    Record::from_json(&text.replace("\\r\\n", " ").replace('\u{2028}', " ")).unwrap()
}

/// Whether no text of a record breaks a line on a terminal.
fn assert_flat(name: &str, with_breaks: &str, without: &str) {
    let differing = with_breaks.lines().zip(without.lines()).find(|(one, other)| one != other);
    assert_eq!(differing, None, "{name}: a line is forged");
    assert_eq!(with_breaks.lines().count(), without.lines().count(), "{name}: a line is forged");
}

fn assert_record(record: &Record) {
    let verdicts = judge(record);
    assert_harmless(Form::Terminal, "summary", &summary(record, &verdicts, WIDE, false));
    let plain = flat(record);
    let [one, other] = [record, &plain].map(|it| summary(it, &judge(it), WIDE, false));
    assert_flat("summary", &one, &other);
    assert_flat("title", &title(record), &title(&plain));
    assert_harmless(Form::Terminal, "title", &title(record));
    for line in record.replays.iter().flat_map(|replay| replay_lines(record, replay)) {
        assert_harmless(Form::Terminal, "replay", &line);
    }
    for line in power_cut_lines(record) {
        assert_harmless(Form::Terminal, "power cuts", &line);
    }
    assert_harmless(Form::Markdown, "Markdown", &markdown(record, &verdicts));
    assert_harmless(Form::Markdown, "short Markdown", &markdown_short(record));
    assert_harmless(Form::Html, "page", &html(record, &verdicts).unwrap());
    assert_pictures(&charts(record, &verdicts).unwrap());
    assert_pictures(&[result_picture(record)]);
    assert_answer(record);
}

/// What a check says of `record`, named by a hostile target.
fn assert_answer(record: &Record) {
    let Some(answer) = Answer::of_record(record) else { return };
    let conditions = &record.conditions;
    let page = AnswerPage {
        answer: &answer,
        conditions,
        target: HOSTILE,
        is_saved: false,
        label: Some(HOSTILE),
    };
    assert_harmless(Form::Terminal, "answer", &page.text(80, false));
    assert_harmless(Form::Markdown, "answer as Markdown", &page.markdown());
    assert_harmless(Form::Html, "answer as a page", &check_html(&page, Some(record)).unwrap());
    assert_harmless(Form::Html, "answer alone", &check_html(&page, None).unwrap());
    assert_pictures(&[check_picture(&page, Some(record)), check_picture(&page, None)]);
    if let Some(list) = published_list(record, 80) {
        assert_harmless(Form::Terminal, "published cards", &list);
    }
}

fn assert_lists(records: &[Record]) {
    let entries: Vec<Entry> = records.iter().map(Entry::of).collect();
    assert_harmless(Form::Terminal, "list", &inventory_text(&entries, None, Some(WIDE)));
    assert_harmless(Form::Terminal, "table", &inventory_table(&entries));
    assert_harmless(Form::Csv, "list as CSV", &inventory_csv(&entries));
    assert_harmless(Form::Markdown, "list as Markdown", &inventory_markdown(&entries));
    assert_harmless(Form::Html, "list as a page", &inventory_html(&entries));
}

fn assert_comparisons(records: &[Record]) {
    let contenders: Vec<Contender<'_>> = records
        .iter()
        .map(|record| Contender { name: HOSTILE.to_owned(), runs: vec![record], price: None })
        .collect();
    let comparison = compare(&contenders, Pairing::Independent, 1);
    for has_details in [false, true] {
        let view = View { wanted: Use::System, has_details };
        let text = comparison_text(&comparison, view, WIDE, false);
        assert_harmless(Form::Terminal, "comparison", &text);
        let text = comparison_markdown(&comparison, view);
        assert_harmless(Form::Markdown, "comparison as Markdown", &text);
    }
    let shown: Vec<_> = records.iter().collect();
    let page = comparison_html(&comparison, Use::System, &shown).unwrap();
    assert_harmless(Form::Html, "comparison as a page", &page);
    assert_harmless(Form::Csv, "comparison as CSV", &comparison_csv(&comparison));
    assert_pictures(&comparison_charts(&comparison, Use::System, &shown).unwrap());
}

#[test]
fn no_text_of_a_record_leaves_its_place_in_any_output() {
    let grounds = [
        records::typical_a1_card(),
        records::slow_class4(),
        records::package_installation(),
        records::interrupted(),
        records::read_only_device(),
    ];
    let mut refused = HashSet::new();
    let mut trials = Trial::FIELDS.into_iter().cycle();
    for (choice, words_too) in some_of([(1, true), (0, false), (2, false)], 3) {
        let trials = trials.by_ref();
        let attacked = |(ground, trial)| attacked(ground, trial, choice, words_too, &mut refused);
        let all: Vec<Record> = some_of(&grounds, 2).zip(trials).map(attacked).collect();
        all.iter().for_each(assert_record);
        assert_lists(&all);
        assert_comparisons(&all[..3]);
    }
}

/// Fields of several forms, such as what raises a doubt, in every one of them.
#[test]
fn no_text_of_any_form_of_a_field_leaves_its_place() {
    let schema: Value = serde_json::from_str(SCHEMA).unwrap();
    let mut refused = HashSet::new();
    let ground = records::interrupted();
    let choices = 3..forms_max(&schema);
    let all = choices.flat_map(|choice| Trial::FIELDS.map(|trial| (choice, trial)));
    // Each fourth choice, each with another trial.
    for (choice, trial) in some_of(all, 4 * Trial::FIELDS.len() + 1) {
        let record = attacked(&ground, trial, choice, false, &mut refused);
        let verdicts = judge(&record);
        assert_harmless(Form::Terminal, "summary", &summary(&record, &verdicts, WIDE, false));
        assert_harmless(Form::Markdown, "Markdown", &markdown(&record, &verdicts));
        assert_harmless(Form::Html, "page", &html(&record, &verdicts).unwrap());
    }
}

/// The most forms that any field of `schema` has.
fn forms_max(schema: &Value) -> usize {
    let own = ["oneOf", "anyOf"].iter().filter_map(|key| schema.get(*key)?.as_array());
    let own = own.map(Vec::len).max().unwrap_or(0);
    let parts: Vec<&Value> = match schema {
        Value::Object(fields) => fields.values().collect(),
        Value::Array(parts) => parts.iter().collect(),
        _ => Vec::new(),
    };
    parts.into_iter().map(forms_max).fold(own, usize::max)
}

/// With fields that only some records have, each alone, as an imported or an old record may have them.
#[test]
fn no_text_of_a_small_record_leaves_its_place() {
    let ground = records::typical_a1_card();
    let mut refused = HashSet::new();
    let lists = ["phases", "job_runs", "replays"];
    let of_trials = Trial::FIELDS.map(|trial| (trial, trial));
    for (kept, trial) in lists.map(|list| (list, "setups")).into_iter().chain(of_trials) {
        let whole = attacked(&ground, trial, 0, false, &mut refused);
        let mut value = serde_json::to_value(whole).unwrap();
        let fields = value.as_object_mut().unwrap();
        let is_optional = |name: &str| lists.contains(&name) || Trial::FIELDS.contains(&name);
        fields.retain(|name, _| !is_optional(name) || name == kept);
        assert!(fields.contains_key(kept), "{kept}");
        fields.entry("phases").or_insert_with(|| Value::Array(Vec::new()));
        let record = Record::from_json(&value.to_string()).unwrap();
        assert_record(&record);
        assert_lists(&[record]);
    }
}
