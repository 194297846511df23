//! The witness: listens, keeps what the writer says, and notices when it goes away.

use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use cardproof_units::in_words;

use crate::journal::Journal;
use crate::secret::Secret;
use crate::wire::{Got, Side, Wire, WitnessError};

/// How often a wish to stop is looked for.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long a greeting may take.
const GREETING_MAX: Duration = Duration::from_secs(5);

/// What happens at the witness.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// A writer has begun.
    Began(String),
    /// It told of so many durable writes.
    Durable(u64),
    /// The writer has gone away: its connection broke, or it said nothing for as long as was asked.
    Gone {
        /// The last write that was issued.
        issued: u64,
        /// The last write that was promised.
        durable: u64,
    },
    /// The writer has said that it ends.
    Ended,
    /// A cut was judged; the sums so far.
    Judged(String),
    /// A connection was refused.
    Refused(String),
    /// The journal failed; nothing more is taken.
    Failed(String),
}

/// What all connections share.
#[derive(Debug)]
struct Shared {
    journal: Journal,
    has_writer: bool,
    is_failed: bool,
}

/// A witness that listens.
#[derive(Debug)]
pub struct Witness {
    listener: TcpListener,
    secret: Secret,
    shared: Arc<Mutex<Shared>>,
    /// A writer that says nothing for so long is gone.
    silence: Duration,
}

impl Witness {
    /// Listens on `address`.
    ///
    /// # Errors
    /// The address cannot be had.
    pub fn listen(
        address: SocketAddr,
        secret: Secret,
        journal: Journal,
        silence: Duration,
    ) -> Result<Self, WitnessError> {
        let failed = |source| WitnessError::Listen { address, source };
        let listener = TcpListener::bind(address).map_err(failed)?;
        listener.set_nonblocking(true).map_err(failed)?;
        let shared = Shared { journal, has_writer: false, is_failed: false };
        Ok(Self { listener, secret, shared: Arc::new(Mutex::new(shared)), silence })
    }

    /// Where it listens.
    ///
    /// # Errors
    /// The kernel does not say.
    pub fn address(&self) -> Result<SocketAddr, WitnessError> {
        self.listener.local_addr().map_err(WitnessError::Vanished)
    }

    /// Serves until `stop` turns true or the journal fails. `tell` hears of everything; `nonce`
    /// gives fresh random numbers.
    ///
    /// # Errors
    /// The journal failed.
    pub fn serve(
        &self,
        stop: &Arc<AtomicBool>,
        nonce: &mut dyn FnMut() -> u64,
        tell: &mut dyn FnMut(&Event),
    ) -> Result<(), WitnessError> {
        let (sender, events): (Sender<Event>, Receiver<Event>) = channel();
        while !stop.load(Ordering::Relaxed) {
            events.try_iter().for_each(|event| tell(&event));
            if lock(&self.shared).is_failed {
                events.try_iter().for_each(|event| tell(&event));
                let full = std::io::Error::other("a line could not be written");
                return Err(WitnessError::Journal(full));
            }
            let Ok((stream, _)) = self.listener.accept() else {
                std::thread::sleep(LOOK_EVERY);
                continue;
            };
            let nonce = format!("{:016x}{:016x}", nonce(), nonce());
            let connection = Connection {
                secret: self.secret.clone(),
                shared: Arc::clone(&self.shared),
                events: sender.clone(),
                stop: Arc::clone(stop),
                silence: self.silence,
            };
            std::thread::spawn(move || connection.serve(stream, &nonce));
        }
        Ok(())
    }
}

/// A thread that panicked with the lock has changed nothing by halves: each change is one line.
fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// One connection.
struct Connection {
    secret: Secret,
    shared: Arc<Mutex<Shared>>,
    events: Sender<Event>,
    stop: Arc<AtomicBool>,
    silence: Duration,
}

impl Connection {
    fn serve(self, stream: TcpStream, nonce: &str) {
        // Some systems hand the listener's mode on.
        let _ = stream.set_nonblocking(false);
        let opened = Wire::open(stream, self.secret.clone(), Side::Witness, nonce, GREETING_MAX);
        let done = opened.and_then(|mut wire| {
            let first = wire.receive();
            if let Err(WitnessError::WrongSecret) = &first {
                // Signed with our secret, which the other side cannot verify: so it knows.
                let _ = wire.send("refused the secret differs");
            }
            let Got::Line(line) = first? else { return Err(WitnessError::Protocol) };
            match line.split_once(' ').map_or(&*line, |(word, _)| word) {
                "write" => self.serve_writer(&mut wire, &line),
                "check" => self.serve_verifier(&mut wire),
                _ => Err(WitnessError::Protocol),
            }
        });
        if let Err(error) = done {
            self.tell(Event::Refused(error.to_string()));
        }
    }

    fn tell(&self, event: Event) {
        // Nobody listens when the witness is ending.
        let _ = self.events.send(event);
    }

    /// Adds a line to the journal; a failure ends the witness, and the client hears of it.
    fn keep(&self, wire: &mut Wire, line: &str) -> Result<(), WitnessError> {
        let mut shared = lock(&self.shared);
        let kept = shared.journal.add(line);
        if let Err(WitnessError::Journal(error)) = &kept {
            shared.is_failed = true;
            let words = in_words(error);
            self.tell(Event::Failed(words.clone()));
            drop(shared);
            wire.send(&format!("refused its journal cannot be written: {words}"))?;
        }
        kept
    }

    fn serve_writer(&self, wire: &mut Wire, line: &str) -> Result<(), WitnessError> {
        if std::mem::replace(&mut lock(&self.shared).has_writer, true) {
            wire.send("refused another writer is at work")?;
            return Err(WitnessError::Refused("another writer is at work".to_owned()));
        }
        let done = self.hear_writer(wire, line);
        lock(&self.shared).has_writer = false;
        done
    }

    fn hear_writer(&self, wire: &mut Wire, line: &str) -> Result<(), WitnessError> {
        if lock(&self.shared).journal.is_laid() {
            let why = "the last cut was not judged yet; run 'cardproof powercut check' first";
            wire.send(&format!("refused {why}"))?;
            return Err(WitnessError::Refused(why.to_owned()));
        }
        self.keep(wire, line)?;
        wire.send("ok")?;
        self.tell(Event::Began(line.to_owned()));
        wire.set_patience(LOOK_EVERY)?;
        let mut silent = Duration::ZERO;
        while !self.stop.load(Ordering::Relaxed) {
            match wire.receive() {
                Ok(Got::Nothing) => silent += LOOK_EVERY,
                Ok(Got::Line(line)) if line == "end" => {
                    self.keep(wire, "ended")?;
                    self.tell(Event::Ended);
                    return Ok(());
                }
                Ok(Got::Line(line)) => {
                    silent = Duration::ZERO;
                    self.keep(wire, &line)?;
                    if let Some(number) = line.strip_prefix("durable ") {
                        // A writer that vanished hears no echo; what it said before is still read.
                        let _ = wire.send(&line);
                        self.tell(Event::Durable(number.parse().unwrap_or(0)));
                    }
                }
                Err(WitnessError::Vanished(_)) | Ok(Got::End) => break,
                Err(error) => return Err(error),
            }
            if silent >= self.silence {
                break;
            }
        }
        let promise =
            lock(&self.shared).journal.open_setup().map(|open| open.1).unwrap_or_default();
        self.tell(Event::Gone { issued: promise.issued, durable: promise.durable });
        Ok(())
    }

    fn serve_verifier(&self, wire: &mut Wire) -> Result<(), WitnessError> {
        let (has_writer, open, is_laid, judged) = {
            let shared = lock(&self.shared);
            let journal = &shared.journal;
            let open = journal.open_setup().cloned();
            (shared.has_writer, open, journal.is_laid(), journal.judged_setup())
        };
        if has_writer {
            wire.send("refused a writer is still at work; the power was not cut")?;
            return Ok(());
        }
        let (word, last) = match (open, judged) {
            (Some(open), _) => ("was", open),
            (None, Some(judged)) => ("judged", judged),
            (None, None) => {
                wire.send("refused nothing was written since the last check")?;
                return Ok(());
            }
        };
        if word == "was" && !is_laid {
            self.keep(wire, "ended")?;
            wire.send("refused the power went before the first write; write again")?;
            return Ok(());
        }
        let (setup, promise) = last;
        wire.send(&format!("{word} {} {} {setup}", promise.issued, promise.durable))?;
        wire.set_patience(Duration::from_secs(3600))?;
        let Got::Line(line) = wire.receive()? else { return Ok(()) };
        self.keep(wire, &line)?;
        let sums = lock(&self.shared).journal.sums();
        wire.send(&format!("sums {sums}"))?;
        self.tell(Event::Judged(sums));
        Ok(())
    }
}
