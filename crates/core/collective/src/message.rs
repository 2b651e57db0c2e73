//! What goes over a link, as frames and back.

use bytes::Bytes;
use rackloom_transport::{Ack, Data, Sack, Segment};
use rackloom_wire::link::{FLAG_ASKS, FLAG_SELECTIVE, Kind, MESSAGE_JUMBO};
use rackloom_wire::{LinkHead, LinkPacket, MacAddr};

/// Which message of which operation of which group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) group: u64,
    pub(crate) sequence: u32,
    pub(crate) tag: u16,
}

impl Key {
    /// Whether both are of one operation.
    pub(crate) const fn is_with(self, other: Self) -> bool {
        self.group == other.group && self.sequence == other.sequence
    }
}

/// Signals, which are messages without bytes, that a program has under way over a link, at most. Two keep cards
/// together that do barriers one after the other: who came last gives its second one before the first is answered.
pub(crate) const SIGNALS_MAX: usize = 2;

/// Whether a message of so many bytes may go over a link while its program has messages of these lengths under way
/// there: one at a time, or two signals.
pub(crate) fn may_go(length: u32, mut under_way: impl Iterator<Item = u32> + Clone) -> bool {
    let are_signals = length == 0 && under_way.clone().all(|length| length == 0);
    under_way.nth(if are_signals { SIGNALS_MAX - 1 } else { 0 }).is_none()
}

/// A numbered payload of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Message {
    pub(crate) kind: Kind,
    /// The sender's context.
    pub(crate) slot: u16,
    pub(crate) key: Key,
    pub(crate) offset: u32,
    pub(crate) total: u32,
    pub(crate) payload: Bytes,
}

impl Message {
    /// A word about a message.
    pub(crate) const fn word(kind: Kind, slot: u16, key: Key, total: u32) -> Self {
        Self { kind, slot, key, offset: 0, total, payload: Bytes::new() }
    }
}

/// The frame that carries a segment from the port `src`.
pub(crate) fn encode(src: MacAddr, segment: &Segment<Message>) -> Bytes {
    let flag = |on: bool, bit: u8| if on { bit } else { 0 };
    let kind = match (&segment.data, segment.ack) {
        (Some(data), _) => data.payload.kind,
        (None, _) if segment.asks => Kind::LinkUnack,
        (None, Some(ack)) if ack.is_nack => Kind::LinkNack,
        (None, _) => Kind::LinkAck,
    };
    let mut head = LinkHead {
        flags: flag(segment.asks, FLAG_ASKS) | flag(segment.selective, FLAG_SELECTIVE),
        src_epoch: segment.src,
        dst_epoch: segment.dst,
        ack: segment.ack.map_or(0, |ack| ack.sack.next()),
        limit: segment.ack.map_or(0, |ack| ack.limit),
        ..LinkHead::new(src, kind)
    };
    if let Some(Data { seq, payload: m }) = &segment.data {
        (head.seq, head.slot, head.tag, head.offset, head.total) = (*seq, m.slot, m.key.tag, m.offset, m.total);
        (head.group, head.sequence) = (m.key.group, m.key.sequence);
        return head.frame(&m.payload);
    }
    match segment.ack {
        Some(ack) if !ack.sack.is_contiguous() => head.frame(&ack.sack.bitmap()),
        _ => head.frame(&[]),
    }
}

/// The segment that a frame carries; `None` if it is malformed.
pub(crate) fn decode(frame: &Bytes, packet: &LinkPacket<'_>) -> Option<Segment<Message>> {
    let head = &packet.head;
    if head.src_epoch == 0 || packet.payload.len() > MESSAGE_JUMBO.into() {
        return None;
    }
    let is_bare = matches!(head.kind, Kind::LinkAck | Kind::LinkNack | Kind::LinkUnack);
    let sack = match (is_bare, packet.payload.len()) {
        (false, _) | (true, 0) => Sack::new(head.ack),
        (true, 32) if head.kind != Kind::LinkUnack => Sack::from_bitmap(head.ack, packet.payload.try_into().ok()?),
        (true, _) => return None,
    };
    let key = Key { group: head.group, sequence: head.sequence, tag: head.tag };
    let data = (!is_bare).then(|| Data {
        seq: head.seq,
        payload: Message {
            kind: head.kind,
            slot: head.slot,
            key,
            offset: head.offset,
            total: head.total,
            payload: frame.slice_ref(packet.payload),
        },
    });
    let ack = (head.dst_epoch != 0).then_some(Ack { sack, limit: head.limit, is_nack: head.kind == Kind::LinkNack });
    Some(Segment {
        src: head.src_epoch,
        dst: head.dst_epoch,
        asks: head.flags & FLAG_ASKS != 0 || head.kind == Kind::LinkUnack,
        selective: head.flags & FLAG_SELECTIVE != 0,
        ack,
        data,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const SRC: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);

    #[test]
    fn each_form_of_a_segment_comes_back() {
        let bare = Segment { src: 7, dst: 9, asks: false, selective: true, ack: None, data: None };
        let mut sack = Sack::new(u32::MAX);
        let ack = |sack, is_nack| Some(Ack { sack, limit: 3, is_nack });
        let key = Key { group: 1 << 40, sequence: 6, tag: 5 };
        let payload = Bytes::from_static(b"bytes");
        let message = Message { kind: Kind::LinkData, slot: 3, key, offset: 8, total: 13, payload };
        let data = Some(Data { seq: 77, payload: message });
        let mut segments = vec![
            Segment { ack: ack(sack, false), ..bare.clone() },
            Segment { ack: ack(sack, true), ..bare.clone() },
            Segment { ack: ack(sack, false), asks: true, data, selective: false, ..bare.clone() },
            Segment { dst: 0, asks: true, ..bare.clone() },
        ];
        sack.insert(5);
        segments.push(Segment { ack: ack(sack, false), ..bare });
        for segment in segments {
            let frame = encode(SRC, &segment);
            assert_eq!(decode(&frame, &LinkPacket::parse(&frame).unwrap()), Some(segment));
        }
    }

    #[test]
    fn nonsense_is_malformed() {
        let bad = |kind, epoch, payload: &[u8]| {
            let frame = LinkHead { src_epoch: epoch, ..LinkHead::new(SRC, kind) }.frame(payload);
            decode(&frame, &LinkPacket::parse(&frame).unwrap()).is_none()
        };
        assert!(!bad(Kind::LinkAck, 1, &[]) && !bad(Kind::LinkNack, 1, &[0; 32]));
        assert!(bad(Kind::LinkAck, 0, &[]) && bad(Kind::LinkAck, 1, &[0; 31]) && bad(Kind::LinkUnack, 1, &[0; 32]));
        assert!(bad(Kind::LinkData, 1, &vec![0; usize::from(MESSAGE_JUMBO) + 1]));
    }
}
