//! The program `cardproof-hub`: arguments, signals, and the order in which a hub comes up and goes down.

use std::io::Write;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use cardproof_hub::copy::copy;
use cardproof_hub::db::Db;
use cardproof_hub::dump::Dump;
use cardproof_hub::error::Error;
use cardproof_hub::store::admin;
use cardproof_hub::web::{Hub, Limits, Options, router, serve};
use cardproof_hub::{log, seed};
use clap::{Args, Parser, Subcommand};
use tokio::net::TcpListener;
use tokio::signal::unix::{SignalKind, signal};

/// A hub for records of storage measured with cardproof: submit, find, compare, download.
#[derive(Debug, Parser)]
#[command(name = "cardproof-hub", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Answer requests until stopped
    Serve(ServeArgs),
    /// Bring the raw data in the data directory up to date, and end
    Dump(HubData),
    /// Write everything into one new SQLite file, while the hub goes on
    Backup {
        #[command(flatten)]
        place: HubData,
        /// The file, which must not exist
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Read a backup into an empty database
    Restore {
        #[command(flatten)]
        place: HubData,
        /// The file that `backup` has written
        #[arg(long, value_name = "FILE")]
        from: PathBuf,
    },
    /// Move everything from the data directory's SQLite into an empty PostgreSQL database
    Migrate {
        /// The data directory
        #[arg(long, value_name = "DIR")]
        data: PathBuf,
        /// The database's address
        #[arg(long, value_name = "postgres://...")]
        to: String,
    },
    /// Make an administrator and print the token, which is shown once
    AddAdministrator {
        #[command(flatten)]
        place: HubData,
        /// The administrator's name in the audit log
        name: String,
    },
    /// Take an administrator's right away
    RevokeAdministrator {
        #[command(flatten)]
        place: HubData,
        /// The administrator's name
        name: String,
    },
}

/// Where the hub's data is.
#[derive(Debug, Args)]
struct HubData {
    /// The data directory; made where it does not exist
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Keep records in PostgreSQL instead of SQLite in the data directory; of several addresses with commas between,
    /// the hub follows the one that takes writes
    #[arg(
        long,
        value_name = "postgres://...",
        env = "CARDPROOF_HUB_DATABASE",
        hide_env_values = true
    )]
    database: Option<String>,
}

#[derive(Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    place: HubData,
    /// Where to listen
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080")]
    listen: SocketAddr,
    /// The address under which people reach the hub, such as https://hub.example.org
    #[arg(long, value_name = "URL")]
    public_url: Option<String>,
    /// Take the client's address from X-Forwarded-For, which a proxy in front has set
    #[arg(long)]
    behind_proxy: bool,
    /// The most submissions of one client in an hour; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 240)]
    submissions_per_hour: u32,
    /// Begin without reference measurements and simulated cards
    #[arg(long)]
    no_seed: bool,
    /// Make the raw data only when the manifest is asked for, not every hour: another process makes it
    #[arg(long)]
    no_dump: bool,
}

impl HubData {
    async fn open(&self) -> Result<Db, Error> {
        make(&self.data)?;
        match &self.database {
            Some(url) => {
                Db::postgres(url).await.map_err(|error| unreachable_database(error, "PostgreSQL"))
            }
            None => Db::sqlite(&file(&self.data))
                .await
                .map_err(|error| unreachable_database(error, "SQLite")),
        }
    }
}

fn unreachable_database(error: Error, kind: &str) -> Error {
    match error {
        Error::Database(source) => {
            Error::Setup(format!("cannot open the {kind} database: {source}"))
        }
        other => other,
    }
}

fn make(data: &Path) -> Result<(), Error> {
    use std::os::unix::fs::DirBuilderExt;
    let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(data);
    made.map_err(|error| {
        Error::File(format!("cannot make the data directory {}", data.display()), error)
    })
}

/// The SQLite file in `data`.
fn file(data: &Path) -> PathBuf {
    data.join("hub.sqlite")
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let threads =
        tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(16).build();
    let done = match threads {
        Ok(runtime) => runtime.block_on(perform(cli.command)),
        Err(error) => Err(Error::File("cannot start threads".to_owned(), error)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            let cause = std::error::Error::source(&error).map(|cause| format!(": {cause}"));
            let _ = writeln!(std::io::stderr(), "error: {error}{}", cause.unwrap_or_default());
            ExitCode::FAILURE
        }
    }
}

async fn perform(command: Command) -> Result<(), Error> {
    match command {
        Command::Serve(args) => run(args).await,
        Command::Dump(place) => {
            let dump = Dump::open(place.data.join("dump"))?;
            let manifest = dump.renew(&place.open().await?).await?;
            say(&format!("{} records in {} files", manifest.rows, manifest.files.len()))
        }
        Command::Backup { place, to } => {
            if to.exists() {
                return Err(Error::Setup(format!("{} exists; name a new file", to.display())));
            }
            let (from, target) = (place.open().await?, Db::sqlite(&to).await?);
            let copied = copy(&from, &target).await;
            target.close().await;
            if copied.is_err() {
                // Half a backup is none.
                let _ = std::fs::remove_file(&to);
            }
            say(&format!("{} rows in {}", copied?.rows(), to.display()))
        }
        Command::Restore { place, from } => {
            if !from.is_file() {
                return Err(Error::Setup(format!("there is no file {}", from.display())));
            }
            let copied = copy(&Db::sqlite(&from).await?, &place.open().await?).await?;
            say(&format!("{} rows restored", copied.rows()))
        }
        Command::Migrate { data, to } => {
            if !file(&data).is_file() {
                return Err(Error::Setup(format!("there is no hub in {}", data.display())));
            }
            let target = Db::postgres(&to)
                .await
                .map_err(|error| unreachable_database(error, "PostgreSQL"))?;
            let copied = copy(&Db::sqlite(&file(&data)).await?, &target).await?;
            say(&format!("{} rows moved; start the hub with --database from now on", copied.rows()))
        }
        Command::AddAdministrator { place, name } => {
            say(&admin::add(&place.open().await?, &name).await?)
        }
        Command::RevokeAdministrator { place, name } => {
            admin::revoke(&place.open().await?, &name).await
        }
    }
}

fn say(line: &str) -> Result<(), Error> {
    writeln!(std::io::stdout(), "{line}")
        .map_err(|error| Error::File("standard output".to_owned(), error))
}

/// Brings the hub up, answers, and takes it down in order.
async fn run(args: ServeArgs) -> Result<(), Error> {
    let failed = |error| Error::File(format!("cannot listen on {}", args.listen), error);
    let listener = TcpListener::bind(args.listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let db = args.place.open().await?;
    if !args.no_seed {
        let added = seed::fill(&db).await?;
        log::event("seeded", &[("added", added.into())]);
    }
    let dump = Dump::open(args.place.data.join("dump"))?;
    let options = Options {
        public_url: args.public_url.map(|url| url.trim_end_matches('/').to_owned()),
        is_behind_proxy: args.behind_proxy,
        submissions_per_hour: i64::from(args.submissions_per_hour),
    };
    let secret = admin::hub_secret(&db).await?;
    let hub = Hub::new(db.clone(), dump, &secret, options);
    let metrics = Arc::clone(&hub.metrics);
    let dumping = (!args.no_dump).then(|| tokio::spawn(dump_hourly(hub.clone())));
    let following = tokio::spawn({
        let db = db.clone();
        async move { db.follow().await }
    });
    say(&format!("cardproof-hub listens on http://{address}"))?;
    log::event("ready", &[("listen", address.to_string().into())]);
    let limits = Limits { connections: connections(), ..Limits::default() };
    serve(listener, router(hub), metrics, limits, stopped()).await;
    if let Some(dumping) = dumping {
        dumping.abort();
    }
    following.abort();
    db.close().await;
    log::event("ended", &[]);
    Ok(())
}

/// Makes the dump every hour, so that nothing that was deleted stays longer in it.
async fn dump_hourly(hub: Hub) {
    loop {
        // It says itself in the log what went wrong.
        let _ = hub.dump.refresh(&hub.db).await;
        tokio::time::sleep(Duration::from_secs(3600)).await;
    }
}

/// Ends with SIGTERM or SIGINT.
async fn stopped() {
    let (Ok(mut terminate), Ok(mut interrupt)) =
        (signal(SignalKind::terminate()), signal(SignalKind::interrupt()))
    else {
        return std::future::pending().await;
    };
    tokio::select! {
        _ = terminate.recv() => {}
        _ = interrupt.recv() => {}
    }
}

/// As many connections as there are file descriptors for, some kept back for the database and the dump.
fn connections() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let now = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: now.maximum, maximum: now.maximum };
    let _ = setrlimit(Resource::Nofile, wanted);
    let files = getrlimit(Resource::Nofile).current.and_then(|files| usize::try_from(files).ok());
    files.unwrap_or(1024).saturating_sub(64).clamp(16, Limits::default().connections)
}
