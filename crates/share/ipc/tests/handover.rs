//! A client that is handed over, within one process: what is refused, what goes on, and whom the end reaches. With
//! real processes, see `processes`.

mod common;

use std::os::fd::OwnedFd;
use std::sync::{Arc, Condvar, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use common::{ALL, COPY, Inbox, Place, Transport, deadline, serve};
use proptest::prelude::*;
use rackloom_ipc::{
    Batch, BulkRef, ChannelError, Client, ClientConfig, Closed, Grant, Handler, Handover, Limits, Peer, Receipt,
    ServerConfig,
};

fn any_grant() -> Box<Grant> {
    Box::new(|_, _, _, _| Some(Box::new(())))
}

fn parts(handover: &Handover) -> (Vec<OwnedFd>, Vec<u8>) {
    let files = handover.files().into_iter().map(|file| file.try_clone_to_owned().unwrap());
    (files.collect(), handover.state())
}

/// Hands a client over as to another process.
fn pass_on(peer: &Peer) -> Peer {
    let (files, state) = parts(&peer.hand_over().unwrap());
    Handover::from_parts(files, &state).unwrap().into_peer(any_grant()).unwrap()
}

fn call(client: &Client, inbox: &Inbox, kind: u32, body: &[u8]) {
    client.send(kind, body).unwrap();
    assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap(), (kind, body.to_vec()));
}

/// Sends so many messages back.
fn echo(peer: &Peer, count: usize) {
    let (mut batch, mut done) = (Batch::new(), 0);
    while done < count {
        batch.clear();
        assert!(peer.recv(deadline(), &mut batch).unwrap() > 0, "nothing came");
        batch.iter().for_each(|(kind, body)| peer.send(kind, body).unwrap());
        done += batch.len();
    }
}

const STOP: u32 = 0xf000_00ff;
const UNASKED: u32 = 0xf000_00fe;

/// Serves until a message says to stop.
fn serve_until_stop(peer: &Peer) {
    let mut batch = Batch::new();
    while batch.iter().all(|(kind, _)| kind != STOP) {
        batch.clear();
        assert!(peer.recv(deadline(), &mut batch).unwrap() > 0, "nothing came");
        common::answer(peer, &batch).unwrap();
    }
}

/// Bulk to the server and back, of this size.
fn copy(client: &Client, inbox: &Inbox, len: usize) {
    let bytes: Vec<u8> = (0..len).map(|i| ((i * 31) ^ (i >> 8)) as u8).collect();
    let (from, to) = (client.bulk(len as u64).unwrap(), client.bulk(len as u64).unwrap());
    let place = to.expect(0, len as u64).unwrap();
    client.send(COPY, &[from.put(0, &bytes).unwrap().encode(), place.encode()].concat()).unwrap();
    assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, COPY);
    let mut back = vec![0; len];
    to.get(&place, 0, &mut back).unwrap();
    assert!(back.iter().zip(&bytes).all(|(b, a)| *b == a.wrapping_add(1)), "{len} bytes");
}

fn eventually(what: &str, mut done: impl FnMut() -> bool) {
    let end = Instant::now() + common::PATIENCE;
    while !done() {
        assert!(Instant::now() < end, "{what}");
        thread::sleep(Duration::from_millis(1));
    }
}

fn is_busy(peer: &Peer) -> bool {
    matches!(peer.hand_over(), Err(ChannelError::Busy(_)))
}

#[test]
fn a_client_goes_from_hand_to_hand_and_misses_nothing() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, inbox, first) = place.pair();
        let mut peers = vec![first];
        for hand in 0..40usize {
            let peer = peers.last().unwrap();
            // Rings are passed on at many places, before and after positions and records have gone around.
            let bodies: Vec<_> = (0..hand % 7).map(|i| vec![hand as u8; (hand * 1237 + i * 4001) % 60_000]).collect();
            thread::scope(|s| {
                s.spawn(|| echo(peer, bodies.len()));
                peer.send(UNASKED, &[]).unwrap(); // Or both rings were in the same place.
                assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, UNASKED);
                bodies.iter().for_each(|body| call(&client, &inbox, hand as u32, body));
            });
            let next = pass_on(peer);
            assert_eq!((next.identity(), next.token()), (peer.identity(), peer.token()), "{transport:?}");
            peers.push(next);
        }
        thread::scope(|s| {
            let server = s.spawn(|| serve(peers.last().unwrap()));
            for len in [1, 100, 100_000, 5 << 20, 64 << 20] {
                copy(&client, &inbox, len);
            }
            for i in 0..2000 {
                call(&client, &inbox, i, b"to the last");
            }
            drop(client);
            assert_eq!(server.join().unwrap(), Closed::PeerGone, "{transport:?}");
        });
        for peer in &peers {
            eventually("all who had the client see its end", || peer.closed() == Some(Closed::PeerGone));
        }
    }
}

#[test]
fn who_has_handed_over_neither_receives_nor_sends() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, inbox, peer) = place.pair();
        let next = pass_on(&peer);
        let handed_over = |end: Result<(), ChannelError>| {
            assert!(matches!(end, Err(ChannelError::Closed(Closed::HandedOver))), "{transport:?}: {end:?}");
        };
        client.send(1, b"for the next").unwrap();
        handed_over(peer.recv(deadline(), &mut Batch::new()).map(|_| ()));
        handed_over(peer.send(1, b"not mine"));
        handed_over(peer.hand_over().map(|_| ()));
        for what in [BulkRef::EMPTY, BulkRef::decode(&[1; 24])] {
            handed_over(peer.take(&what, deadline()).map(|_| ()));
            handed_over(peer.give(&what).map(|_| ()));
        }
        assert_eq!((peer.closed(), peer.bulk_bytes()), (None, 0));
        assert!(format!("{peer:?}").contains("handed_over: true"));
        echo(&next, 1);
        assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap(), (1, b"for the next".to_vec()));
    }
}

#[test]
fn the_old_handles_end_is_everybodys() {
    for (transport, drops) in ALL.into_iter().flat_map(|t| [(t, false), (t, true)]) {
        let place = Place::new(transport, ServerConfig { clients_max: 1, ..ServerConfig::default() });
        let (client, inbox, peer) = place.pair();
        let next = pass_on(&peer);
        thread::scope(|s| {
            let server = s.spawn(|| serve(&next));
            call(&client, &inbox, 1, b"x");
            if drops {
                drop(peer);
            } else {
                peer.close();
                assert_eq!(peer.closed(), Some(Closed::Here));
            }
            assert_eq!(server.join().unwrap(), Closed::PeerGone, "{transport:?}");
        });
        assert_eq!(inbox.wait_passively(|_, closed| closed), Closed::PeerGone);
        if drops {
            // The seat was the old handle's, and the new one keeps none.
            let again =
                || Client::connect(place.server.endpoint(), &ClientConfig::default(), Box::new(Gate::default()));
            eventually("the seat comes back", || again().is_ok());
        }
    }
}

#[test]
fn the_new_handles_end_is_everybodys() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (_client, inbox, peer) = place.pair();
        drop(pass_on(&peer));
        assert_eq!(inbox.wait_passively(|_, closed| closed), Closed::PeerGone);
        eventually("the seat's holder sees it", || peer.closed() == Some(Closed::PeerGone));
        drop(peer);
        // Nobody takes it on: the old handle still ends it.
        let (_client, inbox, peer) = place.pair();
        drop(peer.hand_over().unwrap());
        assert_eq!((peer.closed(), inbox.pop()), (None, None));
        drop(peer);
        assert_eq!(inbox.wait_passively(|_, closed| closed), Closed::PeerGone);
    }
}

#[test]
fn a_busy_channel_is_not_handed_over_and_goes_on() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        // An unread message. It may not have come so far at the look: then it is too late for this client.
        let mut seen = None;
        eventually("unread messages are seen", || {
            let (client, inbox, peer) = place.pair();
            client.send(1, b"unread").unwrap();
            thread::sleep(Duration::from_millis(1));
            let busy = is_busy(&peer);
            seen = Some((client, inbox, peer));
            busy
        });
        let (client, inbox, peer) = seen.unwrap();
        echo(&peer, 1);
        assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, 1);
        // A thread receives. It may not have come so far at the first look: then it is too late for this client.
        eventually("a thread that receives is seen", || {
            let (client, _inbox, peer) = place.pair();
            thread::scope(|s| {
                s.spawn(|| peer.recv(deadline(), &mut Batch::new()));
                thread::sleep(Duration::from_millis(1));
                let busy = is_busy(&peer);
                client.close();
                busy
            })
        });
        // Bulk.
        thread::scope(|s| {
            let server = s.spawn(|| serve_until_stop(&peer));
            let held = client.bulk(100).unwrap();
            copy(&client, &inbox, 300_000);
            client.send(STOP, &[]).unwrap();
            server.join().unwrap();
            assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, STOP);
            assert!(is_busy(&peer), "{transport:?}");
            let server = s.spawn(|| serve(&peer));
            copy(&client, &inbox, 8 << 20);
            drop(held);
            client.close();
            server.join().unwrap();
        });
        // Bulk that nobody has asked for yet.
        if transport != Transport::Shm {
            eventually("bulk on its way is seen", || {
                let (client, _inbox, peer) = place.pair();
                let bulk = client.bulk(10).unwrap();
                bulk.put(0, &[1; 10]).unwrap();
                thread::sleep(Duration::from_millis(1));
                is_busy(&peer)
            });
        }
        assert!(matches!(peer.hand_over(), Err(ChannelError::Closed(Closed::PeerGone))));
    }
}

#[test]
fn a_client_that_does_not_read_gets_all_in_order_from_both() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let gate = Gate::default();
        let config = ClientConfig::default();
        let client = Client::connect(place.server.endpoint(), &config, Box::new(gate.clone())).unwrap();
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        (0..20).for_each(|i| peer.send(i, &[1; 3000]).unwrap());
        let next = pass_on(&peer);
        // More than the ring holds: some wait in the new one's queue.
        (20..150).for_each(|i| next.send(i, &[2; 3000]).unwrap());
        *gate.open.0.lock().unwrap() = true;
        gate.open.1.notify_all();
        thread::scope(|s| {
            let server = s.spawn(|| serve(&next));
            let came = || (gate.kinds.lock().unwrap().len() == 150).then_some(());
            client.wait(deadline(), came).unwrap();
            client.close();
            server.join().unwrap();
        });
        assert!(gate.kinds.lock().unwrap().iter().copied().eq(0..150), "{transport:?}");
    }
}

#[test]
fn who_sends_while_a_client_is_handed_over_spoils_nothing() {
    let limits = Limits { queue_messages_max: 1 << 20, queue_bytes_max: 1 << 30, ..Limits::default() };
    for transport in ALL {
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        for round in 0..30 {
            let (client, inbox, peer) = place.pair();
            let (next, from) = thread::scope(|s| {
                let sender = s.spawn(|| {
                    let refused = |i: &u32| {
                        // Bursts that the ring holds, for what is queued keeps the client here.
                        if i % 1000 == 999 {
                            thread::sleep(Duration::from_millis(1));
                        }
                        peer.send(*i, &[3; 40]).is_err()
                    };
                    (0..).find(refused).unwrap()
                });
                thread::sleep(Duration::from_micros(round * 20));
                let end = Instant::now() + common::PATIENCE;
                let handover = loop {
                    match peer.hand_over() {
                        Err(ChannelError::Busy(_)) if Instant::now() < end => client.poll().unwrap(),
                        other => break other.unwrap(),
                    }
                };
                let (files, state) = parts(&handover);
                let next = Handover::from_parts(files, &state).unwrap().into_peer(any_grant()).unwrap();
                (next, sender.join().unwrap())
            });
            assert_eq!(peer.closed(), None);
            (from..from + 100).for_each(|i| next.send(i, &[4; 40]).unwrap());
            thread::scope(|s| {
                s.spawn(|| serve(&next)); // It sends what the socket had no room for.
                for i in 0..from + 100 {
                    let body = vec![if i < from { 3 } else { 4 }; 40];
                    assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap(), (i, body), "{transport:?}");
                }
                client.close();
            });
        }
    }
}

/// A handler that takes messages only once it is open.
#[derive(Clone, Default)]
struct Gate {
    open: Arc<(Mutex<bool>, Condvar)>,
    kinds: Arc<Mutex<Vec<u32>>>,
}

impl Handler for Gate {
    fn message(&self, kind: u32, _: &[u8]) {
        let (open, opened) = &*self.open;
        drop(opened.wait_while(open.lock().unwrap(), |open| !*open).unwrap());
        self.kinds.lock().unwrap().push(kind);
    }
}

#[test]
fn what_arenas_a_client_had_names_nothing_at_the_next() {
    let place = Place::new(Transport::Shm, ServerConfig::default());
    let (client, inbox, peer) = place.pair();
    // So large that the client does not keep it.
    let old = thread::scope(|s| {
        let server = s.spawn(|| serve_until_stop(&peer));
        let old = client.bulk(200 << 20).unwrap().expect(0, 5).unwrap();
        client.send(STOP, &[]).unwrap();
        server.join().unwrap();
        old
    });
    assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, STOP);
    let next = pass_on(&peer);
    thread::scope(|s| {
        s.spawn(|| serve(&next));
        let held = client.bulk(200 << 20).unwrap();
        let new = held.expect(0, 5).unwrap();
        assert!(next.give(&new).is_ok());
        assert!(matches!(next.give(&old), Err(ChannelError::BadReference { .. })), "{old:?} {new:?}");
        assert!(next.bulk_bytes() >= 200 << 20);
        client.close();
    });
}

#[test]
fn the_next_holder_has_the_limits_and_asks_its_own_grant() {
    let limits = Limits { bulk_bytes_max: 10 << 20, ..Limits::default() };
    let place = Place::new(Transport::Shm, ServerConfig { limits, ..ServerConfig::default() });
    let (client, _inbox, peer) = place.pair();
    let (files, state) = parts(&peer.hand_over().unwrap());
    let grant: Box<Grant> = Box::new(|_, _, more, held| (more + held <= 4 << 20).then(|| Box::new(()) as Receipt));
    let next = Handover::from_parts(files, &state).unwrap().into_peer(grant).unwrap();
    thread::scope(|s| {
        s.spawn(|| serve(&next));
        let held = client.bulk(4 << 20).unwrap();
        assert!(matches!(client.bulk(1), Err(ChannelError::Quota { .. })));
        drop(held);
        client.close();
    });
}

fn is_bad(files: Vec<OwnedFd>, state: &[u8]) -> bool {
    matches!(Handover::from_parts(files, state), Err(ChannelError::BadHandover(_)))
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let places = [Transport::Shm, Transport::Tcp].map(|t| Place::new(t, ServerConfig::default()));
    let [shm, tcp] = places.each_ref().map(Place::pair);
    let [shm, tcp] = [&shm.2, &tcp.2].map(|peer| peer.hand_over().unwrap());
    assert_eq!((shm.state().len(), tcp.state().len()), (Handover::STATE_LEN, Handover::STATE_LEN));
    assert!(!format!("{shm:?}").contains("token"));
    for (one, other) in [(&shm, &tcp), (&tcp, &shm)] {
        assert!(Handover::from_parts(parts(one).0, &one.state()).is_ok());
        assert_eq!(Handover::from_parts(parts(one).0, &one.state()).unwrap().state(), one.state());
        assert!(is_bad(parts(other).0, &one.state()));
        assert!(is_bad(Vec::new(), &one.state()));
        let mut files = parts(one).0;
        files.pop();
        assert!(is_bad(files, &one.state()));
        let mut files = parts(one).0;
        files.extend(parts(one).0);
        assert!(is_bad(files, &one.state()));
        assert!(is_bad(parts(one).0, &one.state()[1..]));
        assert!(is_bad(parts(one).0, &[one.state(), vec![0]].concat()));
    }
    let mut files = parts(&shm).0;
    files.swap(0, 1);
    assert!(is_bad(files, &shm.state()));
}

/// Where a record has the time that threads look before they sleep.
const SPIN: std::ops::Range<usize> = 88..92;

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn bytes_that_are_no_record_are_refused(state in prop::collection::vec(any::<u8>(), 0..300)) {
        prop_assert!(is_bad(Vec::new(), &state));
    }

    /// What is near the truth gets further: into a channel that may be wrong, but whose use ends in errors at worst.
    #[test]
    fn records_with_errors_in_them_panic_nobody(
        tcp: bool,
        changes in prop::collection::vec((0..Handover::STATE_LEN, any::<u8>()), 1..4),
    ) {
        let limits = Limits { queue_messages_max: 10, ..Limits::default() };
        let transport = if tcp { Transport::Tcp } else { Transport::Shm };
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        let (client, _inbox, peer) = place.pair();
        let (files, mut state) = parts(&peer.hand_over().unwrap());
        let spin = state[SPIN].to_vec();
        changes.iter().for_each(|(at, byte)| state[*at] = *byte);
        state[SPIN].copy_from_slice(&spin); // Or it waits for an hour, as the record says.
        let next = Handover::from_parts(files, &state).and_then(|handover| handover.into_peer(any_grant()));
        if let Ok(next) = next {
            for i in 0..20 {
                let _ = (client.send(i, &[1; 100]), next.send(i, &[1; 60_000]));
                let _ = next.recv(Some(Instant::now()), &mut Batch::new());
            }
        }
    }
}
