//! Runs the documentation's commands as written.
//!
//! A block fenced as `console` is a session: a line that begins with `$ ` is a command, lines that begin with `> `
//! continue it, and what follows is what it prints to stdout. `...` stands for any text, alone on a line for any lines.
//! Commands end with 0; the last one of a block fenced as `console exit=N` ends with N. All blocks of a page run in one
//! shell.

mod common;

#[path = "../../share/manager/tests/common/go.rs"]
mod go;
#[path = "../../run/live/tests/netns/mod.rs"]
mod netns;
#[path = "tutorial/page.rs"]
mod page;
#[path = "tutorial/shell.rs"]
mod shell;

use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use page::Step;
use shell::Shell;

/// Runs the sessions of a page, which must have at least this many commands.
fn works(page: &str, commands: usize) {
    works_in(&mut Shell::start(&root()), page, commands, |text| text);
}

/// The same in a prepared shell, with the page adapted by `fit`.
fn works_in(shell: &mut Shell, page: &str, commands: usize, fit: impl Fn(String) -> String) {
    let text = fit(std::fs::read_to_string(root().join(page)).unwrap());
    let steps = page::steps(&text);
    assert!(steps.len() >= commands, "{page} has only {} commands", steps.len());
    for step in &steps {
        if let Err(why) = shell.run(step) {
            panic!("{page}:{}: $ {}\n{why}", step.line, step.command);
        }
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

#[test]
fn the_tutorial_works() {
    works("docs/src/start/tutorial.md", 20);
}

#[test]
fn the_readme_works() {
    works("README.md", 11);
}

#[test]
fn the_guide_to_remote_memory_works() {
    let libraries = Path::new(env!("CARGO_BIN_EXE_rackloom")).with_file_name("deps");
    works_in(&mut Shell::start(&root()), "docs/src/guides/remote-memory.md", 25, |text| {
        text.replace("$RACKLOOM_ROOT/target/release", &libraries.display().to_string())
    });
}

#[test]
fn the_guide_to_groups_works() {
    let libraries = Path::new(env!("CARGO_BIN_EXE_rackloom")).with_file_name("deps");
    works_in(&mut Shell::start(&root()), "docs/src/guides/collectives.md", 32, |text| {
        text.replace("$RACKLOOM_ROOT/target/release", &libraries.display().to_string())
    });
}

#[test]
fn the_guide_to_roles_works() {
    works("docs/src/guides/write-a-role.md", 8);
}

#[test]
fn the_guide_to_signed_images_works() {
    works("docs/src/guides/sign-images.md", 12);
}

#[test]
fn the_guide_to_keys_works() {
    works("docs/src/guides/keys.md", 25);
}

#[test]
fn the_guide_to_hosts_behind_cards_works() {
    works_with_namespaces("docs/src/guides/nic.md", 15, ["rlhost0", "rlhost1"]);
}

#[test]
fn the_guide_to_real_networks_works() {
    works_with_namespaces("docs/src/guides/real-network.md", 15, ["rlrack", "rlhost"]);
}

/// The same for a page that makes namespaces, which would stay if a command of it fails.
fn works_with_namespaces(page: &str, commands: usize, namespaces: [&str; 2]) {
    if netns::permitted() {
        let remove = || namespaces.map(|name| Command::new("ip").args(["netns", "del", name]).output());
        let _ = remove();
        let result = std::panic::catch_unwind(|| works(page, commands));
        let _ = remove();
        result.unwrap();
    }
}

/// Stands for a page's `make build && make -C workloads`: builds only the programs that the pages use, and returns
/// their folder.
fn made() -> &'static Path {
    static MADE: OnceLock<PathBuf> = OnceLock::new();
    MADE.get_or_init(|| {
        let made = Path::new(env!("CARGO_TARGET_TMPDIR")).join("workloads");
        let programs = ["sobel", "matmul"].map(|program| made.join("bin").join(program));
        let mut make = Command::new("make");
        make.args(["-s", "-C"]).arg(root().join("workloads")).arg(format!("OUT={}", made.display())).args(&programs);
        assert!(make.status().expect("make is installed").success(), "`make setup` installs what the programs need");
        made.join("bin")
    })
}

/// Runs a page whose programs use boards, with more folders on the path.
fn works_with_boards(page: &str, commands: usize, more: &[&Path]) {
    let mut shell = Shell::start(&root());
    let more: String = [&[made()], more].concat().iter().map(|folder| format!("{}:", folder.display())).collect();
    let path = format!("```console\n$ PATH={more}$PATH\n```\n");
    page::steps(&path).iter().for_each(|step| shell.run(step).unwrap());
    let library = Path::new(env!("CARGO_BIN_EXE_rackloom")).with_file_name("deps/librackloom_opencl.so");
    assert!(library.exists(), "{} is built with this test", library.display());
    // Any port will do; the page's may be in use.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    works_in(&mut shell, page, commands, |text| {
        let text = text.replace("$RACKLOOM_ROOT/target/release/librackloom_opencl.so", &library.display().to_string());
        text.replace(":9464", &format!(":{port}"))
    });
}

#[test]
fn the_guide_to_sharing_works() {
    works_with_boards("docs/src/guides/share-a-board.md", 5, &[]);
}

#[test]
fn the_guide_to_giving_out_works() {
    let registry = go::registry_program().parent().unwrap();
    works_with_boards("docs/src/guides/give-out-boards.md", 10, &[registry]);
}

#[test]
fn a_session_that_differs_from_its_page_fails() {
    let mut shell = Shell::start(&root());
    let mut run = |session: &str| {
        let steps = page::steps(session);
        steps.iter().try_for_each(|step: &Step| shell.run(step))
    };
    run("```console\n$ echo one; x=two\none\n$ echo \\\n> $x\n...o\n```\n").unwrap();
    run("```console exit=3\n$ (sleep 0.2; echo late) &\nlate\n$ (exit 3)\n```\n").unwrap();
    assert!(run("```console\n$ echo two\none\n```\n").unwrap_err().contains("two"));
    assert!(run("```console\n$ echo said and not shown\n```\n").is_err());
    assert!(run("```console\n$ false\n```\n").unwrap_err().contains("ended with 1"));
    assert!(run("```console exit=1\n$ true\n```\n").is_err());
    assert!(run("```console exit=2\n$ rackloom ls\n```\n").is_ok(), "nobody serves the segment of this shell");
}
