//! What an administrator has beside the hub: the service's file of settings, the nightly backup, and the alerts.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::common::{On, TestData, document, skip};
use crate::running::refusal;

on_both!(
    commands_find_the_database_in_the_settings_of_the_service,
    the_nightly_backup_keeps_the_last_thirty,
);

const PROGRAM: &str = env!("CARGO_BIN_EXE_cardproof-hub");

/// `command` of the hub in `data`, without the address of a database.
fn bare(data: &Path, command: &str) -> Command {
    let mut command_line = Command::new(PROGRAM);
    command_line.arg(command).arg("--data").arg(data).env_remove("CARDPROOF_HUB_DATABASE");
    command_line
}

/// The service's settings for `place`, as README has them.
fn settings(place: &TestData) -> std::path::PathBuf {
    let file = place.data.path().join("hub.env");
    let database = place.url.as_ref().map(|url| format!("CARDPROOF_HUB_DATABASE={url}\n"));
    let text = format!(
        "# The hub's.\nCARDPROOF_HUB_OPTIONS=--behind-proxy --public-url https://hub.example.org\n{}",
        database.unwrap_or_default()
    );
    fs::write(&file, text).unwrap();
    file
}

fn done(output: &Output) {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

fn commands_find_the_database_in_the_settings_of_the_service(place: &TestData) {
    let data = place.data.path().join("hub");
    let mut hub = place.start_in(&data, &["--no-seed", "--no-dump"]);
    let (id, _) = hub.submitted(&document("Kept", 1.0));
    let file = settings(place);
    let copy = place.data.path().join("copy.sqlite");
    if place.on == On::Postgres {
        let told = refusal(bare(&data, "backup").arg("--to").arg(&copy));
        assert!(told.contains("--env-file (/etc/cardproof-hub.env)"), "{told}");
    }
    let with = |command: &str| {
        let mut command = bare(&data, command);
        command.arg("--env-file").arg(&file);
        command
    };
    done(&with("backup").arg("--to").arg(&copy).output().unwrap());
    done(&with("dump").output().unwrap());
    done(&with("add-administrator").arg("anna").output().unwrap());
    done(&with("revoke-administrator").arg("anna").output().unwrap());
    let absent = refusal(bare(&data, "dump").args(["--env-file", "/nowhere/hub.env"]));
    assert!(absent.contains("cannot read /nowhere/hub.env"), "{absent}");
    hub.stop();
    // A move finds its target there too.
    let Ok(target) = TestData::new(On::Postgres) else { return };
    let old = target.data.path().join("old");
    let mut restored = bare(&old, "restore");
    done(&restored.arg("--from").arg(&copy).output().unwrap());
    let none = place.data.path().join("none.env");
    fs::write(&none, "CARDPROOF_HUB_CONTACT=x\n").unwrap();
    for command in [bare(&old, "migrate").arg("--env-file").arg(&none), &mut bare(&old, "migrate")]
    {
        let told = refusal(command);
        assert!(told.contains("--to postgres://") && told.contains("--env-file"), "{told}");
    }
    done(&bare(&old, "migrate").arg("--env-file").arg(settings(&target)).output().unwrap());
    let moved = target.start_in(&old, &["--no-seed", "--no-dump"]);
    assert_eq!(moved.get(&format!("/r/{id}")).status, 200);
}

fn the_nightly_backup_keeps_the_last_thirty(place: &TestData) {
    let data = place.data.path().join("hub");
    let hub = place.start_in(&data, &["--no-seed", "--no-dump"]);
    hub.submitted(&document("Kept", 1.0));
    let to = place.data.path().join("backups");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/backup.sh");
    let night = |program: &str| {
        let mut command = Command::new("sh");
        command.arg(script).env("CARDPROOF_HUB_DATA", &data).env("CARDPROOF_HUB_BACKUPS", &to);
        command
            .env("CARDPROOF_HUB_SETTINGS", settings(place))
            .env("CARDPROOF_HUB_PROGRAM", program);
        command.env_remove("CARDPROOF_HUB_DATABASE").output().unwrap()
    };
    done(&night("/nowhere/cardproof-hub"));
    assert!(!to.exists(), "a hub that was removed has no backup");
    fs::create_dir(&to).unwrap();
    for day in 1..=31 {
        fs::write(to.join(format!("hub-2020-01-{day:02}-030000.sqlite")), "old").unwrap();
    }
    fs::write(to.join("of-last-year.sqlite"), "mine").unwrap();
    // What was left by one that was killed, long ago and just now.
    let left = ["sqlite.part", "sqlite.part-wal", "sqlite-shm"]
        .map(|end| to.join(format!("hub-2020-01-31-030000.{end}")));
    for path in &left {
        fs::File::create(path).unwrap().set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    let now = to.join("hub-2020-02-01-030000.sqlite.part");
    fs::write(&now, "of one that runs").unwrap();
    let made = night(PROGRAM);
    done(&made);
    assert!(made.stdout.is_empty() && made.stderr.is_empty(), "cron writes a mail for every word");
    assert!(left.iter().all(|path| !path.exists()) && now.exists(), "{left:?}");
    fs::remove_file(now).unwrap();
    let entries = fs::read_dir(&to).unwrap().map(|it| it.unwrap().file_name());
    let mut names: Vec<String> = entries.map(|it| it.into_string().unwrap()).collect();
    names.sort();
    assert_eq!(names.len(), 31, "{names:?}");
    assert!(names.contains(&"of-last-year.sqlite".to_owned()), "what is no backup stays");
    assert_eq!(names[0], "hub-2020-01-03-030000.sqlite");
    let mut restored = bare(&place.data.path().join("new"), "restore");
    done(&restored.arg("--from").arg(to.join(&names[29])).output().unwrap());
    let absent = place.data.path().join("absent");
    let mut failing = Command::new("sh");
    failing.arg(script).env("CARDPROOF_HUB_DATA", absent).env("CARDPROOF_HUB_BACKUPS", &to);
    failing.env("CARDPROOF_HUB_SETTINGS", settings(place)).env("CARDPROOF_HUB_PROGRAM", PROGRAM);
    assert!(!failing.output().unwrap().status.success());
    assert_eq!(fs::read_dir(&to).unwrap().count(), 31, "nothing goes where nothing came");
}

/// Each metric that README calls worth an alert has one.
#[test]
fn every_metric_worth_an_alert_has_a_rule() {
    let readme = include_str!("../../README.md");
    let rules = include_str!("../../deploy/hub.rules.yml");
    let table = readme.split("Worth an alert").nth(1).unwrap().split("\n\n").nth(1).unwrap();
    let rows = table.lines().filter(|row| row.starts_with("| `"));
    let named: Vec<&str> =
        rows.flat_map(|row| row.split('|').nth(1).unwrap().split('`').skip(1).step_by(2)).collect();
    assert!(named.len() > 8, "{named:?}");
    for word in named {
        assert!(rules.contains(word), "{word}");
    }
    assert!(!rules.contains("$value }} records"), "there may be one");
    match Command::new("promtool").arg("--version").output() {
        Ok(_) => {
            let file = concat!(env!("CARGO_MANIFEST_DIR"), "/deploy/hub.rules.yml");
            done(&Command::new("promtool").args(["check", "rules", file]).output().unwrap());
        }
        Err(_) => skip("operating::every_metric_worth_an_alert_has_a_rule", "no promtool"),
    }
}

#[test]
fn a_role_that_may_make_no_tables_is_told_who_must_own_the_database() {
    let place = match TestData::new(On::Postgres) {
        Ok(place) => place,
        Err(reason) => return skip("operating::a_role_that_may_make_no_tables", &reason),
    };
    let role = format!("hub_guest_{}", std::process::id());
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let owner = place.url.clone().unwrap();
    let as_owner = |texts: Vec<String>| {
        runtime.block_on(async {
            use sqlx::Connection;
            let mut connection = sqlx::PgConnection::connect(&owner).await.unwrap();
            for text in texts {
                sqlx::raw_sql(sqlx::AssertSqlSafe(text)).execute(&mut connection).await.unwrap();
            }
        });
    };
    as_owner(vec![
        format!("CREATE ROLE {role} LOGIN"),
        "REVOKE CREATE ON SCHEMA public FROM PUBLIC".to_owned(),
    ]);
    let guest = TestData {
        on: place.on,
        data: tempfile::tempdir().unwrap(),
        url: place.url.as_ref().map(|url| url.replacen("postgres@", &format!("{role}@"), 1)),
    };
    let refused = refusal(guest.command("serve").args(["--listen", "127.0.0.1:0"]));
    assert!(refused.contains("createdb --owner"), "{refused}");
    as_owner(vec![format!("DROP ROLE {role}")]);
}
