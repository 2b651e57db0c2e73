//! The API against real cards on an in-process switch.

use std::num::NonZeroUsize;
use std::pin::pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::Thread;
use std::time::Duration;

use bytes::Bytes;
use rackloom::{
    Array, ArrayWork, CardName, ClaimOptions, Commit, Error, Event, JobUpdate, Launch, MacAddr, OpError, Rack,
    RackOptions, Restart, RunOptions, Scrub, Sizing,
};
use rackloom_card::{Card, Config, FlashConfig, Pace};
use rackloom_live::{Clock, Member, Pool, Port, Switch, Wire};
use rackloom_sandbox::WasmSandbox;

/// First address of a card's memory that is the host's to use.
const MEMORY: u64 = 1 << 20;

struct Lab {
    cards: Vec<Member<Card>>,
    pool: Pool,
    switch: Switch,
    sandbox: Arc<WasmSandbox>,
}

impl Lab {
    fn new(cards: u16) -> Self {
        let pool = Pool::new(NonZeroUsize::new(2).unwrap(), Clock::start()).unwrap();
        let mut lab = Self { cards: Vec::new(), pool, switch: Switch::default(), sandbox: Arc::default() };
        (0..cards).for_each(|_| lab.add());
        lab
    }

    fn add(&mut self) {
        self.add_with(|_| {});
    }

    fn add_with(&mut self, change: impl FnOnce(&mut Config)) {
        let unit = self.cards.len() as u16;
        let mut config = Config { unit, memory: 64 << 20, ..Config::new(mac(unit), Pace::Live) };
        change(&mut config);
        let card = Card::new(config, self.sandbox.clone()).unwrap();
        self.cards.push(self.pool.add(card, self.switch.attach("card").unwrap(), |_| {}));
    }

    fn rack(&self) -> Rack {
        Rack::attach(self.port(), RackOptions::default()).unwrap()
    }

    fn port(&self) -> Port {
        self.switch.attach("host").unwrap()
    }
}

fn mac(unit: u16) -> MacAddr {
    MacAddr([2, 0, 0, 0, 0, unit as u8])
}

fn image(role: &str) -> Bytes {
    Bytes::from_static(rackloom_builtin_roles::image(role).unwrap())
}

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn all_operations_work_on_many_cards_at_once() {
    let lab = Lab::new(3);
    let rack = lab.rack();
    let cards: Vec<_> = rack.discover(SECOND).unwrap().iter().map(|c| c.mac).collect();
    assert_eq!(cards, [mac(0), mac(1), mac(2)]);
    let epochs = rack.claim(&cards, ClaimOptions::default()).wait_all().unwrap();
    assert!(epochs.iter().all(|e| *e != 0));

    let phases = Arc::new(Mutex::new(Vec::new()));
    let noted = Arc::clone(&phases);
    let load =
        rack.load(&cards, image("vadd"), Commit::AllOrNone, move |phase, _, _| noted.lock().unwrap().push(phase));
    assert!(load.wait().unwrap().cards.values().all(Result::is_ok));
    assert!(phases.lock().unwrap().is_sorted(), "phases follow one another");
    assert!(rack.manifest(&cards).wait_all().unwrap().iter().all(|m| m.windows(4).any(|w| w == b"vadd")));

    let floats = |f: fn(u32) -> f32| (0..64).flat_map(|i| f(i).to_le_bytes()).collect::<Bytes>();
    let mut writes = Vec::new();
    for &card in &cards {
        writes.push(rack.write(card, MEMORY, floats(|i| i as f32)));
        writes.push(rack.write(card, MEMORY + 256, floats(|i| i as f32 / 2.0)));
    }
    let launch =
        Launch { args: vec![MEMORY, MEMORY + 256, MEMORY + 512, 64], output: (MEMORY + 512, 256), ..Launch::default() };
    let launches: Vec<_> = cards.iter().map(|&card| rack.launch(card, launch.clone())).collect();
    for launch in launches {
        assert_eq!(launch.wait().unwrap().output, floats(|i| i as f32 * 1.5));
    }
    writes.into_iter().for_each(|w| w.wait().unwrap());
    assert_eq!(rack.read(cards[1], MEMORY + 512 + 4, 4).wait().unwrap()[..], 1.5f32.to_le_bytes());
    assert!(rack.counters(&cards).wait_all().unwrap().iter().all(|c| c.iter().sum::<u64>() > 0));
    rack.release(&cards, Scrub::Zero).wait_all().unwrap();
    rack.claim(&cards[..1], ClaimOptions::default()).wait_all().unwrap();
    assert_eq!(rack.read(cards[0], MEMORY, 256).wait().unwrap()[..], [0; 256]);
}

/// Runs a future on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => std::thread::park(),
        }
    }
}

#[test]
fn the_same_handles_are_awaited() {
    let lab = Lab::new(2);
    let rack = lab.rack();
    let cards: Vec<_> = rack.discover(SECOND).unwrap().iter().map(|c| c.mac).collect();
    let data = block_on(async {
        for (_, result) in rack.claim(&cards, ClaimOptions::default()).await {
            result?;
        }
        rack.write(cards[1], MEMORY, Bytes::from_static(b"awaited")).await?;
        rack.read(cards[1], MEMORY, 7).await
    });
    assert_eq!(data.unwrap()[..], b"awaited"[..]);
}

#[test]
fn errors_name_the_card() {
    let lab = Lab::new(1);
    let rack = lab.rack();
    rack.discover(SECOND).unwrap();
    let stranger = mac(9);
    let op = |e: Error| match e {
        Error::Op(e) => e,
        other => panic!("{other}"),
    };
    let claimed = rack.claim(&[stranger], ClaimOptions::default()).wait_all().unwrap_err();
    assert_eq!(op(claimed), OpError::UnknownCard { card: CardName { mac: stranger, unit: None } });
    let unclaimed = op(rack.read(mac(0), MEMORY, 8).wait().unwrap_err());
    assert_eq!(unclaimed, OpError::NotClaimed { card: CardName { mac: mac(0), unit: Some(0) } });
    assert_eq!(unclaimed.to_string(), format!("card0 ({}): not claimed by this host", mac(0)));

    rack.claim(&[mac(0)], ClaimOptions::default()).wait_all().unwrap();
    let other = lab.rack();
    other.discover(SECOND).unwrap();
    let refused = op(other.claim(&[mac(0)], ClaimOptions::default()).wait_all().unwrap_err());
    assert!(matches!(refused, OpError::Claimed { holder, .. } if holder == rack.mac()), "{refused}");
    drop(rack); // It gives its cards back.
    other.claim(&[mac(0)], ClaimOptions::default()).wait_all().unwrap();
}

#[test]
fn a_card_that_vanishes_ends_its_operations_and_is_reported() {
    let mut lab = Lab::new(2);
    let rack = lab.rack();
    rack.discover(SECOND).unwrap();
    let mut watch = rack.watch().unwrap();
    rack.claim(&[mac(1)], ClaimOptions::default()).wait_all().unwrap();
    drop(lab.cards.pop());
    let lost = rack.read(mac(1), MEMORY, 8).wait().unwrap_err();
    assert!(matches!(lost, Error::Op(OpError::Vanished { card, .. }) if card.mac == mac(1)), "{lost}");
    let down = watch.find(|e| matches!(e, Event::CardDown { .. }));
    assert!(matches!(down, Some(Event::CardDown { card, .. }) if card == mac(1)));
}

#[test]
fn a_job_uses_a_card_that_comes_late() {
    let mut lab = Lab::new(0);
    let rack = lab.rack();
    let n = 1 << 16;
    let ones = || Array::new(rackloom_image::Dtype::F32, vec![n], 1f32.to_le_bytes().repeat(n).into()).unwrap();
    let image = rackloom_image::Image::parse(image("vadd")).unwrap();
    let kernel = &image.manifest().kernels[0];
    let inputs = [("a".to_owned(), ones()), ("b".to_owned(), ones())].into();
    let sizing = Sizing { cards: 1, room: 1 << 20 };
    let work = ArrayWork::new(0, kernel, inputs, [].into(), sizing).unwrap();
    let (joined, told) = std::sync::mpsc::channel();
    let tell = move |update: &JobUpdate| {
        if let JobUpdate::Joined(card) = update {
            joined.send(*card).unwrap();
        }
    };
    let (work, report) = std::thread::scope(|s| {
        let job = s.spawn(|| rack.run_job(image.bytes().clone(), work, RunOptions::default(), tell));
        std::thread::sleep(Duration::from_millis(50));
        lab.add();
        job.join().unwrap().unwrap()
    });
    assert_eq!(told.try_iter().collect::<Vec<_>>(), [mac(0)]);
    let share = &report.cards[&mac(0)];
    assert_eq!((share.tiles, share.bytes), (report.tiles, 3 * 4 * n as u64));
    assert_eq!(work.into_outputs()["c"].data, 2f32.to_le_bytes().repeat(n));
}

#[test]
fn a_job_without_cards_ends_with_an_error() {
    let lab = Lab::new(0);
    let rack = lab.rack();
    struct Never;
    impl rackloom::Work for Never {
        fn tiles(&self) -> usize {
            1
        }
        fn tile_bytes(&self) -> u64 {
            64
        }
        fn inputs(&mut self, _: usize) -> rackloom_host::Tile {
            unreachable!("no card asks")
        }
        fn output(&mut self, _: usize, _: Bytes) {
            unreachable!("no card answers")
        }
    }
    let options = RunOptions { patience: Duration::from_millis(100), ..RunOptions::default() };
    let alone = rack.run_job(image("vadd"), Never, options, |_| {}).err().unwrap();
    assert!(matches!(alone, Error::NoCards { left: 1, tiles: 1, .. }), "{alone}");

    let options = RunOptions { deadline: Some(Duration::from_millis(50)), ..RunOptions::default() };
    let late = rack.run_job(image("vadd"), Never, options, |_| {}).err().unwrap();
    assert!(matches!(late, Error::JobDeadline { .. }) && late.is_timeout(), "{late}");

    std::thread::scope(|s| {
        let job = s.spawn(|| rack.run_job(image("vadd"), Never, RunOptions::default(), |_| {}).err().unwrap());
        std::thread::sleep(Duration::from_millis(50));
        rack.cancel_jobs();
        assert!(matches!(job.join().unwrap(), Error::JobCancelled));
    });
}

/// A wire that is cut on request.
struct Fragile {
    port: Port,
    cut: Arc<std::sync::atomic::AtomicBool>,
}

impl Wire for Fragile {
    fn send(&mut self, frames: &[bytes::Bytes]) -> std::io::Result<usize> {
        self.port.send(frames)
    }
    fn recv(&mut self, deadline: Option<std::time::Instant>, out: &mut Vec<bytes::Bytes>) -> std::io::Result<()> {
        if self.cut.load(std::sync::atomic::Ordering::Acquire) {
            return Err(std::io::ErrorKind::BrokenPipe.into());
        }
        self.port.recv(deadline, out)
    }
    fn mtu(&self) -> usize {
        self.port.mtu()
    }
    fn waker(&self) -> Waker {
        self.port.waker()
    }
}

#[test]
fn a_lost_network_ends_all_waiting() {
    let lab = Lab::new(1);
    let cut = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let wire = Fragile { port: lab.port(), cut: Arc::clone(&cut) };
    let rack = Rack::attach(wire, RackOptions::default()).unwrap();
    rack.discover(SECOND).unwrap();
    rack.claim(&[mac(0)], ClaimOptions::default()).wait_all().unwrap();
    drop(lab.cards); // The read below would take until the card is given up.
    let watch = rack.watch().unwrap();
    let pending = rack.read(mac(0), MEMORY, 8);
    cut.store(true, std::sync::atomic::Ordering::Release);
    assert!(matches!(pending.wait(), Err(Error::Stopped)));
    watch.for_each(drop); // It ends.
    assert!(matches!(rack.cards(), Err(Error::Stopped)));
    assert!(matches!(rack.read(mac(0), MEMORY, 8).wait(), Err(Error::Stopped)));
}

#[test]
fn cards_that_restart_to_run_an_image_are_waited_for() {
    let flash = |restart| {
        let short = Duration::from_millis(20);
        move |config: &mut Config| config.flash = Some(FlashConfig { restart, linger: short, boot: short })
    };
    let mut lab = Lab::new(1);
    lab.add_with(flash(Restart::Itself));
    lab.add_with(flash(Restart::Refresh));
    let rack = lab.rack();
    let cards: Vec<_> = rack.discover(SECOND).unwrap().iter().map(|c| c.mac).collect();
    let claim = ClaimOptions::default();
    let before = rack.claim(&cards, claim).wait_all().unwrap();
    let load = || rack.load_through_restart(&cards, image("vadd"), Commit::Each, claim, |_, _, _| {}).unwrap();
    let report = load();
    assert!(report.cards[&cards[0]].is_ok() && report.cards[&cards[1]].is_ok(), "{report:?}");
    let waits = report.cards[&cards[2]].clone().unwrap_err();
    assert_eq!(
        waits,
        OpError::AwaitsRestart { card: CardName { mac: mac(2), unit: Some(2) }, restart: Restart::Refresh }
    );
    assert!(waits.to_string().contains("REFRESH by JTAG"), "{waits}");
    // The first kept its claim; the second has a new one.
    let up = rack.cards().unwrap();
    assert_eq!(up.iter().map(|c| c.kernels).collect::<Vec<_>>(), [1, 1, 0]);
    assert_eq!(before.len(), 3);
    rack.write(cards[1], MEMORY, Bytes::from_static(&[1; 64])).wait().unwrap();
    assert_eq!(rack.read(cards[1], MEMORY, 64).wait().unwrap(), [1; 64][..]);
    // Again, it is there.
    assert!(load().cards[&cards[1]].is_ok());
}
