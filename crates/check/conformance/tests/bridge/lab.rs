//! A host, nodes of the bridge and a card at a switch, in virtual time.

use bytes::Bytes;
use rackloom_bridge::{Endpoint, EndpointConfig, EndpointEvent, Failure, NoMemory, NotTaken, Rights, Ticket, Window};
use rackloom_card::{Config, Pace};
use rackloom_conformance::{bench, images};
use rackloom_host::{ClaimOptions, Commit, Config as HostConfig, Event, Host, Launch, OpError, OpId, Outcome};
use rackloom_node::{Duration, Either, Frame, Instant, Node, Output, Port};
use rackloom_rack::{AnyCard, Kind, Maker, SimRack, Slot};
use rackloom_sim::{Cable, Faults, LinkId, SwitchConfig};
use rackloom_wire::{Counter, ErrorCode, Family, MacAddr, Scrub};

pub(crate) const CARD: MacAddr = MacAddr([2, 0, 0, 0, 1, 1]);
/// Others, in cases that have more than one.
pub(crate) const SECOND: MacAddr = MacAddr([2, 0, 0, 0, 1, 2]);
pub(crate) const THIRD: MacAddr = MacAddr([2, 0, 0, 0, 1, 3]);
/// All of them.
pub(crate) const CARDS: [MacAddr; 3] = [CARD, SECOND, THIRD];
const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 99]);
/// What the windows of most cases hold.
pub(crate) const BASE: u64 = bench::BASE + 0x1_0000;
pub(crate) const LENGTH: u64 = 0x1_0000;

/// The address of a node.
pub(crate) const fn node(number: u8) -> MacAddr {
    MacAddr([6, 0, 0, 0, 0, number])
}

/// A node of the bridge that asks and has no memory.
#[derive(Debug)]
pub(crate) struct Asker(Endpoint);

impl Node for Asker {
    type Event = EndpointEvent;

    fn handle_frame(&mut self, now: Instant, _: Port, frame: Frame) {
        if Family::of(&frame) == Some(Family::Bridge) {
            self.0.handle_frame(now, &frame, &mut NoMemory);
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.0.handle_timeout(now);
    }

    fn poll(&mut self, now: Instant) -> Option<Output<EndpointEvent>> {
        let frame = self.0.poll(now).map(|frame| Output::Transmit(0, frame));
        frame.or_else(|| self.0.next_event().map(Output::Event))
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.0.deadline()
    }
}

#[derive(Debug)]
pub(crate) struct Lab {
    pub(crate) rack: SimRack<Either<Host, Asker>>,
    host: Slot,
    pub(crate) card: Slot,
    /// It, and the others.
    pub(crate) cards: Vec<Slot>,
    askers: Vec<Slot>,
    /// Requests that have ended and nobody has asked about.
    ended: Vec<(Ticket, Result<Bytes, Failure>)>,
    /// The host's operations likewise.
    done: Vec<(OpId, Result<Outcome, OpError>)>,
}

impl Lab {
    /// A card, claimed, and so many nodes, on whose cables these faults happen.
    pub(crate) fn new(kind: Kind, askers: u8, faults: Faults) -> Self {
        let mut lab = Self::with(kind, askers, |_| {});
        for asker in &lab.askers {
            lab.rack.net.set_faults(asker.link, faults);
        }
        lab
    }

    /// A card with another configuration.
    pub(crate) fn with(kind: Kind, askers: u8, change: impl FnOnce(&mut Config)) -> Self {
        Self::several(&[kind], askers, change)
    }

    /// Two cards, claimed, and so many nodes.
    pub(crate) fn pair(kind: Kind, askers: u8) -> Self {
        Self::several(&[kind, kind], askers, |_| {})
    }

    /// Cards of these kinds, claimed, with another configuration, and so many nodes.
    pub(crate) fn several(kinds: &[Kind], askers: u8, change: impl FnOnce(&mut Config)) -> Self {
        let mut lab = Self::build(kinds, askers, change);
        for card in &CARDS[..kinds.len()] {
            lab.by_host(|host, now| host.claim(now, *card, ClaimOptions::default())).expect("it is granted");
        }
        lab
    }

    fn build(kinds: &[Kind], askers: u8, change: impl FnOnce(&mut Config)) -> Self {
        let cable = Cable::TEN_GIGABIT;
        let mut rack = SimRack::new(7, Maker::shared());
        let switch = rack.net.switch(SwitchConfig::with_ports(u16::from(askers) + 1 + kinds.len() as u16));
        let host = Host::new(HostConfig::simulated(HOST, 5, 10_000_000_000));
        let host = rack.add_host(HOST, Either::A(host), switch, cable);
        let mut config = Config { mac: CARD, boot: 77, pace: Pace::Virtual, bridge: true, ..bench::config() };
        change(&mut config);
        let cards = kinds.iter().zip(CARDS).map(|(kind, mac)| {
            let config = Config { mac, ..config.clone() };
            rack.add_card(*kind, config, switch, cable).expect("a sound configuration")
        });
        let cards = cards.collect::<Vec<_>>();
        let askers = (0..askers).map(|number| {
            let mac = node(number);
            let asker = Asker(Endpoint::new(EndpointConfig::new(mac, 1, false)));
            rack.add_host(mac, Either::B(asker), switch, cable)
        });
        let askers = askers.collect();
        let card = cards[0];
        let mut lab = Self { rack, host, card, cards, askers, ended: Vec::new(), done: Vec::new() };
        while lab.host_of().cards().count() < kinds.len() {
            lab.pass(Duration::from_millis(10));
        }
        lab
    }

    fn host_of(&self) -> &Host {
        match self.rack.host(self.host) {
            Either::A(host) => host,
            Either::B(_) => unreachable!("the first place is the host's"),
        }
    }

    /// Lets the next thing happen; false if that is later.
    fn next(&mut self, limit: Instant) -> bool {
        let Some((_, _, event)) = self.rack.run_until(limit) else { return false };
        match event {
            Either::A(Either::A(Event::Completed { op, result })) => self.done.push((op, result)),
            Either::A(Either::B(EndpointEvent::Done { ticket, result })) => self.ended.push((ticket, result)),
            _ => {}
        }
        true
    }

    pub(crate) fn pass(&mut self, time: Duration) {
        let end = self.rack.net.now() + time;
        while self.next(end) {}
        if let AnyCard::Rtl(card) = self.rack.card(self.card) {
            assert_eq!((card.frames_lost(), card.accesses_refused()), (0, 0));
        }
    }

    /// Begins an operation of the host's.
    pub(crate) fn begin(&mut self, command: impl FnOnce(&mut Host, Instant) -> OpId) -> OpId {
        self.rack.with_host(self.host, |host, now| match host {
            Either::A(host) => command(host, now),
            Either::B(_) => unreachable!("the first place is the host's"),
        })
    }

    pub(crate) fn end(&mut self, op: OpId) -> Result<Outcome, OpError> {
        let limit = self.rack.net.now() + Duration::from_secs(60);
        loop {
            if let Some(at) = self.done.iter().position(|(done, _)| *done == op) {
                return self.done.remove(at).1;
            }
            assert!(self.next(limit), "an operation does not end");
        }
    }

    pub(crate) fn by_host(&mut self, command: impl FnOnce(&mut Host, Instant) -> OpId) -> Result<Outcome, OpError> {
        let op = self.begin(command);
        self.end(op)
    }

    /// The cable of a node.
    pub(crate) fn link(&self, asker: usize) -> LinkId {
        self.askers[asker].link
    }

    pub(crate) fn claim(&mut self) {
        self.by_host(|host, now| host.claim(now, CARD, ClaimOptions::default())).expect("it is granted");
    }

    pub(crate) fn release(&mut self) {
        self.by_host(|host, now| host.release(now, CARD, Scrub::Keep)).expect("it is given back");
    }

    /// Opens a window of this length, 0: closes it. Yields the code of a refusal.
    pub(crate) fn window(&mut self, number: u16, peer: MacAddr, base: u64, length: u64, rights: Rights) -> ErrorCode {
        let window = (length > 0).then_some(Window { base, length, peer, rights });
        self.code(|host, now| host.set_window(now, CARD, number, window))
    }

    /// How an operation of the host's ends that a card may refuse.
    pub(crate) fn code(&mut self, command: impl FnOnce(&mut Host, Instant) -> OpId) -> ErrorCode {
        match self.by_host(command) {
            Ok(_) => ErrorCode::Ok,
            Err(OpError::Refused { code, .. }) => code,
            Err(why) => panic!("{why}"),
        }
    }

    /// Sets the route of a stream of the role, or ends it. Yields the code of a refusal.
    pub(crate) fn route(&mut self, stream: u16, to: Option<(MacAddr, u16)>) -> ErrorCode {
        self.code(|host, now| host.set_route(now, CARD, stream, to))
    }

    /// Loads the role that sends messages back.
    pub(crate) fn load_echo(&mut self, cards: &[MacAddr]) {
        self.load_role("echo", cards);
    }

    pub(crate) fn load_role(&mut self, name: &str, cards: &[MacAddr]) {
        let image = rackloom_builtin_roles::image(name).expect("it is built in");
        let loaded = self.by_host(|host, now| host.load(now, cards, Bytes::from_static(image), Commit::Each));
        assert!(matches!(loaded, Ok(Outcome::Loaded(report)) if report.fault().is_none()));
    }

    /// Messages that the role has heard.
    pub(crate) fn heard(&mut self) -> u64 {
        let launch = self.launch(1, &[]);
        match self.end(launch) {
            Ok(Outcome::Launched(report)) => report.value,
            other => panic!("{other:?}"),
        }
    }

    pub(crate) fn load(&mut self) -> OpId {
        let image = images::probe(1, 60_000).into();
        self.begin(|host, now| host.load(now, &[CARD], image, Commit::Each))
    }

    pub(crate) fn launch(&mut self, kernel: u64, args: &[u64]) -> OpId {
        let launch = Launch { kernel: kernel as u16, args: args.to_vec(), fuel: 20_000, ..Launch::default() };
        self.begin(|host, now| host.launch(now, CARD, launch))
    }

    pub(crate) fn counter(&mut self, counter: Counter) -> u64 {
        match self.by_host(|host, now| host.counters(now, CARD)) {
            Ok(Outcome::Counters(all)) => all[counter as usize],
            other => panic!("{other:?}"),
        }
    }

    /// What is in the card's memory.
    pub(crate) fn bytes(&self, addr: u64, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.rack.card(self.card).ddr().read(addr, &mut bytes).expect("it is inside");
        bytes
    }

    /// A node begins a request.
    pub(crate) fn ask(
        &mut self,
        asker: usize,
        request: impl FnOnce(&mut Endpoint, Instant) -> Result<Ticket, NotTaken>,
    ) -> Result<Ticket, NotTaken> {
        self.of_node(asker, request)
    }

    /// A node does something.
    pub(crate) fn of_node<T>(&mut self, asker: usize, request: impl FnOnce(&mut Endpoint, Instant) -> T) -> T {
        self.rack.with_host(self.askers[asker], |asker, now| match asker {
            Either::A(_) => unreachable!("the others are nodes"),
            Either::B(asker) => request(&mut asker.0, now),
        })
    }

    pub(crate) fn answer(&mut self, ticket: Ticket) -> Result<Bytes, Failure> {
        let limit = self.rack.net.now() + Duration::from_secs(60);
        loop {
            if let Some(at) = self.ended.iter().position(|(ended, _)| *ended == ticket) {
                return self.ended.remove(at).1;
            }
            assert!(self.next(limit), "a request does not end");
        }
    }

    /// Requests of nodes that have ended and nobody has asked about.
    pub(crate) fn take_ended(&mut self) -> Vec<(Ticket, Result<Bytes, Failure>)> {
        std::mem::take(&mut self.ended)
    }

    /// An operation of the host's has ended; it is forgotten.
    pub(crate) fn has_ended(&mut self, op: OpId) -> bool {
        let at = self.done.iter().position(|(done, _)| *done == op);
        at.is_some_and(|at| self.done.remove(at).1.is_ok())
    }

    /// How a request ends.
    pub(crate) fn result(
        &mut self,
        asker: usize,
        request: impl FnOnce(&mut Endpoint, Instant) -> Result<Ticket, NotTaken>,
    ) -> Result<Bytes, Failure> {
        let ticket = self.ask(asker, request).expect("it is a request");
        self.answer(ticket)
    }

    pub(crate) fn read(&mut self, asker: usize, addr: u64, count: u32) -> Result<Bytes, Failure> {
        self.result(asker, |node, now| node.read(now, CARD, addr, count))
    }

    pub(crate) fn write(&mut self, asker: usize, addr: u64, bytes: &[u8]) -> Result<Bytes, Failure> {
        let bytes = Bytes::copy_from_slice(bytes);
        self.result(asker, |node, now| node.write(now, CARD, addr, bytes))
    }
}
