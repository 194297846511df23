//! One submission over HTTP: an answer or a named reason within five seconds.

use std::time::{Duration, Instant};

use cardproof_session::submissions::Note;
use cardproof_units::in_words;
use rustls::CertificateError;
use serde::Deserialize;
use ureq::http::{Response, Uri, header};
use ureq::tls::{RootCerts, TlsConfig};
use ureq::{Agent, Body, Error};

use super::trust;
use super::{Answer, Trouble};
use crate::exit::Failure;

/// How long a hub may take, from looking up its name to the last byte of its answer.
const TIME_MAX: Duration = Duration::from_millis(4500);

/// An answer is shorter.
const ANSWER_MAX: u64 = 64 << 10;

/// A hub, by its address without a slash at its end.
pub(super) struct Hub {
    address: String,
    is_here: bool,
}

impl Hub {
    /// The hub at `address`.
    pub(super) fn at(address: &str) -> Result<Self, Failure> {
        let wrong = |why: &str| {
            Failure::usage(format!(
                "'{address}' {why}; give --to an address such as https://hub.example.org"
            ))
        };
        let uri: Uri = address.parse().map_err(|_| wrong("is no address"))?;
        if !matches!(uri.scheme_str(), Some("http" | "https")) {
            return Err(wrong("is not a web address"));
        }
        let authority = uri.authority().ok_or_else(|| wrong("names no host"))?;
        if authority.as_str().contains('@') {
            return Err(wrong("holds a name or password, which hubs do not need"));
        }
        if uri.query().is_some() {
            return Err(wrong("has a query"));
        }
        let host = authority.host();
        let is_here = host == "localhost" || host.starts_with("127.") || host == "[::1]";
        Ok(Self { address: address.trim_end_matches('/').to_owned(), is_here })
    }

    /// Its address.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// Sends `note`.
    pub(super) fn send(&self, note: &Note) -> Result<Answer, Trouble> {
        let start = Instant::now();
        let mut sent = self.posted(note, RootCerts::WebPki, TIME_MAX);
        // Nothing of it was sent to whom nobody vouches for; an authority of the system's may.
        if sent.as_ref().is_err_and(is_of_unknown_issuer)
            && let Some(roots) = trust::of_system()
        {
            sent = self.posted(note, roots, TIME_MAX.saturating_sub(start.elapsed()));
        }
        let mut response = sent.map_err(|error| self.unreachable(&error))?;
        let status = response.status().as_u16();
        let target = response.headers().get(header::LOCATION).and_then(|it| it.to_str().ok());
        if matches!(status, 300..400) {
            return Err(self.elsewhere(target.unwrap_or_default()));
        }
        let body = response.body_mut().with_config().limit(ANSWER_MAX).read_to_string();
        let body = body.map_err(|error| self.unreachable(&error))?;
        match status {
            200 | 201 => self.answer(&body),
            _ => Err(self.refused(status, &body)),
        }
    }

    /// Sends `note` to whom one of `roots` vouches for, within `time`.
    fn posted(
        &self,
        note: &Note,
        roots: RootCerts,
        time: Duration,
    ) -> Result<Response<Body>, Error> {
        let mut config = Agent::config_builder()
            .timeout_global(Some(time))
            .http_status_as_error(false)
            .max_redirects(0)
            .tls_config(TlsConfig::builder().root_certs(roots).build())
            .user_agent(concat!("cardproof/", env!("CARGO_PKG_VERSION")));
        if self.is_here {
            // No proxy knows this computer's own addresses.
            config = config.proxy(None);
        }
        let agent: Agent = config.build().into();
        agent
            .post(format!("{}/api/v1/submissions", self.address))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json")
            .header("Idempotency-Key", &note.key)
            .send(note.document.to_string().as_bytes())
    }

    /// A hub leads nowhere else; most that do so lead to their address with TLS.
    fn elsewhere(&self, target: &str) -> Trouble {
        let message = match self.address.strip_prefix("http://") {
            Some(rest) if target.starts_with("https://") => {
                format!("{} is reached with TLS: use --to https://{rest}", self.address)
            }
            _ => format!(
                "{} leads to another address ({}); look at the address",
                self.address,
                cardproof_report::one_line(target).chars().take(200).collect::<String>()
            ),
        };
        Trouble { message, may_pass: false }
    }

    fn answer(&self, body: &str) -> Result<Answer, Trouble> {
        #[derive(Deserialize)]
        struct Receipt {
            path: String,
            token: String,
            #[serde(default)]
            waits: bool,
        }
        let receipt: Option<Receipt> = serde_json::from_str(body).ok();
        let is_name = |c: char| c.is_ascii_alphanumeric() || c == '-';
        // The address is put together here, so that no hub can lead elsewhere.
        let receipt = receipt
            .filter(|it| it.path.strip_prefix("/r/").is_some_and(|id| id.chars().all(is_name)));
        let receipt = receipt.ok_or_else(|| self.no_hub())?;
        let url = format!("{}{}", self.address, receipt.path);
        Ok(Answer { url, token: receipt.token, waits: receipt.waits })
    }

    fn no_hub(&self) -> Trouble {
        let message =
            format!("{} does not answer as a hub does; look at the address", self.address);
        Trouble { message, may_pass: false }
    }

    fn refused(&self, status: u16, body: &str) -> Trouble {
        #[derive(Deserialize)]
        struct HubRefusal {
            message: String,
        }
        let Ok(HubRefusal { message }) = serde_json::from_str(body) else {
            return match status {
                500.. => Trouble {
                    message: format!("{} has a fault (HTTP {status})", self.address),
                    may_pass: true,
                },
                _ => self.no_hub(),
            };
        };
        let short: String = cardproof_report::one_line(&message).chars().take(400).collect();
        let may_pass = status >= 500 || matches!(status, 408 | 429);
        Trouble { message: format!("{} did not take it: {short}", self.address), may_pass }
    }

    fn unreachable(&self, error: &Error) -> Trouble {
        if is_of_unknown_issuer(error) {
            let message = format!(
                "cannot trust {}: no authority that this system knows has issued its certificate. If you trust \
                 the one that whoever runs the hub has given you, name the file: SSL_CERT_FILE=hub.crt cardproof submit \
                 ...; or add it to the system's, on Debian as /usr/local/share/ca-certificates/hub.crt (the name must \
                 end in .crt), then: sudo update-ca-certificates",
                self.address
            );
            return Trouble { message, may_pass: false };
        }
        if let Some(cause) = of_certificate(error) {
            let message = format!(
                "cannot trust {}: its certificate is not in order ({cause}). That of a hub has the hub's name as \
                 subjectAltName, is valid today, and is not itself that of an authority (basicConstraints=CA:FALSE)",
                self.address
            );
            return Trouble { message, may_pass: true };
        }
        let cause = match error {
            Error::HostNotFound => {
                "its name is not known; look at the address and the network".to_owned()
            }
            Error::ConnectionFailed => "nothing answers at this address".to_owned(),
            Error::Timeout(_) => "it did not answer within 5 s".to_owned(),
            Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                "nothing answers at this address".to_owned()
            }
            Error::Io(error) => cardproof_report::one_line(&in_words(error)),
            other => cardproof_report::one_line(&other.to_string()),
        };
        let message = format!("cannot reach the hub at {}: {cause}", self.address);
        Trouble { message, may_pass: true }
    }
}

/// Whether the hub's certificate is of an authority that is not known.
fn is_of_unknown_issuer(error: &Error) -> bool {
    matches!(of_certificate(error), Some(CertificateError::UnknownIssuer))
}

/// What is wrong with the hub's certificate, where that is the fault.
fn of_certificate(error: &Error) -> Option<&CertificateError> {
    let Error::Io(error) = error else { return None };
    match error.get_ref().and_then(|cause| cause.downcast_ref()) {
        Some(rustls::Error::InvalidCertificate(cause)) => Some(cause),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_hubs() {
        for good in ["http://localhost:8080", "https://hub.example.org/", "http://[::1]:80/hub/"] {
            assert!(Hub::at(good).is_ok(), "{good}");
        }
        assert_eq!(
            Hub::at("https://hub.example.org/").map(|hub| hub.address).ok().as_deref(),
            Some("https://hub.example.org")
        );
        for bad in [
            "hub",
            "ftp://hub",
            "file:///etc/passwd",
            "http://a:b@hub",
            "http://hub/?q=1",
            "http://",
        ] {
            assert!(Hub::at(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_hubs_refusal_is_one_line_whatever_it_says() {
        let hub = Hub::at("http://hub").unwrap();
        let said = |message: &str| {
            let body = serde_json::json!({ "message": message }).to_string();
            hub.refused(422, &body).message
        };
        for message in ["no\nerror: forged", "no\r\nforged", "a\u{85}b", "a\u{2028}b", "\u{1b}[2Jx"]
        {
            let said = said(message);
            assert!(!said.contains(|c: char| c.is_control() || c == '\u{2028}'), "{said:?}");
        }
        assert_eq!(said("no\nroom"), "http://hub did not take it: no room");
    }

    #[test]
    fn a_redirect_to_tls_says_which_address_to_use() {
        let hub = Hub::at("http://hub.lan").unwrap();
        let trouble = hub.elsewhere("https://hub.lan/api/v1/submissions");
        assert!(trouble.message.ends_with("use --to https://hub.lan") && !trouble.may_pass);
        let other = hub.elsewhere("/else\nwhere").message;
        assert!(other.contains("(/else where)") && !other.contains("https"), "{other}");
    }

    #[test]
    fn no_hub_leads_elsewhere() {
        let hub = Hub::at("http://hub").unwrap();
        let url = |path: &str| {
            hub.answer(&format!(r#"{{"path": "{path}", "token": "t"}}"#)).map(|it| it.url)
        };
        assert_eq!(url("/r/abc").unwrap(), "http://hub/r/abc");
        for path in ["http://other/r/abc", "/r/../../x", "/r/a?b", "//other/r/a"] {
            assert!(url(path).is_err(), "{path}");
        }
    }
}
