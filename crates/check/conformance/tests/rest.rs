//! The clocks of the memory's side rest while nothing is under way there (`rl_card_rest`), and the network's while the
//! shell has nothing to do (`rl_card_shell_rest`). What a card does, and in which cycle, must not depend on it.

use rackloom_card::{Config, Pace, PortConfig, PortService};
use rackloom_conformance::bench::{BASE, Bench, CHUNK, HOST, Out, config, launch_payload};
use rackloom_conformance::images::{self, kernel::BUMP};
use rackloom_node::{Duration, Node, Rng};
use rackloom_verilated::{Clocks, RtlCard, Stress};
use rackloom_wire::{Head, IntoBytes, Kind, MacAddr, Read, U32};

/// `rl_planted`: the clocks never rest.
const AWAKE: u8 = 14;
/// `rl_planted`: they rest although the role asks or too soon after that, although a kernel has ended, the firmware's
/// alarm has come or has not yet woken it, or the shell asks the memory.
const ASLEEP: [u8; 6] = [15, 16, 17, 18, 19, 20];
/// Of port 1.
const PORT: MacAddr = MacAddr([6, 0, 0, 0, 0, 1]);

/// Loads, writes, launches and reads with pauses of any length, frames of a port that only count, and questions for
/// the counters: all frames that the card sends, when, and its cycles.
fn play(planted: u8, clocks: Clocks, seed: u64) -> (String, u64) {
    let ports = vec![PortConfig::new(PORT, PortService::Stream(0))];
    let card = Config { kind: rackloom_wire::CardKind::Rtl, pace: Pace::Virtual, ports, ..config() };
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
    // The shell rests while a kernel runs and nothing waits for its time. The longest sees alarms of the firmware.
    let longest = if clocks == Clocks::TOGETHER { 17 } else { 14 };
    for length in [1 << 12, 1 << 14, 1 << longest] {
        bench.pass_ms(1);
        launches += 1;
        let payload = launch_payload(&[BASE, length], Out::default());
        bench.hand(bench.head(Kind::ExecLaunch, launches, BUMP).frame(&[&payload]));
        bench.pass(Duration::from_nanos(8000 + rng.below(8000)));
        bench.hand(bench.head(Kind::SessionCountersGet, 0, 0).frame(&[]));
    }
    bench.pass_ms(1);
    for _ in 0..40 {
        let place = BASE + rng.below(4096);
        let frame = match rng.below(6) {
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
            2 => {
                let length = 60 + rng.below(1400) as usize;
                let frame = [&PORT.0[..], &HOST.0, &[0x88, 0xb5], &vec![1; length]].concat();
                bench.card.handle_frame(bench.now, 1, frame.into());
                Head { epoch: 0, ..bench.head(Kind::SessionCountersGet, 0, 0) }.frame(&[])
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
    // Results that nobody has acknowledged come again.
    bench.pass_ms(2);
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
        let all = ["ResultDone", "InputConfirmReadData", "SessionCounters"];
        assert!(all.iter().all(|kind| sent.contains(kind)), "kernels ran, and data and counters came");
        assert!((sent, cycles) == play(AWAKE, clocks, seed), "seed {seed}: it shows that clocks have rested");
    }
}

#[test]
fn a_clock_that_rests_too_long_shows() {
    for (bugs, clocks) in [(&ASLEEP[..2], CLOCKS[2]), (&ASLEEP[2..], Clocks::TOGETHER)] {
        let right = play(0, clocks, 3);
        let unseen: Vec<_> = bugs.iter().filter(|&&bug| right == play(bug, clocks, 3)).collect();
        assert!(unseen.is_empty(), "bugs {unseen:?}: a card that hears too late is like one that hears");
    }
}
