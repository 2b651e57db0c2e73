//! One bad card among twenty: what it costs the other nineteen, in virtual time, beside the same rack without it.

use bytes::Bytes;
use rackloom_card::{Config as CardConfig, Pace};
use rackloom_host::{
    Arg, ClaimOptions, Commit, Config as HostConfig, Event, Host, Job, JobEvent, JobOptions, LoadReport, OpId, Outcome,
    Tile, Work,
};
use rackloom_node::{Duration, Either, Instant};
use rackloom_rack::{Kind, Maker, SimRack, Slot};
use rackloom_sim::{Cable, Faults, SwitchConfig};
use rackloom_swarm::{BadCard, Badness, Player};
use rackloom_wire::MacAddr;

const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const BAD: MacAddr = MacAddr([2, 0, 0, 0, 2, 1]);
/// Cards without a fault.
const GOOD: usize = 19;

/// A rack of nineteen good cards and perhaps a bad one, on 10 GbE.
struct Rack {
    rack: SimRack<Player<Host>>,
    host: Slot,
    cards: Vec<MacAddr>,
}

fn config(mac: MacAddr, unit: usize) -> CardConfig {
    let mut config = CardConfig::new(mac, Pace::Virtual);
    config.unit = unit as u16;
    config.memory = 8 << 20;
    // What Arria 10 has.
    config.config_rate = 400_000_000;
    (config.boot, config.seed) = (7, unit as u64);
    config
}

impl Rack {
    fn new(bad: Option<Badness>) -> Self {
        Self::of(GOOD, bad)
    }

    fn of(good: usize, bad: Option<Badness>) -> Self {
        Self::made(good, bad, None)
    }

    /// Good cards, and one more that takes so long to check an image.
    fn slow(good: usize, check: Duration) -> Self {
        Self::made(good, None, Some(check))
    }

    fn made(good: usize, bad: Option<Badness>, check: Option<Duration>) -> Self {
        let mut rack = SimRack::new(1, Maker::shared());
        rack.net.hash_off();
        let host = Host::new(HostConfig::simulated(HOST, 1, Cable::TEN_GIGABIT.rate_bps));
        let switch = rack.net.switch(SwitchConfig { queue_bytes: 512 << 10, ..SwitchConfig::with_ports(24) });
        let host = rack.add_host(HOST, Player::Host(host), switch, Cable::TEN_GIGABIT);
        let mut cards = Vec::new();
        for unit in 0..good + usize::from(check.is_some()) {
            let mac = MacAddr([2, 0, 0, 0, 1, unit as u8]);
            let mut config = config(mac, unit);
            config.firmware.check = check.filter(|_| unit == good).unwrap_or_default();
            rack.add_card(Kind::Model, config, switch, Cable::TEN_GIGABIT).unwrap();
            cards.push(mac);
        }
        if let Some(how) = bad {
            let card = Box::new(BadCard::new(config(BAD, good), how));
            rack.add_host(BAD, Player::Bad(card), switch, Cable::TEN_GIGABIT);
            cards.push(BAD);
        }
        let mut rack = Self { rack, host, cards };
        rack.pass(Duration::from_millis(500));
        rack
    }

    fn now(&self) -> Instant {
        self.rack.net.now()
    }

    fn command<R>(&mut self, command: impl FnOnce(&mut Host, Instant) -> R) -> R {
        self.rack.with_host(self.host, |player, now| command(player.host_mut(), now))
    }

    /// The next thing that the host tells, until then.
    fn next(&mut self, limit: Instant) -> Option<Event> {
        loop {
            if let (_, _, Either::A(event)) = self.rack.run_until(limit)? {
                return Some(event);
            }
        }
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now() + time;
        while self.next(end).is_some() {}
    }

    fn end(&mut self, op: OpId) -> Result<Outcome, rackloom_host::OpError> {
        let limit = self.now() + Duration::from_secs(300);
        while let Some(event) = self.next(limit) {
            if let Event::Completed { op: done, result } = event
                && done == op
            {
                return result;
            }
        }
        panic!("{op:?} does not end");
    }

    /// Claims all cards that grant it.
    fn claim(&mut self) -> Vec<MacAddr> {
        let options = ClaimOptions { lease: Duration::from_secs(60), ..ClaimOptions::default() };
        let cards = self.cards.clone();
        cards
            .into_iter()
            .filter(|card| {
                let op = self.command(|host, now| host.claim(now, *card, options));
                self.end(op).is_ok()
            })
            .collect()
    }

    /// Loads an image into all cards that can be claimed.
    fn load(&mut self, bytes: usize, commit: Commit) -> LoadReport {
        let cards = self.claim();
        let image = Bytes::from(rackloom_builtin_roles::padded("burn", bytes));
        let op = self.command(|host, now| host.load(now, &cards, image, commit));
        match self.end(op) {
            Ok(Outcome::Loaded(report)) => report,
            other => panic!("a load ended as {other:?}"),
        }
    }
}

/// The time until the last good card runs the image. All must.
fn good_time(report: &LoadReport) -> Duration {
    let good = report.cards.iter().filter(|(card, _)| **card != BAD);
    for (card, result) in good {
        assert!(result.is_ok(), "{card}: {result:?}");
    }
    report.times.iter().filter(|(card, _)| **card != BAD).map(|(_, took)| *took).max().expect("good cards")
}

/// Issue 17, fault 1: a member that said `ready` and then only answered pings took staged cards with it.
#[test]
fn regression_a_silent_member_fails_nobody_but_itself() {
    let mut rack = Rack::of(4, Some(Badness::Silent));
    let report = rack.load(200_000, Commit::Each);
    good_time(&report);
    let why = report.cards[&BAD].clone().unwrap_err().to_string();
    assert!(why.contains("left out: it said `ready` and came no further in 10."), "{why}");
    // All or none means to wait for it, and then it alone is to blame.
    let report = Rack::of(4, Some(Badness::Silent)).load(200_000, Commit::AllOrNone);
    let faults: Vec<_> = report.cards.values().filter_map(|r| r.clone().err()).collect();
    assert_eq!(faults.len(), 5);
    assert_eq!(report.fault().map(|e| e.card()), Some(BAD));
    assert!(faults.iter().all(|e| e.card() == BAD || matches!(e, rackloom_host::OpError::Cancelled { .. })));
}

/// A simulated card of gateware takes 80 s for a signature, and says meanwhile that nothing is missing.
#[test]
fn regression_a_card_that_checks_for_long_is_waited_for() {
    let report = Rack::slow(4, Duration::from_secs(80)).load(200_000, Commit::Each);
    assert_eq!(report.cards.len(), 5);
    assert!(report.cards.values().all(Result::is_ok), "{:?}", report.cards);
    let mut times: Vec<_> = report.times.values().copied().collect();
    times.sort_unstable();
    assert!(times[3] < Duration::from_secs(1), "{times:?}");
    assert!((80..82).contains(&times[4].as_secs()), "{times:?}");
}

/// Who says so for ever is given up by a bound of its own, and whoever says nothing more by the one for silence.
#[test]
fn a_card_that_checks_for_ever_is_left_out() {
    let report = Rack::of(4, Some(Badness::Checking)).load(200_000, Commit::Each);
    let took = good_time(&report);
    assert!(took < Duration::from_secs(1), "{took:?}");
    let why = report.cards[&BAD].clone().unwrap_err().to_string();
    assert!(why.contains("left out: it said `nothing missing` and came no further in 180."), "{why}");
}

#[test]
fn a_bad_card_among_twenty_costs_a_load_of_the_others_at_most_five_percent() {
    let bytes = 24 << 20;
    let alone = good_time(&Rack::new(None).load(bytes, Commit::Each));
    for how in Badness::ALL {
        let report = Rack::new(Some(how)).load(bytes, Commit::Each);
        let took = good_time(&report);
        let cost = took.as_secs_f64() / alone.as_secs_f64() - 1.0;
        println!("{how}: {took:?} instead of {alone:?}, {:.2} %; {:?}", cost * 100.0, report.cards.get(&BAD));
        assert!(cost < 0.05, "{how}: {took:?} instead of {alone:?}");
        match how {
            // It gets the image in the end.
            Badness::Slow => assert_eq!(report.cards[&BAD], Ok(())),
            Badness::Silent | Badness::Lying | Badness::Checking => assert!(report.cards[&BAD].is_err()),
            Badness::Absurd => assert!(!report.cards.contains_key(&BAD), "it cannot be claimed"),
        }
    }
}

/// Who has only had bad luck is not left out: a lossy rack loads everywhere.
#[test]
fn frames_lost_leave_nobody_out() {
    let mut rack = Rack::new(None);
    let links: Vec<_> = rack.rack.cards().iter().map(|slot| slot.link).collect();
    links.into_iter().for_each(|link| rack.rack.net.set_faults(link, Faults::loss(0.05)));
    for bytes in [30_000, 300_000, 3_000_000] {
        let report = rack.load(bytes, Commit::Each);
        good_time(&report);
        let frames = bytes.div_ceil(1472) as u64;
        println!("{bytes}: {:?}, {} repairs of {frames}", report.total(), report.repair_frames);
    }
}

/// Tiles that burn cycles.
struct Burn;

const TILES: usize = 2400;
/// A millisecond of the role's clock.
const CYCLES: u64 = 250_000;

impl Work for Burn {
    fn tiles(&self) -> usize {
        TILES
    }
    fn tile_bytes(&self) -> u64 {
        128
    }
    fn inputs(&mut self, tile: usize) -> Tile {
        let word = (tile as u64) << 40 | CYCLES;
        let args = vec![Arg::Input(0), Arg::Output(0), Arg::Value(1)];
        Tile { kernel: 0, inputs: vec![Bytes::copy_from_slice(&word.to_le_bytes())], output: 8, args }
    }
    fn output(&mut self, _: usize, output: Bytes) {
        assert_eq!(output.len(), 8);
    }
}

/// The time of a job that loads its image first.
fn job_time(bad: Option<Badness>) -> Duration {
    let mut rack = Rack::new(bad);
    let image = Bytes::from(rackloom_builtin_roles::padded("burn", 4 << 20));
    let begun = rack.now();
    let limit = begun + Duration::from_secs(60);
    let mut job = rack.command(|host, now| Job::start(now, host, image, Box::new(Burn), JobOptions::default()));
    let mut tiles = 0;
    while !job.is_over() {
        let due = job.next_deadline().unwrap_or(limit).min(limit);
        let told = match rack.next(due) {
            Some(event) => rack.command(|host, now| job.handle(now, host, &event)),
            None => rack.command(|host, now| job.handle_timeout(now, host)),
        };
        for news in told {
            match news {
                JobEvent::Tile { .. } => tiles += 1,
                JobEvent::Failed(why) => panic!("{why}"),
                _ => {}
            }
        }
        assert!(rack.now() < limit, "the job hangs: {job:?}");
    }
    assert_eq!(tiles, TILES, "each tile counts once");
    rack.now() - begun
}

#[test]
fn a_bad_card_among_twenty_costs_a_job_of_the_others_at_most_five_percent() {
    let alone = job_time(None);
    for how in Badness::ALL {
        let took = job_time(Some(how));
        let cost = took.as_secs_f64() / alone.as_secs_f64() - 1.0;
        println!("{how}: {took:?} instead of {alone:?}, {:.2} %", cost * 100.0);
        assert!(cost < 0.05, "{how}: {took:?} instead of {alone:?}");
    }
}
