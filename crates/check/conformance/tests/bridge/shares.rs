//! Who shares the wire of port 0 of a gateware card: a host behind it, the bridge and the shell.
//!
//! A model card in a simulated network gives all that it has to a cable that queues it. Its turns are tested where
//! somebody polls it as fast as a wire carries: see `tests/model/nic.rs`.

use rackloom_card::{Nic, PortConfig, PortService};
use rackloom_node::{Duration, Frame, Node, Port};
use rackloom_rack::Kind;
use rackloom_wire::{ErrorCode, MacAddr};

use crate::ALL;
use crate::lab::{self, BASE, LENGTH, Lab, node};

/// The address of the host behind the card, and its port.
const OWN: MacAddr = MacAddr([0x22, 0, 0, 0, 0, 1]);
const BEHIND: Port = 2;
/// Bytes of a read, whose answer is a frame of 1506 bytes.
const READ: u32 = 1408;
const ANSWER: u64 = READ as u64 + 98;
/// Preamble, check sequence and gap.
const AROUND: u64 = 24;
const BYTES_A_US: u64 = 1250;

/// Bytes of port 0's wire for each in a millisecond of all at once.
#[derive(Debug, Default)]
struct Shares {
    behind: u64,
    bridge: u64,
    shell: u64,
}

/// `shell`: the owner reads memory all the time as well.
fn flood(shell: bool) -> Shares {
    let mut lab = Lab::with(Kind::Rtl, 1, |config| {
        let stream = PortConfig::new(MacAddr([0x12, 0, 0, 0, 0, 1]), PortService::Stream(0));
        config.ports = vec![stream, PortConfig::new(OWN, PortService::Closed)];
        config.nic = Some(Nic { host: BEHIND, hook: None });
    });
    assert_eq!(lab.window(0, node(0), BASE, LENGTH, ALL), ErrorCode::Ok);
    let mut frame = [&node(0).0[..], &OWN.0, &[8, 0]].concat();
    frame.resize(1514, 0x5a);
    let frame = Frame::from(frame);
    let mut asked = 0;
    let mut owners = None;
    let (mut shares, mut before) = (Shares::default(), 0);
    // What is counted begins when all are at it.
    for (rounds, counts) in [(200, false), (813, true)] {
        before = wire_bytes(&lab);
        for _ in 0..rounds {
            lab.rack.with_card(lab.card, |card, now| card.handle_frame(now, BEHIND, frame.clone()));
            // A frame of the host's takes that long on its own cable.
            lab.pass(Duration::from_nanos(1230));
            let ended = lab.take_ended();
            asked -= ended.len();
            for (_, result) in ended {
                assert_eq!(result.map(|bytes| bytes.len()), Ok(READ as usize));
                shares.bridge += u64::from(counts) * (ANSWER + AROUND);
            }
            while asked < 24 {
                lab.ask(0, |node, now| node.read(now, lab::CARD, BASE, READ)).expect("it is a request");
                asked += 1;
            }
            if shell && owners.is_none_or(|op| lab.has_ended(op)) {
                shares.shell += u64::from(counts && owners.is_some()) * (OWNERS / 1408) * (1408 + 46 + AROUND);
                owners = Some(lab.begin(|host, now| host.read(now, lab::CARD, BASE, OWNERS)));
            }
        }
    }
    shares.behind = wire_bytes(&lab) - before;
    shares
}

/// What the owner reads at once.
const OWNERS: u64 = 48 * 1408;

/// Bytes of the host's that left at port 0.
fn wire_bytes(lab: &Lab) -> u64 {
    let counted = lab.rack.card(lab.card).nic_counters().expect("a host is behind it").to_wire;
    counted.bytes + counted.frames * AROUND
}

fn percent(bytes: u64) -> u64 {
    100 * bytes / (1000 * BYTES_A_US)
}

#[test]
fn a_host_and_the_bridge_have_half_of_the_wire_each() {
    let shares = flood(false);
    println!("{shares:?}");
    assert!(percent(shares.behind) >= 45 && percent(shares.bridge) >= 45, "{shares:?}");
}

#[test]
fn the_shell_has_its_share_beside_both() {
    let shares = flood(true);
    println!("{shares:?}");
    assert!(percent(shares.behind) >= 45, "{shares:?}");
    assert!(percent(shares.bridge) >= 15 && percent(shares.shell) >= 15, "{shares:?}");
}
