//! Another host of the segment, which claims a card again and again.

use rackloom_host::{ClaimOptions, Config, Event, Host, Keys, OpError};
use rackloom_node::{Frame, Instant, Node, Output};
use rackloom_wire::MacAddr;

pub struct Claimant {
    host: Host,
    card: MacAddr,
    claims: usize,
    is_asking: bool,
    /// How each claim has ended.
    pub told: Vec<Result<(), OpError>>,
}

impl Claimant {
    /// It claims this card so many times, each time when the claim before has ended.
    pub fn new(keys: Keys, card: MacAddr, claims: usize) -> Self {
        let config = Config::simulated(keys.address([0; 3]), 7, 10_000_000_000);
        let host = Host::new(Config { keys: Some(keys), ..config });
        Self { host, card, claims, is_asking: false, told: Vec::new() }
    }

    pub fn hear(&mut self, now: Instant, frame: Frame) {
        self.host.handle_frame(now, 0, frame);
        if !self.is_asking && self.told.len() < self.claims && self.host.card(self.card).is_some() {
            self.is_asking = true;
            self.host.claim(now, self.card, ClaimOptions::default());
        }
    }

    pub fn handle_timeout(&mut self, now: Instant) {
        self.host.handle_timeout(now);
    }

    pub fn next_deadline(&self) -> Option<Instant> {
        self.host.next_deadline()
    }

    /// What it sends now.
    pub fn poll(&mut self, now: Instant) -> Vec<Frame> {
        let mut sent = Vec::new();
        while let Some(output) = self.host.poll(now) {
            match output {
                Output::Transmit(_, frame) => sent.push(frame),
                Output::Event(Event::Completed { result, .. }) => {
                    self.is_asking = false;
                    self.told.push(result.map(|_| ()));
                }
                Output::Event(_) => {}
            }
        }
        sent
    }
}
