//! The handshake: greets a client, describes the boards, and opens the one that it chooses.

use std::sync::Arc;
use std::time::{Duration, Instant};

use opencl_sys::{CL_INVALID_DEVICE, CL_INVALID_OPERATION};
use rackloom_ipc::Peer;
use rackloom_opencl_wire::{Answer, BoardInfo, COMMAND, Command, VERSION, decode_command};

use super::grant::Disconnect;
use super::limits::EndpointLimits;
use super::shared_board::SharedBoard;
use crate::code::Code;
use crate::session::command_loop::answer_any;
use crate::session::inbox::Inbox;
use crate::session::replies::{answer_to, farewell};

/// How long a client may hold a seat without a board: the library opens one at once.
const OPENING: Duration = Duration::from_secs(10);

impl Disconnect for Peer {
    fn disconnect(&self, reason: &str) {
        farewell(self, reason);
    }
}

/// Serves a client until it is gone. `boards` are those that it sees.
pub(crate) fn serve(mut inbox: Inbox, boards: &[Arc<dyn SharedBoard>], endpoint: &EndpointLimits) {
    let mut greeted = false;
    let deadline = Instant::now() + OPENING;
    loop {
        let peer = Arc::clone(&inbox.peer);
        if Instant::now() > deadline {
            return inbox.farewell("no board was opened in time");
        }
        let Ok((kind, body)) = inbox.next(Some(deadline)) else { return };
        let command = match (kind, decode_command(body)) {
            (COMMAND, Ok((command, _))) => command,
            (_, Err(why)) => return inbox.farewell(&why.to_string()),
            (kind, _) => return inbox.farewell(&format!("unknown message kind {kind}")),
        };
        match command {
            Command::Hello { request, version, name } if version == VERSION && !greeted => {
                greeted = true;
                inbox.name = label(name);
                let software = format!("rackloom-manager {}", env!("CARGO_PKG_VERSION"));
                let (boards, limits) = (boards.len() as u16, endpoint.limits(peer.token()));
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
                Some(board) => return board.serve(inbox, request, boards, endpoint),
                None => answer_to(&peer, request, Err(Code(CL_INVALID_DEVICE))),
            },
            _ => return inbox.farewell("this command needs a board; open one first"),
        }
    }
}

/// Characters of a client's name that are kept.
const NAME_MAX: usize = 32;

/// A name for metrics and tables: short, and of plain characters.
fn label(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let short: String = name.chars().map(|c| if plain(c) { c } else { '_' }).take(NAME_MAX).collect();
    if short.is_empty() { "unnamed".to_owned() } else { short }
}

/// Describes the board with this number.
pub(crate) fn info(boards: &[Arc<dyn SharedBoard>], number: u16) -> Option<BoardInfo> {
    boards.get(usize::from(number)).map(|board| board.info().clone())
}
