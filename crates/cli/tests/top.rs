//! `rackloom top` on real managers: tables, JSON, and a terminal that is given back.
#![allow(missing_docs)]

mod common;

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};

use common::{Rack, interrupt, parse, wait_until};
use serde_json::Value;

/// A manager of whatever OpenCL devices there are; killed when dropped.
struct Manager {
    child: Child,
    metrics: String,
}

impl Manager {
    /// Serves metrics at this address; port 0 chooses one.
    fn start(rack: &Rack, metrics: &str) -> Self {
        let listen = format!("unix:{}", rack.path("manager.sock").display());
        let mut command = rack.command(&["manager", "--json", "--listen", &listen, "--metrics", metrics]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let url = parse(&line)["metrics"].as_str().expect("it serves metrics").to_owned();
        let metrics = url.trim_start_matches("http://").trim_end_matches("/metrics").to_owned();
        Self { child, metrics }
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// An address where nobody listens.
fn unused_address() -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.local_addr().unwrap().to_string()
}

#[test]
fn a_snapshot_is_one_table_and_names_lost_managers() {
    let rack = Rack::none();
    let manager = Manager::start(&rack, "127.0.0.1:0");
    let (up, lost) = (manager.metrics.as_str(), unused_address());
    let top = |more: &[&str]| rack.run(&[&["top", "--interval", "200ms", "--snapshot"], more].concat());

    let one = top(&[up]);
    assert_eq!((one.code, one.stdout.lines().next().unwrap().split_whitespace().next()), (0, Some("BOARD")));
    assert!(one.stdout.lines().nth(1).unwrap().contains("  0%  "), "{}", one.stdout);
    assert!(one.stdout.lines().all(|line| line.chars().count() <= 80), "{}", one.stdout);

    let two = top(&[up, &lost]);
    assert_eq!(two.code, 3);
    assert!(two.stdout.contains(&format!("{lost}: lost, ")) && two.stdout.contains("BOARD"), "{}", two.stdout);

    let report = parse(&top(&[up, &lost, "--json"]).stdout);
    assert_eq!((&report["schema"], &report["interval"]), (&Value::from("rackloom.top/1"), &Value::from(0.2)));
    let schema = parse(&rack.run(&["schema", "rackloom.top/1"]).stdout);
    let keys = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<BTreeSet<_>>();
    assert_eq!(keys(&report), keys(&schema["properties"]));
    for (row, of) in [("ManagerRow", &report["managers"][0]), ("BoardRow", &report["managers"][0]["boards"][0])] {
        assert_eq!(keys(of), keys(&schema["$defs"][row]["properties"]), "{row}");
    }
    let [first, second] = report["managers"].as_array().unwrap().as_slice() else { panic!("{report}") };
    assert_eq!((&first["state"], &second["state"]), (&Value::from("up"), &Value::from("lost")));
    let board = &first["boards"][0];
    assert_eq!((&board["queue_depth"], &board["failures"]), (&Value::from(0), &Value::from(0)));
    assert!(board["utilisation"].is_number() && board["wait_p50"].is_null(), "{board}");

    let none = top(&[&lost]);
    assert_eq!(none.code, 2);
    let help = format!("help: start a manager that serves them, `rackloom manager --metrics {lost}`");
    assert!(none.stderr.contains(&help) && none.stderr.contains("caused by:"), "{}", none.stderr);
    let wrong = rack.run(&["top", "somewhere"]);
    assert!(wrong.code == 2 && wrong.stderr.contains("expected ADDRESS:PORT"), "{}", wrong.stderr);
}

#[test]
fn a_manager_that_vanishes_is_lost_and_comes_back() {
    let rack = Rack::none();
    let manager = Manager::start(&rack, "127.0.0.1:0");
    let address = manager.metrics.clone();
    let mut command = rack.command(&["top", "--json", "--interval", "100ms", &address]);
    let mut top = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(top.stdout.take().unwrap()).lines();
    let mut until = |state: &str| {
        let is_so = |report: &Value| report["managers"][0]["state"] == state;
        lines
            .by_ref()
            .take(300)
            .map(|line| parse(&line.unwrap()))
            .find(is_so)
            .unwrap_or_else(|| panic!("never {state}"))
    };
    let up = until("up");
    drop(manager);
    let lost = until("lost");
    assert_eq!(lost["managers"][0]["boards"][0]["board"], up["managers"][0]["boards"][0]["board"]);
    assert!(lost["managers"][0]["boards"][0]["queue_depth"].is_null() && lost["managers"][0]["error"].is_string());
    let _again = Manager::start(&rack, &address);
    until("up");
    interrupt(&top);
    assert_eq!(top.wait().unwrap().code(), Some(130));
}

/// The sequences that switch a terminal to its second screen, and back.
const ENTER: &str = "\x1b[?1049h";
const LEAVE: &str = "\x1b[?1049l";

/// `rackloom top` on a terminal of its own.
struct Terminal {
    script: Child,
    seen: Arc<Mutex<String>>,
}

impl Terminal {
    fn start(rack: &Rack, address: &str) -> Self {
        let rackloom = env!("CARGO_BIN_EXE_rackloom");
        let run = format!("stty rows 20 cols 100; echo pid $$ .; exec '{rackloom}' top --interval 100ms {address}");
        let mut command = Command::new("script");
        command.args(["--quiet", "--flush", "--return", "--command", &run, "/dev/null"]);
        command.env("TERM", "xterm").env("RACKLOOM_RUN", rack.path("run")).current_dir(rack.dir.path());
        let mut script = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("script is installed");
        let mut out = script.stdout.take().unwrap();
        let seen = Arc::new(Mutex::new(String::new()));
        let into = Arc::clone(&seen);
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(got @ 1..) = out.read(&mut bytes) {
                into.lock().unwrap().push_str(&String::from_utf8_lossy(&bytes[..got]));
            }
        });
        Self { script, seen }
    }

    fn has(&self, text: &str) -> bool {
        self.seen.lock().unwrap().contains(text)
    }

    fn signal(&self, signal: rustix::process::Signal) {
        let seen = self.seen.lock().unwrap();
        let pid = seen.split_whitespace().skip_while(|word| *word != "pid").nth(1).unwrap().parse().unwrap();
        rustix::process::kill_process(rustix::process::Pid::from_raw(pid).unwrap(), signal).unwrap();
    }

    /// Its exit code, once it has ended with the terminal as it was.
    fn ended(mut self) -> Option<i32> {
        let code = self.script.wait().unwrap().code();
        wait_until("the terminal to be given back", || self.has(LEAVE));
        let seen = self.seen.lock().unwrap();
        assert!(seen.rfind(ENTER).unwrap() < seen.rfind(LEAVE).unwrap());
        assert!(seen.contains("\x1b[?25h"), "the cursor is shown again");
        code
    }
}

#[test]
fn the_terminal_is_restored_however_the_screen_ends() {
    let rack = Rack::none();
    let manager = Manager::start(&rack, "127.0.0.1:0");
    let open = || {
        let terminal = Terminal::start(&rack, &manager.metrics);
        wait_until("the screen", || terminal.has(ENTER) && terminal.has("UTIL") && terminal.has(&manager.metrics));
        terminal
    };
    let mut quit = open();
    quit.script.stdin.as_mut().unwrap().write_all(b"jkq").unwrap();
    assert_eq!(quit.ended(), Some(0));
    let mut control = open();
    control.script.stdin.as_mut().unwrap().write_all(b"\x03").unwrap();
    assert_eq!(control.ended(), Some(130));
    for signal in [rustix::process::Signal::INT, rustix::process::Signal::TERM] {
        let signalled = open();
        signalled.signal(signal);
        assert_eq!(signalled.ended(), Some(130));
    }
    let last = open();
    drop(manager);
    wait_until("the loss", || last.has("lost"));
    last.signal(rustix::process::Signal::TERM);
    assert_eq!(last.ended(), Some(130));
}
