//! Cards and hosts with keys, as real processes.

mod common;

use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

use common::{Burn, Finished, Matrix, Rack, keyed, parse, patient, strings, wait_until};

#[test]
fn cards_with_keys_serve_their_host_and_nobody_else() {
    let (rack, files) = keyed();
    let file = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let host = file("host");
    std::fs::write(rack.path("bytes"), [7; 5000]).unwrap();
    let write = ["mem", "write", "card0", "2M", "bytes"];
    let done = rack.run(&[&write[..], &["--key", &host]].concat());
    assert_eq!(done.code, 0, "{}", done.stderr);
    let loaded = rack.run(&["load", "vadd", "--key", &host]);
    assert_eq!(loaded.code, 0, "{}", loaded.stderr);
    assert!(!loaded.stderr.contains("somebody poses"), "{}", loaded.stderr);
    let read = rack.run(&["mem", "read", "card0", "2M", "5000", "-o", "back", "--key", &host]);
    assert_eq!(read.code, 0, "{}", read.stderr);
    assert_eq!(std::fs::read(rack.path("back")).unwrap(), [7; 5000]);
    // Who has no key, another one, or none for this card.
    for (key, says) in
        [("", "asks for a key: give --key FILE"), ("later", "has not answered a claim"), ("one", "has none")]
    {
        let card = if key == "one" { "card1" } else { "card0" };
        let mut command = rack.command(&["mem", "read", card, "2M", "64"]);
        if !key.is_empty() {
            command.args(["--key", &file(key)]);
        }
        let refused = Finished::of(command.output().unwrap());
        assert!(refused.code != 0 && refused.stderr.contains(says), "{key}: {}", refused.stderr);
    }
    let info = rack.json(&["info", "card0"]);
    let counters = info["counters"].as_object().unwrap_or_else(|| panic!("{info}"));
    assert!(counters["auth_untagged"].as_u64() > Some(0), "{info}");
}

#[test]
fn a_file_of_keys_that_others_can_read_is_refused() {
    let (rack, files) = keyed();
    let host = files.path().join("host");
    std::fs::set_permissions(&host, std::fs::Permissions::from_mode(0o644)).unwrap();
    let refused = rack.run(&["mem", "read", "card0", "2M", "64", "--key", host.to_str().unwrap()]);
    assert!(refused.code != 0 && refused.stderr.contains("others may read it"), "{}", refused.stderr);
}

/// Files may not grow, as on a disk that is full.
#[test]
fn a_file_of_keys_is_whole_or_not_there() {
    let rack = Rack::none();
    let program = env!("CARGO_BIN_EXE_rackloom");
    let script = format!("trap '' XFSZ; ulimit -f 0; exec '{program}' key new -o rack");
    let full = std::process::Command::new("sh").args(["-c", &script]).current_dir(rack.dir.path()).output().unwrap();
    let full = Finished::of(full);
    assert!(full.code != 0 && full.stderr.contains("cannot write rack"), "{}", full.stderr);
    let left: Vec<_> = std::fs::read_dir(rack.dir.path()).unwrap().map(|file| file.unwrap().file_name()).collect();
    assert!(left.is_empty(), "{left:?}");
    assert_eq!(rack.run(&["key", "new", "-o", "rack"]).code, 0);
    let again = rack.run(&["key", "new", "-o", "rack"]);
    assert!(again.code != 0 && again.stderr.contains("it is there already"), "{}", again.stderr);
}

/// What a rack of two cards is restarted with, and a folder of keys beside it.
struct Keyed {
    rack: Rack,
    files: tempfile::TempDir,
    cards: Vec<String>,
}

impl Keyed {
    fn new() -> Self {
        let (rack, files) = keyed();
        let cards = strings(&rack.json(&["ls"])["cards"], "mac");
        let mut keyed = Self { rack, files, cards };
        keyed.restart("cards");
        keyed
    }

    fn path(&self, name: &str) -> String {
        self.files.path().join(name).to_str().unwrap().to_owned()
    }

    /// The rack starts again with these keys of cards.
    fn restart(&mut self, keys: &str) {
        self.rack.interrupt();
        let keys = self.path(keys);
        self.rack = Rack::up(&["--cards", "2", "--seed", "5", "--clocked", "--keys", &keys]);
        Burn::save(&self.rack);
    }

    /// `rackloom key`, with files by name; what it says.
    fn key(&self, args: &[&str]) -> String {
        let mut command = self.rack.command(&["key"]);
        let done = Finished::of(command.args(args).current_dir(self.files.path()).output().unwrap());
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
        done.stderr
    }

    /// The same with the cards' addresses behind.
    fn key_of_cards(&self, args: &[&str]) {
        let cards: Vec<_> = self.cards.iter().map(String::as_str).collect();
        self.key(&[args, &cards].concat());
    }

    /// The rack's cards get other keys.
    fn give(&self, keys: &str) {
        let given = self.rack.json(&["card", "keys", &self.path(keys)]);
        assert_eq!(strings(&given["cards"], "mac"), self.cards);
    }

    fn load(&self, host: &str) -> Finished {
        self.rack.run(&["load", "vadd", "--key", &self.path(host), "--json"])
    }

    fn serves(&self, host: &str) {
        let done = self.load(host);
        assert_eq!(done.code, 0, "{host}: {done:?}");
        assert!(!done.stderr.contains("somebody poses"), "{host}: {}", done.stderr);
    }

    /// Loads of this host are refused, and why is said.
    fn refuses(&self, host: &str, says: &str, code: Option<&str>) {
        check_refused(&self.load(host), says, code);
    }

    /// And its jobs, which wait for cards for some time.
    fn refuses_a_job(&self, host: &str, says: &str, code: Option<&str>) {
        check_refused(&self.rack.run(&[&Burn::RUN[..], &["--key", &self.path(host)]].concat()), says, code);
    }
}

fn check_refused(done: &Finished, says: &str, code: Option<&str>) {
    assert_ne!(done.code, 0, "{done:?}");
    assert!(done.stderr.contains(says), "{}", done.stderr);
    let error = parse(&done.stdout);
    assert_eq!(error["code"].as_str(), code, "{error}");
    // Also where it has failed: that may be why.
    let cards: Vec<_> = error["forged"]["cards"].as_array().unwrap().iter().collect();
    assert!(cards.len() == 2 && error["forged"]["wrong"].is_u64(), "{error}");
    let refused = |card: &&serde_json::Value| card["unknown"].as_u64().unwrap() + card["wrong"].as_u64().unwrap();
    assert!(cards.iter().map(refused).all(|count| count > 0), "{error}");
}

#[test]
fn a_revoked_host_is_refused_by_name_also_after_a_restart_and_others_go_on() {
    let mut keyed = Keyed::new();
    keyed.serves("other");
    let said = keyed.key(&["revoke", "--keys", "cards", "--hosts", "2", "-o", "without"]);
    assert!(said.contains("revokes host 2") && said.contains("--host 2.1"), "{said}");
    // Host 1 is at work on both cards meanwhile.
    let burn = Burn::save(&keyed.rack);
    let mut command = keyed.rack.command(&Burn::RUN);
    command.args(["--key", &keyed.path("host")]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let job = command.spawn().unwrap();
    keyed.rack.wait_for_state("running");
    keyed.give("without");
    let job = Finished::of(job.wait_with_output().unwrap());
    assert_eq!(job.code, 0, "{}", job.stderr);
    burn.check(&keyed.rack);
    let troubles =
        parse(&job.stdout)["cards"].as_array().unwrap().iter().map(|card| card["troubles"].clone()).collect();
    assert_eq!(serde_json::Value::Array(troubles), serde_json::json!([[], []]), "{}", job.stdout);
    let is_refused = |keyed: &Keyed| keyed.refuses("other", "this host's key was revoked", Some("key-revoked"));
    is_refused(&keyed);
    keyed.refuses_a_job("other", "this host's key was revoked", Some("key-revoked"));
    keyed.serves("host");
    keyed.restart("without");
    is_refused(&keyed);
    keyed.serves("host");
    // A card that is plugged in later has the keys that were given last.
    keyed.rack.json(&["card", "rm", "card1"]);
    keyed.rack.json(&["card", "add"]);
    is_refused(&keyed);
    // The host has its next key; the one that was lost stays of no use.
    keyed.key_of_cards(&["cards", "--rack", "rack", "--hosts", "1,2.1", "-o", "again"]);
    keyed.key_of_cards(&["host", "--rack", "rack", "--host", "2.1", "-o", "fresh"]);
    keyed.give("again");
    keyed.serves("fresh");
    is_refused(&keyed);
    keyed.serves("host");
}

#[test]
fn a_racks_next_keys_are_given_out_one_after_the_other() {
    let mut keyed = Keyed::new();
    keyed.key(&["next", "--rack", "rack", "-o", "rack2"]);
    keyed.key_of_cards(&["cards", "--rack", "rack2", "--hosts", "1,2", "-o", "cards2"]);
    keyed.key_of_cards(&["host", "--rack", "rack2", "--host", "1", "-o", "host2"]);
    // A host that is ahead of the cards, then cards that are ahead of a host, also after a restart.
    keyed.serves("host2");
    keyed.give("cards2");
    for host in ["host", "host2", "other"] {
        keyed.serves(host);
    }
    keyed.restart("cards2");
    keyed.serves("host");
    keyed.serves("host2");
    // The former keys end.
    keyed.key_of_cards(&["cards", "--rack", "rack2", "--hosts", "1,2", "--newest-only", "-o", "cards3"]);
    keyed.give("cards3");
    keyed.refuses("host", "answers under keys of generation 1, and this host's file has none of that", None);
    keyed.serves("host2");
    // What the rack's former key gives is of no use with the newest, and the other way round.
    keyed.key_of_cards(&["host", "--rack", "rack2", "--host", "1", "--newest-only", "-o", "host3"]);
    keyed.serves("host3");
    keyed.restart("cards");
    keyed.refuses("host3", "answers under keys of generation 0", None);
}

#[test]
fn keys_that_do_not_fit_are_refused_and_change_nothing() {
    let keyed = Keyed::new();
    keyed.key(&["next", "--rack", "rack", "-o", "rack2"]);
    keyed.key(&["cards", "--rack", "rack2", "--hosts", "2", "-o", "one-card", &keyed.cards[0]]);
    let done = keyed.rack.run(&["card", "keys", &keyed.path("one-card")]);
    assert!(done.code == 2 && done.stderr.contains("has none for"), "{done:?}");
    let done = keyed.rack.run(&["card", "keys", &keyed.path("nowhere")]);
    assert!(done.code == 2 && done.stderr.contains("cannot read the keys"), "{done:?}");
    keyed.serves("host");
    let mut command = keyed.rack.command(&["key", "revoke", "--keys", "cards", "--hosts", "2,7", "-o", "without"]);
    let done = Finished::of(command.current_dir(keyed.files.path()).output().unwrap());
    assert!(done.code == 2 && done.stderr.contains("host 7 is not among the hosts of these cards"), "{done:?}");
    assert!(!keyed.files.path().join("without").exists());
    let plain = Rack::up(&["--cards", "1"]);
    let done = plain.run(&["card", "keys", &keyed.path("cards")]);
    assert!(done.code == 2 && done.stderr.contains("start it with `rackloom up --keys`"), "{done:?}");
}

/// A rack of one card of gateware and one model, with the keys of `keyed`.
const MIXED: [&str; 6] = ["--card", "rtl:1", "--card", "model:1", "--seed", "5"];

fn mixed() -> (Rack, tempfile::TempDir) {
    let (mut plain, files) = keyed();
    plain.interrupt();
    let keys = files.path().join("cards");
    let rack = Rack::up(&[&MIXED[..], &["--keys", keys.to_str().unwrap()]].concat());
    wait_for_both(&rack);
    (rack, files)
}

/// Gateware takes a while to start on a busy machine, and to answer: the addresses of both, once both have.
fn wait_for_both(rack: &Rack) -> Vec<String> {
    let mut cards = Vec::new();
    wait_until("both cards", || {
        cards = strings(&rack.json(&patient(&["ls"]))["cards"], "mac");
        cards.len() == 2
    });
    cards
}

#[test]
fn gateware_serves_its_host_as_a_model_does_and_nobody_else() {
    let (rack, files) = mixed();
    let file = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let host = file("host");
    let with_key = |args: &[&str]| rack.run(&[&patient(args)[..], &["--key", &host]].concat());
    std::fs::write(rack.path("bytes"), [7; 5000]).unwrap();
    let written = with_key(&["mem", "write", "card0", "2M", "bytes"]);
    assert_eq!(written.code, 0, "{}", written.stderr);
    let read = with_key(&["mem", "read", "card0", "2M", "5000", "-o", "back"]);
    assert_eq!(read.code, 0, "{}", read.stderr);
    assert_eq!(std::fs::read(rack.path("back")).unwrap(), [7; 5000]);
    let loaded = with_key(&["load", "ptrans", "--json"]);
    assert_eq!(loaded.code, 0, "{}", loaded.stderr);
    let cards = parse(&loaded.stdout)["cards"].clone();
    assert!(cards.as_array().unwrap().iter().all(|card| card["ok"] == true), "{cards}");
    assert!(!loaded.stderr.contains("somebody poses"), "{}", loaded.stderr);
    // The model would be done before gateware begins.
    let (a, b) = (Matrix::random(70, 50, 1), Matrix::random(50, 70, 2));
    a.save(&rack.path("A.npy"));
    b.save(&rack.path("B.npy"));
    let job = with_key(&["run", "ptrans", "A.npy", "B.npy", "-o", "C.npy", "--card", "card0", "--json"]);
    assert_eq!(job.code, 0, "{}", job.stderr);
    let c = Matrix::load(&rack.path("C.npy"), 50, 70);
    assert!((0..50).all(|i| (0..70).all(|j| c.at(i, j) == b.at(i, j) + a.at(j, i))));
    for (key, says) in
        [("", "asks for a key: give --key FILE"), ("later", "has not answered a claim"), ("one", "has none")]
    {
        let card = if key == "one" { "card1" } else { "card0" };
        let mut command = rack.command(&patient(&["mem", "read", card, "2M", "64"]));
        if !key.is_empty() {
            command.args(["--key", &file(key)]);
        }
        // A program that has no key knows of no card that it would wait for.
        wait_until(&format!("a refusal of {key:?}"), || {
            let refused = Finished::of(command.output().unwrap());
            assert_ne!(refused.code, 0, "{key}: {}", refused.stderr);
            refused.stderr.contains(says)
        });
    }
    let counters = rack.json(&patient(&["info", "card0"]))["counters"].clone();
    for name in ["auth_untagged", "auth_wrong"] {
        assert!(counters[name].as_u64() > Some(0), "{name}: {counters}");
    }
    // It is pulled out while its host writes, who hears so under a tag and does not wait for it.
    std::fs::write(rack.path("bytes"), vec![7; 32 << 20]).unwrap();
    let writes = || {
        let info = rack.run(&["info", "card0", "--json"]);
        // At work it may miss a question.
        if info.code == 0 { parse(&info.stdout)["counters"]["writes"].as_u64() } else { None }
    };
    let before = counters["writes"].as_u64();
    let mut command = rack.command(&patient(&["mem", "write", "card0", "2M", "bytes"]));
    let write = command.args(["--key", &host]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    wait_until("a write that is under way", || writes() > before);
    rack.json(&["card", "rm", "card0"]);
    let done = Finished::of(write.wait_with_output().unwrap());
    assert!(done.code != 0 && done.stderr.contains("vanished: it said goodbye"), "{done:?}");
}

/// Revoked hosts, a host's next key and the rack's, on a card of gateware beside a model.
#[test]
fn gateware_takes_other_keys_while_it_runs() {
    let (mut rack, files) = mixed();
    let file = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let cards = wait_for_both(&rack);
    let key = |args: &[&str], of: &[String]| {
        let mut command = Rack::none().command(&["key"]);
        let done = Finished::of(command.args(args).args(of).current_dir(files.path()).output().unwrap());
        assert_eq!(done.code, 0, "{args:?}: {}", done.stderr);
    };
    let give = |rack: &Rack, keys: &str| {
        assert_eq!(strings(&rack.json(&["card", "keys", &file(keys)])["cards"], "mac"), cards);
    };
    std::fs::write(files.path().join("bytes"), [7; 500]).unwrap();
    let write = |rack: &Rack, host: &str| {
        let bytes = file("bytes");
        let write = patient(&["mem", "write", "card0", "2M", &bytes, "--json"]);
        rack.run(&[&write[..], &["--key", &file(host)]].concat())
    };
    let serves = |rack: &Rack, host: &str| {
        let done = write(rack, host);
        assert_eq!(done.code, 0, "{host}: {done:?}");
        assert!(!done.stderr.contains("somebody poses"), "{host}: {}", done.stderr);
    };
    let refuses = |rack: &Rack, host: &str, says: &str, code: Option<&str>| {
        let done = write(rack, host);
        assert!(done.code != 0 && done.stderr.contains(says), "{host}: {done:?}");
        assert_eq!(parse(&done.stdout)["code"].as_str(), code, "{}", done.stdout);
    };
    let is_revoked = |rack: &Rack| refuses(rack, "other", "this host's key was revoked", Some("key-revoked"));
    serves(&rack, "other");
    key(&["revoke", "--keys", "cards", "--hosts", "2", "-o", "without"], &[]);
    give(&rack, "without");
    is_revoked(&rack);
    serves(&rack, "host");
    // A card that is plugged in later has the keys that were given last, and so has a rack that starts with them.
    rack.json(&["card", "rm", "card0"]);
    rack.json(&["card", "add", "rtl:1"]);
    wait_for_both(&rack);
    is_revoked(&rack);
    rack.interrupt();
    let rack = Rack::up(&[&MIXED[..], &["--keys", &file("without")]].concat());
    wait_for_both(&rack);
    is_revoked(&rack);
    serves(&rack, "host");
    // The host has its next key; the one that was lost stays of no use.
    key(&["cards", "--rack", "rack", "--hosts", "1,2.1", "-o", "again"], &cards);
    key(&["host", "--rack", "rack", "--host", "2.1", "-o", "fresh"], &cards);
    give(&rack, "again");
    serves(&rack, "fresh");
    is_revoked(&rack);
    // The rack's next generation, beside the former one and then alone.
    key(&["next", "--rack", "rack", "-o", "rack2"], &[]);
    key(&["host", "--rack", "rack2", "--host", "1", "-o", "host2"], &cards);
    for (which, keys) in [(&[][..], "both"), (&["--newest-only"][..], "newest")] {
        let asked = ["cards", "--rack", "rack2", "--hosts", "1", "-o", keys];
        key(&[&asked[..], which].concat(), &cards);
        give(&rack, keys);
        serves(&rack, "host2");
        if which.is_empty() {
            serves(&rack, "host");
        } else {
            let says = "answers under keys of generation 1, and this host's file has none of that";
            refuses(&rack, "host", says, None);
        }
    }
}

#[test]
fn what_gateware_cannot_do_with_keys_is_said() {
    let (rack, files) = mixed();
    let file = |name: &str| files.path().join(name).to_str().unwrap().to_owned();
    let says = |done: Finished, what: &str| assert!(done.code == 2 && done.stderr.contains(what), "{done:?}");
    let cards = strings(&rack.json(&patient(&["ls"]))["cards"], "mac");
    let hosts = |many: u16| (1..=many).map(|host| host.to_string()).collect::<Vec<_>>().join(",");
    for many in [64, 65] {
        let (hosts, keys) = (hosts(many), file(&many.to_string()));
        let mut key = rack.command(&["key", "cards", "--rack", &file("rack"), "--hosts", &hosts, "-o", &keys]);
        assert!(key.args(&cards).status().unwrap().success());
    }
    let too_many = "names 65 hosts, and card0 of kind rtl has room for 64, those that were revoked among them";
    says(rack.run(&["card", "keys", &file("65")]), too_many);
    let revoke = ["key", "revoke", "--keys", &file("64"), "--hosts", "64", "-o", &file("revoked")];
    assert_eq!(rack.run(&revoke).code, 0);
    assert_eq!(rack.run(&["card", "keys", &file("revoked")]).code, 0);
    drop(rack);
    let none = Rack::none();
    let up = |args: &[&str], keys: &str| none.run(&[&["up"], &MIXED[..], args, &["--keys", &file(keys)]].concat());
    says(up(&[], "65"), too_many);
    says(
        up(&["--links", "full"], "cards"),
        "card0 has a key, and is to have links: a card of kind rtl has none beside",
    );
    says(
        up(&["--nic", "0=none0"], "cards"),
        "card0 has a key, and is to have a host behind it: a card of kind rtl has none beside",
    );
    says(up(&["--encrypt"], "cards"), "card0 is of gateware, which cannot encrypt yet");
}
