//! Frames: arbitrary bytes, and valid frames with a few things wrong; and what reading them must never do.

use arbitrary::{Result, Unstructured};
use rackloom_wire::*;

/// Sizes of Ethernet and of both headers, as the reference page states them; not taken from the code under test.
const ETHERNET: usize = 14;
const HEADERS: usize = 32;

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
        break_one(u, &mut frame)?;
    }
    Ok(frame)
}

/// A frame that keeps every rule of the header; its payload has the size of its kind, and any contents.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn valid(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let kind = *u.choose(&Kind::ALL)?;
    let head = Head {
        dst: MacAddr(u.arbitrary()?),
        src: MacAddr(u.arbitrary()?),
        kind,
        flags: u.arbitrary::<u8>()? & (FLAG_RESEND | FLAG_ACK_NOW),
        epoch: u.arbitrary()?,
        seq: u.arbitrary()?,
        addr: u.arbitrary()?,
    };
    let fixed = fixed_size(kind);
    let mut payload = vec![0; fixed];
    u.fill_buffer(&mut payload)?;
    match kind {
        // Counts in range, so that the elements behind them are looked at.
        Kind::ImageConfirmMissing => {
            let ranges = u.int_in_range(0..=MISSING_RANGES as u16)?;
            payload[4..6].copy_from_slice(&ranges.to_be_bytes());
            for _ in 0..ranges {
                payload.extend(u.arbitrary::<u32>()?.to_be_bytes());
                payload.extend(u.int_in_range(0..=64u32)?.to_be_bytes());
            }
        }
        Kind::ExecLaunch => {
            let args = u.int_in_range(0..=LAUNCH_ARGS as u16)?;
            payload[30..32].copy_from_slice(&args.to_be_bytes());
            for _ in 0..args {
                payload.extend(u.arbitrary::<u64>()?.to_be_bytes());
            }
        }
        _ => {
            let more = if u.ratio(1, 3)? { u.int_in_range(0..=u.len().min(usize::from(BULK_JUMBO)))? } else { 0 };
            payload.extend(u.bytes(more)?);
        }
    }
    Ok(head.frame(&[&payload]).to_vec())
}

/// One fault: a byte, a length, a cut, an addition.
pub(crate) fn break_one(u: &mut Unstructured<'_>, frame: &mut Vec<u8>) -> Result<()> {
    match u.int_in_range(0..=5)? {
        0 if !frame.is_empty() => {
            let at = u.choose_index(frame.len())?;
            frame[at] ^= 1 << u.int_in_range(0..=7)?;
        }
        1 if !frame.is_empty() => {
            // Headers are short beside payloads, and that is where most rules are.
            let at = u.choose_index(frame.len().min(64))?;
            frame[at] = *u.choose(&[0, 1, 2, 0x7f, 0x80, 0xff])?;
        }
        2 if frame.len() >= 18 => {
            let length = u.arbitrary::<u16>()?;
            frame[16..18].copy_from_slice(&length.to_be_bytes());
        }
        3 => frame.truncate(u.int_in_range(0..=frame.len())?),
        4 => frame.extend(u.bytes(u.len().min(70))?),
        _ if frame.len() > HEADERS => {
            let at = u.int_in_range(HEADERS..=frame.len() - 1)?;
            let length = u.len().min(8).min(frame.len() - at);
            frame[at..at + length].copy_from_slice(u.bytes(length)?);
        }
        _ => {}
    }
    Ok(())
}

/// Bytes of the struct that this kind carries; 0 for none.
fn fixed_size(kind: Kind) -> usize {
    match kind {
        Kind::DiscoveryAnnounce => size_of::<Announce>(),
        Kind::DiscoverySolicit => size_of::<Solicit>(),
        Kind::SessionClaim => size_of::<Claim>(),
        Kind::SessionGrant => size_of::<Grant>(),
        Kind::SessionRelease => size_of::<Release>(),
        Kind::SessionRefuse | Kind::InputConfirmNak | Kind::ResultRefused => size_of::<Refusal>(),
        Kind::SessionPong => size_of::<Pong>(),
        Kind::SessionWindowSet => size_of::<Window>(),
        Kind::SessionRouteSet => size_of::<Route>(),
        Kind::ImageBegin => size_of::<ImageBegin>(),
        Kind::ImagePoll => size_of::<Poll>(),
        Kind::ImageConfirmMissing => size_of::<Missing>(),
        Kind::ImageConfirmActive => size_of::<Active>(),
        Kind::ImageConfirmWritten => size_of::<Written>(),
        Kind::ImageConfirmFailed => size_of::<Failure>(),
        Kind::InputRead => size_of::<Read>(),
        Kind::InputConfirmWriteAck => size_of::<Ack>(),
        Kind::ExecLaunch => size_of::<Launch>(),
        Kind::ExecResultAck => size_of::<ResultAck>(),
        Kind::ResultDone => size_of::<Done>(),
        _ => 0,
    }
}

/// Target: reading any frame agrees with a reader that is written from the reference page alone, byte by byte; what is
/// read can be written again; no view and no text of it panics.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn read_frame(u: &mut Unstructured<'_>) -> Result<()> {
    let frame = any(u)?;
    let parsed = Packet::parse(&frame);
    assert_eq!(parsed.map(|_| ()).map_err(|e| class(&e)), naive(&frame), "{frame:02x?}");
    let packet = match parsed {
        Ok(packet) => packet,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return Ok(());
        }
    };
    let length = usize::from(u16::from_be_bytes([frame[16], frame[17]]));
    assert_eq!(packet.payload, &frame[HEADERS..HEADERS + length]);
    let line = packet.to_string();
    assert!(line.contains(packet.head.kind.name()) && line.lines().count() == 1, "{line:?}");
    let again = packet.head.frame(&[packet.payload]);
    assert_eq!(Packet::parse(&again), Ok(packet));
    assert_eq!(again[..HEADERS + length], frame[..HEADERS + length], "what is read is what was there");
    views(&packet);
    ranges(packet.payload);
    Ok(())
}

/// What is wrong with a frame, by the words of the reference page.
fn naive(frame: &[u8]) -> std::result::Result<(), &'static str> {
    if frame.len() < ETHERNET {
        return Err("truncated");
    }
    let ethertype = u16::from(frame[12]) << 8 | u16::from(frame[13]);
    // The eight EtherTypes and their highest kinds; all count from 1 without a gap.
    let kinds = match ethertype {
        0x80EF => 3,
        0x80EC => 15,
        0x80AA | 0x80CC => 5,
        0x80AB => 7,
        0x80DD => 2,
        0x80DB => 3,
        0x80CB => 4,
        _ => return Err("foreign"),
    };
    if frame.len() < HEADERS {
        return Err("truncated");
    }
    if frame[14] / 16 != 1 {
        return Err("version");
    }
    if frame[15] == 0 || frame[15] > kinds {
        return Err("kind");
    }
    if frame[14] & 4 != 0 {
        return Err("auth");
    }
    let length = usize::from(frame[16]) * 256 + usize::from(frame[17]);
    if frame.len() - HEADERS < length { Err("truncated") } else { Ok(()) }
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
        ParseError::Ipv6(error) => panic!("{error} of a control frame"),
    }
}

/// Every struct's view of the payload, whether it is the kind's own or not: there when it fits, and the same bytes.
fn views(packet: &Packet<'_>) {
    macro_rules! views {
        ($($name:ident)*) => {$(
            match packet.view::<$name>() {
                Some((body, rest)) => {
                    assert_eq!(body.as_bytes(), &packet.payload[..size_of::<$name>()]);
                    assert_eq!(rest, &packet.payload[size_of::<$name>()..]);
                    assert!(!format!("{body:?}").is_empty());
                }
                None => assert!(packet.payload.len() < size_of::<$name>()),
            }
        )*};
    }
    views!(Header Announce Solicit Claim Grant Release Refusal Pong ImageBegin Poll Missing ChunkRange Active Failure);
    views!(Read Ack Launch Done ResultAck Window);
    if let Some((refusal, _)) = packet.view::<Refusal>()
        && let Some(code) = ErrorCode::from_wire(refusal.code.get())
    {
        assert_eq!(u16::from(code), refusal.code.get());
        assert!(!code.name().is_empty() && !code.meaning().is_empty());
    }
}

/// A missing-range report that is taken is sound, and is what `missing_report` writes.
fn ranges(payload: &[u8]) {
    let Some((head, ranges)) = parse_missing(payload) else { return };
    let ranges: Vec<_> = ranges.collect();
    assert_eq!(ranges.len(), usize::from(head.ranges.get()));
    assert!(ranges.len() <= 182);
    assert!(ranges.iter().all(|(first, chunks)| *chunks > 0 && u64::from(*first) + u64::from(*chunks) < 1 << 32));
    let mut again = missing_report(head.missing.get(), &ranges, head.more.get());
    again[8..16].copy_from_slice(&payload[8..16]); // Reserved: written as zero, not looked at.
    assert_eq!(again, payload[..16 + 8 * ranges.len()]);
}

/// Target: text that is taken for an Ethernet address is one, and prints as it was read.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn read_address(u: &mut Unstructured<'_>) -> Result<()> {
    let mut text = MacAddr(u.arbitrary()?).to_string().into_bytes();
    for _ in 0..u.int_in_range(0..=3)? {
        let at = u.choose_index(text.len())?;
        match u.int_in_range(0..=2)? {
            0 => text[at] = u.arbitrary()?,
            1 => text.insert(at, *u.choose(b"0aF:+-x ")?),
            _ => text.truncate(at.max(1)),
        }
    }
    let text = String::from_utf8_lossy(&text);
    if let Ok(mac) = text.parse::<MacAddr>() {
        assert_eq!(mac.to_string(), text.to_lowercase());
    }
    Ok(())
}
