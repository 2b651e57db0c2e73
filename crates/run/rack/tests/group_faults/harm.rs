//! What happens to cards that work together, and whom it may make fail.

use rackloom_card::Config;
use rackloom_collective::Cause;
use rackloom_node::{Duration, Rng};
use rackloom_sim::Way;
use rackloom_wire::Scrub;

use crate::work::{End, Work};
use crate::yard::Yard;

/// What is done while operations are under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Harm {
    /// Nothing, beside what cables damage.
    None,
    /// A cable brings nothing for a time that is shorter than a link may be silent.
    Flicker(usize),
    /// A cable is cut.
    Cut(usize),
    /// A cable brings nothing any more on one way.
    OneWay(usize, Way),
    /// A card's power fails and comes back.
    Restart(usize),
    /// A card is pulled out.
    Pull(usize),
    /// The host gives a card back.
    Release(usize),
    /// The host cancels the program of a rank of the first operation.
    CancelRank(usize),
    /// The host cancels the first operation on all its cards.
    CancelAll,
}

/// How many there are.
pub(crate) const HARMS: u64 = 9;
/// How long a cable brings nothing that works afterwards: less than links wait.
const FLICKER: Duration = Duration::from_millis(20);
/// How long a cable brings nothing on one way: longer than links wait.
const ONE_WAY: Duration = Duration::from_millis(150);

impl Harm {
    /// One of a kind: which cable, card or rank it is about is drawn.
    pub(crate) fn draw(kind: u64, rng: &mut Rng, yard: &Yard, first: &Work) -> Self {
        let joint = rng.below(yard.joints.len() as u64) as usize;
        let card = rng.below(yard.size() as u64) as usize;
        match kind % HARMS {
            0 => Self::None,
            1 => Self::Flicker(joint),
            2 => Self::Cut(joint),
            3 => Self::OneWay(joint, Way::BOTH[rng.below(2) as usize]),
            4 => Self::Restart(card),
            5 => Self::Pull(card),
            6 => Self::Release(card),
            7 => Self::CancelRank(rng.below(first.members.len() as u64) as usize),
            _ => Self::CancelAll,
        }
    }

    /// Does it. What a card was like that is gone.
    pub(crate) fn begin(self, yard: &mut Yard, first: &Work) -> Option<Config> {
        match self {
            Self::None => {}
            Self::Flicker(joint) => yard.cut(joint, &Way::BOTH, FLICKER),
            Self::Cut(joint) => yard.down(joint),
            Self::OneWay(joint, way) => yard.cut(joint, &[way], ONE_WAY),
            Self::Restart(card) => {
                let config = yard.pull(card);
                yard.boot(card, config);
            }
            Self::Pull(card) => return Some(yard.pull(card)),
            Self::Release(card) => {
                let mac = yard.mac(card);
                yard.command(|host, now| host.release(now, mac, Scrub::Keep));
            }
            Self::CancelRank(rank) => yard.command(|host, now| host.cancel(now, first.ops[rank])),
            Self::CancelAll => first.ops.iter().for_each(|op| yard.command(|host, now| host.cancel(now, *op))),
        }
        None
    }

    /// All is as it was before.
    pub(crate) fn end(self, yard: &mut Yard, gone: Option<Config>) {
        match self {
            Self::Cut(joint) => yard.up(joint),
            Self::Flicker(_) => yard.pass(FLICKER),
            Self::OneWay(..) => yard.pass(ONE_WAY),
            Self::Restart(card) | Self::Release(card) => yard.claim(card),
            Self::Pull(card) => {
                yard.boot(card, gone.expect("it was pulled out"));
                yard.claim(card);
            }
            Self::None | Self::CancelRank(_) | Self::CancelAll => {}
        }
    }

    /// Every program has ended so long after it: a link's patience of 50 ms, and what damaged frames cost. Where a
    /// cable brings nothing one way, the patience of the card that still hears begins when the other one's is over.
    pub(crate) const fn bound(self) -> Duration {
        Duration::from_millis(if matches!(self, Self::OneWay(..)) { 110 } else { 60 })
    }

    /// Whether an operation, of the number, may fail for it.
    pub(crate) fn concerns(self, yard: &Yard, work: &Work, number: usize) -> bool {
        match self {
            Self::None | Self::Flicker(_) => false,
            Self::Cut(joint) | Self::OneWay(joint, _) => yard.joints[joint].is_among(&work.members),
            Self::Restart(card) | Self::Pull(card) | Self::Release(card) => work.members.contains(&card),
            Self::CancelRank(_) | Self::CancelAll => number == 0,
        }
    }

    /// Whether an end of one of the operation's ranks is right: it names who is to blame.
    pub(crate) fn explains(self, yard: &Yard, work: &Work, ends: &[End], rank: usize) -> bool {
        let card = work.members[rank];
        let report = match ends[rank] {
            End::Well => return true,
            End::Lost => {
                return match self {
                    Self::Restart(gone) | Self::Pull(gone) | Self::Release(gone) => gone == card,
                    Self::CancelRank(cancelled) => cancelled == rank,
                    Self::CancelAll => true,
                    _ => false,
                };
            }
            End::Failed(report) => report,
        };
        let Some((cause, named)) = work.named(yard, rank, &report) else { return false };
        match cause {
            Cause::LinkDead => match self {
                Self::Cut(joint) | Self::OneWay(joint, _) => yard.joints[joint].joins(card, named),
                Self::Restart(gone) | Self::Pull(gone) => gone == named,
                _ => false,
            },
            Cause::Restarted => match self {
                // Who hears nothing begins a new life, of which the other hears.
                Self::OneWay(joint, _) => yard.joints[joint].joins(card, named),
                Self::Restart(other) | Self::Release(other) => other == named,
                _ => false,
            },
            // The one that it names has failed as well, for a reason of its own.
            Cause::PeerFailed => {
                let rank = work.members.iter().position(|member| *member == named);
                rank.is_some_and(|rank| ends[rank] != End::Well)
            }
            _ => false,
        }
    }
}
