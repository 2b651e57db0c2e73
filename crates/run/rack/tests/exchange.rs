//! `ptrans` and `gemm` on cards that exchange blocks themselves, in virtual time: the bits of the host's exchange, also
//! under loss, and an error by name when a card dies.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use rackloom::{Array, ArrayWork, ExchangeWork, Sizing};
use rackloom_card::{Config, Pace};
use rackloom_host::{
    ClaimOptions, Config as HostConfig, Event, Exchange, ExchangeEvent, Host, Job, JobEvent, JobOptions, OpError, OpId,
    Outcome, PeerFault,
};
use rackloom_image::{Dtype, Image, Kernel};
use rackloom_node::{Duration, Either, Instant, Rng};
use rackloom_rack::{Kind, Maker, SimRack, Slot};
use rackloom_sim::{Cable, Faults, SwitchConfig};
use rackloom_wire::{Counter, ErrorCode, MacAddr, ROLE_PRIVATE};

const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 99]);
const MEMORY: u64 = 8 << 20;

struct Lab {
    rack: SimRack<Host>,
    host: Slot,
    cards: Vec<Slot>,
}

impl Lab {
    /// A host and cards at a switch; `loss` of the frames are lost on each card's cable.
    fn new(cards: usize, seed: u64, loss: f64, change: impl Fn(usize, &mut Config)) -> Self {
        let mut rack = SimRack::new(seed, Maker::shared());
        let cable = Cable::TEN_GIGABIT;
        let switch = rack.net.switch(SwitchConfig::with_ports(cards as u16 + 1));
        let host = Host::new(HostConfig::simulated(HOST, seed, 10_000_000_000));
        let host = rack.add_host(HOST, host, switch, cable);
        let cards = (0..cards).map(|unit| {
            let mut config = Config::new(MacAddr([2, 0, 0, 0, 1, unit as u8]), Pace::Virtual);
            (config.unit, config.memory, config.boot) = (unit as u16, MEMORY, 100 + unit as u32);
            change(unit, &mut config);
            let slot = rack.add_card(Kind::Model, config, switch, cable).unwrap();
            rack.net.set_faults(slot.link, Faults::loss(loss));
            slot
        });
        let cards: Vec<_> = cards.collect();
        let mut lab = Self { rack, host, cards };
        while lab.rack.host(lab.host).cards().count() < lab.cards.len() {
            lab.next();
        }
        lab
    }

    /// The host's next event, within a minute.
    fn next(&mut self) -> Event {
        let limit = self.rack.net.now() + Duration::from_secs(60);
        loop {
            match self.rack.run_until(limit).expect("nothing happens any more") {
                (.., Either::A(event)) => return event,
                (.., Either::B(_)) => {}
            }
        }
    }

    fn command<R>(&mut self, command: impl FnOnce(&mut Host, Instant) -> R) -> R {
        self.rack.with_host(self.host, command)
    }

    fn wait(&mut self, op: OpId) -> Result<Outcome, OpError> {
        loop {
            match self.next() {
                Event::Completed { op: over, result } if over == op => return result,
                _ => {}
            }
        }
    }

    fn macs(&self) -> Vec<MacAddr> {
        self.cards.iter().map(|card| card.mac).collect()
    }

    /// The matrices' product or transposed sum by cards that exchange; `look` sees each event before it counts.
    fn by_cards(
        &mut self,
        work: &mut ExchangeWork,
        mut look: impl FnMut(&mut Self, &ExchangeEvent),
    ) -> Result<(), OpError> {
        let shares = self.macs().into_iter().zip(work.shares()).collect();
        let mut exchange =
            self.command(|host, now| Exchange::start(now, host, image("exchange"), shares, ClaimOptions::default()));
        let end = 'end: loop {
            let event = self.next();
            for update in self.command(|host, now| exchange.handle(now, host, &event)) {
                look(self, &update);
                match update {
                    ExchangeEvent::Output { place, data } => work.output(place, &data),
                    ExchangeEvent::Finished => break 'end Ok(()),
                    ExchangeEvent::Failed(why) => break 'end Err(why),
                    _ => {}
                }
            }
        };
        let mut releases: BTreeSet<_> = self.command(|host, now| exchange.release(now, host)).into_iter().collect();
        while !releases.is_empty() {
            if let Event::Completed { op, result } = self.next()
                && releases.remove(&op)
            {
                // A card that is gone cannot be released.
                assert!(result.is_ok() || end.is_err(), "{result:?}");
            }
        }
        end
    }

    /// The same by the host's tiles.
    fn by_host(&mut self, role: &str, a: &Array, b: &Array) -> Bytes {
        let sizing = Sizing { cards: self.cards.len(), room: (MEMORY - ROLE_PRIVATE) / 2 };
        let work = ArrayWork::new(0, &kernel(role), inputs(a, b), BTreeMap::new(), sizing).unwrap();
        let mut job =
            self.command(|host, now| Job::start(now, host, image(role), Box::new(work), JobOptions::default()));
        loop {
            let event = self.next();
            let updates = self.command(|host, now| job.handle(now, host, &event));
            assert!(!updates.iter().any(|u| matches!(u, JobEvent::Failed(_))), "{updates:?}");
            if updates.contains(&JobEvent::Finished) {
                break;
            }
        }
        for op in self.command(|host, now| job.release(now, host)) {
            self.wait(op).unwrap();
        }
        let work: Box<dyn Any> = job.into_work();
        work.downcast::<ArrayWork>().unwrap().into_outputs()["c"].data.clone()
    }
}

fn image(role: &str) -> Bytes {
    Bytes::from_static(rackloom_builtin_roles::image(role).unwrap())
}

fn kernel(role: &str) -> Kernel {
    Image::parse(image(role)).unwrap().manifest().kernel(role).unwrap().1.clone()
}

/// A matrix of numbers whose sums are rounded.
fn matrix(rng: &mut Rng, rows: usize, columns: usize) -> Array {
    let value = |bits: u32| (bits >> 8) as f32 / 16_777_216.0 - 0.5;
    let data: Vec<u8> = (0..rows * columns).flat_map(|_| value(rng.next_u64() as u32).to_le_bytes()).collect();
    Array::new(Dtype::F32, vec![rows, columns], data.into()).unwrap()
}

fn inputs(a: &Array, b: &Array) -> BTreeMap<String, Array> {
    BTreeMap::from([("a".to_owned(), a.clone()), ("b".to_owned(), b.clone())])
}

/// Operands of `role` with these extents i, j and, for `gemm`, k.
fn operands(role: &str, seed: u64, [i, j, k]: [usize; 3]) -> (Array, Array) {
    let rng = &mut Rng::new(seed);
    match role {
        "ptrans" => (matrix(rng, j, i), matrix(rng, i, j)),
        _ => (matrix(rng, i, k), matrix(rng, k, j)),
    }
}

fn exchange(role: &str, a: &Array, b: &Array, cards: usize) -> ExchangeWork {
    ExchangeWork::new(&kernel(role), inputs(a, b), cards, MEMORY).unwrap()
}

fn result(work: ExchangeWork) -> Bytes {
    work.into_outputs()["c"].data.clone()
}

#[test]
fn the_cards_exchange_gives_the_bits_of_the_hosts() {
    for (cards, extents) in [
        (1, [33, 50, 20]),
        (2, [64, 64, 64]),
        (2, [130, 77, 51]),
        (3, [100, 7, 301]),
        (4, [256, 320, 96]),
        // Rows of more than an access takes, and stripes in turn.
        (2, [900, 640, 9]),
        // Fewer rows than cards.
        (4, [3, 40, 2]),
        // More peers than streams.
        (19, [57, 200, 38]),
    ] {
        for role in ["ptrans", "gemm"] {
            let (a, b) = operands(role, 7, extents);
            let mut lab = Lab::new(cards, 1, 0.0, |_, _| ());
            let mut work = exchange(role, &a, &b, cards);
            let exchanged = work.exchanged();
            lab.by_cards(&mut work, |_, _| ()).unwrap();
            assert!(result(work) == lab.by_host(role, &a, &b), "{role} {extents:?} on {cards} cards");
            assert_eq!(exchanged > 0, cards > 1);
        }
    }
}

#[test]
fn columns_that_do_not_fit_come_in_parts() {
    // Of B's 1.5 MiB, a card with 2.25 MiB beyond the role's own has room for a part.
    let (a, b) = operands("gemm", 3, [192, 1024, 384]);
    let mut lab = Lab::new(4, 1, 0.0, |_, _| ());
    let memory = ROLE_PRIVATE + (3 << 18) + (3 << 17);
    let mut work = ExchangeWork::new(&kernel("gemm"), inputs(&a, &b), 4, memory).unwrap();
    assert!(work.shares()[0].steps.len() > 1);
    lab.by_cards(&mut work, |_, _| ()).unwrap();
    assert!(result(work) == lab.by_host("gemm", &a, &b));
}

#[test]
fn lost_frames_change_no_bit() {
    for seed in 0..6 {
        for (role, cards) in [("ptrans", 4), ("gemm", 2)] {
            let (a, b) = operands(role, seed, [200, 144, 100]);
            let mut lab = Lab::new(cards, seed, 0.02, |_, _| ());
            let mut work = exchange(role, &a, &b, cards);
            lab.by_cards(&mut work, |_, _| ()).unwrap();
            lab.rack.net.calm();
            assert!(result(work) == lab.by_host(role, &a, &b), "{role}, seed {seed}");
        }
    }
}

/// Runs until every card's kernel has asked another card for something.
fn run_until_all_ask(lab: &mut Lab) {
    let asked = |lab: &Lab, card: &Slot| lab.rack.card(*card).as_model().unwrap().counters().get(Counter::BridgeTx) > 4;
    while !lab.cards.iter().all(|card| asked(lab, card)) {
        let soon = lab.rack.net.now() + Duration::from_micros(5);
        assert!(
            lab.rack.run_until(soon).is_none_or(|(.., event)| matches!(event, Either::B(_))),
            "the host heard of an end"
        );
    }
}

#[test]
fn a_card_that_dies_in_the_exchange_is_named_and_there_is_no_result() {
    for (role, cards, victim) in [("ptrans", 2, 1), ("ptrans", 4, 2), ("gemm", 4, 0)] {
        let (a, b) = operands(role, 5, [400, 400, 400]);
        let mut lab = Lab::new(cards, 1, 0.0, |_, _| ());
        let mut work = exchange(role, &a, &b, cards);
        let why = lab.by_cards(&mut work, |lab, event| match event {
            ExchangeEvent::Written => {
                run_until_all_ask(lab);
                let _ = lab.rack.net.take(lab.cards[victim].node);
            }
            ExchangeEvent::Output { .. } | ExchangeEvent::Computed | ExchangeEvent::Finished => panic!("{event:?}"),
            _ => {}
        });
        let dead = format!("card{victim} (");
        match why {
            Err(OpError::Peer { peer, fault: PeerFault::Gone, .. }) => assert_eq!(peer.unit, Some(victim as u16)),
            Err(other) => assert!(other.to_string().starts_with(&dead), "{other}"),
            Ok(()) => panic!("{role} on {cards} cards"),
        }
    }
}

/// The other card lives on and the host hears of nothing but what the kernel returns.
#[test]
fn what_another_card_refuses_fails_the_exchange() {
    for role in ["ptrans", "gemm"] {
        let (a, b) = operands(role, 5, [400, 400, 400]);
        let mut lab = Lab::new(2, 1, 0.0, |_, _| ());
        let mut work = exchange(role, &a, &b, 2);
        let why = lab.by_cards(&mut work, |lab, event| match event {
            ExchangeEvent::Written => {
                let shut = lab.macs()[1];
                lab.command(|host, now| host.set_window(now, shut, 0, None));
            }
            ExchangeEvent::Output { .. } | ExchangeEvent::Computed | ExchangeEvent::Finished => panic!("{event:?}"),
            _ => {}
        });
        match why {
            Err(OpError::Peer { card, peer, fault: PeerFault::Refused }) => {
                assert_eq!((card.unit, peer.unit), (Some(0), Some(1)), "{role}");
            }
            other => panic!("{role}: {other:?}"),
        }
    }
}

#[test]
fn a_card_without_a_bridge_is_refused_before_anything_is_written() {
    let (a, b) = operands("ptrans", 5, [64, 64, 0]);
    let mut lab = Lab::new(3, 1, 0.0, |unit, config| config.bridge = unit != 1);
    let mut work = exchange("ptrans", &a, &b, 3);
    let why = lab.by_cards(&mut work, |_, event| assert!(matches!(event, ExchangeEvent::Failed(_)), "{event:?}"));
    match why {
        Err(OpError::Refused { card, code: ErrorCode::Unsupported, .. }) => assert_eq!(card.unit, Some(1)),
        other => panic!("{other:?}"),
    }
}

#[test]
fn what_a_card_has_opened_is_closed_when_it_is_over() {
    let (a, b) = operands("ptrans", 5, [64, 64, 0]);
    let mut lab = Lab::new(2, 1, 0.0, |_, _| ());
    let mut work = exchange("ptrans", &a, &b, 2);
    let open = work.shares()[1].open;
    lab.by_cards(&mut work, |_, _| ()).unwrap();
    // The same kernel on the same cards, whose routes lead there, but no window was opened anew.
    let macs = lab.macs();
    for card in &macs {
        let op = lab.command(|host, now| host.claim(now, *card, ClaimOptions::default()));
        lab.wait(op).unwrap();
    }
    let launch = work.shares()[0].steps[0].launch.clone();
    let ran = |lab: &mut Lab| {
        let op = lab.command(|host, now| host.launch(now, macs[0], launch.clone()));
        match lab.wait(op).unwrap() {
            Outcome::Launched(report) => report.value,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ran(&mut lab), 2 << 8 | 1, "no route is left");
    let route = lab.command(|host, now| host.set_route(now, macs[0], 0, Some((macs[1], 0))));
    lab.wait(route).unwrap();
    assert_ne!(ran(&mut lab), 0, "no window is left");
    let read = rackloom::Window { base: open.0, length: open.1, peer: macs[0], rights: rackloom::Rights::READ };
    let window = lab.command(|host, now| host.set_window(now, macs[1], 0, Some(read)));
    lab.wait(window).unwrap();
    assert_eq!(ran(&mut lab), 0, "with both it reads again");
}
