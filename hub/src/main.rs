//! The program `cardproof-hub`: arguments, signals, and the order in which a hub comes up and goes down.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::net::SocketAddr;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;

use axum::http::Uri;
use cardproof_hub::copy::{Copied, copy};
use cardproof_hub::db::{Db, Opening};
use cardproof_hub::dump::{Dump, child};
use cardproof_hub::error::Error;
use cardproof_hub::index::Index;
use cardproof_hub::pages::{Contact, set_contact};
use cardproof_hub::place::{Place, sqlite_file};
use cardproof_hub::store::admin;
use cardproof_hub::web::metrics::VERSION;
use cardproof_hub::web::{Hub, Limits, Options, router, serve};
use cardproof_hub::{log, seed, settings};
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
    // The service's settings come after what its unit says, and count.
    #[command(
        override_usage = "cardproof-hub serve [OPTIONS] --data <DIR>",
        args_override_self = true
    )]
    Serve(ServeArgs),
    /// Bring the raw data in the data directory up to date, and end
    Dump {
        #[command(flatten)]
        place: CommandData,
        /// The hub has started this: end with it, in the memory that is given to it
        #[arg(long, value_name = "PID", hide = true)]
        for_hub: Option<i32>,
    },
    /// Write everything into one new SQLite file, while the hub goes on
    Backup {
        #[command(flatten)]
        place: CommandData,
        /// The file, which must not exist
        #[arg(long, value_name = "FILE")]
        to: PathBuf,
    },
    /// Read a backup into an empty database
    Restore {
        #[command(flatten)]
        place: CommandData,
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
        #[arg(
            long,
            value_name = "postgres://...",
            env = "CARDPROOF_HUB_DATABASE",
            hide_env_values = true,
            value_parser = server
        )]
        to: Option<String>,
        #[command(flatten)]
        settings: Settings,
    },
    /// Make an administrator and print the token, which is shown once
    AddAdministrator {
        #[command(flatten)]
        place: CommandData,
        /// The administrator's name in the audit log
        #[arg(value_parser = name)]
        name: String,
    },
    /// Take an administrator's right away
    RevokeAdministrator {
        #[command(flatten)]
        place: CommandData,
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

/// The same for a command beside the service.
#[derive(Debug, Args)]
struct CommandData {
    #[command(flatten)]
    hub: HubData,
    #[command(flatten)]
    settings: Settings,
}

/// Where the service has its settings.
#[derive(Debug, Args)]
struct Settings {
    /// Take CARDPROOF_HUB_DATABASE from this file of the service's, where nothing else says it
    #[arg(long, value_name = "FILE")]
    env_file: Option<PathBuf>,
}

impl Settings {
    /// The database's address: `given`, or what the file of settings has.
    fn database(&self, given: Option<String>) -> Result<Option<String>, Error> {
        match (given, &self.env_file) {
            (None, Some(file)) => settings::database(file),
            (given, _) => Ok(given),
        }
    }
}

#[derive(Debug, Args)]
struct ServeArgs {
    #[command(flatten)]
    place: HubData,
    /// Where to listen
    #[arg(long, value_name = "ADDR", default_value = "127.0.0.1:8080", value_parser = listen)]
    listen: SocketAddr,
    /// The address under which people reach the hub, such as https://hub.example.org
    #[arg(long, value_name = "URL", value_parser = public_url)]
    public_url: Option<String>,
    /// Whom a reader can write to, at the end of every page: a mail address, a URL or words
    #[arg(long, value_name = "TEXT", env = "CARDPROOF_HUB_CONTACT", value_parser = Contact::new)]
    contact: Option<Contact>,
    /// Take the client's address from X-Forwarded-For, which a proxy in front has set
    #[arg(long)]
    behind_proxy: bool,
    /// The most submissions of one client in an hour, a hundred times as many from this machine; 0 for no limit
    #[arg(long, value_name = "N", default_value_t = 240)]
    submissions_per_hour: u32,
    /// How many submitters must agree before a board, a host, or a name that they have written is shown; 1 on a desk of
    /// one's own
    #[arg(long, value_name = "N", default_value_t = 3)]
    submitters_min: usize,
    /// The most records of a submitter within a day of its first; more wait for an administrator's look. From this
    /// machine there may be any number
    #[arg(long, value_name = "N", default_value_t = 20)]
    first_records: usize,
    /// Begin without reference measurements and simulated cards
    #[arg(long)]
    no_seed: bool,
    /// Do not make the raw data every hour: `cardproof-hub dump` makes them when the operator likes
    #[arg(long)]
    no_dump: bool,
}

/// The address and the port in `text`.
fn listen(text: &str) -> Result<SocketAddr, String> {
    let wrong = |_| "give a numeric address and a port, such as 127.0.0.1:8080".to_owned();
    text.parse().map_err(wrong)
}

/// The address in `text`, without a slash at its end.
fn public_url(text: &str) -> Result<String, String> {
    let address = text.trim_end_matches('/');
    let is_web = address.parse::<Uri>().is_ok_and(|it| {
        matches!(it.scheme_str(), Some("http" | "https"))
            && it.authority().is_some_and(|host| !host.as_str().contains('@'))
            && it.path_and_query().is_none_or(|rest| rest == "/")
    });
    let wrong = || "give an address without a path, such as https://hub.example.org".to_owned();
    if is_web { Ok(address.to_owned()) } else { Err(wrong()) }
}

/// The address of a PostgreSQL database in `text`, to which a hub can move.
fn server(text: &str) -> Result<String, String> {
    let is_server = ["postgres://", "postgresql://"].iter().any(|it| text.starts_with(it));
    let wrong = || {
        "migrate moves from SQLite to PostgreSQL: give its address with --to postgres://..., or the file that has it \
         with --env-file (/etc/cardproof-hub.env); the way back to SQLite is `backup`, then `restore` into a new data \
         directory"
            .to_owned()
    };
    if is_server { Ok(text.to_owned()) } else { Err(wrong()) }
}

/// A name in the audit log.
fn name(text: &str) -> Result<String, String> {
    let name = text.trim();
    let is_name = (1..=64).contains(&name.chars().count()) && !name.contains(char::is_control);
    if is_name { Ok(name.to_owned()) } else { Err("a name has 1 to 64 characters".to_owned()) }
}

impl From<HubData> for Place {
    fn from(args: HubData) -> Self {
        Self { data: args.data, server: args.database }
    }
}

impl TryFrom<CommandData> for Place {
    type Error = Error;

    fn try_from(args: CommandData) -> Result<Self, Error> {
        Ok(Self { data: args.hub.data, server: args.settings.database(args.hub.database)? })
    }
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let has_log =
        matches!(&cli.command, Command::Serve(_) | Command::Dump { for_hub: Some(_), .. });
    let threads =
        tokio::runtime::Builder::new_multi_thread().enable_all().max_blocking_threads(16).build();
    let done = match threads {
        Ok(runtime) => runtime.block_on(perform(cli.command)),
        Err(error) => Err(Error::File("cannot start threads".to_owned(), error)),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) if has_log => {
            log::event("failed", &[("detail", error.at_console().into())]);
            ExitCode::FAILURE
        }
        Err(error) => {
            let _ = writeln!(std::io::stderr(), "error: {}", error.at_console());
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
            let place = Place::try_from(place)?;
            let db = place.open().await?;
            let manifest = Dump::open(place.data.join("dump"))?.renew(&db).await?;
            say(&format!("{} records in {} files", manifest.rows, manifest.files.len()))
        }
        Command::Backup { place, to } => back_up(place.try_into()?, &to).await,
        Command::Restore { place, from } => {
            let source = whole(&from).await?;
            let (target, _hold) = Place::try_from(place)?.make().await?;
            let copied = copy(&source, &target).await;
            source.close().await;
            say(&format!("restored: {}", copied.map_err(|error| of_file(&from, error))?))
        }
        Command::Migrate { data, to, settings } => {
            // What the file has is looked at as what is typed.
            let to = server(&settings.database(to)?.unwrap_or_default()).map_err(Error::Setup)?;
            let source = Place { data: data.clone(), server: None }.open().await?;
            let target = Place { data, server: Some(to) };
            let _hold = target.hold().await?;
            let copied = copy(&source, &target.database(Opening::Make).await?).await?;
            target.note()?;
            let old = sqlite_file(&target.data);
            say(&format!(
                "moved: {copied}; start the hub with --database or CARDPROOF_HUB_DATABASE from now on. {} stays as it \
                 was and holds all records and secrets: delete it once the hub runs",
                old.display()
            ))
        }
        Command::AddAdministrator { place, name } => {
            say(&admin::add(&Place::try_from(place)?.open().await?, &name).await?)
        }
        Command::RevokeAdministrator { place, name } => {
            admin::revoke(&Place::try_from(place)?.open().await?, &name).await
        }
    }
}

/// The database in `file`, which `backup` has written.
///
/// # Errors
/// It is none, or not whole.
async fn whole(file: &Path) -> Result<Db, Error> {
    if !file.is_file() {
        return Err(Error::Setup(format!("there is no file {}", file.display())));
    }
    let opened = match Db::sqlite(file, Opening::Backup).await {
        Ok(db) => db.check_pages().await.map(|()| db),
        Err(error) => Err(error),
    };
    opened.map_err(|error| of_file(file, error))
}

/// `error`, which reading the backup in `file` gave.
fn of_file(file: &Path, error: Error) -> Error {
    match error {
        Error::Database(_) | Error::Setup(_) => {
            Error::Setup(format!("cannot restore {}: {}", file.display(), error.at_console()))
        }
        other => other,
    }
}

/// Copies the hub at `place` into the new file `to`, which only its owner can read. It has another name until it is
/// whole and on the disk.
async fn back_up(place: Place, to: &Path) -> Result<(), Error> {
    let from = place.open().await?;
    if to.symlink_metadata().is_ok() {
        return Err(Error::Setup(format!("{} exists; name a new file", to.display())));
    }
    let failed = |error| Error::File(format!("cannot write {}", to.display()), error);
    let [part, log, index] = [".part", ".part-wal", ".part-shm"].map(|end| {
        let mut name = to.as_os_str().to_owned();
        name.push(end);
        PathBuf::from(name)
    });
    let mut options = OpenOptions::new();
    let file = options.write(true).create(true).truncate(false).mode(0o600).open(&part);
    let file = file.map_err(failed)?;
    if file.try_lock().is_err() {
        return Err(Error::Setup(format!("another backup writes {} already", to.display())));
    }
    // What one has left that was killed.
    let _ = [std::fs::remove_file(&log), std::fs::remove_file(&index)];
    file.set_len(0).map_err(failed)?;
    file.set_permissions(Permissions::from_mode(0o600)).map_err(failed)?;
    let stop = stop_signal()?;
    let copied = tokio::select! {
        copied = copied_into(&from, &part) => copied,
        () = stop => Err(Error::Setup("the backup was interrupted; there is none".to_owned())),
    };
    let copied = match copied {
        Ok(copied) => file.sync_all().and_then(|()| std::fs::rename(&part, to)).map(|()| copied),
        Err(error) => {
            let _ = [&part, &log, &index].map(std::fs::remove_file);
            return Err(match error {
                Error::DiskFull => failed(std::io::ErrorKind::StorageFull.into()),
                Error::Database(_) => {
                    let why = error.at_console();
                    Error::Setup(format!("cannot write {}: {why}", to.display()))
                }
                other => other,
            });
        }
    };
    let copied = copied.map_err(failed)?;
    // Without a parent in its name it is in the directory where this runs.
    let directory = to.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new("."));
    File::open(directory).and_then(|it| it.sync_all()).map_err(failed)?;
    say(&format!("{}: {copied}", to.display()))
}

async fn copied_into(from: &Db, file: &Path) -> Result<Copied, Error> {
    let target = Db::sqlite(file, Opening::Make).await?;
    let copied = copy(from, &target).await;
    target.close().await;
    copied
}

fn say(line: &str) -> Result<(), Error> {
    writeln!(std::io::stdout(), "{line}")
        .map_err(|error| Error::File("standard output".to_owned(), error))
}

/// Puts `contact` on every page; the log says where there is none.
fn show(contact: Option<Contact>) {
    match contact {
        Some(contact) => set_contact(contact),
        None => {
            let detail = "no page says whom to write to; start the hub with --contact TEXT";
            log::event("contact", &[("detail", detail.into())]);
        }
    }
}

/// Brings the hub up, answers, and takes it down in order.
async fn run(args: ServeArgs) -> Result<(), Error> {
    // From here on a signal ends it in order, however early it comes.
    let stop = stop_signal()?;
    let failed = |error: std::io::Error| match error.kind() {
        std::io::ErrorKind::AddrInUse => Error::Setup(format!(
            "another program, perhaps a hub, listens on {}; stop it, or choose another port with --listen",
            args.listen
        )),
        _ => Error::File(format!("cannot listen on {}", args.listen), error),
    };
    let listener = TcpListener::bind(args.listen).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let place = Place::from(args.place);
    let (db, mut hold) = place.make().await?;
    if !args.no_seed {
        let added = seed::fill(&db).await?;
        log::event("seeded", &[("added", added.into())]);
    }
    let dump = Dump::open(place.data.join("dump"))?;
    let public_url = args.public_url.unwrap_or_else(|| format!("http://{address}"));
    if args.behind_proxy && !public_url.starts_with("https://") {
        let detail = format!(
            "links begin with {public_url}; start the hub with --public-url https://... as people reach it"
        );
        log::event("proxy", &[("detail", detail.into())]);
    }
    show(args.contact);
    let options = Options {
        public_url,
        is_behind_proxy: args.behind_proxy,
        submissions_per_hour: args.submissions_per_hour,
        submitters_min: args.submitters_min,
        first_records: args.first_records,
    };
    let secret = admin::hub_secret(&db).await?;
    let hub = Hub::new(db.clone(), Index::load(&db).await?, dump, &secret, options);
    let metrics = Arc::clone(&hub.metrics);
    let dumping = (!args.no_dump).then(|| tokio::spawn(child::dump_hourly(place)));
    // The log has it too, and is read by programs.
    if !log::has_standard_output() {
        say(&format!("cardproof-hub {VERSION} listens on http://{address}"))?;
    }
    let at = address.to_string();
    log::event("ready", &[("version", VERSION.into()), ("listen", at.into())]);
    // A proxy has one address and stands for all clients; it counts their connections itself.
    let of_one_client =
        if args.behind_proxy { usize::MAX } else { Limits::default().of_one_client };
    let limits = Limits { connections: connections(), of_one_client, ..Limits::default() };
    let mut is_lost = false;
    let ending = async {
        tokio::select! {
            () = stop => {}
            () = hold.lost() => is_lost = true,
        }
    };
    serve(listener, router(hub), metrics, limits, ending).await;
    if let Some(dumping) = dumping {
        dumping.abort();
    }
    db.close().await;
    if is_lost {
        return Err(Error::Setup("another hub has taken this database".to_owned()));
    }
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
