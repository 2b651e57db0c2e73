//! A client or server that is killed or stopped, and what connections leave behind.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rackloom_ipc::{Batch, BulkRef, ChannelError, Client, ClientConfig, Closed, Endpoint, Limits, Peer, ServerConfig};

use crate::common::{self, ALL, COPY, Inbox, Place, Transport, deadline, serve};
use crate::forks;
use crate::role::{Role, SOON, assert_back, call, held, say};

/// The role of a client: `busy` calls and moves bulk for ever; `idle` only connects; `fork` and `orphan` fork.
pub(super) fn client(endpoint: &str, what: &str) {
    let endpoint: Endpoint = endpoint.parse().unwrap();
    let into = common::Into::default();
    let inbox = Arc::clone(&into.0);
    let client = Client::connect(&endpoint, &ClientConfig::default(), Box::new(into)).unwrap();
    match what {
        "busy" => busy(&client, &inbox),
        "idle" => {
            say("here");
            inbox.wait_passively(|_, closed| closed);
        }
        "fork" => forks::fork(&client, &inbox),
        "orphan" => forks::orphan(&client),
        _ => panic!("{what}"),
    }
}

fn busy(client: &Client, inbox: &Inbox) {
    say("here");
    for i in 0u32.. {
        let len = u64::from(i % 7) * 100_000 + 10;
        let (from, to) = (client.bulk(len).unwrap(), client.bulk(len).unwrap());
        let place = to.expect(0, len).unwrap();
        let refs = [from.put(0, &vec![1; len as usize]).unwrap().encode(), place.encode()].concat();
        client.send(COPY, &refs).unwrap();
        client.wait(deadline(), || inbox.pop()).unwrap();
        to.get(&place, 0, &mut vec![0; len as usize]).unwrap();
    }
}

/// The role of a server, for clients one after the other.
pub(super) fn server(transport: &str) {
    let transport = ALL.into_iter().find(|known| format!("{known:?}") == transport).expect("a transport");
    let place = Place::new(transport, ServerConfig::default());
    say(&place.server.endpoint().to_string());
    while let Ok(Some(peer)) = place.server.accept(None) {
        std::thread::spawn(move || serve(&peer));
    }
}

pub(super) fn client_is_killed() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let before = held();
        for round in 0..25u64 {
            let endpoint = place.server.endpoint().to_string();
            let mut role = Role::start("--client", &[&endpoint, "busy"]);
            assert_eq!(role.line(), "here");
            let peer = place.server.accept(deadline()).unwrap().unwrap();
            let (end, killed) = std::thread::scope(|s| {
                let served = s.spawn(|| (serve(&peer), Instant::now()));
                // A random moment is what is wanted here.
                std::thread::sleep(Duration::from_micros(round * 977 % 9000));
                let killed = Instant::now();
                role.child.kill().unwrap();
                (served.join().unwrap(), killed)
            });
            assert_eq!(end.0, Closed::PeerGone, "{transport:?}");
            assert!(end.1 - killed < SOON, "{transport:?}: noticed after {:?}", end.1 - killed);
            drop(peer);
        }
        assert_back(before, &format!("{transport:?}"));
    }
}

pub(super) fn server_is_killed() {
    for transport in ALL {
        let before = held();
        for round in 0..25u64 {
            let mut role = Role::start("--server", &[&format!("{transport:?}")]);
            let endpoint: Endpoint = role.line().parse().unwrap();
            let into = common::Into::default();
            let inbox = Arc::clone(&into.0);
            let client = Client::connect(&endpoint, &ClientConfig::default(), Box::new(into)).unwrap();
            let ended = Mutex::new(None);
            std::thread::scope(|s| {
                // One waits for ever, one calls, one only sends.
                let waits = s.spawn(|| {
                    let end = client.wait(deadline(), || None::<()>);
                    *ended.lock().unwrap() = Some(Instant::now());
                    end
                });
                let sends = s.spawn(|| while client.send(9, &[0; 3000]).is_ok() {});
                std::thread::sleep(Duration::from_micros(round * 1237 % 9000)); // A random moment again.
                let killed = Instant::now();
                role.child.kill().unwrap();
                let end = waits.join().unwrap();
                assert!(matches!(end, Err(ChannelError::Closed(_))), "{transport:?}: {end:?}");
                let after = ended.lock().unwrap().unwrap().saturating_duration_since(killed);
                assert!(after < SOON, "{transport:?}: noticed after {after:?}");
                sends.join().unwrap();
            });
            inbox.wait_passively(|_, closed| closed);
            assert!(client.bulk(100).is_err());
        }
        assert_back(before, &format!("{transport:?}"));
    }
}

pub(super) fn client_is_stopped() {
    for transport in ALL {
        let limits = Limits { stall: Duration::from_millis(300), ..Limits::default() };
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        let mut role = Role::start("--client", &[&place.server.endpoint().to_string(), "idle"]);
        assert_eq!(role.line(), "here");
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        role.signal(rustix::process::Signal::STOP);
        let (other, inbox, other_peer) = place.pair();
        let longest = AtomicU32::new(0);
        std::thread::scope(|s| {
            s.spawn(|| serve(&other_peer));
            s.spawn(|| {
                while peer.closed().is_none() {
                    let start = Instant::now();
                    let _ = peer.send(1, &[0; 10_000]);
                    longest.fetch_max(start.elapsed().as_millis() as u32, Ordering::SeqCst);
                }
            });
            for i in 0..2000 {
                other.send(i, b"x").unwrap();
                assert_eq!(other.wait(deadline(), || inbox.pop()).unwrap().0, i);
            }
            let end = loop {
                if let Some(end) = peer.closed() {
                    break end;
                }
                std::thread::yield_now();
            };
            assert_eq!(end, Closed::Overflow, "{transport:?}");
            other.close();
        });
        assert!(longest.load(Ordering::SeqCst) < 1000, "a send took {longest:?} ms");
        bulk_to_stopped(transport, &place);
    }
}

/// Over TCP bulk to a stopped client is given up after the stall; in shared memory it needs no client.
fn bulk_to_stopped(transport: Transport, place: &Place) {
    let mut role = Role::start("--client", &[&place.server.endpoint().to_string(), "idle"]);
    assert_eq!(role.line(), "here");
    let peer: Peer = place.server.accept(deadline()).unwrap().unwrap();
    role.signal(rustix::process::Signal::STOP);
    if transport != Transport::Shm {
        let mut what = [0; BulkRef::LEN];
        what[16..].copy_from_slice(&(64u64 << 20).to_le_bytes());
        peer.give(&BulkRef::decode(&what)).unwrap().finish().unwrap();
        let end = peer.recv(deadline(), &mut Batch::new());
        assert!(matches!(end, Err(ChannelError::Closed(Closed::Stalled))), "{end:?}");
    }
}

pub(super) fn nothing_is_left() {
    for transport in ALL {
        let before = held();
        for _ in 0..20 {
            let place = Place::new(transport, ServerConfig::default());
            let (client, inbox, peer) = place.pair();
            std::thread::scope(|s| {
                s.spawn(|| serve(&peer));
                let (from, to) = (client.bulk(300_000).unwrap(), client.bulk(300_000).unwrap());
                let place = to.expect(0, 300_000).unwrap();
                let refs = [from.put(0, &[1; 300_000]).unwrap().encode(), place.encode()].concat();
                client.send(COPY, &refs).unwrap();
                client.wait(deadline(), || inbox.pop()).unwrap();
                // Large enough to be given back to the server when dropped.
                drop((client.bulk(100 << 20).unwrap(), client.bulk(100 << 20).unwrap()));
                client.send(1, &[]).unwrap();
                client.wait(deadline(), || inbox.pop()).unwrap();
                if transport == Transport::Shm {
                    assert!(peer.bulk_bytes() <= 140 << 20, "{}", peer.bulk_bytes());
                }
                client.close();
            });
        }
        assert_back(before, &format!("{transport:?}"));
    }
}

/// While two processes spin for each other on two processors, the client's own thread has none, and calls of it pile up
/// in the socket that answers about arenas take, too.
pub(super) fn calls_fill_the_socket() {
    let mut role = Role::start("--server", &["Shm"]);
    let endpoint: Endpoint = role.line().parse().unwrap();
    for _ in 0..100 {
        let into = common::Into::default();
        let inbox = Arc::clone(&into.0);
        let client = Client::connect(&endpoint, &ClientConfig::default(), Box::new(into)).unwrap();
        (0..200).for_each(|i| call(&client, &inbox, i, b"x"));
        client.bulk(1).unwrap();
    }
}
