//! C and Python programs that have cards do operations together: separate processes.
#![allow(missing_docs)]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use common::Rack;

/// Compiles `groups/NAME.c` with the library that was built beside this test.
fn compiled(rack: &Rack, name: &str, sanitize: bool) -> PathBuf {
    let crates = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let library = Path::new(env!("CARGO_BIN_EXE_rackloom")).with_file_name("deps");
    assert!(library.join("librackloom_comm.so").exists(), "it is built with this test");
    let program = rack.path(name);
    let mut compiler = Command::new("cc");
    compiler.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-o"]).arg(&program);
    if sanitize {
        compiler.args(["-fsanitize=address,undefined", "-fno-sanitize-recover=all"]);
    }
    let done = compiler
        .arg(crates.join(format!("cli/tests/groups/{name}.c")))
        .arg("-I")
        .arg(crates.join("api/comm/include"))
        .arg("-L")
        .arg(&library)
        .arg(format!("-Wl,-rpath,{}", library.display()))
        .arg("-lrackloom_comm")
        .output()
        .expect("cc is installed");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    program
}

/// A program on the rack's segment.
fn on(rack: &Rack, program: &Path) -> Command {
    let mut command = Command::new(program);
    command.env("RACKLOOM_RUN", rack.path("run")).env_remove("RACKLOOM_NET");
    command
}

fn says(rack: &Rack, program: &Path) -> String {
    let done = on(rack, program).output().unwrap();
    assert!(done.status.success(), "{}: {}", done.status, String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

#[test]
fn every_operation_and_type_is_as_a_program_computes_it() {
    for cards in ["3", "4"] {
        let rack = Rack::up(&["--cards", cards, "--links", "full", "--memory", "64M"]);
        let program = compiled(&rack, "operations", true);
        assert_eq!(says(&rack, &program), format!("273 operations on {cards} ranks\n"));
    }
}

#[test]
fn a_program_splits_groups_and_begins_operations_and_is_refused_nonsense() {
    let rack = Rack::up(&["--cards", "4", "--links", "full", "--memory", "64M"]);
    let program = compiled(&rack, "requests", true);
    assert_eq!(says(&rack, &program), "fine\n");
    // The cards were released: another host has them at once.
    assert_eq!(rack.run(&["comm", "run", "barrier"]).code, 0);
}

#[test]
fn a_card_that_is_pulled_out_under_a_group_is_an_error_that_names_a_card() {
    let rack = Rack::up(&["--cards", "3", "--links", "full", "--memory", "64M"]);
    let program = compiled(&rack, "loss", false);
    let mut child = on(&rack, &program).stdout(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    let removed = rack.run(&["card", "rm", "card1"]);
    assert_eq!(removed.code, 0, "{}", removed.stderr);
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    assert!(child.wait().unwrap().success(), "{rest}");
    let code = rest.split(':').next().unwrap();
    assert!(["3", "7"].contains(&code) && rest.contains("card"), "{rest}");
}

/// A command that starts ranks of a program.
fn hosts(rack: &Rack, number: &str, program: &[&Path]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rackloom"));
    command.args(["comm", "run", "--hosts", number, "--"]).args(program);
    command.env("RACKLOOM_RUN", rack.path("run")).env("TMPDIR", rack.dir.path());
    command
}

#[test]
fn processes_are_ranks_without_cards_and_go_on_without_one_that_is_killed() {
    let rack = Rack::up(&["--cards", "3", "--links", "full", "--memory", "64M"]);
    let program = compiled(&rack, "hosts", true);
    let done = hosts(&rack, "4", &[&program]).output().unwrap();
    let said = String::from_utf8_lossy(&done.stderr);
    assert_eq!(String::from_utf8_lossy(&done.stdout), "three are left\n", "{said}");
    // The one that was killed has failed, and nothing of the start is left.
    assert_eq!(done.status.code(), Some(1), "{said}");
    assert!(said.contains("1 of 4 ranks have failed: rank 2: signal: 9"), "{said}");
    let left = std::fs::read_dir(rack.dir.path()).unwrap().filter_map(Result::ok);
    assert_eq!(left.filter(|entry| entry.file_name().to_string_lossy().starts_with("rackloom-hosts")).count(), 0);

    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = std::env::var_os("RACKLOOM_PYTHON").map_or_else(|| root.join(".venv/bin/python3"), PathBuf::from);
    let mut command = hosts(&rack, "4", &[&python, &root.join("crates/cli/tests/groups/hosts.py")]);
    command.env("PYTHONPATH", root.join("crates/api/comm/python")).env("PYTHONDONTWRITEBYTECODE", "1");
    let library = Path::new(env!("CARGO_BIN_EXE_rackloom")).with_file_name("deps/librackloom_comm.so");
    let done = command.env("RACKLOOM_COMM_LIBRARY", library).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&done.stdout), "fine\n", "{}", String::from_utf8_lossy(&done.stderr));
    assert!(done.status.success());
}

#[test]
fn python_has_the_operations_on_numpy_arrays() {
    let rack = Rack::up(&["--cards", "3", "--links", "full", "--memory", "64M"]);
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let python = std::env::var_os("RACKLOOM_PYTHON").map_or_else(|| root.join(".venv/bin/python3"), PathBuf::from);
    let mut command = on(&rack, &python);
    command.arg(root.join("crates/cli/tests/groups/arrays.py"));
    command.env("PYTHONPATH", root.join("crates/api/comm/python")).env("PYTHONDONTWRITEBYTECODE", "1");
    let library = Path::new(env!("CARGO_BIN_EXE_rackloom")).with_file_name("deps/librackloom_comm.so");
    let done = command.env("RACKLOOM_COMM_LIBRARY", library).output().expect("`make setup` installs Python");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert_eq!(String::from_utf8_lossy(&done.stdout), "fine\n");
}
