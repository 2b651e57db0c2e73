//! MPI programs whose collectives cards do: unmodified programs, started by `mpirun` with the shim before the library.
#![allow(missing_docs)]

mod common;

use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

use common::{Finished, Rack};

fn crates() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..").canonicalize().unwrap()
}

fn succeeds(command: &mut Command) {
    let done = command.output().unwrap_or_else(|e| panic!("{command:?}: {e}; `make setup` installs it"));
    assert!(done.status.success(), "{command:?}: {}", String::from_utf8_lossy(&done.stderr));
}

/// The shim, and the programs of `mpi/`, in one folder.
fn built() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("mpi");
        std::fs::create_dir_all(&out).unwrap();
        let library = Path::new(env!("CARGO_BIN_EXE_rackloom")).with_file_name("deps");
        let mut make = Command::new("make");
        make.args(["-s", "-C"]).arg(crates().join("api/comm/mpi"));
        succeeds(make.arg(format!("LIB={}", library.display())).arg(format!("OUT={}", out.display())));
        for name in ["collectives", "begun", "kept", "left", "loss", "fate"] {
            let source = crates().join(format!("cli/tests/mpi/{name}.c"));
            let mut compiler = Command::new("mpicc");
            compiler.args(["-std=gnu11", "-Wall", "-Wextra", "-Werror", "-O1", "-g", "-o"]).arg(out.join(name));
            succeeds(compiler.arg(source));
        }
        out
    })
}

/// A program of so many ranks, with cards if the rack is to be used.
fn ranks(rack: &Rack, number: usize, program: &str, cards: bool) -> Command {
    let mut command = Command::new("mpirun");
    // Ranks that wait for each other for ever are an error.
    command.args(["--oversubscribe", "--timeout", "300", "-n", &number.to_string()]);
    if cards {
        command.arg("-x").arg(format!("LD_PRELOAD={}", built().join("librackloom_mpi.so").display()));
    }
    command.arg(built().join(program)).current_dir(rack.dir.path());
    command.env("RACKLOOM_RUN", rack.path("run")).env("RACKLOOM_MPI_REPORT", "1").env_remove("RACKLOOM_NET");
    // It will not start for the administrator otherwise, who tests run as in containers; nor use what those forbid.
    command.env("OMPI_ALLOW_RUN_AS_ROOT", "1").env("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1");
    command.env("OMPI_MCA_btl_vader_single_copy_mechanism", "none");
    command.stdin(Stdio::null());
    command
}

fn finished(mut command: Command) -> Finished {
    Finished::of(command.output().expect("`make setup` installs Open MPI"))
}

/// How many collectives a rank's card did, as it reports.
fn did(report: &str, rank: usize) -> u32 {
    let of = format!("rackloom: rank {rank}: cards did ");
    let did = report.split(&of).nth(1).unwrap_or_else(|| panic!("{report}"));
    did.split(' ').next().unwrap().parse().unwrap()
}

#[test]
fn collectives_of_two_to_four_ranks_are_as_without_cards() {
    for number in 2..=4 {
        let rack = Rack::up(&["--cards", "4", "--links", "full", "--memory", "64M"]);
        let plain = finished(ranks(&rack, number, "collectives", false));
        let cards = finished(ranks(&rack, number, "collectives", true));
        assert_eq!((plain.code, cards.code), (0, 0), "{}\n{}", plain.stderr, cards.stderr);
        assert!(plain.stdout.lines().count() > 400, "{}", plain.stdout);
        for (plain, cards) in plain.stdout.lines().zip(cards.stdout.lines()) {
            assert_eq!(plain, cards, "{number} ranks");
        }
        assert_eq!(plain.stdout.len(), cards.stdout.len());
        // Cards did all but what they have no way to do, as counted once by hand.
        for rank in 0..number {
            let did = did(&cards.stderr, rank);
            // Two are of a part that the last rank is not in, and that of two ranks has one alone.
            let all = if rank == number - 1 || number == 2 { 599 } else { 601 };
            assert_eq!(did, all, "rank {rank}: {}", cards.stderr);
        }
        for (name, why) in [
            ("MPI_Allreduce, ", "cards have no such reduction"),
            ("MPI_Allreduce, ", "cards do not reduce such elements"),
            ("MPI_Exscan, ", "cards have no such reduction"),
            ("MPI_Exscan, ", "cards do not reduce such elements"),
            ("MPI_Bcast, 1 times", "rank "),
        ] {
            let is = |line: &str| line.contains(&format!("rank 0: not {name}")) && line.contains(why);
            assert!(cards.stderr.lines().any(is), "{name}, {why}: {}", cards.stderr);
        }
    }
}

/// Ranks that begin calls in a mix of this seed, with cards and without; what they report.
fn begins(number: usize, seed: u64, rounds: usize) -> String {
    let rack = Rack::up(&["--cards", "4", "--links", "full", "--memory", "64M"]);
    let arguments = [seed.to_string(), rounds.to_string()];
    let mut plain = ranks(&rack, number, "begun", false);
    plain.args(&arguments);
    let mut cards = ranks(&rack, number, "begun", true);
    // What is freed while it is under way crashes Open MPI 4.1 alone.
    cards.args(&arguments).arg("frees");
    let (plain, cards) = (finished(plain), finished(cards));
    assert_eq!((plain.code, cards.code), (0, 0), "seed {seed}: {}\n{}", plain.stderr, cards.stderr);
    assert!(plain.stdout.lines().count() > rounds * 24, "{}", plain.stdout);
    for (plain, cards) in plain.stdout.lines().zip(cards.stdout.lines()) {
        assert_eq!(plain, cards, "{number} ranks, seed {seed}");
    }
    assert_eq!(plain.stdout.len(), cards.stdout.len());
    cards.stderr
}

#[test]
fn random_mixes_of_calls_that_do_not_wait_are_as_without_cards() {
    let seeds = std::env::var("RACKLOOM_MPI_SEEDS").map_or(6, |seeds| seeds.parse().expect("a number"));
    for seed in 0..seeds {
        let (number, rounds) = (usize::try_from(seed % 3).unwrap() + 2, 3);
        let report = begins(number, seed, rounds);
        // A machine that lets cards starve for two seconds loses them, but no bytes. All else would be our mistake.
        let starved = report.contains("vanished: silent");
        assert!(starved || !report.contains("cards have failed"), "seed {seed}: {report}");
        for rank in 0..number {
            let did = did(&report, rank);
            assert!(starved || did >= 30, "seed {seed}, rank {rank}: {report}");
        }
        assert!(report.contains("rank 0: not MPI_Ibcast, 1 times: an argument is invalid"), "seed {seed}: {report}");
    }
}

#[test]
fn calls_that_are_started_again_are_as_without_cards() {
    for number in 2..=4 {
        let rack = Rack::up(&["--cards", "4", "--links", "full", "--memory", "64M"]);
        let plain = finished(ranks(&rack, number, "kept", false));
        let cards = finished(ranks(&rack, number, "kept", true));
        assert_eq!((plain.code, cards.code), (0, 0), "{}\n{}", plain.stderr, cards.stderr);
        assert_eq!(plain.stdout.lines().count(), 8 * 24);
        for (plain, cards) in plain.stdout.lines().zip(cards.stdout.lines()) {
            assert_eq!(plain, cards, "{number} ranks");
        }
        assert_eq!(plain.stdout.len(), cards.stdout.len());
        // Nineteen of each round, and one that waits. A machine may let cards starve, as above.
        for rank in 0..number {
            let starved = cards.stderr.contains("vanished: silent");
            assert!(starved || did(&cards.stderr, rank) == 8 * 20, "{}", cards.stderr);
        }
    }
}

#[test]
fn where_one_thread_alone_may_call_the_library_it_does_what_does_not_wait() {
    let rack = Rack::up(&["--cards", "2", "--links", "full", "--memory", "64M"]);
    let mut command = ranks(&rack, 2, "begun", true);
    command.args(["1", "1"]).env("RACKLOOM_MPI_THREAD", "0");
    let done = finished(command);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("the MPI library is called by one thread alone"), "{}", done.stderr);
    // Those that wait are done by cards still: two of the program's own.
    assert_eq!((did(&done.stderr, 0), did(&done.stderr, 1)), (2, 2), "{}", done.stderr);
}

#[test]
fn a_call_that_other_ranks_never_make_does_not_keep_a_program_from_its_end() {
    let rack = Rack::up(&["--cards", "2", "--links", "full", "--memory", "64M"]);
    let mut command = ranks(&rack, 2, "left", true);
    command.env("RACKLOOM_MPI_TIMEOUT_MS", "1000");
    let done = finished(command);
    assert_eq!(done.code, 0, "{}", done.stderr);
    let said = "MPI_Ibarrier was begun, and other ranks never did: it is given up";
    assert_eq!(done.stderr.matches(said).count(), 1, "{}", done.stderr);
}

/// Sums of three ranks go on while this is done to the rack; what the ranks report.
fn goes_on(harm: impl FnOnce(&mut Rack)) -> String {
    let mut rack = Rack::up(&["--cards", "3", "--links", "full", "--memory", "64M"]);
    let mut command = ranks(&rack, 3, "loss", true);
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "ready\n");
    harm(&mut rack);
    std::fs::write(rack.path("stop"), "").unwrap();
    let mut rest = String::new();
    out.read_to_string(&mut rest).unwrap();
    let mut report = String::new();
    child.stderr.take().unwrap().read_to_string(&mut report).unwrap();
    assert!(child.wait().unwrap().success(), "{report}");
    assert_eq!(rest, "all sums are right\n");
    report
}

#[test]
fn a_card_that_is_pulled_out_costs_no_bytes() {
    let report = goes_on(|rack| {
        let removed = rack.run(&["card", "rm", "card1"]);
        assert_eq!(removed.code, 0, "{}", removed.stderr);
    });
    assert!(report.contains("not MPI_Allreduce") && report.contains("cards have failed"), "{report}");
}

#[test]
fn a_rack_that_is_lost_costs_no_bytes() {
    let report = goes_on(|rack| assert_eq!(rack.interrupt(), Some(0)));
    assert!(report.contains("not MPI_Allreduce") && report.contains("cards have failed"), "{report}");
}

/// Three ranks call, of which the last meets this fate; whether `mpirun` was content, and what they say.
fn meets(fate: &str, way: &str, options: &[&str], bound: &str) -> (bool, String) {
    let rack = Rack::up(&["--cards", "3", "--links", "full", "--memory", "64M"]);
    let mut mpirun = ranks(&rack, 3, "fate", true);
    mpirun.args([fate, way]).args(options).env(bound, "1500");
    let done = finished(mpirun);
    (done.code == 0, format!("{}{}", done.stdout, done.stderr))
}

/// Ranks 0 and 1 name rank 2 in all that they are asked for.
fn names_rank_2(said: &str, is: &str) {
    let names = |rank, what| {
        let line = format!("rank {rank}: {what}: rackloom: rank 2 of MPI_COMM_WORLD (process ");
        said.lines().any(|said| said.starts_with(&line) && said.ends_with(&format!(") {is}: 1")))
    };
    for (rank, what) in [(0, "first"), (0, "second"), (1, "first"), (1, "second")] {
        assert!(names(rank, what), "rank {rank}, {what}: {said}");
    }
}

/// And when they finalize: the first that fails ends, and has `mpirun` end the other, maybe before that has said so.
fn names_rank_2_to_the_end(said: &str, is: &str) {
    names_rank_2(said, is);
    let end = format!(") {is}: 1");
    let ends =
        |said: &str| (said.starts_with("rank 0: end: ") || said.starts_with("rank 1: end: ")) && said.ends_with(&end);
    assert!(said.lines().any(ends), "{said}");
}

const STOPPED: &str = "RACKLOOM_MPI_STOPPED_MS";

#[test]
fn a_rank_that_is_stopped_is_named_by_all_that_wait_for_it() {
    for way in ["waits", "begins"] {
        let (content, said) = meets("stops", way, &[], STOPPED);
        assert!(!content, "{said}");
        names_rank_2_to_the_end(&said, "is stopped");
    }
    let (content, said) = meets("stops", "keeps", &[], STOPPED);
    assert!(!content && said.contains("is stopped: MPI"), "{said}");
    let (content, said) = meets("stops", "ends", &["fatal"], STOPPED);
    assert!(!content && said.contains("is stopped: MPI_Finalize fails"), "{said}");
}

#[test]
fn a_rank_that_was_stopped_and_goes_on_gets_no_wrong_sum() {
    // In time, all is well; too late, it hears what the others have.
    let (content, said) = meets("pauses", "waits", &[], STOPPED);
    assert!(content && said.matches("first: no error").count() == 3, "{said}");
    let (_, said) = meets("resumes", "waits", &[], STOPPED);
    names_rank_2(&said, "is stopped");
    assert!(said.contains("rank 2: first: rackloom: rank 2 of MPI_COMM_WORLD"), "{said}");
}

#[test]
fn a_rank_that_is_dead_or_late_is_named() {
    let (content, said) = meets("sleeps", "waits", &[], "RACKLOOM_MPI_LATE_MS");
    assert!(!content, "{said}");
    names_rank_2_to_the_end(&said, "has not come in time");
    // Open MPI ends all ranks when it sees that one is gone, unless it is to go on.
    let (content, said) = meets("leaves", "waits", &["fatal"], STOPPED);
    assert!(!content && !said.contains("no error"), "{said}");
    let rack = Rack::up(&["--cards", "3", "--links", "full", "--memory", "64M"]);
    let mut mpirun = ranks(&rack, 3, "fate", true);
    mpirun.env("OMPI_MCA_orte_enable_recovery", "1").args(["dies", "begins"]);
    let done = finished(mpirun);
    names_rank_2_to_the_end(&format!("{}{}", done.stdout, done.stderr), "is dead");
}

#[test]
fn without_a_card_for_each_rank_a_program_runs_and_is_told() {
    let rack = Rack::up(&["--cards", "2", "--links", "full", "--memory", "64M"]);
    let mut command = ranks(&rack, 2, "collectives", true);
    command.env("RACKLOOM_MPI_CARDS", "card1,card1");
    let done = finished(command);
    assert_eq!(done.code, 0, "{}", done.stderr);
    assert!(done.stderr.contains("rackloom: warning: cards are not used: rank "), "{}", done.stderr);
    assert!(done.stderr.contains("rank 0: cards did 0 collectives"), "{}", done.stderr);
}
