//! Somebody has the keys of a host that was revoked and claims a card with them while another host's job runs on it:
//! he hears why he gets nothing, and the job notices nothing, also while others forge claims in its host's name.

use rackloom_host::OpError;
use rackloom_node::{Duration, Frame};
use rackloom_stranger::Keyring;
use rackloom_wire::{Counter, ErrorCode};

use crate::claimant::Claimant;
use crate::segment::{Attack, CARDS, HOST, Segment, Shape, keyring, stranger};
use crate::{DEEDS, gateware};

const CLAIMS: usize = 4;
/// In which all of them are answered, whatever others claim.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a job on the first card has come to.
struct Outcome {
    took: Duration,
    deeds: [u64; 4],
    /// How many of the claims beside it ended before it did, and how all of them have ended.
    meanwhile: usize,
    told: Vec<Result<(), OpError>>,
    /// Frames that it has dropped since nobody knows their key, or it counts no more.
    unknown: u64,
}

/// A job, and beside it these claims of a host that was revoked, and this attack.
fn job(shape: Shape, claims: usize, attack: Option<Forging>) -> Outcome {
    let mut segment = Segment::of(Shape { workers: 1, ..shape }, 1);
    let revoking = Keyring::of_card(CARDS[0], [HOST]).revoking([(Keyring::STRANGER, 0)]);
    assert!(segment.cards[0].rekey(segment.now, revoking));
    segment.settle(Duration::from_millis(10), &mut None);
    assert!(segment.cards[0].has_taken_keys());
    segment.beside = Some(Claimant::new(keyring().of_host(Keyring::STRANGER, 1 << 40), CARDS[0], claims));
    let mut stranger = stranger(1);
    let mut upon = |frame: &Frame| {
        stranger.hear(frame);
        attack.map(|forging| stranger.attack(gateware::attack(forging.name))).unwrap_or_default()
    };
    let took = segment.run(Some(&mut upon)).unwrap();
    assert!(attack.is_none() || segment.attacks > 0);
    let ended = |segment: &Segment| segment.beside.as_ref().expect("it is there").told.len();
    let (meanwhile, until) = (ended(&segment), segment.now + PATIENCE);
    while ended(&segment) < claims && segment.now < until {
        let goes_on = attack.is_some_and(|forging| forging.goes_on);
        segment.settle(Duration::from_millis(10), &mut goes_on.then_some(&mut upon as &mut Attack<'_>));
    }
    let told = segment.beside.take().expect("it is there").told;
    let counted = segment.told(0);
    let deeds = DEEDS.map(|counter| counted[counter as usize]);
    Outcome { took, deeds, meanwhile, told, unknown: counted[Counter::AuthUnknown as usize] }
}

/// Somebody forges claims in the name of whoever sends: of the owner, and of him.
#[derive(Debug, Clone, Copy)]
struct Forging {
    name: &'static str,
    /// Also when the job is over.
    goes_on: bool,
}

/// A flood upon each of his own claims leaves gateware no time for them: he hears why once it has ended.
const FORGING: [Option<Forging>; 3] = [
    None,
    Some(Forging { name: "a claim in the owner's name", goes_on: true }),
    Some(Forging { name: "a flood of claims", goes_on: false }),
];

/// He got the card: a key that counts and was revoked did count. And of four claims he heard one answered: the card's
/// time was jumped over in which it has room for the next.
#[test]
fn a_revoked_host_disturbs_no_job_and_hears_why() {
    for shape in [Shape::MODELS, gateware::SHAPE] {
        let calm = job(shape, 0, None);
        assert_eq!((calm.deeds[0], calm.unknown), (shape.tiles as u64, 0), "the first card does the job");
        for attack in FORGING {
            let what = format!("{:?}, {attack:?}", shape.kinds[0]);
            let under = job(shape, CLAIMS, attack);
            assert!(attack.is_some() || under.meanwhile == CLAIMS, "{what}: nobody else claims it");
            let is_why =
                |told: &Result<(), OpError>| matches!(told, Err(OpError::Refused { code: ErrorCode::KeyRevoked, .. }));
            assert!(under.told.len() == CLAIMS && under.told.iter().all(is_why), "{what}: {:?}", under.told);
            assert!(under.unknown >= CLAIMS as u64, "{what}: each is counted");
            assert_eq!(under.deeds, calm.deeds, "{what}");
            assert!(under.took <= calm.took * 2, "{what}: {:?} and not {:?}", under.took, calm.took);
        }
    }
}
