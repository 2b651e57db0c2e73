//! A process of this program in another role, and what is common to all roles.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use rackloom_ipc::Client;

use crate::common::{Inbox, PATIENCE, deadline};

/// A process in another role; killed when dropped.
pub(super) struct Role {
    pub(super) child: Child,
    says: BufReader<ChildStdout>,
}

impl Role {
    pub(super) fn start(role: &str, args: &[&str]) -> Self {
        let mut child = Command::new(std::env::current_exe().unwrap())
            .arg(role)
            .args(args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let says = BufReader::new(child.stdout.take().unwrap());
        Self { child, says }
    }

    pub(super) fn line(&mut self) -> String {
        let mut line = String::new();
        self.says.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    pub(super) fn signal(&self, signal: rustix::process::Signal) {
        let pid = rustix::process::Pid::from_raw(self.child.id() as i32).unwrap();
        rustix::process::kill_process(pid, signal).unwrap();
    }
}

impl Drop for Role {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn say(line: &str) {
    println!("{line}");
    std::io::stdout().flush().unwrap();
}

/// Files and maps of this process that belong to channels.
pub(super) fn held() -> (usize, usize) {
    let files = std::fs::read_dir("/proc/self/fd").unwrap().count();
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    (files, maps.lines().filter(|line| line.contains("rackloom-ipc")).count())
}

/// Waits until as much is held as before: threads of connections that are over may need a moment.
pub(super) fn assert_back(before: (usize, usize), what: &str) {
    let end = Instant::now() + PATIENCE;
    loop {
        let now = held();
        if now.0 <= before.0 && now.1 <= before.1 {
            return;
        }
        assert!(Instant::now() < end, "{what}: files and maps {before:?} before, {now:?} after");
        std::thread::yield_now();
    }
}

/// How soon an end must be noticed. It is microseconds; this leaves room for a machine with other work.
pub(super) const SOON: Duration = Duration::from_secs(1);

pub(super) fn call(client: &Client, inbox: &Inbox, kind: u32, body: &[u8]) {
    client.send(kind, body).unwrap();
    assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap(), (kind, body.to_vec()));
}
