//! C programs that have a card's memory mapped: separate processes, compiled by the system's compiler.
#![allow(missing_docs)]

mod common;

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use common::{Rack, parse};

/// Compiles `mapped/NAME.c` with the library that was built beside this test.
fn compiled(rack: &Rack, name: &str) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let library = Path::new(env!("CARGO_BIN_EXE_rackloom")).with_file_name("deps");
    assert!(library.join("librackloom_rma.so").exists(), "it is built with this test");
    let program = rack.path(name);
    let done = Command::new("cc")
        .args(["-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-o"])
        .arg(&program)
        .arg(crates.join(format!("cli/tests/mapped/{name}.c")))
        .arg("-I")
        .arg(crates.join("api/c/include"))
        .arg("-L")
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .arg("-lrackloom_rma")
        .output()
        .expect("cc is installed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

fn map<'a>(program: &'a Path, arguments: &[&'a str]) -> Vec<&'a str> {
    let head = ["rma", "map", "card0", "--base", "2M", "--length", "8M", "--", program.to_str().unwrap()];
    [&head, arguments].concat()
}

#[test]
fn a_program_walks_a_list_that_another_has_built() {
    let rack = Rack::up(&["--cards", "1"]);
    let walk = compiled(&rack, "walk");
    let built = rack.run(&map(&walk, &["build", "5000"]));
    assert_eq!((built.code, built.stdout.as_str()), (0, "built 5000\n"), "{}", built.stderr);
    let walked = rack.run(&map(&walk, &["walk"]));
    assert_eq!((walked.code, walked.stdout.as_str()), (0, "walked 5000, sum 12497500\n"), "{}", walked.stderr);
    // The list is the card's, not the program's.
    let seen = rack.json(&["mem", "read", "card0", "2M", "16"]);
    assert_ne!(seen["hex"], "00000000000000000000000000000000");
    // An exit code comes through, and the report is one JSON document.
    let failed = rack.run(&map(&walk, &["neither"]));
    assert_eq!(failed.code, 3, "{}", failed.stderr);
    let mut arguments = map(&walk, &["walk"]);
    arguments.insert(2, "--json");
    let report = parse(&rack.run(&arguments).stdout);
    assert_eq!(
        (report["exit"].as_i64(), report["length"].as_u64(), &report["writable"]),
        (Some(0), Some(8 << 20), &true.into())
    );
}

#[test]
fn what_cannot_be_mapped_is_an_error_that_says_why() {
    let rack = Rack::up(&["--cards", "1"]);
    let walk = compiled(&rack, "walk");
    let alone = Command::new(&walk).arg("walk").output().unwrap();
    let says = String::from_utf8_lossy(&alone.stderr).into_owned();
    assert!(alone.status.code() == Some(2) && says.contains("rackloom rma map"), "{says}");
    let mut nobody = Command::new(&walk);
    nobody.arg("walk").env("RACKLOOM_RUN", rack.path("run"));
    nobody.env("RACKLOOM_WINDOW", "02:00:00:00:00:99,2097152,4096,read");
    let nobody = nobody.output().unwrap();
    let says = String::from_utf8_lossy(&nobody.stderr).into_owned();
    assert!(nobody.status.code() == Some(2) && says.contains("memory or a stream of 02:00:00:00:00:99"), "{says}");
    let store = rack
        .run(&[&["rma", "map", "card0", "--read-only", "--", walk.to_str().unwrap()][..], &["build", "9"]].concat());
    assert_eq!(store.code, 128 + 11, "a store to memory for loads alone: {}", store.stderr);
}

/// A program that has read the first pages, and touches others after a line of input.
fn reader(rack: &Rack, program: &Path) -> Child {
    let mut reader = rack.command(&map(program, &["wait"]));
    let mut reader = reader.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(reader.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    reader
}

fn dies_of_sigbus(mut reader: Child) {
    let started = Instant::now();
    reader.stdin.take().unwrap().write_all(b"go\n").unwrap();
    let ended = reader.wait_with_output().unwrap();
    let says = String::from_utf8_lossy(&ended.stderr);
    assert_eq!(ended.status.code(), Some(128 + 7), "{says}");
    assert!(says.contains("SIGBUS") && says.contains("card0"), "{says}");
    assert!(started.elapsed() < Duration::from_secs(10), "{:?}", started.elapsed());
}

#[test]
fn a_card_that_is_pulled_out_under_a_program_is_a_bus_error() {
    let rack = Rack::up(&["--cards", "2"]);
    let walk = compiled(&rack, "walk");
    let reader = reader(&rack, &walk);
    let removed = rack.run(&["card", "rm", "card0"]);
    assert_eq!(removed.code, 0, "{}", removed.stderr);
    dies_of_sigbus(reader);
}

#[test]
fn a_network_that_is_lost_under_a_program_is_a_bus_error() {
    let mut rack = Rack::up(&["--cards", "1"]);
    let walk = compiled(&rack, "walk");
    let reader = reader(&rack, &walk);
    rack.interrupt();
    dies_of_sigbus(reader);
}
