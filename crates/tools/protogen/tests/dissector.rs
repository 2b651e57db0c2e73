//! Wireshark names every frame we can build, shows what was put in, and flags what is broken.

#[path = "dissector/bridge.rs"]
mod bridge;

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::path::Path;
use std::time::Duration;

use pcap_file::pcap::{PcapPacket, PcapWriter};
use protogen::tshark::{self, Seen};
use rackloom_wire::*;

/// A field's filter name and what Wireshark has to show.
type Shows = (&'static str, String);

const CARD: MacAddr = MacAddr([2, 0x52, 0x4c, 0, 0, 7]);
const HOST: MacAddr = MacAddr([2, 0x52, 0x4c, 0, 1, 9]);
/// Every frame's `addr`: where a frame of counters begins.
const FIRST: u8 = 0x1d;
const DIGEST: [u8; 32] = *b"thirty-two bytes stand for hash.";

/// A payload for this kind, with another value in each field, and what has to be seen of it.
fn sample(kind: Kind) -> (Vec<u8>, Vec<Shows>) {
    let hash = || hex(&DIGEST);
    match kind {
        Kind::DiscoveryAnnounce => {
            let body = Announce {
                mac0: CARD,
                mac1: HOST,
                vendor: U16::new(0x1172),
                product: U16::new(0x2494),
                unit: U16::new(17),
                card_kind: CardKind::Rtl.into(),
                state: CardState::Loading.into(),
                reason: AnnounceReason::Periodic.into(),
                ports: 2,
                bulk: U16::new(BULK_JUMBO),
                boot: U32::new(0xb007_0001),
                clock_khz: U32::new(250_000),
                memory: U64::new(1 << 32),
                port_rate: U64::new(10_000_000_000),
                stage_rate: U64::new(1_250_000_000),
                config_rate: U64::new(400_000_000),
                owner: HOST,
                asks: 3,
                kernels: 3,
                digest: DIGEST,
            };
            let shows = vec![
                ("rackloom.announce.mac0", CARD.to_string()),
                ("rackloom.announce.mac1", HOST.to_string()),
                ("rackloom.announce.product", "9364".into()),
                ("rackloom.announce.card_kind", "2".into()),
                ("rackloom.announce.state", "3".into()),
                ("rackloom.announce.reason", "3".into()),
                ("rackloom.announce.boot", "0xb0070001".into()),
                ("rackloom.announce.memory", "4294967296".into()),
                ("rackloom.announce.config_rate", "400000000".into()),
                ("rackloom.announce.digest", hash()),
            ];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::DiscoverySolicit => {
            let body = Solicit { window_us: U32::new(1500), reserved: U32::ZERO };
            (body.as_bytes().to_vec(), vec![("rackloom.solicit.window_us", "1500".into())])
        }
        Kind::SessionClaim => {
            let (nonce, lease_ms, group) = (U64::new(0xfeed_f00d_0000_0001), U32::new(3000), U16::new(0x1234));
            let body = Claim { nonce, lease_ms, group, scrub: Scrub::Zero.into(), beats: 0 };
            let shows = vec![
                ("rackloom.claim.nonce", "0xfeedf00d00000001".into()),
                ("rackloom.claim.lease_ms", "3000".into()),
                ("rackloom.claim.group", "4660".into()),
                ("rackloom.claim.scrub", "1".into()),
            ];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::SessionGrant => {
            let body = Grant { nonce: U64::new(1), lease_ms: U32::new(2000), boot: U32::new(5) };
            (body.as_bytes().to_vec(), vec![("rackloom.grant.lease_ms", "2000".into())])
        }
        Kind::SessionRelease => {
            let body = Release { scrub: Scrub::Keep.into(), reserved: [0; 7] };
            (body.as_bytes().to_vec(), vec![("rackloom.release.scrub", "0".into())])
        }
        Kind::SessionRefuse | Kind::InputConfirmNak | Kind::ResultRefused => {
            let body = Refusal { code: U16::new(ErrorCode::Claimed.into()), holder: HOST, detail: U64::new(1789) };
            let shows = vec![
                ("rackloom.refusal.code", "1".into()),
                ("rackloom.refusal.holder", HOST.to_string()),
                ("rackloom.refusal.detail", "1789".into()),
            ];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::SessionPong => {
            let (boot, uptime_ns) = (U32::new(0xb007), U64::new(123_456_789_012));
            let body = Pong { boot, state: CardState::Running.into(), queued: 3, reserved: U16::ZERO, uptime_ns };
            let shows = vec![
                ("rackloom.pong.state", "2".into()),
                ("rackloom.pong.queued", "3".into()),
                ("rackloom.pong.uptime_ns", "123456789012".into()),
            ];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::SessionCounters => {
            let values = [11u64, 1 << 40, u64::MAX];
            let bytes = values.iter().flat_map(|v| v.to_be_bytes()).collect();
            (bytes, values.iter().map(|v| ("rackloom.counter", v.to_string())).collect())
        }
        Kind::SessionManifest => {
            (b"{\"name\":\"ptrans\"}".to_vec(), vec![("rackloom.text", "{\"name\":\"ptrans\"}".into())])
        }
        Kind::SessionWindowSet => {
            let (base, length) = (U64::new(0x4000_0000), U64::new(1 << 20));
            let body = Window { base, length, peer: HOST, rights: 0b101, reserved: 0 };
            let shows = vec![
                ("rackloom.window.base", "1073741824".into()),
                ("rackloom.window.length", "1048576".into()),
                ("rackloom.window.peer", HOST.to_string()),
                ("rackloom.window.rights", "5".into()),
            ];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::SessionRouteSet => {
            let body = Route { peer: HOST, stream: U16::new(9) };
            let shows = vec![("rackloom.route.peer", HOST.to_string()), ("rackloom.route.stream", "9".into())];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::ImageBegin => {
            let body = ImageBegin {
                length: U64::new(97_400_000),
                chunk: U16::new(BULK_STANDARD),
                group: U16::new(77),
                members: U32::new(20),
                digest: DIGEST,
            };
            let shows = vec![
                ("rackloom.image_begin.length", "97400000".into()),
                ("rackloom.image_begin.members", "20".into()),
                ("rackloom.image_begin.digest", hash()),
            ];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::ImagePoll => {
            let body = Poll { window_us: U32::new(900), reserved: U32::ZERO };
            (body.as_bytes().to_vec(), vec![("rackloom.poll.window_us", "900".into())])
        }
        Kind::ImageConfirmMissing => {
            let bytes = missing_report(12, &[(3, 4), (90, 8)], 1);
            let shows = vec![
                ("rackloom.missing.missing", "12".into()),
                ("rackloom.missing.more", "1".into()),
                ("rackloom.chunk_range.first", "3".into()),
                ("rackloom.chunk_range.chunks", "4".into()),
                ("rackloom.chunk_range.first", "90".into()),
                ("rackloom.chunk_range.chunks", "8".into()),
            ];
            (bytes, shows)
        }
        Kind::ImageConfirmActive => {
            let body = Active { digest: DIGEST, configure_ns: U64::new(243_500_000) };
            let shows = vec![("rackloom.active.digest", hash()), ("rackloom.active.configure_ns", "243500000".into())];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::ImageConfirmWritten => {
            let (write_ns, restart) = (U64::new(6_000_000_000), Restart::Refresh.into());
            let body = Written { digest: DIGEST, write_ns, restart, reserved: [0; 7] };
            let shows = vec![
                ("rackloom.written.digest", hash()),
                ("rackloom.written.write_ns", "6000000000".into()),
                ("rackloom.written.restart", "2".into()),
            ];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::ImageConfirmFailed => {
            let head = Failure { code: U16::new(ErrorCode::ImageDigest.into()), reserved: [0; 6] };
            let shows =
                vec![("rackloom.failure.code", "17".into()), ("rackloom.failure.text", "digest differs".into())];
            ([head.as_bytes(), b"digest differs"].concat(), shows)
        }
        Kind::InputRead => {
            let body = Read { length: U32::new(1024), reserved: U32::ZERO };
            (body.as_bytes().to_vec(), vec![("rackloom.read.length", "1024".into())])
        }
        Kind::InputConfirmWriteAck => {
            let mut bitmap = [0; 32];
            (bitmap[0], bitmap[31]) = (0x01, 0x80);
            let body = Ack { bitmap };
            (body.as_bytes().to_vec(), vec![("rackloom.ack.bitmap", hex(&bitmap))])
        }
        Kind::ExecLaunch => {
            let head = Launch {
                fuel: U64::new(1 << 50),
                out_addr: U64::new(0x4000_0000),
                out_length: U64::new(65536),
                go: U32::new(9),
                credit: U16::new(64),
                args: U16::new(2),
            };
            let args = [0x10_0000u64, 4096];
            let shows = vec![
                ("rackloom.launch.fuel", (1u64 << 50).to_string()),
                ("rackloom.launch.out_addr", "0x0000000040000000".into()),
                ("rackloom.launch.credit", "64".into()),
                ("rackloom.launch.args", "2".into()),
                ("rackloom.launch.arg", args[0].to_string()),
                ("rackloom.launch.arg", args[1].to_string()),
            ];
            ([head.as_bytes(), &args.map(u64::to_be_bytes).concat()].concat(), shows)
        }
        Kind::ExecResultAck => {
            let body =
                ResultAck { next: U32::new(40), limit: U32::new(104), done: 1, reserved: [0; 7], bitmap: DIGEST };
            let shows = vec![
                ("rackloom.result_ack.next", "40".into()),
                ("rackloom.result_ack.limit", "104".into()),
                ("rackloom.result_ack.done", "1".into()),
                ("rackloom.result_ack.bitmap", hash()),
            ];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::ResultDone => {
            let body = Done {
                status: U16::new(ErrorCode::KernelTrap.into()),
                chunk: U16::new(1472),
                chunks: U32::new(45),
                value: U64::new(u64::MAX),
                cycles: U64::new(1_000_001),
                started_ns: U64::new(5_000_000_000),
                finished_ns: U64::new(6_000_000_000),
            };
            let shows = vec![
                ("rackloom.done.status", "32".into()),
                ("rackloom.done.chunks", "45".into()),
                ("rackloom.done.value", u64::MAX.to_string()),
                ("rackloom.done.finished_ns", "6000000000".into()),
            ];
            (body.as_bytes().to_vec(), shows)
        }
        Kind::ImageData | Kind::InputWrite | Kind::InputConfirmReadData | Kind::ResultData => {
            let bytes: Vec<u8> = (0..64).map(|i| i as u8 ^ 0x5a).collect();
            let shows = vec![("rackloom.data", hex(&bytes))];
            (bytes, shows)
        }
        Kind::DiscoveryGoodbye
        | Kind::SessionReleased
        | Kind::SessionPing
        | Kind::SessionCountersGet
        | Kind::SessionManifestGet
        | Kind::SessionWindowDone
        | Kind::SessionRouteDone
        | Kind::ImageCommit
        | Kind::ImageAbort
        | Kind::ImageConfirmReady
        | Kind::ImageConfirmStaged
        | Kind::ImageConfirmCommitted
        | Kind::ExecGo
        | Kind::ExecCancel
        | Kind::ExecQuery
        | Kind::ResultAccepted => (Vec::new(), Vec::new()),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":")
}

fn head(kind: Kind) -> Head {
    let (src, dst) = if kind.is_from_card() { (CARD, HOST) } else { (HOST, CARD) };
    Head { dst, src, kind, flags: FLAG_RESEND | FLAG_ACK_NOW, epoch: 0xabc, seq: 0xfedc_ba98, addr: FIRST.into() }
}

/// Writes frames (bytes, length on the wire) to a capture and reads it back through Wireshark.
fn capture(folder: &Path, frames: &[(Vec<u8>, usize)]) -> (Vec<Seen>, Vec<String>) {
    let file = folder.join("frames.pcap");
    let mut writer = PcapWriter::new(File::create(&file).unwrap()).unwrap();
    for (i, (frame, length)) in frames.iter().enumerate() {
        let at = Duration::from_millis(i as u64);
        writer.write_packet(&PcapPacket::new(at, u32::try_from(*length).unwrap(), frame)).unwrap();
    }
    drop(writer);
    (tshark::read(&file).unwrap(), tshark::lines(&file).unwrap())
}

fn whole(frames: impl IntoIterator<Item = Vec<u8>>) -> Vec<(Vec<u8>, usize)> {
    frames.into_iter().map(|f| (f.clone(), f.len())).collect()
}

/// The filter names that a kind's payload must show, from the description.
fn described(kind: Kind) -> BTreeSet<String> {
    let text = fs::read_to_string(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../protocol/control.toml")).unwrap();
    let toml: toml::Table = text.parse().unwrap();
    let list = |key: &str| toml[key].as_array().unwrap().clone();
    let ethertype = list("ethertype")
        .into_iter()
        .find(|e| e["value"].as_integer() == Some(i64::from(kind as u32 >> 8)))
        .expect("its EtherType");
    let number = i64::from(kind as u32 & 0xff);
    let kinds = ethertype["kinds"].as_array().unwrap();
    let payload = kinds.iter().find(|k| k["value"].as_integer() == Some(number)).unwrap()["payload"].as_str().unwrap();
    let Some(s) = list("struct").into_iter().find(|s| s["name"].as_str() == Some(payload)) else {
        return BTreeSet::new();
    };
    let snake: String = payload
        .chars()
        .enumerate()
        .flat_map(|(i, c)| (c.is_uppercase() && i > 0).then_some('_').into_iter().chain(c.to_lowercase()))
        .collect();
    let fields = s["fields"].as_array().unwrap();
    fields.iter().map(|f| format!("rackloom.{snake}.{}", f["name"].as_str().unwrap())).collect()
}

#[test]
fn every_kind_is_named_and_shows_what_was_put_in() {
    let folder = tempfile::tempdir().unwrap();
    let frames: Vec<_> = Kind::ALL.iter().map(|k| head(*k).frame(&[&sample(*k).0]).to_vec()).collect();
    let (seen, lines) = capture(folder.path(), &whole(frames.clone()));
    assert_eq!((seen.len(), lines.len()), (Kind::ALL.len(), Kind::ALL.len()));
    for (((kind, frame), seen), line) in Kind::ALL.into_iter().zip(&frames).zip(&seen).zip(&lines) {
        assert_eq!(seen.name(), Some(kind.name()), "{seen:?}");
        assert_eq!(seen.protocols, "eth:ethertype:rackloom", "{kind:?}");
        assert_eq!(seen.faults(), [""; 0], "{kind:?}: {seen:?}");
        let (payload, shows) = sample(kind);
        let common = [
            ("rackloom.version", VERSION.to_string()),
            ("rackloom.kind", (kind as u32 & 0xff).to_string()),
            ("rackloom.length", payload.len().to_string()),
            ("rackloom.epoch", "2748".into()),
            ("rackloom.seq", "4275878552".into()),
            ("rackloom.addr", "0x000000000000001d".into()),
            ("rackloom.flags.resend", "1".into()),
            ("rackloom.flags.ack_now", "1".into()),
            ("rackloom.flags.auth", "0".into()),
            ("rackloom.from", if kind.is_from_card() { "card".into() } else { "host".into() }),
        ];
        for (field, value) in common.iter().chain(&shows) {
            let there = seen.fields.get(*field).is_some_and(|v| v.contains(value));
            assert!(there, "{kind:?}: {field} is {:?} and not {value}", seen.fields.get(*field));
        }
        for field in described(kind) {
            assert!(seen.fields.contains_key(&field), "{kind:?}: {field} is not shown");
        }
        // Beyond source and destination, the line is the one that our own tools print.
        let ours = Packet::parse(frame).unwrap().to_string();
        let ours = ours.split_once(kind.name()).unwrap().1;
        assert!(line.contains(&format!("Rackloom {} {}{ours}", frame.len(), kind.name())), "{line} lacks {ours}");
    }
}

#[test]
fn counters_and_error_codes_have_names() {
    let folder = tempfile::tempdir().unwrap();
    let kinds = [Kind::SessionCounters, Kind::SessionRefuse];
    let file = folder.path().join("frames.pcap");
    let (_, lines) = capture(folder.path(), &whole(kinds.map(|k| head(k).frame(&[&sample(k).0]).to_vec())));
    assert!(lines[1].contains("length 16 flags 0x3 claimed"), "{}", lines[1]);
    let seen = tshark::read(&file).unwrap();
    assert_eq!(seen[0].fields["rackloom.counter"].len(), 3);
    let tree = tshark::tree(&file).unwrap();
    for (name, value) in Counter::NAMES[usize::from(FIRST)..].iter().zip([11, 1 << 40, u64::MAX]) {
        assert!(tree.contains(&format!("counter: {value} {name}")), "{name} is not in {tree}");
    }
    assert!(tree.contains("code: claimed (1)"), "{tree}");
}

#[test]
fn broken_frames_are_flagged_and_still_read_as_far_as_they_go() {
    let good = head(Kind::SessionPong).frame(&[&sample(Kind::SessionPong).0]).to_vec();
    let with = |at: usize, value: u8| {
        let mut frame = good.clone();
        frame[at] = value;
        frame
    };
    let launch = |args: u16, words: usize| {
        let mut body = sample(Kind::ExecLaunch).0;
        body[30..32].copy_from_slice(&args.to_be_bytes());
        body.resize(32 + 8 * words, 7);
        head(Kind::ExecLaunch).frame(&[&body]).to_vec()
    };
    let mut many = missing_report(1, &[(0, 1)], 0);
    many[4..6].copy_from_slice(&183u16.to_be_bytes());
    many.resize(16 + 8 * 183, 1);
    let cases: Vec<(Vec<u8>, &str)> = vec![
        (good[..20].to_vec(), "rackloom.truncated"),
        (good[..40].to_vec(), "rackloom.truncated"),
        (with(16, 0xff), "rackloom.truncated"),
        (with(14, 0x21), "rackloom.bad_version"),
        (good[..15].iter().map(|b| if *b == 0x13 { 0x23 } else { *b }).collect(), "rackloom.bad_version"),
        (with(15, 99), "rackloom.unknown_kind"),
        (with(17, 15), "rackloom.bad_payload"),
        (launch(3, 2), "rackloom.bad_payload"),
        (launch(33, 33), "rackloom.bad_payload"),
        (launch(1, 2), "rackloom.has_extra"),
        (head(Kind::ImageConfirmMissing).frame(&[&many]).to_vec(), "rackloom.bad_payload"),
        (head(Kind::SessionCounters).frame(&[&[0; 12]]).to_vec(), "rackloom.bad_payload"),
        (head(Kind::SessionPing).frame(&[&[1; 8]]).to_vec(), "rackloom.has_extra"),
    ];
    let folder = tempfile::tempdir().unwrap();
    let (seen, lines) = capture(folder.path(), &whole(cases.iter().map(|c| c.0.clone())));
    for (((frame, flag), seen), line) in cases.iter().zip(&seen).zip(&lines) {
        assert!(seen.fields.contains_key(*flag), "{flag} is not on {frame:02x?}: {seen:?}");
        assert_eq!(seen.faults().len(), 1, "{flag}: {seen:?}");
        assert_eq!(seen.protocols, "eth:ethertype:rackloom");
        assert!(line.contains('['), "{line}");
        // What the dissector cannot read is what `Packet::parse` refuses.
        let refused = Packet::parse(frame).is_err();
        let unreadable = matches!(*flag, "rackloom.truncated" | "rackloom.bad_version" | "rackloom.unknown_kind");
        assert_eq!(refused, unreadable, "{flag} on {frame:02x?}");
    }
}

#[test]
fn a_frame_that_the_capture_cut_short_is_not_called_malformed() {
    let kind = Kind::ExecLaunch;
    let frame = head(kind).frame(&[&sample(kind).0]).to_vec();
    let folder = tempfile::tempdir().unwrap();
    let cut = [24, 33, 44, 65].map(|held| (frame[..held].to_vec(), frame.len()));
    let (seen, _) = capture(folder.path(), &cut);
    for seen in &seen {
        assert!(seen.fields.contains_key("rackloom.cut"), "{seen:?}");
        assert_eq!(seen.faults().len(), 1, "{seen:?}");
    }
    assert_eq!(seen[2].name(), Some("exec.launch"));
    assert_eq!(seen[2].get("rackloom.launch.fuel"), Some((1u64 << 50).to_string().as_str()));
    assert_eq!(seen[2].get("rackloom.launch.out_addr"), None);
}
