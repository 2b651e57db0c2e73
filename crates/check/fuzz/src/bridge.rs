//! Frames of the bridge family: valid ones with a few things wrong, and what reading them must never do.

use arbitrary::{Result, Unstructured};
use rackloom_wire::bridge::{self, Kind};
use rackloom_wire::{BridgeHead, BridgePacket, Family, FromBytes, IntoBytes, Ipv6Error, MacAddr, ParseError};

/// Where things start, as the reference page states it; not taken from the code under test.
const IPV6: usize = 14;
const HEADER: usize = 54;
const PAYLOAD: usize = 96;
/// The first eight bytes of every node's address.
const SUBNET: [u8; 8] = [0xfd, 0x52, 0x4c, 0, 0, 0, 0, 0];

/// A frame of any sort: bytes without sense, a valid frame, or (mostly) a valid one with up to four faults.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn any(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    if u.ratio(1, 8)? {
        let length = u.int_in_range(0..=u.len().min(9100))?;
        return Ok(u.bytes(length)?.to_vec());
    }
    let mut frame = valid(u)?;
    for _ in 0..u.int_in_range(0..=4)? {
        if u.arbitrary()? {
            break_packet(u, &mut frame)?;
        } else {
            crate::frame::break_one(u, &mut frame)?;
        }
    }
    Ok(frame)
}

/// A frame that keeps every rule; its payload has the size of its kind, and any contents. Padding may follow.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn valid(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let node = |u: &mut Unstructured<'_>| Ok(MacAddr(u.arbitrary::<[u8; 6]>()?.map(|b| b & 0xfe)));
    let head = BridgeHead {
        flags: u.arbitrary::<u8>()? & (bridge::FLAG_ASKS | bridge::FLAG_LAST | bridge::FLAG_SELECTIVE),
        id: u.arbitrary()?,
        seq: u.arbitrary()?,
        src_epoch: u.arbitrary()?,
        dst_epoch: u.arbitrary()?,
        ack: u.arbitrary()?,
        limit: u.arbitrary()?,
        addr: u.arbitrary()?,
        count: u.arbitrary()?,
        tag: u.arbitrary()?,
        channel: u.arbitrary()?,
        ..BridgeHead::new(node(u)?, node(u)?, *u.choose(&Kind::ALL)?)
    };
    let mut payload = Vec::new();
    match head.kind {
        Kind::ReadRequest | Kind::WriteResponse | Kind::Unack => {}
        Kind::Ack | Kind::Nack => {
            let length = *u.choose(&[0, 32])?;
            payload.extend(u.bytes(length)?);
        }
        Kind::AtomicRequest => payload.extend(u.bytes(16)?),
        Kind::WriteBatch => {
            for _ in 0..u.int_in_range(1..=8)? {
                let length = u.int_in_range(1..=100.min(u.len().max(1)))?;
                rackloom_wire::put_record(&mut payload, u.arbitrary::<u64>()? >> 1, u.bytes(length)?);
            }
        }
        Kind::WriteRequest | Kind::ReadResponse | Kind::Stream => {
            let length = u.int_in_range(0..=u.len().min(usize::from(bridge::MESSAGE_JUMBO)))?;
            payload.extend(u.bytes(length)?);
        }
    }
    let mut frame = head.frame(&[&payload]).to_vec();
    if u.ratio(1, 4)? {
        frame.extend(u.bytes(u.len().min(30))?);
    }
    Ok(frame)
}

/// One fault where the rules of packets are: in the addresses, in the header of IPv6, in the two lengths.
fn break_packet(u: &mut Unstructured<'_>, frame: &mut [u8]) -> Result<()> {
    if frame.len() < PAYLOAD {
        return Ok(());
    }
    match u.int_in_range(0..=5)? {
        0 => {
            let at = *u.choose(&[0, 5, 6, 11, 12, 14, 20, 21, 22, 29, 30, 33, 34, 37, 38, 45, 53])?;
            frame[at] ^= if u.arbitrary()? { u.arbitrary()? } else { 1 << u.int_in_range(0..=7)? };
        }
        1 => frame[18 + u.int_in_range(0..=1)?] = u.arbitrary()?,
        // Version and flags, or the kind.
        2 => frame[54 + u.int_in_range(0..=1)?] ^= 1 << u.int_in_range(0..=7)?,
        // A group's address as source, with the address of IPv6 that goes with it.
        3 => [6, 30].into_iter().for_each(|at| frame[at] |= 1),
        4 => frame[56 + u.int_in_range(0..=1)?] = u.arbitrary()?,
        _ => {
            // Both lengths at once, as of a frame that lost its end.
            let less = u.int_in_range(1..=50u16)?;
            for at in [18, 56] {
                let length = u16::from_be_bytes([frame[at], frame[at + 1]]).wrapping_sub(less);
                frame[at..at + 2].copy_from_slice(&length.to_be_bytes());
            }
        }
    }
    Ok(())
}

/// Target: reading any frame agrees with a reader that is written from the reference page alone, byte by byte; what is
/// read can be written again; no view and no text of it panics.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn read_frame(u: &mut Unstructured<'_>) -> Result<()> {
    check(&any(u)?);
    Ok(())
}

/// Holds one frame against the reader of this page.
fn check(frame: &[u8]) {
    let is_ours = Family::of(frame) == Some(Family::Bridge);
    assert_eq!(is_ours, belongs(frame), "{frame:02x?}");
    if let Some(address) = frame.get(22..38) {
        let is_nodes = address[..8] == SUBNET && address[11..13] == [0xff, 0xfe];
        let address = <[u8; 16]>::try_from(address).expect("sixteen bytes").into();
        assert_eq!(bridge::CARRIER.node(address).is_some(), is_nodes, "{address}");
    }
    let parsed = BridgePacket::parse(frame);
    assert_eq!(parsed.map(|_| ()).map_err(|e| class(&e)), naive(frame), "{frame:02x?}");
    let packet = match parsed {
        Ok(packet) => packet,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    assert!(is_ours, "what is read belongs to the family");
    let length = usize::from(u16::from_be_bytes([frame[56], frame[57]]));
    assert_eq!(packet.payload, &frame[PAYLOAD..PAYLOAD + length]);
    let line = packet.to_string();
    assert!(line.contains(packet.head.kind.name()) && line.lines().count() == 1, "{line:?}");
    let again = packet.head.frame(&[packet.payload]);
    assert_eq!(BridgePacket::parse(&again), Ok(packet));
    // Traffic class and flow label are written as zero and not looked at.
    let mut there = frame[..PAYLOAD + length].to_vec();
    there[IPV6..IPV6 + 4].copy_from_slice(&[0x60, 0, 0, 0]);
    assert_eq!(again, there, "what is read is what was there");
    for (mac, address) in [(packet.head.dst, &frame[38..54]), (packet.head.src, &frame[22..38])] {
        let address = <[u8; 16]>::try_from(address).expect("sixteen bytes").into();
        assert_eq!(bridge::CARRIER.node(address), Some(mac));
    }
    views(&packet);
    batch(packet.payload);
}

/// Whether a frame is of the family, by the words of the reference page.
fn belongs(frame: &[u8]) -> bool {
    frame.len() > 38
        && frame[12] == 0x86
        && frame[13] == 0xdd
        && frame[14] / 16 == 6
        && frame[20] == 253
        && matches!(frame[38], 0xfc | 0xfd)
}

/// What is wrong with a frame, by the words of the reference page.
fn naive(frame: &[u8]) -> std::result::Result<(), &'static str> {
    if frame.len() < IPV6 {
        return Err("truncated");
    }
    if frame[12..14] != [0x86, 0xdd] {
        return Err("foreign");
    }
    if frame.len() < HEADER {
        return Err("truncated");
    }
    if frame[14] / 16 != 6 {
        return Err("another IP");
    }
    if frame[20] != 253 {
        return Err("next header");
    }
    if frame[38] != 0xfc && frame[38] != 0xfd {
        return Err("destination");
    }
    if frame[21] != 255 {
        return Err("hop limit");
    }
    if frame[22..30] != SUBNET || frame[38..46] != SUBNET {
        return Err("subnet");
    }
    if frame[30..38] != eui64(&frame[6..12]) || frame[6] % 2 == 1 {
        return Err("spoofed");
    }
    if frame[46..54] != eui64(&frame[..6]) {
        return Err("misdirected");
    }
    let packet = usize::from(frame[18]) * 256 + usize::from(frame[19]);
    if frame.len() - HEADER < packet {
        return Err("truncated");
    }
    if packet < PAYLOAD - HEADER {
        return Err("length");
    }
    if frame[54] / 16 != 1 {
        return Err("version");
    }
    if frame[55] == 0 || frame[55] > 10 {
        return Err("kind");
    }
    if frame[54] & 4 != 0 {
        return Err("auth");
    }
    let length = usize::from(frame[56]) * 256 + usize::from(frame[57]);
    if packet == 42 + length { Ok(()) } else { Err("length") }
}

/// The modified EUI-64 of an Ethernet address: bytes ff and fe in its middle, and the bit of global addresses turned.
fn eui64(mac: &[u8]) -> [u8; 8] {
    [mac[0] ^ 2, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]]
}

fn class(error: &ParseError) -> &'static str {
    match error {
        ParseError::Foreign(_) => "foreign",
        ParseError::Truncated { need, have } => {
            assert!(need > have, "{error}");
            "truncated"
        }
        ParseError::Version { .. } => "version",
        ParseError::UnknownKind { .. } => "kind",
        ParseError::Auth => "auth",
        ParseError::Ipv6(error) => match error {
            Ipv6Error::Version(_) => "another IP",
            Ipv6Error::NextHeader(_) => "next header",
            Ipv6Error::Destination(_) => "destination",
            Ipv6Error::HopLimit(_) => "hop limit",
            Ipv6Error::Subnet(_) => "subnet",
            Ipv6Error::Spoofed { .. } => "spoofed",
            Ipv6Error::Misdirected { .. } => "misdirected",
            Ipv6Error::Length { packet, frame } => {
                assert_ne!(packet, frame, "{error}");
                "length"
            }
        },
    }
}

/// Every struct's view of the payload, whether it is the kind's own or not: there when it fits, and the same bytes.
fn views(packet: &BridgePacket<'_>) {
    macro_rules! views {
        ($($name:ident)*) => {$(
            match packet.view::<bridge::$name>() {
                Some((body, rest)) => {
                    assert_eq!(body.as_bytes(), &packet.payload[..size_of::<bridge::$name>()]);
                    assert_eq!(rest, &packet.payload[size_of::<bridge::$name>()..]);
                    assert_eq!(bridge::$name::read_from_bytes(body.as_bytes()).as_ref(), Ok(body));
                }
                None => assert!(packet.payload.len() < size_of::<bridge::$name>()),
            }
        )*};
    }
    views!(Header Sack Atomic BatchRecord);
    if let Some(status) = bridge::BridgeStatus::from_wire(packet.head.tag) {
        assert_eq!(u16::from(status), packet.head.tag);
        assert!(!status.name().is_empty() && !status.meaning().is_empty());
    }
}

/// A batch that is taken is sound, and is what `put_record` writes.
fn batch(payload: &[u8]) {
    let Some(writes) = rackloom_wire::parse_batch(payload) else { return };
    let (mut again, mut at) = (Vec::new(), 0);
    for (addr, bytes) in writes {
        assert!(!bytes.is_empty() && u128::from(addr) + bytes.len() as u128 <= 1 << 64);
        rackloom_wire::put_record(&mut again, addr, bytes);
        // Reserved bytes and padding: written as zero, not looked at.
        again[at + 10..at + 16].copy_from_slice(&payload[at + 10..at + 16]);
        let end = at + 16 + bytes.len();
        at = again.len();
        again[end..at].copy_from_slice(&payload[end..at]);
    }
    assert_eq!(again, payload);
}

#[cfg(test)]
mod tests {
    use super::*;
    use rackloom_node::Rng;

    /// Without that, hours of fuzzing would prove little.
    #[test]
    fn every_fault_and_every_kind_comes_up() {
        let mut seen = std::collections::BTreeMap::new();
        for seed in 0..6000 {
            let mut rng = Rng::new(seed);
            let bytes: Vec<u8> = (0..400).map(|_| rng.next_u64() as u8).collect();
            let Ok(frame) = any(&mut Unstructured::new(&bytes)) else { continue };
            check(&frame);
            let what = match naive(&frame) {
                Ok(()) => Kind::from_wire(frame[55]).expect("it is one").name(),
                Err(what) => what,
            };
            *seen.entry(what).or_insert(0) += 1;
        }
        let faults = [
            "foreign",
            "truncated",
            "another IP",
            "next header",
            "destination",
            "hop limit",
            "subnet",
            "spoofed",
            "misdirected",
            "length",
            "version",
            "kind",
            "auth",
        ];
        for what in faults.into_iter().chain(Kind::ALL.map(Kind::name)) {
            assert!(seen.get(what).is_some_and(|n| *n >= 10), "{what}: {seen:?}");
        }
    }
}
