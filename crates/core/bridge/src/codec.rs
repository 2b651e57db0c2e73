//! Segments of a connection as frames, and back.

use core::cmp::Ordering;

use bytes::Bytes;
use rackloom_transport::{Ack, Data, Sack, Segment};
use rackloom_wire::bridge::{CHANNELS, FLAG_ASKS, FLAG_LAST, FLAG_SELECTIVE, Kind, MESSAGE_JUMBO};
use rackloom_wire::{BridgeHead, BridgePacket, MacAddr};

use crate::message::Message;

/// Which connection a frame belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key {
    pub(crate) peer: MacAddr,
    /// `CHANNEL_MEMORY` or `CHANNEL_STREAMS`.
    pub(crate) channel: u16,
}

impl Key {
    /// All of it, which compares in one step: tables are searched for each frame.
    const fn packed(self) -> u64 {
        let [a, b, c, d, e, f] = self.peer.0;
        u64::from_be_bytes([0, 0, a, b, c, d, e, f]) << 16 | self.channel as u64
    }
}

impl Ord for Key {
    fn cmp(&self, other: &Self) -> Ordering {
        self.packed().cmp(&other.packed())
    }
}

impl PartialOrd for Key {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

/// The frame that carries a segment from `src` to the peer.
pub(crate) fn encode(src: MacAddr, key: Key, segment: &Segment<Message>) -> Bytes {
    let flag = |on: bool, bit: u8| if on { bit } else { 0 };
    let kind = match (&segment.data, segment.ack) {
        (Some(data), _) => data.payload.kind,
        (None, _) if segment.asks => Kind::Unack,
        (None, Some(ack)) if ack.is_nack => Kind::Nack,
        (None, _) => Kind::Ack,
    };
    let mut head = BridgeHead {
        flags: flag(segment.asks, FLAG_ASKS) | flag(segment.selective, FLAG_SELECTIVE),
        src_epoch: segment.src,
        dst_epoch: segment.dst,
        ack: segment.ack.map_or(0, |ack| ack.sack.next()),
        limit: segment.ack.map_or(0, |ack| ack.limit),
        channel: key.channel,
        ..BridgeHead::new(key.peer, src, kind)
    };
    if let Some(Data { seq, payload: m }) = &segment.data {
        head.flags |= flag(m.is_last, FLAG_LAST);
        (head.seq, head.id, head.addr, head.count, head.tag) = (*seq, m.id, m.addr, m.count, m.tag);
        return head.frame(&[&m.payload]);
    }
    match segment.ack {
        Some(ack) if !ack.sack.is_contiguous() => head.frame(&[&ack.sack.bitmap()]),
        _ => head.frame(&[]),
    }
}

/// The segment that a frame carries; `None` if it is malformed.
pub(crate) fn decode(frame: &Bytes, packet: &BridgePacket<'_>) -> Option<(Key, Segment<Message>)> {
    let head = &packet.head;
    if head.channel >= CHANNELS || head.src_epoch == 0 || packet.payload.len() > MESSAGE_JUMBO.into() {
        return None;
    }
    let has = |bit: u8| head.flags & bit != 0;
    let is_bare = matches!(head.kind, Kind::Ack | Kind::Nack | Kind::Unack);
    let sack = match (is_bare, packet.payload.len()) {
        (false, _) | (true, 0) => Sack::new(head.ack),
        (true, 32) if head.kind != Kind::Unack => Sack::from_bitmap(head.ack, packet.payload.try_into().ok()?),
        (true, _) => return None,
    };
    // A payload keeps its frame alive and is not copied.
    let data = (!is_bare).then(|| Data {
        seq: head.seq,
        payload: Message {
            kind: head.kind,
            id: head.id,
            addr: head.addr,
            count: head.count,
            tag: head.tag,
            is_last: has(FLAG_LAST),
            payload: frame.slice_ref(packet.payload),
        },
    });
    let ack = (head.dst_epoch != 0).then_some(Ack { sack, limit: head.limit, is_nack: head.kind == Kind::Nack });
    let asks = has(FLAG_ASKS) || head.kind == Kind::Unack;
    let segment = Segment { src: head.src_epoch, dst: head.dst_epoch, asks, selective: has(FLAG_SELECTIVE), ack, data };
    Some((Key { peer: head.src, channel: head.channel }, segment))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::collection::vec;
    use proptest::prelude::*;

    const HERE: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
    const KEY: Key = Key { peer: MacAddr([2, 0, 0, 0, 0, 2]), channel: 1 };

    fn bare() -> Segment<Message> {
        Segment { src: 7, dst: 9, asks: false, selective: true, ack: None, data: None }
    }

    fn there_and_back(segment: &Segment<Message>) -> Segment<Message> {
        let frame = encode(HERE, KEY, segment);
        let packet = BridgePacket::parse(&frame).unwrap();
        let (key, back) = decode(&frame, &packet).unwrap();
        assert_eq!(key, Key { peer: HERE, channel: 1 });
        back
    }

    #[test]
    fn each_form_of_a_segment_comes_back() {
        let mut sack = Sack::new(u32::MAX);
        let ack = |sack, is_nack| Some(Ack { sack, limit: 3, is_nack });
        let message = Message { is_last: true, ..Message::stream(5, 10, false, Bytes::from_static(b"bytes")) };
        let data = Some(Data { seq: 77, payload: message });
        for segment in [
            Segment { ack: ack(sack, false), ..bare() },
            Segment { ack: ack(sack, true), ..bare() },
            Segment { ack: ack(sack, false), asks: true, ..bare() },
            Segment { ack: ack(sack, false), asks: true, data: data.clone(), selective: false, ..bare() },
            Segment { dst: 0, data, ..bare() },
            Segment { dst: 0, asks: true, ..bare() },
        ] {
            assert_eq!(there_and_back(&segment), segment);
        }
        sack.insert(5);
        let segment = Segment { ack: ack(sack, false), ..bare() };
        assert_eq!(there_and_back(&segment), segment, "the bitmap travels");
    }

    fn any_message() -> impl Strategy<Value = Message> {
        let kind = (1..=10u8).prop_map(|k| Kind::from_wire(k).unwrap_or(Kind::Stream));
        let fields = (any::<u16>(), any::<u64>(), any::<u32>(), any::<u16>(), any::<bool>());
        (kind, fields, vec(any::<u8>(), 0..300)).prop_map(|(kind, (id, addr, count, tag, is_last), bytes)| {
            let is_bare = matches!(kind, Kind::Ack | Kind::Nack | Kind::Unack);
            let kind = if is_bare { Kind::WriteRequest } else { kind };
            Message { kind, id, addr, count, tag, is_last, payload: bytes.into() }
        })
    }

    /// As connections make them: a payload goes with no bitmap and no negative acknowledgement, and whoever asks
    /// without one sends neither.
    fn any_segment() -> impl Strategy<Value = Segment<Message>> {
        let ack = (any::<u32>(), any::<u32>(), any::<bool>(), any::<[u8; 32]>(), any::<bool>());
        let data = proptest::option::of((any::<u32>(), any_message()));
        (1..=u32::MAX, 0..=u32::MAX, any::<(bool, bool)>(), ack, data).prop_map(
            |(src, dst, (asks, selective), (next, limit, is_nack, bitmap, has_bitmap), data)| {
                let is_apart = data.is_none() && !asks;
                let sack = if is_apart && has_bitmap { Sack::from_bitmap(next, &bitmap) } else { Sack::new(next) };
                let ack = (dst != 0).then_some(Ack { sack, limit, is_nack: is_apart && is_nack });
                let data = data.map(|(seq, payload)| Data { seq, payload });
                Segment { src, dst, asks, selective, ack, data }
            },
        )
    }

    proptest! {
        #[test]
        fn any_segment_comes_back(segment in any_segment()) {
            prop_assert_eq!(there_and_back(&segment), segment);
        }
    }

    #[test]
    fn nonsense_is_malformed() {
        let bad = |change: &dyn Fn(&mut BridgeHead), payload: &[u8]| {
            let mut head = BridgeHead { src_epoch: 1, ..BridgeHead::new(KEY.peer, HERE, Kind::Ack) };
            change(&mut head);
            let frame = head.frame(&[payload]);
            decode(&frame, &BridgePacket::parse(&frame).unwrap()).is_none()
        };
        assert!(!bad(&|_| (), &[]) && !bad(&|_| (), &[0; 32]));
        assert!(bad(&|_| (), &[0; 31]));
        assert!(bad(&|h| h.kind = Kind::Unack, &[0; 32]));
        assert!(bad(&|h| h.channel = 2, &[]));
        assert!(bad(&|h| h.src_epoch = 0, &[]));
        let longest = usize::from(MESSAGE_JUMBO);
        assert!(!bad(&|h| h.kind = Kind::WriteRequest, &vec![0; longest]));
        assert!(bad(&|h| h.kind = Kind::WriteRequest, &vec![0; longest + 1]));
    }
}
