//! The port within TLS: who gets in, who is believed, and what is left of those who do not behave.

use std::io::Write as _;
use std::os::unix::fs::FileExt as _;
use std::sync::Mutex;
use std::time::{Duration, Instant};

use rackloom_ipc::{Endpoint, TlsAddress, Token};

use crate::common::Tenant;
use crate::isolating::{counts_to, with_kernels};
use crate::seats::{OTHER, tokens};
use crate::secured::{Authority, Believing, Impostor, LATER, Secured, address, connects};
use crate::site::until;

/// How long a client may take to say that something is wrong.
const PATIENT: Duration = Duration::from_secs(5);

fn named(endpoint: &Endpoint, host: &str) -> Endpoint {
    let Endpoint::Tls(address) = endpoint else { unreachable!("it is within TLS") };
    Endpoint::Tls(TlsAddress { host: host.into(), ..address.clone() })
}

fn unpinned(endpoint: &Endpoint) -> Endpoint {
    let Endpoint::Tls(address) = endpoint else { unreachable!("it is within TLS") };
    Endpoint::Tls(TlsAddress { pin: None, ..address.clone() })
}

#[test]
fn only_the_right_server_gets_a_token() {
    let authority = Authority::new();
    let file = tempfile::NamedTempFile::new().unwrap();
    let secured = Secured::certified(&authority.vouch("127.0.0.1", LATER), &["--tokens", &tokens(&file)]);
    let known = || Some(authority.known());
    assert_eq!(connects(&secured.tls, OTHER, known()), Ok(()));
    let refused = |endpoint: &Endpoint, authorities, expected: &str| {
        let start = Instant::now();
        let why = connects(endpoint, OTHER, authorities).unwrap_err();
        assert!(why.contains(expected), "{why}");
        assert!(start.elapsed() < PATIENT, "{:?}", start.elapsed());
    };
    refused(&secured.tls, None, "how to know the server");
    refused(&secured.tls, Some(Authority::new().known()), "UnknownIssuer");
    refused(&named(&secured.tls, "localhost"), known(), "not valid for name");
    // A pin and authorities: both count.
    let pin = format!("#sha256:{}", "0".repeat(64));
    refused(&format!("{}{pin}", secured.tls).parse().unwrap(), known(), "not the one that was expected");
    // A token that the manager does not know is another matter: it was sent.
    assert!(connects(&secured.tls, [1; 32], known()).unwrap_err().contains("token"));
    // A plain port does not answer as TLS does, nor the other way round.
    let Endpoint::Tcp(plain) = secured.manager.tcp else { unreachable!("it listens so") };
    refused(&format!("tls:{plain}").parse().unwrap(), known(), "does not speak TLS");
    refused(&format!("tcp:{}", address(&secured.tls)).parse().unwrap(), None, "");
    // A certificate that has expired, taken up as files that change are.
    authority.vouch("127.0.0.1", 2020).write(&secured.files());
    refused(&secured.tls, known(), "expired");
    // One that cannot be used is not, and the manager says so.
    std::fs::write(&secured.files()[0], "no certificate").unwrap();
    refused(&secured.tls, known(), "expired");
    until("the manager warns", || secured.manager.process.words().contains("the old one stays in force"));
    authority.vouch("127.0.0.1", LATER).write(&secured.files());
    assert_eq!(connects(&secured.tls, OTHER, known()), Ok(()));
}

#[test]
fn a_man_in_the_middle_gets_nothing() {
    let secured = Secured::start(1024, &[]);
    assert_eq!(connects(&secured.tls, OTHER, None), Ok(()));
    let impostor = Impostor::listen(0);
    let why = connects(&impostor.instead_of(&secured.tls), OTHER, None).unwrap_err();
    assert!(why.contains("not the one that was expected"), "{why}");
    let why = connects(&impostor.instead_of(&unpinned(&secured.tls)), OTHER, Some(Authority::new().known()));
    assert!(why.unwrap_err().contains("UnknownIssuer"));
    assert_eq!(impostor.tokens(), 0, "a token has left its client");
    // It does count them.
    drop(Believing::pair(impostor.server.endpoint(), OTHER));
    assert_eq!(impostor.tokens(), 1);
}

#[test]
fn older_tls_is_refused() {
    let secured = Secured::start(1024, &[]);
    assert!(Believing::connect(&secured.tls, &rustls::version::TLS13).is_ok());
    let why = Believing::connect(&secured.tls, &rustls::version::TLS12).err().expect("it is refused").to_string();
    assert!(why.contains("ProtocolVersion"), "{why}");
}

/// What a manager has for clients of its own.
fn census(secured: &Secured) -> [usize; 3] {
    let process = &secured.manager.process;
    [process.files(), process.threads_in_all(), process.threads("ipc-tls")]
}

/// The same, once nothing changes any more.
fn quiet(secured: &Secured) -> [usize; 3] {
    let mut before = census(secured);
    until("nothing changes", || {
        std::thread::sleep(Duration::from_millis(300));
        let was = std::mem::replace(&mut before, census(secured));
        was == before
    });
    before
}

/// Moves bytes to and fro until the connection ends.
fn moves(client: &Tenant, until: &Mutex<bool>) -> u32 {
    client.buffer(9, 4 << 20);
    let bytes = vec![7; 4 << 20];
    for round in 0.. {
        let from = client.client.bulk(bytes.len() as u64);
        let Ok(from) = from.and_then(|bulk| bulk.put(0, &bytes).map(|place| (bulk, place))) else { return round };
        let op = rackloom_opencl_wire::Op::Write {
            buffer: 9,
            offset: 0,
            from: rackloom_opencl_wire::Payload::Bulk(from.1.into()),
        };
        let mut encoded = Vec::new();
        let event = client.number().into();
        let command = rackloom_opencl_wire::Command::Enqueue { event, waits: vec![], submit: true, op };
        rackloom_opencl_wire::encode_command(&command, &[], &mut encoded);
        let sent = client.client.send(rackloom_opencl_wire::COMMAND, &encoded);
        if sent.is_err() || *until.lock().unwrap() {
            return round;
        }
        client.settles(event);
    }
    unreachable!("it ends")
}

#[test]
fn nothing_is_left_of_those_who_end_in_the_middle() {
    let secured = Secured::start(1024, &[]);
    drop(Tenant::connect(&secured.tls));
    let before = quiet(&secured);
    assert_eq!(before[2], 0, "relays of nobody");
    for round in 0..4 {
        let client = Tenant::connect(&secured.tls);
        with_kernels(&client);
        counts_to(&client, 1);
        assert_eq!(secured.manager.process.threads("ipc-tls"), 2, "one for messages, one for bulk");
        let is_over = Mutex::new(false);
        std::thread::scope(|scope| {
            let (stop, manager) = (&is_over, &secured.manager);
            let ends = scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(100 + 50 * round));
                if round % 2 == 0 {
                    // Its process is killed: the one that is busy.
                    let workers = manager.workers();
                    for pid in workers {
                        let pid = rustix::process::Pid::from_raw(pid as i32).unwrap();
                        let _ = rustix::process::kill_process(pid, rustix::process::Signal::KILL);
                    }
                } else {
                    *stop.lock().unwrap() = true;
                }
            });
            moves(&client, &is_over);
            ends.join().unwrap();
        });
        if round % 2 == 0 {
            client.ended();
        }
        drop(client);
        let start = Instant::now();
        until("nothing is left", || census(&secured).iter().zip(before).all(|(now, before)| *now <= before));
        assert!(start.elapsed() < PATIENT, "{:?}", start.elapsed());
    }
}

#[test]
fn who_does_not_read_keeps_nobody_and_nothing() {
    let secured = Secured::start(1024, &[]);
    let honest = Tenant::connect(&secured.tls);
    with_kernels(&honest);
    counts_to(&honest, 1);
    let before = quiet(&secured);
    let resident = secured.manager.process.resident();
    let flooding: Vec<_> = (0..8).map(|_| Believing::pair(&secured.tls, Token::default())).collect();
    // Echoes of the clock, which it never reads.
    let mut question = Vec::new();
    rackloom_opencl_wire::encode_command(&rackloom_opencl_wire::Command::Clock { request: 1 }, &[], &mut question);
    let mut message = (question.len() as u32).to_le_bytes().to_vec();
    message.extend(rackloom_opencl_wire::COMMAND.to_le_bytes());
    message.extend(&question);
    let messages = message.repeat(1000);
    let flooders: Vec<_> = flooding
        .into_iter()
        .map(|[mut main, bulk]| {
            let messages = messages.clone();
            main.0.sock.set_write_timeout(Some(Duration::from_secs(3))).unwrap();
            std::thread::spawn(move || {
                (0..20_000).take_while(|_| main.0.write_all(&messages).is_ok()).count();
                (main, bulk)
            })
        })
        .collect();
    for number in 2..20 {
        let start = Instant::now();
        counts_to(&honest, number);
        assert!(start.elapsed() < Duration::from_secs(2), "{:?}", start.elapsed());
    }
    let grown = secured.manager.process.resident().saturating_sub(resident);
    assert!(grown < 96 << 20, "it has grown by {grown} bytes");
    // They stay, and read nothing of what the manager says before it closes them.
    let held: Vec<_> = flooders.into_iter().map(|flooder| flooder.join().unwrap()).collect();
    until("those whom the manager has closed keep no relay", || secured.manager.process.threads("ipc-tls") == 2);
    drop(held);
    until("nothing is left", || census(&secured).iter().zip(before).all(|(now, before)| *now <= before));
    counts_to(&honest, 20);
}

/// Whether a process has these bytes anywhere in memory that it may write; `None` if that cannot be looked into.
fn holds(pid: u32, wanted: &[u8]) -> Option<bool> {
    let maps = std::fs::read_to_string(format!("/proc/{pid}/maps")).ok()?;
    let memory = std::fs::File::open(format!("/proc/{pid}/mem")).ok()?;
    let mut looked = false;
    for line in maps.lines().filter(|line| line.split(' ').nth(1).is_some_and(|rights| rights.starts_with("rw"))) {
        let (from, to) = line.split(' ').next()?.split_once('-')?;
        let [from, to] = [from, to].map(|at| u64::from_str_radix(at, 16).expect("an address"));
        let mut bytes = vec![0; 1 << 20];
        let mut at = from;
        while at < to {
            let len = bytes.len().min((to - at) as usize);
            let Ok(got @ 1..) = memory.read_at(&mut bytes[..len], at) else { break };
            looked = true;
            if bytes[..got].windows(wanted.len()).any(|part| part == wanted) {
                return Some(true);
            }
            // A part of them may end what was read.
            at += if got as u64 == to - at { got } else { (got - got.min(wanted.len())).max(1) } as u64;
        }
    }
    looked.then_some(false)
}

#[test]
fn no_worker_has_the_managers_key() {
    let (certificate, seed) = Authority::new().vouch_for_a_seed();
    let secured = Secured::certified(&certificate, &[]);
    let client = Tenant::connect(&secured.pinned());
    with_kernels(&client);
    counts_to(&client, 1);
    // Ed25519 signs with the second half of this digest as it is (RFC 8032, section 5.1.6), so whoever has the key
    // ready has these bytes somewhere.
    let digest = ring::digest::digest(&ring::digest::SHA512, &seed);
    let secret = &digest.as_ref()[32..];
    let manager = secured.manager.process.id();
    match holds(manager, secret) {
        Some(is_there) => assert!(is_there, "what is looked for is not where it has to be"),
        None => return eprintln!("not tried: this user may not look into its own processes"),
    }
    let family: Vec<u32> = secured.manager.family().into_iter().filter(|pid| *pid != manager).collect();
    assert!(family.len() >= 2, "a keeper and a worker at least");
    let mut looked = 0;
    for pid in family {
        match holds(pid, secret) {
            Some(is_there) => {
                assert!(!is_there, "process {pid} has the key");
                looked += 1;
            }
            None => eprintln!("not looked into: process {pid}"),
        }
    }
    if looked == 0 {
        eprintln!("not tried: this user may look into none of the workers");
    }
    counts_to(&client, 2);
}
