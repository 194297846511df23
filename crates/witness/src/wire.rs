//! Lines with a number and a signature, in both directions.
//!
//! The connection begins with a line of the witness, `cardproof-witness/1 NONCE`, and one of the
//! client, `NONCE`. From then on a line is `TEXT SIGNATURE`. The signature covers both nonces, the
//! direction, the number of the line and the text, so no line can be repeated, left out or turned
//! around.

use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::secret::Secret;

/// The first word of the witness.
pub(crate) const GREETING: &str = "cardproof-witness/1";

/// No line is longer.
const LINE_MAX: u64 = 4096;

/// Why the witness cannot be used, or does not go on.
#[derive(Debug, thiserror::Error)]
pub enum WitnessError {
    /// Nobody answers.
    #[error(
        "cannot reach the witness at {address}; is 'cardproof powercut witness' running there?"
    )]
    Unreachable {
        /// Where.
        address: String,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// It answered no more.
    #[error("the witness has vanished; what it had heard until then is in its journal")]
    Vanished(#[source] std::io::Error),
    /// It said nothing for a while.
    #[error("the witness has not answered for {} s; what it had heard until then is in its journal", .0.as_secs())]
    Silent(Duration),
    /// The other side has another secret, or somebody in between changed a line.
    #[error("the other side does not have the same secret; give both the same --secret-file")]
    WrongSecret,
    /// The other side is no witness of this version.
    #[error("what answers there is no witness of this version of cardproof")]
    Protocol,
    /// It refuses.
    #[error("the witness refuses: {0}")]
    Refused(String),
    /// An address cannot be listened on.
    #[error("cannot listen on {address}; choose another port, or end what uses it")]
    Listen {
        /// Which.
        address: SocketAddr,
        /// Why.
        #[source]
        source: std::io::Error,
    },
    /// The journal cannot be written or read.
    #[error("the journal of acknowledgements fails; free some space or name another file")]
    Journal(#[source] std::io::Error),
    /// The journal holds something else.
    #[error("the journal has a line that is none of ours: '{0}'; name another file")]
    Foreign(String),
}

/// Who speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Witness,
    Client,
}

impl Side {
    const fn other(self) -> Self {
        match self {
            Self::Witness => Self::Client,
            Self::Client => Self::Witness,
        }
    }
}

/// A connection on which lines are signed.
#[derive(Debug)]
pub(crate) struct Wire {
    reader: BufReader<TcpStream>,
    writer: TcpStream,
    secret: Secret,
    side: Side,
    nonces: [String; 2],
    sent: u64,
    received: u64,
    /// What has come of the next line so far.
    begun: Vec<u8>,
}

/// What came.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Got {
    Line(String),
    /// Nothing within the time that was waited for.
    Nothing,
    /// The other side has closed the connection.
    End,
}

impl Wire {
    /// Greets the other side; `nonce` is fresh for each connection.
    pub(crate) fn open(
        stream: TcpStream,
        secret: Secret,
        side: Side,
        nonce: &str,
        patience: Duration,
    ) -> Result<Self, WitnessError> {
        stream.set_nodelay(true).map_err(WitnessError::Vanished)?;
        stream.set_read_timeout(Some(patience)).map_err(WitnessError::Vanished)?;
        stream.set_write_timeout(Some(patience)).map_err(WitnessError::Vanished)?;
        let writer = stream.try_clone().map_err(WitnessError::Vanished)?;
        let mut wire = Self {
            reader: BufReader::new(stream),
            writer,
            secret,
            side,
            nonces: [String::new(), String::new()],
            sent: 0,
            received: 0,
            begun: Vec::new(),
        };
        match side {
            Side::Witness => wire.put(&format!("{GREETING} {nonce}"))?,
            Side::Client => wire.put(nonce)?,
        }
        let Got::Line(line) = wire.get()? else { return Err(WitnessError::Protocol) };
        let theirs = match side {
            Side::Witness => line,
            Side::Client => match line.split_once(' ') {
                Some((GREETING, theirs)) => theirs.to_owned(),
                _ => return Err(WitnessError::Protocol),
            },
        };
        let (ours, theirs) = (nonce.to_owned(), theirs);
        wire.nonces = if side == Side::Witness { [ours, theirs] } else { [theirs, ours] };
        Ok(wire)
    }

    /// How long is waited for a line.
    pub(crate) fn set_patience(&self, patience: Duration) -> Result<(), WitnessError> {
        self.writer.set_read_timeout(Some(patience)).map_err(WitnessError::Vanished)
    }

    fn put(&mut self, line: &str) -> Result<(), WitnessError> {
        self.writer.write_all(format!("{line}\n").as_bytes()).map_err(WitnessError::Vanished)
    }

    fn get(&mut self) -> Result<Got, WitnessError> {
        loop {
            let available = match self.reader.fill_buf() {
                Ok([]) => return Ok(Got::End),
                Ok(bytes) => bytes,
                // A finished request of io_uring, or a stop of the process, ends a wait that has a limit.
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => continue,
                Err(error) if is_timeout(&error) => return Ok(Got::Nothing),
                Err(error) => return Err(WitnessError::Vanished(error)),
            };
            let end = available.iter().position(|byte| *byte == b'\n');
            let taken = end.map_or(available.len(), |end| end + 1);
            self.begun.extend_from_slice(&available[..taken]);
            self.reader.consume(taken);
            if self.begun.len() as u64 > LINE_MAX {
                return Err(WitnessError::Protocol);
            }
            if end.is_some() {
                let line = std::mem::take(&mut self.begun);
                let line = String::from_utf8(line).map_err(|_| WitnessError::Protocol)?;
                return Ok(Got::Line(line.trim_end().to_owned()));
            }
        }
    }

    fn parts<'a>(
        nonces: &'a [String; 2],
        side: Side,
        number: &'a [u8; 8],
        text: &'a str,
    ) -> [&'a [u8]; 5] {
        let direction: &[u8] = if side == Side::Witness { b"witness" } else { b"client" };
        [nonces[0].as_bytes(), nonces[1].as_bytes(), direction, number, text.as_bytes()]
    }

    /// Sends a signed line.
    pub(crate) fn send(&mut self, text: &str) -> Result<(), WitnessError> {
        let number = self.sent.to_le_bytes();
        let parts = Self::parts(&self.nonces, self.side, &number, text);
        let signature: String =
            self.secret.sign(&parts).iter().map(|byte| format!("{byte:02x}")).collect();
        self.sent += 1;
        self.put(&format!("{text} {signature}"))
    }

    /// Waits for a signed line.
    pub(crate) fn receive(&mut self) -> Result<Got, WitnessError> {
        let line = match self.get()? {
            Got::Line(line) => line,
            other => return Ok(other),
        };
        let (text, signature) = line.rsplit_once(' ').ok_or(WitnessError::Protocol)?;
        let number = self.received.to_le_bytes();
        let parts = Self::parts(&self.nonces, self.side.other(), &number, text);
        if !self.secret.verify(&parts, &bytes(signature)) {
            return Err(WitnessError::WrongSecret);
        }
        self.received += 1;
        Ok(Got::Line(text.to_owned()))
    }
}

/// The bytes that hexadecimal digits stand for; empty where they are none.
fn bytes(digits: &str) -> Vec<u8> {
    let pair = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    digits.as_bytes().chunks(2).map(pair).collect::<Option<_>>().unwrap_or_default()
}

fn is_timeout(error: &std::io::Error) -> bool {
    matches!(error.kind(), std::io::ErrorKind::WouldBlock | std::io::ErrorKind::TimedOut)
}
