//! The program `cardproof-hub`: arguments, signals, and the order in which a hub comes up and goes down.

use std::fs::OpenOptions;
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use cardproof_hub::copy::{Secrets, copy};
use cardproof_hub::db::{Db, Opening};
use cardproof_hub::dump::{Dump, child};
use cardproof_hub::error::Error;
use cardproof_hub::index::Index;
use cardproof_hub::place::Place;
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
    Dump {
        #[command(flatten)]
        place: HubData,
        /// The hub has started this: end with it, in the memory that is given to it
        #[arg(long, value_name = "PID", hide = true)]
        for_hub: Option<i32>,
    },
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
    /// The data directory
    #[arg(long, value_name = "DIR")]
    data: PathBuf,
    /// Keep records in PostgreSQL instead of SQLite in the data directory
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
    /// How many submitters must agree before a board, a host, or a name that they have written is shown; 1 on a desk of
    /// one's own
    #[arg(long, value_name = "N", default_value_t = 3)]
    submitters_min: usize,
    /// The most records of a submitter within a day of its first; more wait for an administrator's look
    #[arg(long, value_name = "N", default_value_t = 20)]
    first_records: usize,
    /// Begin without reference measurements and simulated cards
    #[arg(long)]
    no_seed: bool,
    /// Do not make the raw data every hour: `cardproof-hub dump` makes them when the operator likes
    #[arg(long)]
    no_dump: bool,
}

impl From<HubData> for Place {
    fn from(args: HubData) -> Self {
        Self { data: args.data, server: args.database }
    }
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
        Command::Dump { place, for_hub } => {
            if let Some(hub) = for_hub {
                child::bind(hub)?;
            }
            let place = Place::from(place);
            let db = place.open().await?;
            let manifest = Dump::open(place.data.join("dump"))?.renew(&db).await?;
            say(&format!("{} records in {} files", manifest.rows, manifest.files.len()))
        }
        Command::Backup { place, to } => back_up(place.into(), &to).await,
        Command::Restore { place, from } => {
            let source = existing(&from).await?;
            let copied =
                copy(&source, &Place::from(place).make().await?, Secrets::LeaveOut).await?;
            say(&format!("{} rows restored", copied.rows()))
        }
        Command::Migrate { data, to } => {
            let source = Place { data: data.clone(), server: None }.open().await?;
            let target = Place { data, server: Some(to) };
            let copied =
                copy(&source, &target.database(Opening::Make).await?, Secrets::Move).await?;
            target.note()?;
            say(&format!("{} rows moved; start the hub with --database from now on", copied.rows()))
        }
        Command::AddAdministrator { place, name } => {
            say(&admin::add(&Place::from(place).open().await?, &name).await?)
        }
        Command::RevokeAdministrator { place, name } => {
            admin::revoke(&Place::from(place).open().await?, &name).await
        }
    }
}

/// The database in `file`, which `backup` has written.
async fn existing(file: &Path) -> Result<Db, Error> {
    if !file.is_file() {
        return Err(Error::Setup(format!("there is no file {}", file.display())));
    }
    Db::sqlite(file, Opening::Existing).await
}

/// Copies the hub at `place` into the new file `to`, which only its owner can read.
async fn back_up(place: Place, to: &Path) -> Result<(), Error> {
    let from = place.open().await?;
    let made = OpenOptions::new().write(true).create_new(true).mode(0o600).open(to);
    made.map_err(|error| match error.kind() {
        std::io::ErrorKind::AlreadyExists => {
            Error::Setup(format!("{} exists; name a new file", to.display()))
        }
        _ => Error::File(format!("cannot write {}", to.display()), error),
    })?;
    let copied = match Db::sqlite(to, Opening::Make).await {
        Ok(target) => {
            let copied = copy(&from, &target, Secrets::LeaveOut).await;
            target.close().await;
            copied
        }
        Err(error) => Err(error),
    };
    if copied.is_err() {
        // Half a backup is none.
        let _ = std::fs::remove_file(to);
    }
    say(&format!("{} rows in {}", copied?.rows(), to.display()))
}

fn say(line: &str) -> Result<(), Error> {
    writeln!(std::io::stdout(), "{line}")
        .map_err(|error| Error::File("standard output".to_owned(), error))
}

/// Brings the hub up, answers, and takes it down in order.
async fn run(args: ServeArgs) -> Result<(), Error> {
    // From here on a signal ends it in order, however early it comes.
    let stop = stop_signal()?;
    let failed = |error| Error::File(format!("cannot listen on {}", args.listen), error);
    let listener = TcpListener::bind(args.listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let place = Place::from(args.place);
    let db = place.make().await?;
    if !args.no_seed {
        let added = seed::fill(&db).await?;
        log::event("seeded", &[("added", added.into())]);
    }
    let dump = Dump::open(place.data.join("dump"))?;
    let public_url = args.public_url.unwrap_or_else(|| format!("http://{address}"));
    let options = Options {
        public_url: public_url.trim_end_matches('/').to_owned(),
        is_behind_proxy: args.behind_proxy,
        submissions_per_hour: args.submissions_per_hour,
        submitters_min: args.submitters_min,
        first_records: args.first_records,
    };
    let secret = admin::hub_secret(&db).await?;
    let hub = Hub::new(db.clone(), Index::load(&db).await?, dump, &secret, options);
    let metrics = Arc::clone(&hub.metrics);
    let dumping = (!args.no_dump).then(|| tokio::spawn(child::dump_hourly(place)));
    say(&format!("cardproof-hub listens on http://{address}"))?;
    log::event("ready", &[("listen", address.to_string().into())]);
    // A proxy has one address and stands for all clients; it counts their connections itself.
    let of_one_client =
        if args.behind_proxy { usize::MAX } else { Limits::default().of_one_client };
    let limits = Limits { connections: connections(), of_one_client, ..Limits::default() };
    serve(listener, router(hub), metrics, limits, stop).await;
    if let Some(dumping) = dumping {
        dumping.abort();
    }
    db.close().await;
    log::event("ended", &[]);
    Ok(())
}

/// What ends with the first SIGTERM or SIGINT that comes after this call.
fn stop_signal() -> Result<impl Future<Output = ()>, Error> {
    let listened = |kind| {
        signal(kind).map_err(|error| Error::File("cannot wait for signals".to_owned(), error))
    };
    let mut terminate = listened(SignalKind::terminate())?;
    let mut interrupt = listened(SignalKind::interrupt())?;
    Ok(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
        }
    })
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
