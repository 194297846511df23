//! What can go wrong, with the status and the words that a client gets.
//!
//! A client is told what it can do about it. It is never told a query, an address or a path of the server's.

use cardproof_submission::{LENGTH_MAX, Refusal};
use cardproof_units::in_words;

use crate::log;

/// `found`, or none and a line in the log where only this record is concerned: what shows many goes on without it.
///
/// # Errors
/// Those that concern more than the record.
pub fn or_left_out<T>(found: Result<T, Error>) -> Result<Option<T>, Error> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.is_of_one_record() => {
            log::event("left_out", &[("detail", error.detail().into())]);
            Ok(None)
        }
        Err(other) => Err(other),
    }
}

/// Why something could not be done.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The document is not taken.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The request makes no sense; the text says why and what to send.
    #[error("{0}")]
    Request(String),
    /// There is no such thing.
    #[error("there is nothing of this name here")]
    NotFound,
    /// It was deleted.
    #[error("this record was deleted")]
    Gone,
    /// A document in the database that cannot be read: the submission, and why.
    #[error(
        "the hub cannot read this record as it is kept, and its log says why; it can still be deleted with its token"
    )]
    Unreadable(String, String),
    /// No token, or the wrong one.
    #[error(
        "this takes its token: as `Authorization: Bearer TOKEN`; in a browser administrators give the name admin and their \
         token as the password"
    )]
    WrongToken,
    /// The same key with another document.
    #[error("this Idempotency-Key was used for another record; use a new key")]
    KeyReused,
    /// A price of a day to come.
    #[error(
        "the date of the price is in the future; set the clock right, or send it when the day has come"
    )]
    PriceToCome,
    /// Too many in too short a time.
    #[error(
        "too many submissions in this hour; try again later, or queue them (cardproof submit --queue)"
    )]
    TooMany,
    /// Longer than it may be.
    #[error("the body is longer than {0} bytes")]
    TooLong(usize),
    /// Short as it was sent, and longer than it may be as it is kept: `1e15` is `1000000000000000` there.
    #[error(
        "the document has {0} bytes once its numbers are written out as the hub keeps them; at most {LENGTH_MAX} are taken"
    )]
    TooLongKept(usize),
    /// The body's encoding is none that the hub reads.
    #[error("send Content-Type: application/json, as it is or with Content-Encoding: gzip")]
    Encoding,
    /// The body did not arrive in time.
    #[error("the body did not arrive in time")]
    TooSlow,
    /// There is no dump yet.
    #[error("no raw data were made yet; a hub makes them every hour, or when its operator likes")]
    NoDump,
    /// More work than the hub can hold in memory.
    #[error("the hub is busy; try again in a moment")]
    Busy,
    /// The answer took too long to make.
    #[error(
        "the hub did not answer in time; try again later: what it has kept already it does not keep twice"
    )]
    Late,
    /// The database does not answer.
    #[error(
        "the hub's database does not answer; try again later: what it has kept already it does not keep twice"
    )]
    Database(#[source] sqlx::Error),
    /// The data directory was removed, or another was put in its place.
    #[error(
        "the hub's data directory has gone or was replaced, so nothing can be kept or read; its operator must start the \
         hub again"
    )]
    DataGone,
    /// The disk is full.
    #[error("the hub's disk is full; nothing was changed; try again later")]
    DiskFull,
    /// The program was started wrongly.
    #[error("{0}")]
    Setup(String),
    /// A file of the hub's own.
    #[error("{0}")]
    File(String, #[source] std::io::Error),
    /// A fault of the hub's.
    #[error("the hub made a mistake; its log has it")]
    Internal(String),
}

impl Error {
    /// What [`name`](Self::name) may be of what a client is told.
    pub const NAMES: [&str; 20] = [
        "refused",
        "request",
        "not_found",
        "gone",
        "unreadable",
        "wrong_token",
        "key_reused",
        "price_to_come",
        "too_many",
        "too_long",
        "encoding",
        "too_slow",
        "busy",
        "late",
        "database",
        "data_gone",
        "disk_full",
        "setup",
        "file",
        "internal",
    ];

    /// The HTTP status.
    #[must_use]
    pub const fn status(&self) -> u16 {
        match self {
            Self::Refused(Refusal::TooLong(_)) | Self::TooLong(_) | Self::TooLongKept(_) => 413,
            Self::Refused(_) => 422,
            Self::Request(_) => 400,
            Self::NotFound => 404,
            Self::Gone => 410,
            Self::WrongToken => 401,
            Self::KeyReused | Self::PriceToCome => 409,
            Self::TooMany => 429,
            Self::Encoding => 415,
            Self::TooSlow => 408,
            Self::Busy | Self::NoDump | Self::Late | Self::DataGone | Self::Database(_) => 503,
            Self::DiskFull => 507,
            Self::Unreadable(..) | Self::Setup(_) | Self::File(..) | Self::Internal(_) => 500,
        }
    }

    /// Whether it is the fault or the absence of one record, so that what shows many may do without it.
    #[must_use]
    pub const fn is_of_one_record(&self) -> bool {
        matches!(self, Self::NotFound | Self::Gone | Self::Unreadable(..))
    }

    /// A word for logs and metrics, without anything of the request in it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Refused(_) => "refused",
            Self::Request(_) => "request",
            Self::NotFound => "not_found",
            Self::Gone => "gone",
            Self::Unreadable(..) => "unreadable",
            Self::WrongToken => "wrong_token",
            Self::KeyReused => "key_reused",
            Self::PriceToCome => "price_to_come",
            Self::TooMany => "too_many",
            Self::TooLong(_) | Self::TooLongKept(_) => "too_long",
            Self::Encoding => "encoding",
            Self::TooSlow => "too_slow",
            Self::Busy | Self::NoDump => "busy",
            Self::Late => "late",
            Self::Database(_) => "database",
            Self::DataGone => "data_gone",
            Self::DiskFull => "disk_full",
            Self::Setup(_) => "setup",
            Self::File(..) => "file",
            Self::Internal(_) => "internal",
        }
    }

    /// Whether the database refuses a value of one row, so that others may do without it: PostgreSQL's classes of bad
    /// values and broken constraints, and SQLite's too big, constraint and mismatch.
    #[must_use]
    pub fn is_of_one_row(&self) -> bool {
        let Self::Database(sqlx::Error::Database(error)) = self else { return false };
        let code = error.code().unwrap_or_default();
        (code.len() == 5 && (code.starts_with("22") || code.starts_with("23")))
            || code.parse::<u32>().is_ok_and(|code| [18, 19, 20].contains(&(code & 0xff)))
    }

    /// The same error for another who waits for the same thing.
    #[must_use]
    pub fn again(&self) -> Self {
        match self {
            Self::Busy => Self::Busy,
            Self::Late => Self::Late,
            Self::DataGone => Self::DataGone,
            Self::DiskFull => Self::DiskFull,
            Self::Database(sqlx::Error::PoolTimedOut) => Self::Database(sqlx::Error::PoolTimedOut),
            Self::Database(_) => Self::Database(sqlx::Error::WorkerCrashed),
            other => Self::Internal(format!("{}: {}", other.name(), other.detail())),
        }
    }

    /// What a client is told.
    #[must_use]
    pub fn told(&self) -> String {
        match self {
            Self::Setup(_) | Self::File(..) => "the hub made a mistake; its log has it".to_owned(),
            other => other.to_string(),
        }
    }

    /// The message for the operator, on the console or in the log.
    #[must_use]
    pub fn at_console(&self) -> String {
        match self {
            Self::Database(source) => format!("the database failed: {}", of_database(source)),
            Self::DiskFull => "the disk is full; nothing was kept".to_owned(),
            Self::File(what, source) if source.kind() == std::io::ErrorKind::PermissionDenied => {
                format!(
                    "{what}: {}; run this as the user who owns it, or change the owner",
                    in_words(source)
                )
            }
            Self::File(what, source) => format!("{what}: {}", in_words(source)),
            Self::Internal(what) => what.clone(),
            Self::Unreadable(id, why) => format!("the record {id} cannot be read: {why}"),
            other => other.to_string(),
        }
    }

    /// What the log gets beyond the name; nothing of a request.
    #[must_use]
    pub fn detail(&self) -> String {
        match self {
            Self::Database(source) => match source {
                sqlx::Error::Database(error) => {
                    format!("database error {}", error.code().unwrap_or_default())
                }
                sqlx::Error::PoolTimedOut => "no connection in time".to_owned(),
                sqlx::Error::Io(error) => format!("connection: {}", error.kind()),
                _ => "database".to_owned(),
            },
            Self::File(_, error) => error.kind().to_string(),
            Self::Internal(what) | Self::Setup(what) => what.clone(),
            Self::Unreadable(id, why) => format!("the record {id}: {why}"),
            _ => String::new(),
        }
    }
}

/// What `error` says to an operator: the database's own words without the line of its source.
#[must_use]
pub fn of_database(error: &sqlx::Error) -> String {
    match error {
        sqlx::Error::Database(error) => error.message().to_owned(),
        sqlx::Error::Io(error) => format!("the connection to it failed: {}", in_words(error)),
        other => other.to_string(),
    }
}

impl From<sqlx::Error> for Error {
    fn from(error: sqlx::Error) -> Self {
        if let sqlx::Error::Database(of_database) = &error {
            let code = of_database.code().unwrap_or_default();
            // SQLITE_FULL, and PostgreSQL's disk_full.
            if code == "13" || code == "53100" {
                return Self::DiskFull;
            }
        }
        Self::Database(error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_permitted_says_who_may() {
        let of = |kind: std::io::ErrorKind| Error::File("cannot lock /x".to_owned(), kind.into());
        let told = of(std::io::ErrorKind::PermissionDenied).at_console();
        assert!(told.starts_with("cannot lock /x: ") && told.contains("the user who owns it"));
        assert!(!of(std::io::ErrorKind::NotFound).at_console().contains("owns"));
    }

    #[test]
    fn what_the_system_says_is_told_in_words() {
        let error = |number| std::io::Error::from_raw_os_error(number);
        let file = Error::File("cannot lock /x".to_owned(), error(2));
        assert_eq!(file.at_console(), "cannot lock /x: No such file or directory");
        let owned = Error::File("cannot lock /x".to_owned(), error(13));
        let told = "cannot lock /x: Permission denied; run this as the user who owns it, or change the owner";
        assert_eq!(owned.at_console(), told);
        let database = Error::Database(sqlx::Error::Io(error(111)));
        let told = "the database failed: the connection to it failed: Connection refused";
        assert_eq!(database.at_console(), told);
    }
}
