//! One submission over HTTP: an answer or a named reason within five seconds.

use std::time::Duration;

use serde::Deserialize;
use ureq::http::Uri;
use ureq::{Agent, Error};

use super::notes::Note;
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
        let mut config = Agent::config_builder()
            .timeout_global(Some(TIME_MAX))
            .http_status_as_error(false)
            .max_redirects(0)
            .user_agent(concat!("cardproof/", env!("CARGO_PKG_VERSION")));
        if self.is_here {
            // No proxy knows this computer's own addresses.
            config = config.proxy(None);
        }
        let agent: Agent = config.build().into();
        let sent = agent
            .post(format!("{}/api/v1/submissions", self.address))
            .header("Content-Type", "application/json")
            .header("Accept", "application/json")
            .header("Idempotency-Key", &note.key)
            .send(note.document.to_string().as_bytes());
        let mut response = sent.map_err(|error| self.unreachable(&error))?;
        let status = response.status().as_u16();
        let body = response.body_mut().with_config().limit(ANSWER_MAX).read_to_string();
        let body = body.map_err(|error| self.unreachable(&error))?;
        match status {
            200 | 201 => self.answer(&body),
            _ => Err(self.refused(status, &body)),
        }
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
        let cause = match error {
            Error::HostNotFound => {
                "its name is not known; look at the address and the network".to_owned()
            }
            Error::ConnectionFailed => "nothing answers at this address".to_owned(),
            Error::Timeout(_) => "it did not answer within 5 s".to_owned(),
            Error::Io(error) if error.kind() == std::io::ErrorKind::ConnectionRefused => {
                "nothing answers at this address".to_owned()
            }
            other => cardproof_report::one_line(&other.to_string()),
        };
        let message = format!("cannot reach the hub at {}: {cause}", self.address);
        Trouble { message, may_pass: true }
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
