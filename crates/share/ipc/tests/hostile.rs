//! Clients that write nonsense: into the rings, onto the sockets, before and after the greeting. The server closes
//! their channels with a name for it, and serves the others.

mod common;

use std::fs::File;
use std::io::{IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::net::TcpStream;
use std::os::fd::OwnedFd;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use common::{Place, Transport, deadline, serve};
use proptest::prelude::*;
use rackloom_ipc::frame::{Piece, message_head};
use rackloom_ipc::hello::{Hello, Role, Welcome};
use rackloom_ipc::{
    BODY_MAX, Batch, BulkRef, CLIENTS_MAX, ChannelError, Closed, Corrupt, Endpoint, Handover, Limits, Peer, RESERVED,
    Refusal, ServerConfig, Violation,
};
use rustix::net::{
    AddressFamily, RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, SocketAddrUnix, SocketFlags,
    SocketType,
};

/// Where the words are: as `shared` lays them out.
const WORDS: [u64; 11] = [0, 128, 256, 384, 512, 640, 768, 896, 1024, 1152, 1280];
const HEAD_TO_SERVER: u64 = 0;
const TAIL_TO_CLIENT: u64 = 640;
const RING: u64 = 4096;

/// A client that does what it likes.
struct Raw {
    socket: OwnedFd,
    memory: File,
    start: u32,
    ring: u32,
}

fn connect(endpoint: &Endpoint) -> OwnedFd {
    let Endpoint::Unix(path) = endpoint else { unreachable!() };
    let flags = SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, flags, None).unwrap();
    rustix::net::connect(&socket, &SocketAddrUnix::new(path).unwrap()).unwrap();
    socket
}

fn hello(role: Role, session: [u8; 16]) -> [u8; Hello::LEN] {
    Hello { role, features: u64::MAX, token: [0; 32], session }.encode()
}

/// A packet of the server's, and the file that comes with it.
fn packet(socket: &OwnedFd) -> (Vec<u8>, File) {
    let mut bytes = vec![0; 256];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let iov = &mut [IoSliceMut::new(&mut bytes)];
    let got = rustix::net::recvmsg(socket, iov, &mut control, RecvFlags::empty()).unwrap().bytes;
    let mut files = control.drain().filter_map(|m| match m {
        RecvAncillaryMessage::ScmRights(mut files) => files.next(),
        _ => None,
    });
    let file = File::from(files.next().expect("it comes with a file"));
    drop(files);
    bytes.truncate(got);
    (bytes, file)
}

impl Raw {
    fn new(place: &Place) -> (Self, Peer) {
        let socket = connect(place.server.endpoint());
        rustix::net::send(&socket, &hello(Role::Messages, [0; 16]), SendFlags::NOSIGNAL).unwrap();
        let (answer, memory) = packet(&socket);
        let answer: [u8; Welcome::LEN] = answer.try_into().unwrap();
        let welcome = Welcome::decode(&answer).unwrap().unwrap();
        assert_eq!(welcome.features, 0, "only what both know");
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        (Self { socket, memory, start: welcome.ring_start, ring: welcome.ring_bytes }, peer)
    }

    fn word(&self, at: u64, value: u32) {
        self.memory.write_all_at(&value.to_le_bytes(), at).unwrap();
    }

    /// Bytes at the beginning of the ring to the server.
    fn records(&self, bytes: &[u8]) {
        let mask = self.ring - 1;
        for (i, byte) in bytes.iter().enumerate() {
            let at = u64::from(self.start.wrapping_add(i as u32) & mask);
            self.memory.write_all_at(&[*byte], RING + at).unwrap();
        }
    }
}

/// Receives all there is; how it ends.
fn recv_all(peer: &Peer) -> Option<Closed> {
    let mut batch = Batch::new();
    loop {
        batch.clear();
        match peer.recv(Some(Instant::now()), &mut batch) {
            Ok(0) => return None,
            Ok(n) => assert!(n == batch.len() && batch.iter().all(|(k, b)| k < RESERVED && b.len() <= BODY_MAX)),
            Err(ChannelError::Closed(why)) => return Some(why),
            Err(e) => panic!("{e}"),
        }
    }
}

fn ring_violation(why: Corrupt) -> Option<Closed> {
    Some(Closed::Violation(Violation::Ring(why)))
}

#[test]
fn each_kind_of_nonsense_in_a_ring_has_its_name() {
    let place = Place::new(Transport::Shm, ServerConfig::default());
    let after = |records: &[u8], words: &[(u64, u32)]| {
        let (raw, peer) = Raw::new(&place);
        raw.records(records);
        words.iter().for_each(|(at, by)| raw.word(*at, raw.start.wrapping_add(*by)));
        (recv_all(&peer), peer, raw)
    };
    let record = |kind, len| message_head(kind, len).to_vec();
    assert_eq!(after(&[], &[]).0, None);
    // One message of no bytes, so that what follows is known to be judged and not just refused.
    assert_eq!(after(&record(3, 0), &[(HEAD_TO_SERVER, 8)]).0, None);
    assert_eq!(after(&[], &[(HEAD_TO_SERVER, 4)]).0, ring_violation(Corrupt::Head));
    assert_eq!(after(&[], &[(HEAD_TO_SERVER, (256 << 10) + 8)]).0, ring_violation(Corrupt::Head));
    assert_eq!(after(&[], &[(HEAD_TO_SERVER, -8i32 as u32)]).0, ring_violation(Corrupt::Head));
    assert_eq!(after(&record(3, 1), &[(HEAD_TO_SERVER, 8)]).0, ring_violation(Corrupt::Length));
    assert_eq!(after(&record(3, BODY_MAX + 1), &[(HEAD_TO_SERVER, 128 << 10)]).0, ring_violation(Corrupt::Length));
    assert_eq!(after(&record(3, u32::MAX as usize), &[(HEAD_TO_SERVER, 64)]).0, ring_violation(Corrupt::Length));
    let control = Some(Closed::Violation(Violation::Control));
    for kind in [RESERVED, RESERVED + 1, RESERVED + 2, RESERVED + 3, u32::MAX] {
        assert_eq!(after(&record(kind, 0), &[(HEAD_TO_SERVER, 8)]).0, control, "{kind:#x}");
    }
    // The server writes until it looks at where the client claims to have read.
    for (by, ends) in [(4, true), (-8i32 as u32, true), (1 << 20, true), (0, false)] {
        let (none, peer, _raw) = after(&[], &[(TAIL_TO_CLIENT, by)]);
        assert_eq!(none, None);
        let body = [1; 1000];
        while peer.send(1, &body).is_ok() {}
        let want = if ends { ring_violation(Corrupt::Tail) } else { Some(Closed::Overflow) };
        assert_eq!(peer.closed(), want, "{by:#x}");
    }
    // Arenas that nobody takes: their files must not pile up on their way.
    let ask = [record(RESERVED, 16), vec![0; 8], 4096u64.to_le_bytes().to_vec()].concat();
    assert_eq!(after(&ask.repeat(100), &[(HEAD_TO_SERVER, 2400)]).0, Some(Closed::Overflow));
    let (none, peer, _raw) = after(&ask.repeat(5), &[(HEAD_TO_SERVER, 120)]);
    assert_eq!((none, peer.bulk_bytes()), (None, 5 * 4096));
    // Bytes on the socket.
    let (raw, peer) = Raw::new(&place);
    rustix::net::send(&raw.socket, b"hm", SendFlags::NOSIGNAL).unwrap();
    let end = peer.recv(deadline(), &mut Batch::new());
    assert!(matches!(end, Err(ChannelError::Closed(Closed::Violation(Violation::Socket)))), "{end:?}");
    // Who cuts the memory fails to.
    let (raw, _peer) = Raw::new(&place);
    assert!(raw.memory.set_len(0).is_err() && raw.memory.set_len(1 << 30).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn random_words_and_bytes_disturb_nobody(
        words in prop::collection::vec((prop::sample::select(&WORDS[..]), word()), 0..6),
        bytes in prop::collection::vec(prop_oneof![4 => Just(0u8), 1 => any::<u8>()], 0..600),
        sends in 0..40usize,
    ) {
        let place = Place::new(Transport::Shm, ServerConfig::default());
        let (client, inbox, honest) = place.pair();
        let (raw, peer) = Raw::new(&place);
        raw.records(&bytes);
        for (at, word) in words {
            raw.word(at, match word { Ok(by) => raw.start.wrapping_add(by), Err(word) => word });
        }
        let why = recv_all(&peer);
        let broken = |why| matches!(why, Closed::Violation(Violation::Ring(_) | Violation::Control) | Closed::Overflow);
        let allowed = why.is_none_or(broken);
        prop_assert!(allowed, "{why:?}");
        for _ in 0..sends {
            let _ = peer.send(1, &[0; 20_000]);
        }
        for id in 0..3 {
            prop_assert!(peer.give(&BulkRef::decode(&[id + 1; 24])).is_err());
        }
        honest.send(7, b"all well").unwrap();
        prop_assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap(), (7, b"all well".to_vec()));
    }
}

/// A word: near where it should be, or anything.
fn word() -> impl Strategy<Value = Result<u32, u32>> {
    prop_oneof![
        (0..600u32).prop_map(|w| Ok(w * 8)),
        any::<u16>().prop_map(|w| Ok(w.into())),
        any::<u32>().prop_map(Err)
    ]
}

/// Counts when it is dropped.
struct Dropped(std::sync::Arc<AtomicU32>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }
}

/// A device may be moving its bytes, by their address, while the client does all that it can to take them away.
#[test]
fn an_arena_stays_whole_for_as_long_as_the_server_uses_it() {
    const LEN: u64 = 8192;
    let place = Place::new(Transport::Shm, ServerConfig::default());
    let (raw, peer) = Raw::new(&place);
    let ask = [&message_head(RESERVED, 16)[..], &[0; 8], &LEN.to_le_bytes()].concat();
    let free = [&message_head(RESERVED + 1, 4)[..], &1_u64.to_le_bytes()].concat();
    let (asked, freed) = (ask.len() as u32, (ask.len() + free.len()) as u32);
    raw.records(&[ask, free].concat());
    raw.word(HEAD_TO_SERVER, raw.start.wrapping_add(asked));
    assert_eq!(recv_all(&peer), None);
    let (_, file) = packet(&raw.socket);
    let what = BulkRef::decode(&[1_u64, 0, LEN].map(u64::to_le_bytes).concat().try_into().unwrap());
    let taken = peer.take(&what, None).unwrap();
    let dropped = std::sync::Arc::default();
    let kept = std::sync::Arc::clone(&dropped);
    assert!(taken.arena().unwrap().keep(|| Some(Box::new(Dropped(kept)))));
    for len in [0, 4096, 1 << 20] {
        assert!(file.set_len(len).is_err(), "its size is sealed");
    }
    let hole = rustix::fs::FallocateFlags::PUNCH_HOLE | rustix::fs::FallocateFlags::KEEP_SIZE;
    let _ = rustix::fs::fallocate(&file, hole, 0, LEN); // Its bytes are the client's to lose.
    raw.word(HEAD_TO_SERVER, raw.start.wrapping_add(freed));
    assert_eq!((recv_all(&peer), peer.bulk_bytes()), (None, 0));
    assert!(matches!(peer.take(&what, None), Err(ChannelError::BadReference { .. })), "it has given it back");
    drop((raw, file));
    assert_eq!(end_of(&peer), Closed::PeerGone);
    drop(peer);
    let mut bytes = vec![1; LEN as usize];
    taken.read(0, &mut bytes);
    assert_eq!(dropped.load(Ordering::SeqCst), 0, "a transfer is under way");
    drop(taken);
    assert_eq!(dropped.load(Ordering::SeqCst), 1);
}

#[test]
fn memory_that_changes_all_the_time_disturbs_nobody() {
    let place = Place::new(Transport::Shm, ServerConfig::default());
    let (client, inbox, honest) = place.pair();
    let done = AtomicBool::new(false);
    // Noisy channels that were closed for it.
    let ends = AtomicU32::new(0);
    std::thread::scope(|s| {
        s.spawn(|| serve(&honest));
        let place = &place;
        let (done, ends) = (&done, &ends);
        s.spawn(move || {
            let mut state = 1u64;
            while !done.load(Ordering::SeqCst) {
                let (raw, peer) = Raw::new(place);
                let stop = &AtomicBool::new(false);
                let raw = &raw;
                let noise = move || {
                    let mut next = || {
                        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                        (state >> 33) as u32
                    };
                    let mut steps = 0;
                    while !stop.load(Ordering::SeqCst) {
                        // Mostly right heads, so that the server keeps reading while lengths change under it.
                        raw.memory
                            .write_all_at(&(next() % 80_000).to_le_bytes(), RING + u64::from(next() % 4096) * 8)
                            .unwrap();
                        if steps % 8 == 0 {
                            raw.word(HEAD_TO_SERVER, raw.start.wrapping_add(next() % 4096 * 8));
                        }
                        steps += 1;
                    }
                    state
                };
                state = std::thread::scope(|s| {
                    let noise = s.spawn(noise);
                    let until = Instant::now() + std::time::Duration::from_millis(20);
                    let mut batch = Batch::new();
                    while Instant::now() < until && peer.recv(Some(Instant::now()), &mut batch).is_ok() {
                        let _ = peer.send(1, &[3; 100]);
                        batch.clear();
                    }
                    stop.store(true, Ordering::SeqCst);
                    ends.fetch_add(u32::from(peer.closed().is_some()), Ordering::SeqCst);
                    noise.join().unwrap()
                });
            }
        });
        let end = Instant::now() + common::PATIENCE;
        for i in 0u32.. {
            client.send(i, b"honest").unwrap();
            assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, i);
            if i > 2000 && ends.load(Ordering::SeqCst) >= 3 {
                break;
            }
            assert!(Instant::now() < end, "no noise is taken for what it is");
        }
        done.store(true, Ordering::SeqCst);
        client.close();
    });
}

fn tcp(place: &Place, bytes: &[u8]) -> (TcpStream, Result<Welcome, Refusal>) {
    let Endpoint::Tcp(address) = place.server.endpoint() else { unreachable!() };
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(bytes).unwrap();
    let mut answer = [0; Welcome::LEN];
    stream.read_exact(&mut answer).unwrap();
    (stream, Welcome::decode(&answer).unwrap())
}

/// Both connections of a client, and its peer.
fn tcp_pair(place: &Place) -> (TcpStream, TcpStream, Peer) {
    let (main, welcome) = tcp(place, &hello(Role::Messages, [0; 16]));
    let (bulk, joined) = tcp(place, &hello(Role::Bulk, welcome.unwrap().session));
    assert!(joined.is_ok());
    (main, bulk, place.server.accept(deadline()).unwrap().unwrap())
}

/// Serves a client from another handle, as another process would.
fn pass_on(peer: &Peer) -> Peer {
    let handover = peer.hand_over().unwrap();
    let files = handover.files().into_iter().map(|file| file.try_clone_to_owned().unwrap()).collect();
    Handover::from_parts(files, &handover.state())
        .unwrap()
        .into_peer(Box::new(|_, _, _, _| Some(Box::new(()))))
        .unwrap()
}

fn end_of(peer: &Peer) -> Closed {
    let end = Instant::now() + common::PATIENCE;
    loop {
        if let Some(why) = peer.closed() {
            return why;
        }
        assert!(Instant::now() < end, "the end is not noticed");
        std::thread::yield_now();
    }
}

#[test]
fn what_a_client_breaks_ends_it_for_both_processes() {
    let place = Place::new(Transport::Shm, ServerConfig::default());
    for _ in 0..20 {
        // A packet is read by one of two that watch, and the other is not left waiting.
        let (raw, peer) = Raw::new(&place);
        let next = pass_on(&peer);
        rustix::net::send(&raw.socket, b"hm", SendFlags::NOSIGNAL).unwrap();
        let ends = [end_of(&peer), end_of(&next)];
        assert!(ends.contains(&Closed::Violation(Violation::Socket)), "{ends:?}");
        // What is in the ring is for the one who serves.
        let (raw, peer) = Raw::new(&place);
        let next = pass_on(&peer);
        raw.word(HEAD_TO_SERVER, raw.start.wrapping_add(4));
        assert_eq!(recv_all(&next), ring_violation(Corrupt::Head));
        assert_eq!(end_of(&peer), Closed::PeerGone);
    }
}

#[test]
fn a_client_that_has_half_gone_goes_with_the_old_handle() {
    let place = Place::new(Transport::Tcp, ServerConfig::default());
    let (mut main, mut bulk, peer) = tcp_pair(&place);
    let _next = pass_on(&peer); // Which hangs, and reads nothing.
    main.shutdown(std::net::Shutdown::Write).unwrap();
    assert_eq!(end_of(&peer), Closed::PeerGone);
    drop(peer);
    for stream in [&mut main, &mut bulk] {
        stream.set_read_timeout(Some(common::PATIENCE)).unwrap();
        assert_eq!(stream.read(&mut [0; 1]).unwrap(), 0);
    }
}

/// On its way to the server the end of one connection overtakes the last words on the other.
#[test]
fn a_client_whose_bulk_ends_first_is_heard_to_the_end() {
    let place = Place::new(Transport::Tcp, ServerConfig::default());
    let (mut main, bulk, peer) = tcp_pair(&place);
    drop(bulk);
    let heard = std::thread::scope(|s| {
        let heard = s.spawn(|| {
            let mut batch = Batch::new();
            while peer.recv(deadline(), &mut batch).is_ok_and(|got| got > 0) {}
            batch.iter().map(|(kind, body)| (kind, body.to_vec())).collect::<Vec<_>>()
        });
        std::thread::sleep(Duration::from_millis(100));
        main.write_all(&[&message_head(5, 10)[..], b"last words"].concat()).unwrap();
        drop(main);
        heard.join().unwrap()
    });
    assert_eq!(heard, [(5, b"last words".to_vec())]);
    assert_eq!(peer.closed(), Some(Closed::PeerGone));
}

/// One that keeps its other connection does not keep the channel.
#[test]
fn a_client_without_bulk_is_gone_soon() {
    let place = Place::new(Transport::Tcp, ServerConfig::default());
    let (_main, bulk, peer) = tcp_pair(&place);
    drop(bulk);
    let start = Instant::now();
    let end = peer.recv(deadline(), &mut Batch::new());
    assert!(matches!(end, Err(ChannelError::Closed(Closed::PeerGone))), "{end:?}");
    assert!(start.elapsed() < Duration::from_secs(10), "{:?}", start.elapsed());
}

/// As many as there are seats, from one address: none takes another one's place.
#[test]
fn all_that_were_welcomed_may_bring_their_second_connection() {
    let place = Place::new(Transport::Tcp, ServerConfig::default());
    let came: Vec<_> = (0..CLIENTS_MAX).map(|_| tcp(&place, &hello(Role::Messages, [0; 16]))).collect();
    assert_eq!(tcp(&place, &hello(Role::Messages, [0; 16])).1.unwrap_err(), Refusal::Full);
    for (_, welcome) in &came {
        let (_bulk, joined) = tcp(&place, &hello(Role::Bulk, welcome.as_ref().unwrap().session));
        assert!(joined.is_ok(), "{joined:?}");
    }
}

/// Nobody waits for the second connection of a client that has ended.
#[test]
fn a_client_that_ends_between_its_connections_gives_its_seat_back_at_once() {
    let place = Place::new(Transport::Tcp, ServerConfig { clients_max: 1, ..ServerConfig::default() });
    let start = Instant::now();
    for _ in 0..10 {
        let (main, welcome) = tcp(&place, &hello(Role::Messages, [0; 16]));
        drop(main);
        assert!(tcp(&place, &hello(Role::Bulk, welcome.unwrap().session)).1.is_err(), "it is over");
    }
    drop(tcp_pair(&place));
    assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
}

#[test]
fn nonsense_in_greetings_is_refused_and_the_next_client_is_taken() {
    let limits = Limits { bulk_bytes_max: 1 << 20, ..Limits::default() };
    let config = || ServerConfig { limits, ..ServerConfig::default() };
    let place = Place::new(Transport::Shm, config());
    for len in [1, 63, 65, 4000] {
        let socket = connect(place.server.endpoint());
        rustix::net::send(&socket, &vec![0x55; len], SendFlags::NOSIGNAL).unwrap();
        let mut answer = [0; Welcome::LEN];
        let _ = rustix::net::recv(&socket, &mut answer, RecvFlags::empty()).unwrap();
        assert!(Welcome::decode(&answer).unwrap().is_err());
    }
    // More than may greet at a time, and say nothing: they are given up, and the next is served.
    let silent: Vec<_> = (0..40).map(|_| connect(place.server.endpoint())).collect();
    drop(place.pair());
    drop(silent);

    let place = Place::new(Transport::Tcp, config());
    assert!(tcp(&place, &[0x55; Hello::LEN]).1.is_err());
    assert!(tcp(&place, &hello(Role::Bulk, [1; 16])).1.is_err(), "no such session");
    let pair = || tcp_pair(&place);
    let end = |peer: &Peer| loop {
        if let Err(ChannelError::Closed(why)) = peer.recv(deadline(), &mut Batch::new()) {
            return why;
        }
    };
    let (mut main, _bulk, peer) = pair();
    main.write_all(&message_head(1, BODY_MAX + 1)).unwrap();
    assert_eq!(end(&peer), Closed::Violation(Violation::MessageLength));
    let (mut main, _bulk, peer) = pair();
    main.write_all(&message_head(RESERVED, 0)).unwrap();
    assert_eq!(end(&peer), Closed::Violation(Violation::Control));
    let piece = Piece { id: 1, total: 100, offset: 0, len: 50 };
    for (bad, why) in [
        (vec![0xff; 32], Violation::Bulk),
        (Piece { offset: 10, ..piece }.encode().to_vec(), Violation::Bulk),
        (Piece { total: (1 << 20) + 1, ..piece }.encode().to_vec(), Violation::BulkQuota),
        ([&piece.encode()[..], &[0; 50], &Piece { id: 2, offset: 50, ..piece }.encode()].concat(), Violation::Bulk),
        ([&piece.encode()[..], &[0; 50], &Piece { offset: 40, ..piece }.encode()].concat(), Violation::Bulk),
    ] {
        let (_main, mut bulk, peer) = pair();
        bulk.write_all(&bad).unwrap();
        assert_eq!(end(&peer), Closed::Violation(why));
    }
    drop(place.pair());
}
