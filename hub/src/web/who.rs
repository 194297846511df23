//! Who asks: the address of the client, and the token that it has.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::extract::Request;
use axum::http::{HeaderMap, header};

use super::Hub;
use super::server::Peer;
use crate::error::Error;
use crate::log;
use crate::store::admin;

/// Whom a proxy in front does not name is nobody's own machine, wherever the proxy runs.
const UNNAMED: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);

/// Whether a proxy has named a client.
static NAMED: AtomicBool = AtomicBool::new(false);

/// A proxy that names nobody, and one whose names are not read, is told of once.
static TOLD: Once = Once::new();

/// Who has sent this: the peer, or whom the proxy in front names last.
pub(super) fn client(hub: &Hub, headers: &HeaderMap, peer: Option<&Peer>) -> IpAddr {
    let named = || -> Option<IpAddr> {
        let list = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
        list.rsplit(',').next()?.trim().parse().ok()
    };
    let peer = peer.map_or(UNNAMED, |peer| peer.0);
    if !hub.options.is_behind_proxy {
        return peer;
    }
    if let Some(client) = named() {
        NAMED.store(true, Ordering::Relaxed);
        return client;
    }
    // Where the proxy names its clients, who comes from this machine without a name is its operator.
    if !(peer.is_loopback() && NAMED.load(Ordering::Relaxed)) {
        tell(
            "no usable X-Forwarded-For; if the proxy has sent this, check it: until then its clients count as one",
        );
    }
    if peer.is_loopback() { UNNAMED } else { peer }
}

/// Looks for a proxy in front that nobody has told the hub of: the first page that an operator opens shows it, not only
/// the first submission.
pub(super) fn look_for_proxy(hub: &Hub, request: &Request) {
    let is_here = request.extensions().get::<Peer>().is_some_and(|peer| peer.0.is_loopback());
    if !hub.options.is_behind_proxy && is_here && request.headers().contains_key("x-forwarded-for")
    {
        tell(
            "a proxy on this machine names its clients; start the hub with --behind-proxy: until then they count as one",
        );
    }
}

/// Notes once what is wrong with the proxy in front.
fn tell(detail: &'static str) {
    TOLD.call_once(|| log::event("proxy", &[("detail", detail.into())]));
}

/// The token among `headers`.
pub(super) fn token(headers: &HeaderMap) -> Result<&str, Error> {
    let value = headers.get(header::AUTHORIZATION).and_then(|value| value.to_str().ok());
    let (scheme, token) = value.and_then(|value| value.split_once(' ')).ok_or(Error::WrongToken)?;
    let is_token = scheme.eq_ignore_ascii_case("bearer") && !token.trim().is_empty();
    if is_token { Ok(token.trim()) } else { Err(Error::WrongToken) }
}

/// The administrator whose token is among `headers`.
///
/// # Errors
/// There is none, or the database does not answer.
pub(super) async fn administrator(hub: &Hub, headers: &HeaderMap) -> Result<String, Error> {
    let of_browser = password(headers);
    let token = of_browser.as_deref().map_or_else(|| token(headers), Ok)?;
    admin::who(&hub.db, token).await
}

/// The token in the header of Basic authentication, where it is the password.
fn password(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, coded) = value.split_once(' ')?;
    let text = decoded(coded.trim()).filter(|_| scheme.eq_ignore_ascii_case("basic"))?;
    text.split_once(':').map(|(_, token)| token.to_owned())
}

/// The text that `coded` is in base 64 (RFC 4648).
fn decoded(coded: &str) -> Option<String> {
    let value = |c: u8| match c {
        b'A'..=b'Z' => Some(c - b'A'),
        b'a'..=b'z' => Some(c - b'a' + 26),
        b'0'..=b'9' => Some(c - b'0' + 52),
        b'+' => Some(62),
        b'/' => Some(63),
        _ => None,
    };
    let (mut bytes, mut bits, mut count) = (Vec::new(), 0_u32, 0);
    for c in coded.trim_end_matches('=').bytes() {
        bits = bits << 6 | u32::from(value(c)?);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count & 0xff) as u8);
        }
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base_64_is_read_as_the_standard_has_it() {
        for (coded, text) in
            [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9v", "foo"), ("Zm9vYmFy", "foobar")]
        {
            assert_eq!(decoded(coded).as_deref(), Some(text), "{coded}");
        }
        assert_eq!(decoded("Zm!v"), None);
    }
}
