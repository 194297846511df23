//! The other end: the writer and the verifier on the board.

use std::net::{SocketAddr, TcpStream, ToSocketAddrs};
use std::time::Duration;

use cardproof_evidence::powercut::{CutReport, Promise, Tally};

use crate::journal::{Setup, tally_of};
use crate::secret::Secret;
use crate::wire::{Got, Side, Wire, WitnessError};

/// How long the witness may take to answer.
const PATIENCE: Duration = Duration::from_secs(10);

/// So many promises may be on their way to the witness before an answer is waited for.
const AHEAD_MAX: u64 = 32;

/// A connection to the witness.
#[derive(Debug)]
pub struct Client {
    wire: Wire,
    /// Promises that the witness has not repeated yet.
    ahead: u64,
}

/// What the witness knows of the last writer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastWriter {
    /// What it wrote.
    pub setup: Setup,
    /// What was promised.
    pub promise: Promise,
    /// The cut was judged before, and nothing was written since then.
    pub is_judged: bool,
}

impl Client {
    /// Connects to the witness at `address`, such as `192.168.1.5:7777`; `nonce` is fresh.
    ///
    /// # Errors
    /// Nobody is there, or not a witness.
    pub fn connect(address: &str, secret: Secret, nonce: &str) -> Result<Self, WitnessError> {
        let unreachable =
            |source| WitnessError::Unreachable { address: address.to_owned(), source };
        let found: Vec<SocketAddr> = address.to_socket_addrs().map_err(unreachable)?.collect();
        let none = || std::io::Error::new(std::io::ErrorKind::NotFound, "no such address");
        let first = found.first().ok_or_else(|| unreachable(none()))?;
        let stream = TcpStream::connect_timeout(first, PATIENCE).map_err(unreachable)?;
        let wire = Wire::open(stream, secret, Side::Client, nonce, PATIENCE)?;
        Ok(Self { wire, ahead: 0 })
    }

    fn answer(&mut self) -> Result<String, WitnessError> {
        match self.wire.receive()? {
            Got::Line(line) => match line.strip_prefix("refused ") {
                Some(why) => Err(WitnessError::Refused(why.to_owned())),
                None => Ok(line),
            },
            Got::Nothing => Err(WitnessError::Silent(PATIENCE)),
            // A witness with another secret cannot read what we sent, and hangs up.
            Got::End if self.ahead == 0 => Err(WitnessError::WrongSecret),
            Got::End => Err(WitnessError::Vanished(std::io::ErrorKind::ConnectionAborted.into())),
        }
    }

    /// Says what will be written.
    ///
    /// # Errors
    /// The witness refuses: another writer is at work, or the secret differs.
    pub fn begin(&mut self, setup: &Setup) -> Result<(), WitnessError> {
        self.wire.send(&format!("write {setup}"))?;
        self.answer().map(|_| ())
    }

    /// Says that writes up to `number` are about to be issued.
    ///
    /// # Errors
    /// The witness has vanished.
    pub fn issued(&mut self, number: u64) -> Result<(), WitnessError> {
        self.wire.send(&format!("issued {number}"))
    }

    /// Says that writes up to `number` were promised.
    ///
    /// # Errors
    /// The witness has vanished, is silent, or cannot keep it.
    pub fn durable(&mut self, number: u64) -> Result<(), WitnessError> {
        self.ahead += 1;
        self.wire.send(&format!("durable {number}"))?;
        while self.ahead >= AHEAD_MAX {
            self.answer()?;
            self.ahead -= 1;
        }
        Ok(())
    }

    /// Says that the writer ends in order, after everything was heard.
    ///
    /// # Errors
    /// The witness has vanished.
    pub fn end(&mut self) -> Result<(), WitnessError> {
        while self.ahead > 0 {
            self.answer()?;
            self.ahead -= 1;
        }
        self.wire.send("end")
    }

    /// Asks what the last writer was promised.
    ///
    /// # Errors
    /// The witness knows of none, or a writer is still at work.
    pub fn ask(&mut self) -> Result<LastWriter, WitnessError> {
        self.wire.send("check")?;
        let answer = self.answer()?;
        let told = || {
            let (word, rest) = answer.split_once(' ')?;
            let is_judged = match word {
                "was" => false,
                "judged" => true,
                _ => return None,
            };
            let mut words = rest.splitn(3, ' ');
            let issued = words.next()?.parse().ok()?;
            let durable = words.next()?.parse().ok()?;
            let setup: Setup = words.next()?.parse().ok()?;
            // The writer says what it issues before it does so, and the cut can come in between: its
            // last lines may never have left the board.
            let unheard = u64::from(setup.epoch_writes);
            let promise = Promise { issued, durable, unheard };
            setup.can_have(promise).then_some(LastWriter { setup, promise, is_judged })
        };
        told().ok_or(WitnessError::Protocol)
    }

    /// Says what is seen of a cut that was judged before; the sum of all cuts that the witness knows of.
    ///
    /// # Errors
    /// The witness has vanished or cannot keep it.
    pub fn judged_again(&mut self, report: &CutReport) -> Result<Tally, WitnessError> {
        self.sum_after(&format!("later{}", kinds_of(report)))
    }

    /// Says what the cut did; the sum of all cuts that the witness knows of.
    ///
    /// # Errors
    /// The witness has vanished or cannot keep it.
    pub fn judged(&mut self, report: &CutReport) -> Result<Tally, WitnessError> {
        let effect = if report.had_writes_in_flight { "effective" } else { "idle" };
        self.sum_after(&format!("result {effect}{}", kinds_of(report)))
    }

    fn sum_after(&mut self, line: &str) -> Result<Tally, WitnessError> {
        self.wire.send(line)?;
        let answer = self.answer()?;
        answer.strip_prefix("sums ").and_then(tally_of).ok_or(WitnessError::Protocol)
    }
}

/// The kinds of harm in `report`, with a blank in front of each.
fn kinds_of(report: &CutReport) -> String {
    report.kinds().into_iter().map(|kind| format!(" {}", kind.name())).collect()
}
