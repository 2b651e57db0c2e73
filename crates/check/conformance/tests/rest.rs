//! The clocks of the memory's side rest while nothing is under way there (`rl_card_rest`). What a card does, and in
//! which cycle, must not depend on it.

use rackloom_card::{Config, Pace};
use rackloom_conformance::bench::{BASE, Bench, CHUNK, HOST, Out, config, launch_payload};
use rackloom_conformance::images::{self, kernel::BUMP};
use rackloom_node::{Duration, Rng};
use rackloom_verilated::{Clocks, RtlCard, Stress};
use rackloom_wire::{IntoBytes, Kind, Read, U32};

/// `rl_planted`: the clocks never rest.
const AWAKE: u8 = 14;
/// `rl_planted`: they rest although the role asks, or too soon after that.
const ASLEEP: [u8; 2] = [15, 16];

/// Loads, writes, launches and reads with pauses of any length: all frames that the card sends, when, and its cycles.
fn play(planted: u8, clocks: Clocks, seed: u64) -> (String, u64) {
    let card = Config { kind: rackloom_wire::CardKind::Rtl, pace: Pace::Virtual, ..config() };
    let surroundings = rackloom_verilated::Config::new(card.mac, card.pace);
    let stress = Stress { clocks, ..Stress::default() };
    let card = RtlCard::new(rackloom_verilated::Config { card, planted, stress, ..surroundings });
    let mut bench = Bench::of(card.expect("a sound configuration"));
    let mut rng = Rng::new(seed);
    bench.pass_ms(20);
    // In virtual time an answer takes time.
    bench.hand(Bench::<RtlCard>::claim_frame(HOST, 1, 0));
    bench.pass_ms(1);
    bench.epoch = bench.last(Kind::SessionGrant).head.epoch;
    let image = images::probe(1, 0);
    bench.begin(1, &image, CHUNK);
    bench.pass_ms(1);
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.commit(1001);
    bench.pass_ms(1);
    let (mut writes, mut reads, mut launches) = (0, 0, 0);
    for _ in 0..40 {
        let place = BASE + rng.below(4096);
        let frame = match rng.below(4) {
            0 => {
                launches += 1;
                let payload = launch_payload(&[BASE, rng.below(300)], Out::default());
                bench.head(Kind::ExecLaunch, launches, BUMP).frame(&[&payload])
            }
            1 => {
                reads += 1;
                let body = Read { length: U32::new(1 + rng.below(1400) as u32), reserved: U32::ZERO };
                bench.head(Kind::InputRead, reads, place).frame(&[body.as_bytes()])
            }
            _ => {
                writes += 1;
                let bytes = vec![writes as u8; 1 + rng.below(1400) as usize];
                bench.head(Kind::InputWrite, writes, place).frame(&[&bytes])
            }
        };
        bench.hand(frame);
        // From back to back to times in which all of the card rests, those in which a clock goes to rest among them.
        let most = 2 << rng.below(16);
        bench.pass(Duration::from_nanos(rng.below(most)));
    }
    bench.pass_ms(1);
    (format!("{:?} {:?}", bench.sent, bench.events), bench.card.cycles())
}

/// As fast as the network, and faster and slower than that.
const CLOCKS: [Clocks; 3] = [
    Clocks::TOGETHER,
    Clocks { ddr: 2100, role: 1370, cfg: 640, jitter: 500 },
    Clocks { ddr: 480, role: 3100, cfg: 900, jitter: 100 },
];

#[test]
fn what_a_card_does_does_not_depend_on_clocks_that_rest() {
    for (seed, clocks) in (1..).zip(CLOCKS) {
        let (sent, cycles) = play(0, clocks, seed);
        assert!(sent.contains("ResultDone") && sent.contains("InputConfirmReadData"), "kernels ran, and data came");
        assert!((sent, cycles) == play(AWAKE, clocks, seed), "seed {seed}: it shows that clocks have rested");
    }
}

#[test]
fn a_clock_that_rests_too_long_shows() {
    let right = play(0, CLOCKS[2], 3);
    for bug in ASLEEP {
        assert!(right != play(bug, CLOCKS[2], 3), "bug {bug}: a role that nobody hears is like one that is heard");
    }
}
