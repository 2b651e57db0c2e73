//! `run --exchange cards` with real processes: the file that the host's exchange writes, and an error by name.

mod common;

use std::process::Stdio;

use common::{Finished, Matrix, Rack};

#[test]
fn both_ways_write_the_same_file() {
    let rack = Rack::up(&["--cards", "3", "--memory", "64M"]);
    Matrix::random(301, 211, 1).save(&rack.path("a.npy"));
    Matrix::random(211, 301, 2).save(&rack.path("b.npy"));
    for role in ["ptrans", "gemm"] {
        let run = |way: &str, to: &str| rack.json(&["run", role, "a.npy", "b.npy", "-o", to, "--exchange", way]);
        let (host, cards) = (run("host", "host.npy"), run("cards", "cards.npy"));
        let bytes = |name: &str| std::fs::read(rack.path(name)).unwrap();
        assert!(bytes("host.npy") == bytes("cards.npy"), "{role}");
        assert_eq!((host["exchange"].as_str(), cards["exchange"].as_str()), (Some("host"), Some("cards")));
        assert_eq!(host["exchanged"], 0);
        assert!(cards["exchanged"].as_u64().unwrap() > 100_000, "{cards}");
        assert_eq!((cards["tiles"].as_u64(), cards["cards"].as_array().unwrap().len()), (Some(3), 3));
    }
    let text = rack.run(&["run", "gemm", "a.npy", "b.npy", "-o", "c.npy", "--exchange", "cards"]).stdout;
    assert!(text.contains("gemm on 3 cards in ") && text.contains(" from card to card"), "{text}");
}

#[test]
fn a_card_that_is_pulled_out_fails_the_job_by_name() {
    let rack = Rack::up(&["--cards", "3"]);
    Matrix::random(2048, 2048, 1).save(&rack.path("a.npy"));
    let args = ["run", "gemm", "a.npy", "a.npy", "-o", "c.npy", "--exchange", "cards"];
    let run = rack.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    rack.wait_for_state("running");
    rack.json(&["card", "rm", "card1", "--yank"]);
    let done = Finished::of(run.wait_with_output().unwrap());
    assert_eq!(done.code, 2, "{}", done.stderr);
    assert!(done.stderr.contains("card1 ("), "{}", done.stderr);
    assert!(!rack.path("c.npy").exists());
}

#[test]
fn what_has_no_exchange_is_refused_with_help() {
    let rack = Rack::up(&["--cards", "2", "--memory", "64M"]);
    Matrix::random(40, 40, 1).save(&rack.path("a.npy"));
    let fails = |args: &[&str], parts: &[&str]| {
        let done = rack.run(&[&["run"], args, &["a.npy", "a.npy", "-o", "c.npy", "--exchange", "cards"]].concat());
        assert_eq!(done.code, 2, "{}", done.stderr);
        assert!(parts.iter().all(|part| done.stderr.contains(part)), "{}", done.stderr);
    };
    fails(&["vadd"], &["kernel `vadd` has no exchange among cards", "help: leave out `--exchange cards`"]);
    fails(&["gemm", "--tile", "i=8"], &["--tile has no meaning with --exchange cards", "help:"]);
    let large = Matrix::random(4096, 4096, 1);
    large.save(&rack.path("a.npy"));
    fails(&["ptrans"], &["on 2 cards that exchange blocks needs", "help: use more cards"]);
}
