//! Groups of cards, as commands use them.

mod common;

use std::os::unix::fs::PermissionsExt as _;

use common::{Rack, patient, wait_until};

#[test]
fn operations_run_on_a_rack_that_is_up_and_are_checked() {
    let rack = Rack::up(&["--cards", "4", "--links", "ring", "--memory", "256M"]);
    let run = |args: &[&str]| rack.json(&patient(&[&["comm", "run"], args].concat()));
    let sum = run(&["allreduce", "--count", "100000", "--type", "i16", "--op", "sum"]);
    assert_eq!((&sum["schema"], &sum["checked"]), (&"rackloom.comm-run/1".into(), &true.into()));
    assert_eq!((&sum["op"], &sum["root"]), (&"sum".into(), &serde_json::Value::Null));
    let ranks = sum["ranks"].as_array().unwrap();
    assert!(ranks.iter().all(|rank| rank["gave"] == 100_000 && rank["got"] == 100_000), "{sum}");
    assert!(sum["seconds"].as_f64().unwrap() > 0.0);
    // A group of some, in another order, with files.
    rack.python(
        "import numpy as np; np.save('a', np.arange(6, dtype='i4')); np.save('b', np.arange(6, dtype='i4') * 10)",
    );
    let group = ["--ranks", "card2,1", "--root", "1"];
    let gathered = run(&[&["gather", "a.npy", "b.npy", "-o", "out"], &group[..]].concat());
    assert_eq!((&gathered["ranks"][0]["card"], &gathered["ranks"][0]["got"]), (&"card2".into(), &0.into()));
    assert_eq!(gathered["ranks"][1]["file"], "out/rank1.npy");
    let read = rack.python("import numpy as np; print(np.load('out/rank1.npy').tolist())");
    assert_eq!(read.trim(), "[0, 1, 2, 3, 4, 5, 0, 10, 20, 30, 40, 50]");
    let scattered = run(&[&["scatter", "a.npy"], &group[..]].concat());
    assert_eq!((&scattered["count"], &scattered["ranks"][0]["got"]), (&3.into(), &3.into()));
    for operation in ["barrier", "send", "sendrecv", "broadcast", "allgather", "alltoall", "reduce", "reduce-scatter"] {
        assert_eq!(run(&[operation, "--count", "77", "--type", "f16"])["operation"], operation);
    }
}

#[test]
fn what_cannot_be_done_is_explained() {
    let rack = Rack::up(&["--cards", "4", "--links", "ring", "--memory", "64M"]);
    rack.python(
        "import numpy as np; np.save('a', np.arange(5, dtype='i4')); np.save('b', np.arange(5, dtype='f4')); \
         np.save('u', np.arange(5, dtype='u4'))",
    );
    let fails = |args: &[&str], what: &str, help: &str| {
        let done = rack.run(&patient(&[&["comm", "run"], args].concat()));
        assert_eq!(done.code, 2, "{args:?}: {}", done.stderr);
        assert!(done.stderr.contains(what) && done.stderr.contains(help), "{args:?}: {}", done.stderr);
    };
    fails(&["barrier", "--ranks", "0,2"], "lead from rank 0 to rank 1", "have to be of the group as well");
    fails(&["barrier", "--ranks", "0,0"], "card0 is named twice", "one rank");
    fails(&["barrier", "--ranks", "0,9"], "no card named `9`", "these cards answered");
    fails(&["gather", "--root", "4"], "rank 4 is not in a group of 4", "count from 0");
    fails(&["send", "--to", "7"], "rank 7 is not in a group of 4", "count from 0");
    fails(&["reduce", "--op", "xor"], "no xor of f32", "comm run");
    fails(&["allreduce", "--op", "mean"], "unknown operation `mean`", "sum, min");
    fails(&["gather", "--count", "60M"], "invalid value", "--count");
    fails(&["gather", "--count", "5000000"], "bytes of each card's memory", "--memory");
    fails(&["alltoall", "--count", "100000000"], "each rank would give", "--count");
    fails(&["gather", "a.npy", "b.npy", "--ranks", "0,1"], "different type or length", "each rank");
    fails(&["gather", "a.npy", "--ranks", "0,1"], "1 files for gather, which takes 2", "one file");
    fails(&["gather", "u.npy", "--ranks", "0"], "elements of type <u4", "astype");
    fails(&["alltoall", "a.npy", "a.npy", "--ranks", "0,1"], "do not make 2 blocks", "multiple of 2");
    let plain = Rack::up(&["--cards", "2"]);
    let done = plain.run(&patient(&["comm", "run", "barrier"]));
    assert!(done.code == 2 && done.stderr.contains("--links"), "{}", done.stderr);
}

#[test]
fn gateware_works_in_groups_with_models() {
    let rack = Rack::up(&["--card", "rtl:2", "--card", "model:2", "--links", "full", "--memory", "64M"]);
    // Gateware takes a while to start on a busy machine, and a command asks who has answered.
    wait_until("all cards", || rack.json(&patient(&["ls"]))["cards"].as_array().map(Vec::len) == Some(4));
    let run = |args: &[&str]| rack.json(&patient(&[&["comm", "run"], args].concat()));
    for operation in [&["allreduce", "--count", "5000", "--type", "f32"][..], &["alltoall", "--count", "77"]] {
        let done = run(operation);
        assert_eq!((&done["checked"], done["ranks"].as_array().map(Vec::len)), (&true.into(), Some(4)), "{done}");
    }
    // The first two are gateware.
    assert_eq!(run(&["broadcast", "--count", "4097", "--ranks", "card0,card1"])["checked"], true);
}

/// Few and small sizes.
fn bench<'a>(args: &[&'a str]) -> Vec<&'a str> {
    [&["comm", "bench"], args, &["--up-to", "4K", "--factor", "16", "--times", "2"]].concat()
}

#[test]
fn a_small_bench_has_a_row_for_each_size_and_draws_it() {
    let rack = Rack::none();
    let report = rack.json(&bench(&["--cards", "3", "--links", "ring", "--svg", "o.svg"]));
    assert_eq!((&report["schema"], &report["ranks"]), (&"rackloom.comm-bench/1".into(), &3.into()));
    let rows = report["rows"].as_array().unwrap();
    assert!(rows.len() > 20, "{report}");
    for row in rows {
        let (bytes, seconds) = (row["bytes"].as_f64().unwrap(), row["seconds"].as_f64().unwrap());
        let algbw = row["algbw"].as_f64().unwrap();
        assert!(seconds > 0.0 && (algbw * seconds / bytes - 1.0).abs() < 1e-9, "{row}");
        let part = match row["operation"].as_str().unwrap() {
            "allreduce" => 4.0 / 3.0,
            "send" | "sendrecv" | "broadcast" | "reduce" => 1.0,
            _ => 2.0 / 3.0,
        };
        assert!((row["busbw"].as_f64().unwrap() / algbw - part).abs() < 1e-9, "{row}");
    }
    assert!(std::fs::read_to_string(rack.path("o.svg")).unwrap().contains("<svg"));
    let table = rack.run(&bench(&["allreduce"])).stdout;
    assert!(table.lines().all(|line| line.chars().count() <= 80) && table.contains("OF MEMCPY"), "{table}");
    assert_eq!(rack.run(&["comm", "bench", "--from", "2M", "--up-to", "1M"]).code, 2);
}

#[test]
fn in_virtual_time_a_bench_says_the_same_on_every_run() {
    let rack = Rack::none();
    let args = ["comm", "bench", "allreduce", "broadcast", "--virtual", "--up-to", "1M", "--factor", "131072"];
    let report = rack.json(&args);
    assert_eq!(report, rack.json(&args), "it depends on nothing but the cables");
    assert_eq!((report["cable"].as_f64(), &report["memcpy"]), (Some(1.25e9), &serde_json::Value::Null));
    let row = |operation: &str, bytes: u64| {
        let rows = report["rows"].as_array().unwrap();
        rows.iter().find(|row| row["operation"] == operation && row["bytes"] == bytes).unwrap()["seconds"]
            .as_f64()
            .unwrap()
    };
    // Small ones cost the way there; large ones what the bound says, and what frames and rounds add: of 4 ranks, a
    // third of a broadcast over each of the root's links, and half of an allreduce over each.
    assert!((100e-9..4e-6).contains(&row("broadcast", 8)), "{report}");
    for (operation, part) in [("broadcast", 1.0 / 3.0), ("allreduce", 0.5)] {
        let bound = (1 << 20) as f64 * part / 1.25e9;
        assert!((bound..bound * 1.5).contains(&row(operation, 1 << 20)), "{operation}, {bound}: {report}");
    }
    let table = rack.run(&args).stdout;
    assert!(table.contains("OF CABLE") && table.contains("in virtual time"), "{table}");
    let slower = rack.json(&[&args[..], &["--rate", "1G"]].concat());
    assert_eq!(slower["cable"], 1.25e8);
    assert_eq!(rack.run(&["comm", "bench", "--rate", "1G"]).code, 2, "of live cards it means nothing");
}

#[test]
fn processes_and_open_mpi_do_the_same_in_turn() {
    let rack = Rack::none();
    for (hosts, operations) in [("2", &[][..]), ("3", &["sendrecv", "alltoall", "allreduce"])] {
        let args = bench(&[operations, &["--hosts", hosts, "--beside-mpi", "--type", "i16", "--op", "max"]].concat());
        let report = rack.json(&args);
        assert_eq!((&report["processes"], &report["links"]), (&true.into(), &serde_json::Value::Null), "{report}");
        assert!(report["mpi"].as_str().unwrap().contains("Open MPI"), "{report}");
        let rows = report["rows"].as_array().unwrap();
        // Three sizes each, and the barrier once.
        assert_eq!(rows.len(), if operations.is_empty() { 31 } else { 9 }, "{report}");
        for row in rows {
            let (ours, theirs) = (row["seconds"].as_f64().unwrap(), row["mpi_seconds"].as_f64().unwrap());
            // Nothing takes less than a word's way to another processor and back, nor a second.
            assert!((1e-8..1.0).contains(&ours) && (1e-8..1.0).contains(&theirs), "{row}");
            assert!((row["of_mpi"].as_f64().unwrap() * ours / theirs - 1.0).abs() < 1e-9, "{row}");
        }
    }
    let alone = rack.run(&bench(&["--hosts", "4", "broadcast"]));
    assert!(
        alone.code == 0 && alone.stdout.contains("OF MEMCPY") && alone.stdout.contains("4 ranks, f32"),
        "{alone:?}"
    );
    let table = rack.run(&bench(&["--hosts", "2", "--beside-mpi", "broadcast"])).stdout;
    assert!(table.lines().all(|line| line.chars().count() <= 80) && table.contains("OF MPI"), "{table}");
}

#[test]
fn without_open_mpi_a_bench_beside_it_says_what_to_install() {
    let rack = Rack::none();
    let fails = |path: &str, more: &[&str], what: &str| {
        let done = rack.command(&bench(&[&["--hosts", "2", "--beside-mpi"], more].concat())).env("PATH", path).output();
        let done = common::Finished::of(done.unwrap());
        assert!(done.code == 2 && done.stderr.contains(what), "{what}: {done:?}");
    };
    let folder = rack.dir.path().to_str().unwrap();
    fails(folder, &[], "cannot run mpirun");
    fails(folder, &[], "openmpi-bin and libopenmpi-dev");
    fails(folder, &["--type", "f16"], "MPI has no f16");
    let program = |name: &str, text: &str| {
        std::fs::write(rack.path(name), format!("#!/bin/sh\n{text}\n")).unwrap();
        std::fs::set_permissions(rack.path(name), std::fs::Permissions::from_mode(0o755)).unwrap();
    };
    program("mpirun", "echo HYDRA build details:");
    fails(folder, &[], "mpirun is not Open MPI's: it says `HYDRA build details:`");
    program("mpirun", "echo 'mpirun (Open MPI) 0'; exit 3");
    program("mpicc", "echo 'no mpi.h' >&2; exit 1");
    fails(folder, &[], "no mpi.h");
    program("mpicc", "exit 0");
    fails(folder, &[], "has ended early: exit status: 3");
    assert_eq!(rack.run(&["comm", "bench", "--beside-mpi"]).code, 2, "cards take no turns with it");
    assert_eq!(rack.run(&["comm", "bench", "--hosts", "2", "--cards", "2"]).code, 2);
}

#[test]
fn arrangements_are_described_and_cabled() {
    let rack = Rack::none();
    let report = rack.json(&["comm", "topology", "slim-fly:5", "--cables", "cables"]);
    assert_eq!((&report["cards"], &report["links_of_a_card"], &report["slots"]), (&50.into(), &7.into(), &13.into()));
    let cables = std::fs::read_to_string(rack.path("cables")).unwrap();
    assert_eq!(cables.lines().count(), 50 * 7 / 2);
    assert!(rack.run(&["comm", "topology", "kautz:3"]).stdout.contains("checked: "));
    let none = rack.run(&["comm", "topology", "polar-fly:6"]);
    assert_eq!(none.code, 2, "{}", none.stderr);
    assert!(none.stderr.contains("there is no polar-fly:6: its number is no power of a prime"), "{}", none.stderr);
    assert_eq!(rack.run(&["comm", "topology", "mesh"]).code, 2);
}

#[test]
fn cards_of_an_arrangement_work_together() {
    // A Fano plane: any two of seven cards are two links apart at most, by three links of a card.
    let rack = Rack::up(&["--cards", "7", "--links", "polar-fly:2"]);
    for args in [["allreduce", "--count", "1000"], ["alltoall", "--count", "33"]] {
        let done = rack.json(&patient(&[&["comm", "run"], &args[..]].concat()));
        assert_eq!((&done["checked"], done["ranks"].as_array().map(Vec::len)), (&true.into(), Some(7)));
    }
}
