//! Connections: accepted up to a number, of them so many of one client; with a time for every header and for every
//! stretch without progress; closed in order at the end.

use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
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
use tokio_io_timeout::TimeoutStream;

use super::crowd::Crowd;
use super::metrics::Metrics;
use crate::log;
use crate::network::block;

/// Who is at the other end of the connection.
#[derive(Clone, Copy, Debug)]
pub(super) struct Peer(pub(super) IpAddr);

/// What connections may take.
#[derive(Clone, Copy, Debug)]
pub struct Limits {
    /// The most at once; others wait to be accepted.
    pub connections: usize,
    /// The most of one client at once; more are closed. No limit where a proxy stands for all clients.
    pub of_one_client: usize,
    /// The time for a request's headers, and between two requests.
    pub header_time: Duration,
    /// The time in which a client must take something of what it has asked for.
    pub write_time: Duration,
    /// The longest life of a connection.
    pub life: Duration,
    /// The time that requests get to end when the hub stops.
    pub farewell: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            connections: 4096,
            of_one_client: 64,
            header_time: Duration::from_secs(10),
            write_time: Duration::from_secs(30),
            life: Duration::from_secs(3600),
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
    let crowd = Arc::new(Crowd::default());
    let open = GracefulShutdown::new();
    let mut stop = std::pin::pin!(stop);
    loop {
        let place = tokio::select! {
            () = &mut stop => break,
            place = Arc::clone(&places).acquire_owned() => place,
        };
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
        let peer = Peer(peer.ip().to_canonical());
        let Some(counted) = crowd.enter(block(peer.0), limits.of_one_client) else { continue };
        let watched = open.watch(connection(stream, peer, &router, limits));
        let metrics = Arc::clone(&metrics);
        tokio::spawn(async move {
            metrics.connections.fetch_add(1, Ordering::Relaxed);
            // A client that breaks off, or takes too long, has ended its own request only.
            let _ = tokio::time::timeout(limits.life, watched).await;
            metrics.connections.fetch_sub(1, Ordering::Relaxed);
            drop((place, counted));
        });
    }
    drop(listener);
    if tokio::time::timeout(limits.farewell, open.shutdown()).await.is_err() {
        log::event("stopped", &[("unfinished", true.into())]);
    }
}

type Stream = Pin<Box<TimeoutStream<TcpStream>>>;
type Connection = http1::Connection<TokioIo<Stream>, Service>;
type Service = TowerToHyperService<WithPeer>;

fn connection(stream: TcpStream, peer: Peer, router: &Router, limits: Limits) -> Connection {
    let _ = stream.set_nodelay(true);
    let mut stream = TimeoutStream::new(stream);
    stream.set_write_timeout(Some(limits.write_time));
    http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.header_time)
        .max_headers(64)
        .max_buf_size(32 << 10)
        .serve_connection(
            TokioIo::new(Box::pin(stream)),
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

#[cfg(test)]
mod tests {
    use axum::routing::get;
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test]
    async fn a_client_that_takes_nothing_is_cut_off() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        // More than the system holds for a client.
        let router = Router::new().route("/", get(async || vec![0_u8; 64 << 20]));
        let metrics = Arc::new(Metrics::default());
        let limits = Limits { write_time: Duration::from_millis(50), ..Limits::default() };
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let end = async { drop(stopped.await) };
        let serving = tokio::spawn(serve(listener, router, Arc::clone(&metrics), limits, end));
        let mut client = TcpStream::connect(address).await.unwrap();
        client.write_all(b"GET / HTTP/1.1\r\nHost: a\r\n\r\n").await.unwrap();
        let open = || metrics.connections.load(Ordering::Relaxed);
        let mut tick = tokio::time::interval(Duration::from_millis(2));
        while open() == 0 {
            tick.tick().await;
        }
        while open() > 0 {
            tick.tick().await;
        }
        drop((client, stop));
        serving.await.unwrap();
    }
}
