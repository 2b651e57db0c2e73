//! What a server says before it ends a channel is heard, whatever the client has sent meanwhile.

mod common;

use std::time::{Duration, Instant};

use common::{ALL, Place, Transport, deadline};
use rackloom_ipc::{Batch, ServerConfig};

const ROUNDS: usize = 200;
const REFUSED: u32 = 7;

/// Clients ask, are answered, and their channel ends: how many have not heard the answer.
fn lost(transport: Transport, more: usize) -> usize {
    let place = Place::new(transport, ServerConfig::default());
    std::thread::scope(|scope| {
        scope.spawn(|| {
            for _ in 0..ROUNDS {
                let peer = place.server.accept(deadline()).unwrap().expect("a client has connected");
                let mut batch = Batch::new();
                assert!(peer.recv(deadline(), &mut batch).unwrap() > 0);
                peer.send(REFUSED, b"no room").unwrap();
                peer.close();
            }
        });
        let hears = |_: &usize| {
            let (client, inbox) = place.connect();
            client.send(1, b"may I?").unwrap();
            // It is ahead of its answers, until it hears that the channel has ended.
            let _ = (0..more).try_for_each(|_| client.send(2, &[0; 4096]));
            client.wait(deadline(), || inbox.pop()).is_ok_and(|(kind, body)| kind == REFUSED && body == b"no room")
        };
        ROUNDS - (0..ROUNDS).filter(hears).count()
    })
}

#[test]
fn a_refusal_is_heard() {
    for transport in ALL {
        assert_eq!(lost(transport, 0), 0, "of {ROUNDS} over {transport:?}");
    }
}

#[test]
fn a_refusal_is_heard_by_one_who_has_sent_more_than_was_read() {
    for transport in ALL {
        assert_eq!(lost(transport, 64), 0, "of {ROUNDS} over {transport:?}");
    }
}

#[test]
fn several_threads_that_wait_hear_it() {
    let place = Place::new(Transport::Tcp, ServerConfig::default());
    for _ in 0..50 {
        let (client, inbox, peer) = place.pair();
        let heard = std::sync::atomic::AtomicUsize::new(0);
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let count = || inbox.pop().map(|_| heard.fetch_add(1, std::sync::atomic::Ordering::SeqCst));
                    client.wait(deadline(), count).expect("there is one for each");
                });
            }
            std::thread::sleep(Duration::from_millis(1));
            (0..4).for_each(|_| peer.send(REFUSED, b"no room").unwrap());
            peer.close();
        });
        assert_eq!(heard.into_inner(), 4);
    }
}

/// A server that is gone without a word on one of the connections is noticed all the same.
#[test]
fn the_end_is_noticed_soon() {
    let place = Place::new(Transport::Tcp, ServerConfig::default());
    let (client, _, peer) = place.pair();
    drop(peer);
    let start = Instant::now();
    assert!(client.wait(deadline(), || None::<()>).is_err());
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}
