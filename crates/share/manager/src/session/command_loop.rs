//! The command loop of a client that has a board open.

use std::sync::Arc;

use opencl_sys::CL_DEVICE_NOT_AVAILABLE;
use rackloom_ipc::Peer;
use rackloom_opencl_wire::{Answer, BoardInfo, COMMAND, Command, decode_command, now_ns};

use super::Session;
use super::inbox::Inbox;
use super::replies::answer_to;
use crate::board::Space;
use crate::code::Code;

/// Describes a board by its number for this client.
pub(crate) type Infos<'a> = dyn Fn(u16) -> Option<BoardInfo> + 'a;

/// Answers the commands that a client may send at any time.
pub(crate) fn answer_any(peer: &Peer, boards: &Infos<'_>, command: &Command<'_>) {
    match command {
        Command::Board { request, board } => {
            let board = boards(*board).ok_or(Code(CL_DEVICE_NOT_AVAILABLE));
            answer_to(peer, *request, board.map(Answer::Board));
        }
        Command::Clock { request } => answer_to(peer, *request, Ok(Answer::Clock(now_ns()))),
        _ => {}
    }
}

/// Executes a client's commands until it is gone or violates the protocol.
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
            (kind, _) => Err(format!("unknown message kind {kind}")),
        };
        if let Err(reason) = done {
            return inbox.farewell(&reason);
        }
        if inbox.is_empty() {
            session.rest();
        }
    }
}
