//! The card's bridge: its memory and its role's streams, open to the peers that the claim's owner names.

use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom_bridge::{
    Endpoint, EndpointConfig, EndpointCounters, Failure, NotTaken, Rights, Target, TargetFailed, Ticket, Window,
};
use rackloom_node::{Frame, Instant};
use rackloom_role::{self as role, RemoteAccess, RemoteFault, RemoteWork};
use rackloom_wire::bridge::STREAMS;
use rackloom_wire::{self as wire, Counter, ErrorCode, MacAddr};

use crate::memory::is_hosts;
use crate::shell::Shell;
use crate::{Config, Counters};

/// A stream of another node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Route {
    pub(crate) peer: MacAddr,
    pub(crate) stream: u16,
}

/// The endpoint, and what of its counters the card's have.
#[derive(Debug)]
pub(crate) struct Bridge {
    pub(crate) endpoint: Endpoint,
    counted: EndpointCounters,
    /// Where what the role sends on a stream goes.
    routes: [Option<Route>; STREAMS as usize],
    /// What the role has sent and the bridge has no room for yet: the role waits meanwhile.
    waiting: Option<(Route, Frame)>,
    /// The role's number of each of its accesses to other nodes' memory that is under way.
    remote: BTreeMap<Ticket, u32>,
    /// Whose turn it is at the wire, where other blocks have frames as well.
    pub(crate) is_next: bool,
}

impl Bridge {
    /// The bridge of a card in its first life; `None` if the card has none.
    pub(crate) fn new(config: &Config) -> Option<Self> {
        config.bridge.then(|| {
            // The boot number is random, so a life before this one is not taken for it.
            let mut endpoint = EndpointConfig::new(config.mac, config.boot.max(1), config.pace.is_live());
            endpoint.longest = if config.bulk > wire::BULK_STANDARD {
                wire::bridge::MESSAGE_JUMBO
            } else {
                wire::bridge::MESSAGE_STANDARD
            };
            Self {
                endpoint: Endpoint::new(endpoint),
                counted: EndpointCounters::default(),
                routes: [None; STREAMS as usize],
                waiting: None,
                remote: BTreeMap::new(),
                is_next: false,
            }
        })
    }

    /// Sets or closes a window of the owner's.
    ///
    /// # Errors
    /// Code and detail of the refusal.
    pub(crate) fn set_window(&mut self, memory: u64, number: u64, body: &wire::Window) -> Result<(), (ErrorCode, u64)> {
        let (base, length) = (body.base.get(), body.length.get());
        let rights = Rights::from_bits(body.rights).ok_or_else(|| (ErrorCode::BadRequest, u64::from(body.rights)))?;
        let window = (length > 0).then_some(Window { base, length, peer: body.peer, rights });
        if window.is_some() {
            let fits = match rights {
                Rights::STREAM => base.checked_add(length).is_some_and(|end| end <= u64::from(STREAMS)),
                _ => is_hosts(memory, base, length),
            };
            if !fits {
                let bound = if rights == Rights::STREAM { u64::from(STREAMS) } else { memory };
                return Err((ErrorCode::BadAddress, bound));
            }
        }
        match self.endpoint.windows().set(number, window) {
            true => Ok(()),
            false => Err((ErrorCode::BadRequest, u64::from(wire::bridge::WINDOWS))),
        }
    }

    /// Sets or ends the route of the role's stream `number`.
    ///
    /// # Errors
    /// Code and detail of the refusal.
    pub(crate) fn set_route(&mut self, number: u64, body: &wire::Route) -> Result<(), (ErrorCode, u64)> {
        let bound = Err((ErrorCode::BadRequest, u64::from(STREAMS)));
        let own = self.endpoint.config().mac;
        let Some(place) = usize::try_from(number).ok().and_then(|at| self.routes.get_mut(at)) else { return bound };
        let route = Route { peer: body.peer, stream: body.stream.get() };
        if route.stream >= STREAMS || route.peer.is_multicast() || route.peer == own {
            return bound;
        }
        *place = (!route.peer.is_zero()).then_some(route);
        Ok(())
    }

    /// Where what the role sends on this stream goes.
    pub(crate) fn route(&self, stream: u8) -> Option<Route> {
        self.routes.get(usize::from(stream)).copied().flatten()
    }

    /// Sends a message of the role's; it waits here if there is no room.
    ///
    /// # Errors
    /// [`NotTaken`]: it cannot be sent at all, now or later.
    pub(crate) fn send(&mut self, now: Instant, route: Route, message: Frame) -> Result<(), NotTaken> {
        debug_assert!(self.waiting.is_none());
        match self.endpoint.send(now, route.peer, route.stream, &message) {
            Err(NotTaken::Full | NotTaken::Peers) => self.waiting = Some((route, message)),
            result => return result,
        }
        Ok(())
    }

    /// Begins an access of the role's to the memory of the node to which one of its streams is routed. Not more than
    /// [`TRANSACTIONS`](wire::bridge::TRANSACTIONS) are under way to one node.
    ///
    /// # Errors
    /// It is over: nothing was done.
    pub(crate) fn begin_remote(&mut self, now: Instant, access: RemoteAccess) -> Result<(), RemoteFault> {
        let peer = self.route(access.stream).ok_or(RemoteFault::NoRoute)?.peer;
        let begun = match access.work {
            RemoteWork::Read(length) => self.endpoint.read(now, peer, access.addr, length),
            RemoteWork::Write(bytes) => self.endpoint.write(now, peer, access.addr, bytes),
        };
        let ticket = begun.map_err(|why| match why {
            NotTaken::Full | NotTaken::Peers => RemoteFault::Busy,
            NotTaken::Invalid => RemoteFault::Refused,
        })?;
        self.remote.insert(ticket, access.number);
        Ok(())
    }

    /// A request is over: the role's number for it, unless the role that made it is gone, and how it has ended.
    pub(crate) fn end_remote(
        &mut self,
        ticket: Ticket,
        result: Result<Bytes, Failure>,
    ) -> Option<(u32, Result<Bytes, RemoteFault>)> {
        let number = self.remote.remove(&ticket)?;
        let result = result.map_err(|failure| match failure {
            Failure::Refused(_) => RemoteFault::Refused,
            Failure::Restarted | Failure::Unreachable | Failure::WrongAnswer => RemoteFault::Gone,
        });
        Some((number, result))
    }

    /// Another role comes: what the one before has begun concerns nobody.
    pub(crate) fn forget_remote(&mut self) {
        self.remote.clear();
    }

    /// Whether the role has to wait: what it has sent is not under way.
    pub(crate) fn holds_role(&mut self, now: Instant) -> bool {
        if let Some((route, message)) = self.waiting.take() {
            // What could not be sent at all was refused at once.
            let _ = self.send(now, route, message);
        }
        self.waiting.is_some()
    }

    /// The claim is over, or the card starts anew.
    pub(crate) fn end(&mut self) {
        self.endpoint.reset();
        self.routes = [None; STREAMS as usize];
        self.waiting = None;
        self.forget_remote();
    }

    /// A frame has come.
    pub(crate) fn handle_frame(&mut self, now: Instant, shell: &mut Shell, ddr: &dyn role::Memory, frame: &Frame) {
        self.endpoint.handle_frame(now, frame, &mut Ddr { shell, ddr });
        self.count(&mut shell.counters);
    }

    /// Brings the card's counters up to date.
    pub(crate) fn count(&mut self, counters: &mut Counters) {
        let now = *self.endpoint.counters();
        let was = core::mem::replace(&mut self.counted, now);
        for (counter, now, was) in [
            (Counter::BridgeRx, now.rx, was.rx),
            (Counter::BridgeTx, now.tx, was.tx),
            (Counter::BridgeResent, now.resent, was.resent),
            (Counter::BridgeDropForeign, now.foreign, was.foreign),
            (Counter::BridgeDropMalformed, now.malformed, was.malformed),
            (Counter::BridgeDropEpoch, now.stale, was.stale),
            (Counter::BridgeDropDuplicate, now.duplicates, was.duplicates),
            (Counter::BridgeDenied, now.denied, was.denied),
        ] {
            counters.add(counter, now - was);
        }
    }
}

/// DDR as the bridge sees it.
struct Ddr<'a> {
    shell: &'a mut Shell,
    ddr: &'a dyn role::Memory,
}

impl Target for Ddr<'_> {
    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), TargetFailed> {
        let read = self.ddr.read(addr, into);
        self.shell.access(read).ok_or(TargetFailed)
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), TargetFailed> {
        let written = self.ddr.write(addr, bytes);
        self.shell.access(written).ok_or(TargetFailed)
    }
}
