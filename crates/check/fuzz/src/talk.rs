//! What a peer might say next: frames that fit the conversation so far, as a card's host or as a host's card.
//!
//! Nothing here keeps a state of its own: what the node has said lately is all that a peer needs to go on.

use arbitrary::{Result, Unstructured};
use rackloom_node::Frame;
use rackloom_wire::*;

/// The card in every conversation.
pub const CARD: MacAddr = MacAddr([0x02, 0x52, 0x4c, 0, 0, 7]);
/// The host in every conversation.
pub const HOST: MacAddr = MacAddr([0x02, 0x52, 0x4c, 0, 1, 9]);

/// The group of every claim and load here.
const GROUP_ID: u16 = 1;
/// The chunk and the bytes of every image here: three chunks and a bit, all of the same byte, so that its parts are
/// known.
const CHUNK: u16 = 64;
const IMAGE: [u8; 200] = [7; 200];

/// What a host might say to the card.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn to_card(u: &mut Unstructured<'_>, heard: &[Frame]) -> Result<Vec<u8>> {
    let epoch = last(heard, Kind::SessionGrant).map_or(0, |p| p.head.epoch);
    let addr = ROLE_PRIVATE + 64 * u.int_in_range(0..=40u64)?;
    let seq = u.int_in_range(1..=6)?;
    let head = |kind| Head { dst: CARD, src: HOST, kind, flags: 0, epoch, seq, addr };
    let to_group = |kind| Head { dst: MacAddr::group(GROUP_ID), epoch: GROUP_ID, ..head(kind) };
    let window_us = U32::new(100);
    Ok(match u.int_in_range(0..=17)? {
        0 | 1 => {
            let (nonce, lease_ms) = (U64::new(u.int_in_range(1..=2)?), U32::new(u.int_in_range(100..=60_000)?));
            let claim = Claim { nonce, lease_ms, group: U16::new(GROUP_ID), scrub: u.int_in_range(0..=1)?, beats: 0 };
            framed(head(Kind::SessionClaim), &[claim.as_bytes()])
        }
        2 => framed(head(Kind::SessionRelease), &[Release { scrub: 0, reserved: [0; 7] }.as_bytes()]),
        3 => framed(head(Kind::SessionPing), &[]),
        4 => framed(Head { addr: u.int_in_range(0..=40)?, ..head(Kind::SessionCountersGet) }, &[]),
        5 | 6 => {
            let digest = *blake3::hash(&IMAGE).as_bytes();
            let (length, chunk) = (U64::new(IMAGE.len() as u64), U16::new(CHUNK));
            let begin = ImageBegin { length, chunk, group: U16::new(GROUP_ID), members: U32::new(1), digest };
            framed(head(Kind::ImageBegin), &[begin.as_bytes()])
        }
        7 | 8 => {
            let at = usize::from(CHUNK) * u.int_in_range(0..=3usize)?;
            let bytes = &IMAGE[at..(at + usize::from(CHUNK)).min(IMAGE.len())];
            framed(Head { addr: at as u64, ..to_group(Kind::ImageData) }, &[bytes])
        }
        9 => framed(to_group(Kind::ImagePoll), &[Poll { window_us, reserved: U32::ZERO }.as_bytes()]),
        10 => framed(to_group(if u.ratio(3, 4)? { Kind::ImageCommit } else { Kind::ImageAbort }), &[]),
        11 | 12 => framed(head(Kind::InputWrite), &[&[3; 128][..u.int_in_range(1..=128)?]]),
        13 => {
            let length = U32::new(u.int_in_range(1..=1472)?);
            framed(head(Kind::InputRead), &[Read { length, reserved: U32::ZERO }.as_bytes()])
        }
        14 | 15 => {
            let args = u.int_in_range(0..=3u16)?;
            let launch = Launch {
                fuel: U64::ZERO,
                out_addr: U64::new(addr),
                out_length: U64::new(u.int_in_range(0..=200)?),
                go: U32::new(u.int_in_range(0..=1)?),
                credit: U16::new(4),
                args: U16::new(args),
            };
            let words = vec![0; 8 * usize::from(args)];
            framed(Head { addr: u.int_in_range(0..=1)?, ..head(Kind::ExecLaunch) }, &[launch.as_bytes(), &words])
        }
        16 => {
            let kind = *u.choose(&[Kind::ExecGo, Kind::ExecCancel, Kind::ExecQuery])?;
            framed(if kind == Kind::ExecGo { to_group(kind) } else { head(kind) }, &[])
        }
        _ => {
            let solicit = Solicit { window_us, reserved: U32::ZERO };
            framed(Head { dst: CARDS, epoch: 0, ..head(Kind::DiscoverySolicit) }, &[solicit.as_bytes()])
        }
    })
}

/// What a card might say to the host: an announcement, or an answer to something that the host has said lately.
///
/// # Errors
/// When `u` holds too few bytes.
pub fn to_host(u: &mut Unstructured<'_>, heard: &[Frame]) -> Result<Vec<u8>> {
    let asked = if heard.is_empty() || u.ratio(1, 8)? { None } else { Some(&heard[u.choose_index(heard.len())?]) };
    let Some(asked) = asked.and_then(|frame| Packet::parse(frame).ok()) else {
        return announcement(u);
    };
    let head = |kind| Head { dst: HOST, src: CARD, kind, flags: 0, ..asked.head };
    let refusal = Refusal { code: U16::new(u.int_in_range(1..=9)?), holder: HOST, detail: U64::new(1) };
    let refused = |kind| framed(head(kind), &[refusal.as_bytes()]);
    // One answer in eight is no.
    let no = u.ratio(1, 8)?;
    Ok(match asked.head.kind {
        Kind::SessionClaim if no => refused(Kind::SessionRefuse),
        Kind::SessionClaim => {
            let Some((claim, _)) = asked.view::<Claim>() else { return announcement(u) };
            let grant = Grant { nonce: claim.nonce, lease_ms: claim.lease_ms, boot: U32::new(1) };
            framed(Head { epoch: u.int_in_range(1..=2)?, ..head(Kind::SessionGrant) }, &[grant.as_bytes()])
        }
        Kind::SessionRelease => framed(head(Kind::SessionReleased), &[]),
        Kind::SessionPing => {
            let (boot, uptime_ns) = (U32::new(1), U64::new(5));
            let pong = Pong { boot, state: u.int_in_range(0..=4)?, queued: 0, reserved: U16::ZERO, uptime_ns };
            framed(head(Kind::SessionPong), &[pong.as_bytes()])
        }
        Kind::SessionCountersGet => framed(head(Kind::SessionCounters), &[&[0; 8 * Counter::COUNT]]),
        Kind::SessionManifestGet => framed(head(Kind::SessionManifest), &[&[b'{'; 100]]),
        Kind::InputWrite if no => refused(Kind::InputConfirmNak),
        Kind::InputWrite => {
            let next = asked.head.seq.wrapping_add(u.int_in_range(0..=2)?);
            framed(Head { seq: next, ..head(Kind::InputConfirmWriteAck) }, &[Ack { bitmap: [0; 32] }.as_bytes()])
        }
        Kind::InputRead if no => refused(Kind::InputConfirmNak),
        Kind::InputRead => {
            let length = asked.view::<Read>().map_or(0, |(r, _)| r.length.get().min(1472));
            framed(head(Kind::InputConfirmReadData), &[&vec![9; length as usize]])
        }
        Kind::ExecLaunch if no => refused(Kind::ResultRefused),
        Kind::ExecLaunch | Kind::ExecQuery | Kind::ExecResultAck => launch_answer(u, head)?,
        Kind::ImageBegin => {
            // Answers to a begin carry the group, which the payload names.
            let group = asked.view::<ImageBegin>().map_or(0, |(b, _)| b.group.get());
            framed(Head { epoch: group, ..head(Kind::ImageConfirmReady) }, &[])
        }
        Kind::ImagePoll | Kind::ImageCommit | Kind::ImageData => load_answer(u, head)?,
        _ => return announcement(u),
    })
}

fn launch_answer(u: &mut Unstructured<'_>, head: impl Fn(Kind) -> Head) -> Result<Vec<u8>> {
    Ok(match u.int_in_range(0..=2)? {
        0 => framed(head(Kind::ResultAccepted), &[]),
        1 => framed(Head { addr: 64 * u.int_in_range(0..=3u64)?, ..head(Kind::ResultData) }, &[&[5; 64]]),
        _ => {
            let done = Done {
                status: U16::new(*u.choose(&[0, 0, 0, 32, 33])?),
                chunk: U16::new(64),
                chunks: U32::new(u.int_in_range(0..=3)?),
                value: U64::ZERO,
                cycles: U64::new(1000),
                started_ns: U64::new(10),
                finished_ns: U64::new(4010),
            };
            framed(head(Kind::ResultDone), &[done.as_bytes()])
        }
    })
}

fn load_answer(u: &mut Unstructured<'_>, head: impl Fn(Kind) -> Head) -> Result<Vec<u8>> {
    Ok(match u.int_in_range(0..=5)? {
        0 => {
            let first = u.int_in_range(0..=8)?;
            framed(head(Kind::ImageConfirmMissing), &[&missing_report(2, &[(first, 1), (first + 2, 1)], 0)])
        }
        1 => framed(head(Kind::ImageConfirmStaged), &[]),
        2 => framed(head(Kind::ImageConfirmCommitted), &[]),
        3 => {
            let active = Active { digest: *blake3::hash(&IMAGE).as_bytes(), configure_ns: U64::new(9) };
            framed(head(Kind::ImageConfirmActive), &[active.as_bytes()])
        }
        4 => {
            let (digest, write_ns) = (*blake3::hash(&IMAGE).as_bytes(), U64::new(9));
            let written = Written { digest, write_ns, restart: Restart::Itself.into(), reserved: [0; 7] };
            framed(head(Kind::ImageConfirmWritten), &[written.as_bytes()])
        }
        _ => {
            let failure = Failure { code: U16::new(ErrorCode::ImageDigest.into()), reserved: [0; 6] };
            framed(head(Kind::ImageConfirmFailed), &[failure.as_bytes(), b"text"])
        }
    })
}

fn announcement(u: &mut Unstructured<'_>) -> Result<Vec<u8>> {
    let body = Announce {
        mac0: CARD,
        mac1: MacAddr::ZERO,
        vendor: U16::new(1),
        product: U16::new(1),
        unit: U16::new(1),
        card_kind: CardKind::Model.into(),
        state: u.int_in_range(0..=4)?,
        reason: u.int_in_range(1..=4)?,
        ports: 1,
        bulk: U16::new(*u.choose(&[BULK_STANDARD, BULK_STANDARD, BULK_JUMBO, 64])?),
        // Now and then a card has restarted.
        boot: U32::new(if u.ratio(1, 20)? { 2 } else { 1 }),
        clock_khz: U32::new(250_000),
        memory: U64::new(1 << 32),
        port_rate: U64::new(10_000_000_000),
        stage_rate: U64::ZERO,
        config_rate: U64::ZERO,
        owner: *u.choose(&[MacAddr::ZERO, HOST])?,
        asks: u.int_in_range(0..=7)?,
        kernels: 2,
        digest: *blake3::hash(&IMAGE).as_bytes(),
    };
    let epoch = u.int_in_range(0..=2)?;
    let head = |kind| Head { dst: HOSTS, src: CARD, kind, flags: 0, epoch, seq: 1, addr: 0 };
    if u.ratio(1, 30)? {
        return Ok(framed(head(Kind::DiscoveryGoodbye), &[]));
    }
    Ok(framed(head(Kind::DiscoveryAnnounce), &[body.as_bytes()]))
}

fn last(heard: &[Frame], kind: Kind) -> Option<Packet<'_>> {
    heard.iter().rev().filter_map(|f| Packet::parse(f).ok()).find(|p| p.head.kind == kind)
}

fn framed(head: Head, payload: &[&[u8]]) -> Vec<u8> {
    head.frame(payload).to_vec()
}
