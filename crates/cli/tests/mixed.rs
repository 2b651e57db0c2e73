//! Racks of model cards and of gateware in Verilator.

mod common;

use std::process::Stdio;

use common::{Finished, Rack, parse, patient, strings, wait_until};
use serde_json::Value;

/// Random matrices: a permutation of their elements would change the result.
fn matrices(rack: &Rack, rows: usize, columns: usize) {
    rack.python(&format!(
        "import numpy as np; r = np.random.default_rng(5)\n\
         np.save('A', r.standard_normal(({columns}, {rows}), dtype=np.float32))\n\
         np.save('B', r.standard_normal(({rows}, {columns}), dtype=np.float32))"
    ));
}

/// NumPy compares each element, bit by bit.
fn is_right(rack: &Rack) {
    let said = rack.python(
        "import numpy as np\n\
         A, B, C = (np.load(n + '.npy') for n in 'ABC')\n\
         print(C.dtype, np.array_equal(C, B + A.T))",
    );
    assert_eq!(said.trim(), "float32 True");
}

fn tiles(card: &Value) -> u64 {
    card["tiles"].as_u64().unwrap()
}

#[test]
fn both_kinds_are_found_loaded_and_put_to_work() {
    let rack = Rack::up(&["--card", "rtl:2,model:2"]);
    let list = || rack.json(&patient(&["ls"]))["cards"].clone();
    // Gateware takes a while to start on a busy machine.
    let mut cards = Value::Null;
    wait_until("four cards", || {
        cards = list();
        strings(&cards, "name") == ["card0", "card1", "card2", "card3"]
    });
    assert_eq!(strings(&cards, "kind"), ["rtl", "rtl", "model", "model"]);
    let load = rack.json(&patient(&["load", "ptrans"]));
    assert!(load["cards"].as_array().unwrap().iter().all(|c| c["ok"] == true), "{load}");
    wait_until("each card to run it", || strings(&list(), "role") == ["ptrans"; 4]);
    matrices(&rack, 333, 211);
    let run = ["run", "ptrans", "A.npy", "B.npy", "-o", "C.npy", "--tile", "i=64", "--tile", "j=64"];
    let report = rack.json(&patient(&run));
    is_right(&rack);
    let cards = report["cards"].as_array().unwrap();
    assert_eq!(strings(&report["cards"], "name").len(), 4);
    assert!(cards.iter().all(|card| card["joined"].is_f64() && card["left"].is_null()), "{report}");
    assert_eq!(cards.iter().map(tiles).sum::<u64>(), report["tiles"].as_u64().unwrap());
    // The models may have been faster with all tiles, also with those that simulated gateware had begun.
    std::fs::remove_file(rack.path("C.npy")).unwrap();
    let report = rack.json(&patient(&[&run[..], &["--card", "card0", "--card", "card1"]].concat()));
    is_right(&rack);
    assert_eq!(strings(&report["cards"], "name"), ["card0", "card1"]);
    assert!(report["cards"].as_array().unwrap().iter().all(|card| tiles(card) > 0), "{report}");
}

/// One card of gateware computes; another comes, the first goes, and a model comes.
#[test]
fn cards_of_either_kind_come_and_go_during_a_job() {
    let rack = Rack::up(&["--card", "rtl"]);
    matrices(&rack, 640, 640);
    let args = ["run", "ptrans", "A.npy", "B.npy", "-o", "C.npy", "--tile", "i=64", "--tile", "j=64", "--json"];
    let mut run = rack.command(&args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let computed = |card: &str| {
        // A card that was just plugged in may not have been asked yet.
        let info = rack.run(&["info", card, "--json"]);
        info.code == 0 && parse(&info.stdout)["counters"]["kernels_done"].as_u64().unwrap() > 0
    };
    wait_until("the first card to compute", || computed("card0"));
    assert_eq!(strings(&rack.json(&["card", "add", "rtl:1"])["cards"], "name"), ["card1"]);
    wait_until("the second card to compute", || computed("card1"));
    rack.json(&["card", "rm", "card0"]);
    assert_eq!(strings(&rack.json(&["card", "add", "model:1"])["cards"], "name"), ["card0"]);
    assert!(run.try_wait().unwrap().is_none(), "the job was over before the model came");
    let done = Finished::of(run.wait_with_output().unwrap());
    assert_eq!(done.code, 0, "{}", done.stderr);
    is_right(&rack);
    assert!(
        done.stderr.contains("card0 (") && done.stderr.contains("): vanished: it said goodbye; its tiles go to other"),
        "{}",
        done.stderr
    );
    // The model has the unit number of the card that left.
    // Gateware may wait for a processor longer than `ls` waits for gateware.
    wait_until("both to be listed", || strings(&rack.json(&["ls"])["cards"], "kind") == ["model", "rtl"]);
    let report = parse(&done.stdout);
    let cards = report["cards"].as_array().unwrap();
    assert_eq!(strings(&report["cards"], "name"), ["card0", "card1"]);
    // The model may have been faster with the tiles that the second card had begun.
    assert!(tiles(&cards[0]) > 0 && cards.iter().all(|card| card["left"].is_null()), "{report}");
    assert_eq!(cards.iter().map(tiles).sum::<u64>(), report["tiles"].as_u64().unwrap());
    assert!(cards[1]["joined"].as_f64() > cards[0]["joined"].as_f64(), "{report}");
}

/// The same commands serve cards that have to restart to run another image: `load` waits for them, and so does a job.
#[test]
fn cards_that_restart_to_run_an_image_are_loaded_and_put_to_work() {
    let rack = Rack::up(&["--card", "flash:2,model:1"]);
    let load = rack.json(&["load", "vadd"]);
    assert!(load["cards"].as_array().unwrap().iter().all(|c| c["ok"] == true), "{load}");
    wait_until("each card to run it", || strings(&rack.json(&["ls"])["cards"], "role") == ["vadd"; 3]);
    matrices(&rack, 640, 640);
    let run = ["run", "ptrans", "A.npy", "B.npy", "-o", "C.npy", "--tile", "i=32", "--tile", "j=32", "--card", "card0"];
    let report = rack.json(&run);
    is_right(&rack);
    assert_eq!(strings(&report["cards"], "name"), ["card0"]);
}
