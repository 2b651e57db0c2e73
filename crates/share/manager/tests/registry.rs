//! Managers at a registry, with the programs that are shipped: boards become devices, tokens open them, either side may
//! be killed, and cards are reconfigured only when the registry agrees.

mod common;
#[path = "common/go.rs"]
mod go;
#[path = "common/lab.rs"]
mod lab;
#[path = "common/site.rs"]
mod site;

use std::time::{Duration, Instant};

use common::Tenant;
use go::go;
use lab::Lab;
use rackloom_ipc::Endpoint;
use rackloom_manager::installed;
use rackloom_opencl_wire::{Answer, Argument, Command, Form, Id, Limits, Payload, VERSION};
use rustix::process::Signal;
use serde_json::Value;
use site::{Process, Site, until};

/// Well below a third of the lease, when a heartbeat would bring it.
const AT_ONCE: Duration = Duration::from_secs(4);

const FAILURE: i32 = -11;

/// PoCL's.
fn library() -> String {
    let library = installed().into_iter().find(|l| l.to_string_lossy().contains("pocl"));
    library.expect("PoCL is installed (apt-get install pocl-opencl-icd)").to_str().unwrap().to_owned()
}

/// A manager of PoCL's device.
fn pocl(site: &Site, more: &[&str]) -> Process {
    site.manager("n", &[&["--runtime", &library()], more].concat())
}

/// A manager of model cards.
struct Cards {
    lab: Lab,
    manager: Process,
}

impl Cards {
    fn start(site: &Site, count: u16) -> Self {
        let lab = Lab::under(&site.path("run"), count, 4 << 20);
        let manager = site.manager("n", &["--cards", "virtual"]);
        until("the cards are registered", || site.are_online(count.into()));
        Self { lab, manager }
    }
}

fn card(number: u16) -> String {
    format!("n/rackloom-card-{number}")
}

/// What the registry takes for configured.
fn accelerator(site: &Site, device: &str) -> String {
    site.device(device)["spec"]["accelerator"].as_str().unwrap().to_owned()
}

/// A client that has greeted: how many boards there are for it, and its quotas; none if it is not even admitted.
fn greet(site: &Site, token: [u8; 32]) -> Option<(Tenant, u16, Limits)> {
    let tenant = Tenant::try_greeting(&Endpoint::Unix(site.socket("n")), token)?;
    match tenant.ask(|request| Command::Hello { request, version: VERSION, name: "test" }) {
        Ok(Answer::Welcome { boards, limits, .. }) => Some((tenant, boards, limits)),
        other => panic!("{other:?}"),
    }
}

/// A client that has the only board that is there for it; it is waited for.
fn open(site: &Site, token: [u8; 32]) -> Tenant {
    let mut found = None;
    until("the token opens a board", || {
        found = greet(site, token);
        found.is_some()
    });
    let (tenant, boards, _) = found.unwrap();
    assert_eq!(boards, 1, "an instance has one board");
    assert_eq!(tenant.ask(|request| Command::Open { request, board: 0 }), Ok(Answer::Open));
    tenant
}

fn name_of(tenant: &Tenant) -> String {
    match tenant.ask(|request| Command::Board { request, board: 0 }) {
        Ok(Answer::Board(info)) => info.name,
        other => panic!("{other:?}"),
    }
}

fn image(role: &str) -> Vec<u8> {
    rackloom_builtin_roles::image(role).unwrap().to_vec()
}

/// The same role of the same version, in another file.
fn other_image(role: &str) -> Vec<u8> {
    let parsed = rackloom_image::Image::parse(image(role).into()).unwrap();
    let mut manifest = parsed.manifest().clone();
    manifest.description += " Once more.";
    let builder = rackloom_image::ImageBuilder::new(manifest).part("model", parsed.part("model").unwrap().to_vec());
    builder.build().unwrap()
}

/// NAME@VERSION.
fn accelerator_of(role: &str) -> String {
    let parsed = rackloom_image::Image::parse(image(role).into()).unwrap();
    format!("{}@{}", parsed.manifest().name, parsed.manifest().version)
}

/// Adds by a kernel of `vadd` or `ptrans`, which was built as that program; the status.
fn add(t: &Tenant, program: Id, role: &str) -> i32 {
    let kernel = program;
    t.send(&Command::CreateKernel { kernel, program, name: role }, &[]);
    let buffers = [10, 11, 12];
    buffers.iter().for_each(|buffer| t.buffer(*buffer, 64));
    buffers[..2].iter().for_each(|buffer| {
        t.write(*buffer, 0, &2.5f32.to_le_bytes());
    });
    let (one, mut arguments) = (1u64.to_le_bytes(), Vec::new());
    arguments.extend((0..).zip(buffers).map(|(index, buffer)| (index, Argument::Buffer(Some(buffer)))));
    arguments.extend((3..if role == "vadd" { 4 } else { 5 }).map(|index| (index, Argument::Value(&one[..]))));
    let status = t.run(Tenant::launch(kernel, 1, arguments), &[]).status;
    if status == 0 {
        assert_eq!(t.read(buffers[2], 0, 4).tail, 5f32.to_le_bytes());
    }
    t.send(&Command::ReleaseKernel { kernel }, &[]);
    buffers.iter().for_each(|buffer| t.send(&Command::ReleaseBuffer { buffer: *buffer }, &[]));
    status
}

#[test]
fn boards_are_devices_and_tokens_open_them() {
    devices_and_tokens(&[]);
}

#[test]
fn so_it_is_where_all_clients_have_one_process() {
    devices_and_tokens(&["--isolate", "none"]);
}

fn devices_and_tokens(options: &[&str]) {
    let site = Site::new(&["-metrics-interval", "100ms", "-metrics-window", "1s"]);
    let manager = pocl(&site, &[&["--metrics", "127.0.0.1:0", "--memory", "1000000000"], options].concat());
    until("registered", || site.are_online(1));
    let device = &site.devices()[0];
    let spec = &device["spec"];
    assert!(spec["id"].as_str().unwrap().starts_with("n/"), "{device:#}");
    assert_eq!(spec["platform"], "Portable Computing Language");
    assert_eq!(spec["endpoints"][0], format!("unix:{}", site.socket("n").display()));
    assert!(spec["metricsUrl"].as_str().unwrap().starts_with("http://127.0.0.1:"), "{device:#}");
    assert!(spec["memoryBytes"].as_str().unwrap().parse::<u64>().unwrap() > 1 << 20);
    assert_eq!(spec["reconfiguration"], "RECONFIGURATION_POLICY_FIXED");
    let capabilities: Vec<_> = spec["capabilities"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert!(capabilities.contains(&"cpu") && capabilities.contains(&"compiler"), "{device:#}");

    assert!(greet(&site, [7; 32]).is_none(), "nobody is allocated");
    site.say(&["function", "any", "--weight", "3"]);
    site.say(&["function", "small", "--memory", "1000000", "--capability", "cpu"]);
    let (first, second) = (site.allocate("any", "a-1"), site.allocate("small", "s-1"));
    let [a, s] = [first, second].map(|token| open(&site, token));
    assert_eq!(spec["metricsBoard"], *name_of(&a));
    until("the registry measures the board", || site.devices()[0]["metrics"]["tenants"] == 2.0);
    assert!(greet(&site, [7; 32]).is_none());
    assert_eq!(greet(&site, first).unwrap().2.memory, 1_000_000_000);
    assert_eq!(greet(&site, second).unwrap().2.memory, 1_000_000);
    // The quota is the instance's: two programs of it have it together.
    let more = open(&site, second);
    s.buffer(0, 600_000);
    assert_eq!(s.write(0, 0, &[1]).status, 0);
    more.buffer(0, 600_000);
    assert_ne!(more.write(0, 0, &[1]).status, 0);
    more.buffer(1, 300_000);
    assert_eq!(more.write(1, 0, &[1]).status, 0);

    site.say(&["free", "s-1"]);
    let took = until("the sessions end", || [&s, &more].iter().all(|t| t.inbox.lock().unwrap().closed.is_some()));
    assert!(took < AT_ONCE, "{took:?}");
    assert_eq!(s.ended().as_deref(), Some("the registry has taken the board back"));
    assert!(greet(&site, second).is_none());
    a.buffer(0, 64);
    assert_eq!(a.write(0, 0, &[1]).status, 0, "the neighbour stays");
    assert!(manager.words().contains("is registered at unix:"), "{}", manager.words());
}

#[test]
fn a_killed_registry_is_waited_for() {
    let mut site = Site::new(&[]);
    let manager = pocl(&site, &[]);
    until("registered", || site.are_online(1));
    site.say(&["function", "any"]);
    let token = site.allocate("any", "a-1");
    let before = open(&site, token);
    site.kill_registry();
    until("the manager notices", || manager.words().contains("fails, tried again"));
    before.buffer(0, 64);
    assert_eq!(before.write(0, 0, &[1]).status, 0, "programs go on");
    drop(open(&site, token)); // The last list stays in force.
    site.start_registry();
    let took = until("the manager is back", || manager.words().contains("answers again"));
    assert!(took < AT_ONCE, "{took:?}");
    assert!(site.are_online(1) && site.board_of("a-1").starts_with("n/"));
    assert_eq!(before.write(0, 0, &[1]).status, 0);
    site.say(&["free", "a-1"]);
    assert!(until("the list is followed again", || before.inbox.lock().unwrap().closed.is_some()) < AT_ONCE);
    // It was one word for each.
    let count = |word: &str| manager.words().matches(word).count();
    let counted = || (count("fails"), count("answers again"), count("is registered"));
    assert_eq!(counted(), (1, 1, 1), "{}", manager.words());
    // A lease that is none any more is replaced.
    let id = site.devices()[0]["spec"]["id"].as_str().unwrap().to_owned();
    site.say(&["forget", &id]);
    let took = until("it is registered again", || counted() == (1, 1, 2));
    assert!(took < AT_ONCE && site.are_online(1), "{took:?}");
    drop(open(&site, site.allocate("any", "a-2")));
}

#[test]
fn a_killed_manager_is_back_at_once() {
    let site = Site::new(&[]);
    let mut manager = pocl(&site, &[]);
    until("registered", || site.are_online(1));
    site.say(&["function", "any"]);
    let token = site.allocate("any", "a-1");
    let before = open(&site, token);
    manager.kill();
    before.ended();
    let next = pocl(&site, &[]);
    let took = until("registered", || next.words().contains("is registered"));
    assert!(took < AT_ONCE, "not only when the lease of the one before is over: {took:?}");
    drop(open(&site, token));
    assert!(site.are_online(1));

    // Another manager that calls itself by the same node does not take the board away.
    let listen = format!("unix:{}", site.path("other.sock").display());
    let node = ["--listen", &listen, "--registry", &site.registry(), "--node", "n"];
    let other = site.launch(&[&["--runtime", &library()], &node[..]].concat());
    until("it is refused", || other.words().contains("another manager has it"));
    assert!(!other.words().contains("is registered"), "{}", other.words());
    drop(open(&site, token));
    assert_eq!(next.words().matches("is registered").count(), 1, "{}", next.words());
}

#[test]
fn a_card_is_configured_as_the_registry_agrees() {
    let site = Site::new(&["-move-grace", "1500ms", "-filters", "utilisation < 2"]);
    let mut cards = Cards::start(&site, 2);
    let (vadd, ptrans) = (accelerator_of("vadd"), accelerator_of("ptrans"));
    for (function, accelerator) in [("adds", &vadd), ("transposes", &ptrans)] {
        site.say(&["function", function, "--accelerator", accelerator]);
    }
    // Each function has a card; what the other needs is refused there.
    site.say(&["drain", &card(1)]);
    let first = site.allocate("adds", "a-1");
    site.say(&["undrain", &card(1)]);
    site.say(&["drain", &card(0)]);
    let second = site.allocate("adds", "a-2");
    site.say(&["undrain", &card(0)]);
    assert_eq!((site.board_of("a-1"), site.board_of("a-2")), (card(0), card(1)));
    let [a1, a2] = [first, second].map(|token| open(&site, token));
    assert_eq!((name_of(&a1), name_of(&a2)), ("Rackloom card 0".into(), "Rackloom card 1".into()));
    assert_eq!(accelerator(&site, &card(0)), "");
    for t in [&a1, &a2] {
        assert_eq!(t.build_image(0, &image("vadd")), (0, String::new()));
        assert_eq!(add(t, 0, "vadd"), 0);
    }
    until("the loads are reported", || (0..2).all(|n| accelerator(&site, &card(n)) == vadd));
    assert!(site.devices().iter().all(|device| device["reconfiguration"].is_null()), "{:#?}", site.devices());
    let (code, log) = a1.build_image(1, &image("ptrans"));
    assert_eq!(code, FAILURE);
    assert!(log.contains("the registry refuses: function adds is registered for accelerator vadd@"), "{log}");

    // A third one needs a card of its own: who has it can go to the other card, and is waited for.
    let third = site.allocate("transposes", "t-1");
    assert_eq!(site.board_of("t-1"), card(0));
    let t1 = open(&site, third);
    assert_eq!(add(&a1, 0, "vadd"), 0, "until then the old one works");
    assert_eq!(t1.build_image(0, &image("ptrans")), (0, String::new()));
    assert_eq!(a1.ended().as_deref(), Some("the registry has taken the board back"));
    assert_eq!(site.board_of("a-1"), card(1));
    assert_eq!(add(&t1, 0, "ptrans"), 0);
    until("the load is reported", || accelerator(&site, &card(0)) == ptrans);
    assert!(site.device(&card(0))["reconfiguration"].is_null());
    let again = open(&site, first);
    assert_eq!(name_of(&again), "Rackloom card 1");
    assert_eq!(again.build_image(0, &image("vadd")), (0, String::new()));
    assert_eq!(add(&again, 0, "vadd"), 0);

    // Who has said nothing of an accelerator takes what there is, and is not robbed of it.
    site.say(&["function", "plain"]);
    let fourth = site.allocate("plain", "p-1");
    assert_eq!(site.board_of("p-1"), card(0));
    let p1 = open(&site, fourth);
    let (code, log) = p1.build_image(0, &image("vadd"));
    assert_eq!(code, FAILURE);
    assert!(log.contains("the registry refuses: function plain is registered for no accelerator"), "{log}");
    assert_eq!(p1.build_image(1, &image("ptrans")), (0, String::new()));
    drop(t1);
    site.say(&["free", "t-1"]);
    site.say(&["drain", &card(1)]);
    let fifth = open(&site, site.allocate("adds", "a-3"));
    site.say(&["undrain", &card(1)]);
    assert_eq!(name_of(&fifth), "Rackloom card 0");
    let (code, log) = fifth.build_image(0, &image("vadd"));
    assert_eq!(code, FAILURE);
    assert!(log.contains("is used with the image ptrans") && log.contains("1 other program has"), "{log}");
    until("the grant is given back", || site.device(&card(0))["reconfiguration"].is_null());
    assert_eq!(add(&p1, 1, "ptrans"), 0);
    p1.send(&Command::ReleaseProgram { program: 1 }, &[]);
    assert!(p1.is_served());
    assert_eq!(fifth.build_image(1, &image("vadd")), (0, String::new()));
    assert_eq!(add(&fifth, 1, "vadd"), 0);
    until("the load is reported", || accelerator(&site, &card(0)) == vadd);

    // A card that comes back is empty, and that is known at once.
    cards.lab.yank(0);
    let took = until("the loss is reported", || accelerator(&site, &card(0)).is_empty());
    assert!(took < AT_ONCE, "{took:?}");
    cards.lab.add();
    until("it is configured again", || add(&fifth, 1, "vadd") == 0);
    until("that is reported", || accelerator(&site, &card(0)) == vadd);
    assert!(!cards.manager.words().contains("panicked"), "{}", cards.manager.words());
    cards.manager.kill();
}

#[test]
fn an_instance_alone_may_change_its_mind() {
    let mut site = Site::new(&["-lease", "2s"]);
    let mut cards = Cards::start(&site, 1);
    let (vadd, ptrans) = (accelerator_of("vadd"), accelerator_of("ptrans"));
    site.say(&["function", "alone", "--exclusive"]);
    let token = site.allocate("alone", "x-1");
    let t = open(&site, token);
    let flag = || site.device(&card(0))["reconfiguration"]["accelerator"].as_str().unwrap_or_default().to_owned();
    assert_eq!(t.build_image(0, &image("vadd")).0, 0);
    assert_eq!(flag(), vadd, "granted, and not yet used");
    assert_eq!(t.build_image(1, &image("ptrans")), (0, String::new()), "what was granted before is given back");
    assert_eq!(flag(), ptrans);
    for (program, role, accelerator) in [(0, "vadd", &vadd), (1, "ptrans", &ptrans), (0, "vadd", &vadd)] {
        assert_eq!(add(&t, program, role), 0);
        until("it is reported", || self::accelerator(&site, &card(0)) == *accelerator);
    }
    // Another file of the same name and version is loaded, whatever the registry takes it for.
    assert_eq!(t.build_image(2, &other_image("vadd")), (0, String::new()));
    assert_eq!(add(&t, 2, "vadd"), 0);
    until("nothing is pending", || flag().is_empty());
    // A program that goes without a launch gives its grant back.
    let ask = || t.build_image(3, &image("ptrans"));
    assert_eq!(ask(), (0, String::new()));
    t.send(&Command::ReleaseProgram { program: 1 }, &[]);
    t.send(&Command::ReleaseProgram { program: 3 }, &[]);
    until("it is given back", || flag().is_empty());

    site.kill_registry();
    let (code, log) = t.build_image(4, &image("ptrans"));
    assert_eq!(code, FAILURE);
    assert!(log.contains("the registry cannot be asked: ") && log.contains("os error"), "{log}");
    assert_eq!(add(&t, 0, "vadd"), -45, "nor for a launch that needs another image: {log}");
    assert!(t.is_served());
    site.start_registry();
    // Without its card the board is none, until it is there again.
    cards.lab.yank(0);
    until("it counts as lost", || site.device(&card(0))["state"] == "DEVICE_STATE_LOST");
    assert_eq!(accelerator(&site, &card(0)), "");
    cards.lab.add();
    until("it is back", || site.are_online(1));
    until("it is asked again", || {
        t.build_image(5, &image("ptrans")).0 == 0 || {
            t.send(&Command::ReleaseProgram { program: 5 }, &[]);
            false
        }
    });
}

#[test]
fn a_registry_that_hangs_holds_up_nobody_but_who_asks() {
    let site = Site::new(&[]);
    let _cards = Cards::start(&site, 1);
    site.say(&["function", "adds", "--accelerator", &accelerator_of("vadd")]);
    let [asker, neighbour] = ["a-1", "a-2"].map(|instance| open(&site, site.allocate("adds", instance)));
    assert_eq!(neighbour.build_image(0, &image("vadd")), (0, String::new()));
    assert_eq!(add(&neighbour, 0, "vadd"), 0);
    site.signal_registry(Signal::STOP);
    let began = Instant::now();
    let asking = std::thread::spawn(move || asker.build_image(0, &image("ptrans")));
    let mut slowest = Duration::ZERO;
    while !asking.is_finished() {
        let began = Instant::now();
        assert_eq!(add(&neighbour, 0, "vadd"), 0);
        slowest = slowest.max(began.elapsed());
        // What is configured needs nobody's consent.
        assert_eq!(neighbour.build_image(1, &image("vadd")), (0, String::new()));
        neighbour.send(&Command::ReleaseProgram { program: 1 }, &[]);
    }
    let (took, (code, log)) = (began.elapsed(), asking.join().unwrap());
    assert_eq!(code, FAILURE);
    assert!(log.contains("the registry cannot be asked: the registry gave no answer in 5 s"), "{log}");
    assert!(took < Duration::from_secs(8) && slowest < Duration::from_secs(2), "{took:?}, {slowest:?}");
    site.signal_registry(Signal::CONT);
    until("it answers again", || site.are_online(1));
}

#[test]
fn tls_and_tokens_are_shown() {
    let free = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let mut site = Site::unstarted();
    let generator = String::from_utf8(go().args(["env", "GOROOT"]).output().unwrap().stdout).unwrap();
    let generator = format!("{}/src/crypto/tls/generate_cert.go", generator.trim());
    let made = go().args(["build", "-o"]).arg(site.path("generate")).arg(generator).status().unwrap();
    assert!(made.success());
    let mut generate = std::process::Command::new(site.path("generate"));
    let made = generate.args(["--host", "127.0.0.1"]).current_dir(site.folder.path()).output().unwrap();
    assert!(made.status.success());
    let path = |name: &str| site.path(name).to_str().unwrap().to_owned();
    std::fs::write(path("tokens"), "manager the-managers-secret-token good\nadmin the-administrators-token\n").unwrap();
    std::fs::write(path("right"), "the-managers-secret-token\n").unwrap();
    std::fs::write(path("wrong"), "another-token-of-nobody-at-all\n").unwrap();
    std::fs::write(path("admin"), "the-administrators-token").unwrap();
    let (cert, key, tokens) = (path("cert.pem"), path("key.pem"), path("tokens"));
    let (right, wrong, admin) = (path("right"), path("wrong"), path("admin"));
    let address = free.to_string();
    site.start_at(
        &address,
        &["-tls-cert", &cert, "-tls-key", &key, "-tokens", &tokens],
        &["--tls-ca", &cert, "--token-file", &admin],
    );
    let url = format!("https://{address}");
    let start = |node: &str, token: &str, ca: &str| {
        let options = ["--runtime", &library(), "--registry-token-file", token, "--registry-ca", ca];
        site.manager_at(&url, node, &options)
    };
    let good = start("good", &right, &cert);
    let bad = start("bad", &wrong, &cert);
    let stolen = start("other", &right, &cert);
    until("registered", || site.are_online(1));
    until("refused", || bad.words().contains("the token is not known"));
    until("refused on another node", || stolen.words().contains("the credential does not speak for board \"other/"));
    assert!(!stolen.words().contains("is registered") && site.are_online(1), "{}", stolen.words());
    assert!(!bad.words().contains("is registered") && !bad.words().contains("another-token"), "{}", bad.words());
    assert!(good.words().contains(&format!("is registered at {url}")), "{}", good.words());
}

#[test]
fn a_card_that_is_plugged_in_later_is_a_device() {
    let site = Site::new(&[]);
    let mut cards = Cards::start(&site, 1);
    site.say(&["function", "plain"]);
    let first = open(&site, site.allocate("plain", "p-1"));
    cards.lab.add();
    let took = until("the new one is registered", || site.are_online(2));
    assert!(took < AT_ONCE, "{took:?}");
    site.say(&["drain", &card(0)]);
    let second = open(&site, site.allocate("plain", "p-2"));
    assert_eq!((name_of(&first), name_of(&second)), ("Rackloom card 0".into(), "Rackloom card 1".into()));
    second.buffer(0, 64);
    assert_eq!(second.write(0, 0, &[1]).status, 0);
    cards.manager.kill();
}

#[test]
fn who_waits_for_others_to_leave_and_goes_waits_no_longer() {
    let site = Site::new(&["-move-grace", "60s", "-filters", "utilisation < 2"]);
    let cards = Cards::start(&site, 2);
    let (vadd, ptrans) = (accelerator_of("vadd"), accelerator_of("ptrans"));
    for (function, accelerator) in [("adds", &vadd), ("transposes", &ptrans)] {
        site.say(&["function", function, "--accelerator", accelerator]);
    }
    let settled = ["a-1", "a-2"].map(|instance| {
        let t = open(&site, site.allocate("adds", instance));
        assert_eq!(t.build_image(0, &image("vadd")), (0, String::new()));
        assert_eq!(add(&t, 0, "vadd"), 0);
        until("the load is reported", || accelerator(&site, &site.board_of(instance)) == vadd);
        // The next one has the other card.
        site.say(&["drain", &site.board_of(instance)]);
        t
    });
    (0..2).for_each(|number| drop(site.say(&["undrain", &card(number)])));
    let asker = open(&site, site.allocate("transposes", "t-1"));
    // Each session that builds has a thread for that.
    let builders = || cards.manager.threads("builder");
    let file = image("ptrans");
    let bulk = asker.bulk(file.len() as u64);
    let bytes = Payload::Bulk(bulk.put(0, &file).unwrap().into());
    asker.send(&Command::CreateProgram { program: 0, form: Form::Binary, bytes }, &[]);
    asker.send(&Command::Build { request: u32::MAX, program: 0, options: "" }, &[]);
    until("the board is to be reconfigured", || {
        site.devices().iter().any(|device| device["reconfiguration"]["accelerator"] == *ptrans)
    });
    assert!(asker.is_served());
    assert_eq!(builders(), 3, "others have a minute to leave");
    drop((bulk, asker));
    let took = until("nobody waits any more", || builders() == 2);
    assert!(took < AT_ONCE, "{took:?}");
    site.say(&["free", "t-1"]);
    until("the board stays what it is", || site.devices().iter().all(|device| device["reconfiguration"].is_null()));
    settled.iter().for_each(|t| assert_eq!(add(t, 0, "vadd"), 0));
}
