//! What the blocks behind the analyzer do with a read or a launch.
//!
//! The rules are the model's. Gateware hands what it does not take to its firmware with a [`Reason`], and the firmware
//! judges it from scratch; of several things that are wrong, the reason is the one that the model finds first. Whether
//! there is room for a launch is the caller's to know.

use rackloom_card::{Turn, check_access, check_launch, parse_launch};
use rackloom_wire::{ErrorCode, Kind, Packet, Read};

use crate::Fault;
use crate::judge::{Card, Reason};

/// Whether a card takes a read or a launch that its analyzer has routed to memory or to the queue of launches:
/// [`Reason::Accepted`], or why the firmware gets it. `last` is the number of the newest launch accepted, and `takes`
/// says how many arguments each of the role's kernels takes.
pub(crate) fn admit(card: &Card, last: u32, takes: &[u8], frame: &[u8]) -> Result<Reason, Fault> {
    let packet = Packet::parse(frame).map_err(|_| Fault::Refused)?;
    match packet.head.kind {
        Kind::InputRead => Ok(read(card, &packet)),
        Kind::ExecLaunch => Ok(launch(card.memory, last, takes, &packet)),
        _ => Err(Fault::Refused),
    }
}

fn read(card: &Card, packet: &Packet<'_>) -> Reason {
    let Some((body, [])) = packet.view::<Read>() else { return Reason::Malformed };
    let length = body.length.get();
    match check_access(card.memory, card.bulk, packet.head.addr, length.into()) {
        _ if length == 0 => Reason::Length,
        Ok(()) => Reason::Accepted,
        Err((ErrorCode::BadRequest, _)) => Reason::Length,
        Err(_) => Reason::Address,
    }
}

fn launch(memory: u64, last: u32, takes: &[u8], packet: &Packet<'_>) -> Reason {
    let Some((body, _)) = parse_launch(packet.payload) else { return Reason::Malformed };
    if Turn::of(last, packet.head.seq) != Turn::Next {
        return Reason::Turn;
    }
    match check_launch(memory, takes.iter().map(|&n| n.into()), packet.head.addr, body) {
        Ok(()) => Reason::Accepted,
        Err((ErrorCode::BadAddress, _)) => Reason::Address,
        Err(_) => Reason::Kernel,
    }
}
