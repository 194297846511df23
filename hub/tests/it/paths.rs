//! A path is what the file system takes it for, whatever it is spelled like: nothing in it is read as an address.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::common::{Hub, On, TestData, document, skip};
use crate::running::refusal;

/// Names that an address would read in another way, and some that it would not, below the directory of [`Tree`].
const NAMES: &[&str] = &[
    "plain.sqlite",
    "./here.sqlite",
    "../up.sqlite",
    "../../up-two.sqlite",
    "../../../up-three.sqlite",
    "x/../beside.sqlite",
    "x/../../z.sqlite",
    "link/../of-the-target.sqlite",
    "./x/./y/.././w.sqlite",
    "x//double.sqlite",
    "p q.sqlite",
    " begins and ends ",
    "hub:2026.sqlite",
    "2026-11-27T03:37.sqlite",
    "p%20q.sqlite",
    "%2e%2e%2fup.sqlite",
    "%",
    "what?mode=ro",
    "file:x.sqlite",
    "sqlite:x.sqlite",
    ":memory:",
    "number#1",
    "a&b=c;d,e",
    "back\\slash",
    "quo'te\"s",
    "new\nline",
    "user@host",
    "[::1]",
    "{a}|^`<b>",
    "größe-保存-🗄.sqlite",
    "...",
    "..hidden",
    "~",
    "+plus",
    "-dash",
];

/// A directory to run in, three below the top, with directories `x/y` and a link to another.
struct Tree {
    top: tempfile::TempDir,
    here: PathBuf,
}

impl Tree {
    fn new() -> Self {
        let top = tempfile::tempdir().unwrap();
        let here = top.path().join("a/b/c");
        fs::create_dir_all(here.join("x/y")).unwrap();
        fs::create_dir_all(top.path().join("far/away")).unwrap();
        std::os::unix::fs::symlink(top.path().join("far/away"), here.join("link")).unwrap();
        Self { top, here }
    }

    /// Each name as it is and, in a thorough run, after the directory's own.
    fn names(&self) -> impl Iterator<Item = PathBuf> {
        let is_thorough = std::env::var_os("CARDPROOF_TEST_THOROUGH").is_some();
        let whole = NAMES.iter().filter(move |_| is_thorough).map(|name| self.here.join(name));
        NAMES.iter().map(PathBuf::from).chain(whole)
    }

    /// A command of the hub's in the data directory `data`, run in this tree.
    fn command(&self, place: &TestData, name: &str, data: &Path) -> Command {
        let mut command = Command::new(place.command(name).get_program());
        command.arg(name).arg(joined("--data=", data)).env_remove("CARDPROOF_HUB_DATABASE");
        command.current_dir(&self.here);
        command
    }
}

/// An option and its value in one word, as a value that begins with - needs it.
fn joined(option: &str, value: &Path) -> std::ffi::OsString {
    let mut word = std::ffi::OsString::from(option);
    word.push(value);
    word
}

/// What `command` says when it goes well.
fn told(command: &mut Command) -> String {
    let output = command.output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// A hub that was stopped, with `count` records.
fn hub_of(count: usize) -> TestData {
    let place = TestData::new(On::Sqlite).unwrap();
    let mut hub = place.start(&["--no-seed", "--no-dump"]);
    for at in 0..count {
        hub.submitted(&document(&format!("Card {at}"), 100.0 + at as f64));
    }
    hub.stop();
    place
}

#[test]
fn a_backup_is_where_its_name_says_and_is_restored_from_there() {
    let (place, tree) = (hub_of(3), Tree::new());
    for (at, name) in tree.names().enumerate() {
        let mut backup = tree.command(&place, "backup", place.data.path());
        told(backup.arg(joined("--to=", &name)));
        let file = tree.here.join(&name);
        assert!(file.is_file(), "{name:?} was written elsewhere");
        let data = tree.top.path().join(format!("restored-{at}"));
        let mut restore = tree.command(&place, "restore", &data);
        let said = told(restore.arg(joined("--from=", &name)));
        assert!(said.contains("restored: 3 records, "), "{name:?}: {said}");
        fs::remove_file(file).unwrap();
    }
    let left = |at: &Path| {
        fs::read_dir(at).unwrap().filter(|it| it.as_ref().unwrap().path().is_file()).count()
    };
    for directory in ["a", "a/b", "a/b/c", "a/b/c/x", "a/b/c/x/y", "far", "far/away", "."] {
        assert_eq!(left(&tree.top.path().join(directory)), 0, "something was left in {directory}");
    }
}

#[test]
fn a_data_directory_is_where_its_name_says() {
    let (place, tree) = (hub_of(2), Tree::new());
    let file = tree.top.path().join("copy.sqlite");
    told(tree.command(&place, "backup", place.data.path()).arg("--to").arg(&file));
    for name in tree.names().map(|name| name.with_added_extension("d")) {
        let data = tree.here.join(&name);
        told(tree.command(&place, "restore", &name).arg("--from").arg(&file));
        for made in ["hub.sqlite", "database", "lock"] {
            assert!(data.join(made).is_file(), "{name:?} has no {made}");
        }
        told(tree.command(&place, "add-administrator", &name).arg("anna"));
        let out = data.join("again.sqlite");
        let said = told(tree.command(&place, "backup", &name).arg("--to").arg(&out));
        assert!(said.contains(": 2 records, "), "{name:?}: {said}");
        assert!(
            told(&mut tree.command(&place, "dump", &name)).starts_with("2 records"),
            "{name:?}"
        );
        told(tree.command(&place, "revoke-administrator", &name).arg("anna"));
        fs::remove_dir_all(data).unwrap();
    }
}

#[test]
fn a_hub_serves_the_data_directory_that_was_named() {
    let tree = Tree::new();
    let place = TestData::new(On::Sqlite).unwrap();
    for name in ["../../n2", "x/../../n3", "p q:%20#1?", "größe", "-dash"] {
        let name = Path::new(name);
        let mut command = tree.command(&place, "serve", name);
        command.args(["--listen", "127.0.0.1:0", "--no-seed"]);
        let mut hub = Hub::start(command, tree.command(&place, "dump", name));
        let (id, _) = hub.submitted(&document("Kept", 1.0));
        // What the hub starts to make the raw data finds the directory too.
        let manifest = tree.here.join(name).join("dump/manifest.json");
        while !manifest.exists() {
            assert!(!hub.log.lock().unwrap().contains("the process failed"), "{name:?}");
            assert_eq!(hub.get("/healthz").status, 200);
        }
        hub.stop();
        assert!(tree.here.join(name).join("hub.sqlite").is_file(), "{name:?}");
        let mut again = tree.command(&place, "serve", &tree.here.join(name));
        again.args(["--listen", "127.0.0.1:0", "--no-seed", "--no-dump"]);
        let hub = Hub::start(again, tree.command(&place, "dump", name));
        assert_eq!(hub.get(&format!("/r/{id}")).status, 200, "{name:?}");
    }
}

/// Both are there, so that to read the other one would go well.
#[test]
fn of_two_files_the_named_one_is_read() {
    let (one, two, tree) = (hub_of(1), hub_of(2), Tree::new());
    for (place, name) in [(&one, "../../b.sqlite"), (&two, "../b.sqlite")] {
        told(place.command("backup").arg("--to").arg(tree.here.join(name)));
    }
    for (name, count) in [("../../b.sqlite", 1), ("../b.sqlite", 2), ("link/../../a/b.sqlite", 1)] {
        let data = tree.top.path().join(name.replace('/', "-"));
        let said = told(tree.command(&one, "restore", &data).arg("--from").arg(name));
        assert!(said.contains(&format!("restored: {count} records, ")), "{name}: {said}");
    }
}

#[test]
fn what_cannot_be_opened_is_named() {
    let (place, tree) = (hub_of(1), Tree::new());
    let data = place.data.path();
    for name in ["../../absent/b.sqlite", "absent/../b:1.sqlite"] {
        let said = refusal(tree.command(&place, "backup", data).arg("--to").arg(name));
        assert!(said.contains(&format!("cannot write {name}: ")), "{said}");
        let said = refusal(tree.command(&place, "restore", Path::new("n")).arg("--from").arg(name));
        assert!(said.contains(&format!("no file {name}")), "{said}");
    }
    let file = data.join("hub.sqlite");
    fs::remove_file(&file).unwrap();
    let said = refusal(tree.command(&place, "add-administrator", data).arg("anna"));
    assert!(said.contains(&format!("cannot open {}: ", file.display())), "{said}");
    fs::write(&file, "no database").unwrap();
    let said = refusal(tree.command(&place, "add-administrator", data).arg("anna"));
    assert!(said.contains(&file.display().to_string()), "{said}");
}

#[test]
fn a_move_to_postgres_reads_the_data_directory_that_was_named() {
    let target = match TestData::new(On::Postgres) {
        Ok(target) => target,
        Err(reason) => {
            let name = "paths::a_move_to_postgres_reads_the_data_directory_that_was_named";
            return skip(name, &reason);
        }
    };
    let (place, tree) = (hub_of(2), Tree::new());
    let file = tree.top.path().join("copy.sqlite");
    told(place.command("backup").arg("--to").arg(&file));
    let data = Path::new("../../p q:%20#1?");
    told(tree.command(&place, "restore", data).arg("--from").arg(&file));
    let mut migrate = tree.command(&place, "migrate", data);
    let said = told(migrate.arg("--to").arg(target.url.as_ref().unwrap()));
    assert!(said.starts_with("moved: 2 records, "), "{said}");
}
