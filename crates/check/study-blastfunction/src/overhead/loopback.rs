//! What iperf3 moves over the loopback interface, in turn with transfers over TCP: the limit of the latter.

use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::process::{Child, ChildStdout, Command, Stdio};

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;

use super::Bench;
use crate::error::{BenchError, Result};
use crate::sample::{Stat, timed};
use crate::site::Way;

/// Transfers over TCP beside iperf3, bytes a second; medians.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Loopback {
    /// iperf3 with one stream, as many as a client has for bulk.
    pub iperf3: f64,
    /// Blocking writes of 16 MiB.
    pub write: f64,
    /// Blocking reads of 16 MiB.
    pub read: f64,
}

const BYTES: usize = 16 << 20;
/// How often iperf3 runs, and trips after each; or to see that it works.
const ROUNDS: [usize; 2] = [5, 1];
const TRIPS: usize = 20;

impl Bench<'_> {
    /// Measures both in turn.
    pub(super) fn loopback(&mut self) -> Result<Loopback> {
        self.progress.step(self.rows.len(), self.steps, "beside iperf3");
        let lane = &self.lanes[Way::Network as usize];
        let mut buffer = lane.buffer(0, BYTES)?;
        let mut bytes = vec![1; BYTES];
        let (mut iperf3, mut write, mut read) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS[usize::from(self.options.quick)] {
            iperf3.push(BYTES as f64 / one_stream()? * 1e6);
            for trip in 0..=TRIPS {
                let to = timed(|| lane.write(&mut buffer, &bytes))?;
                let from = timed(|| lane.read(&buffer, &mut bytes))?;
                // The first one after a pause is another thing.
                if trip > 0 {
                    write.push(to);
                    read.push(from);
                }
            }
        }
        let rate = |us| BYTES as f64 / Stat::of(us).median_us * 1e6;
        Ok(Loopback { iperf3: rate(iperf3), write: rate(write), read: rate(read) })
    }
}

/// What a stream of iperf3 moves in a second, in bytes.
fn one_stream() -> Result<f64> {
    let free = TcpListener::bind("127.0.0.1:0").and_then(|listener| listener.local_addr());
    let port = free.map_err(BenchError::io("find a free port"))?.port().to_string();
    let _server = Server::start(&port)?;
    let client = iperf3(&["-c", "127.0.0.1", "-p", &port, "-t", "1", "-J"]).output();
    let said = client.map_err(BenchError::io("iperf3"))?.stdout;
    let said: Value = serde_json::from_slice(&said).unwrap_or_default();
    let bits = said["end"]["sum_received"]["bits_per_second"].as_f64();
    bits.map(|bits| bits / 8.0).ok_or_else(|| BenchError::Site(format!("iperf3 failed: {}", said["error"])))
}

fn iperf3(arguments: &[&str]) -> Command {
    let mut command = Command::new("iperf3");
    command.args(arguments).stdin(Stdio::null()).stderr(Stdio::null());
    command
}

/// A server, until it is dropped, and what it says: it may end when nobody could read that.
struct Server {
    process: Child,
    says: BufReader<ChildStdout>,
}

impl Server {
    fn start(port: &str) -> Result<Self> {
        let missing = |why| {
            BenchError::Site(format!(
                "iperf3 does not start: {why}; install it (apt-get install iperf3), or leave out --iperf3"
            ))
        };
        let mut command = iperf3(&["-s", "-1", "-B", "127.0.0.1", "-p", port, "--forceflush"]);
        let mut process = command.stdout(Stdio::piped()).spawn().map_err(missing)?;
        let says = BufReader::new(process.stdout.take().expect("it is piped"));
        let mut server = Self { process, says };
        let mut lines = (&mut server.says).lines().map_while(std::io::Result::ok);
        if lines.any(|line| line.starts_with("Server listening")) {
            return Ok(server);
        }
        Err(BenchError::Site("iperf3 does not listen".into()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}
