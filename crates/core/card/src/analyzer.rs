//! The packet analyzer: takes a frame apart, keeps out what is not for this card, and checks what a sender holds.
//!
//! It holds no state. Whatever it keeps out is a drop with a reason, and the reason is a counter. The gateware's
//! analyzer is tested against this one, by way of `rackloom-golden`.

use rackloom_wire::rules::{ClaimRule, Reach};
use rackloom_wire::{CARDS, Counter, Head, MacAddr, Packet, ParseError, Tagged};

/// What a card judges a frame by: its address, its claim and its load.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Filter {
    /// The card's own address.
    pub mac: MacAddr,
    /// The claim in force.
    pub claim: Option<Claimed>,
    /// Group id of the load that the card is a member of.
    pub load: Option<u16>,
}

/// A claim, as far as frames are judged by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claimed {
    /// Address of the host that owns the card.
    pub owner: MacAddr,
    /// The claim's epoch.
    pub epoch: u16,
    /// Group id for Go frames; 0: none.
    pub group: u16,
}

impl Filter {
    /// Takes a frame apart that has come in on port 0.
    ///
    /// # Errors
    /// The counter of the drop, if the card does not take the frame. What the frame's kind requires of its sender is
    /// another question: see [`admits`](Self::admits).
    pub fn analyze<'a>(&self, frame: &'a [u8]) -> Result<Packet<'a>, Counter> {
        self.hears(frame)?;
        let packet = Packet::parse(frame).map_err(|e| drop_of(&e))?;
        self.reaches(&packet.head)?;
        Ok(packet)
    }

    /// The same for a card with a key. Whether the tag of a frame is right is another question.
    ///
    /// # Errors
    /// See [`analyze`](Self::analyze).
    pub fn analyze_tagged<'a>(&self, frame: &'a [u8]) -> Result<Tagged<'a>, Counter> {
        self.hears(frame)?;
        let tagged = Tagged::parse(frame).map_err(|e| drop_of(&e))?;
        self.reaches(&tagged.packet.head)?;
        Ok(tagged)
    }

    /// By its addresses, a frame may be for this card.
    fn hears(&self, frame: &[u8]) -> Result<(), Counter> {
        let Some(dst) = mac_at(frame, 0) else { return Err(Counter::DropTruncated) };
        let Some(src) = mac_at(frame, 6) else { return Err(Counter::DropTruncated) };
        // Our own frames come back over a loop in the network; taking them would make a card suppress its own reports.
        let is_foreign = !self.listens(dst) || src == self.mac || src.is_multicast();
        if is_foreign { Err(Counter::DropForeign) } else { Ok(()) }
    }

    /// By its kind it is for cards, and at such an address.
    fn reaches(&self, head: &Head) -> Result<(), Counter> {
        match head.kind.reach() {
            _ if !head.kind.is_to_card() => Err(Counter::DropKind),
            Reach::Unicast if head.dst != self.mac => Err(Counter::DropForeign),
            Reach::Group if !head.dst.is_group() => Err(Counter::DropKind),
            Reach::Unicast | Reach::Group | Reach::Any => Ok(()),
        }
    }

    /// True when the sender holds what the frame's kind requires of it.
    pub fn admits(&self, head: &Head) -> bool {
        let owned = self.claim.filter(|c| c.owner == head.src);
        let is_member = self.load == Some(head.epoch);
        match head.kind.claim() {
            ClaimRule::None => true,
            ClaimRule::Epoch => owned.is_some_and(|c| c.epoch == head.epoch),
            ClaimRule::Group => owned.is_some_and(|c| c.group != 0 && c.group == head.epoch),
            ClaimRule::Load => owned.is_some() && is_member,
            ClaimRule::Member => is_member,
            // A rule of the bridge family, whose kinds are no heads of this sort.
            ClaimRule::Window => false,
        }
    }

    fn listens(&self, dst: MacAddr) -> bool {
        let joined = |group: Option<u16>| group.is_some_and(|id| dst == MacAddr::group(id));
        let claim = self.claim.map(|c| c.group).filter(|&group| group != 0);
        dst == self.mac || dst == CARDS || dst == MacAddr::BROADCAST || joined(self.load) || joined(claim)
    }
}

/// What a frame is counted as that cannot be read.
const fn drop_of(error: &ParseError) -> Counter {
    match error {
        // The last of them is no answer about a control frame.
        ParseError::Foreign(_) | ParseError::Ipv6(_) => Counter::DropForeign,
        ParseError::Truncated { .. } => Counter::DropTruncated,
        ParseError::Version { .. } => Counter::DropVersion,
        ParseError::UnknownKind { .. } => Counter::DropKind,
        ParseError::Auth => Counter::DropAuth,
    }
}

fn mac_at(frame: &[u8], at: usize) -> Option<MacAddr> {
    frame.get(at..at + 6).map(|b| MacAddr(b.try_into().expect("six bytes")))
}
