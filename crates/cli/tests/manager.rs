//! Cards of a rack as devices of an OpenCL program that knows nothing of Rackloom.

mod common;

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use common::{Finished, Rack, interrupt, strings, wait_until};

/// A manager of a rack's cards; killed when dropped.
struct Manager(Child);

impl Manager {
    fn start(rack: &Rack, listen: &str) -> Self {
        let mut command = rack.command(&["manager", "--cards", "virtual", "--listen", listen]);
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
        let said: Vec<String> = lines.take(3).collect();
        let boards = ["board 0: Rackloom card 0".to_owned(), "board 1: Rackloom card 1".to_owned()];
        assert_eq!(said[1..], boards, "{said:?}");
        Self(child)
    }
}

impl Drop for Manager {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn clinfo_lists_the_cards_of_a_rack() {
    let rack = Rack::up(&["--cards", "2", "--memory", "64M"]);
    let listen = format!("unix:{}", rack.path("manager.sock").display());
    let mut manager = Manager::start(&rack, &listen);
    let deps = std::env::current_exe().unwrap().parent().unwrap().to_owned();
    let places = [deps.join("librackloom_opencl.so"), deps.join("../librackloom_opencl.so")];
    let library = places.iter().find(|p| p.exists()).expect("the library is built beside this test");
    let clinfo = || {
        let mut clinfo = Command::new("clinfo");
        clinfo.env("OCL_ICD_VENDORS", library).env("RACKLOOM_MANAGERS", &listen);
        let done = Finished::of(clinfo.output().expect("clinfo is installed (apt-get install clinfo)"));
        assert_eq!(done.code, 0, "{}", done.stderr);
        done.stdout
    };
    let all = clinfo();
    let (said, _) = all.split_once("NULL platform behavior").expect("what comes then repeats names");
    let values = |name: &str| -> Vec<String> {
        let of = |line: &str| line.trim_start().strip_prefix(name).map(|value| value.trim().to_owned());
        said.lines().filter_map(of).collect()
    };
    assert_eq!(values("Device Name"), ["Rackloom card 0", "Rackloom card 1"], "{said}");
    assert_eq!(values("Device Type"), ["Accelerator"; 2]);
    assert_eq!(values("Device Profile"), ["EMBEDDED_PROFILE"; 2]);
    assert_eq!(values("Compiler Available"), ["No"; 2]);
    assert!(values("Device Version").iter().all(|v| v.starts_with("OpenCL 1.2 Rackloom")), "{said}");
    assert!(values("Global memory size").iter().all(|v| v.starts_with("66060288 ")), "{said}");

    let mut load = rack.run(&["load", "vadd", "--card", "card0"]);
    assert_ne!(load.code, 0, "the manager holds the card");
    interrupt(&manager.0);
    assert_eq!(manager.0.wait().unwrap().code(), Some(0));
    load = rack.run(&["load", "vadd", "--card", "card0"]);
    assert_eq!(load.code, 0, "it was released: {}", load.stderr);

    // A killed manager releases nothing; the next one waits until its lease ends.
    drop(Manager::start(&rack, &listen));
    let _next = Manager::start(&rack, &listen);
    assert!(clinfo().contains("Rackloom card 1"));
    wait_until("both to be claimed", || {
        let cards = rack.json(&["ls"]);
        strings(&cards["cards"], "owner").iter().all(|owner| !owner.is_empty())
    });
}
