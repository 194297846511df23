//! Example queries on the public tables: shown on a page, and run by the tests in three engines.
//!
//! Each is a file of its own in `queries/`: a title, a remark, and one statement in the SQL that the engines share.

/// A query.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Query {
    /// Its name.
    pub name: &'static str,
    /// What it asks.
    pub title: String,
    /// What to know of its answer.
    pub about: String,
    /// The statement.
    pub text: String,
}

/// What stands for a card model in the statements.
const MODEL: &str = "MODEL";

const FILES: [(&str, &str); 5] = [
    ("random-writes-by-host", include_str!("../queries/random-writes-by-host.sql")),
    ("a2-by-command-queue", include_str!("../queries/a2-by-command-queue.sql")),
    ("life-by-model", include_str!("../queries/life-by-model.sql")),
    ("price-and-job-time", include_str!("../queries/price-and-job-time.sql")),
    ("queue-depth", include_str!("../queries/queue-depth.sql")),
];

/// All queries; those on one model are on `model`, a name in addresses.
#[must_use]
pub fn queries(model: &str) -> Vec<Query> {
    FILES.iter().map(|(name, file)| query(name, file, model)).collect()
}

fn query(name: &'static str, file: &str, model: &str) -> Query {
    let mut remarks = file.lines().filter_map(|line| line.strip_prefix("-- "));
    let statement: Vec<&str> = file.lines().filter(|line| !line.starts_with("-- ")).collect();
    Query {
        name,
        title: remarks.next().unwrap_or_default().to_owned(),
        about: remarks.next().unwrap_or_default().to_owned(),
        text: statement.join("\n").replace(MODEL, model),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_query_has_a_title_a_remark_and_a_statement() {
        for query in queries("card-x-1") {
            assert!(!query.title.is_empty() && query.about.ends_with('.'), "{}", query.name);
            assert!(query.text.starts_with("SELECT ") && !query.text.contains("--"));
            assert!(!query.text.contains(MODEL), "{}", query.text);
        }
    }
}
