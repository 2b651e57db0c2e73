//! The card of `docs/examples/card`, in Python, on the segment of a rack.

mod common;

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use common::{Rack, parse, patient, strings, wait_until};

/// A Python card on a rack's segment, until dropped.
struct PythonCard(Child);

impl PythonCard {
    fn up(rack: &Rack, args: &[&str]) -> Self {
        let card = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/examples/card");
        let python = std::env::var("RACKLOOM_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let mut command = Command::new(python);
        command.arg("-B").arg(card).args(args).env("RACKLOOM_RUN", rack.path("run"));
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert!(line.contains("is up"), "{line:?}");
        Self(child)
    }
}

impl Drop for PythonCard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn it_is_found_written_read_loaded_with_others_and_put_to_work() {
    let rack = Rack::up(&["--cards", "2"]);
    let _python = PythonCard::up(&rack, &["--unit", "9"]);
    wait_until("three cards", || rack.names() == ["card0", "card1", "card9"]);

    let bytes: Vec<u8> = (0..100_000u32).map(|i| (i * 7 + i / 251) as u8).collect();
    std::fs::write(rack.path("written"), &bytes).unwrap();
    let run = |args: &[&str]| {
        let done = rack.run(&patient(args));
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
    };
    run(&["mem", "write", "card9", "2M", "written"]);
    run(&["mem", "read", "card9", "2M", "100000", "-o", "read"]);
    assert_eq!(std::fs::read(rack.path("read")).unwrap(), bytes);

    // One load for all three: its data goes to the group once.
    let load = rack.json(&patient(&["load", "vadd"]));
    assert_eq!(strings(&load["cards"], "name"), ["card0", "card1", "card9"]);
    assert!(load["cards"].as_array().unwrap().iter().all(|c| c["ok"] == true), "{load}");
    rack.python(
        "import numpy as np; r = np.random.default_rng(5)\n\
         for name in 'AB': np.save(name, r.standard_normal(9999, dtype=np.float32))",
    );
    run(&["run", "vadd", "A.npy", "B.npy", "-o", "C.npy", "--card", "card9"]);
    let said =
        rack.python("import numpy as np; A, B, C = (np.load(n + '.npy') for n in 'ABC'); print((A + B == C).all())");
    assert_eq!(said.trim(), "True");

    // What it does not have it says by its name.
    let other = rack.run(&patient(&["load", "gemm", "--card", "card9"]));
    assert!(other.code == 2 && other.stderr.contains("knows no role `gemm`"), "{}", other.stderr);
}

/// It takes a claim by the rules of `docs/src/reference/keys.md`, loads beside models, and refuses whom they refuse.
#[test]
fn with_keys_it_serves_their_hosts_and_nobody_else() {
    const MAC: &str = "02:91:00:00:09:09";
    let shape = ["--cards", "2", "--seed", "5"];
    let mut cards = strings(&Rack::up(&shape).json(&patient(&["ls"]))["cards"], "mac");
    cards.push(MAC.to_owned());
    let files = tempfile::tempdir().unwrap();
    let path = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let key = |args: &[&str], cards: &[String]| {
        let done = Rack::none().command(&[&["key"], args].concat()).args(cards).current_dir(files.path()).output();
        assert!(done.unwrap().status.success(), "{args:?}");
    };
    key(&["new", "-o", "rack"], &[]);
    key(&["cards", "--rack", "rack", "--hosts", "1,2", "-o", "cards"], &cards);
    key(&["host", "--rack", "rack", "--host", "1", "-o", "host"], &cards);
    key(&["revoke", "--keys", "cards", "--hosts", "1", "-o", "without"], &[]);
    key(&["next", "--rack", "rack", "-o", "rack1"], &[]);
    key(&["cards", "--rack", "rack1", "--hosts", "1", "-o", "cards1"], &cards);
    key(&["host", "--rack", "rack1", "--host", "1", "-o", "host1"], &cards);
    key(&["host", "--rack", "rack1", "--host", "1", "--newest-only", "-o", "newest"], &cards);

    let rack = Rack::up(&[&shape[..], &["--keys", &path("cards")]].concat());
    let up = |keys: &str| PythonCard::up(&rack, &["--unit", "9", "--mac", MAC, "--keys", &path(keys)]);
    let run = |args: &[&str], host: &str| rack.run(&[&patient(args)[..], &["--key", &path(host)]].concat());
    let well = |args: &[&str], host: &str| {
        let done = run(args, host);
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
        assert!(!done.stderr.contains("somebody"), "{args:?}: {}", done.stderr);
        done
    };
    let bytes: Vec<u8> = (0..100_000u32).map(|i| (i * 7 + i / 251) as u8).collect();
    std::fs::write(rack.path("written"), &bytes).unwrap();
    rack.python(
        "import numpy as np; r = np.random.default_rng(5)\n\
         for name in 'AB': np.save(name, r.standard_normal(9999, dtype=np.float32))",
    );
    let python = up("cards");
    wait_until("three cards", || rack.names() == ["card0", "card1", "card9"]);
    well(&["mem", "write", "card9", "2M", "written"], "host");
    well(&["mem", "read", "card9", "2M", "100000", "-o", "read"], "host");
    assert_eq!(std::fs::read(rack.path("read")).unwrap(), bytes);
    let load = parse(&well(&["load", "vadd", "--json"], "host").stdout);
    assert!(load["cards"].as_array().unwrap().iter().all(|c| c["ok"] == true), "{load}");
    well(&["run", "vadd", "A.npy", "B.npy", "-o", "C.npy", "--card", "card9"], "host");
    let script = "import numpy as np; A, B, C = (np.load(n + '.npy') for n in 'ABC'); print((A + B == C).all())";
    assert_eq!(rack.python(script).trim(), "True");
    // The same encrypted, by another implementation of the cipher, which is slow.
    std::fs::write(rack.path("few"), &bytes[..5000]).unwrap();
    well(&["mem", "write", "card9", "3M", "few", "--encrypt"], "host");
    well(&["mem", "read", "card9", "3M", "5000", "-o", "read", "--encrypt"], "host");
    assert_eq!(std::fs::read(rack.path("read")).unwrap(), bytes[..5000]);
    rack.python("import numpy as np; [np.save('few' + n, np.load(n + '.npy')[:999]) for n in 'AB']");
    well(&["run", "vadd", "fewA.npy", "fewB.npy", "-o", "fewC.npy", "--card", "card9", "--encrypt"], "host");
    assert_eq!(rack.python(&script.replace("n + '.npy'", "'few' + n + '.npy'")).trim(), "True");
    // A host that is ahead of it; one that has no key, and one whose key it does not have.
    well(&["mem", "read", "card9", "2M", "64"], "host1");
    let refused = |done: common::Finished, says: &str| {
        assert!(done.code != 0 && done.stderr.contains(says), "{says}: {}", done.stderr);
    };
    refused(rack.run(&patient(&["mem", "read", "card9", "2M", "64"])), "asks for a key");
    refused(run(&["mem", "read", "card9", "2M", "64"], "newest"), "answers under keys of generation 0");
    let counters = rack.json(&patient(&["info", "card9"]))["counters"].clone();
    assert!(counters["auth_untagged"].as_u64() > Some(0) && counters["auth_wrong"].as_u64() > Some(0), "{counters}");
    drop(python);
    let python = up("without");
    refused(run(&["mem", "read", "card9", "2M", "64"], "host"), "this host's key was revoked on it");
    drop(python);
    let _python = up("cards1");
    for host in ["host", "host1", "newest"] {
        well(&["mem", "read", "card9", "2M", "64"], host);
    }
}

/// Bytes were written to one of two cards and read from the other, and every command ended with exit code 0.
#[test]
fn regression_two_cards_of_one_address_are_named_by_every_command() {
    let rack = Rack::up(&["--cards", "1"]);
    let mac = rack.json(&patient(&["ls"]))["cards"][0]["mac"].as_str().unwrap().to_owned();
    let _twin = PythonCard::up(&rack, &["--unit", "7", "--mac", &mac]);
    let list = rack.json(&patient(&["ls"]));
    assert_eq!(list["cards"][0]["shared_address"], true, "{list}");
    std::fs::write(rack.path("written"), [1; 64]).unwrap();
    rack.python("import numpy as np; np.save('A', np.ones(64, dtype=np.float32))");
    let commands: [&[&str]; 4] = [
        &["mem", "write", &mac, "2M", "written"],
        &["mem", "read", &mac, "2M", "64"],
        &["load", "vadd"],
        &["run", "vadd", "A.npy", "A.npy", "-o", "C.npy", "--timeout", "5s"],
    ];
    for args in commands {
        let done = rack.run(&patient(args));
        assert_ne!(done.code, 0, "{args:?}: {}", done.stdout);
        assert!(
            done.stderr.contains(&format!("two cards answer under the address {mac}")),
            "{args:?}: {}",
            done.stderr
        );
        assert!(done.stderr.contains("neither can be used"), "{args:?}: {}", done.stderr);
    }
}
