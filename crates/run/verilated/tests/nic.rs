//! A host behind the gateware: what passes between it and the wire is what the model says, whatever the card does.

use rackloom_card::{ConfigError, Hook, Nic, NicPath, Pace, PortConfig, PortService, Side};
use rackloom_node::{Duration, Frame, Instant, Node, Output, Port, Rng};
use rackloom_verilated::{Config, RtlCard, Stress};
use rackloom_wire::{
    BridgeHead, CARDS, ETHERTYPES, Head, IntoBytes, Kind, MAC_CONTROL, MacAddr, Packet, Pause, Solicit, U32, bridge,
};

const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
/// The host's address, that of port 2.
const OWN: MacAddr = MacAddr([0x22, 0, 0, 0, 0, 1]);
const PEER: MacAddr = MacAddr([6, 0, 0, 0, 0, 7]);
const HOST: Port = 2;
const NIC: Nic = Nic { host: HOST, hook: None };
const IPV4: u16 = 0x0800;
/// `rl_planted`: the firmware runs in a circle.
const HANGS: u8 = 7;

/// Port 1 is a stream's.
fn behind(stress: Stress) -> Config {
    let mut config = Config { stress, ..Config::new(CARD, Pace::Virtual) };
    let port_1 = PortConfig::new(MacAddr([0x12, 0, 0, 0, 0, 1]), PortService::Stream(0));
    config.card.ports = vec![port_1, PortConfig::new(OWN, PortService::Closed)];
    (config.card.nic, config.card.bridge) = (Some(NIC), true);
    config
}

fn raw(dst: MacAddr, src: MacAddr, ethertype: u16, length: usize) -> Frame {
    let mut bytes = [&dst.0[..], &src.0, &ethertype.to_be_bytes()].concat();
    bytes.resize(length.max(bytes.len()), 0x5a);
    bytes.into()
}

/// A question of a host on the wire for who is there, to be answered at once.
fn solicit(seq: u32) -> Frame {
    let head = Head { dst: CARDS, src: PEER, kind: Kind::DiscoverySolicit, flags: 0, epoch: 0, seq, addr: 0 };
    head.frame(&[Solicit { window_us: U32::ZERO, reserved: U32::ZERO }.as_bytes()])
}

/// A card in virtual time, and what comes out of it: frames of its own at port 0 apart from those of the host.
struct Bench {
    card: RtlCard,
    now: Instant,
    own: Vec<Frame>,
    to_wire: Vec<Frame>,
    to_host: Vec<Frame>,
}

impl Bench {
    fn new(config: Config) -> Self {
        let card = RtlCard::new(config).expect("a sound configuration");
        Self { card, now: Instant::ZERO, own: Vec::new(), to_wire: Vec::new(), to_host: Vec::new() }
    }

    fn frame(&mut self, port: Port, frame: Frame) {
        self.card.handle_frame(self.now, port, frame);
    }

    fn pass(&mut self, time: Duration) {
        let end = self.now + time;
        loop {
            while let Some(output) = self.card.poll(self.now) {
                match output {
                    Output::Transmit(0, frame) if frame[6..12] == CARD.0 => self.own.push(frame),
                    Output::Transmit(0, frame) => self.to_wire.push(frame),
                    Output::Transmit(HOST, frame) => self.to_host.push(frame),
                    other => panic!("{other:?}"),
                }
            }
            let wakes_at = self.card.next_deadline().expect("it is on").max(self.now);
            if wakes_at > end {
                break;
            }
            self.now = wakes_at;
            self.card.handle_timeout(self.now);
        }
        self.now = end;
        self.card.handle_timeout(end);
    }

    /// The numbers of the questions that were answered.
    fn answered(&self) -> Vec<u32> {
        let answers = self.own.iter().map(|frame| Packet::parse(frame).expect("a sound frame").head);
        answers.filter(|head| head.kind == Kind::DiscoveryAnnounce && head.dst == PEER).map(|head| head.seq).collect()
    }

    /// Orders that the host was given.
    fn orders(&self) -> Vec<Pause> {
        self.to_host.iter().filter_map(|frame| Pause::of(frame)).collect()
    }
}

/// A frame that may meet any rule.
fn random(rng: &mut Rng, at: Side) -> Frame {
    let any = [CARD, OWN, PEER, MacAddr::BROADCAST, CARDS, MacAddr([0x33, 0x33, 0, 0, 0, 1]), MacAddr::ZERO];
    let (mut dst, mut src) = if at == Side::Wire { (OWN, PEER) } else { (PEER, OWN) };
    if rng.below(2) == 0 {
        dst = any[rng.below(any.len() as u64) as usize];
    }
    if rng.below(4) == 0 {
        src = any[rng.below(any.len() as u64) as usize];
    }
    let ours = ETHERTYPES[rng.below(ETHERTYPES.len() as u64) as usize];
    let ethertype = [IPV4, IPV4, IPV4, 0x0806, 0x86dd, MAC_CONTROL, ours][rng.below(7) as usize];
    if rng.below(6) == 0 {
        return BridgeHead::new(dst, src, bridge::Kind::Unack).frame(&[]);
    }
    raw(dst, src, ethertype, [14, 60, 61, 500, 1514][rng.below(5) as usize])
}

/// Frames one after the other, at either side, with what the surroundings do to a card.
#[test]
fn what_passes_is_what_passes_in_the_model() {
    for (seed, stress) in
        [(1, Stress::default()), (2, Stress { rx_gaps: 100, tx_stalls: 200, late: true, ..Stress::default() })]
    {
        let (mut rng, mut bench) = (Rng::new(seed), Bench::new(behind(stress)));
        let mut model = NicPath::new(NIC, CARD, &bench.card.config().ports.clone());
        bench.pass(Duration::from_millis(1));
        for _ in 0..400 {
            let at = if rng.below(2) == 0 { Side::Wire } else { Side::Host };
            let frame = random(&mut rng, at);
            let (port, to, verdict) = match at {
                Side::Wire => (0, Side::Host, model.judge_from_wire(&frame)),
                Side::Host => (HOST, Side::Wire, Some(model.judge_from_host(&frame))),
            };
            bench.frame(port, frame.clone());
            if let Some(Err(why)) = verdict.map(|verdict| verdict.and_then(|()| model.push(to, frame.clone()))) {
                model.drops(why);
            }
            bench.pass(Duration::from_micros(8));
            let left = [std::mem::take(&mut bench.to_wire), std::mem::take(&mut bench.to_host)];
            let expected = [Side::Wire, Side::Host].map(|side| model.pop(side).map(|(_, frame)| frame));
            assert_eq!(
                left.map(|mut frames| (frames.pop(), frames.len())),
                expected.map(|frame| (frame, 0)),
                "{frame:?}"
            );
        }
        let counted = bench.card.nic_counters().expect("a host is behind it");
        assert_eq!(counted, model.counters());
        assert!(counted.forged > 0 && counted.reserved > 0 && counted.astray > 0, "{counted:?}");
        assert_eq!(bench.card.frames_lost(), 0);
    }
}

/// The host sends as fast as its cable carries, and knows no orders; the card goes on to answer, and each frame leaves
/// or is counted.
#[test]
fn a_host_that_floods_leaves_the_card_its_share() {
    let mut bench = Bench::new(behind(Stress::default()));
    bench.pass(Duration::from_millis(1));
    let (mut sent, questions) = (0, 300);
    for seq in 1..=questions {
        // 2.5 us a question; a frame of 1514 bytes takes 1.2 us of the host's cable.
        for _ in 0..2 {
            bench.frame(HOST, raw(PEER, OWN, IPV4, 1514));
            sent += 1;
        }
        bench.frame(0, solicit(seq));
        bench.pass(Duration::from_nanos(2500));
    }
    bench.pass(Duration::from_millis(2));
    let counted = bench.card.nic_counters().expect("a host is behind it");
    assert_eq!(counted.to_wire.frames + counted.overflow, sent, "{counted:?}");
    assert_eq!(bench.to_wire.len() as u64, counted.to_wire.frames);
    assert!(bench.to_wire.len() as u64 > sent / 2, "the host has its share: {counted:?}");
    let answered = bench.answered();
    assert_eq!(answered, (1..=questions).collect::<Vec<_>>(), "{} answers", answered.len());
    let orders = bench.orders();
    assert_eq!(orders.iter().filter(|order| order.quanta > 0).count() as u64, counted.paused);
    assert!(counted.paused > 0 && orders.last() == Some(&Pause { quanta: 0 }), "{orders:?}");
}

/// What has no firmware goes on while that starts again.
#[test]
fn frames_pass_while_the_shell_starts_again() {
    let mut bench = Bench::new(behind(Stress::default()));
    bench.pass(Duration::from_millis(1));
    bench.card.plant(HANGS);
    let mut expected = 0;
    while bench.card.restarts() == 0 {
        bench.frame(0, raw(OWN, PEER, IPV4, 100));
        bench.frame(HOST, raw(PEER, OWN, IPV4, 100));
        bench.pass(Duration::from_micros(100));
        expected += 1;
        assert_eq!((bench.to_host.len(), bench.to_wire.len()), (expected, expected));
        assert!(expected < 1000, "the firmware goes on");
    }
    bench.frame(0, raw(OWN, PEER, IPV4, 100));
    bench.pass(Duration::from_micros(10));
    let counted = bench.card.nic_counters().expect("a host is behind it");
    assert_eq!((counted.to_host.frames, counted.to_wire.frames), (expected as u64 + 1, expected as u64));
}

#[test]
fn what_gateware_does_not_have_is_refused_by_name() {
    let refused = |change: fn(&mut Config)| {
        let mut config = behind(Stress::default());
        change(&mut config);
        match RtlCard::new(config).map(|_| ()) {
            Err(ConfigError::Range { field }) => field,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(refused(|c| c.card.nic = Some(Nic { hook: Some(Hook::USUAL), ..NIC })), "hook");
    assert_eq!(refused(|c| c.card.bridge = false), "nic");
}
