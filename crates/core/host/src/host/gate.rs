//! Frames of cards with keys: how they leave, and which of those that come are taken.

use rackloom_auth::Agreement;
use rackloom_node::{Frame, Instant};
use rackloom_wire::{Announce, FLAG_AUTH, FromBytes, Grant, Kind, MacAddr, Packet, Proof, Tagged};

use super::Host;
use super::state::Source;
use crate::card_info::CardInfo;
use crate::event::Event;
use crate::guard::{Forged, Guard};
use crate::keys::Keys;
use crate::peer::PeerState;

impl Host {
    /// What was dropped because it cannot be from the card that it names, or was dropped in its name.
    pub const fn forged(&self) -> Forged {
        self.forged
    }

    /// Whether this host claims cards under keys only.
    pub(super) const fn has_keys(&self) -> bool {
        self.config.keys.is_some()
    }

    /// Payload bytes of a frame that a tag takes.
    pub(super) const fn tag_room(&self) -> u16 {
        if self.has_keys() { rackloom_wire::BEAT } else { 0 }
    }

    /// A frame as it leaves. A host that encrypts sends nothing of a claim that is not sealed: then this is `None`.
    pub(super) fn seal(&mut self, now: Instant, frame: Frame) -> Option<Frame> {
        let Some(encrypts) = self.config.keys.as_ref().map(Keys::encrypts) else { return Some(frame) };
        #[cfg(feature = "planted-bugs")]
        let encrypts = encrypts && self.config.planted != Some(crate::PlantedBug::GoOnInClear);
        let is_open = |frame: &Frame| Packet::parse(frame).is_ok_and(|p| Guard::is_open(&p.head));
        let sealed = self.try_seal(now, &frame);
        sealed.or_else(|| Some(frame).filter(|frame| !encrypts || is_open(frame)))
    }

    fn try_seal(&mut self, now: Instant, frame: &Frame) -> Option<Frame> {
        let keys = self.config.keys.as_ref()?;
        let dst = MacAddr(frame[..6].try_into().expect("a frame has addresses"));
        let peer = self.peers.get_mut(&dst)?;
        let guard = peer.guard.as_mut()?;
        // By the time of day, and in any case above the last.
        let counter = keys.claims_from().saturating_add(now.as_nanos()).max(self.claims.saturating_add(1));
        self.claims = counter;
        guard.seal(frame, peer.info.boot, counter)
    }

    /// Takes a frame apart that has come. Flag AUTH of what is taken says whether a tag has proven its sender. A
    /// payload that was encrypted comes from `plain`.
    pub(super) fn open<'a>(&mut self, frame: &'a Frame, plain: &'a mut Option<Vec<u8>>) -> Option<Packet<'a>> {
        if !self.has_keys() {
            return Packet::parse(frame).ok();
        }
        let tagged = Tagged::parse(frame).ok()?;
        let (mut packet, card) = (tagged.packet, tagged.packet.head.src);
        let Some(peer) = self.peers.get_mut(&card) else { return tagged.trailer.is_none().then_some(packet) };
        let is_free = peer.session.is_none();
        let Some(guard) = &mut peer.guard else { return tagged.trailer.is_none().then_some(packet) };
        #[cfg(feature = "planted-bugs")]
        if self.config.planted == Some(crate::PlantedBug::IgnoreTag) {
            packet.head.flags |= FLAG_AUTH;
            return Some(packet);
        }
        if is_free && matches!(packet.head.kind, Kind::DiscoveryAnnounce | Kind::SessionPong) {
            // It is there, and nothing else is believed of it. A tag may be of a claim whose grant this host has not
            // heard, or that another program had under this address.
            packet.head.flags &= !FLAG_AUTH;
            return Some(packet);
        }
        if let Some(trailer) = &tagged.trailer {
            packet.head.flags |= FLAG_AUTH;
            let is_right = guard.open(&tagged, trailer, &mut self.forged, plain);
            packet.payload = plain.as_deref().unwrap_or(packet.payload);
            return is_right.then_some(packet);
        }
        match packet.head.kind {
            Kind::DiscoveryAnnounce | Kind::SessionCounters | Kind::SessionManifest => Some(packet),
            // What a card says to all when it leaves; its owner hears it under a tag as well.
            Kind::DiscoveryGoodbye => None,
            _ => {
                self.forged.untagged += 1;
                None
            }
        }
    }

    /// An announcement of a card that this host has a key for. Under a tag it is the card's word. Without, it is a hint
    /// that the card is there and how a claim may begin, and while the card is claimed not even that.
    pub(super) fn handle_hint(&mut self, now: Instant, proven: bool, info: CardInfo) {
        let peer = self.peers.get_mut(&info.mac).expect("the caller has it");
        if peer.session.is_some() && !proven {
            return;
        }
        peer.hear(now, &self.patience);
        let (was_up, changed) = (peer.state == PeerState::Up, peer.info != info);
        peer.info = info.clone();
        peer.state = PeerState::Up;
        if !was_up {
            self.events.push_back(Event::CardUp(info));
        } else if changed {
            self.events.push_back(Event::CardChanged(info));
        }
    }

    /// The frames that go to each member instead of one to a group: no two cards share a key. `None`: it goes as it is.
    pub(super) fn single(&self, frame: &Frame, members: &[MacAddr]) -> Option<Vec<Frame>> {
        let packet = Packet::parse(frame).ok().filter(|p| self.has_keys() && p.head.dst.is_group())?;
        if packet.head.kind == Kind::ImageData {
            return None;
        }
        let to = |card: &MacAddr| {
            let mut head = packet.head;
            head.dst = *card;
            head.frame(&[packet.payload])
        };
        Some(members.iter().map(to).collect())
    }

    /// The same for what a load sends.
    pub(super) fn single_of(&self, source: Source, frame: &Frame) -> Option<Vec<Frame>> {
        let Source::Load(op) = source else { return None };
        self.single(frame, &self.loads.get(&op)?.cards())
    }

    /// Sends what is for a group, or one to each member.
    pub(super) fn send_to_each(&mut self, frame: Frame, members: &[MacAddr]) {
        match self.single(&frame, members) {
            Some(frames) => frames.into_iter().for_each(|frame| self.send(frame)),
            None => self.send(frame),
        }
    }
}

/// A claim is granted under a key: its session begins. What the card says of itself with it; `None` if it says it not
/// as cards do.
pub(super) fn begin_session(guard: &mut Guard, packet: &Packet<'_>, grant: &Grant) -> Option<CardInfo> {
    let (_, behind) = packet.view::<Grant>()?;
    let (proof, behind) = Proof::ref_from_prefix(behind).ok()?;
    let (announce, _) = Announce::ref_from_prefix(behind).ok()?;
    let info = CardInfo::decode(announce, packet.head.epoch).filter(|info| info.mac == packet.head.src)?;
    guard.begin(&Agreement {
        host_nonce: grant.nonce.get(),
        card_nonce: proof.card_nonce.get(),
        boot: grant.boot.get(),
        epoch: packet.head.epoch,
    });
    Some(info)
}
