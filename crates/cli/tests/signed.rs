//! Signed images by the command line, with real processes: keys, policy, cards that demand signatures.

mod common;

use std::os::unix::fs::PermissionsExt as _;

use common::{Finished, Matrix, Rack, keyed, parse, patient, strings, wait_until};

/// A folder with two signers' keys, a policy, and images; `lab` counts everywhere, `guest` on card 1 alone.
struct Files(tempfile::TempDir);

impl Files {
    fn new() -> Self {
        let files = Self(tempfile::tempdir().unwrap());
        let plain = Rack::none();
        let key =
            |name: &str| plain.json(&["key", "signer", "-o", &files.path(name)])["key"].as_str().unwrap().to_owned();
        let policy = format!(
            "[[signer]]\nname = \"lab\"\nkey = \"{}\"\ncards = [\"all\"]\n\n\
             [[signer]]\nname = \"guest\"\nkey = \"{}\"\ncards = [\"card1\"]\n",
            key("lab.key"),
            key("guest.key")
        );
        std::fs::write(files.path("policy.toml"), policy).unwrap();
        for (signer, version) in [("lab", "4"), ("lab", "5"), ("guest", "1")] {
            let (key, out) = (files.path(&format!("{signer}.key")), files.path(&format!("{signer}{version}.rli")));
            let signed = plain.json(&["image", "sign", "ptrans", "--signer", &key, "--version", version, "-o", &out]);
            assert_eq!(signed["signature"]["version"].to_string(), version);
        }
        files
    }

    fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    /// Two cards that demand signatures, always of the same addresses.
    fn rack(&self) -> Rack {
        let (signers, versions) = (self.path("policy.toml"), self.path("versions"));
        Rack::up(&["--cards", "2", "--seed", "5", "--signers", &signers, "--versions", &versions])
    }
}

fn refused(done: &Finished, says: &str) {
    assert_eq!(done.code, 2, "{done:?}");
    assert!(done.stderr.contains(says) && done.stderr.contains("rackloom image sign"), "{}", done.stderr);
    let error = parse(&done.stdout);
    assert_eq!((&error["schema"], &error["code"]), (&"rackloom.error/1".into(), &"image-signature".into()), "{error}");
}

#[test]
fn cards_with_signers_run_what_they_signed_and_nothing_older_also_after_a_restart() {
    let files = Files::new();
    let mut rack = files.rack();
    let load = |rack: &Rack, image: &str| rack.run(&["load", image, "--json"]);
    let (old, new, guest) = (files.path("lab4.rli"), files.path("lab5.rli"), files.path("guest1.rli"));
    refused(&load(&rack, "ptrans"), "refused the image: signed by nobody");
    assert_eq!(load(&rack, &old).code, 0);
    assert_eq!(load(&rack, &new).code, 0);
    refused(&load(&rack, &old), "refused the image: version 4 is older than 5");
    let done = load(&rack, &guest);
    assert_eq!(done.code, 3, "{done:?}");
    let cards = &parse(&done.stdout)["cards"];
    assert_eq!((&cards[0]["code"], &cards[1]["ok"]), (&"image-signature".into(), &true.into()), "{cards}");
    assert!(cards[0]["error"].as_str().unwrap().contains("signed by guest, who may not sign for it"), "{cards}");
    // A job, on a card that refuses and on one that does not.
    let (a, b) = (Matrix::random(32, 32, 1), Matrix::random(32, 32, 2));
    a.save(&rack.path("A.npy"));
    b.save(&rack.path("B.npy"));
    let run = |image: &str| rack.run(&["run", &format!("{image}/ptrans"), "A.npy", "B.npy", "-o", "C.npy", "--json"]);
    refused(&run(&old), "refused the image: version 4 is older than 5");
    let done = run(&new);
    assert_eq!(done.code, 0, "{done:?}");
    // The boards keep it while nobody has them running.
    assert_eq!(rack.interrupt(), Some(0));
    let kept = std::fs::read_to_string(files.path("versions")).unwrap();
    assert_eq!(parse(&kept)["kind"], "rackloom.board-versions/1");
    let rack = files.rack();
    refused(&load(&rack, &old), "version 4 is older than 5");
    assert_eq!(load(&rack, &new).code, 0);
}

#[test]
fn a_host_with_a_policy_checks_before_it_sends() {
    let files = Files::new();
    let rack = Rack::up(&["--cards", "2", "--seed", "5"]);
    let policy = files.path("policy.toml");
    let load = |image: &str| rack.run(&["load", image, "--signers", &policy, "--json"]);
    refused(&load("ptrans"), "this host's policy is against it: signed by nobody");
    let done = load(&files.path("guest1.rli"));
    assert_eq!((done.code, &parse(&done.stdout)["cards"][0]["code"]), (3, &"image-signature".into()), "{done:?}");
    let by_environment = rack.command(&["load", "ptrans", "--json"]).env("RACKLOOM_SIGNERS", &policy).output().unwrap();
    refused(&Finished::of(by_environment), "signed by nobody");
    // These cards demand nothing: without a policy any image goes.
    assert_eq!(rack.run(&["load", "ptrans"]).code, 0);
}

#[test]
fn show_and_verify_tell_who_signed() {
    let files = Files::new();
    let rack = Rack::none();
    let (image, policy) = (files.path("lab5.rli"), files.path("policy.toml"));
    let shown = rack.json(&["image", "show", &image, "--signers", &policy]);
    assert_eq!((&shown["signature"]["name"], &shown["signature"]["version"]), (&"lab".into(), &5.into()), "{shown}");
    let text = rack.run(&["image", "show", "ptrans"]).stdout;
    assert!(text.contains("signed by nobody"), "{text}");
    assert_eq!(rack.json(&["image", "show", "ptrans"])["signature"], serde_json::Value::Null);
    let verify = |image: &str| rack.run(&["image", "verify", image, "--signers", &policy]);
    let done = verify(&image);
    assert!(done.code == 0 && done.stdout.contains("PASS  signer, by the policy"), "{done:?}");
    let done = verify("ptrans");
    assert!(done.code == 1 && done.stdout.contains("FAIL  signer, by the policy: signed by nobody"), "{done:?}");
    let mut bytes = std::fs::read(&image).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    std::fs::write(files.path("bad.rli"), bytes).unwrap();
    let done = verify(&files.path("bad.rli"));
    assert!(done.code == 1 && done.stdout.contains("FAIL  signature: its signature is not of this image"), "{done:?}");
}

#[test]
fn a_signers_key_is_its_owners_alone_and_is_not_overwritten() {
    let files = Files::new();
    let rack = Rack::none();
    let key = files.path("lab.key");
    assert_eq!(std::fs::metadata(&key).unwrap().permissions().mode() & 0o777, 0o600);
    let before = std::fs::read(&key).unwrap();
    let again = rack.run(&["key", "signer", "-o", &key]);
    assert!(again.code == 2 && again.stderr.contains("it is there already"), "{again:?}");
    assert_eq!(std::fs::read(&key).unwrap(), before);
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o640)).unwrap();
    let sign =
        |version: &str| rack.run(&["image", "sign", "ptrans", "--signer", &key, "--version", version, "-o", "x.rli"]);
    let done = sign("1");
    assert!(done.code == 2 && done.stderr.contains("others may read it"), "{done:?}");
    let done = sign("18446744073709551616");
    assert!(done.code == 2 && done.stderr.contains("--version"), "{done:?}");
    // A policy that names nobody is refused by whoever is to use it.
    std::fs::write(rack.path("none.toml"), "").unwrap();
    for args in [&["up", "--signers", "none.toml"][..], &["load", "ptrans", "--signers", "none.toml"]] {
        let done = rack.run(args);
        assert!(done.code == 2 && done.stderr.contains("names no signer"), "{done:?}");
    }
    let policy = files.path("policy.toml");
    let done = rack.run(&["manager", "--signers", &policy]);
    assert!(done.code == 2 && done.stderr.contains("this manager shares no cards"), "{done:?}");
    for more in [&[][..], &["--links", "full"], &["--nic", "0=none0"]] {
        let done = rack.run(&[&["up", "--card", "rtl:2", "--signers", &policy], more].concat());
        assert!(done.code == 2 && done.stderr.contains("checks signatures where it has keys"), "{done:?}");
    }
}

/// What takes no arithmetic: a card of gateware needs more than a minute of simulation to find that a signature is
/// right. `RACKLOOM_SIGNED=all` has that as well.
#[test]
fn a_card_of_gateware_with_keys_refuses_whom_it_does_not_know() {
    let files = Files::new();
    let (mut models, keys) = keyed();
    models.interrupt();
    let (signers, versions) = (files.path("policy.toml"), files.path("versions"));
    let key = |name: &str| keys.path().join(name).to_str().unwrap().to_owned();
    let args = ["--card", "model:1", "--card", "rtl:1", "--seed", "5", "--signers", &signers, "--versions", &versions];
    let open = Rack::none().run(&[&["up"], &args[..]].concat());
    assert_eq!(open.code, 2, "{open:?}");
    assert!(open.stderr.contains("checks signatures where it has keys"), "{}", open.stderr);
    let rack = Rack::up(&[&args[..], &["--keys", &key("cards")]].concat());
    let names = |rack: &Rack| strings(&rack.json(&patient(&["ls"]))["cards"], "name");
    wait_until("both cards", || names(&rack) == ["card0", "card1"]);
    let cards = &rack.json(&patient(&["ls"]))["cards"];
    let asks = serde_json::Value::from(vec!["key", "signature"]);
    assert_eq!((&cards[0]["asks"], &cards[1]["asks"]), (&asks, &asks));
    let load = |image: &str| rack.run(&[&patient(&["load", image, "--json"])[..], &["--key", &key("host")]].concat());
    refused(&load("ptrans"), "refused the image: signed by nobody");
    if std::env::var_os("RACKLOOM_SIGNED").is_some_and(|which| which == "all") {
        let image = files.path("lab5.rli");
        let args = ["load", &image, "--json", "--timeout", "300s", "--key", &key("host")];
        let done = rack.run(&args);
        println!("{}", done.stdout);
        assert_eq!(done.code, 0, "{done:?}");
        let cards = &parse(&done.stdout)["cards"];
        assert_eq!((&cards[0]["ok"], &cards[1]["ok"]), (&true.into(), &true.into()), "{cards}");
        assert!(cards[1]["seconds"].as_f64() > Some(10.0), "what is waited for: {cards}");
    }
    // Now `guest` counts on neither.
    std::fs::write(&signers, std::fs::read_to_string(&signers).unwrap().replace("card1", "card7")).unwrap();
    drop(rack);
    let rack = Rack::up(&[&args[..], &["--keys", &key("cards")]].concat());
    wait_until("both cards", || names(&rack) == ["card0", "card1"]);
    let guest = files.path("guest1.rli");
    let done = rack.run(&[&patient(&["load", &guest, "--json"])[..], &["--key", &key("host")]].concat());
    refused(&done, "signed by guest, who may not sign for it");
}
