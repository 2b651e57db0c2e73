//! The guard of a card with a key as C calls it: by whose key a frame is, and what becomes of it.
#![allow(missing_docs, unsafe_code)]

use std::ptr::{null, null_mut};

use rackloom_auth::{Agreement, Bound, CardKey, Direction, SessionKey, host};
use rackloom_golden::Fault;
use rackloom_golden::guard_abi::{
    Claim, Guard, Guarded, rl_golden_guard_begin, rl_golden_guard_end, rl_golden_guard_free, rl_golden_guard_judge,
    rl_golden_guard_new, rl_golden_guard_seal,
};
use rackloom_golden::judge::{Card, Route, Verdict};
use rackloom_wire::{Counter, Head, Kind, MacAddr, Tagged, with_trailer};

const KEY: [u8; 16] = [5; 16];
const HOST: u16 = 0x0102;
const BOOT: u32 = 77;
const MINE: MacAddr = MacAddr([2, 0, 0, 0, 0, 7]);
const PRESENT: u16 = 6;
const FORMER: u16 = 5;
const GROUP: u16 = FORMER; // A group may have the number that an epoch had.
const ARGUMENT: i64 = Fault::Argument as i64;

fn bits(mac: MacAddr) -> u64 {
    mac.0.iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte))
}

fn owner() -> MacAddr {
    MacAddr(host::address(HOST, [1, 2, 3]))
}

fn claim(epoch: u16) -> Claim {
    Claim { owner: bits(owner()), host_nonce: 1, card_nonce: epoch.into(), epoch }
}

fn session(epoch: u16) -> SessionKey {
    let agreed = Agreement { host_nonce: 1, card_nonce: epoch.into(), boot: BOOT, epoch };
    CardKey::new(KEY).host(HOST.into(), 0).session(&agreed)
}

fn plain(kind: Kind, epoch: u16) -> Vec<u8> {
    Head { dst: MINE, src: owner(), kind, flags: 0, epoch, seq: 2, addr: 1 << 20 }.frame(&[]).to_vec()
}

fn tagged(frame: &[u8], key: &SessionKey, counter: u64) -> Vec<u8> {
    let tag = |frame: &[u8]| key.tag(&Bound { frame, boot: BOOT, direction: Direction::ToCard, counter });
    with_trailer(frame, 0, |frame| Some((counter, tag(frame)?.0))).unwrap().to_vec()
}

/// The guard of a card that its owner has claimed twice.
struct Bench(*mut Guard);

impl Bench {
    fn new() -> Self {
        let mut guard = null_mut();
        // SAFETY: all of it is ours.
        unsafe {
            assert_eq!(rl_golden_guard_new(&KEY, HOST, BOOT, &mut guard), 0);
            assert_eq!(rl_golden_guard_begin(guard, bits(MINE), &claim(FORMER)), 0);
            assert_eq!(rl_golden_guard_begin(guard, bits(MINE), &claim(PRESENT)), 0);
        }
        Self(guard)
    }

    fn judge(&mut self, frame: &[u8]) -> Guarded {
        let card = Card {
            mac: bits(MINE),
            owner: bits(owner()),
            memory: 1 << 30,
            epoch: PRESENT,
            claim_group: GROUP,
            load_group: 0,
            bulk: 1408,
            claimed: 1,
            loading: 0,
        };
        let verdict = Verdict { drop: 0, route: 0, reason: 0, waits: 0, barrier: 0 };
        let mut guarded = Guarded { verdict, proven: 9 };
        // SAFETY: all of it is ours, and as long as it says.
        assert_eq!(unsafe { rl_golden_guard_judge(self.0, &card, frame.as_ptr(), frame.len(), &mut guarded) }, 0);
        guarded
    }

    /// By which counter it is dropped.
    fn drop_of(&mut self, frame: &[u8]) -> Option<Counter> {
        let drop = self.judge(frame).verdict.drop;
        [Counter::AuthUntagged, Counter::AuthUnknown, Counter::AuthWrong, Counter::AuthReplay]
            .into_iter()
            .find(|&counter| drop == counter as i32)
    }
}

impl Drop for Bench {
    fn drop(&mut self) {
        // SAFETY: it is one, and is given up.
        assert_eq!(unsafe { rl_golden_guard_free(self.0) }, 0);
    }
}

#[test]
fn the_epoch_says_by_which_of_its_owners_keys_a_frame_is() {
    let mut bench = Bench::new();
    let (present, former) = (session(PRESENT), session(FORMER));
    let late = plain(Kind::InputWrite, FORMER);
    assert_eq!(bench.judge(&tagged(&late, &former, 1)).proven, 1, "its host hears under a tag that it is late");
    assert_eq!(bench.drop_of(&tagged(&late, &present, 2)), Some(Counter::AuthWrong));
    let write = plain(Kind::InputWrite, PRESENT);
    assert_eq!(bench.drop_of(&tagged(&write, &former, 2)), Some(Counter::AuthWrong));
    let taken = bench.judge(&tagged(&write, &present, 1));
    assert_eq!((taken.proven, taken.verdict.route), (1, Route::Write as u8));
    assert_eq!(bench.drop_of(&tagged(&write, &present, 1)), Some(Counter::AuthReplay));
    assert_eq!(bench.drop_of(&write), Some(Counter::AuthUntagged));
    // The number of a group is no epoch.
    let go = plain(Kind::ExecGo, GROUP);
    assert_eq!(bench.drop_of(&tagged(&go, &former, 3)), Some(Counter::AuthWrong));
    assert_eq!(bench.judge(&tagged(&go, &present, 2)).proven, 1);
    // When the claim has ended there is one session, whatever a frame says.
    // SAFETY: it is a guard.
    assert_eq!(unsafe { rl_golden_guard_end(bench.0) }, 0);
    assert_eq!(bench.judge(&tagged(&late, &present, 3)).proven, 1);
    assert_eq!(bench.drop_of(&tagged(&late, &former, 4)), Some(Counter::AuthWrong));
}

#[test]
fn what_it_says_has_the_tag_of_the_present_session() {
    let bench = Bench::new();
    let pong = Head { dst: owner(), src: MINE, kind: Kind::SessionPong, flags: 0, epoch: PRESENT, seq: 2, addr: 0 };
    let (frame, mut out) = (pong.frame(&[]), [0; 200]);
    // SAFETY: all of it is ours, and as long as it says.
    let length = unsafe { rl_golden_guard_seal(bench.0, frame.as_ptr(), frame.len(), out.as_mut_ptr(), out.len()) };
    let trailer = Tagged::parse(&out[..usize::try_from(length).unwrap()]).unwrap().trailer.unwrap();
    let bound = Bound { frame: trailer.message, boot: BOOT, direction: Direction::ToHost, counter: 1 };
    assert_eq!((trailer.counter, Some(rackloom_auth::Tag(trailer.tag))), (1, session(PRESENT).tag(&bound)));
}

#[test]
fn a_mistake_of_the_caller_is_a_number() {
    let bench = Bench::new();
    let stranger = Claim { owner: bits(MINE), ..claim(9) };
    // SAFETY: what is not null is ours.
    unsafe {
        assert_eq!(rl_golden_guard_new(null(), HOST, BOOT, &mut null_mut()), ARGUMENT);
        assert_eq!(rl_golden_guard_begin(bench.0, bits(MINE), &stranger), ARGUMENT);
        assert_eq!(rl_golden_guard_begin(bench.0, 1 << 48, &claim(9)), ARGUMENT);
        assert_eq!(rl_golden_guard_end(null_mut()), ARGUMENT);
        assert_eq!(rl_golden_guard_judge(bench.0, null(), null(), 0, null_mut()), ARGUMENT);
    }
}
