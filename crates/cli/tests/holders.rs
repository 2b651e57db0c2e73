//! Cards that another process holds, or held when it died; and what a report keeps of a card that came back.

mod common;

use std::process::Stdio;

use common::{Burn, Finished, Rack, parse, wait_until};

/// `load`, `mem` and others gave up at once where `run` waited, and named a host by an address that nobody knew.
#[test]
fn regression_a_card_of_a_host_that_was_killed_is_waited_for() {
    let rack = Rack::up(&["--cards", "1", "--clocked"]);
    let _work = Burn::save(&rack);
    let mut job = rack.command(&Burn::RUN).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("the job to hold the card", || !rack.json(&["ls"])["cards"][0]["owner"].is_null());
    job.kill().unwrap();
    job.wait().unwrap();
    std::fs::write(rack.path("bytes"), [1; 64]).unwrap();
    let write = rack.run(&["mem", "write", "card0", "2M", "bytes"]);
    assert_eq!(write.code, 0, "{}", write.stderr);
    let who = format!("was process {}, `rackloom run burn`, which has died", job.id());
    assert!(write.stderr.contains("claimed by host") && write.stderr.contains(&who), "{}", write.stderr);
}

#[test]
fn a_card_that_another_process_holds_is_named_with_it() {
    let rack = Rack::up(&["--cards", "1"]);
    let mut holder =
        rack.command(&["rma", "open", "card0"]).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    wait_until("a process to hold the card", || !rack.json(&["ls"])["cards"][0]["owner"].is_null());
    let who = format!("is process {}, `rackloom rma open`", holder.id());
    let commands: [&[&str]; 2] = [&["load", "vadd"], &["mem", "read", "card0", "2M", "64"]];
    for args in commands {
        let refused = rack.run(&[args, &["--timeout", "1s"]].concat());
        assert!(refused.code != 0 && refused.stderr.contains(&who), "{args:?}: {}", refused.stderr);
    }
    holder.kill().unwrap();
    holder.wait().unwrap();
}

/// A card that restarted under its old address was used again, and nothing told that it had been gone.
#[test]
fn regression_a_card_that_came_back_leaves_a_trace_in_the_report() {
    let rack = Rack::up(&["--cards", "1", "--clocked"]);
    let work = Burn::save(&rack);
    let job = rack.command(&Burn::RUN).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    rack.wait_for_state("running");
    rack.json(&["card", "rm", "0", "--yank"]);
    rack.json(&["card", "add", "1"]);
    let done = Finished::of(job.wait_with_output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    work.check(&rack);
    let report = parse(&done.stdout);
    let card = &report["cards"][0];
    let troubles = card["troubles"].as_array().unwrap();
    assert!(card["left"].is_null() && card["tiles"] == 40, "{report}");
    assert!(troubles.iter().any(|t| t["what"].as_str().unwrap().contains("restarted")), "{report}");
}
