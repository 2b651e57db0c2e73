//! Machines on an Ethernet: network namespaces, joined by a bridge, with raw sockets.
#![allow(dead_code, unreachable_pub)] // Each test file uses a part of this.

#[path = "../../../run/live/tests/netns/mod.rs"]
pub mod netns;

use std::io::{BufRead, BufReader};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use self::netns::Namespace;
use crate::common::{Finished, Rack, parse};

/// Machines on a bridge.
pub struct Lab {
    pub files: Rack,
    bridge: Namespace,
    machines: Vec<Namespace>,
}

impl Lab {
    pub fn new(machines: usize, mtu: u32) -> Self {
        let bridge = Namespace::new();
        bridge.ip(&["link", "add", "br0", "mtu", &mtu.to_string(), "type", "bridge"]);
        bridge.ip(&["link", "set", "br0", "up"]);
        let mut lab = Self { files: Rack::none(), bridge, machines: Vec::new() };
        for n in 0..machines {
            let machine = Namespace::new();
            let end = format!("b{n}");
            machine.veth("eth0", &lab.bridge, &end, mtu);
            lab.bridge.ip(&["link", "set", &end, "master", "br0"]);
            lab.machines.push(machine);
        }
        lab
    }

    /// A command on one of the machines, each of which has its own folders of sockets and of keys.
    pub fn command(&self, machine: usize, args: &[&str]) -> Command {
        let mut command = Command::new("ip");
        command.args(["netns", "exec", self.machines[machine].name(), env!("CARGO_BIN_EXE_rackloom")]);
        if !args.contains(&"--net") {
            command.args(["--net", "eth:eth0"]);
        }
        command.args(args).current_dir(self.files.dir.path()).stdin(Stdio::null());
        command.env("RACKLOOM_RUN", self.files.path(&format!("run{machine}")));
        command.env("XDG_STATE_HOME", self.state(machine)).env_remove("RACKLOOM_KEY");
        command
    }

    /// Where a machine's user keeps keys.
    pub fn state(&self, machine: usize) -> PathBuf {
        self.files.path(&format!("state{machine}"))
    }

    pub fn run(&self, machine: usize, args: &[&str]) -> Finished {
        Finished::of(self.command(machine, args).output().unwrap())
    }

    pub fn json(&self, machine: usize, args: &[&str]) -> serde_json::Value {
        let done = Finished::of(self.command(machine, args).arg("--json").output().unwrap());
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
        parse(&done.stdout)
    }

    /// A rack that is up, with what it has said by then.
    pub fn up(&self, machine: usize, args: &[&str]) -> Up {
        let mut command = self.command(machine, &[&["up"], args].concat());
        let errors = self.files.path(&format!("up{machine}.txt"));
        let stderr = std::fs::File::create(&errors).unwrap();
        let mut child = command.stdout(Stdio::piped()).stderr(stderr).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let said = || std::fs::read_to_string(&errors).unwrap();
        assert!(line.contains("up on eth:eth0"), "{line:?} {}", said());
        Up(child, errors)
    }
}

/// A rack's process; it ends with the test.
pub struct Up(Child, PathBuf);

impl Up {
    /// What it has said so far.
    pub fn said(&self) -> String {
        std::fs::read_to_string(&self.1).unwrap()
    }
}

impl Drop for Up {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}
