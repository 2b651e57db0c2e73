//! A client before it has chosen a board: who it is, what there is.

use std::sync::Arc;
use std::time::{Duration, Instant};

use opencl_sys::{CL_DEVICE_NOT_AVAILABLE, CL_INVALID_DEVICE, CL_INVALID_OPERATION};
use rackloom_ipc::{Batch, ChannelError, Peer};
use rackloom_opencl_wire::{
    Answer, BoardInfo, COMMAND, Command, REPLY, Reply, VERSION, decode_command, encode_reply, now_ns,
};

use crate::access::admission::Dismiss;
use crate::access::limits::Terms;
use crate::access::shared_board::SharedBoard;
use crate::board::Space;
use crate::code::Code;
use crate::session::{Session, answer_to};

/// A client's messages, one after the other.
pub(crate) struct Inbox {
    pub(crate) peer: Arc<Peer>,
    /// What the program calls itself, as a label.
    pub(crate) name: String,
    batch: Batch,
    next: usize,
}

/// How long a client may say nothing before it has greeted.
const GREETING: Duration = Duration::from_secs(5);

impl Inbox {
    pub(crate) fn new(peer: Peer) -> Self {
        Self { peer: Arc::new(peer), name: String::new(), batch: Batch::new(), next: 0 }
    }

    /// The next message; waits for it until the deadline.
    ///
    /// # Errors
    /// The channel is closed, or the time is over.
    pub(crate) fn next(&mut self, deadline: Option<Instant>) -> Result<(u32, &[u8]), ChannelError> {
        if self.next == self.batch.len() {
            self.batch.clear();
            self.next = 0;
            if self.peer.recv(deadline, &mut self.batch)? == 0 {
                return Err(ChannelError::Timeout);
            }
        }
        self.next += 1;
        Ok(self.batch.get(self.next - 1).expect("counted above"))
    }

    /// Whether no message has come that was not taken.
    pub(crate) const fn is_empty(&self) -> bool {
        self.next == self.batch.len()
    }

    /// Ends the session with a word.
    pub(crate) fn farewell(&self, reason: &str) {
        farewell(&self.peer, reason);
    }
}

/// Ends a client's session with a word.
pub(crate) fn farewell(peer: &Peer, reason: &str) {
    let mut message = Vec::new();
    encode_reply(&Reply::Farewell { reason: reason.to_owned() }, &[], &mut message);
    let _ = peer.send(REPLY, &message);
    peer.close();
}

impl Dismiss for Peer {
    fn dismiss(&self, reason: &str) {
        farewell(self, reason);
    }
}

/// Serves a client until it is gone. The boards are those that are there for it.
pub(crate) fn serve(mut inbox: Inbox, boards: &[Arc<dyn SharedBoard>], terms: &Terms) {
    let mut greeted = false;
    loop {
        let deadline = (!greeted).then(|| Instant::now() + GREETING);
        let peer = Arc::clone(&inbox.peer);
        let Ok((kind, body)) = inbox.next(deadline) else { return };
        let command = match (kind, decode_command(body)) {
            (COMMAND, Ok((command, _))) => command,
            (_, Err(why)) => return inbox.farewell(&why.to_string()),
            (kind, _) => return inbox.farewell(&format!("message kind {kind} is none of ours")),
        };
        match command {
            Command::Hello { request, version, name } if version == VERSION && !greeted => {
                greeted = true;
                inbox.name = label(name);
                let software = format!("rackloom-manager {}", env!("CARGO_PKG_VERSION"));
                let (boards, limits) = (boards.len() as u16, terms.limits(peer.token()));
                answer_to(&peer, request, Ok(Answer::Welcome { boards, limits, software }));
            }
            Command::Hello { request, version, .. } if !greeted => {
                answer_to(&peer, request, Err(Code(CL_INVALID_OPERATION)));
                return inbox.farewell(&format!(
                    "the library speaks version {version} and this manager version {VERSION}; use those of one release"
                ));
            }
            _ if !greeted => return inbox.farewell("the first message must be a hello"),
            Command::Board { .. } | Command::Clock { .. } => {
                answer_any(&peer, &|number| info(boards, number), &command);
            }
            Command::Open { request, board } => match boards.get(usize::from(board)).cloned() {
                Some(board) => return board.serve(inbox, request, boards, terms),
                None => answer_to(&peer, request, Err(Code(CL_INVALID_DEVICE))),
            },
            _ => return inbox.farewell("this command needs a board; open one first"),
        }
    }
}

/// Bytes of a client's name that are kept.
const NAME_MAX: usize = 32;

/// A name as it goes into metrics and tables: short, and of plain characters.
fn label(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let short: String = name.chars().map(|c| if plain(c) { c } else { '_' }).take(NAME_MAX).collect();
    if short.is_empty() { "unnamed".to_owned() } else { short }
}

/// What a board is, by its number for this client.
type Infos<'a> = dyn Fn(u16) -> Option<BoardInfo> + 'a;

/// Of boards that are there.
pub(crate) fn info(boards: &[Arc<dyn SharedBoard>], number: u16) -> Option<BoardInfo> {
    boards.get(usize::from(number)).map(|board| board.info().clone())
}

/// Answers what a client may ask at any time.
fn answer_any(peer: &Peer, boards: &Infos<'_>, command: &Command<'_>) {
    match command {
        Command::Board { request, board } => {
            let board = boards(*board).ok_or(Code(CL_DEVICE_NOT_AVAILABLE));
            answer_to(peer, *request, board.map(Answer::Board));
        }
        Command::Clock { request } => answer_to(peer, *request, Ok(Answer::Clock(now_ns()))),
        _ => {}
    }
}

/// Takes the commands of a client that has its board open, until it is gone or breaks the rules.
pub(crate) fn attend<S: Space>(mut inbox: Inbox, session: &mut Session<S>, boards: &Infos<'_>) {
    let peer = Arc::clone(&inbox.peer);
    loop {
        let Ok((kind, body)) = inbox.next(None) else { return };
        let done = match (kind, decode_command(body)) {
            (COMMAND, Ok((command @ (Command::Board { .. } | Command::Clock { .. }), _))) => {
                answer_any(&peer, boards, &command);
                Ok(())
            }
            (COMMAND, Ok((command, tail))) => session.command(command, tail).map_err(|why| why.to_string()),
            (_, Err(why)) => Err(why.to_string()),
            (kind, _) => Err(format!("message kind {kind} is none of ours")),
        };
        if let Err(reason) = done {
            return inbox.farewell(&reason);
        }
    }
}
