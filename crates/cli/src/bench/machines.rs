//! Two machines in network namespaces, and what is measured between them.

use std::process::{Child, Command, Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::failure::{Explain, Failure, Result};

/// Address of the machine that sends.
const SENDER: &str = "10.82.76.1";
/// Address of the machine that receives.
const RECEIVER: &str = "10.82.76.2";

/// Two network namespaces. Dropping them removes them, with the interfaces in them.
#[derive(Debug)]
pub(super) struct Machines {
    names: [String; 2],
}

/// What was measured between two machines.
#[derive(Debug, Clone, Copy)]
pub(super) struct Measured {
    /// TCP's payload, bits a second.
    pub(super) bits_per_second: f64,
    /// Segments that TCP sent again.
    pub(super) retransmits: u64,
    /// Mean time of a ping and its answer, microseconds.
    pub(super) ping_us: f64,
}

impl Machines {
    pub(super) fn new() -> Result<Self> {
        let names = [0, 1].map(|i| format!("rackloom-bench-{}-{i}", std::process::id()));
        let machines = Self { names };
        for name in &machines.names {
            ip(&["netns", "add", name])?;
        }
        Ok(machines)
    }

    /// Joins them by a veth pair.
    pub(super) fn join(&self, mtu: u16) -> Result<()> {
        let [a, b] = &self.names;
        ip(&["-n", a, "link", "add", "nic", "type", "veth", "peer", "name", "nic", "netns", b])?;
        self.address(mtu)
    }

    /// Gives them an interface each.
    pub(super) fn take(&self, interfaces: [&str; 2], mtu: u16) -> Result<()> {
        for (name, interface) in self.names.iter().zip(interfaces) {
            ip(&["link", "set", interface, "netns", name])?;
            ip(&["-n", name, "link", "set", interface, "name", "nic"])?;
        }
        self.address(mtu)
    }

    fn address(&self, mtu: u16) -> Result<()> {
        for (name, address) in self.names.iter().zip([SENDER, RECEIVER]) {
            ip(&["-n", name, "addr", "add", &format!("{address}/24"), "dev", "nic"])?;
            ip(&["-n", name, "link", "set", "nic", "mtu", &mtu.to_string(), "up"])?;
        }
        Ok(())
    }

    fn command(&self, machine: usize, program: &str) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", &self.names[machine], program]).stdin(Stdio::null());
        command
    }

    /// Pings, and sends with TCP for so many seconds.
    pub(super) fn measure(&self, seconds: u64, streams: u16) -> Result<Measured> {
        let ping_us = self.ping()?;
        let server = self.command(1, "iperf3").args(["-s", "-1"]).stdout(Stdio::null()).spawn();
        let _server = Ended(server.during("cannot start iperf3")?);
        let (time, streams) = (seconds.to_string(), streams.to_string());
        let until = Instant::now() + SERVER_TIMEOUT;
        let (report, bits_per_second) = loop {
            let mut client = self.command(0, "iperf3");
            let client = client.args(["-c", RECEIVER, "-J", "-t", &time, "-P", &streams]);
            let output = client.output().during("cannot start iperf3")?;
            // Failures are reported in JSON as well, and some of them with success.
            let report: Value = serde_json::from_slice(&output.stdout).unwrap_or_default();
            if let Some(rate) = report["end"]["sum_received"]["bits_per_second"].as_f64() {
                break (report, rate);
            }
            // The server may not listen yet.
            if Instant::now() > until {
                let why = report["error"].as_str().map(Failure::new);
                return Err(why.unwrap_or_else(|| failed("iperf3", &output)).during("iperf3 measured nothing"));
            }
            std::thread::sleep(Duration::from_millis(50));
        };
        let retransmits = report["end"]["sum_sent"]["retransmits"].as_u64().unwrap_or(0);
        Ok(Measured { bits_per_second, retransmits, ping_us })
    }

    fn ping(&self) -> Result<f64> {
        let mut ping = self.command(0, "ping");
        let output = ping.args(["-q", "-c", "200", "-i", "0.005", RECEIVER]).output().during("cannot start ping")?;
        let text = String::from_utf8_lossy(&output.stdout);
        if !output.status.success() || !text.contains(" 0% packet loss") {
            return Err(failed("ping", &output));
        }
        // rtt min/avg/max/mdev = 0.030/0.051/0.100/0.010 ms
        let mean = text.rsplit(" = ").next().and_then(|times| times.split('/').nth(1)).and_then(|ms| ms.parse().ok());
        mean.map(|ms: f64| ms * 1000.0).ok_or_else(|| failed("ping", &output))
    }
}

impl Drop for Machines {
    fn drop(&mut self) {
        for name in &self.names {
            let _ = Command::new("ip").args(["netns", "del", name]).stderr(Stdio::null()).status();
        }
    }
}

/// A process that ends with this value.
struct Ended(Child);

impl Drop for Ended {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Whether this process may make network namespaces and has the programs; if not, what is lacking.
pub(super) fn check() -> Result<()> {
    if !rustix::process::geteuid().is_root() {
        let failure = Failure::new("network namespaces and their interfaces need root");
        return Err(failure.help("run it with sudo"));
    }
    for (program, version, package) in
        [("ip", "-V", "iproute2"), ("iperf3", "--version", "iperf3"), ("ping", "-V", "iputils-ping")]
    {
        let status = Command::new(program).arg(version).stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !status.is_ok_and(|status| status.success()) {
            let failure = Failure::new(format!("{program} is missing"));
            return Err(failure.help(format!("install the package {package}, or run `make setup`")));
        }
    }
    Ok(())
}

fn ip(arguments: &[&str]) -> Result<()> {
    let output = Command::new("ip").args(arguments).output().during("cannot start ip")?;
    if output.status.success() { Ok(()) } else { Err(failed(&format!("ip {}", arguments.join(" ")), &output)) }
}

fn failed(what: &str, output: &Output) -> Failure {
    let said = [&output.stderr, &output.stdout].map(|text| String::from_utf8_lossy(text).trim().to_owned());
    let why = said.into_iter().find(|text| !text.is_empty()).unwrap_or_default();
    Failure::new(why).during(format!("{what} failed"))
}

/// How long a server may take to start.
const SERVER_TIMEOUT: Duration = Duration::from_secs(5);
