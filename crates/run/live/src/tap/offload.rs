//! Many frames in one call of the system: the kernel hands over up to 64 KiB of TCP uncut and without checksums, and
//! takes the same (`IFF_VNET_HDR`). On the wire go frames of the MTU with their checksums.

use bytes::Bytes;
use rackloom_node::Frame;

use super::packet::{ACK, CHECKSUM, CWR, FIN, PSH, Tcp, fold, put, sum};

/// What stands before each frame that goes to or comes from the kernel: its `struct virtio_net_hdr`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Head {
    /// The checksum is to be made: of what lies behind `start`, at `start + offset`, where a first part of it is.
    needs_checksum: bool,
    kind: u8,
    header: u16,
    /// Bytes of payload for each frame, if it is to be cut.
    size: u16,
    start: u16,
    offset: u16,
}

/// Bytes of a [`Head`].
pub(super) const HEAD: usize = 10;
/// The longest that the kernel hands over.
pub(super) const LONGEST: usize = 65_535 + 14;

const KIND_NONE: u8 = 0;
const KIND_TCP4: u8 = 1;
const KIND_TCP6: u8 = 4;
/// The sender has told of congestion: kernels set it beside the kind.
const KIND_ECN: u8 = 0x80;

impl Head {
    pub(super) fn read(bytes: [u8; HEAD]) -> Self {
        let word = |at: usize| u16::from_ne_bytes([bytes[at], bytes[at + 1]]);
        let (needs_checksum, kind) = (bytes[0] & 1 != 0, bytes[1] & !KIND_ECN);
        Self { needs_checksum, kind, header: word(2), size: word(4), start: word(6), offset: word(8) }
    }

    pub(super) fn bytes(self) -> [u8; HEAD] {
        let mut bytes = [0; HEAD];
        (bytes[0], bytes[1]) = (u8::from(self.needs_checksum), self.kind);
        for (at, word) in [(2, self.header), (4, self.size), (6, self.start), (8, self.offset)] {
            bytes[at..at + 2].copy_from_slice(&word.to_ne_bytes());
        }
        bytes
    }
}

/// Makes of what the kernel has handed over the frames that it stands for. None: nobody can tell what it is.
pub(super) fn cut(head: Head, packet: &mut [u8], mut each: impl FnMut(Frame)) -> Option<()> {
    match (head.kind, usize::from(head.size)) {
        (KIND_NONE, _) => {
            if head.needs_checksum {
                finish(head, packet)?;
            }
            each(Bytes::copy_from_slice(packet));
        }
        (KIND_TCP4 | KIND_TCP6, 1..) => cut_tcp(usize::from(head.size), packet, each)?,
        _ => return None,
    }
    Some(())
}

/// Completes a checksum that the kernel has left to us.
fn finish(head: Head, packet: &mut [u8]) -> Option<()> {
    let start = usize::from(head.start);
    let at = start + usize::from(head.offset);
    packet.get(at..at + 2)?;
    let checksum = match !fold(sum(packet.get(start..)?)) {
        0 => 0xffff, // In UDP, 0 says that there is none; elsewhere both are the same.
        checksum => checksum,
    };
    put(packet, at, checksum);
    Some(())
}

fn cut_tcp(size: usize, packet: &[u8], mut each: impl FnMut(Frame)) -> Option<()> {
    let tcp = Tcp::of(packet, true)?;
    let (headers, payload) = packet.split_at(tcp.payload);
    let id = (!tcp.is_v6).then(|| u16::from_be_bytes([packet[18], packet[19]]));
    let pieces = payload.len().div_ceil(size).max(1);
    for (i, piece) in (0..pieces).zip(payload.chunks(size).chain([&[][..]])) {
        let mut frame = Vec::with_capacity(headers.len() + piece.len());
        frame.extend_from_slice(headers);
        frame.extend_from_slice(piece);
        let own = Tcp { end: frame.len(), ..tcp };
        if let Some(id) = id {
            put(&mut frame, 18, id.wrapping_add(i as u16));
        }
        let seq = tcp.seq(packet).wrapping_add((i * size) as u32);
        frame[tcp.tcp + 4..tcp.tcp + 8].copy_from_slice(&seq.to_be_bytes());
        let not_last = if i + 1 < pieces { FIN | PSH } else { 0 };
        let not_first = if i > 0 { CWR } else { 0 };
        frame[tcp.tcp + 13] &= !(not_last | not_first);
        own.set_length(&mut frame);
        own.set_checksum(&mut frame);
        each(frame.into());
    }
    Some(())
}

/// How many of the first frames the kernel can take as one, which then is in `into`; 1: the first goes as it is. Only
/// whole segments of one stream whose checksums are right and that follow each other are joined: cut again, they are
/// the same.
pub(super) fn join(frames: &[Frame], into: &mut Vec<u8>) -> (usize, Head) {
    into.clear();
    let alone = (1, Head::default());
    let Some((first, tcp)) = frames.first().and_then(|frame| Some((frame, data(frame)?))) else { return alone };
    let size = tcp.end - tcp.payload;
    let mut seq = tcp.seq(first);
    let mut bytes = tcp.payload;
    let mut joined = 0;
    let mut flags = 0;
    for frame in frames {
        let Some(other) = data(frame).filter(|other| is_like(tcp, first, *other, frame)) else { break };
        let length = other.end - other.payload;
        if other.seq(frame) != seq || length > size || bytes + length > LONGEST - 14 || !other.is_sound(frame) {
            break;
        }
        joined += 1;
        bytes += length;
        seq = seq.wrapping_add(length as u32);
        flags |= other.flags(frame);
        // What is shorter, or is to be handed on at once, is the last.
        if length < size || other.flags(frame) & PSH != 0 {
            break;
        }
    }
    if joined < 2 {
        return alone;
    }
    into.extend_from_slice(&first[..tcp.payload]);
    for frame in &frames[..joined] {
        let end = data(frame).expect("it was looked at").end;
        into.extend_from_slice(&frame[tcp.payload..end]);
    }
    into[tcp.tcp + 13] = flags;
    let whole = Tcp { end: into.len(), ..tcp };
    whole.set_length(into);
    // The kernel goes on from the sum of the pseudo-header.
    let pseudo = fold(whole.pseudo(into));
    put(into, tcp.tcp + CHECKSUM, pseudo);
    let head = Head {
        needs_checksum: true,
        kind: if tcp.is_v6 { KIND_TCP6 } else { KIND_TCP4 },
        header: tcp.payload as u16,
        size: size as u16,
        start: tcp.tcp as u16,
        offset: CHECKSUM as u16,
    };
    (joined, head)
}

/// A segment with data and nothing else to say.
fn data(frame: &[u8]) -> Option<Tcp> {
    let tcp = Tcp::of(frame, false)?;
    (tcp.flags(frame) & !PSH == ACK && tcp.payload < tcp.end).then_some(tcp)
}

/// Whether two segments differ in nothing but what cutting makes different.
fn is_like(tcp: Tcp, first: &[u8], other: Tcp, frame: &[u8]) -> bool {
    let ip = if tcp.is_v6 { [14..18, 20..54, 54..54] } else { [14..16, 20..24, 26..34] };
    let (at, end) = (tcp.tcp, tcp.payload);
    // Ports; what is acknowledged and the header's length; the window; what is urgent, and options.
    let parts = [0..14, at..at + 4, at + 8..at + 13, at + 14..at + 16, at + 18..end];
    other.is_v6 == tcp.is_v6
        && other.payload == tcp.payload
        && ip.into_iter().chain(parts).all(|part| first[part.clone()] == frame[part])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As the kernel hands it over: the checksum of the pseudo-header only.
    fn packet(is_v6: bool, payload: usize) -> (Head, Vec<u8>) {
        let ip = if is_v6 { 40 } else { 20 };
        let mut packet = vec![2u8; 14 + ip + 32];
        packet[12..14].copy_from_slice(if is_v6 { &[0x86, 0xdd] } else { &[8, 0] });
        if is_v6 {
            packet[14..22].copy_from_slice(&[0x60, 0, 0, 0, 0, 0, 6, 64]);
        } else {
            packet[14..26].copy_from_slice(&[0x45, 0, 0, 0, 0xff, 0xff, 0x40, 0, 64, 6, 0, 0]);
        }
        let tcp = 14 + ip;
        packet[tcp + 4..tcp + 8].copy_from_slice(&(u32::MAX - 2000).to_be_bytes());
        (packet[tcp + 12], packet[tcp + 13]) = (0x80, ACK | PSH);
        packet.extend((0..payload).map(|i| (i * 31 + i / 256) as u8));
        let whole = Tcp::of(&packet, true).unwrap();
        whole.set_length(&mut packet);
        let pseudo = fold(whole.pseudo(&packet));
        put(&mut packet, tcp + CHECKSUM, pseudo);
        let kind = if is_v6 { KIND_TCP6 } else { KIND_TCP4 };
        let (header, start) = (whole.payload as u16, tcp as u16);
        (Head { needs_checksum: true, kind, header, size: 1428, start, offset: CHECKSUM as u16 }, packet)
    }

    fn frames(head: Head, mut packet: Vec<u8>) -> Vec<Frame> {
        let mut frames = Vec::new();
        cut(head, &mut packet, |frame| frames.push(frame)).unwrap();
        frames
    }

    #[test]
    fn what_was_cut_is_sound_and_joins_to_the_same() {
        for is_v6 in [false, true] {
            for payload in [1429, 1428 * 3, 60_000] {
                let (head, packet) = packet(is_v6, payload);
                let frames = frames(head, packet.clone());
                assert_eq!(frames.len(), payload.div_ceil(1428));
                for (i, frame) in frames.iter().enumerate() {
                    let tcp = Tcp::of(frame, false).unwrap();
                    assert!(tcp.is_sound(frame) && frame.len() <= 1514, "{i}");
                    assert_eq!(tcp.flags(frame) & PSH != 0, i + 1 == frames.len());
                }
                let mut joined = Vec::new();
                assert_eq!(join(&frames, &mut joined), (frames.len(), head));
                assert_eq!(joined, packet);
                assert_eq!(Head::read(head.bytes()), head);
            }
        }
    }

    #[test]
    fn what_does_not_belong_together_is_not_joined() {
        let (head, packet) = packet(false, 1428 * 4);
        let good = frames(head, packet);
        let mut into = Vec::new();
        // Bytes of the third frame, and how many of the four may be one then.
        for (at, why) in
            [(100, "a damaged byte"), (3, "another host"), (35, "another port"), (39, "a gap"), (47, "a flag")]
        {
            let mut frames = good.clone();
            let mut bytes = frames[2].to_vec();
            bytes[at] ^= 1;
            if why != "a damaged byte" {
                let tcp = Tcp::of(&bytes, false).unwrap();
                tcp.set_checksum(&mut bytes);
            }
            frames[2] = bytes.into();
            assert_eq!(join(&frames, &mut into).0, 2, "{why}");
            assert_eq!(join(&frames[2..], &mut into).0, 1, "{why}");
        }
        let swapped = [good[1].clone(), good[0].clone()];
        assert_eq!(join(&swapped, &mut into).0, 1);
        assert_eq!(join(&[Frame::from_static(&[0; 60])], &mut into), (1, Head::default()));
    }

    #[test]
    fn checksums_that_the_kernel_leaves_are_made() {
        let (head, packet) = packet(false, 3);
        let alone = Head { kind: KIND_NONE, size: 0, ..head };
        let frame = &frames(alone, packet)[0];
        assert!(Tcp::of(frame, false).unwrap().is_sound(frame));
    }

    #[test]
    fn nonsense_is_refused_and_panics_nobody() {
        let (head, packet) = packet(false, 5000);
        for length in 0..100 {
            let _ = cut(head, &mut packet[..length].to_vec(), |_| {});
            let _ = cut(Head { kind: KIND_NONE, ..head }, &mut packet[..length].to_vec(), |_| {});
            let _ = join(&[Bytes::copy_from_slice(&packet[..length])], &mut Vec::new());
        }
        assert!(cut(Head { size: 0, ..head }, &mut packet.clone(), |_| {}).is_none());
        assert!(cut(Head { kind: 3, ..head }, &mut packet.clone(), |_| {}).is_none());
        let beyond = Head { kind: KIND_NONE, start: 60_000, ..head };
        assert!(cut(beyond, &mut packet.clone(), |_| {}).is_none());
    }
}
