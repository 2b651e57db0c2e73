//! The functions as a program in C calls them: results, results that do not fit, and mistakes of the caller.
#![allow(unsafe_code)]

use std::ptr::{null, null_mut};

use rackloom_golden::Fault;
use rackloom_golden::abi::*;
use rackloom_golden::auth_abi::*;
use rackloom_golden::judge::{Reason, Route};
use rackloom_golden::nic_abi::*;
use rackloom_wire::{Counter, GROUP, HEADER_END, Kind, ROLE_PRIVATE};

const ARGUMENT: i64 = Fault::Argument as i64;
const REFUSED: i64 = Fault::Refused as i64;
const MINE: u64 = 0x0200_0000_0007;
const OWNER: u64 = 0x0200_0000_0808;
const CARD: Card = Card {
    mac: MINE,
    owner: OWNER,
    memory: 1 << 30,
    epoch: 5,
    claim_group: 0x1111,
    load_group: 0x2222,
    bulk: 1472,
    claimed: 1,
    loading: 1,
};

fn frame(kind: Kind, change: impl FnOnce(&mut Head), payload: &[u8]) -> Vec<u8> {
    let (ether_type, kind) = ((kind as u32 >> 8) as u16, kind as u8);
    let mut head = Head { dst: MINE, src: OWNER, addr: ROLE_PRIVATE, seq: 1, epoch: 5, ether_type, kind, flags: 0 };
    change(&mut head);
    let mut out = vec![0; 9000];
    // SAFETY: all of it is ours, and as long as it says.
    let length = unsafe { rl_golden_frame(&head, payload.as_ptr(), payload.len(), out.as_mut_ptr(), out.len()) };
    out.truncate(usize::try_from(length).expect("a good head"));
    out
}

fn verdict_of(
    card: Card,
    frame: &[u8],
    by: unsafe extern "C" fn(*const Card, *const u8, usize, *mut Verdict) -> i64,
) -> Verdict {
    let mut verdict = Verdict { drop: 0, route: 9, reason: 9, waits: 9, barrier: 9 };
    // SAFETY: all of it is ours, and as long as it says.
    assert_eq!(unsafe { by(&card, frame.as_ptr(), frame.len(), &mut verdict) }, 0);
    verdict
}

fn judge(card: Card, frame: &[u8]) -> Verdict {
    verdict_of(card, frame, rl_golden_judge)
}

const fn goes(route: Route, reason: Reason, waits: u8, barrier: u8) -> Verdict {
    Verdict { drop: -1, route: route as u8, reason: reason as u8, waits, barrier }
}

fn dropped(counter: Counter, waits: u8) -> Verdict {
    Verdict { drop: counter as i32, waits, ..goes(Route::Drop, Reason::Kind, 0, 0) }
}

#[test]
fn each_path_has_its_route() {
    let grouped = |id: u64| move |head: &mut Head| (head.dst, head.epoch) = (group(id), id as u16);
    let cases = [
        (frame(Kind::InputWrite, |_| {}, &[0; 64]), goes(Route::Write, Reason::Kind, 1, 0)),
        (frame(Kind::InputRead, |_| {}, &[0; 8]), goes(Route::Read, Reason::Kind, 1, 0)),
        (frame(Kind::ExecLaunch, |_| {}, &[]), goes(Route::Launch, Reason::Kind, 1, 0)),
        (frame(Kind::ImageData, grouped(0x2222), &[0; 64]), goes(Route::Image, Reason::Kind, 1, 0)),
        (frame(Kind::SessionClaim, |_| {}, &[]), goes(Route::Control, Reason::Kind, 0, 1)),
        (frame(Kind::SessionPing, |head| head.src += 1, &[]), goes(Route::Control, Reason::Kind, 0, 0)),
        (frame(Kind::InputWrite, |head| head.epoch = 6, &[0; 64]), goes(Route::Control, Reason::Epoch, 1, 0)),
        (frame(Kind::ExecLaunch, |head| head.src += 1, &[]), goes(Route::Control, Reason::Epoch, 1, 0)),
        (frame(Kind::InputWrite, |_| {}, &[0; 1473]), goes(Route::Control, Reason::Length, 1, 0)),
        (frame(Kind::InputWrite, |head| head.addr -= 1, &[0; 64]), goes(Route::Control, Reason::Address, 1, 0)),
        (
            frame(Kind::InputWrite, |head| head.addr = (1 << 30) - 63, &[0; 64]),
            goes(Route::Control, Reason::Address, 1, 0),
        ),
        (frame(Kind::InputWrite, |head| head.addr = (1 << 30) - 64, &[0; 64]), goes(Route::Write, Reason::Kind, 1, 0)),
    ];
    for (number, (frame, expected)) in cases.iter().enumerate() {
        assert_eq!(judge(CARD, frame), *expected, "{number}");
    }
}

#[test]
fn what_is_dropped_has_its_counter() {
    let good = frame(Kind::InputWrite, |_| {}, &[0; 64]);
    let with = |at: usize, value: u8| {
        let mut frame = good.clone();
        frame[at] = value;
        frame
    };
    let data = frame(Kind::ImageData, |head| head.epoch = 0x2223, &[0; 64]);
    let free = Card { claimed: 0, ..CARD };
    let cases = [
        (CARD, &good[..11], dropped(Counter::DropTruncated, 0)),
        (CARD, &good[..31], dropped(Counter::DropTruncated, 0)),
        (CARD, &good[..95], dropped(Counter::DropTruncated, 1)),
        (CARD, &with(0, 6), dropped(Counter::DropForeign, 1)),
        (CARD, &with(13, 0), dropped(Counter::DropForeign, 0)),
        (CARD, &with(14, 0x20), dropped(Counter::DropVersion, 1)),
        (CARD, &with(15, 99), dropped(Counter::DropKind, 0)),
        (CARD, &with(14, 0x14), dropped(Counter::DropAuth, 1)),
        (CARD, &frame(Kind::SessionGrant, |_| {}, &[]), dropped(Counter::DropKind, 0)),
        (CARD, &data, dropped(Counter::DropEpoch, 1)),
        (free, &frame(Kind::ExecGo, |head| head.dst = group(0x1111), &[]), dropped(Counter::DropForeign, 1)),
    ];
    for (number, (card, frame, expected)) in cases.into_iter().enumerate() {
        assert_eq!(judge(card, frame), expected, "{number}");
    }
}

#[test]
fn a_route_does_not_ask_for_addresses() {
    let elsewhere = frame(Kind::InputWrite, |head| head.dst = 0x0600_0000_0001, &[0; 64]);
    assert_eq!(judge(CARD, &elsewhere), dropped(Counter::DropForeign, 1));
    assert_eq!(verdict_of(CARD, &elsewhere, rl_golden_route), goes(Route::Write, Reason::Kind, 1, 0));
    let of_cards = frame(Kind::ResultDone, |_| {}, &[]);
    assert_eq!(verdict_of(CARD, &of_cards, rl_golden_route), goes(Route::Control, Reason::Kind, 0, 0));
}

#[test]
fn reads_and_launches_are_taken_or_have_a_reason() {
    let mut read = [0, 0, 0, 8, 0, 0, 0, 0];
    let reads: Vec<_> = [8, 0, 1472, 1473u16]
        .iter()
        .map(|length| {
            read[2..4].copy_from_slice(&length.to_be_bytes());
            frame(Kind::InputRead, |_| {}, &read)
        })
        .collect();
    let launch = |args: u8, count: usize, out: u64, length: u64| {
        let mut payload = vec![0; 32 + 8 * count];
        payload[8..16].copy_from_slice(&out.to_be_bytes());
        payload[16..24].copy_from_slice(&length.to_be_bytes());
        payload[31] = args;
        payload
    };
    let launched = |change: fn(&mut Head), payload: &[u8]| {
        let first = |head: &mut Head| (head.addr, head.seq) = (1, 8);
        frame(Kind::ExecLaunch, |head| (first(head), change(head)).1, payload)
    };
    let good = launch(3, 3, ROLE_PRIVATE, 8);
    let cases = [
        (reads[0].clone(), Reason::Accepted),
        (reads[1].clone(), Reason::Length),
        (reads[2].clone(), Reason::Accepted),
        (reads[3].clone(), Reason::Length),
        (frame(Kind::InputRead, |head| head.addr -= 1, &read[..8]), Reason::Length),
        (frame(Kind::InputRead, |head| head.addr -= 1, &[0, 0, 0, 8, 0, 0, 0, 0]), Reason::Address),
        (frame(Kind::InputRead, |_| {}, &read[..7]), Reason::Malformed),
        (launched(|_| {}, &good), Reason::Accepted),
        (launched(|head| head.seq = 7, &good), Reason::Turn),
        (launched(|head| head.seq = 9, &good), Reason::Turn),
        (launched(|head| head.addr = 0, &good), Reason::Kernel),
        (launched(|head| head.addr = 2, &good), Reason::Kernel),
        (launched(|_| {}, &launch(2, 2, 0, 0)), Reason::Kernel),
        (launched(|_| {}, &launch(3, 2, 0, 0)), Reason::Malformed),
        (launched(|_| {}, &launch(3, 3, ROLE_PRIVATE - 1, 8)), Reason::Address),
        (launched(|_| {}, &launch(3, 3, 0, 0)), Reason::Accepted),
    ];
    let (card, takes) = (CARD, [1, 3]);
    for (number, (frame, expected)) in cases.iter().enumerate() {
        // SAFETY: all of it is ours, and as long as it says.
        let got = unsafe { rl_golden_admit(&card, 7, takes.as_ptr(), 2, frame.as_ptr(), frame.len()) };
        assert_eq!(got, *expected as i64, "{number}");
    }
    let write = frame(Kind::InputWrite, |_| {}, &[]);
    // SAFETY: all of it is ours, and as long as it says.
    assert_eq!(unsafe { rl_golden_admit(&card, 7, null(), 0, write.as_ptr(), write.len()) }, REFUSED);
}

#[test]
fn a_frame_is_built_and_parsed() {
    let whole = frame(Kind::InputWrite, |head| head.flags = 2, &[7; 100]);
    assert_eq!(whole.len(), usize::from(HEADER_END) + 100);
    let mut head = Head::default();
    // SAFETY: all of it is ours, and as long as it says.
    unsafe {
        assert_eq!(rl_golden_parse(whole.as_ptr(), whole.len(), &mut head), 100);
        assert_eq!((head.dst, head.src, head.ether_type, head.kind, head.flags), (MINE, OWNER, 0x80dd, 1, 2));
        assert_eq!(rl_golden_parse(whole.as_ptr(), 31, &mut head), REFUSED);
        head.kind = 99;
        assert_eq!(rl_golden_frame(&head, null(), 0, null_mut(), 0), REFUSED);
    }
}

#[test]
fn a_result_without_room_tells_its_length() {
    let (mut out, part) = ([0; 1024], Part { target: of(b"rtl"), body: of(&[1; 100]) });
    // SAFETY: all of it is ours, and as long as it says.
    unsafe {
        assert_eq!(rl_golden_digest(null(), 0, null_mut(), 0), 32);
        assert_eq!(rl_golden_digest(null(), 0, out.as_mut_ptr(), 31), 32);
        assert_eq!(out, [0; 1024]);
        assert_eq!(rl_golden_digest(null(), 0, out.as_mut_ptr(), 32), 32);
        assert_eq!((out[0], out[31], out[32]), (0xaf, 0x62, 0));
        assert_eq!(rl_golden_chunk_values([0; 1025].as_ptr(), 1025, 3, 0, null_mut(), 0), 64);
        assert_eq!(rl_golden_parent_values([0; 96].as_ptr(), 96, 0, null_mut(), 0), 64);
        assert_eq!(rl_golden_image(1, b"{}".as_ptr(), 2, &part, 1, out.as_mut_ptr(), 1024), 64 + 64 + 64 + 128);
        assert_eq!(out[..8], *b"RLIMAGE\0");
        assert_eq!(rl_golden_rtl_part(3, 100, [2].as_ptr(), 1, 96, out.as_mut_ptr(), 1024), 96);
        assert_eq!(out[..5], *b"RLRTL");
    }
}

#[test]
fn a_mistake_of_the_caller_is_a_number() {
    let (mut card, mut out) = (CARD, [0; 64]);
    let mut verdict = Verdict { drop: 0, route: 0, reason: 0, waits: 0, barrier: 0 };
    // SAFETY: what is not null is ours and as long as it says, but where a length is refused before it is used.
    unsafe {
        assert_eq!(rl_golden_digest(null(), 1, out.as_mut_ptr(), 64), ARGUMENT);
        assert_eq!(rl_golden_digest(out.as_ptr(), usize::MAX, null_mut(), 0), ARGUMENT);
        assert_eq!(rl_golden_digest(null(), 0, null_mut(), 32), ARGUMENT);
        assert_eq!(rl_golden_chunk_values(out.as_ptr(), 64, 0, 2, null_mut(), 0), ARGUMENT);
        assert_eq!(rl_golden_chunk_values(null(), 0, 0, 0, null_mut(), 0), ARGUMENT);
        assert_eq!(rl_golden_parent_values(out.as_ptr(), 63, 0, null_mut(), 0), ARGUMENT);
        assert_eq!(rl_golden_sack_insert(null_mut(), 1), ARGUMENT);
        assert_eq!(rl_golden_sack_insert(null_mut::<u8>().wrapping_add(1).cast(), 1), ARGUMENT);
        assert_eq!(rl_golden_judge(null(), null(), 0, &mut verdict), ARGUMENT);
        assert_eq!(rl_golden_judge(&card, null(), 0, null_mut()), ARGUMENT);
        assert_eq!(rl_golden_route(&card, null(), 0, &mut verdict), REFUSED);
        card.claimed = 2;
        assert_eq!(rl_golden_judge(&card, null(), 0, &mut verdict), ARGUMENT);
        card = Card { owner: 1 << 48, ..CARD };
        assert_eq!(rl_golden_judge(&card, null(), 0, &mut verdict), ARGUMENT);
        assert_eq!(rl_golden_parse(null(), 0, null_mut()), ARGUMENT);
        assert_eq!(rl_golden_image(1, b"{}".as_ptr(), 2, null(), 1, null_mut(), 0), ARGUMENT);
        assert_eq!(rl_golden_image(1, b"{}".as_ptr(), 2, null(), 0, null_mut(), 0), REFUSED);
        assert_eq!(rl_golden_rtl_part(3, 100, null(), 1, 96, null_mut(), 0), ARGUMENT);
    }
}

fn of(bytes: &[u8]) -> Bytes {
    Bytes { data: bytes.as_ptr(), len: bytes.len() }
}

fn group(id: u64) -> u64 {
    GROUP.0.iter().fold(0, |bits, &byte| bits << 8 | u64::from(byte)) | id
}

#[test]
fn a_host_behind_a_card_is_served_as_the_model_does_it() {
    let mut nic = null_mut();
    let (wire, host, none) = (0, 1, 2);
    // SAFETY: all of it is ours, and as long as it says.
    unsafe {
        assert_eq!(rl_golden_nic_new(1 << 48, OWNER, &mut nic), ARGUMENT);
        assert_eq!(rl_golden_nic_new(MINE, OWNER, &mut nic), 0);
        let mut frame = [0x5a; 60];
        frame[..6].copy_from_slice(&OWNER.to_be_bytes()[2..]);
        assert_eq!(rl_golden_nic_handle(nic, none, frame.as_ptr(), 60), ARGUMENT);
        assert_eq!(rl_golden_nic_handle(nic, wire, frame.as_ptr(), 60), 1);
        let mut out = [0; 60];
        assert_eq!(rl_golden_nic_poll(nic, 0, host, out.as_mut_ptr(), out.len()), 60);
        assert_eq!((out, rl_golden_nic_poll(nic, 0, host, out.as_mut_ptr(), out.len())), (frame, 0));
        frame[5] ^= 1; // Not for the host: the card's, and from nobody behind it.
        assert_eq!(rl_golden_nic_handle(nic, wire, frame.as_ptr(), 60), 0);
        assert_eq!(rl_golden_nic_handle(nic, host, frame.as_ptr(), 60), 1);
        assert_eq!(rl_golden_nic_poll(nic, 0, wire, out.as_mut_ptr(), out.len()), 0);
        let mut counts = NicCounts::default();
        assert_eq!(rl_golden_nic_counts(nic, &mut counts), 0);
        assert_eq!(counts, NicCounts { to_host_frames: 1, to_host_bytes: 60, forged: 1, ..NicCounts::default() });
        assert_eq!((rl_golden_nic_counts(nic, null_mut()), rl_golden_nic_free(nic)), (ARGUMENT, 0));
        assert_eq!(rl_golden_nic_free(null_mut()), 0);
    }
}

#[test]
fn frames_have_the_tags_of_the_model() {
    let (key, mut out, room) = ([7; 16], [0; 16], 16);
    let frame = frame(Kind::SessionPing, |_| {}, &[]);
    let long = [0; 65536];
    // SAFETY: all of it is ours, and as long as it says.
    unsafe {
        assert_eq!(rl_golden_mac(&key, 0, null(), 0, out.as_mut_ptr(), room), 16);
        assert_eq!(out, rackloom_auth::mac(&key, &[]));
        assert_eq!(rl_golden_mac(&key, 1, null(), 0, out.as_mut_ptr(), room), 16);
        assert_eq!(out, rackloom_auth::prf(&key, &[]));
        assert_eq!(rl_golden_mac(&key, 2, null(), 0, out.as_mut_ptr(), room), ARGUMENT);
        assert_eq!(rl_golden_mac(null(), 0, null(), 0, out.as_mut_ptr(), room), ARGUMENT);

        let bound = |direction| rackloom_auth::Bound { frame: &frame, boot: 3, direction, counter: 9 };
        let session = rackloom_auth::SessionKey::new(&key);
        for (to_host, direction) in [(0, rackloom_auth::Direction::ToCard), (1, rackloom_auth::Direction::ToHost)] {
            let length = rl_golden_tag(&key, 3, to_host, 9, frame.as_ptr(), frame.len(), out.as_mut_ptr(), room);
            assert_eq!((length, Some(rackloom_auth::Tag(out))), (16, session.tag(&bound(direction))));
        }
        assert_eq!(rl_golden_tag(&key, 3, 2, 9, null(), 0, out.as_mut_ptr(), room), ARGUMENT);
        assert_eq!(rl_golden_tag(&key, 3, 0, 9, long.as_ptr(), long.len(), out.as_mut_ptr(), room), REFUSED);
    }
}
