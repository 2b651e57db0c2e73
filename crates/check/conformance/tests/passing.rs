//! A card that passes frames between its ports, or to a host behind it and from there: the model and the Verilated
//! gateware send the same frames on the same ports and count the same.

use rackloom_card::{Card, Config, Nic, PortConfig, PortService};
use rackloom_conformance::Specimen;
use rackloom_conformance::bench::{Bench, CARD, config};
use rackloom_node::{Frame, Node, Port, Rng};
use rackloom_verilated::RtlCard;
use rackloom_wire::{Counter, MAC_CONTROL, MacAddr};

const MACS: [MacAddr; 2] = [MacAddr([6, 0, 0, 0, 0, 1]), MacAddr([10, 0, 0, 0, 0, 1])];
const PEER: MacAddr = MacAddr([2, 0, 0, 0, 0, 9]);
const FAR: MacAddr = MacAddr([2, 0, 0, 0, 0, 8]);
/// What frames become.
const COUNTERS: [Counter; 9] = [
    Counter::RxFrames,
    Counter::RxBytes,
    Counter::RxWords,
    Counter::TxFrames,
    Counter::TxBytes,
    Counter::TxWords,
    Counter::DropForeign,
    Counter::DropTruncated,
    Counter::DropQueue,
];

/// Ports 1 and 2: `services` say what each belongs to, and `passes` which of them passes frames.
fn ports(services: [PortService; 2], passes: [bool; 2]) -> Config {
    let port = |i: usize| {
        let port = PortConfig::new(MACS[i], services[i]);
        if passes[i] { port.passing_to(2 - i as Port) } else { port }
    };
    Config { ports: vec![port(0), port(1)], ..config() }
}

fn frame(dst: MacAddr, src: MacAddr, ethertype: u16, payload: &[u8]) -> Frame {
    [&dst.0[..], &src.0, &ethertype.to_be_bytes(), payload].concat().into()
}

/// A frame that may be for anybody, of any family.
fn any_frame(rng: &mut Rng) -> Frame {
    let [port_1, port_2] = MACS;
    let addresses = [port_1, port_2, CARD, PEER, FAR, MacAddr::BROADCAST, MacAddr([3, 1, 2, 3, 4, 5])];
    let mut pick = |all: &[MacAddr]| all[rng.below(all.len() as u64) as usize];
    let (dst, src) = (pick(&addresses), pick(&addresses));
    let ethertypes = [0x0800, 0x86dd, 0x88b5, 0x80ef, 0x80ec, 0x80dd, MAC_CONTROL];
    let ethertype = ethertypes[rng.below(7) as usize];
    let length = if rng.below(4) == 0 { rng.below(1480) } else { 46 + rng.below(80) };
    let payload: Vec<u8> = (0..length).map(|_| rng.below(256) as u8).collect();
    let whole = frame(dst, src, ethertype, &payload);
    if rng.below(16) == 0 { whole.slice(..1 + rng.below(13) as usize) } else { whole }
}

/// What a card has sent on each port, beside its own, and counted.
fn run<S: Specimen>(config: Config, frames: &[(Port, Frame)]) -> ([Vec<Frame>; 3], Vec<u64>) {
    let passes = config.nic.is_some();
    let mut bench = Bench::<S>::new(config);
    (bench.ports, bench.passes) = (3, passes);
    bench.pass_ms(1);
    bench.clear();
    let before = COUNTERS.map(|counter| bench.count(counter));
    let own = COUNTERS.map(|counter| bench.count(counter));
    for (port, frame) in frames {
        bench.frame_at(*port, frame.clone());
        // Each before the next: between two ports there is no order.
        bench.pass_ms(1);
    }
    let after = COUNTERS.map(|counter| bench.count(counter));
    // To ask for the counters takes frames as well, the same number each time.
    let counts = (0..COUNTERS.len()).map(|i| after[i] - own[i] - (own[i] - before[i])).collect();
    let sent = |port| bench.others.iter().filter(|(p, _)| *p == port).map(|(_, frame)| frame.clone()).collect();
    ([sent(0), sent(1), sent(2)], counts)
}

#[test]
fn model_and_gateware_pass_the_same_frames() {
    let (closed, open) = (PortService::Closed, [PortService::Stream(0), PortService::Stream(1)]);
    let cases = [
        ports([closed; 2], [true; 2]),
        ports(open, [true; 2]),
        ports([open[0], closed], [true, false]),
        ports(open, [false; 2]),
    ];
    for (seed, config) in (1..).zip(cases) {
        let mut rng = Rng::new(seed);
        let frames: Vec<(Port, Frame)> = (0..200).map(|_| (1 + rng.below(2) as Port, any_frame(&mut rng))).collect();
        let model = run::<Card>(config.clone(), &frames);
        let gateware = run::<RtlCard>(config.clone(), &frames);
        assert_eq!(model.1, gateware.1, "case {seed}: counters {COUNTERS:?}");
        assert!(model.0 == gateware.0, "case {seed}: other frames leave");
        let passes = config.ports.iter().any(|port| port.passes_to.is_some());
        assert_eq!(model.0.iter().all(Vec::is_empty), !passes, "case {seed}");
    }
}

/// Port 2 is a host's, whose frames pass to port 0 and from there.
#[test]
fn model_and_gateware_serve_a_host_alike() {
    let ports = ports([PortService::Stream(0), PortService::Closed], [false; 2]);
    let config = Config { nic: Some(Nic { host: 2, hook: None }), bridge: true, ..ports };
    let mut rng = Rng::new(9);
    let frames: Vec<(Port, Frame)> = (0..400).map(|_| (2 * rng.below(2) as Port, any_frame(&mut rng))).collect();
    let model = run::<Card>(config.clone(), &frames);
    let gateware = run::<RtlCard>(config, &frames);
    assert_eq!(model.1, gateware.1, "counters {COUNTERS:?}");
    assert!(model.0 == gateware.0, "other frames leave");
    assert!(model.0[0].len() > 5 && model.0[2].len() > 5, "{:?}", model.0.map(|frames| frames.len()));
}

/// Frames back to back at both ports at once, and on their way out at once: none is lost.
#[test]
fn gateware_passes_at_line_rate_both_ways() {
    let mut bench = Bench::<RtlCard>::new(ports([PortService::Closed; 2], [true; 2]));
    bench.ports = 3;
    bench.pass_ms(1);
    bench.clear();
    let mut sent = [Vec::new(), Vec::new()];
    for i in 0..200_u16 {
        for (port, sent) in (1..).zip(&mut sent) {
            let length = if i % 4 == 0 { 1500 } else { 46 };
            let (dst, src) = if port == 1 { (FAR, PEER) } else { (PEER, FAR) };
            let frame = frame(dst, src, 0x0800, &[&i.to_be_bytes()[..], &vec![0; length - 2]].concat());
            bench.card.handle_frame(bench.now, port, frame.clone());
            sent.push((3 - port, frame));
        }
    }
    bench.pass_ms(2);
    for (port, sent) in (1..).zip(sent) {
        let came: Vec<_> = bench.others.iter().filter(|(p, _)| *p == 3 - port).cloned().collect();
        assert!(came == sent, "{} of {} frames from port {port} have come", came.len(), sent.len());
    }
}
