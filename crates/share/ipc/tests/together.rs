//! Messages that are sent together: kept until the next one or until somebody waits, and replies in one go.

mod common;

use std::time::{Duration, Instant};

use common::{ALL, ECHO, Place, Transport, deadline, serve};
use rackloom_ipc::{Batch, ChannelError, Closed, Limits, ServerConfig};

/// Takes messages until there are `count`.
fn take(peer: &rackloom_ipc::Peer, count: usize) -> Vec<(u32, Vec<u8>)> {
    let mut batch = Batch::new();
    while batch.len() < count {
        assert!(peer.recv(deadline(), &mut batch).unwrap() > 0, "only {} came", batch.len());
    }
    batch.iter().map(|(kind, body)| (kind, body.to_vec())).collect()
}

#[test]
fn what_may_leave_later_is_there_before_the_next_message_and_in_order() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, _inbox, peer) = place.pair();
        // The longest do not fit with those that are kept. All fit into a ring, since nobody reads yet.
        let body = |kind: u32| vec![kind as u8; [0, 1, 40, 9000, 20_000][kind as usize % 5]];
        for kind in 0..20 {
            client.send_later(kind, &body(kind)).unwrap();
        }
        client.send(20, b"now").unwrap();
        let came = take(&peer, 21);
        assert!(came[..20].iter().zip(0..).all(|((kind, bytes), n)| *kind == n && *bytes == body(n)), "{transport:?}");
        assert_eq!(came[20], (20, b"now".to_vec()));
    }
}

#[test]
fn what_is_kept_leaves_when_somebody_waits_or_polls() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let (client, inbox, peer) = place.pair();
        client.send_later(1, b"polled").unwrap();
        client.poll().unwrap();
        assert_eq!(take(&peer, 1), [(1, b"polled".to_vec())]);
        std::thread::scope(|scope| {
            scope.spawn(|| serve(&peer));
            client.send_later(ECHO, b"waited for").unwrap();
            assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().1, b"waited for");
            client.close();
        });
        assert!(matches!(client.send_later(1, b""), Err(ChannelError::Closed(Closed::Here))), "{transport:?}");
    }
}

#[test]
fn over_tcp_kept_messages_are_kept() {
    let place = Place::new(Transport::Tcp, ServerConfig::default());
    let (client, _inbox, peer) = place.pair();
    client.send_later(1, b"kept").unwrap();
    let soon = Some(Instant::now() + Duration::from_millis(50));
    assert_eq!(peer.recv(soon, &mut Batch::new()).unwrap(), 0, "it left at once");
    client.send(2, b"").unwrap();
    assert_eq!(take(&peer, 2).len(), 2);
}

#[test]
fn replies_in_one_go_arrive_whole_whatever_room_there_is() {
    // What waits for a client that reads slowly has room for all of it.
    let limits = Limits { queue_messages_max: 1000, queue_bytes_max: 16 << 20, ..Limits::default() };
    for transport in ALL {
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        let (client, inbox, peer) = place.pair();
        // More than a ring or a socket's buffers hold.
        let replies: Vec<Vec<u8>> = (0..200).map(|n| vec![n as u8; n * 80]).collect();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                take(&peer, 1);
                (0..3).for_each(|_| peer.send_all(7, &replies).unwrap());
                peer.send_all(8, &[]).unwrap();
                peer.send_all(8, &[b"last".to_vec()]).unwrap();
                serve(&peer)
            });
            client.send(1, b"").unwrap();
            for n in 0..600 {
                let (kind, body) = client.wait(deadline(), || inbox.pop()).unwrap();
                assert!(kind == 7 && body == replies[n % 200], "{transport:?}: {n}");
            }
            assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap(), (8, b"last".to_vec()));
            client.close();
        });
    }
}

#[test]
fn replies_in_one_go_have_the_bounds_of_single_ones() {
    for transport in ALL {
        let limits = Limits { queue_messages_max: 100, queue_bytes_max: 1 << 20, ..Limits::default() };
        let place = Place::new(transport, ServerConfig { limits, ..ServerConfig::default() });
        let (_client, _inbox, peer) = place.pair();
        let long = vec![0; rackloom_ipc::BODY_MAX + 1];
        assert!(matches!(peer.send_all(1, &[Vec::new(), long]), Err(ChannelError::TooLong { .. })), "{transport:?}");
        let reserved = peer.send_all(u32::MAX, &[Vec::new(), Vec::new()]);
        assert!(matches!(reserved, Err(ChannelError::ReservedKind(_))), "{transport:?}");
        // In one go, so that the client's own thread has read little of it.
        let many = vec![vec![0; 60_000]; 1000];
        assert!(matches!(peer.send_all(1, &many), Err(ChannelError::Closed(Closed::Overflow))), "{transport:?}");
    }
}
