//! Values that a document shows as their sentence: JSON keeps the words beside the codes.

/// Writes each of these types as a string of its words, and describes it so in schemas.
macro_rules! told_in_words {
    ($($told:ty),+ $(,)?) => {$(
        impl serde::Serialize for $told {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $told {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                String::schema_name()
            }

            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                String::json_schema(generator)
            }
        }
    )+};
}

pub(super) use told_in_words;
