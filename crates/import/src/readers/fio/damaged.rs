//! What is whole of fio's JSON when its end is missing or something in it is no JSON.
//!
//! People paste the beginning of a document, or shorten it. The text up to the fault is cut back to the
//! last value that is whole and closed; a value at the cut, such as half a number, is dropped. A job
//! counts when both of its directions stand in it, apart or together, or when it only reads and its reads do.

use serde_json::{Map, Value};

use crate::cut_json::{Cut, closed, offset_of};

/// The document up to the fault that `error` names, with the jobs that are whole, and how many bytes of
/// `text` it takes. Nothing where no job is whole.
pub(super) fn whole_jobs<D>(text: &str, error: &serde_json::Error) -> Option<(D, usize)>
where
    D: serde::de::DeserializeOwned,
{
    let Cut { closed, until, .. } = closed(&text[..offset_of(text, error)])?;
    let mut document: Map<String, Value> = serde_json::from_str(&closed).ok()?;
    let global = document.get("global options").cloned().unwrap_or_default();
    let jobs = ["jobs", "client_stats"].into_iter().find(|name| document.contains_key(*name))?;
    let Some(Value::Array(jobs)) = document.get_mut(jobs) else { return None };
    if let Some(last) = jobs.pop() {
        jobs.extend(whole_job(last, &global));
    }
    if jobs.is_empty() {
        return None;
    }
    // Not `from_value`: the code that reads a document from a value would be in the program for this.
    let document = serde_json::from_str(&Value::Object(document).to_string()).ok()?;
    Some((document, until))
}

/// `job`, which may be cut, where its figures are whole: writes that are missing were none where it was
/// asked to read alone.
fn whole_job(mut job: Value, global: &Value) -> Option<Value> {
    let is_whole = |direction: Option<&Value>| {
        direction
            .is_some_and(|it| ["bw", "iops", "runtime"].iter().all(|key| it.get(key).is_some()))
    };
    let is_apart = is_whole(job.get("read")) && is_whole(job.get("write"));
    if is_apart || job.get("read").is_none() && is_whole(job.get("mixed")) {
        return Some(job);
    }
    let options = job.get("job options").unwrap_or(&Value::Null);
    let asked = |options: &Value| {
        let rw = options.get("rw").or_else(|| options.get("readwrite"));
        rw.and_then(Value::as_str).map(str::to_owned)
    };
    let asked = asked(options).or_else(|| asked(global));
    let only_reads = matches!(asked.as_deref(), Some("read" | "randread"));
    if !(only_reads && is_whole(job.get("read"))) {
        return None;
    }
    job.as_object_mut()?.insert("write".to_owned(), Value::Object(Map::new()));
    Some(job)
}
