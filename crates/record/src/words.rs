//! The words of a record that rules depend on, as types that keep what they do not know.
//!
//! A record may come from a later version or from another tool, and have a word that this version
//! does not know. Such a word is kept as it is and handed on, and no rule takes it for a known one.

use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};

/// An enum whose values are words in a record, with a fallback for any other word.
macro_rules! words {
    (
        $(#[$doc:meta])*
        pub enum $name:ident { $( $(#[$variant_doc:meta])* $variant:ident = $word:literal, )* }
    ) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[serde(from = "String", into = "String")]
        pub enum $name {
            $( $(#[$variant_doc])* $variant, )*
            /// A word of a later version, or of another tool.
            Other(String),
        }

        impl $name {
            /// The word in a record.
            #[must_use]
            pub fn as_str(&self) -> &str {
                match self {
                    $( Self::$variant => $word, )*
                    Self::Other(word) => word,
                }
            }
        }

        impl From<String> for $name {
            fn from(word: String) -> Self {
                match word.as_str() {
                    $( $word => Self::$variant, )*
                    _ => Self::Other(word),
                }
            }
        }

        open_words!($name, concat!("Known words:" $(, " `", $word, "`")*));
    };
}

/// What every type of words has beside its variants.
macro_rules! open_words {
    ($name:ident, $known:expr) => {
        impl From<&str> for $name {
            fn from(word: &str) -> Self {
                word.to_owned().into()
            }
        }

        impl From<$name> for String {
            fn from(word: $name) -> Self {
                word.to_string()
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                self.as_str().fmt(f)
            }
        }

        #[cfg(feature = "schema")]
        impl schemars::JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                schemars::json_schema!({ "type": "string", "description": $known })
            }
        }
    };
}

words! {
    /// How a device is attached.
    pub enum Transport {
        /// An SD card on a host of its own.
        Sd = "sd",
        /// An eMMC.
        Mmc = "mmc",
        /// USB, readers of cards included.
        Usb = "usb",
        /// NVMe.
        Nvme = "nvme",
        /// Serial ATA.
        Sata = "sata",
        /// Universal Flash Storage, cards of that kind included.
        Ufs = "ufs",
        /// A virtual machine's disk.
        Virtio = "virtio",
        /// A file as a block device.
        Loop = "loop",
        /// Compressed memory.
        Zram = "zram",
        /// Memory.
        Ram = "ram",
        /// A volume of the device mapper.
        Dm = "dm",
        /// An array of several devices.
        Md = "md",
    }
}

words! {
    /// The I/O engine.
    pub enum EngineName {
        /// Linux's io_uring.
        IoUring = "io_uring",
        /// Positioned reads and writes on threads.
        Psync = "psync",
        /// The null engine: operations complete at once.
        Null = "null",
        /// A simulated card.
        Simulated = "simulated",
        /// A job on files.
        Files = "files",
        /// SQLite.
        Sqlite = "sqlite",
    }
}

impl Default for EngineName {
    /// The empty word: unknown.
    fn default() -> Self {
        Self::Other(String::new())
    }
}

/// How writes are made durable: `none`, `flush-at-end`, or `fsync-every-N`.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(from = "String", into = "String")]
pub enum SyncMode {
    /// Nothing.
    #[default]
    None,
    /// One flush after the last write.
    FlushAtEnd,
    /// A flush after each group of this many writes.
    FsyncEvery(NonZeroU32),
    /// A word of a later version, or of another tool.
    Other(String),
}

/// What stands before the number of writes.
const EVERY: &str = "fsync-every-";

impl SyncMode {
    /// A flush after every `writes`; none at all for zero.
    #[must_use]
    pub fn every(writes: u32) -> Self {
        NonZeroU32::new(writes).map_or(Self::None, Self::FsyncEvery)
    }

    /// After how many writes a flush waits; `None` where at most at the end.
    #[must_use]
    pub fn fsync_every(&self) -> Option<u32> {
        match self {
            Self::FsyncEvery(writes) => Some(writes.get()),
            _ => None,
        }
    }

    /// The word in a record.
    fn as_str(&self) -> std::borrow::Cow<'_, str> {
        match self {
            Self::None => "none".into(),
            Self::FlushAtEnd => "flush-at-end".into(),
            Self::FsyncEvery(writes) => format!("{EVERY}{writes}").into(),
            Self::Other(word) => word.into(),
        }
    }
}

impl From<String> for SyncMode {
    fn from(word: String) -> Self {
        let writes = || word.strip_prefix(EVERY)?.parse().ok().map(Self::FsyncEvery);
        match word.as_str() {
            "none" => Self::None,
            "flush-at-end" => Self::FlushAtEnd,
            // A number in another form than ours stays the word that it is.
            _ => writes().filter(|mode| mode.as_str() == word).unwrap_or(Self::Other(word)),
        }
    }
}

open_words!(SyncMode, "`none`, `flush-at-end`, or `fsync-every-N`");
