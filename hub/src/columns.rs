//! Every column of the database: its type, and whether it is public.
//!
//! A public column may be in pages, answers and dumps; a private one never is. `tests/it/columns.rs` fails for a
//! column that is not here, and for one here that the database does not have. Backup, restore and the move to
//! another database copy these columns.

/// What a column holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Text.
    Text,
    /// A whole number of 64 bits.
    Whole,
    /// A floating-point number of 64 bits.
    Real,
    /// Bytes.
    Bytes,
}

/// Who may see a column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sight {
    /// Everybody.
    Public,
    /// Nobody but the hub.
    Private,
}

/// A column.
#[derive(Clone, Copy, Debug)]
pub struct Column {
    /// Its name.
    pub name: &'static str,
    /// What it holds.
    pub kind: Kind,
    /// Who may see it.
    pub sight: Sight,
}

/// A table.
#[derive(Clone, Copy, Debug)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// Its columns; the first ones name a row.
    pub columns: &'static [Column],
}

const fn text(name: &'static str) -> Column {
    Column { name, kind: Kind::Text, sight: Sight::Public }
}

const fn whole(name: &'static str) -> Column {
    Column { name, kind: Kind::Whole, sight: Sight::Public }
}

const fn private(column: Column) -> Column {
    Column { sight: Sight::Private, ..column }
}

/// All tables, in an order in which they can be filled.
pub const TABLES: &[Table] = &[
    Table {
        name: "submissions",
        columns: &[
            text("id"),
            whole("created_ms"),
            whole("changed_ms"),
            text("month"),
            text("state"),
            text("origin"),
            text("source"),
            text("model"),
            text("title"),
            text("card"),
            text("host"),
            text("host_name"),
            text("lot"),
            text("basis"),
            text("figures"),
            text("doubts"),
            text("verdicts"),
            whole("price_hundredths"),
            text("price_currency"),
            text("price_date"),
            whole("revision"),
            private(whole("reports")),
            private(text("submitter")),
            text("document_sha256"),
            private(text("token_hash")),
            private(text("key_hash")),
            private(text("sent_sha256")),
            Column { name: "document", kind: Kind::Bytes, sight: Sight::Public },
        ],
    },
    Table { name: "tombstones", columns: &[text("id"), whole("deleted_ms")] },
    Table { name: "months", columns: &[text("month"), whole("changed_ms"), text("version")] },
    Table {
        name: "audit",
        columns: &[
            private(text("id")),
            private(whole("at_ms")),
            private(text("actor")),
            private(text("action")),
            private(text("subject")),
            private(text("reason")),
        ],
    },
    Table {
        name: "administrators",
        columns: &[
            private(text("name")),
            private(whole("created_ms")),
            private(text("token_hash")),
        ],
    },
    Table { name: "bans", columns: &[private(text("submitter")), private(whole("banned_ms"))] },
    Table { name: "secrets", columns: &[private(text("name")), private(text("secret"))] },
];
