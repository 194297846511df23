//! A client that asks at a fixed rate whatever the answers take (an open loop), as many people do who do not know
//! of one another: a hub that falls behind is not spared.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep_until, timeout};

/// The longest time that an answer is waited for.
const ANSWER_MAX: Duration = Duration::from_secs(30);

/// How long answers took.
#[derive(Clone, Debug, Default)]
pub struct Times {
    /// The times from when a request was due to the end of its answer, shortest first, in milliseconds.
    pub ms: Vec<f64>,
    /// Requests that got no answer, or one that is no success.
    pub failed: usize,
    /// Bytes of all answers.
    pub bytes: u64,
    /// Answers a second.
    pub per_s: f64,
}

impl Times {
    /// The time that the `share` of answers took at most.
    #[must_use]
    pub fn at(&self, share: f64) -> f64 {
        let last = self.ms.len().saturating_sub(1);
        let at = ((self.ms.len() as f64 * share).ceil() as usize).saturating_sub(1);
        self.ms.get(at.min(last)).copied().unwrap_or(f64::NAN)
    }
}

/// Connections that wait for a request.
#[derive(Debug)]
pub struct Connections {
    address: String,
    idle: Mutex<Vec<TcpStream>>,
}

impl Connections {
    /// To the hub at `address`.
    #[must_use]
    pub fn to(address: &str) -> Self {
        Self { address: address.to_owned(), idle: Mutex::default() }
    }

    /// Sends `request` and reads the answer: its status and its body.
    ///
    /// # Errors
    /// There is no whole answer in time.
    pub async fn ask(&self, request: &[u8]) -> Result<(u16, Vec<u8>)> {
        timeout(ANSWER_MAX, self.answer(request)).await.context("no answer in time")?
    }

    async fn answer(&self, request: &[u8]) -> Result<(u16, Vec<u8>)> {
        let idle = self.idle.lock().ok().and_then(|mut all| all.pop());
        let mut stream = match idle {
            Some(stream) => stream,
            None => {
                let stream = TcpStream::connect(&self.address).await?;
                stream.set_nodelay(true)?;
                stream
            }
        };
        stream.write_all(request).await?;
        let mut bytes = Vec::with_capacity(16 << 10);
        let (status, start, end) = loop {
            ensure!(stream.read_buf(&mut bytes).await? > 0, "the connection ended");
            let Some(start) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
                continue;
            };
            let head = String::from_utf8_lossy(&bytes[..start]).to_lowercase();
            let status = head.split(' ').nth(1).and_then(|status| status.parse().ok());
            let length = head
                .lines()
                .find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok())
                .context("the answer has no length")?;
            break (status.context("no status")?, start + 4, start + 4 + length);
        };
        while bytes.len() < end {
            ensure!(stream.read_buf(&mut bytes).await? > 0, "the connection ended");
        }
        if let Ok(mut idle) = self.idle.lock() {
            idle.push(stream);
        }
        Ok((status, bytes[start..end].to_vec()))
    }
}

/// The request for `path`.
#[must_use]
pub fn get(path: &str) -> Vec<u8> {
    format!("GET {path} HTTP/1.1\r\nHost: hub.example\r\nAccept: text/html\r\n\r\n").into_bytes()
}

/// Asks the hub at `address` for each of `paths` in turn, `rate` times a second.
///
/// # Errors
/// A task fails.
pub async fn asked(address: &str, paths: &[String], rate: u32, seconds: u32) -> Result<Times> {
    let connections = Arc::new(Connections::to(address));
    let start = Instant::now();
    let mut tasks = Vec::new();
    for number in 0..rate * seconds {
        let due = start + Duration::from_secs(1) * number / rate;
        sleep_until(due).await;
        let (connections, request) =
            (Arc::clone(&connections), get(&paths[number as usize % paths.len()]));
        tasks.push(tokio::spawn(async move {
            let answer = connections.ask(&request).await;
            (due.elapsed(), answer)
        }));
    }
    let mut times = Times::default();
    for task in tasks {
        match task.await? {
            (took, Ok((200, body))) => {
                times.ms.push(took.as_secs_f64() * 1e3);
                times.bytes += body.len() as u64;
            }
            (_, _) => times.failed += 1,
        }
    }
    times.per_s = times.ms.len() as f64 / start.elapsed().as_secs_f64();
    times.ms.sort_by(f64::total_cmp);
    Ok(times)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_taken_of_sorted_times() {
        let times = Times { ms: (1..=100).map(f64::from).collect(), ..Times::default() };
        assert_eq!([0.5, 0.99, 1.0].map(|share| times.at(share)), [50.0, 99.0, 100.0]);
        assert!(Times::default().at(0.5).is_nan());
    }
}
