//! Random streams of frames: whatever comes, the card stands.

use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rackloom_card::{CardEvent, Config, Pace};
use rackloom_conformance::bench::{
    BASE, CARD, CLAIM_GROUP, GROUP, HOST, MEMORY, Out, RIVAL, Sent, begin_body, launch_payload,
};
use rackloom_node::{Duration, Node};
use rackloom_wire::{CARDS, Head, IntoBytes, Kind, MacAddr};

use crate::cards::{Bench, claimed, config, virtual_time};
use crate::native::image;

#[derive(Debug, Clone)]
enum Act {
    /// Any bytes at all.
    Noise(Vec<u8>),
    /// A frame with a head that is nearly right and any payload.
    Near {
        kind: usize,
        dst: usize,
        src: usize,
        epoch: u8,
        seq: u32,
        addr: u64,
        flags: u8,
        payload: Vec<u8>,
    },
    /// A frame that means something.
    Meant {
        what: u8,
        seq: u32,
        number: u64,
        flip: Option<(usize, u8)>,
    },
    Wait(u64),
    Claim(bool, u64),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let bytes = |max| prop::collection::vec(any::<u8>(), 0..max);
    let addr = prop_oneof![0..4096u64, (BASE - 8)..(BASE + 4096), any::<u64>()];
    let act = prop_oneof![
        1 => bytes(100).prop_map(Act::Noise),
        4 => (0..Kind::ALL.len(), 0..5usize, 0..3usize, any::<u8>(), 0..6u32, addr, 0..16u8, bytes(200)).prop_map(
            |(kind, dst, src, epoch, seq, addr, flags, payload)| {
                Act::Near { kind, dst, src, epoch, seq, addr, flags, payload }
            }
        ),
        12 => (0..14u8, 0..8u32, 0..16u64, prop::option::weighted(0.1, (0..120usize, any::<u8>())))
            .prop_map(|(what, seq, number, flip)| Act::Meant { what, seq, number, flip }),
        2 => prop_oneof![0..100u64, 0..10_000_000u64, 0..4_000_000_000u64].prop_map(Act::Wait),
        1 => (any::<bool>(), 0..3u64).prop_map(|(host, nonce)| Act::Claim(host, nonce)),
    ];
    prop::collection::vec(act, 0..120)
}

fn act(bench: &mut Bench, image: &[u8], act: Act) {
    match act {
        Act::Noise(bytes) => bench.frame(bytes.into()),
        Act::Near { kind, dst, src, epoch, seq, addr, flags, payload } => {
            let dst = [CARD, CARDS, MacAddr::group(GROUP), MacAddr::group(CLAIM_GROUP), MacAddr::BROADCAST][dst];
            let src = [HOST, RIVAL, MacAddr([2, 0, 0, 0, 0, 2])][src];
            let epoch = match epoch % 4 {
                0 => 0,
                1 => GROUP,
                2 => CLAIM_GROUP,
                _ => bench.card.epoch().unwrap_or(1),
            };
            let head = Head { dst, src, kind: Kind::ALL[kind], flags, epoch, seq, addr };
            bench.frame(head.frame(&[&payload]));
        }
        Act::Meant { what, seq, number, flip } => {
            bench.epoch = bench.card.epoch().unwrap_or(1);
            let chunk = (number as usize * 7 % image.len().div_ceil(1472)) * 1472;
            let group = |kind, seq, addr, payload: &[u8]| (bench.group_head(kind, seq, addr), payload.to_vec());
            let own = |kind, seq, addr, payload: &[u8]| (bench.head(kind, seq, addr), payload.to_vec());
            let (head, payload) = match what {
                0 => {
                    let mut body = begin_body(image, 1472);
                    // A quarter of the loads announces a wrong digest.
                    body.digest[0] ^= u8::from(seq % 4 == 3);
                    own(Kind::ImageBegin, seq, 0, body.as_bytes())
                }
                1..=4 => group(Kind::ImageData, 0, chunk as u64, &image[chunk..image.len().min(chunk + 1472)]),
                5 => group(Kind::ImagePoll, seq, 0, &[0, 0, 3, number as u8, 0, 0, 0, 0]),
                6 => group(Kind::ImageCommit, seq, 0, &[]),
                7 => group(
                    Kind::ImageConfirmMissing,
                    seq,
                    0,
                    &rackloom_wire::missing_report(9, &[(1, number as u32 + 1)], 0),
                ),
                8 => own(Kind::InputWrite, seq * 40 + number as u32, BASE + number * 8, &[number as u8; 64]),
                9 => own(Kind::InputRead, seq, BASE + number, &[0, 0, 0, 64, 0, 0, 0, 0]),
                10 => {
                    let out = Out { addr: BASE, length: number * 1000, credit: seq as u16, go: seq / 6, fuel: 0 };
                    let args: &[u64] = match number % 4 {
                        1 => &[BASE, 5000, 1],
                        2 => &[BASE, 50],
                        _ => &[BASE],
                    };
                    own(Kind::ExecLaunch, seq, number % 4, &launch_payload(args, out))
                }
                11 => own(Kind::ExecCancel, seq, 0, &[]),
                12 => own(Kind::ExecGo, 1, 0, &[]),
                _ => {
                    let mut ack = [0; 48];
                    ack[3] = number as u8;
                    ack[7] = seq as u8 * 2;
                    ack[8] = 1;
                    own(Kind::ExecResultAck, seq, 0, &ack)
                }
            };
            let head = Head {
                src: if what == 7 { RIVAL } else { head.src },
                epoch: if what == 12 { CLAIM_GROUP } else { head.epoch },
                ..head
            };
            let mut frame = head.frame(&[&payload]).to_vec();
            if let Some((at, bits)) = flip {
                let at = at % frame.len();
                frame[at] ^= bits;
            }
            bench.frame(frame.into());
        }
        Act::Wait(ns) => bench.pass(Duration::from_nanos(ns)),
        Act::Claim(host, nonce) => bench.frame(Bench::claim_frame(if host { HOST } else { RIVAL }, nonce, 0)),
    }
}

/// No launch starts twice, and nothing happens that is not the present claim's; else what did.
fn check_events(events: &[CardEvent]) -> Result<(), String> {
    let mut epoch = None;
    let mut started = Vec::new();
    let mut ended = Vec::new();
    for event in events {
        let (of, once) = match event {
            CardEvent::Claimed { epoch: new, .. } => {
                if epoch.replace(*new).is_some() {
                    return Err(format!("{event:?} before the former claim has ended"));
                }
                (started, ended) = (Vec::new(), Vec::new());
                continue;
            }
            CardEvent::Released { epoch: old, .. } => {
                if epoch.take() != Some(*old) {
                    return Err(format!("{event:?} of another claim"));
                }
                continue;
            }
            CardEvent::LaunchStarted { epoch, seq, .. } => (epoch, Some((seq, &mut started))),
            CardEvent::LaunchEnded { epoch, seq, .. } => (epoch, Some((seq, &mut ended))),
            CardEvent::Written { epoch, addr, length, .. } => {
                if *addr < BASE || addr + u64::from(*length) > MEMORY {
                    return Err(format!("{event:?} out of bounds"));
                }
                (epoch, None)
            }
            CardEvent::Staged { .. }
            | CardEvent::Activated { .. }
            | CardEvent::LoadFailed { .. }
            | CardEvent::RoleEvent { .. }
            | CardEvent::MemoryFailed
            | CardEvent::Flashed { .. }
            | CardEvent::Raised(_)
            | CardEvent::Rebooted
            | CardEvent::StreamsLost { .. }
            | CardEvent::MessageRefused { .. } => continue,
        };
        if epoch != Some(*of) {
            return Err(format!("{event:?} in epoch {epoch:?}"));
        }
        if let Some((seq, before)) = once {
            if before.contains(seq) {
                return Err(format!("{event:?} for the second time"));
            }
            before.push(*seq);
        }
    }
    Ok(())
}

fn run(config: Config, list: Vec<Act>) -> (Vec<CardEvent>, u64) {
    let streamed = image(b"role", 1000);
    let limits = Config { config_rate: 1_000_000, staging_max: 128 << 10, fuel_max: 1 << 18, ..config };
    let mut bench = claimed(limits);
    bench.load(1, &image(b"first", 0));
    let mut all = vec![CardEvent::Claimed { owner: HOST, epoch: bench.epoch }];
    for step in list {
        act(&mut bench, &streamed, step);
        all.append(&mut bench.events);
        assert!(bench.card.memory_in_use() < 300_000, "{}", bench.card.memory_in_use());
    }
    // At last it comes to rest: everything of the claim is over when its owner is gone.
    bench.pass(Duration::from_secs(70));
    all.append(&mut bench.events);
    assert_eq!((bench.card.owner(), bench.card.memory_in_use()), (None, 0));
    assert!(bench.card.next_deadline().unwrap() > bench.now);
    let fold = |h: u64, s: &Sent| h.wrapping_mul(31).wrapping_add(s.at.as_nanos() ^ u64::from(s.head.seq));
    let hash = bench.sent.iter().fold(0, fold);
    (all, hash)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn any_stream_leaves_the_card_sound(list in acts(), live in any::<bool>()) {
        let (events, _) = run(config(if live { Pace::Live } else { Pace::Virtual }), list);
        prop_assert_eq!(check_events(&events), Ok(()));
    }

    #[test]
    fn the_same_stream_gives_the_same_card(list in acts()) {
        prop_assert_eq!(run(virtual_time(), list.clone()), run(virtual_time(), list));
    }
}

/// The streams reach what they are for: each kind of event comes up in them.
#[test]
fn the_streams_are_rich() {
    let mut runner = TestRunner::deterministic();
    let mut seen = [0; 8];
    for _ in 0..200 {
        let list = acts().new_tree(&mut runner).unwrap().current();
        for event in run(virtual_time(), list).0 {
            let kind = match event {
                CardEvent::Claimed { .. } => 0,
                CardEvent::Released { .. } => 1,
                CardEvent::Staged { .. } => 2,
                CardEvent::Activated { .. } => 3,
                CardEvent::LoadFailed { .. } => 4,
                CardEvent::LaunchStarted { .. } => 5,
                CardEvent::LaunchEnded { .. } => 6,
                CardEvent::Written { .. } => 7,
                CardEvent::RoleEvent { .. } | CardEvent::MessageRefused { .. } | CardEvent::StreamsLost { .. } => {
                    unreachable!("no role here has streams")
                }
                CardEvent::MemoryFailed => unreachable!("memory is sound here"),
                CardEvent::Flashed { .. } | CardEvent::Rebooted => unreachable!("no card here has a flash"),
                CardEvent::Raised(_) => unreachable!("no card here asks for signatures"),
            };
            seen[kind] += 1;
        }
    }
    assert!(seen.iter().all(|&n| n >= 10), "{seen:?}");
}

/// A card that executes launches twice is found out by the same streams.
#[cfg(feature = "planted-bugs")]
#[test]
fn a_planted_bug_is_found() {
    let mut runner = TestRunner::deterministic();
    let planted = Some(rackloom_card::PlantedBug::DuplicateLaunch);
    let found = (0..500).any(|_| {
        let list = acts().new_tree(&mut runner).unwrap().current();
        check_events(&run(Config { planted, ..virtual_time() }, list).0).is_err()
    });
    assert!(found);
}
