//! A listener from which Prometheus fetches the facts. It answers one request after the other, reads no more of one
//! than its head, and is open to this computer only, unless the user names an address.

use std::io::{self, Read, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::str::FromStr;
use std::time::{Duration, Instant};

use cardproof_report::metrics::{OPEN_METRICS_TYPE, PROMETHEUS_TYPE, open_metrics, prometheus};

use cardproof_session::LedgerFiles;

use super::LedgerArgs;
use super::metrics::Gathered;
use cardproof_units::in_words;

use crate::exit::{Exit, Failure};
use crate::talk::Talk;

/// A request's head is shorter than this, in bytes.
const HEAD_MAX: usize = 8192;

/// Who has not sent the head within this time gets no answer.
const PATIENCE: Duration = Duration::from_secs(5);

/// Where to listen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Listen(SocketAddr);

impl FromStr for Listen {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let port = text.parse::<u16>().map(|port| SocketAddr::new(loopback(), port));
        port.or_else(|_| text.parse::<SocketAddr>()).map(Self).map_err(|_| {
            "a port, such as 9711, or an address with one, such as [::1]:9711".to_owned()
        })
    }
}

const fn loopback() -> IpAddr {
    IpAddr::V4(Ipv4Addr::LOCALHOST)
}

/// Answers requests until the process is ended.
pub(super) fn listen(at: Listen, files: &LedgerFiles, args: &LedgerArgs) -> Result<Exit, Failure> {
    let listener = TcpListener::bind(at.0).map_err(|error| {
        Failure::incomplete(format!(
            "cannot listen on {}: {error}; name another port",
            at.0,
            error = in_words(&error)
        ))
    })?;
    let address = listener.local_addr().unwrap_or(at.0);
    let talk = Talk::new(args.quiet);
    talk.note(&format!("The facts are at http://{address}/metrics until Ctrl-C."));
    for stream in listener.incoming().flatten() {
        // A client that has closed the connection needs no answer.
        let _ = answer(stream, || facts(files, args));
    }
    Ok(Exit::Done)
}

fn facts(files: &LedgerFiles, args: &LedgerArgs) -> Result<Gathered, Failure> {
    let (days, names) = super::show(files)?;
    Gathered::from_days(&days, &names, args.endurance)
}

/// Answers one request with what `facts` gathers.
fn answer(
    mut stream: TcpStream,
    facts: impl FnOnce() -> Result<Gathered, Failure>,
) -> io::Result<()> {
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let Some(head) = head(&mut stream)? else { return Ok(()) };
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let text = "text/plain; charset=utf-8";
    let (status, kind, body) = match (method, path) {
        ("GET", "/metrics") => match facts() {
            Ok(gathered) if wants_open_metrics(&head) => {
                ("200 OK", OPEN_METRICS_TYPE, open_metrics(&gathered.facts()))
            }
            Ok(gathered) => ("200 OK", PROMETHEUS_TYPE, prometheus(&gathered.facts())),
            Err(failure) => ("503 Service Unavailable", text, failure.message + "\n"),
        },
        ("GET", _) => ("404 Not Found", text, "the facts are at /metrics\n".to_owned()),
        _ => ("405 Method Not Allowed", text, "only GET is answered\n".to_owned()),
    };
    let length = body.len();
    write!(
        stream,
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {length}\r\n\
         Connection: close\r\n\r\n{body}"
    )
}

/// The head of a request; `None` where it is longer than a head, has no end, or comes too slowly.
fn head(stream: &mut TcpStream) -> io::Result<Option<String>> {
    let end = Instant::now() + PATIENCE;
    let mut bytes = Vec::new();
    let mut part = [0; 512];
    while !bytes.windows(4).any(|end| end == b"\r\n\r\n") {
        match stream.read(&mut part)? {
            0 => return Ok(None),
            _ if bytes.len() > HEAD_MAX || Instant::now() > end => return Ok(None),
            length => bytes.extend(part.iter().take(length)),
        }
    }
    Ok(Some(String::from_utf8_lossy(&bytes).into_owned()))
}

/// Whether the one who asks takes OpenMetrics.
fn wants_open_metrics(head: &str) -> bool {
    head.lines().any(|line| {
        let (name, value) = line.split_once(':').unwrap_or_default();
        name.eq_ignore_ascii_case("accept") && value.contains("application/openmetrics-text")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_alone_is_open_to_this_computer_only() {
        let at = |text: &str| text.parse::<Listen>().map(|at| at.0.to_string());
        assert_eq!(at("9711").as_deref(), Ok("127.0.0.1:9711"));
        assert_eq!(at("[::1]:9711").as_deref(), Ok("[::1]:9711"));
        assert_eq!(at("0.0.0.0:9711").as_deref(), Ok("0.0.0.0:9711"));
        assert!(at("everywhere").is_err());
        assert!(at("70000").is_err());
    }

    #[test]
    fn the_form_is_the_one_that_was_asked_for() {
        assert!(wants_open_metrics(
            "GET /metrics HTTP/1.1\r\naccept: application/openmetrics-text;version=1.0.0;q=0.5\r\n"
        ));
        assert!(!wants_open_metrics("GET /metrics HTTP/1.1\r\nAccept: text/plain\r\n"));
    }
}
