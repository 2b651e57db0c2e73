//! A job, and what happens to its cards.

mod common;

use bytes::Bytes;
use common::{Bench, CARD, EPOCH, NEIGHBOUR};
use rackloom_host::{Change, Event, Job, JobEvent, JobOptions, OpError, Tile, Work};
use rackloom_node::Frame;
use rackloom_wire::{Done, ErrorCode, IntoBytes, Kind, MacAddr, Packet, Refusal, U16, U32, U64};

const IMAGE: &[u8] = b"what cards run";

/// Tiles without inputs and outputs.
struct Tiles(usize);

impl Work for Tiles {
    fn tiles(&self) -> usize {
        self.0
    }
    fn tile_bytes(&self) -> u64 {
        64
    }
    fn inputs(&mut self, _: usize) -> Tile {
        Tile { kernel: 0, inputs: Vec::new(), output: 0, args: Vec::new() }
    }
    fn output(&mut self, _: usize, _: Bytes) {}
}

/// A job on cards that this test plays. Their image is the job's unless said otherwise.
struct Rig {
    bench: Bench,
    job: Job,
    told: Vec<JobEvent>,
    frames: Vec<Frame>,
}

impl Rig {
    fn new(cards: &[MacAddr], tiles: usize) -> Self {
        let mut bench = Bench::new();
        bench.digest = *blake3::hash(IMAGE).as_bytes();
        for card in cards {
            bench.announce_from(*card, 0, 1);
        }
        bench.poll();
        let options = JobOptions { cards: Some(cards.iter().copied().collect()), depth: 1, ..JobOptions::default() };
        let job = Job::start(bench.now, &mut bench.host, IMAGE.into(), Box::new(Tiles(tiles)), options);
        let mut rig = Self { bench, job, told: Vec::new(), frames: Vec::new() };
        rig.go_on();
        rig
    }

    /// The host says what it has to, and the job hears of it; claims and releases are granted.
    fn go_on(&mut self) {
        loop {
            let polled = self.bench.poll();
            if polled.frames.is_empty() && polled.events.is_empty() {
                return;
            }
            for event in &polled.events {
                self.told.extend(self.job.handle(self.bench.now, &mut self.bench.host, event));
            }
            for frame in polled.frames {
                let head = Packet::parse(&frame).unwrap().head;
                match head.kind {
                    Kind::SessionClaim => self.bench.grant_from(head.dst, EPOCH, &frame),
                    Kind::SessionRelease => {
                        self.bench.hear_from(head.dst, EPOCH, Kind::SessionReleased, head.seq, 0, &[]);
                        self.bench.announce_from(head.dst, 0, 1);
                    }
                    _ => self.frames.push(frame),
                }
            }
        }
    }

    /// The card and number of the only launch on offer.
    fn launch(&mut self) -> (MacAddr, u32) {
        let heads = self.frames.drain(..).map(|f| Packet::parse(&f).unwrap().head);
        let launches: Vec<_> = heads.filter(|h| h.kind == Kind::ExecLaunch).map(|h| (h.dst, h.seq)).collect();
        let [launch] = launches[..] else { panic!("{launches:?}") };
        launch
    }

    fn refuse(&mut self, (card, seq): (MacAddr, u32), code: ErrorCode) {
        let no = Refusal { code: U16::new(code.into()), holder: MacAddr::ZERO, detail: U64::ZERO };
        self.bench.hear_from(card, EPOCH, Kind::ResultAccepted, seq, 0, &[]);
        self.bench.hear_from(card, EPOCH, Kind::ResultRefused, seq, 0, no.as_bytes());
        self.go_on();
    }

    fn end(&mut self, (card, seq): (MacAddr, u32), status: ErrorCode) {
        let z = U64::ZERO;
        let (status, chunk) = (U16::new(status.into()), U16::new(1472));
        let done = Done { status, chunk, chunks: U32::ZERO, value: z, cycles: z, started_ns: z, finished_ns: z };
        self.bench.hear_from(card, EPOCH, Kind::ResultDone, seq, 0, done.as_bytes());
        self.go_on();
    }

    fn left(&self) -> Vec<MacAddr> {
        self.told.iter().filter_map(|e| if let JobEvent::Left(card, _) = e { Some(*card) } else { None }).collect()
    }
}

/// One launch that a card did not know, or that somebody else had cancelled, ended the whole job.
#[test]
fn regression_a_launch_that_was_called_off_failed_the_job() {
    for by_done in [false, true] {
        let mut rig = Rig::new(&[CARD, NEIGHBOUR], 1);
        let first = rig.launch();
        match by_done {
            false => rig.refuse(first, ErrorCode::UnknownLaunch),
            true => rig.end(first, ErrorCode::Cancelled),
        }
        assert_eq!(rig.left(), [first.0]);
        let second = rig.launch();
        assert_ne!(second.0, first.0, "the tile goes to another card");
        rig.end(second, ErrorCode::Ok);
        assert_eq!(rig.told.last(), Some(&JobEvent::Finished));
    }
}

#[test]
fn a_tile_that_is_called_off_again_and_again_fails_the_job() {
    let mut rig = Rig::new(&[CARD], 1);
    for tries in 1.. {
        let launch = rig.launch();
        rig.refuse(launch, ErrorCode::UnknownLaunch);
        if let Some(JobEvent::Failed(why)) = rig.told.last() {
            assert!(matches!(why, OpError::Refused { code: ErrorCode::UnknownLaunch, .. }), "{why}");
            assert_eq!(tries, 9);
            return;
        }
    }
}

/// A kernel's own failure is no card's fault: it is tried once more, and the card stays.
#[test]
fn a_kernel_that_traps_is_tried_once_more() {
    let mut rig = Rig::new(&[CARD], 1);
    for _ in 0..2 {
        let launch = rig.launch();
        rig.end(launch, ErrorCode::KernelTrap);
    }
    assert_eq!(rig.left(), []);
    assert!(matches!(rig.told.last(), Some(JobEvent::Failed(OpError::Kernel { .. }))));
}

/// The report told only of cards that were gone at the end: what had happened in between was nowhere.
#[test]
fn regression_a_card_that_came_back_with_another_image_or_boot_left_no_trace() {
    for change in [Change::ImageReplaced, Change::Restarted] {
        let mut rig = Rig::new(&[CARD], 2);
        let first = rig.launch();
        rig.end(first, ErrorCode::Ok);
        let second = rig.launch();
        let stale = ErrorCode::StaleEpoch;
        match change {
            Change::ImageReplaced => {
                rig.bench.digest = [7; 32];
                rig.bench.announce(1);
            }
            Change::Restarted => rig.bench.boot = 2, // Its grant tells: the announcement was lost.
        }
        rig.refuse(second, stale);
        assert!(rig.told.contains(&JobEvent::Found(CARD, change)), "{:?}", rig.told);
        assert!(rig.bench.events.contains(&Event::ClaimLost { card: CARD }));
        assert_eq!(rig.left(), [CARD]);
    }
}
