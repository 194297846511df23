//! What an operator relies on: no command makes a database by accident, none mistakes one hub for another, and a hub
//! that was told to end does so whenever that was.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use serde_json::Value;

use crate::common::client::request;
use crate::common::{On, TestData, document, skip};

on_both!(
    only_serve_and_restore_make_a_database,
    one_hub_serves_a_database,
    its_owner_alone_reads_the_database,
    the_kind_of_database_is_noted,
    a_backup_changes_nothing_of_an_older_database,
    no_link_follows_what_a_client_sends,
    a_hub_that_was_just_started_ends_in_order,
    what_root_makes_belongs_to_the_owner_of_the_directory,
    an_address_that_is_taken_is_told,
    whom_to_write_to_is_on_every_page,
    what_is_worth_an_alert_is_there_from_the_start,
);

/// What `command` says on standard error, when it fails.
pub(crate) fn refusal(command: &mut std::process::Command) -> String {
    let output = command.output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{command:?}");
    String::from_utf8(output.stderr).unwrap()
}

fn only_serve_and_restore_make_a_database(place: &TestData) {
    let to = place.data.path().join("copy.sqlite");
    let mut commands = [
        place.command("dump"),
        place.command("backup"),
        place.command("add-administrator"),
        place.command("revoke-administrator"),
    ];
    commands[1].arg("--to").arg(&to);
    commands[2].arg("anna");
    commands[3].arg("anna");
    for command in &mut commands {
        let told = refusal(command);
        assert!(told.contains("there is no hub in") && told.contains("`serve`"), "{told}");
        assert_eq!(fs::read_dir(place.data.path()).unwrap().count(), 0, "{command:?}");
    }
    drop(place.start(&[]));
    assert!(commands.iter_mut().all(|command| command.output().unwrap().status.success()));
}

fn one_hub_serves_a_database(place: &TestData) {
    let mut hub = place.start(&["--no-seed", "--no-dump"]);
    let serve = |place: &TestData| {
        let mut command = place.command("serve");
        command.args(["--listen", "127.0.0.1:0"]);
        command
    };
    let told = refusal(&mut serve(place));
    let is_json = |line: &str| serde_json::from_str::<Value>(line).is_ok();
    assert!(told.lines().all(is_json), "{told}");
    if place.on == On::Postgres {
        // The same database from another directory.
        let data = tempfile::tempdir().unwrap();
        let other = TestData { on: place.on, data, url: place.url.clone() };
        refusal(&mut serve(&other));
    }
    hub.kill();
    assert!(place.start(&["--no-seed", "--no-dump"]).stop().success());
}

fn its_owner_alone_reads_the_database(place: &TestData) {
    fs::set_permissions(place.data.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let _hub = place.start(&["--no-dump"]);
    for entry in fs::read_dir(place.data.path()).unwrap() {
        let path = entry.unwrap().path();
        let mode = path.metadata().unwrap().permissions().mode();
        assert!(path.is_dir() || mode & 0o077 == 0, "{}: {mode:o}", path.display());
    }
}

fn the_kind_of_database_is_noted(place: &TestData) {
    drop(place.start(&[]));
    let mut command = match place.on {
        On::Sqlite => {
            let mut command = place.command("serve");
            command.args(["--database", "postgres://postgres@localhost/none?host=/nowhere"]);
            command
        }
        On::Postgres => {
            let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_cardproof-hub"));
            command.arg("serve").arg("--data").arg(place.data.path());
            command.env_remove("CARDPROOF_HUB_DATABASE");
            command
        }
    };
    let told = refusal(command.args(["--listen", "127.0.0.1:0"]));
    let expected = match place.on {
        On::Sqlite => "keeps its records in SQLite; leave --database out",
        On::Postgres => "keeps its records in PostgreSQL; give its address with --database",
    };
    assert!(told.contains(expected), "{told}");
}

fn a_backup_changes_nothing_of_an_older_database(place: &TestData) {
    drop(place.start(&["--no-seed", "--no-dump"]));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let forms = |set: Option<&'static str>| {
        runtime.block_on(async {
            use sqlx::Row;
            let db = place.open().await;
            let mut step = db.write().await.unwrap();
            if let Some(text) = set {
                sqlx::query(text).execute(&mut *step).await.unwrap();
            }
            let row = sqlx::query("SELECT COUNT(*) AS n, MAX(version) AS v FROM migrations");
            let row = row.fetch_one(&mut *step).await.unwrap();
            let found = (row.get::<i64, _>("n"), row.get::<i64, _>("v"));
            step.commit().await.unwrap();
            db.close().await;
            found
        })
    };
    let made = forms(None);
    forms(Some("UPDATE migrations SET version = version + 1000"));
    let to = place.data.path().join("copy.sqlite");
    let told = refusal(place.command("backup").arg("--to").arg(&to));
    assert!(told.contains("form") && told.contains("serve"), "{told}");
    assert!(!to.exists(), "half a backup is none");
    assert_eq!(made.0, 1);
}

fn no_link_follows_what_a_client_sends(place: &TestData) {
    let hub = place.start(&["--no-dump"]);
    let evil = ("Host", "evil.example");
    let body = document("Any", 1.0).to_string();
    let sent = |method: &str, path: &str, body: &[u8]| {
        let text = format!(
            "{method} {path} HTTP/1.1\r\nHost: evil.example\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        crate::common::client::raw(&hub.address, &[text.as_bytes(), body].concat())
    };
    let answers = [
        sent("POST", "/api/v1/submissions", body.as_bytes()),
        sent("GET", "/feed.atom", b""),
        sent("GET", "/data/queries", b""),
        sent("GET", "/", b""),
    ];
    for answer in &answers {
        assert!(matches!(answer.status, 200 | 201), "{}", answer.text());
        assert!(
            !answer.text().contains(evil.1) && !answer.head.contains(evil.1),
            "{}",
            answer.text()
        );
    }
    assert!(answers[1].text().contains(&format!("http://{}/r/", hub.address)));
    drop(hub);
    let public = place.start(&["--no-dump", "--public-url", "https://hub.example.org/"]);
    let feed = request(&public.address, "GET", "/feed.atom", &[], b"").text();
    assert!(feed.contains("https://hub.example.org/r/"), "{feed}");
    let home = public.get("/").text();
    assert!(home.contains("submit latest --to https://hub.example.org</pre>"), "{home}");
    drop(public);
    // Behind a proxy nobody reaches the address that it listens on.
    let unknown = place.start(&["--no-dump", "--behind-proxy"]);
    assert!(unknown.log_with("\"ready\"").contains("start the hub with --public-url"));
}

fn whom_to_write_to_is_on_every_page(place: &TestData) {
    let hub = place.start(&["--no-dump"]);
    assert!(hub.log_with("\"ready\"").contains("start the hub with --contact"));
    let id = "sim-v30-a2";
    let pages = ["/", "/about", "/r/none", &format!("/r/{id}")];
    assert!(pages.iter().all(|path| !hub.get(path).text().contains("Contact of this hub")));
    assert!(hub.get(&format!("/r/{id}")).text().contains("in no ranking"));
    drop(hub);
    for (contact, shown) in [
        ("hub@example.org", "<a href=\"mailto:hub@example.org\">hub@example.org</a>"),
        ("Anna <b>&", "Contact of this hub: Anna &#60;b&#62;&#38;</p>"),
    ] {
        let hub = place.start(&["--no-dump", "--contact", contact]);
        for path in pages {
            let page = hub.get(path).text();
            assert!(page.contains(shown), "{path}: {page}");
        }
        assert!(!hub.log_with("\"ready\"").contains("--contact"));
    }
}

/// An alert on what is absent until it happens never comes.
fn what_is_worth_an_alert_is_there_from_the_start(place: &TestData) {
    let hub = place.start(&["--no-seed", "--no-dump"]);
    let metrics = hub.get("/metrics").text();
    let readme = include_str!("../../README.md");
    let table = readme.split("Worth an alert:").nth(1).unwrap().split("\n\n").nth(1).unwrap();
    let rows: Vec<&str> = table.lines().filter(|row| row.starts_with("| `")).collect();
    assert!(rows.len() >= 5, "{rows:?}");
    for row in rows {
        let mut words = row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2);
        let name = words.next().unwrap();
        let of = |error: &str| format!("\n{name}{{error=\"{error}\"}} 0\n");
        let all: Vec<String> = words.map(of).collect();
        assert!(all.iter().all(|it| metrics.contains(it)), "{row}: {metrics}");
        assert!(!all.is_empty() || metrics.contains(&format!("\n{name} ")), "{row}: {metrics}");
    }
    let version = env!("CARGO_PKG_VERSION");
    assert!(metrics.contains(&format!("build_info{{version=\"{version}\"}} 1\n")), "{metrics}");
    assert_eq!(hub.get_json("/healthz").json()["version"], version);
    assert!(hub.log_with("\"ready\"").contains(&format!("\"version\":\"{version}\"")));
}

#[test]
fn what_makes_no_sense_on_the_command_line_is_refused() {
    let place = TestData::new(On::Sqlite).unwrap();
    let status = |command: &str, words: &[&str]| {
        place.command(command).args(words).output().unwrap().status.code()
    };
    for url in ["nonsense", "ftp://hub", "https://", "https://a:b@hub", "https://hub/path", "/"] {
        assert_eq!(status("serve", &["--public-url", url]), Some(2), "{url}");
    }
    let named = place.command("serve").args(["--listen", "localhost:8080"]).output().unwrap();
    let told = String::from_utf8_lossy(&named.stderr).into_owned();
    assert!(named.status.code() == Some(2) && told.contains("such as 127.0.0.1:8080"), "{told}");
    for name in ["", " ", "a\nb"] {
        assert_eq!(status("add-administrator", &[name]), Some(2), "{name:?}");
        assert_eq!(status("serve", &["--contact", name]), Some(2), "{name:?}");
    }
    let moved = place.command("migrate").args(["--to", "sqlite"]).output().unwrap();
    let told = String::from_utf8_lossy(&moved.stderr).into_owned();
    assert!(moved.status.code() == Some(2) && told.contains("`backup`, then `restore`"), "{told}");
}

fn a_hub_that_was_just_started_ends_in_order(place: &TestData) {
    for _ in 0..5 {
        let mut hub = place.start(&["--no-seed"]);
        let ended = hub.stop();
        assert!(ended.success(), "{ended}");
        let word = "\"event\":\"ended\"";
        let log = hub.log_with(word);
        assert!(log.contains(word), "{log}");
    }
}

/// What a service that runs as another user could not read or replace would end its hourly dump.
fn what_root_makes_belongs_to_the_owner_of_the_directory(place: &TestData) {
    use std::os::unix::fs::{MetadataExt, chown};
    let test = "running::what_root_makes_belongs_to_the_owner_of_the_directory";
    if !rustix::process::geteuid().is_root() {
        return skip(test, "to make files for others takes root");
    }
    const OWNER: u32 = 12_345;
    fn of_others(directory: &std::path::Path) -> Vec<std::path::PathBuf> {
        let mut found = Vec::new();
        for path in fs::read_dir(directory).unwrap().map(|entry| entry.unwrap().path()) {
            let metadata = path.symlink_metadata().unwrap();
            if (metadata.uid(), metadata.gid()) != (OWNER, OWNER) {
                found.push(path.clone());
            }
            if metadata.is_dir() {
                found.extend(of_others(&path));
            }
        }
        found
    }
    let made = |name: &str| {
        let directory = place.data.path().join(name);
        fs::create_dir(&directory).unwrap();
        chown(&directory, Some(OWNER), Some(OWNER)).unwrap();
        directory
    };
    let run = |data: &std::path::Path, command: &str, words: &[&std::ffi::OsStr]| {
        let output = place.command_in(data, command).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let data = made("hub");
    let hub = place.start_in(&data, &["--no-seed", "--no-dump"]);
    hub.submitted(&document("Any", 1.0));
    run(&data, "dump", &[]);
    hub.submitted(&document("Other", 1.0));
    run(&data, "dump", &[]);
    run(&data, "add-administrator", &["anna".as_ref()]);
    let backup = place.data.path().join("backup.sqlite");
    run(&data, "backup", &["--to".as_ref(), backup.as_ref()]);
    assert_eq!(of_others(&data), Vec::<std::path::PathBuf>::new());
    assert!(data.join("dump/runs").is_dir() && data.join("lock").is_file());
    if place.on == On::Sqlite {
        let restored = made("restored");
        run(&restored, "restore", &["--from".as_ref(), backup.as_ref()]);
        run(&restored, "dump", &[]);
        assert_eq!(of_others(&restored), Vec::<std::path::PathBuf>::new());
    }
}

fn an_address_that_is_taken_is_told(place: &TestData) {
    // The unit says one, the settings another.
    let hub = place.start(&["--no-seed", "--no-dump", "--listen", "127.0.0.2:0"]);
    assert!(hub.address.starts_with("127.0.0.2:"), "the last one counts: {}", hub.address);
    let data = place.data.path().join("other");
    let mut second = place.command_in(&data, "serve");
    let told = refusal(second.args(["--listen", &hub.address]));
    assert!(told.contains("another program") && told.contains("--listen"), "{told}");
    assert!(!data.exists(), "nothing was made");
}

#[test]
fn a_debian_package_has_the_program_and_a_service_that_starts_it() {
    use std::process::Command;
    let place = tempfile::tempdir().unwrap();
    let [program, package, tree] =
        ["cardproof-hub", "hub.deb", "tree"].map(|it| place.path().join(it));
    fs::write(&program, "#!/bin/sh\necho cardproof-hub 1.2.3\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/deb.sh");
    let Ok(_) = Command::new("dpkg-deb").arg("--version").output() else {
        return skip("running::a_debian_package_has_the_program_and_a_service", "no dpkg-deb");
    };
    let made = Command::new("sh").arg(script).arg(&program).arg(&package).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    assert!(Command::new("dpkg-deb").arg("-x").args([&package, &tree]).status().unwrap().success());
    let unit =
        fs::read_to_string(tree.join("usr/lib/systemd/system/cardproof-hub.service")).unwrap();
    let start = unit.lines().find_map(|line| line.strip_prefix("ExecStart=/")).unwrap();
    assert!(tree.join(start.split(' ').next().unwrap()).is_file(), "{start}");
    let told = Command::new("dpkg-deb").arg("-f").arg(&package).arg("Version").output().unwrap();
    let version = String::from_utf8(told.stdout).unwrap();
    assert!(version.starts_with("1.2.3") && version.ends_with("-1\n"), "{version}");
    let told = Command::new("dpkg-deb").arg("-f").arg(&package).arg("Installed-Size").output();
    let size: u64 = String::from_utf8(told.unwrap().stdout).unwrap().trim().parse().unwrap();
    assert!(size > 50, "{size} KiB");
    let docs = tree.join("usr/share/doc/cardproof-hub");
    assert!(docs.join("copyright").is_file());
    let script = fs::metadata(docs.join("deploy/backup.sh")).unwrap();
    assert_eq!(script.permissions().mode() & 0o111, 0o111);
    for page in ["README.md", "docs/design/hub.md"] {
        let page = docs.join(page);
        let text = fs::read_to_string(&page).unwrap();
        let links = text.split("](").skip(1).map(|rest| rest.split([')', '#']).next().unwrap());
        let links: Vec<&str> = links.filter(|it| !it.is_empty() && !it.contains("://")).collect();
        assert!(links.len() > 2, "{links:?}");
        for link in links {
            let path = page.parent().unwrap().join(link);
            assert!(path.is_file(), "{}: {link}", page.display());
            assert!(path.canonicalize().unwrap().starts_with(docs.canonicalize().unwrap()));
        }
    }
    // A database that comes late at the start of the machine is waited for, however long that is.
    for setting in ["RestartSec=5", "StartLimitIntervalSec=0", "UMask=0077"] {
        assert!(unit.lines().any(|line| line == setting), "{setting}");
    }
}

/// Each build from git is newer to apt than the one before: of a later commit, and of a tree with changes.
#[test]
fn a_later_debian_package_has_a_higher_version() {
    use std::process::Command;
    let test = "running::a_later_debian_package_has_a_higher_version";
    for needed in ["dpkg-deb", "git"] {
        if Command::new(needed).arg("--version").output().is_err() {
            return skip(test, &format!("no {needed}"));
        }
    }
    let place = tempfile::tempdir().unwrap();
    let root = place.path().join("cardproof");
    let source = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    for name in ["LICENSE-MIT", "docs", "hub/deploy", "hub/README.md", "hub/data-v1.json"] {
        let to = root.join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        assert!(
            Command::new("cp").arg("-r").args([source.join(name), to]).status().unwrap().success()
        );
    }
    let program = place.path().join("cardproof-hub");
    fs::write(&program, "#!/bin/sh\necho cardproof-hub 1.2.3\n").unwrap();
    fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
    let version = || {
        let package = place.path().join("hub.deb");
        let mut script = Command::new("sh");
        script.arg(root.join("hub/deploy/deb.sh")).arg(&program).arg(&package);
        let made = script.env("GIT_CEILING_DIRECTORIES", place.path()).output().unwrap();
        assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
        let told = Command::new("dpkg-deb").arg("-f").arg(package).arg("Version").output().unwrap();
        String::from_utf8(told.stdout).unwrap().trim().to_owned()
    };
    let commit = |time: &str| {
        let mut git = Command::new("sh");
        let script = "git init -q && git add . && git -c user.name=a -c user.email=a commit -q -m x --allow-empty";
        git.args(["-c", script]).current_dir(&root).env("GIT_COMMITTER_DATE", time);
        assert!(git.status().unwrap().success());
    };
    let mut versions = vec![version()];
    commit("2020-01-02T03:04:05+02:00");
    versions.push(version());
    assert_eq!(versions, ["1.2.3-1", "1.2.3+git20200102.010405-1"]);
    fs::write(root.join("LICENSE-MIT"), "changed").unwrap();
    versions.push(version());
    commit("2020-01-02T03:04:06+02:00");
    versions.push(version());
    for pair in versions.windows(2) {
        let mut compared = Command::new("dpkg");
        compared.arg("--compare-versions").args([&pair[0], "lt", &pair[1]]);
        assert!(compared.status().unwrap().success(), "{pair:?}");
    }
    fs::remove_file(root.join("LICENSE-MIT")).unwrap();
    let mut script = Command::new("sh");
    let told = refusal(script.arg(root.join("hub/deploy/deb.sh")).arg(&program).arg("x.deb"));
    assert!(told.contains("LICENSE-MIT of cardproof's source is missing"), "{told}");
}

/// A program that reads the log finds nothing else in it, also where both streams go to one place.
#[test]
fn a_log_with_both_streams_is_json_alone() {
    use std::io::{BufRead, BufReader};
    let place = TestData::new(On::Sqlite).unwrap();
    let (reader, writer) = std::io::pipe().unwrap();
    let mut command = place.command("serve");
    command.args(["--listen", "127.0.0.1:0", "--no-dump", "--no-seed"]);
    command.stdout(writer.try_clone().unwrap()).stderr(writer);
    let mut process = command.spawn().unwrap();
    drop(command);
    let mut events = Vec::new();
    for line in BufReader::new(reader).lines() {
        let line = line.unwrap();
        let event: Value = serde_json::from_str(&line).unwrap_or_else(|_| panic!("{line}"));
        if event["event"] == "ready" {
            process.kill().unwrap();
        }
        events.push(event);
    }
    process.wait().unwrap();
    assert!(
        events.iter().any(|it| it["event"] == "ready" && it["listen"].is_string()),
        "{events:?}"
    );
}

#[test]
fn a_hub_whose_data_directory_has_gone_keeps_nothing_and_says_why() {
    let place = TestData::new(On::Sqlite).unwrap();
    let data = place.data.path().join("hub");
    let run = |command: &str, words: &[&std::ffi::OsStr]| {
        let output = place.command_in(&data, command).args(words).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    };
    let hub = place.start_in(&data, &["--no-seed", "--no-dump"]);
    let (id, _) = hub.submitted(&document("Before", 1.0));
    let is_gone = |when: &str| {
        let refused = hub.submit(&document(when, 1.0), &[]);
        assert_eq!(refused.status, 503, "{when}: {}", refused.text());
        assert_eq!(refused.json()["error"], "data_gone", "{when}");
        assert!(refused.json()["message"].as_str().unwrap().contains("data directory"), "{when}");
        let health = hub.get_json("/healthz");
        assert_eq!(health.status, 503, "{when}");
        assert_eq!(health.json()["status"], "the data directory has gone or was replaced");
        assert_eq!(hub.get(&format!("/r/{id}")).status, 503, "{when}");
        assert_eq!(hub.get("/metrics").status, 200, "{when}");
    };
    let [aside, backup] = ["aside", "backup.sqlite"].map(|it| place.data.path().join(it));
    run("backup", &["--to".as_ref(), backup.as_ref()]);
    fs::rename(&data, &aside).unwrap();
    is_gone("moved");
    fs::rename(&aside, &data).unwrap();
    assert_eq!(hub.get("/healthz").status, 200, "it is there again");
    let (later, _) = hub.submitted(&document("Back", 1.0));
    assert_eq!(hub.get(&format!("/r/{later}")).status, 200);
    fs::remove_dir_all(&data).unwrap();
    is_gone("removed");
    run("restore", &["--from".as_ref(), backup.as_ref()]);
    is_gone("replaced");
    drop(hub);
    let hub = place.start_in(&data, &["--no-seed", "--no-dump"]);
    assert_eq!(hub.get(&format!("/r/{id}")).status, 200);
}

#[test]
fn a_postgres_that_refuses_is_told_in_its_own_words() {
    let mut place = match TestData::new(On::Postgres) {
        Ok(place) => place,
        Err(reason) => return skip("running::a_postgres_that_refuses_is_told", &reason),
    };
    place.url = place.url.map(|url| url.replacen("postgres@", "nobody_here@", 1));
    let told = refusal(place.command("serve").args(["--listen", "127.0.0.1:0"]));
    assert!(told.contains("nobody_here") && !told.contains("at line"), "{told}");
}
