//! Connections: accepted up to a number, with a time for every header, closed in order at the end.

use std::future::Future;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;

use super::metrics::Metrics;
use crate::log;

/// Who is at the other end of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most at once; others wait to be accepted.
    pub connections: usize,
    /// The time for a request's headers, and between two requests.
    pub header_time: Duration,
    /// The longest life of a connection.
    pub life: Duration,
    /// The time that requests get to end when the hub stops.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            header_time: Duration::from_secs(10),
            life: Duration::from_secs(600),
            farewell: Duration::from_secs(10),
        }
    }
}

/// Answers what comes to `listener` by `router` until `stop` ends; then what has begun is finished.
pub async fn serve(
    listener: TcpListener,
    router: Router,
    metrics: Arc<Metrics>,
    limits: Limits,
    stop: impl Future<Output = ()>,
) {
    let places = Arc::new(Semaphore::new(limits.connections));
    let open = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let Ok(place) = Arc::clone(&places).acquire_owned().await else { break };
        let (stream, peer) = tokio::select! {
            () = &mut stop => break,
            accepted = listener.accept() => match accepted {
                Ok(accepted) => accepted,
                Err(error) => {
                    log::event("accept", &[("error", error.kind().to_string().into())]);
                    // Out of file descriptors, most likely: others must end first.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            },
        };
        let connection = connection(stream, Peer(peer.ip().to_canonical()), &router, limits);
        let watched = open.watch(connection);
        let metrics = Arc::clone(&metrics);
        tokio::spawn(async move {
            metrics.connections.fetch_add(1, Ordering::Relaxed);
            // A client that breaks off, or takes too long, has ended its own request only.
            let _ = tokio::time::timeout(limits.life, watched).await;
            metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop(place);
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.farewell, open.shutdown()).await.is_err() {
        log::event("stopped", &[("unfinished", true.into())]);
    }
}

type Connection = http1::Connection<TokioIo<TcpStream>, Service>;
type Service = TowerToHyperService<WithPeer>;

fn connection(stream: TcpStream, peer: Peer, router: &Router, limits: Limits) -> Connection {
    let _ = stream.set_nodelay(true);
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(64)
        .max_buf_size(32 << 10)
        .serve_connection(
            TokioIo::new(stream),
            TowerToHyperService::new(WithPeer { router: router.clone(), peer }),
        )
}

/// The router, with the peer in every request.
#[derive(Clone)]
struct WithPeer {
    router: Router,
    peer: Peer,
}

impl tower_service::Service<hyper::Request<hyper::body::Incoming>> for WithPeer {
    type Response = axum::response::Response;
    type Error = std::convert::Infallible;
    type Future = <Router as tower_service::Service<hyper::Request<hyper::body::Incoming>>>::Future;

    fn poll_ready(
        &mut self,
        context: &mut std::task::Context<'_>,
    ) -> std::task::Poll<Result<(), Self::Error>> {
        <Router as tower_service::Service<hyper::Request<hyper::body::Incoming>>>::poll_ready(
            &mut self.router,
            context,
        )
    }

    fn call(&mut self, mut request: hyper::Request<hyper::body::Incoming>) -> Self::Future {
        request.extensions_mut().insert(self.peer);
        self.router.call(request)
    }
}
