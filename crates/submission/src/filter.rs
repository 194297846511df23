//! Reads JSON through an allowlist: what the list does not know is skipped and never kept.
//!
//! The list is walked while the text is read, so that a hostile document takes no memory beyond what the
//! list has room for, however many fields, entries or levels it has.

use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::{Map, Number, Value, json};

use crate::text;

/// What may stand at one place of a document.
pub(crate) enum Node {
    /// A finite number.
    Number,
    /// True or false.
    Flag,
    /// One of these words; any other becomes the last of them.
    OneOf(&'static [&'static str]),
    /// A word of a program's, at most 64 characters, or nothing; any other text becomes `withheld`.
    Word,
    /// As [`Word`](Self::Word), and left out where it is something else.
    MaybeWord,
    /// The name of a product, cut to so many characters; left out where it looks private.
    Name(usize),
    /// As [`Name`](Self::Name), and refused where it is longer: what a person writes is not cut in silence.
    Label(usize),
    /// As [`Name`](Self::Name), and `withheld` where it looks private: it cannot be left out.
    Title(usize),
    /// A kernel's version.
    Kernel,
    /// A device's name as the kernel gives it.
    Device,
    /// An option of a mount.
    MountOption,
    /// A moment, of which the day is kept.
    Day,
    /// A moment's day as it is.
    Date,
    /// Always this text, whatever was there.
    Always(&'static str),
    /// Always zero, whatever was there.
    Zero,
    /// At most so many entries.
    List(usize, &'static Node),
    /// These fields.
    Fields(&'static [(&'static str, &'static Node)]),
    /// These fields, and then what follows from them.
    Derived(&'static Node, fn(&mut Map<String, Value>)),
}

impl Node {
    /// What may stand here, as a JSON schema; `above` are the places around it, to end what is nested in itself.
    pub(crate) fn schema(&'static self, above: &mut Vec<*const Self>) -> Value {
        let text = |length_max: usize| json!({"type": "string", "maxLength": length_max});
        match self {
            Self::Number | Self::Zero => json!({"type": "number"}),
            Self::Flag => json!({"type": "boolean"}),
            Self::OneOf(words) => json!({"enum": words}),
            Self::Word | Self::MaybeWord => text(64),
            Self::Name(length_max) | Self::Label(length_max) | Self::Title(length_max) => {
                text(*length_max)
            }
            Self::Kernel | Self::Device | Self::MountOption => text(64),
            Self::Day => json!({"type": "string", "format": "date-time"}),
            Self::Date => json!({"type": "string", "format": "date"}),
            Self::Always(words) => json!({"const": words}),
            Self::List(length_max, node) => {
                json!({"type": "array", "maxItems": length_max, "items": node.schema(above)})
            }
            Self::Fields(fields) => {
                let here: *const Self = self;
                if above.contains(&here) {
                    return json!({"type": "object", "description": "as the object around it"});
                }
                above.push(here);
                let properties: Map<String, Value> = fields
                    .iter()
                    .map(|(name, node)| ((*name).to_owned(), node.schema(above)))
                    .collect();
                above.pop();
                json!({"type": "object", "properties": properties, "additionalProperties": false})
            }
            Self::Derived(node, _) => {
                let mut schema = node.schema(above);
                schema["properties"]["message"] = text(160);
                schema
            }
        }
    }
}

/// The most levels of a document; ours have fewer than 20.
const DEPTH_MAX: usize = 64;

/// Up to here, 2 to the 53, each whole number is a floating-point number.
const WHOLE_MAX: f64 = 9_007_199_254_740_992.0;

/// What `bytes` hold of what `node` allows.
pub(crate) fn filtered(bytes: &[u8], node: &'static Node) -> Result<Value, serde_json::Error> {
    if is_too_deep(bytes) {
        return Err(Error::custom(format_args!("it is nested deeper than {DEPTH_MAX} levels")));
    }
    // What is skipped is read too: bytes that are no text are no JSON wherever they stand.
    let text = std::str::from_utf8(bytes).map_err(|_| Error::custom("it is not UTF-8"))?;
    let mut reader = serde_json::Deserializer::from_str(text);
    let value = FieldRule { node, name: "the document" }.deserialize(&mut reader)?;
    reader.end()?;
    Ok(value.unwrap_or(Value::Null))
}

/// Whether the brackets of `bytes`, texts aside, go deeper than [`DEPTH_MAX`].
fn is_too_deep(bytes: &[u8]) -> bool {
    let (mut depth, mut in_text, mut is_escaped) = (0_usize, false, false);
    for byte in bytes {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_text => is_escaped = true,
            b'"' => in_text = !in_text,
            _ if in_text => {}
            b'[' | b'{' => depth += 1,
            b']' | b'}' => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth > DEPTH_MAX {
            return true;
        }
    }
    false
}

/// A place in the document: what is allowed there, and the name of its field.
#[derive(Clone, Copy)]
struct FieldRule {
    node: &'static Node,
    name: &'static str,
}

impl FieldRule {
    /// What is kept of `text`.
    fn of_text<E: Error>(self, text: &str) -> Result<Option<Value>, E> {
        let kept = match self.node {
            Node::OneOf(words) => {
                let known = words.iter().find(|word| **word == text).or(words.last());
                known.map(|word| (*word).to_owned())
            }
            Node::Word if text.is_empty() => Some(String::new()),
            Node::Word => Some(text::word(text, 64).unwrap_or_else(|| text::WITHHELD.to_owned())),
            Node::MaybeWord => text::word(text, 64),
            Node::Label(length_max) if text.chars().count() > *length_max => {
                let most = format_args!("'{}' has more than {length_max} characters", self.name);
                return Err(E::custom(most));
            }
            Node::Name(length_max) | Node::Label(length_max) => text::name(text, *length_max),
            Node::Title(length_max) => {
                Some(text::name(text, *length_max).unwrap_or_else(|| text::WITHHELD.to_owned()))
            }
            Node::Kernel => text::kernel(text),
            Node::Device => text::device(text),
            Node::MountOption => text::mount_option(text),
            Node::Day => Some(text::day(text)),
            Node::Date => text::is_date(text).then(|| text.to_owned()),
            Node::Always(words) => Some((*words).to_owned()),
            Node::Zero => return Ok(Some(Value::from(0))),
            _ => {
                return Err(E::custom(format_args!("'{}' is a text and should not be", self.name)));
            }
        };
        Ok(kept.map(Value::from))
    }

    fn of_number<E: Error>(self, number: Option<Number>) -> Result<Option<Value>, E> {
        match (self.node, number) {
            (Node::Number, Some(number)) => Ok(Some(Value::Number(number))),
            (Node::Zero, _) => Ok(Some(Value::from(0))),
            _ => {
                Err(E::custom(format_args!("'{}' is a number that may not stand there", self.name)))
            }
        }
    }
}

impl<'de> DeserializeSeed<'de> for FieldRule {
    type Value = Option<Value>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for FieldRule {
    type Value = Option<Value>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "what '{}' may hold", self.name)
    }

    fn visit_unit<E: Error>(self) -> Result<Self::Value, E> {
        Ok(None)
    }

    fn visit_bool<E: Error>(self, flag: bool) -> Result<Self::Value, E> {
        match self.node {
            Node::Flag => Ok(Some(Value::Bool(flag))),
            _ => Err(E::custom(format_args!("'{}' is true or false and should not be", self.name))),
        }
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Self::Value, E> {
        self.of_number(Some(number.into()))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Self::Value, E> {
        self.of_number(Some(number.into()))
    }

    fn visit_f64<E: Error>(self, number: f64) -> Result<Self::Value, E> {
        // JSON has one kind of number: 94.0 is 94, also where only whole ones may stand.
        let whole = number as i64;
        let is_whole = number.abs() <= WHOLE_MAX && whole as f64 == number;
        self.of_number(if is_whole { Some(whole.into()) } else { Number::from_f64(number) })
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Self::Value, E> {
        self.of_text(text)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let Node::List(length_max, node) = self.node else {
            return Err(A::Error::custom(format_args!(
                "'{}' is a list and should not be",
                self.name
            )));
        };
        let mut kept = Vec::new();
        while let Some(entry) = entries.next_element_seed(FieldRule { node, name: self.name })? {
            if kept.len() == *length_max {
                let most = format_args!("'{}' has more than {length_max} entries", self.name);
                return Err(A::Error::custom(most));
            }
            kept.extend(entry);
        }
        Ok(Some(Value::Array(kept)))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Self::Value, A::Error> {
        let (fields, derive) = match self.node {
            Node::Fields(fields) => (*fields, None),
            Node::Derived(Node::Fields(fields), derive) => (*fields, Some(derive)),
            _ => {
                let message = format_args!("'{}' is an object and should not be", self.name);
                return Err(A::Error::custom(message));
            }
        };
        let (mut kept, mut seen) = (Map::new(), vec![false; fields.len()]);
        while let Some(at) = entries.next_key_seed(Key(fields))? {
            let Some(at) = at else {
                entries.next_value::<IgnoredAny>()?;
                continue;
            };
            let (name, node) = fields[at];
            if std::mem::replace(&mut seen[at], true) {
                return Err(A::Error::custom(format_args!("'{name}' is there twice")));
            }
            if let Some(value) = entries.next_value_seed(FieldRule { node, name })? {
                kept.insert(name.to_owned(), value);
            }
        }
        if let Some(derive) = derive {
            derive(&mut kept);
        }
        Ok(Some(Value::Object(kept)))
    }
}

/// The place of a key among the allowed fields; `None` for a field that is not among them.
struct Key(&'static [(&'static str, &'static Node)]);

impl<'de> DeserializeSeed<'de> for Key {
    type Value = Option<usize>;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_str(self)
    }
}

impl Visitor<'_> for Key {
    type Value = Option<usize>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field's name")
    }

    fn visit_str<E: Error>(self, key: &str) -> Result<Self::Value, E> {
        Ok(self.0.iter().position(|(name, _)| *name == key))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    static INNER: Node = Node::Fields(&[("n", &Node::Number), ("deeper", &INNER)]);
    static LIST: Node = Node::List(2, &INNER);
    static OUTER: Node =
        Node::Fields(&[("list", &LIST), ("word", &Node::Word), ("flag", &Node::Flag)]);

    fn of(text: &str) -> Result<String, String> {
        filtered(text.as_bytes(), &OUTER).map(|it| it.to_string()).map_err(|e| e.to_string())
    }

    #[test]
    fn what_is_not_allowed_is_dropped_at_every_depth() {
        let text = r#"{"secret": {"word": [1]}, "list": [{"n": 1, "x": "y", "deeper": {"n": 2, "z": 3}}], "word": "a b"}"#;
        assert_eq!(of(text).unwrap(), r#"{"list":[{"deeper":{"n":2},"n":1}],"word":"withheld"}"#);
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for (text, named) in [
            (r#"{"list": 3}"#, "'list'"),
            (r#"{"flag": "yes"}"#, "'flag'"),
            (r#"{"list": [{"n": [1]}]}"#, "'n'"),
            (r#"{"list": [{}, {}, {}]}"#, "more than 2 entries"),
            (r#"{"word": "a"} x"#, "trailing"),
            (r#"{"flag": true, "flag": true}"#, "'flag' is there twice"),
            (r#"{"list": [{"n": null, "n": 1}]}"#, "'n' is there twice"),
            ("[", "the document"),
        ] {
            let error = of(text).unwrap_err();
            assert!(error.contains(named), "{text}: {error}");
        }
    }

    #[test]
    fn a_whole_number_has_one_form() {
        let list = r#"{"list": [{"n": 94.0}, {"n": 0.5}]}"#;
        assert_eq!(of(list).unwrap(), r#"{"list":[{"n":94},{"n":0.5}]}"#);
        let large = r#"{"list": [{"n": 2251799813685247.0}]}"#;
        assert_eq!(of(large).unwrap(), r#"{"list":[{"n":2251799813685247}]}"#);
    }

    #[test]
    fn what_is_skipped_is_text_too() {
        assert!(filtered(b"{\"x\": \"\xff\"}", &OUTER).is_err());
        assert_eq!(of("{\"x\": \"ÿ\", \"x\": 1}").unwrap(), "{}");
    }

    #[test]
    fn depth_has_an_end() {
        let wide = format!("{{\"x\": [{}1]}}", "[],{},".repeat(1000));
        assert_eq!(of(&wide).unwrap(), "{}");
        let brackets = format!("{{\"x\": \"{}\"}}", "[".repeat(1000));
        assert_eq!(of(&brackets).unwrap(), "{}");
        for nest in [
            format!("{{\"x\": {}", "[".repeat(100_000)),
            format!("{{\"list\": [{}", "{\"deeper\":".repeat(100_000)),
        ] {
            assert!(of(&nest).unwrap_err().contains("nested deeper than 64 levels"));
        }
    }
}
