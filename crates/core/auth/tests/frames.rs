//! What is bound and what is replayed, as properties; and schemes with a mistake each, which the properties find.

use std::collections::HashSet;

use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseResult, TestError, TestRunner};
use rackloom_auth::{Bound, Direction, Opener, Refused, Replay, Sealer, SessionKey, Tag, Window};

const KEY: [u8; 16] = *b"a session's key.";
/// From the first address to the end of the header: destination, source, family, version, kind, length, epoch, number
/// and address.
const HEAD: usize = 32;

/// A frame with everything that is to be bound.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Sent {
    frame: Vec<u8>,
    boot: u32,
    direction: Direction,
    counter: u64,
}

impl Sent {
    fn bound(&self) -> Bound<'_> {
        Bound { frame: &self.frame, boot: self.boot, direction: self.direction, counter: self.counter }
    }
}

/// How frames are tagged: rightly, or with a mistake.
type Scheme = fn(&Sent) -> Tag;

fn right(sent: &Sent) -> Tag {
    SessionKey::new(&KEY).tag(&sent.bound()).expect("it is short")
}

/// Mistakes: each leaves out something that a tag binds.
const WRONG: [(&str, Scheme); 9] = [
    ("destination", |sent| without(sent, 0..6)),
    ("source", |sent| without(sent, 6..12)),
    ("kind", |sent| without(sent, 15..16)),
    ("length in the header", |sent| without(sent, 16..18)),
    ("epoch, number and address", |sent| without(sent, 18..HEAD)),
    ("end of the payload", |sent| without(sent, sent.frame.len() - 1..sent.frame.len())),
    ("boot", |sent| right(&Sent { boot: 0, ..sent.clone() })),
    ("direction", |sent| right(&Sent { direction: Direction::ToCard, ..sent.clone() })),
    ("counter", |sent| right(&Sent { counter: sent.counter & 0xffff_ffff, ..sent.clone() })),
];

fn without(sent: &Sent, range: std::ops::Range<usize>) -> Tag {
    let mut sent = sent.clone();
    sent.frame[range].fill(0);
    right(&sent)
}

/// One change of one thing that a tag binds.
#[derive(Debug, Clone)]
enum Change {
    /// A bit of any byte, by the share of the frame that is before it.
    Bit(usize, u8),
    /// Some zeros more, or some bytes less, whatever the header says.
    Length(i8),
    Boot(u8),
    Direction,
    Counter(u8),
}

fn changed(sent: &Sent, change: &Change) -> Sent {
    let mut other = sent.clone();
    match *change {
        Change::Bit(at, bit) => {
            let at = at % other.frame.len();
            other.frame[at] ^= 1 << (bit % 8);
        }
        Change::Length(by) => {
            let length = other.frame.len().saturating_add_signed(isize::from(by));
            other.frame.resize(length, 0);
        }
        Change::Boot(bit) => other.boot ^= 1 << (bit % 32),
        Change::Direction => {
            other.direction = if other.direction == Direction::ToCard { Direction::ToHost } else { Direction::ToCard }
        }
        Change::Counter(bit) => other.counter ^= 1 << (bit % 64),
    }
    other
}

fn sent() -> impl Strategy<Value = Sent> {
    let direction = prop_oneof![Just(Direction::ToCard), Just(Direction::ToHost)];
    let frame = prop::collection::vec(any::<u8>(), HEAD..HEAD + 64);
    (frame, any::<u32>(), direction, 1..u64::MAX).prop_map(|(frame, boot, direction, counter)| Sent {
        frame,
        boot,
        direction,
        counter,
    })
}

fn change() -> impl Strategy<Value = Change> {
    prop_oneof![
        8 => (any::<usize>(), any::<u8>()).prop_map(|(at, bit)| Change::Bit(at, bit)),
        2 => any::<i8>().prop_map(Change::Length),
        1 => any::<u8>().prop_map(Change::Boot),
        1 => Just(Change::Direction),
        2 => any::<u8>().prop_map(Change::Counter),
    ]
}

fn runner() -> TestRunner {
    // The same cases each time: whether a mistake is found is no matter of luck.
    TestRunner::new_with_rng(
        Config { cases: 4000, failure_persistence: None, ..Config::default() },
        proptest::test_runner::TestRng::deterministic_rng(proptest::test_runner::RngAlgorithm::ChaCha),
    )
}

/// Any change of anything that is bound changes the tag.
fn binds_all(scheme: Scheme) -> Result<(), TestError<(Sent, Change)>> {
    runner().run(&(sent(), change()), |(sent, change)| -> TestCaseResult {
        let other = changed(&sent, &change);
        prop_assert!(other == sent || scheme(&other) != scheme(&sent));
        prop_assert_eq!(scheme(&sent), scheme(&sent));
        Ok(())
    })
}

#[test]
fn any_change_of_what_is_bound_changes_the_tag() {
    binds_all(right).expect("everything is bound");
}

#[test]
fn what_a_scheme_leaves_out_is_found() {
    for (what, scheme) in WRONG {
        assert!(binds_all(scheme).is_err(), "a scheme without the {what} passes");
    }
}

// ---- replays
/// What remembers counters: the window, or one with a mistake.
trait Memory {
    fn admit(&mut self, counter: u64) -> bool;
}

impl Memory for Window {
    fn admit(&mut self, counter: u64) -> bool {
        let may = self.check(counter);
        let did = self.accept(counter);
        assert_eq!(may, did, "check and accept differ");
        did.is_ok()
    }
}

/// Takes what is below the window for new.
struct TakesOld(Window);
impl Memory for TakesOld {
    fn admit(&mut self, counter: u64) -> bool {
        matches!(self.0.accept(counter), Ok(()) | Err(Replay::Old { .. }))
    }
}

/// Remembers nothing but the newest.
struct Newest(u64);
impl Memory for Newest {
    fn admit(&mut self, counter: u64) -> bool {
        let new = counter > self.0;
        self.0 = self.0.max(counter);
        new
    }
}

/// Forgets what it has seen when the newest moves on by more than a word.
struct Forgets(Window);
impl Memory for Forgets {
    fn admit(&mut self, counter: u64) -> bool {
        if counter > self.0.newest() + 64 {
            self.0 = Window::new();
        }
        self.0.accept(counter).is_ok()
    }
}

/// Counters as a network brings them: steps from the newest, mostly small ones, and repetitions of what came before.
fn arrivals() -> impl Strategy<Value = Vec<(bool, i64)>> {
    let step = prop_oneof![8 => -8..9i64, 3 => -1100..1100i64, 1 => -5000..100_000i64];
    prop::collection::vec((prop::bool::weighted(0.3), step), 1..200)
}

/// Each counter is taken once at most; a new one within the window always.
fn remembers<M: Memory>(new: fn() -> M) -> Result<(), TestError<Vec<(bool, i64)>>> {
    runner().run(&arrivals(), |arrivals| -> TestCaseResult {
        let (mut memory, mut came, mut taken, mut newest) = (new(), vec![], HashSet::new(), 0u64);
        for (repeats, step) in arrivals {
            let step_to = newest.saturating_add_signed(step).max(1);
            let counter =
                if repeats && !came.is_empty() { came[step.unsigned_abs() as usize % came.len()] } else { step_to };
            came.push(counter);
            let admitted = memory.admit(counter);
            let within = counter > newest || newest - counter < Window::WIDTH;
            prop_assert_eq!(admitted, within && !taken.contains(&counter), "{} after {}", counter, newest);
            if admitted {
                taken.insert(counter);
                newest = newest.max(counter);
            }
        }
        Ok(())
    })
}

#[test]
fn a_counter_is_taken_once_and_late_ones_within_the_window() {
    remembers(Window::new).expect("the window remembers");
}

#[test]
fn windows_with_a_mistake_are_found() {
    assert!(remembers(|| TakesOld(Window::new())).is_err());
    assert!(remembers(|| Newest(0)).is_err());
    assert!(remembers(|| Forgets(Window::new())).is_err());
}

#[test]
fn a_window_ends_where_it_says() {
    let mut window = Window::new();
    assert_eq!(window.accept(0), Err(Replay::Zero));
    for counter in [1, u64::MAX - Window::WIDTH + 1, u64::MAX] {
        window.accept(counter).expect("it is new");
    }
    assert_eq!(window.accept(u64::MAX), Err(Replay::Seen(u64::MAX)));
    let first = u64::MAX - Window::WIDTH + 1;
    assert_eq!(window.check(first), Err(Replay::Seen(first)));
    assert_eq!(window.check(first - 1), Err(Replay::Old { counter: first - 1, newest: u64::MAX }));
    assert_eq!(window.check(first + 1), Ok(()));
}

// ---- both together
fn pair(key: &[u8; 16], boot: u32, direction: Direction) -> (Sealer, Opener) {
    let key = SessionKey::new(key);
    (Sealer::new(key.clone(), boot, direction), Opener::new(key, boot, direction))
}

#[test]
fn frames_are_opened_once_in_any_order() {
    let (mut sealer, mut opener) = pair(&KEY, 7, Direction::ToCard);
    let frames: Vec<_> = (0..100u8).map(|n| vec![n; HEAD + usize::from(n)]).collect();
    let sealed: Vec<_> =
        frames.iter().map(|frame| sealer.seal(&mut frame.clone(), HEAD).expect("it is short")).collect();
    // Neighbours overtake each other.
    for n in (0..100).map(|n| n ^ 3) {
        opener.open(&frames[n], HEAD, sealed[n].0, &sealed[n].1).expect("it is new and right");
    }
    for (frame, (counter, tag)) in frames.iter().zip(&sealed) {
        assert_eq!(opener.open(frame, HEAD, *counter, tag), Err(Refused::Replay(Replay::Seen(*counter))));
    }
}

#[test]
fn frames_of_another_session_boot_or_direction_are_refused() {
    let frame = [1; HEAD];
    for (key, boot, direction) in
        [(*b"another session.", 7, Direction::ToCard), (KEY, 8, Direction::ToCard), (KEY, 7, Direction::ToHost)]
    {
        let (mut sealer, _) = pair(&key, boot, direction);
        let (counter, tag) = sealer.seal(&mut frame.clone(), HEAD).expect("it is short");
        let (_, mut opener) = pair(&KEY, 7, Direction::ToCard);
        assert_eq!(opener.open(&frame, HEAD, counter, &tag), Err(Refused::Tag));
    }
}

/// Anybody may send any counter: only one with the right tag moves the window.
#[test]
fn a_stranger_moves_no_window() {
    let (mut sealer, mut opener) = pair(&KEY, 7, Direction::ToCard);
    let frame = [1; HEAD];
    let (counter, tag) = sealer.seal(&mut frame.clone(), HEAD).expect("it is short");
    for forged in [2, 5000, u64::MAX] {
        assert_eq!(opener.open(&frame, HEAD, forged, &tag), Err(Refused::Tag));
    }
    let long = vec![0; 65536];
    assert_eq!(opener.open(&long, HEAD, 2, &tag), Err(Refused::Long(65536)));
    assert_eq!(sealer.seal(&mut long.clone(), HEAD), None);
    assert_eq!(opener.window().newest(), 0);
    opener.open(&frame, HEAD, counter, &tag).expect("it is still new");
}

/// Whichever bit of a tag is wrong.
#[test]
fn each_bit_of_a_tag_counts() {
    let (mut sealer, mut opener) = pair(&KEY, 7, Direction::ToHost);
    let frame = [1; HEAD];
    let (counter, tag) = sealer.seal(&mut frame.clone(), HEAD).expect("it is short");
    for bit in 0..128 {
        let mut wrong = tag;
        wrong.0[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(opener.open(&frame, HEAD, counter, &wrong), Err(Refused::Tag), "bit {bit}");
    }
    opener.open(&frame, HEAD, counter, &tag).expect("it is right");
}
