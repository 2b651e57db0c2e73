//! HTTP endpoint of the metrics, for Prometheus.

use std::net::{SocketAddr, ToSocketAddrs};
use std::sync::Arc;

use anyhow::{Context as _, anyhow};
use tiny_http::{Header, Response, Server};

use crate::metrics::Metrics;

/// Serves `/metrics` at an address, on a thread of its own, until the process ends. Returns the address with the port
/// that was chosen.
///
/// # Errors
/// The address cannot be listened on.
pub(crate) fn serve(at: impl ToSocketAddrs, metrics: Arc<Metrics>) -> anyhow::Result<SocketAddr> {
    let server = Server::http(at).map_err(|why| anyhow!("cannot serve metrics: {why}"))?;
    let address = server.server_addr().to_ip().context("metrics are served over TCP only")?;
    let kind = "application/openmetrics-text; version=1.0.0; charset=utf-8";
    let kind = Header::from_bytes("Content-Type", kind).map_err(|()| anyhow!("malformed content type of our own"))?;
    let run = move || {
        for request in server.incoming_requests() {
            let path = request.url().split('?').next().unwrap_or_default();
            let response = if path == "/metrics" {
                Response::from_string(metrics.text()).with_header(kind.clone())
            } else {
                Response::from_string("metrics are at /metrics\n").with_status_code(404)
            };
            let _ = request.respond(response); // Or the client is gone.
        }
    };
    std::thread::Builder::new().name("metrics".into()).spawn(run).context("cannot start a thread")?;
    Ok(address)
}
