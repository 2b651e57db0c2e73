//! What a stranger knows: whom he attacks, what he has heard, and the keys that he holds.

use std::collections::{BTreeMap, VecDeque};

use rackloom_auth::PairKey;
use rackloom_node::{Frame, Rng};
use rackloom_wire::{Announce, FromBytes, Kind, MacAddr, Tagged};

/// Most frames that he remembers: a job of some tiles, and the load before it.
const HEARD_MAX: usize = 8192;

/// Somebody who hears every frame of a segment.
#[derive(Debug)]
pub struct Stranger {
    /// The cards, with the key of each for a host that is not the owner: his own, or one that he has stolen.
    pub(crate) cards: BTreeMap<MacAddr, PairKey>,
    /// The image of which he says that it is loaded.
    pub(crate) digest: [u8; 32],
    /// The boot number that each card has announced last.
    pub(crate) boots: BTreeMap<MacAddr, u32>,
    pub(crate) rng: Rng,
    heard: VecDeque<Frame>,
}

impl Stranger {
    /// One who attacks these cards and their host, and holds a key of another host for each card.
    ///
    /// # Panics
    /// If the role `burn` is not built in.
    pub fn new(seed: u64, cards: impl IntoIterator<Item = (MacAddr, PairKey)>) -> Self {
        let image = rackloom_builtin_roles::image("burn").expect("it is built in");
        Self {
            cards: cards.into_iter().collect(),
            digest: *blake3::hash(image).as_bytes(),
            boots: BTreeMap::new(),
            rng: Rng::new(seed),
            heard: VecDeque::new(),
        }
    }

    /// The same, who says that this image is loaded.
    #[must_use]
    pub fn saying_of(self, image: &[u8]) -> Self {
        Self { digest: *blake3::hash(image).as_bytes(), ..self }
    }

    /// He hears a frame, and remembers it.
    pub fn hear(&mut self, frame: &Frame) {
        if let Ok(Tagged { packet, .. }) = Tagged::parse(frame)
            && packet.head.kind == Kind::DiscoveryAnnounce
            && let Ok((said, _)) = Announce::ref_from_prefix(packet.payload)
            && self.is_card(packet.head.src)
        {
            self.boots.insert(packet.head.src, said.boot.get());
        }
        if self.heard.len() == HEARD_MAX {
            self.heard.pop_front();
        }
        self.heard.push_back(frame.clone());
    }

    /// The frame that he has heard last.
    pub(crate) fn last_heard(&self) -> Option<Frame> {
        self.heard.back().cloned()
    }

    /// All that he remembers, the oldest first.
    pub fn heard(&self) -> impl ExactSizeIterator<Item = &Frame> {
        self.heard.iter()
    }

    /// One of the frames that he remembers, drawn.
    pub fn some_heard(&mut self) -> Option<Frame> {
        let at = self.rng.below(self.heard.len().max(1) as u64) as usize;
        self.heard.get(at).cloned()
    }

    pub(crate) fn is_card(&self, mac: MacAddr) -> bool {
        self.cards.contains_key(&mac)
    }

    /// A card that is not this one.
    pub(crate) fn other(&self, card: MacAddr) -> MacAddr {
        self.cards.keys().copied().find(|other| *other != card).unwrap_or(card)
    }
}
