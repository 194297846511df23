//! Submissions over HTTP as fast as the hub takes them.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, ensure};
use tokio::time::Instant;

use crate::client::{Connections, Times};
use crate::variations::Variations;

/// Submits `count` documents, each different, to the hub at `address` over `connections` connections: how long each
/// took, and how many were acknowledged a second. `first` is the number of the first.
///
/// # Errors
/// A task fails, or a document is not acknowledged.
pub async fn submitted(
    address: &str,
    first: u64,
    count: usize,
    connections: usize,
) -> Result<Times> {
    let variations = Variations::trimmed(crate::records::MODELS)?;
    let mut requests = Vec::new();
    for number in first..first + count as u64 {
        let body = serde_json::to_string(&variations.document(number)?)?;
        requests.push(format!(
            "POST /api/v1/submissions HTTP/1.1\r\nHost: hub.example\r\nContent-Type: application/json\r\n\
             Idempotency-Key: growth-{number:012}\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        ));
    }
    let (requests, next) = (Arc::new(requests), Arc::new(AtomicUsize::new(0)));
    let start = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..connections {
        let (requests, next, own) =
            (Arc::clone(&requests), Arc::clone(&next), Connections::to(address));
        tasks.push(tokio::spawn(async move {
            let mut times = Vec::new();
            while let Some(request) = requests.get(next.fetch_add(1, Ordering::Relaxed)) {
                let sent = Instant::now();
                let (status, body) = own.ask(request.as_bytes()).await?;
                ensure!(status == 201, "{status}: {}", String::from_utf8_lossy(&body));
                times.push(sent.elapsed().as_secs_f64() * 1e3);
            }
            Ok(times)
        }));
    }
    let mut times = Times::default();
    for task in tasks {
        times.ms.extend(task.await??);
    }
    times.per_s = times.ms.len() as f64 / start.elapsed().as_secs_f64();
    times.ms.sort_by(f64::total_cmp);
    Ok(times)
}
