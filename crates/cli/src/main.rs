//! The command `cardproof`.
mod engine;
mod exit;
mod output;
mod signals;
mod target;
use clap::Parser;
#[derive(Parser)]
#[command(version)]
enum Cli { Engine(engine::EngineArgs) }
fn main() -> std::process::ExitCode {
    let s = signals::Signals::install().unwrap();
    let Cli::Engine(a) = Cli::parse();
    match engine::run(&a, s.stop()) { Ok(()) => exit::Exit::Done.into(), Err(f) => { eprintln!("{}", f.message); f.exit.into() } }
}
