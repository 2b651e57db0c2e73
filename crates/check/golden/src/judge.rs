//! What becomes of a frame in a card made of gateware.
//!
//! Drops are those of the card model, from its own analyzer. Routes are not: the model has one dispatcher, gateware
//! has fast paths in hardware and a ring to its firmware. The two differ in who acts, and not in what a host sees:
//!
//! - A frame whose kind the firmware takes goes to the ring, whoever sent it. What the kind requires of the sender is
//!   checked by the firmware, as it is by the model's dispatcher.
//! - A write, read or launch whose sender does not hold what the kind requires goes to the ring with
//!   [`Reason::Epoch`]. The model drops and refuses it at this point; here the firmware does.
//! - A write that the model refuses by `check_access` goes to the ring with [`Reason::Length`] or [`Reason::Address`].
//!   The model looks at the window first; so does the firmware.
//! - Reads and launches are judged further by their own blocks (`admit`); whether a write or chunk is new is for the
//!   window and for the bitmap of the load. None of that is said here.
//! - Image data whose sender does not hold the load is dropped by both.

use rackloom_card::{Claimed, Filter, check_access};
use rackloom_wire::rules::{Order, TakenBy};
use rackloom_wire::{Counter, ErrorCode, HEADER_END, Kind, MacAddr, Packet};

use crate::Fault;
use crate::frame::mac;

/// What a card judges frames by.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Card {
    /// The card's address, 48 bits.
    pub mac: u64,
    /// The owner's address, 48 bits, if claimed.
    pub owner: u64,
    /// Bytes of memory.
    pub memory: u64,
    /// The claim's epoch.
    pub epoch: u16,
    /// The claim's group; 0: none.
    pub claim_group: u16,
    /// The load's group.
    pub load_group: u16,
    /// Most payload bytes of a write.
    pub bulk: u16,
    /// 1: there is a claim, else 0.
    pub claimed: u8,
    /// 1: the card is a member of a load, else 0.
    pub loading: u8,
}

/// Where a frame goes, by the numbers of the gateware's `route_e`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Route {
    /// Nowhere.
    Drop = 0,
    /// To the firmware, over the ring.
    Control = 1,
    /// To memory.
    Write = 2,
    /// From memory.
    Read = 3,
    /// To the staging area.
    Image = 4,
    /// To the queue of launches.
    Launch = 5,
}

/// Reason a frame goes to the firmware, by the numbers of the gateware's `divert_reason_e`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub enum Reason {
    /// Its kind is the firmware's.
    Kind = 0,
    /// Its sender does not hold what the kind requires.
    Epoch = 1,
    /// Its payload is not what its kind requires.
    Malformed = 2,
    /// A write or read that is too long, or a read of nothing.
    Length = 3,
    /// It reaches beyond the memory that hosts may touch.
    Address = 4,
    /// A launch that is not the next.
    Turn = 5,
    /// A launch of a kernel that is not there, or takes another number of arguments.
    Kernel = 6,
    /// Nothing is wrong: a read or launch that is taken.
    Accepted = 8,
}

/// What becomes of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(C)]
pub struct Verdict {
    /// The number of the counter that counts the drop; -1: it is not dropped.
    pub drop: i32,
    /// Where it goes.
    pub route: u8,
    /// Reason, if it goes to the firmware.
    pub reason: u8,
    /// 1: it waits until the firmware has finished the barriers before it, else 0.
    pub waits: u8,
    /// 1: frames that depend on claim or load wait until the firmware has finished it, else 0.
    pub barrier: u8,
}

/// What becomes of these bytes, their check sequence being right.
pub(crate) fn judge(card: &Card, frame: &[u8]) -> Result<Verdict, Fault> {
    let filter = card.filter()?;
    let verdict = match filter.analyze(frame) {
        Ok(packet) => route_of(card, &filter, &packet),
        Err(counter) => Verdict::dropped(counter),
    };
    Ok(Verdict { waits: waits(frame).into(), ..verdict })
}

/// The same for a frame that the analyzer has let through, whatever its addresses are: for tests of what comes after.
pub(crate) fn route(card: &Card, frame: &[u8]) -> Result<Verdict, Fault> {
    let packet = Packet::parse(frame).map_err(|_| Fault::Refused)?;
    let verdict = route_of(card, &card.filter()?, &packet);
    Ok(Verdict { waits: waits(frame).into(), ..verdict })
}

pub(crate) fn route_of(card: &Card, filter: &Filter, packet: &Packet<'_>) -> Verdict {
    let Packet { head, payload } = packet;
    let admitted = filter.admits(head);
    match head.kind.taken_by() {
        // Nobody sends a card what only hosts take; if it gets past the analyzer, the firmware counts it.
        // The last three take no control frame.
        TakenBy::Firmware | TakenBy::Host | TakenBy::Bridge | TakenBy::Transport | TakenBy::Sequencer => {
            Verdict { barrier: (head.kind.order() == Order::Barrier).into(), ..Verdict::control(Reason::Kind) }
        }
        TakenBy::Image if !admitted => Verdict::dropped(Counter::DropEpoch),
        TakenBy::Image => Verdict::to(Route::Image),
        _ if !admitted => Verdict::control(Reason::Epoch),
        TakenBy::Read => Verdict::to(Route::Read),
        TakenBy::Launch => Verdict::to(Route::Launch),
        TakenBy::Write => match check_access(card.memory, card.bulk, head.addr, payload.len() as u64) {
            Ok(()) => Verdict::to(Route::Write),
            Err((ErrorCode::BadRequest, _)) => Verdict::control(Reason::Length),
            Err(_) => Verdict::control(Reason::Address),
        },
    }
}

/// Whether what the firmware is still to do may change what becomes of these bytes.
pub(crate) fn waits(frame: &[u8]) -> bool {
    let to_group = frame.first_chunk().is_some_and(|&dst| MacAddr(dst).is_group()) && frame.len() >= ADDRESSES;
    let order = match frame.first_chunk::<{ HEADER_END as usize }>() {
        Some(head) => Kind::from_wire(u16::from_be_bytes([head[12], head[13]]), head[15]).map(Kind::order),
        None => None,
    };
    to_group || matches!(order, Some(Order::AfterBarrier | Order::AfterControl))
}

impl Card {
    pub(crate) fn filter(&self) -> Result<Filter, Fault> {
        if self.claimed > 1 || self.loading > 1 {
            return Err(Fault::Argument);
        }
        let claim = Claimed { owner: mac(self.owner)?, epoch: self.epoch, group: self.claim_group };
        let load = (self.loading == 1).then_some(self.load_group);
        Ok(Filter { mac: mac(self.mac)?, claim: (self.claimed == 1).then_some(claim), load })
    }
}

impl Verdict {
    const fn to(route: Route) -> Self {
        Self { drop: -1, route: route as u8, reason: Reason::Kind as u8, waits: 0, barrier: 0 }
    }

    const fn control(reason: Reason) -> Self {
        Self { reason: reason as u8, ..Self::to(Route::Control) }
    }

    pub(crate) const fn dropped(counter: Counter) -> Self {
        Self { drop: counter as i32, ..Self::to(Route::Drop) }
    }
}

/// Bytes of a frame's two addresses, of which a group's is looked at only when both have come.
const ADDRESSES: usize = 12;
