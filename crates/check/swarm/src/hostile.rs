//! A stranger in the rack: he hears what everybody hears on a switch that knows no addresses, and answers some of it
//! with attacks. Cards and hosts have keys then.

use std::collections::VecDeque;

use rackloom_host::Event;
use rackloom_node::{Frame, Instant, Node, Output, Port, Rng};
use rackloom_stranger::{ATTACKS, Attack, Seen, Stranger};

/// Most frames that he has in mind to send; what comes on top he forgets.
const MIND_MAX: usize = 1024;

/// A stranger at a port of the switch.
#[derive(Debug)]
pub struct Hostile {
    stranger: Stranger,
    /// What he does in this run.
    attacks: Vec<&'static Attack>,
    /// Probability that he does one of them upon a frame.
    pub(crate) chance: f64,
    rng: Rng,
    mind: VecDeque<Frame>,
    /// Frames that he has sent.
    pub(crate) sent: u64,
}

impl Hostile {
    /// One who does a few things, drawn from the seed, each upon a part of what he hears. `chance`: how large a part,
    /// from 0 to 1.
    pub(crate) fn new(stranger: Stranger, chance: f64, seed: u64) -> Self {
        let mut rng = Rng::new(seed ^ SALT);
        // Who spoils the data of loads lets none succeed, and everything must succeed at a run's end.
        let all: Vec<_> = ATTACKS.iter().filter(|attack| attack.seen != Seen::Spoils).collect();
        let attacks = (0..=rng.below(4)).map(|_| all[rng.below(all.len() as u64) as usize]).collect();
        Self { stranger, attacks, chance, rng, mind: VecDeque::new(), sent: 0 }
    }
}

impl Node for Hostile {
    type Event = Event;

    fn handle_frame(&mut self, _: Instant, _: Port, frame: Frame) {
        self.stranger.hear(&frame);
        for attack in &self.attacks {
            if self.rng.chance(self.chance) {
                self.mind.extend(self.stranger.attack(attack));
            }
        }
        // Whatever he does besides, what he has heard comes again sooner or later.
        if self.rng.chance(self.chance / 4.0) {
            self.mind.extend(self.stranger.some_heard());
        }
        self.mind.truncate(MIND_MAX);
    }

    fn handle_timeout(&mut self, _: Instant) {}

    fn poll(&mut self, _: Instant) -> Option<Output<Event>> {
        let frame = self.mind.pop_front()?;
        self.sent += 1;
        Some(Output::Transmit(0, frame))
    }

    fn next_deadline(&self) -> Option<Instant> {
        None
    }
}

/// Sets the random numbers apart from all others of a seed.
const SALT: u64 = 0x4057_11E0_0000_0001;
