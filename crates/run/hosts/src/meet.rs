//! How the ranks of a start come together: rank 0 waits at a socket, asks who comes for the secret, and hands the
//! shared memory to all.

use std::io::{self, Read as _, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::time::{Duration, Instant};

use crate::chance::random;
use crate::handshake::{HELLO, Hello, PROOF, Side, is_same, proof};
use crate::segment::Segment;
use crate::start::Start;
use crate::{HostError, socket};

/// How long the other end of a connection may take for one message: it only computes a hash.
const ANSWER: Duration = Duration::from_secs(5);
/// Between two attempts to connect or to accept.
const PAUSE: Duration = Duration::from_millis(2);

/// What rank 0 says after a member's proof, or instead of it.
const WELCOME: u8 = 1;
const REFUSED: u8 = 2;
/// What is said once the memory is mapped: by each member, then to all.
const READY: u8 = 3;
/// Bytes of a refusal's text, at most.
const TEXT: u64 = 200;

/// Waits for all ranks of the start; the memory that they share.
pub(crate) fn meet(start: &Start) -> Result<Segment, HostError> {
    start.check()?;
    if start.size == 1 {
        return Segment::create(1);
    }
    let failed = |source| HostError::Meet { place: start.meet.clone(), source };
    socket::own_folder(start.folder()).map_err(failed)?;
    match start.rank {
        0 => lead(start),
        _ => join(start),
    }
}

fn lead(start: &Start) -> Result<Segment, HostError> {
    let failed = |source| HostError::Meet { place: start.meet.clone(), source };
    let listener = UnixListener::bind(&start.meet).map_err(failed)?;
    let met = gather(start, &listener);
    // The place is not needed any more, whatever came of it; somebody may have removed the folder already.
    let _ = std::fs::remove_file(&start.meet);
    let members = met?;
    let segment = Segment::create(start.size)?;
    for (rank, stream) in &members {
        let lost = |_| HostError::Gone { rank: *rank, process: 0 };
        socket::send(stream, WELCOME, Some(segment.memory().file())).map_err(lost)?;
    }
    for (rank, stream) in &members {
        match socket::receive(stream) {
            Ok((READY, _)) => {}
            _ => return Err(HostError::Gone { rank: *rank, process: 0 }),
        }
    }
    // Whoever ends from here on was a rank, and its lock tells.
    members.iter().for_each(|(_, stream)| drop(socket::send(stream, READY, None)));
    Ok(segment)
}

/// Accepts processes until every rank has one.
fn gather(start: &Start, listener: &UnixListener) -> Result<Vec<(usize, UnixStream)>, HostError> {
    let failed = |source| HostError::Meet { place: start.meet.clone(), source };
    listener.set_nonblocking(true).map_err(failed)?;
    let end = Instant::now() + start.patience;
    let mut members: Vec<(usize, UnixStream)> = Vec::new();
    let mut processes = vec![std::process::id()];
    while members.len() + 1 < start.size {
        match listener.accept() {
            Ok((stream, _)) => {
                // A stranger's mistake is the stranger's: the group waits for its own.
                if let Ok(Some((rank, process))) = admit(start, &stream, &members, &processes) {
                    members.push((rank, stream));
                    processes.push(process);
                }
            }
            Err(e) if e.kind() == io::ErrorKind::WouldBlock => {
                if Instant::now() >= end {
                    return Err(HostError::Missing { missing: start.size - members.len() - 1, size: start.size });
                }
                std::thread::sleep(PAUSE);
            }
            Err(e) => return Err(failed(e)),
        }
    }
    Ok(members)
}

/// Whether a process that has connected is a rank, and which.
fn admit(
    start: &Start,
    stream: &UnixStream,
    members: &[(usize, UnixStream)],
    processes: &[u32],
) -> io::Result<Option<(usize, u32)>> {
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(ANSWER))?;
    stream.set_write_timeout(Some(ANSWER))?;
    let process = socket::own_peer(stream)?;
    let mut stream_ref = stream;
    let mut said = [0; HELLO];
    stream_ref.read_exact(&mut said)?;
    let mut answer = [0; 32];
    random(&mut answer)?;
    stream_ref.write_all(&answer)?;
    stream_ref.write_all(&proof(&start.secret, Side::Leader, &said, &answer))?;
    let mut shown = [0; PROOF];
    stream_ref.read_exact(&mut shown)?;
    if !is_same(&shown, &proof(&start.secret, Side::Member, &said, &answer)) {
        return refuse(stream, "it does not know the secret");
    }
    let Some(hello) = Hello::decode(&said) else { return refuse(stream, "it is of another version") };
    let (rank, size) = (hello.rank as usize, hello.size as usize);
    if size != start.size {
        return refuse(stream, &format!("it is of a start of {size} ranks, and this one has {}", start.size));
    }
    if rank == 0 || rank >= size || members.iter().any(|(taken, _)| *taken == rank) {
        return refuse(stream, &format!("another process is rank {rank}"));
    }
    if processes.contains(&process) {
        return refuse(stream, "a process is one rank of a start");
    }
    Ok(Some((rank, process)))
}

fn refuse<T>(mut stream: &UnixStream, why: &str) -> io::Result<Option<T>> {
    stream.write_all(&[REFUSED])?;
    stream.write_all(why.as_bytes())?;
    Ok(None)
}

fn join(start: &Start) -> Result<Segment, HostError> {
    let failed = |source| HostError::Meet { place: start.meet.clone(), source };
    let end = Instant::now() + start.patience;
    let stream = loop {
        match UnixStream::connect(&start.meet) {
            Ok(stream) => break stream,
            Err(_) if Instant::now() < end => std::thread::sleep(PAUSE),
            Err(e) => return Err(failed(e)),
        }
    };
    socket::own_peer(&stream).map_err(failed)?;
    // Rank 0 answers when it has done with those who came before, and lets go when the last has come.
    stream.set_read_timeout(Some(start.patience + ANSWER)).map_err(failed)?;
    stream.set_write_timeout(Some(ANSWER)).map_err(failed)?;
    introduce(start, &stream)?;
    let (word, file) = socket::receive(&stream).map_err(failed)?;
    let segment = match (word, file) {
        (WELCOME, Some(file)) => Segment::open(file, start.size, start.rank)?,
        _ => {
            let mut why = String::new();
            let _ = (&stream).take(TEXT).read_to_string(&mut why);
            return Err(HostError::Refused(why));
        }
    };
    socket::send(&stream, READY, None).map_err(failed)?;
    match socket::receive(&stream) {
        Ok((READY, _)) => Ok(segment),
        _ => Err(HostError::Refused("a rank was lost before all had come".to_owned())),
    }
}

/// Shows rank 0 that this process knows the secret, and has it show the same.
fn introduce(start: &Start, mut stream: &UnixStream) -> Result<(), HostError> {
    let failed = |source| HostError::Meet { place: start.meet.clone(), source };
    let mut hello = Hello { rank: start.rank as u32, size: start.size as u32, nonce: [0; 32] };
    random(&mut hello.nonce).map_err(failed)?;
    let said = hello.encode();
    stream.write_all(&said).map_err(failed)?;
    let (mut answer, mut shown) = ([0; 32], [0; PROOF]);
    stream.read_exact(&mut answer).map_err(failed)?;
    stream.read_exact(&mut shown).map_err(failed)?;
    if !is_same(&shown, &proof(&start.secret, Side::Leader, &said, &answer)) {
        let stranger = io::Error::new(io::ErrorKind::PermissionDenied, "who waits there does not know the secret");
        return Err(failed(stranger));
    }
    stream.write_all(&proof(&start.secret, Side::Member, &said, &answer)).map_err(failed)
}
