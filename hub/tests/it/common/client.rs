//! A client over a plain socket: it can send what no library would.

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// What came back.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    /// The status; 0 where the connection ended without one.
    pub(crate) status: u16,
    /// The header lines in small letters.
    pub(crate) head: String,
    /// The body.
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|_| panic!("no JSON: {}", self.text()))
    }

    fn read(bytes: &[u8]) -> Self {
        let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
            return Self::default();
        };
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let mut body = bytes[end + 4..].to_vec();
        let head = head.to_lowercase();
        if head.contains("transfer-encoding: chunked") {
            body = unchunked(&body);
        }
        Self { status, head, body }
    }
}

fn unchunked(mut bytes: &[u8]) -> Vec<u8> {
    let mut body = Vec::new();
    while let Some(end) = bytes.windows(2).position(|two| two == b"\r\n") {
        let length =
            usize::from_str_radix(&String::from_utf8_lossy(&bytes[..end]), 16).unwrap_or(0);
        if length == 0 || bytes.len() < end + 2 + length {
            break;
        }
        body.extend_from_slice(&bytes[end + 2..end + 2 + length]);
        bytes = bytes.get(end + 4 + length..).unwrap_or_default();
    }
    body
}

/// A connection with a time limit, so that no test hangs.
pub(crate) fn connect(address: &str) -> std::io::Result<TcpStream> {
    let stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.set_write_timeout(Some(Duration::from_secs(30)))?;
    Ok(stream)
}

/// As [`connect`], from an address of this machine such as `127.0.0.2`.
pub(crate) fn connect_from(source: Ipv4Addr, address: &str) -> std::io::Result<TcpStream> {
    use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
    let to: SocketAddrV4 = address.parse().unwrap();
    let socket = socket(AddressFamily::INET, SocketType::STREAM, None)?;
    bind(&socket, &SocketAddrV4::new(source, 0))?;
    connect(&socket, &to)?;
    let stream = TcpStream::from(socket);
    stream.set_read_timeout(Some(Duration::from_secs(30)))?;
    stream.set_write_timeout(Some(Duration::from_secs(30)))?;
    Ok(stream)
}

/// Sends `bytes` as they are and reads until the end.
pub(crate) fn raw(address: &str, bytes: &[u8]) -> Answer {
    let Ok(mut stream) = connect(address) else { return Answer::default() };
    // A hub that refuses early may close while more is sent; its answer is read all the same.
    let _ = stream.write_all(bytes);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    Answer::read(&answer)
}

pub(crate) fn request(
    address: &str,
    method: &str,
    path: &str,
    headers: &[(&str, &str)],
    body: &[u8],
) -> Answer {
    let mut head = format!("{method} {path} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n");
    for (name, value) in headers {
        head += &format!("{name}: {value}\r\n");
    }
    if !body.is_empty() {
        head += &format!("Content-Length: {}\r\n", body.len());
    }
    raw(address, &[head.as_bytes(), b"\r\n", body].concat())
}
