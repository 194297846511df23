//! What will be sent, as JSON that a person can read: complete, but with series on one line each.

use serde_json::Value;

/// Lists of more entries than this are written on one line.
const ENTRIES_MAX: usize = 3;

/// `value` as JSON, ending in a newline.
pub(super) fn pretty(value: &Value) -> String {
    let mut text = String::new();
    write(&mut text, value, 0);
    text.push('\n');
    text
}

fn write(text: &mut String, value: &Value, depth: usize) {
    let indent = |text: &mut String, depth: usize| {
        text.push('\n');
        text.push_str(&"  ".repeat(depth));
    };
    match value {
        Value::Object(fields) if !is_flat(value) => {
            text.push('{');
            for (at, (name, value)) in fields.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                indent(text, depth + 1);
                text.push_str(&format!("{}: ", Value::from(name.as_str())));
                write(text, value, depth + 1);
            }
            indent(text, depth);
            text.push('}');
        }
        Value::Array(entries) if !is_series(entries) => {
            text.push('[');
            for (at, value) in entries.iter().enumerate() {
                text.push_str(if at > 0 { "," } else { "" });
                indent(text, depth + 1);
                write(text, value, depth + 1);
            }
            indent(text, depth);
            text.push(']');
        }
        short => text.push_str(&short.to_string()),
    }
}

/// Whether `value` holds nothing but numbers.
fn is_flat(value: &Value) -> bool {
    match value {
        Value::Object(fields) => {
            fields.values().all(|value| value.is_number() || value.is_boolean())
        }
        other => !other.is_array(),
    }
}

/// Whether `entries` are a series of figures.
fn is_series(entries: &[Value]) -> bool {
    entries.is_empty() || (entries.len() > ENTRIES_MAX && entries.iter().all(is_flat))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn everything_is_shown_and_series_are_short() {
        let series: Vec<Value> = (0..50).map(|at| json!({"up_to_ns": at, "ops": 1})).collect();
        let value = json!({"a": {"b": "c", "histogram": series}, "d": [{"e": "f"}], "g": []});
        let text = pretty(&value);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert_eq!(text.lines().count(), 12, "{text}");
    }
}
