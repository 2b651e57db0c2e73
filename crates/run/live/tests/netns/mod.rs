//! Network namespaces, made for a test and removed after it.
#![allow(dead_code, unreachable_pub)] // Each program that includes this uses some of it.

use std::fs::File;
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// A namespace with a unique name. Dropping it removes it, and the interfaces in it.
#[derive(Debug)]
pub struct Namespace(String);

impl Namespace {
    pub fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("rl-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        ip(&["netns", "add", &name]);
        let namespace = Self(name);
        namespace.ip(&["link", "set", "lo", "up"]);
        namespace
    }

    /// Its name, as `ip netns exec` takes it.
    pub fn name(&self) -> &str {
        &self.0
    }

    /// Runs `ip` with these arguments in the namespace.
    pub fn ip(&self, arguments: &[&str]) {
        ip(&[&["-n", &self.0], arguments].concat());
    }

    /// Has `f` done in the namespace; sockets it opens stay there.
    pub fn enter<R: Send>(&self, f: impl FnOnce() -> R + Send) -> R {
        let file = File::open(format!("/run/netns/{}", self.0)).expect("ip has made it");
        // A thread of its own: a namespace belongs to a thread, and this one's must not change.
        std::thread::scope(|s| {
            let inside = s.spawn(|| {
                move_into_link_name_space(std::os::fd::AsFd::as_fd(&file), Some(LinkNameSpaceType::Network)).unwrap();
                f()
            });
            inside.join().unwrap()
        })
    }

    /// Joins this namespace and another with a veth pair; both ends are up.
    pub fn veth(&self, end: &str, other: &Self, other_end: &str, mtu: u32) {
        let mtu = &mtu.to_string();
        let pair = ["link", "add", end, "mtu", mtu, "type", "veth", "peer", "name", other_end, "mtu", mtu, "netns"];
        self.ip(&[&pair[..], &[&other.0]].concat());
        self.ip(&["link", "set", end, "up"]);
        other.ip(&["link", "set", other_end, "up"]);
    }
}

impl Drop for Namespace {
    fn drop(&mut self) {
        let _ = Command::new("ip").args(["netns", "del", &self.0]).status();
    }
}

/// Whether this process may make namespaces; says why, if not.
pub fn permitted() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let effective = status.lines().find_map(|l| l.strip_prefix("CapEff:")).expect("Linux tells capabilities");
    let effective = u64::from_str_radix(effective.trim(), 16).unwrap();
    let needed = [("CAP_NET_ADMIN", 12), ("CAP_NET_RAW", 13), ("CAP_SYS_ADMIN", 21)];
    let lacking: Vec<_> = needed.iter().filter(|n| effective & (1 << n.1) == 0).map(|n| n.0).collect();
    if lacking.is_empty() {
        return true;
    }
    eprintln!("SKIPPED: network namespaces need {}; run the tests as root to include this one", lacking.join(", "));
    false
}

fn ip(arguments: &[&str]) {
    let output = Command::new("ip").args(arguments).output().expect("ip (package iproute2) is installed");
    assert!(output.status.success(), "ip {}: {}", arguments.join(" "), String::from_utf8_lossy(&output.stderr));
}
