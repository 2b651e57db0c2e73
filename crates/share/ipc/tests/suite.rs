//! What holds over both transports, in one process.

mod common;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use common::{ALL, COPY, ECHO, FLOOD, Place, Transport, deadline, serve};
use rackloom_ipc::{
    BODY_MAX, Batch, BulkRef, ChannelError, Client, ClientConfig, Closed, Handler, Limits, RESERVED, Refusal, Server,
    ServerConfig,
};

fn pattern(len: usize, seed: usize) -> Vec<u8> {
    (0..len).map(|i| (i.wrapping_mul(31) ^ seed ^ (i >> 8)) as u8).collect()
}

#[test]
fn messages_of_every_length_come_back_in_order() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, inbox, peer) = place.pair();
        thread::scope(|s| {
            let server = s.spawn(|| serve(&peer));
            let mut lengths: Vec<usize> = (0..200).collect();
            // The ring holds 256 KiB: these go around it many times, and across its end at many places.
            lengths.extend((0..300).map(|i| (i * 7919) % (BODY_MAX + 1)));
            lengths.extend([BODY_MAX, BODY_MAX - 1, BODY_MAX, 0, BODY_MAX]);
            for (i, len) in lengths.iter().enumerate() {
                client.send(100 + i as u32, &pattern(*len, i)).unwrap();
                let (kind, body) = client.wait(deadline(), || inbox.pop()).unwrap();
                assert_eq!((kind, body.len()), (100 + i as u32, *len), "{transport:?}");
                assert!(body == pattern(*len, i), "{transport:?} message {i}");
            }
            drop(client);
            assert_eq!(server.join().unwrap(), Closed::PeerGone);
        });
    }
}

#[test]
fn many_messages_are_under_way_at_a_time() {
    for transport in ALL {
        // Nothing but the queue holds the server back here.
        let limits = Limits { queue_messages_max: 20_000, ..Limits::default() };
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        let (client, inbox, peer) = place.pair();
        const COUNT: u32 = 20_000;
        thread::scope(|s| {
            s.spawn(|| serve(&peer));
            s.spawn(|| {
                for i in 0..COUNT {
                    client.send(i, &pattern(i as usize % 100, 1)).unwrap();
                }
            });
            for i in 0..COUNT {
                let (kind, body) = client.wait(deadline(), || inbox.pop()).unwrap();
                assert_eq!((kind, body), (i, pattern(i as usize % 100, 1)), "{transport:?}");
            }
            client.close();
        });
    }
}

/// Answers by the number at their beginning, for many threads.
#[derive(Clone, Default)]
struct Calls(Arc<Mutex<BTreeMap<u32, Vec<u8>>>>);

impl Handler for Calls {
    fn message(&self, kind: u32, body: &[u8]) {
        assert!(self.0.lock().unwrap().insert(kind, body.to_vec()).is_none());
    }
}

#[test]
fn many_threads_call_at_a_time_and_each_gets_its_own_answer() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let calls = Calls::default();
        let config = ClientConfig::default();
        let client = Client::connect(place.server.endpoint(), &config, Box::new(calls.clone())).unwrap();
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        thread::scope(|s| {
            s.spawn(|| serve(&peer));
            let (client, calls) = (&client, &calls);
            let callers: Vec<_> = (0..8)
                .map(|t: u32| {
                    s.spawn(move || {
                        for i in 0..1500 {
                            let (kind, body) = (t << 16 | i, pattern((i as usize * 37) % 3000, t as usize));
                            client.send(kind, &body).unwrap();
                            let back = client.wait(deadline(), || calls.0.lock().unwrap().remove(&kind)).unwrap();
                            assert!(back == body, "{transport:?} thread {t} call {i}");
                        }
                    })
                })
                .collect();
            callers.into_iter().for_each(|c| c.join().unwrap());
            client.close();
        });
    }
}

#[test]
fn a_full_ring_holds_the_sender_up_and_loses_nothing() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, _inbox, peer) = place.pair();
        let sent = AtomicU32::new(0);
        let count = 3000;
        thread::scope(|s| {
            s.spawn(|| {
                for i in 0..count {
                    client.send(i, &pattern(16 * 1024, i as usize)).unwrap();
                    sent.fetch_add(1, Ordering::SeqCst);
                }
            });
            // Nobody receives: records of 16 KiB and their heads, and no more of them than 256 KiB hold. Were the ring
            // written on, the messages below would be wrong.
            while sent.load(Ordering::SeqCst) < 15 {
                thread::yield_now();
            }
            if transport == Transport::Shm {
                assert_eq!(sent.load(Ordering::SeqCst), 15);
            }
            let (mut batch, mut next) = (Batch::new(), 0);
            while next < count {
                batch.clear();
                assert!(peer.recv(deadline(), &mut batch).unwrap() > 0);
                for (kind, body) in batch.iter() {
                    assert_eq!(kind, next);
                    assert!(body == pattern(16 * 1024, next as usize));
                    next += 1;
                }
            }
        });
    }
}

#[test]
fn a_client_that_does_not_read_is_closed_and_nobody_waits_for_it() {
    for transport in ALL {
        let limits = Limits { queue_messages_max: 100, queue_bytes_max: 1 << 20, ..Limits::default() };
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        // A handler that never returns: as a client that is stopped.
        struct Stuck(Mutex<std::sync::mpsc::Receiver<()>>);
        impl Handler for Stuck {
            fn message(&self, _: u32, _: &[u8]) {
                let _ = self.0.lock().unwrap().recv();
            }
        }
        let (unstick, stuck) = std::sync::mpsc::channel();
        let config = ClientConfig::default();
        let handler = Box::new(Stuck(Mutex::new(stuck)));
        let stuck = Client::connect(place.server.endpoint(), &config, handler).unwrap();
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        let (other, inbox, other_peer) = place.pair();
        thread::scope(|s| {
            s.spawn(|| serve(&other_peer));
            let body = vec![0; 4096];
            let sends = (0..50_000).take_while(|_| peer.send(5, &body).is_ok()).count();
            assert!(sends > 100 && sends < 20_000, "{transport:?}: {sends}");
            assert_eq!(peer.closed(), Some(Closed::Overflow));
            assert!(matches!(peer.recv(None, &mut Batch::new()), Err(ChannelError::Closed(Closed::Overflow))));
            other.send(ECHO, b"still here").unwrap();
            assert_eq!(other.wait(deadline(), || inbox.pop()).unwrap().1, b"still here");
            other.close();
        });
        drop(unstick);
        drop(stuck);
    }
}

#[test]
fn bulk_of_every_size_goes_there_and_back() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, inbox, peer) = place.pair();
        thread::scope(|s| {
            s.spawn(|| serve(&peer));
            for len in [0, 1, 63, 64, 65, 4096, 100_000, 1 << 20, (1 << 20) + 1, 5_000_000, 64 << 20] {
                let bytes = pattern(len, 3);
                let from = client.bulk(len as u64).unwrap();
                let to = client.bulk(len as u64).unwrap();
                let place = to.expect(0, len as u64).unwrap();
                let refs = [from.put(0, &bytes).unwrap().encode(), place.encode()].concat();
                client.send(COPY, &refs).unwrap();
                assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, COPY);
                let mut back = vec![0; len];
                to.get(&place, 0, &mut back).unwrap();
                assert!(back.iter().zip(&bytes).all(|(b, a)| *b == a.wrapping_add(1)), "{transport:?} {len}");
                // From memory of our own, and a part of it.
                if len >= 64 {
                    assert_eq!(to.as_ptr().unwrap() as usize % 128, 0);
                    let again = from.expect(10, 30).unwrap();
                    let refs = [to.publish(20, 30).unwrap().encode(), again.encode()].concat();
                    client.send(COPY, &refs).unwrap();
                    client.wait(deadline(), || inbox.pop()).unwrap();
                    let mut part = [0; 30];
                    from.get(&again, 0, &mut part).unwrap();
                    assert!(part.iter().zip(&bytes[20..]).all(|(b, a)| *b == a.wrapping_add(2)), "{transport:?} {len}");
                }
            }
            client.close();
        });
        drop(client);
        assert!(transport == Transport::Shm || peer.bulk_bytes() == 0);
    }
}

#[test]
fn threads_move_bulk_beside_each_other() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        #[derive(Clone, Default)]
        struct Count(Arc<AtomicU32>);
        impl Handler for Count {
            fn message(&self, _: u32, _: &[u8]) {
                self.0.fetch_add(1, Ordering::SeqCst);
            }
        }
        let count = Count::default();
        let config = ClientConfig::default();
        let client = Client::connect(place.server.endpoint(), &config, Box::new(count.clone())).unwrap();
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        thread::scope(|s| {
            s.spawn(|| serve(&peer));
            let (client, count) = (&client, &count);
            let movers: Vec<_> = (0..4)
                .map(|t| {
                    s.spawn(move || {
                        for i in 0..20 {
                            let len = (t * 100_003 + i * 77_777) % 2_000_000 + 1;
                            let bytes = pattern(len, t * 100 + i);
                            let (from, to) = (client.bulk(len as u64).unwrap(), client.bulk(len as u64).unwrap());
                            let place = to.expect(0, len as u64).unwrap();
                            let refs = [from.put(0, &bytes).unwrap().encode(), place.encode()].concat();
                            client.send(COPY, &refs).unwrap();
                            // Answers are equal here: all of them are waited for below, before the memory goes.
                            let mut back = vec![0; len];
                            if transport == Transport::Shm {
                                let want = |_: &[u8]| ();
                                want(&back);
                                client
                                    .wait(deadline(), || {
                                        to.get(&place, 0, &mut back).unwrap();
                                        back.iter().zip(&bytes).all(|(b, a)| *b == a.wrapping_add(1)).then_some(())
                                    })
                                    .unwrap();
                            } else {
                                to.get(&place, 0, &mut back).unwrap();
                                assert!(back.iter().zip(&bytes).all(|(b, a)| *b == a.wrapping_add(1)));
                            }
                        }
                    })
                })
                .collect();
            movers.into_iter().for_each(|m| m.join().unwrap());
            client.wait(deadline(), || (count.0.load(Ordering::SeqCst) == 80).then_some(())).unwrap();
            client.close();
        });
    }
}

#[test]
fn bulk_is_granted_up_to_the_quota_and_comes_back() {
    for transport in ALL {
        let limits = Limits { bulk_bytes_max: 10 << 20, bulk_count_max: 20, ..Limits::default() };
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        let (client, _inbox, peer) = place.pair();
        thread::scope(|s| {
            s.spawn(|| serve(&peer));
            let all = if transport == Transport::Shm { 10 << 20 } else { 0 };
            assert_eq!(client.shared_room(), all, "{transport:?}");
            for _ in 0..3 {
                let held: Vec<_> = (0..5).map(|_| client.bulk(2 << 20).unwrap()).collect();
                assert_eq!(client.shared_room(), 0, "{transport:?}");
                let more = client.bulk(2 << 20).map(|_| ());
                assert!(matches!(more, Err(ChannelError::Quota { .. })), "{transport:?}: {more:?}");
                drop(held);
                // Small pieces have left the place in pieces: what is free comes together again.
                let whole = client.bulk(10 << 20).unwrap();
                assert!(matches!(client.bulk(1), Err(ChannelError::Quota { .. })));
                drop(whole);
                drop((0..20).map(|_| client.bulk(100).unwrap()).collect::<Vec<_>>());
            }
            assert!(matches!(client.bulk(u64::MAX), Err(ChannelError::Quota { .. })));
            client.close();
        });
    }
}

#[test]
fn the_clients_own_thread_handles_messages_while_nobody_waits() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, inbox, peer) = place.pair();
        for round in 0..50u32 {
            // In some rounds after a call, so that the thread first believes the program reads for itself.
            if round % 3 == 0 {
                let soon = Some(std::time::Instant::now() + std::time::Duration::from_micros(100));
                assert!(matches!(client.wait(soon, || None::<()>), Err(ChannelError::Timeout)));
            }
            peer.send(round, b"unasked").unwrap();
            assert_eq!(inbox.wait_passively(|m, _| m.pop_front()).0, round, "{transport:?}");
        }
        drop(peer);
        assert_eq!(inbox.wait_passively(|_, closed| closed), Closed::PeerGone);
        assert!(matches!(client.send(1, &[]), Err(ChannelError::Closed(Closed::PeerGone))));
    }
}

#[test]
fn the_end_of_either_side_wakes_all_who_wait() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, _inbox, peer) = place.pair();
        thread::scope(|s| {
            let waiting: Vec<_> = (0..4).map(|_| s.spawn(|| client.wait(deadline(), || None::<()>))).collect();
            let full = s.spawn(|| while client.send(9, &[0; 60_000]).is_ok() {});
            drop(peer);
            for waiting in waiting {
                let end = waiting.join().unwrap();
                assert!(matches!(end, Err(ChannelError::Closed(Closed::PeerGone))), "{transport:?}: {end:?}");
            }
            full.join().unwrap();
        });
        let (client, _inbox, peer) = place.pair();
        thread::scope(|s| {
            let waiting = s.spawn(|| peer.recv(deadline(), &mut Batch::new()));
            let taking = s.spawn(|| peer.take(&BulkRef::decode(&[1; 24]), deadline()).map(|_| ()));
            drop(client);
            let end = waiting.join().unwrap();
            assert!(matches!(end, Err(ChannelError::Closed(Closed::PeerGone))), "{transport:?}: {end:?}");
            assert!(taking.join().unwrap().is_err());
        });
    }
}

#[test]
fn messages_before_the_end_are_still_given() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, _inbox, peer) = place.pair();
        (0..10).for_each(|i| client.send(i, b"last words").unwrap());
        drop(client);
        let mut batch = Batch::new();
        while peer.recv(deadline(), &mut batch).is_ok() {}
        assert_eq!(
            batch.iter().map(|(kind, _)| kind).collect::<Vec<_>>(),
            (0..10).collect::<Vec<_>>(),
            "{transport:?}"
        );

        let (client, inbox, peer) = place.pair();
        (0..10).for_each(|i| peer.send(i, b"last words").unwrap());
        drop(peer);
        let kinds =
            inbox.wait_passively(|m, closed| closed.map(|_| m.iter().map(|(kind, _)| *kind).collect::<Vec<_>>()));
        assert_eq!(kinds, (0..10).collect::<Vec<_>>(), "{transport:?}");
        drop(client);
    }
}

#[test]
fn handlers_may_send_and_must_not_wait() {
    for transport in ALL {
        struct Ask(Mutex<Option<std::sync::Weak<Client>>>, Arc<Mutex<Vec<bool>>>);
        impl Handler for Ask {
            fn message(&self, kind: u32, _: &[u8]) {
                let client = self.0.lock().unwrap().as_ref().and_then(std::sync::Weak::upgrade).unwrap();
                let mut seen = self.1.lock().unwrap();
                if kind == 1 {
                    seen.push(matches!(client.wait(None, || None::<()>), Err(ChannelError::Reentrant)));
                    seen.push(matches!(client.poll(), Err(ChannelError::Reentrant)));
                    seen.push(client.send(2, &[]).is_ok());
                }
            }
        }
        let place = Place::new(transport, ServerConfig::default());
        let seen = Arc::new(Mutex::new(Vec::new()));
        let handler = Box::new(Ask(Mutex::new(None), Arc::clone(&seen)));
        // The handler needs the client, which is made with it: by a cell that the test fills.
        let cell = Arc::new(Mutex::new(None));
        struct Late(Arc<Mutex<Option<Box<Ask>>>>);
        impl Handler for Late {
            fn message(&self, kind: u32, body: &[u8]) {
                self.0.lock().unwrap().as_ref().unwrap().message(kind, body);
            }
        }
        let late = Box::new(Late(Arc::clone(&cell)));
        let client = Arc::new(Client::connect(place.server.endpoint(), &ClientConfig::default(), late).unwrap());
        *handler.0.lock().unwrap() = Some(Arc::downgrade(&client));
        *cell.lock().unwrap() = Some(handler);
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        peer.send(1, &[]).unwrap();
        let mut batch = Batch::new();
        peer.recv(deadline(), &mut batch).unwrap();
        assert_eq!(batch.iter().map(|(kind, _)| kind).collect::<Vec<_>>(), [2], "{transport:?}");
        assert_eq!(*seen.lock().unwrap(), [true; 3]);
    }
}

#[test]
fn clients_are_admitted_by_token_identity_and_number() {
    for transport in ALL {
        let admit = Box::new(|token: &[u8; 32], who: &rackloom_ipc::Identity| {
            let known = match who {
                rackloom_ipc::Identity::Unix { pid, .. } => *pid == std::process::id(),
                rackloom_ipc::Identity::Tcp { from } => from.ip().is_loopback(),
                _ => false,
            };
            known && ServerConfig::same_token(token, &[5; 32])
        });
        let place = Place::new(transport, ServerConfig { clients_max: 2, admit, ..ServerConfig::default() });
        let connect = |token| {
            let config = ClientConfig { token: [token; 32], ..ClientConfig::default() };
            Client::connect(place.server.endpoint(), &config, Box::new(common::Into::default()))
        };
        assert!(matches!(connect(6), Err(ChannelError::Refused(Refusal::NotAdmitted))), "{transport:?}");
        let two = [connect(5).unwrap(), connect(5).unwrap()];
        assert!(matches!(connect(5), Err(ChannelError::Refused(Refusal::Full))), "{transport:?}");
        let peers = [(); 2].map(|()| place.server.accept(deadline()).unwrap().unwrap());
        assert_eq!(peers[0].token(), &[5; 32]);
        drop(two);
        // A seat is free when the daemon has dropped the handle and the acceptor has seen the end.
        drop(peers);
        let again = (0..1000).find_map(|_| connect(5).ok());
        assert!(again.is_some(), "{transport:?}: seats come back");
    }
}

#[test]
fn what_cannot_be_sent_is_refused_and_the_channel_goes_on() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, inbox, peer) = place.pair();
        let long = vec![0; BODY_MAX + 1];
        assert!(matches!(client.send(1, &long), Err(ChannelError::TooLong { .. })));
        assert!(matches!(client.send(RESERVED, &[]), Err(ChannelError::ReservedKind(RESERVED))));
        assert!(matches!(peer.send(1, &long), Err(ChannelError::TooLong { .. })));
        assert!(matches!(peer.send(u32::MAX, &[]), Err(ChannelError::ReservedKind(u32::MAX))));
        peer.send(RESERVED - 1, &[]).unwrap();
        assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, RESERVED - 1);
        // References that name nothing.
        for bytes in [[0xff; 24], [1; 24]] {
            let what = BulkRef::decode(&bytes);
            let soon = Some(std::time::Instant::now());
            assert!(peer.take(&what, soon).is_err(), "{transport:?}");
            assert!(peer.give(&what).is_err(), "{transport:?}");
        }
        assert_eq!(peer.closed(), None);
    }
}

#[test]
fn a_flood_to_a_client_that_reads_arrives_whole() {
    for transport in ALL {
        // The queue holds what the ring does not, while the client's thread catches up.
        let limits = Limits { queue_messages_max: 100_000, queue_bytes_max: 64 << 20, ..Limits::default() };
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        let (client, inbox, peer) = place.pair();
        thread::scope(|s| {
            s.spawn(|| serve(&peer));
            client.send(FLOOD, &[20_000u32.to_le_bytes(), 1000u32.to_le_bytes()].concat()).unwrap();
            for i in 0..20_000u32 {
                let (kind, body) = client.wait(deadline(), || inbox.pop()).unwrap();
                assert_eq!((kind, &body[..4]), (FLOOD, &i.to_le_bytes()[..]), "{transport:?}");
            }
            client.close();
        });
    }
}

#[test]
fn a_socket_left_by_a_dead_server_is_replaced_and_a_live_one_is_not() {
    let place = Place::new(Transport::Shm, ServerConfig::default());
    let second = Server::bind(place.server.endpoint(), ServerConfig::default());
    assert!(second.is_err(), "somebody listens there");
    let rackloom_ipc::Endpoint::Unix(path) = place.server.endpoint() else { unreachable!() };
    let left = path.with_extension("left");
    drop(std::os::unix::net::UnixListener::bind(&left).unwrap());
    assert!(left.exists());
    // Of another type, and of the same: what refuses connections is replaced.
    let third = Server::bind(&rackloom_ipc::Endpoint::Unix(left.clone()), ServerConfig::default());
    drop(third);
}
