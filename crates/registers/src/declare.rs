//! The form in which a register is declared: one line a field, from which its type, its decoder
//! and its table are made.

/// Declares a register.
///
/// ```text
/// register! {
///     /// What it is.
///     pub struct Name("NAME", 16) {
///         /// What the field is.
///         "SPECIFICATION_NAME" field: u8 = bits(95, 84) => |register| words(register.field);
///     }
/// }
/// ```
///
/// After the place may come a [`Certainty`](super::Certainty), without which the field is
/// `Documented`, and after `=>` what puts the value into words. `("NAME", 16, shows = METHOD)`
/// leaves fields out of the table for which `METHOD(&self, "SPECIFICATION_NAME")` is false.
macro_rules! register {
    (
        $(#[$register_doc:meta])*
        pub struct $register:ident($name:literal, $length:literal $(, shows = $shows:ident)?) {
            $(
                $(#[$doc:meta])*
                $spec:literal $field:ident: $type:ty = $position:expr $(, $certainty:ident)?
                    $(=> $meaning:expr)?;
            )+
        }
    ) => {
        $(#[$register_doc])*
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct $register {
            $(
                $(#[$doc])*
                #[doc = concat!("\n\n`", $spec, "`, at ", stringify!($position), ".")]
                pub $field: $type,
            )+
        }

        impl $register {
            /// Takes the fields from the register's bytes, whatever they are.
            #[must_use]
            pub fn decode(bytes: &[u8; $length]) -> Self {
                Self {
                    $($field: $crate::value::Value::from_number(
                        $position.read(bytes),
                    ),)+
                }
            }
        }

        impl $crate::Register for $register {
            const NAME: &'static str = $name;
            const LENGTH_BYTES: usize = $length;

            fn from_slice(bytes: &[u8]) -> Result<Self, $crate::RegisterError> {
                $crate::field::exactly($name, bytes).map(Self::decode)
            }

            fn fields(
                &self,
                serials: $crate::Serials,
            ) -> Vec<$crate::Field> {
                let mut fields = Vec::new();
                $(
                    fields.push($crate::Field {
                        name: $spec,
                        position: $position,
                        value: $crate::value::Value::shown(&self.$field, serials),
                        meaning: $crate::declare::meaning!(self $(, $meaning)?),
                        certainty: $crate::declare::certainty!($($certainty)?),
                    });
                )+
                $(fields.retain(|field| self.$shows(field.name));)?
                fields
            }
        }
    };
}

/// What a field's value means in words, nothing where no words were declared.
macro_rules! meaning {
    ($register:expr) => {
        String::new()
    };
    ($register:expr, $meaning:expr) => {{
        let meaning: fn(&Self) -> String = $meaning;
        meaning($register)
    }};
}

/// A field's certainty.
macro_rules! certainty {
    () => {
        $crate::Certainty::Documented
    };
    ($certainty:ident) => {
        $crate::Certainty::$certainty
    };
}

pub(super) use {certainty, meaning, register};
