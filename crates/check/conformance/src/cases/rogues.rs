//! Roles that go wrong in every way there is. The card says so, stays on the network, and takes what comes next.

use rackloom_wire::{BEAT, CardState, Counter, ErrorCode, Kind, LAUNCH_QUEUE};

use crate::bench::{BASE, Bench, CHUNK, HOST, MEMORY, Out};
use crate::images::kernel::{BROKEN, BROKEN_WAYS, BUMP, FLOOD, HANG, SPIN, TRAP, WILD};
use crate::{Specimen, images};

/// A kernel that goes wrong.
struct Rogue {
    kernel: u64,
    args: Vec<u64>,
    /// What its launch ends with.
    code: ErrorCode,
}

/// Those that a reset must end, one of each sort.
fn lasting<S: Specimen>() -> impl Iterator<Item = Rogue> {
    rogues::<S>().into_iter().filter(|r| [HANG, FLOOD, BROKEN].contains(&r.kernel) || r.args == [MEMORY])
}

/// All of them.
fn rogues<S: Specimen>() -> Vec<Rogue> {
    let rogue = |kernel, args: &[u64], code| Rogue { kernel, args: args.to_vec(), code };
    let (trap, fuel) = (ErrorCode::KernelTrap, ErrorCode::KernelFuel);
    let mut all = vec![
        rogue(TRAP, &[], trap),
        rogue(SPIN, &[], fuel),
        rogue(BUMP, &[BASE, 1 << 40], fuel),
        rogue(HANG, &[], S::STUCK),
        rogue(FLOOD, &[], S::STUCK),
    ];
    // Just outside, far outside, and where address bits would be lost.
    for addr in [MEMORY, MEMORY + 4096, (1 << 32) - 64, 1 << 32, (1 << 40) - 64] {
        all.push(rogue(WILD, &[addr], trap));
    }
    all.extend((0..BROKEN_WAYS).map(|how| rogue(BROKEN, &[how], trap)));
    all
}

impl Rogue {
    fn launch<S: Specimen>(&self, bench: &mut Bench<S>, seq: u32) {
        let bound = Out { fuel: BOUND, ..Out::default() };
        bench.launch_with(seq, self.kernel, &self.args, bound);
    }

    /// A name for messages.
    fn name(&self) -> String {
        format!("kernel {} of {:x?}", self.kernel, self.args)
    }
}

/// A launch of a good kernel does what it should.
fn works<S: Specimen>(bench: &mut Bench<S>, seq: u32, after: &str) {
    let before = bench.word(CELL);
    bench.launch(seq, BUMP, &[CELL, 10]);
    bench.pass_ms(1);
    let done = bench.last(Kind::ResultDone);
    assert_eq!((done.head.seq, done.code()), (seq, ErrorCode::Ok), "after {after}");
    assert_eq!(bench.word(CELL), before + 1, "after {after}");
    bench.ack(seq, 0, 0, &[]);
    bench.clear();
}

/// While a kernel goes wrong, the card is seen and serves memory; then it tells the fault, and the next launch runs.
pub fn each_is_told_and_the_next_launch_runs<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.write(1, BASE, &[7; 64]);
    let digest = bench.active_digest();
    let mut seq = 0;
    for (n, rogue) in (2..).zip(rogues::<S>()) {
        seq += 1;
        bench.clear();
        rogue.launch(&mut bench, seq);
        assert_eq!(bench.expect(Kind::ResultAccepted).head.seq, seq);
        let facts = bench.facts();
        assert_eq!((Some(facts.digest), facts.kernels), (digest, images::kernel::COUNT as u8));
        bench.write(n, BASE + 128, &[n as u8; 64]);
        bench.read(n, BASE + 128, 64);
        bench.pass_ms(2);
        assert_eq!(bench.last(Kind::InputConfirmReadData).payload, [n as u8; 64]);
        let done = bench.last(Kind::ResultDone);
        assert_eq!((done.head.seq, done.code()), (seq, rogue.code), "{}", rogue.name());
        assert_eq!(bench.state(), CardState::Active, "{}", rogue.name());
        bench.ack(seq, 0, 0, &[]);
        seq += 1;
        works(&mut bench, seq, &rogue.name());
        assert_eq!(bench.bytes(BASE, 64), [7; 64], "{}", rogue.name());
    }
    let all = u64::from(seq) / 2;
    assert_eq!((bench.count(Counter::KernelsFailed), bench.count(Counter::KernelsDone)), (all, all));
    assert_eq!(bench.drops(), 0);
}

/// None is held up by those before it, and each has its own fault.
pub fn several_in_a_row_end_in_order<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    let mut seq = 0;
    // A card's queue has room for so many, and as many between them.
    for some in rogues::<S>().chunks(LAUNCH_QUEUE as usize / 4) {
        let mut wanted = Vec::new();
        for rogue in some {
            rogue.launch(&mut bench, seq + 1);
            bench.launch(seq + 2, BUMP, &[CELL, 10]);
            wanted.extend([(seq + 1, rogue.code), (seq + 2, ErrorCode::Ok)]);
            seq += 2;
        }
        bench.pass_ms(5);
        let mut done: Vec<_> = Vec::new();
        for told in bench.take_all(Kind::ResultDone).iter().map(|d| (d.head.seq, d.code())) {
            // What is not acknowledged is sent again.
            if !done.contains(&told) {
                done.push(told);
            }
        }
        assert_eq!(done, wanted);
        done.iter().for_each(|(seq, _)| bench.ack(*seq, 0, 0, &[]));
        bench.clear();
    }
    assert_eq!(bench.word(CELL), rogues::<S>().len() as u64);
}

/// A role that has gone wrong does not keep its successor away, even if its fault was not known yet.
pub fn the_next_image_replaces_each<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    let mut seq = 0;
    for (version, rogue) in (2..).zip(lasting::<S>()) {
        let image = images::probe(version, 0);
        bench.begin(version, &image, CHUNK);
        bench.send_but(&image, |_| false);
        bench.pass_ms(1);
        bench.clear();
        seq += 1;
        rogue.launch(&mut bench, seq);
        bench.commit(1000 + version);
        bench.pass_ms(2);
        let code = bench.last(Kind::ResultDone).code();
        assert!([ErrorCode::Cancelled, rogue.code].contains(&code), "{}: {code:?}", rogue.name());
        bench.ack(seq, 0, 0, &[]);
        assert_eq!(bench.active_digest(), Some(*blake3::hash(&image).as_bytes()), "{}", rogue.name());
        seq += 1;
        works(&mut bench, seq, &rogue.name());
    }
    assert_eq!(bench.count(Counter::ImagesFailed), 0);
}

/// Whoever claims a card finds it as good as new.
pub fn each_ends_with_its_claim<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    for (nonce, rogue) in (2..).step_by(2).zip(lasting::<S>()) {
        rogue.launch(&mut bench, 1);
        // The owner vanishes; its lease does not depend on what the kernel does.
        bench.pass_ms(5001);
        assert_eq!((bench.owner(), bench.state()), (None, CardState::Active), "{}", rogue.name());
        bench.claim(HOST, nonce);
        bench.clear();
        works(&mut bench, 1, &rogue.name());
        bench.claim(HOST, nonce + 1);
    }
}

/// What a card keeps behind the hosts' memory, images above all, no kernel gets at.
pub fn memory_beyond_the_hosts_is_safe<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    let behind = bench.card.ddr().len() - MEMORY;
    let before = bench.bytes(MEMORY, behind as usize);
    let steps = (0..8).map(|n| behind / 8 * n).chain([0, BEAT.into(), behind.saturating_sub(BEAT.into()), behind]);
    for (seq, at) in (1..).zip(steps) {
        let addr = (MEMORY + at) & !u64::from(BEAT - 1);
        bench.launch_with(seq, WILD, &[addr], Out { fuel: BOUND, ..Out::default() });
        bench.pass_ms(1);
        assert_eq!(bench.last(Kind::ResultDone).code(), ErrorCode::KernelTrap, "{addr:#x}");
        bench.ack(seq, 0, 0, &[]);
    }
    assert!(bench.bytes(MEMORY, behind as usize) == before);
}

/// Cycles after which what never ends is ended.
const BOUND: u64 = 3000;
/// Where good launches count.
const CELL: u64 = BASE + 4096;
