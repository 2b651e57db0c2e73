//! HTTP endpoint of the metrics, for Prometheus.
//!
//! Strangers reach it, so everything that one of them can make it hold is bounded: a connection carries one request,
//! whose body is never read, and ends at a deadline; and when there are too many connections, a new one takes the place
//! of the oldest of whoever has most. So those who ask at once are answered, however many others ask nothing.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use hyper::body::{Body as _, Incoming};
use hyper::header::{ALLOW, CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::task::{AbortHandle, JoinSet};

use crate::metrics::Metrics;

/// Most connections at a time.
const CONNECTIONS_MAX: usize = 64;

/// Most bytes of a request's head.
const HEAD_MAX: usize = 16 << 10;

/// Most bytes of a body that comes with a request, as some proxies send one. More is refused.
const BODY_MAX: u64 = 4 << 10;

/// How long a request's head may take.
const HEAD_TIME: Duration = Duration::from_secs(2);

/// How long a connection may take altogether.
const CONNECTION_TIME: Duration = Duration::from_secs(10);

/// How long to accept no connections when the system is out of files.
const REST: Duration = Duration::from_millis(20);

const OPEN_METRICS: HeaderValue =
    HeaderValue::from_static("application/openmetrics-text; version=1.0.0; charset=utf-8");

/// Serves `/metrics` at an address, on a thread of its own, until the process ends. Returns the address with the port
/// that was chosen.
///
/// # Errors
/// The address cannot be listened on.
pub(crate) fn serve(at: impl ToSocketAddrs, metrics: Arc<Metrics>) -> anyhow::Result<SocketAddr> {
    let listener = TcpListener::bind(at).context("cannot serve metrics")?;
    let address = listener.local_addr()?;
    listener.set_nonblocking(true)?;
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let run = move || runtime.block_on(accept(listener, &metrics));
    std::thread::Builder::new().name("metrics".into()).spawn(run).context("cannot start a thread")?;
    Ok(address)
}

async fn accept(listener: TcpListener, metrics: &Arc<Metrics>) {
    let listener = tokio::net::TcpListener::from_std(listener).expect("it is a listener that does not block");
    let mut running = JoinSet::new();
    let mut open = Connections::default();
    loop {
        let Ok((stream, from)) = listener.accept().await else {
            // Out of files, or the client has gone already.
            tokio::time::sleep(REST).await;
            continue;
        };
        while running.try_join_next().is_some() {}
        if open.make_room(from.ip()) {
            // What was ended closes its file when it is next run: before another connection is accepted.
            tokio::task::yield_now().await;
        }
        let metrics = Arc::clone(metrics);
        let answer = service_fn(move |request| {
            let answer = answer(&request, &metrics);
            async { Ok::<_, Infallible>(answer) }
        });
        let connection = hyper::server::conn::http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIME)
            .max_buf_size(HEAD_MAX)
            .keep_alive(false)
            .serve_connection(TokioIo::new(stream), answer);
        let served = running.spawn(async move {
            let _ = tokio::time::timeout(CONNECTION_TIME, connection).await; // Or the client is gone.
        });
        open.add(from.ip(), served);
    }
}

fn answer(request: &Request<Incoming>, metrics: &Metrics) -> Response<String> {
    let with = |status, text: String| {
        let mut response = Response::new(text);
        *response.status_mut() = status;
        response
    };
    if !matches!(*request.method(), Method::GET | Method::HEAD) {
        let mut response = with(StatusCode::METHOD_NOT_ALLOWED, "metrics are read with GET\n".to_owned());
        response.headers_mut().insert(ALLOW, HeaderValue::from_static("GET, HEAD"));
        response
    } else if request.body().size_hint().upper().is_none_or(|bytes| bytes > BODY_MAX) {
        with(StatusCode::PAYLOAD_TOO_LARGE, "a request for metrics has no body\n".to_owned())
    } else if request.uri().path() != "/metrics" {
        with(StatusCode::NOT_FOUND, "metrics are at /metrics\n".to_owned())
    } else {
        let mut response = with(StatusCode::OK, metrics.text());
        response.headers_mut().insert(CONTENT_TYPE, OPEN_METRICS);
        response
    }
}

/// Connections that are open, in the order in which they came.
#[derive(Debug, Default)]
struct Connections(Vec<(IpAddr, AbortHandle)>);

impl Connections {
    /// Makes room for one more: the oldest one ends of the address that has most, which may be the new one's. True if
    /// one did.
    fn make_room(&mut self, from: IpAddr) -> bool {
        let Self(open) = self;
        open.retain(|(_, served)| !served.is_finished());
        if open.len() < CONNECTIONS_MAX {
            return false;
        }
        let count = |of: IpAddr| open.iter().filter(|(at, _)| *at == of).count() + usize::from(of == from);
        let most = open.iter().map(|(at, _)| count(*at)).max();
        let oldest = open.iter().position(|(at, _)| Some(count(*at)) == most);
        open.remove(oldest.expect("they are as many as there may be")).1.abort();
        true
    }

    fn add(&mut self, from: IpAddr, served: AbortHandle) {
        self.0.push((from, served));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn who_has_most_connections_loses_the_oldest() {
        let mut running = JoinSet::new();
        let mut open = Connections::default();
        let mut connect = |open: &mut Connections, last: u8| {
            let from = IpAddr::from([10, 0, 0, last]);
            open.make_room(from);
            open.add(from, running.spawn(std::future::pending::<()>()));
        };
        let count = |open: &Connections, last: u8| {
            open.0.iter().filter(|(at, _)| *at == IpAddr::from([10, 0, 0, last])).count()
        };
        connect(&mut open, 1);
        (0..200).for_each(|_| connect(&mut open, 2));
        assert_eq!((open.0.len(), count(&open, 1), count(&open, 2)), (CONNECTIONS_MAX, 1, CONNECTIONS_MAX - 1));
        let oldest = open.0[1].1.id();
        connect(&mut open, 3);
        assert_eq!((count(&open, 1), count(&open, 2), count(&open, 3)), (1, CONNECTIONS_MAX - 2, 1));
        assert!(open.0.iter().all(|(_, served)| served.id() != oldest));
    }
}
