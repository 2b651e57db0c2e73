//! The channel between a program and a daemon: greetings, a ring that a hostile client writes, and TCP's stream.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicU32, Ordering};

use arbitrary::{Result, Unstructured};
use rackloom_ipc::frame::{Decoder, MESSAGE_HEAD, Piece, message_head};
use rackloom_ipc::hello::{Hello, Role, Welcome};
use rackloom_ipc::ring::{Area, Consumer, Corrupt, Producer, Refused, record_len};
use rackloom_ipc::{BODY_MAX, Batch};

/// Bytes of the ring here: as small as rings get that hold the longest message.
const CAPACITY: u32 = 128 * 1024;

/// A ring in plain memory, which the target changes between the server's calls.
struct Memory {
    words: [AtomicU32; 4],
    bytes: RefCell<Vec<u8>>,
}

impl Area for &Memory {
    type Word = AtomicU32;
    fn head(&self) -> &AtomicU32 {
        &self.words[0]
    }
    fn tail(&self) -> &AtomicU32 {
        &self.words[1]
    }
    fn want_data(&self) -> &AtomicU32 {
        &self.words[2]
    }
    fn want_space(&self) -> &AtomicU32 {
        &self.words[3]
    }
    fn capacity(&self) -> u32 {
        CAPACITY
    }
    fn write(&self, at: u32, bytes: &[u8]) {
        let at = at as usize;
        self.bytes.borrow_mut()[at..at + bytes.len()].copy_from_slice(bytes);
    }
    fn read(&self, at: u32, out: &mut [u8]) {
        let at = at as usize;
        out.copy_from_slice(&self.bytes.borrow()[at..at + out.len()]);
    }
    fn fence(&self) {}
}

/// Target: greetings and answers are read or refused, and what is read can be written again.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn greeting(u: &mut Unstructured<'_>) -> Result<()> {
    let role = if u.arbitrary()? { Role::Bulk } else { Role::Messages };
    let hello = Hello { role, features: u.arbitrary()?, token: u.arbitrary()?, session: u.arbitrary()? };
    let mut bytes = hello.encode().to_vec();
    for _ in 0..u.int_in_range(0..=4)? {
        let at = u.choose_index(bytes.len())?;
        bytes[at] = u.arbitrary()?;
    }
    bytes.truncate(u.int_in_range(bytes.len() - 1..=bytes.len())?);
    if let Ok(read) = Hello::decode(&bytes) {
        assert_eq!(read.encode()[..], bytes[..], "every byte of a hello means something");
    }
    if let Some(Ok(read)) = Welcome::decode(&bytes) {
        assert_eq!(Welcome::decode(&Welcome::encode(&Ok(read))), Some(Ok(read)));
    }
    if let Some(head) = bytes.first_chunk::<{ Piece::HEAD }>()
        && let Some(piece) = Piece::decode(head)
    {
        assert_eq!(piece.encode(), *head);
        assert!(piece.len <= Piece::MAX && piece.offset + u64::from(piece.len) <= piece.total);
    }
    Ok(())
}

/// Target: a reader and a writer whose other side writes anything anywhere: they give messages within the limits or
/// name what is wrong, touch nothing outside, and never take a record twice.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn ring(u: &mut Unstructured<'_>) -> Result<()> {
    let start = *u.choose(&[0, 8, CAPACITY - 8, u32::MAX - 7, u32::MAX - CAPACITY + 1])?;
    let words = [start, start, 0, 0].map(AtomicU32::new);
    let memory = Memory { words, bytes: RefCell::new(vec![0; CAPACITY as usize]) };
    let mut consumer = Consumer::new(&memory, start);
    let mut writer = Producer::new(&memory, start);
    let (mut honest, mut sent) = (true, VecDeque::new());
    while !u.is_empty() {
        match u.int_in_range(0..=5)? {
            0 => {
                honest = false;
                let word = u.choose_index(4)?;
                let near = start.wrapping_add(u32::from(u.arbitrary::<u8>()?) * 8);
                memory.words[word].store(if u.arbitrary()? { near } else { u.arbitrary()? }, Ordering::Relaxed);
            }
            1 => {
                honest = false;
                let at = (start.wrapping_add(u32::from(u.arbitrary::<u16>()?)) % (CAPACITY - 64)) as usize;
                let len = u.int_in_range(0..=u.len().min(64))?;
                let bytes = u.bytes(len)?;
                memory.bytes.borrow_mut()[at..at + bytes.len()].copy_from_slice(bytes);
            }
            2 | 3 => {
                let len = if u.ratio(1, 8)? { u.int_in_range(0..=BODY_MAX)? } else { u.int_in_range(0..=200)? };
                let body = vec![u.arbitrary()?; len];
                let kind = u.arbitrary()?;
                match writer.push(kind, &body) {
                    Ok(()) => sent.push_back((kind, body)),
                    Err(Refused::Full) => {
                        let used: u32 = sent.iter().map(|(_, b): &(u32, Vec<u8>)| record_len(b.len())).sum();
                        assert!(!honest || used + record_len(len) > CAPACITY, "{used} of {CAPACITY} are used");
                        writer.want_space();
                    }
                    Err(Refused::Corrupt(why)) => assert!(!honest && why == Corrupt::Tail),
                }
                writer.data_wanted();
            }
            _ => {
                let mut taken = 0;
                let got = consumer.pop(256, CAPACITY as usize, |kind, len, read| {
                    assert!(len <= BODY_MAX);
                    let mut body = vec![0; len];
                    read(&mut body);
                    taken += record_len(len);
                    if honest {
                        assert_eq!(sent.pop_front(), Some((kind, body)));
                    }
                });
                assert!(taken <= CAPACITY, "no more than there can be");
                if let Err(why) = got {
                    assert!(!honest && matches!(why, Corrupt::Head | Corrupt::Length), "{why}");
                    return Ok(()); // The channel is closed.
                }
                consumer.space_wanted();
            }
        }
    }
    Ok(())
}

/// Target: a stream of messages, valid or not, cut anywhere: what comes out is what a reader of the whole finds.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn stream(u: &mut Unstructured<'_>) -> Result<()> {
    let mut stream = Vec::new();
    for _ in 0..u.int_in_range(1..=20)? {
        if u.ratio(1, 10)? {
            let len = u.int_in_range(0..=u.len().min(20))?;
            stream.extend(u.bytes(len)?);
        } else {
            let len = if u.ratio(1, 10)? { u.int_in_range(0..=BODY_MAX + 1)? } else { u.int_in_range(0..=100)? };
            stream.extend(message_head(u.arbitrary()?, len));
            stream.resize(stream.len() + len, u.arbitrary()?);
        }
    }
    let (want, bad) = whole(&stream);
    let (mut decoder, mut batch, mut rest, mut got) = (Decoder::default(), Batch::new(), &stream[..], Vec::new());
    let failed = 'feed: loop {
        loop {
            match decoder.take(&mut batch) {
                Err(_) => break 'feed true,
                Ok(0) => break,
                Ok(_) => {}
            }
            got.extend(batch.iter().map(|(kind, body)| (kind, body.to_vec())));
            batch.clear();
        }
        if rest.is_empty() {
            break false;
        }
        let room = decoder.room();
        assert!(!room.is_empty(), "a message always fits");
        let most = room.len().min(rest.len());
        let part = if u.is_empty() { most } else { u.int_in_range(1..=most)? };
        room[..part].copy_from_slice(&rest[..part]);
        decoder.filled(part);
        rest = &rest[part..];
    };
    got.extend(batch.iter().map(|(kind, body)| (kind, body.to_vec())));
    assert_eq!(failed, bad);
    assert!(got == want, "{} messages of {}", got.len(), want.len());
    Ok(())
}

/// The messages at the beginning of a stream, and whether a wrong one follows them.
fn whole(mut stream: &[u8]) -> (Vec<(u32, Vec<u8>)>, bool) {
    let mut found = Vec::new();
    while stream.len() >= MESSAGE_HEAD {
        let number = |at: usize| stream[at..at + 4].iter().rev().fold(0u32, |n, b| n << 8 | u32::from(*b));
        let (len, kind) = (number(0) as usize, number(4));
        if len > BODY_MAX {
            return (found, true);
        }
        if stream.len() < MESSAGE_HEAD + len {
            break;
        }
        found.push((kind, stream[MESSAGE_HEAD..MESSAGE_HEAD + len].to_vec()));
        stream = &stream[MESSAGE_HEAD + len..];
    }
    (found, false)
}
