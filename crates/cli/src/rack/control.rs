//! The control socket of a rack that is up: `rackloom card` asks, `rackloom up` answers.
//!
//! One line of JSON each way. The socket is beside the segment's, in a directory that only its user can enter; the
//! server checks the user again.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rackloom::Net;
use rackloom_live::segment::SegmentPath;
use rackloom_rack::segment_of;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::failure::{Explain, Failure, Result};
use crate::rack::Kind;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "op", rename_all = "lowercase")]
pub(crate) enum Request {
    /// Plug in cards.
    Add {
        /// What runs them.
        kind: Kind,
        /// How many.
        count: u16,
    },
    /// Pull a card out.
    Rm {
        /// Its unit number.
        unit: u16,
        /// Without a goodbye.
        yank: bool,
    },
    /// List the cards.
    Ls,
    /// List the hosts' network interfaces.
    Nics,
    /// Give the cards the keys in a file.
    Keys {
        /// The file, from the root on.
        file: PathBuf,
    },
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Reply {
    /// Done, with the cards concerned.
    Done(Vec<Slot>),
    /// The hosts' network interfaces.
    Nics(Vec<NicSlot>),
    /// Not done, and why.
    Failed(String),
}

/// A card as its rack knows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Slot {
    /// Its name.
    pub(crate) name: String,
    /// Its unit number.
    pub(crate) unit: u16,
    /// Its address.
    pub(crate) mac: String,
}

/// A host's network interface through a card, as the rack knows it. Frames are counted since the card was plugged in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct NicSlot {
    /// Name of the card.
    pub(crate) card: String,
    /// Whether the card is plugged in.
    pub(crate) present: bool,
    /// Name of the interface when it was made.
    pub(crate) interface: String,
    /// Its address.
    pub(crate) mac: String,
    /// `none`, `pass` or `hold`: whether the card's role sees the frames, and what becomes of them without one.
    pub(crate) hook: String,
    /// Frames handed to the host.
    pub(crate) to_host_frames: u64,
    /// Their bytes.
    pub(crate) to_host_bytes: u64,
    /// Frames of the host sent to the wire.
    pub(crate) to_wire_frames: u64,
    /// Their bytes.
    pub(crate) to_wire_bytes: u64,
    /// Frames dropped because their source cannot be.
    pub(crate) forged: u64,
    /// Frames of the host dropped because they belong to a family of Rackloom's, or to MAC control.
    pub(crate) reserved: u64,
    /// Frames of the host dropped because they are for the card, or for the host itself.
    pub(crate) astray: u64,
    /// Frames dropped because too many waited, or because they are too long.
    pub(crate) overflow: u64,
    /// Frames held back because no role was there to see them.
    pub(crate) held: u64,
    /// Frames dropped because the role did not keep up.
    pub(crate) missed: u64,
    /// Times that the host was ordered to pause, because the wire did not keep up.
    pub(crate) paused: u64,
}

/// Longest request, bytes; a usual one has about 50.
const REQUEST_MAX: u64 = 4 << 10;
/// Longest answer, bytes: room for 80 bytes for each of 1024 cards.
const REPLY_MAX: u64 = 1 << 20;
/// Most time for a request: a client sends it at once.
const REQUEST_TIMEOUT: Duration = Duration::from_secs(1);
/// Starting many cards takes a while.
const REPLY_TIMEOUT: Duration = Duration::from_secs(30);

fn socket_of(path: &SegmentPath) -> PathBuf {
    path.socket().with_extension("ctl")
}

/// Answers requests until it is dropped.
#[derive(Debug)]
pub(crate) struct ControlServer {
    listener: UnixListener,
    socket: PathBuf,
}

impl ControlServer {
    /// Listens beside a segment's socket. The caller serves that segment, so a socket that is there already is left
    /// over from a dead process.
    pub(crate) fn open(path: &SegmentPath) -> Result<Self> {
        let socket = socket_of(path);
        let what = || format!("cannot listen at {}", socket.display());
        match std::fs::remove_file(&socket) {
            Err(e) if e.kind() != ErrorKind::NotFound => return Err(e).during(what()),
            _ => {}
        }
        let listener = UnixListener::bind(&socket).during(what())?;
        listener.set_nonblocking(true).during(what())?;
        Ok(Self { listener, socket })
    }

    /// Waits for a request, at most for this time.
    pub(crate) fn wait(&self, time: Duration) {
        let mut fds = [PollFd::new(&self.listener, PollFlags::IN)];
        let time = Timespec { tv_sec: time.as_secs() as i64, tv_nsec: time.subsec_nanos().into() };
        let _ = poll(&mut fds, Some(&time)); // A signal ends it early, and nothing else can fail.
    }

    /// Answers the requests that have come; waits at most a second for each.
    pub(crate) fn serve(&self, mut answer: impl FnMut(Request) -> Reply) {
        while let Ok((stream, _)) = self.listener.accept() {
            // A client that breaks the protocol gets no answer; the others do.
            let _ = serve_one(&stream, &mut answer);
        }
    }
}

impl Drop for ControlServer {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.socket);
    }
}

fn serve_one(stream: &UnixStream, answer: &mut impl FnMut(Request) -> Reply) -> std::io::Result<()> {
    let peer = rustix::net::sockopt::socket_peercred(stream)?;
    if peer.uid != rustix::process::geteuid() {
        return Ok(());
    }
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(REQUEST_TIMEOUT))?;
    stream.set_write_timeout(Some(REQUEST_TIMEOUT))?;
    let mut line = String::new();
    BufReader::new(stream.take(REQUEST_MAX)).read_line(&mut line)?;
    let reply = match serde_json::from_str(&line) {
        Ok(request) => answer(request),
        Err(e) => Reply::Failed(format!("malformed request: {e}")),
    };
    let mut text = serde_json::to_string(&reply).expect("plain data");
    text.push('\n');
    (&mut &*stream).write_all(text.as_bytes())
}

/// Asks the rack that is up on a network for something about cards.
pub(crate) fn ask(net: &Net, request: &Request) -> Result<Vec<Slot>> {
    match ask_any(net, request)? {
        Reply::Done(slots) => Ok(slots),
        Reply::Nics(_) => Err(Failure::new(format!("the rack on {net} answers another question"))),
        Reply::Failed(why) => Err(Failure::new(why)),
    }
}

/// Asks the rack that is up on a network for its hosts' network interfaces.
pub(crate) fn ask_nics(net: &Net) -> Result<Vec<NicSlot>> {
    match ask_any(net, &Request::Nics)? {
        Reply::Nics(slots) => Ok(slots),
        Reply::Done(_) => Err(Failure::new(format!("the rack on {net} answers another question"))),
        Reply::Failed(why) => Err(Failure::new(why)),
    }
}

fn ask_any(net: &Net, request: &Request) -> Result<Reply> {
    let socket = socket_of(&segment_of(net).map_err(|e| Failure::of(&e))?);
    exchange(&socket, request).map_err(|e| match e.kind() {
        ErrorKind::NotFound | ErrorKind::ConnectionRefused => Failure::new(format!("no rack is up on {net}"))
            .help("start one with `rackloom up`; only the same user on the same machine can change it"),
        _ => Failure::of(&e).during(format!("cannot talk to the rack on {net}")),
    })
}

fn exchange(socket: &Path, request: &Request) -> std::io::Result<Reply> {
    let mut stream = UnixStream::connect(socket)?;
    stream.set_read_timeout(Some(REPLY_TIMEOUT))?;
    let mut text = serde_json::to_string(request).expect("plain data");
    text.push('\n');
    stream.write_all(text.as_bytes())?;
    let mut line = String::new();
    BufReader::new(stream.take(REPLY_MAX)).read_line(&mut line)?;
    serde_json::from_str(&line).map_err(std::io::Error::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sends these bytes to a server in a private directory; returns the requests that it saw, and its answer.
    fn send(bytes: &[u8]) -> (Vec<Request>, String) {
        let dir = tempfile::tempdir().unwrap();
        let path = SegmentPath::under(dir.path(), "test").unwrap();
        let server = ControlServer::open(&path).unwrap();
        let mut client = UnixStream::connect(socket_of(&path)).unwrap();
        client.write_all(bytes).unwrap();
        client.shutdown(std::net::Shutdown::Write).unwrap();
        let mut asked = Vec::new();
        server.serve(|request| {
            asked.push(request);
            Reply::Done(Vec::new())
        });
        let mut answer = String::new();
        let _ = client.read_to_string(&mut answer);
        (asked, answer)
    }

    #[test]
    fn a_request_is_answered() {
        let (asked, answer) = send(b"{\"op\":\"rm\",\"unit\":3,\"yank\":true}\n");
        assert_eq!(asked, [Request::Rm { unit: 3, yank: true }]);
        assert_eq!(answer, "{\"done\":[]}\n");
    }

    #[test]
    fn malformed_requests_are_refused() {
        for nonsense in [&b"\n"[..], b"{\"op\":\"format\"}\n", b"\xff\xfe\n", &[b'x'; 10_000], b""] {
            let (asked, _) = send(nonsense);
            assert_eq!(asked, []);
        }
    }

    #[test]
    fn the_socket_of_a_dead_server_is_replaced() {
        let dir = tempfile::tempdir().unwrap();
        let path = SegmentPath::under(dir.path(), "test").unwrap();
        std::mem::forget(ControlServer::open(&path).unwrap());
        assert!(ControlServer::open(&path).is_ok());
    }
}
