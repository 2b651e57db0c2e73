//! What a card sent in answer to a burst, put into the form in which two cards can be compared.
//!
//! | kind | what is compared |
//! |---|---|
//! | answers to claims, releases, manifest requests; NAKs, refusals, reports, ready, failed | all, in order, but the time that a lease has left and texts for people |
//! | pong, counters | that they came, and to whom: they tell of the moment |
//! | accepted, done, staged, active | which, once each; not the times and cycles in them |
//! | data that was read | all, in order |
//! | result data | what had not been sent in this claim before, in any order |
//! | write acknowledgement | the last |
//! | announcements to who asked | that they came |
//! | announcements to all, committed | not: how often depends on how quick a card is |

use std::collections::{BTreeMap, BTreeSet};

use rackloom_wire::{ErrorCode, HOSTS, Kind, MacAddr};

use crate::bench::Sent;

/// A flow's name: to whom, and what.
pub type Flow = (MacAddr, &'static str);

/// What came of a burst, by flow.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Flows(pub BTreeMap<Flow, Vec<Vec<u8>>>);

/// What a card has sent so far, as far as it matters.
#[derive(Debug, Default)]
pub struct Past {
    claim: Option<(MacAddr, u16)>,
    /// Result data of the present claim: numbers of launches, and offsets.
    data: BTreeSet<(u32, u64)>,
}

impl Past {
    /// Owner and epoch of the present claim. That its lease has run out is not known here.
    pub const fn claim(&self) -> Option<(MacAddr, u16)> {
        self.claim
    }

    /// The claim after what was sent; true if it is another one.
    fn follow(&mut self, sent: &[Sent]) -> bool {
        let before = self.claim;
        for frame in sent {
            let named = Some((frame.head.dst, frame.head.epoch));
            match frame.head.kind {
                Kind::SessionGrant => self.claim = named,
                // Whoever asks for a release gets an answer that it is done.
                Kind::SessionReleased if self.claim == named => self.claim = None,
                _ => {}
            }
        }
        if self.claim != before {
            self.data.clear();
        }
        self.claim != before
    }
}

impl Flows {
    /// Sorts what was sent; true if the claim has changed. Then what belongs to the old one may be sent or not.
    pub fn new(sent: &[Sent], past: &mut Past) -> (Self, bool) {
        let mut flows = Self::default();
        let changes = past.follow(sent);
        let epoch = past.claim.map(|(_, epoch)| epoch);
        for frame in sent {
            let head = &frame.head;
            let rule = match Rule::of(head.kind) {
                _ if head.kind == Kind::DiscoveryAnnounce && head.dst == HOSTS => continue,
                _ if changes && is_of_claim(head.kind) && Some(head.epoch) != epoch => continue,
                Rule::Nothing => continue,
                rule => rule,
            };
            let item = item(frame);
            if matches!(rule, Rule::New) && !past.data.insert((head.seq, head.addr)) {
                continue;
            }
            let flow = flows.0.entry((head.dst, head.kind.name())).or_default();
            match rule {
                Rule::Last => *flow = vec![item],
                Rule::Presence => *flow = vec![Vec::new()],
                Rule::Once if flow.contains(&item) => {}
                _ => flow.push(item),
            }
            if matches!(rule, Rule::Once | Rule::New) {
                flow.sort();
            }
        }
        (flows, changes)
    }
}

/// Kinds that end with the claim, whether all of them were sent or not.
const fn is_of_claim(kind: Kind) -> bool {
    use Kind::{InputConfirmReadData, InputConfirmWriteAck, ResultData, ResultDone};
    matches!(kind, InputConfirmWriteAck | InputConfirmReadData | ResultDone | ResultData)
}

#[derive(Debug, Clone, Copy)]
enum Rule {
    Nothing,
    All,
    Last,
    Presence,
    Once,
    New,
}

impl Rule {
    const fn of(kind: Kind) -> Self {
        match kind {
            Kind::DiscoveryGoodbye | Kind::ImageConfirmCommitted => Self::Nothing,
            Kind::DiscoveryAnnounce => Self::Presence,
            Kind::InputConfirmWriteAck => Self::Last,
            Kind::ResultAccepted
            | Kind::ResultDone
            | Kind::ImageConfirmStaged
            | Kind::ImageConfirmActive
            | Kind::ImageConfirmWritten => Self::Once,
            Kind::ResultData => Self::New,
            _ => Self::All,
        }
    }
}

/// A frame, without what may differ.
fn item(sent: &Sent) -> Vec<u8> {
    let head = &sent.head;
    let mut payload = sent.payload.clone();
    let mut flags = head.flags;
    let mut seq = head.seq;
    match head.kind {
        Kind::SessionPong | Kind::SessionCounters => payload.clear(),
        // What the lease has left.
        Kind::SessionRefuse if sent.code() == ErrorCode::Claimed => payload[8..16].fill(0),
        // Whether it was sent before is a matter of time.
        Kind::ResultData => flags = 0,
        Kind::ResultDone => {
            flags = 0;
            // Cycles and times.
            payload[16..40].fill(0);
        }
        // How long configuration took.
        Kind::ImageConfirmActive | Kind::ImageConfirmWritten => payload.truncate(32),
        // The text.
        Kind::ImageConfirmFailed => payload.truncate(2),
        Kind::DiscoveryAnnounce => seq = 0,
        _ => {}
    }
    let mut item = vec![flags];
    item.extend(head.epoch.to_be_bytes());
    item.extend(seq.to_be_bytes());
    item.extend(head.addr.to_be_bytes());
    item.extend(payload);
    item
}
