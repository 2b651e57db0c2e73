//! Loading: staging, reports, digests, commits.

use rackloom_card::Config;
use rackloom_node::Duration;
use rackloom_wire::{
    Active, CardState, Counter, ErrorCode, Head, IMAGE_CHUNKS_MAX, ImageBegin, IntoBytes, Kind, MISSING_FRAMES,
    MISSING_RANGES, MacAddr, U16, U64, WINDOW_US_MAX, missing_report, parse_missing,
};

use crate::bench::{BASE, Bench, CHUNK, GROUP, HOST, Out, RIVAL, Sent, begin_body, config};
use crate::images::kernel::BUMP;
use crate::{Specimen, images};

const PEER: MacAddr = MacAddr([2, 0, 0, 0, 0, 2]);

fn overhear<S: Specimen>(bench: &mut Bench<S>, poll: u32, ranges: &[(u32, u32)]) {
    let head = Head { src: PEER, ..bench.group_head(Kind::ImageConfirmMissing, poll, 0) };
    bench.frame(head.frame(&[&missing_report(1000, ranges, 0)]));
}

fn ranges(sent: &Sent) -> (u32, Vec<(u32, u32)>) {
    let (head, ranges) = parse_missing(&sent.payload).expect("a report");
    (head.missing.get(), ranges.collect())
}

fn chunks(image: &[u8]) -> usize {
    image.len().div_ceil(CHUNK.into())
}

/// From the first frame to the active role.
pub fn an_image_is_staged_committed_and_active<S: Specimen>() {
    let image = images::probe(1, 100_000);
    let digest = *blake3::hash(&image).as_bytes();
    let mut bench = Bench::<S>::claimed();
    bench.begin(1, &image, CHUNK);
    let ready = bench.expect(Kind::ImageConfirmReady);
    assert_eq!((ready.head.dst, ready.head.seq, ready.head.epoch), (HOST, 1, GROUP));
    assert_eq!(bench.state(), CardState::Loading);
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    let staged = bench.expect(Kind::ImageConfirmStaged);
    assert_eq!((staged.head.dst, staged.head.seq, staged.head.epoch), (HOST, 1, GROUP));
    bench.poll(9, 0);
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::ImageConfirmStaged).head.seq, 9);
    assert_eq!(bench.active_digest(), None);
    bench.commit(20);
    bench.pass_ms(1);
    // A card whose port takes no time need not say that it has heard.
    bench.take_all(Kind::ImageConfirmCommitted);
    for seq in [20, 21] {
        let active = bench.expect(Kind::ImageConfirmActive);
        assert_eq!((active.head.seq, active.body::<Active>().digest), (seq, digest));
        bench.commit(21);
        bench.pass_ms(1);
    }
    bench.clear();
    bench.poll(10, 0);
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::ImageConfirmActive).head.seq, 10);
    assert_eq!((bench.active_digest(), bench.state()), (Some(digest), CardState::Active));
    assert_eq!((bench.count(Counter::ImagesActivated), bench.count(Counter::ImagesFailed)), (1, 0));
}

/// Images of any length, in chunks of any size, in any order.
pub fn images_come_in_any_size_and_order<S: Specimen>() {
    let mut bench = Bench::<S>::claimed();
    for (seq, (filler, chunk)) in (1..).zip([(0, 64), (1, 1408), (1023, 960), (3000, 1472), (70_000, 1344)]) {
        let image = images::probe(seq, filler);
        bench.begin(seq, &image, chunk);
        let count = image.len().div_ceil(chunk.into());
        // A step that has no divisor in common with the count reaches all of them.
        let step = (1..).map(|n| count / 3 + n).find(|&n| gcd(n, count) == 1).expect("a prime is");
        for i in 0..count {
            bench.chunk(&image, chunk, i * step % count);
        }
        bench.pass_ms(1);
        bench.commit(100 + seq);
        bench.pass_ms(1);
        assert_eq!(bench.active_digest(), Some(*blake3::hash(&image).as_bytes()), "{} bytes by {chunk}", image.len());
    }
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// What the network lost the card asks for, and what it has twice it takes once.
pub fn what_is_lost_is_reported_and_repaired<S: Specimen>() {
    let image = images::probe(1, 200_000);
    let mut bench = Bench::<S>::claimed();
    bench.begin(1, &image, CHUNK);
    bench.clear();
    bench.send_but(&image, |i| [0, 5, 6, 100].contains(&i));
    bench.poll(7, 1000);
    let asked = bench.now;
    bench.pass_ms(2);
    let report = bench.expect(Kind::ImageConfirmMissing);
    assert_eq!((report.head.dst, report.head.seq, report.head.epoch), (MacAddr::group(GROUP), 7, GROUP));
    assert!((report.at - asked).as_micros() <= 1000);
    assert_eq!(ranges(&report), (4, vec![(0, 1), (5, 2), (100, 1)]));
    bench.expect_nothing();
    // A commit comes too early: nothing happens, and the card says why.
    bench.commit(8);
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::ImageConfirmMissing).head.seq, 8);
    for i in [100, 0, 6, 5, 5, 17] {
        bench.chunk(&image, CHUNK, i);
    }
    bench.pass_ms(1);
    bench.expect(Kind::ImageConfirmStaged);
    assert_eq!((bench.count(Counter::ImageChunks), bench.count(Counter::DropDuplicate)), (chunks(&image) as u64, 2));
    assert_eq!(bench.count(Counter::ImageReports), 2);
}

/// A report is for all who hear it: what it lists need not be listed again.
pub fn what_others_reported_is_left_out<S: Specimen>() {
    let image = images::probe(1, 200_000);
    let mut bench = Bench::<S>::claimed();
    bench.begin(1, &image, CHUNK);
    bench.clear();
    bench.send_but(&image, |i| (10..20).contains(&i) || i == 50);
    // A window so long that the answer is hardly drawn before the others have spoken.
    let window = WINDOW_US_MAX;
    bench.poll(1, window);
    overhear(&mut bench, 1, &[(8, 6), (18, 1)]);
    // Reports of another poll do not count.
    overhear(&mut bench, 2, &[(50, 1)]);
    assert_eq!(bench.count(Counter::DropWindow), 1);
    bench.pass_ms(1001);
    let report = bench.expect(Kind::ImageConfirmMissing);
    assert_eq!(ranges(&report), (11, vec![(14, 4), (19, 1), (50, 1)]));
    assert_eq!(bench.count(Counter::ImageSuppressed), 5);
    // The same poll again: answered again, with what was overheard still left out. All of it was reported: the card
    // still says that it is there and not ready.
    overhear(&mut bench, 1, &[(0, 136)]);
    bench.poll(1, 1000);
    bench.pass_ms(2);
    assert_eq!(ranges(&bench.expect(Kind::ImageConfirmMissing)), (11, vec![]));
}

/// Issue 17, fault 5: a card that left out what others had reported went on doing so, and whoever lied, or lost a
/// report, kept it from the image.
pub fn at_the_second_poll_a_card_reports_whatever_others_say<S: Specimen>() {
    let image = images::probe(1, 200_000);
    let mut bench = Bench::<S>::claimed();
    bench.begin(1, &image, CHUNK);
    bench.clear();
    bench.send_but(&image, |i| (10..20).contains(&i) || i == 50);
    for poll in 1..4 {
        bench.poll(poll, WINDOW_US_MAX);
        overhear(&mut bench, poll, &[(0, chunks(&image) as u32)]);
        bench.pass_ms(1001);
        let told = ranges(&bench.expect(Kind::ImageConfirmMissing));
        assert_eq!(told, (11, if poll == 1 { vec![] } else { vec![(10, 10), (50, 1)] }));
    }
    assert_eq!(bench.count(Counter::ImageSuppressed), 11);
    // The next load begins with a first poll.
    bench.begin(2, &image, CHUNK);
    bench.clear();
    bench.poll(4, WINDOW_US_MAX);
    overhear(&mut bench, 4, &[(0, chunks(&image) as u32)]);
    bench.pass_ms(1001);
    assert_eq!(ranges(&bench.expect(Kind::ImageConfirmMissing)).1, []);
}

/// A report lists so many ranges and no more.
pub fn reports_are_bounded<S: Specimen>() {
    let image = images::probe(1, 64 * 6200);
    let mut bench = Bench::<S>::claimed();
    bench.begin(1, &image, 64);
    bench.clear();
    for i in (0..image.len() / 64).step_by(2) {
        let (from, to) = (i * 64, i * 64 + 64);
        bench.hand(bench.group_head(Kind::ImageData, 0, from as u64).frame(&[&image[from..to]]));
        if i % 64 == 0 {
            bench.drain();
        }
    }
    bench.poll(1, 0);
    bench.pass_ms(1);
    let reports = bench.take_all(Kind::ImageConfirmMissing);
    assert_eq!(reports.len(), MISSING_FRAMES as usize);
    let mut listed = Vec::new();
    for (i, report) in reports.iter().enumerate() {
        let (head, _) = parse_missing(&report.payload).expect("a report");
        assert_eq!(usize::from(head.more.get()), reports.len() - 1 - i);
        assert_eq!(head.missing.get() as usize, image.len() / 64 / 2);
        listed.extend(ranges(report).1);
    }
    let expected: Vec<_> = (0..MISSING_FRAMES * MISSING_RANGES).map(|i| (2 * i + 1, 1)).collect();
    assert_eq!(listed, expected);
}

/// A bad image fails before it is committed, under a name, and the old role serves on.
pub fn bad_images_are_named_and_harm_nothing<S: Specimen>() {
    let good = images::probe(1, 0);
    let with = |at: usize, value: u8| {
        let mut image = good.clone();
        image[at] = value;
        image
    };
    let cases = [
        (with(0, b'X'), ErrorCode::ImageFormat),
        (with(9, 99), ErrorCode::ImageVersion),
        // Gateware does not check the head's own tag, which the digest of the whole covers: it sees a later version.
        (with(11, 99), if S::CHECKS_HEAD { ErrorCode::ImageFormat } else { ErrorCode::ImageVersion }),
        (good[..good.len() - 64].to_vec(), ErrorCode::ImageFormat),
        (vec![0; 10], ErrorCode::ImageFormat),
        (images::for_nobody(), ErrorCode::ImageTarget),
        (images::for_a_later_shell(), ErrorCode::ImageVersion),
    ];
    let mut bench = Bench::<S>::with_role();
    let digest = bench.active_digest();
    for (seq, (image, code)) in (10..).zip(&cases) {
        bench.clear();
        bench.begin(seq, image, CHUNK);
        bench.send_but(image, |_| false);
        bench.pass_ms(1);
        bench.expect(Kind::ImageConfirmReady);
        let failed = bench.expect(Kind::ImageConfirmFailed);
        assert_eq!((failed.code(), failed.head.seq), (*code, seq));
        let text = core::str::from_utf8(&failed.payload[8..]).expect("a text for people");
        assert!(!text.is_empty() && text.len() <= 64);
        // A commit does not make it better; the old role serves on.
        bench.commit(500 + seq);
        bench.pass_ms(1);
        assert_eq!(bench.expect(Kind::ImageConfirmFailed).head.seq, 500 + seq);
        assert_eq!((bench.active_digest(), bench.state()), (digest, CardState::Active));
        bench.launch(seq - 9, BUMP, &[BASE, 1]);
        bench.pass_ms(1);
        bench.ack(seq - 9, 0, 0, &[]);
        assert_eq!(bench.word(BASE), u64::from(seq) - 9);
    }
    assert_eq!(bench.count(Counter::ImagesFailed), cases.len() as u64);
}

/// One bit is enough.
pub fn a_wrong_digest_keeps_the_old_role<S: Specimen>() {
    let image = images::probe(2, 5000);
    let mut bench = Bench::<S>::with_role();
    let before = bench.active_digest();
    let mut body = begin_body(&image, CHUNK);
    body.digest[31] ^= 1;
    bench.send(Kind::ImageBegin, 2, 0, body.as_bytes());
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    assert_eq!(bench.last(Kind::ImageConfirmFailed).code(), ErrorCode::ImageDigest);
    bench.commit(3);
    bench.pass_ms(1);
    assert_eq!(bench.active_digest(), before);
    // And a bit of the image.
    bench.begin(3, &image, CHUNK);
    let mut wrong = image;
    wrong[4000] ^= 0x10;
    bench.send_but(&wrong, |_| false);
    bench.pass_ms(1);
    assert_eq!(bench.last(Kind::ImageConfirmFailed).code(), ErrorCode::ImageDigest);
    assert_eq!((bench.active_digest(), bench.count(Counter::ImagesFailed)), (before, 2));
}

/// A begin that makes no sense changes nothing.
pub fn begin_is_checked_and_harmless_when_refused<S: Specimen>() {
    let mut bench = Bench::<S>::claimed_with(Config { staging_max: 8 << 20, ..config() });
    let image = images::probe(1, 0);
    bench.begin(1, &image, CHUNK);
    bench.clear();
    let good = begin_body(&image, CHUNK);
    let cases = [
        (ImageBegin { length: U64::new(0), ..good }, ErrorCode::BadRequest),
        (ImageBegin { length: U64::new((8 << 20) + 1), ..good }, ErrorCode::ImageTooLarge),
        (ImageBegin { length: U64::new(1 << 32), ..good }, ErrorCode::ImageTooLarge),
        (ImageBegin { length: U64::new(u64::MAX), ..good }, ErrorCode::ImageTooLarge),
        (ImageBegin { chunk: U16::new(0), ..good }, ErrorCode::BadRequest),
        (ImageBegin { chunk: U16::new(100), ..good }, ErrorCode::BadRequest),
        (ImageBegin { chunk: U16::new(1536), ..good }, ErrorCode::BadRequest),
        (ImageBegin { group: U16::new(0), ..good }, ErrorCode::BadRequest),
        // A chunk more than a card has bits for.
        (
            ImageBegin { length: U64::new(64 * u64::from(IMAGE_CHUNKS_MAX) + 1), chunk: U16::new(64), ..good },
            ErrorCode::BadRequest,
        ),
    ];
    for (body, code) in cases {
        bench.send(Kind::ImageBegin, 2, 0, body.as_bytes());
        let failed = bench.expect(Kind::ImageConfirmFailed);
        assert_eq!((failed.code(), failed.head.seq, failed.head.epoch), (code, 2, body.group.get()));
    }
    // The load that was under way is still.
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.expect(Kind::ImageConfirmStaged);
}

/// A begin may be lost and come late like any frame.
pub fn a_repeated_begin_keeps_what_is_staged_and_a_new_one_starts_over<S: Specimen>() {
    let image = images::probe(1, 100_000);
    let mut bench = Bench::<S>::claimed();
    bench.begin(1, &image, CHUNK);
    bench.send_but(&image, |i| i == 3);
    bench.clear();
    bench.begin(1, &image, CHUNK);
    bench.expect(Kind::ImageConfirmReady);
    bench.chunk(&image, CHUNK, 3);
    bench.pass_ms(1);
    bench.expect(Kind::ImageConfirmStaged);
    bench.begin(2, &image, CHUNK);
    bench.expect(Kind::ImageConfirmReady);
    assert_eq!(bench.state(), CardState::Loading);
    bench.poll(1, 0);
    bench.pass_ms(1);
    assert_eq!(ranges(&bench.expect(Kind::ImageConfirmMissing)).1, [(0, chunks(&image) as u32)]);
    // A late copy of the first begin does not drop the second load.
    bench.chunk(&image, CHUNK, 0);
    bench.begin(1, &image, CHUNK);
    bench.expect_nothing();
    assert_eq!(bench.count(Counter::DropDuplicate), 1);
    bench.poll(2, 0);
    bench.pass_ms(1);
    assert_eq!(ranges(&bench.expect(Kind::ImageConfirmMissing)).1[0].0, 1);
}

/// A load that was called off is gone.
pub fn an_abort_forgets_the_load_and_leaves_the_group<S: Specimen>() {
    let image = images::probe(1, 0);
    let mut bench = Bench::<S>::claimed();
    bench.begin(1, &image, CHUNK);
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.clear();
    for _ in 0..2 {
        bench.send_group(Kind::ImageAbort, 0, 0, &[]);
    }
    assert_eq!((bench.state(), bench.count(Counter::DropForeign)), (CardState::Empty, 1));
    bench.commit(1);
    bench.poll(1, 0);
    bench.pass_ms(1);
    bench.expect_nothing();
    bench.begin(1, &image, CHUNK);
    bench.expect_nothing();
    bench.begin(2, &image, CHUNK);
    bench.expect(Kind::ImageConfirmReady);
}

/// A card that is being configured serves memory and answers, and nothing else.
pub fn nothing_is_launched_or_loaded_while_configuration_lasts<S: Specimen>() {
    // Slow enough that it lasts while frames are served.
    let mut bench = Bench::<S>::claimed_with(Config { config_rate: 500_000, ..config() });
    bench.load(1, &images::probe(1, 0));
    bench.launch_with(1, BUMP, &[BASE, 1], Out { go: 1, ..Out::default() });
    bench.launch(2, BUMP, &[BASE, 1]);
    let image = images::probe(2, 0);
    bench.begin(2, &image, CHUNK);
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.clear();
    bench.commit(50);
    // The old role's launches are over, and no new one is taken.
    let done: Vec<_> = bench.take_all(Kind::ResultDone).iter().map(|d| (d.head.seq, d.code())).collect();
    assert_eq!(done, [(1, ErrorCode::Cancelled), (2, ErrorCode::Cancelled)]);
    assert_eq!((bench.state(), bench.active_digest()), (CardState::Configuring, None));
    bench.launch(3, BUMP, &[BASE, 1]);
    assert_eq!(bench.last(Kind::ResultRefused).code(), ErrorCode::Busy);
    // Memory goes on; another load, an abort and another commit change nothing.
    bench.write(1, BASE + 8, &[5]);
    assert_eq!(bench.word(BASE + 8), 5);
    bench.begin(3, &image, CHUNK);
    assert_eq!(bench.last(Kind::ImageConfirmFailed).code(), ErrorCode::Busy);
    bench.send_group(Kind::ImageAbort, 0, 0, &[]);
    bench.commit(51);
    bench.poll(1, 0);
    bench.drain();
    assert!(!bench.take_all(Kind::ImageConfirmCommitted).is_empty());
    assert!(bench.take_all(Kind::ImageConfirmActive).is_empty());
    bench.pass_ms(1000);
    assert_eq!((bench.state(), bench.active_digest()), (CardState::Active, Some(*blake3::hash(&image).as_bytes())));
    assert!(bench.last(Kind::ImageConfirmActive).body::<Active>().configure_ns.get() > 100_000);
    bench.launch(3, BUMP, &[BASE, 1]);
    assert_eq!(bench.take_all(Kind::ResultAccepted).len(), 1);
}

/// Configuration that has begun comes to its end, whatever becomes of who began it.
pub fn a_claim_that_ends_leaves_no_card_half_configured<S: Specimen>() {
    let image = images::probe(1, 0);
    let mut bench = Bench::<S>::claimed_with(Config { config_rate: 400_000, ..config() });
    bench.begin(1, &image, CHUNK);
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.commit(5);
    bench.clear();
    bench.claim(HOST, 2);
    assert_eq!(bench.state(), CardState::Configuring);
    bench.begin(1, &image, CHUNK);
    assert_eq!(bench.last(Kind::ImageConfirmFailed).code(), ErrorCode::Busy);
    bench.pass_ms(1000);
    bench.expect_nothing();
    assert_eq!(bench.active_digest(), Some(*blake3::hash(&image).as_bytes()));
    // A load that was staged only is gone with its claim.
    bench.begin(1, &image, CHUNK);
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.claim(HOST, 3);
    bench.clear();
    bench.commit(6);
    assert_eq!((bench.state(), bench.count(Counter::ImagesActivated)), (CardState::Active, 1));
}

/// What goes to many is taken from the owner alone, and nobody gets an answer if it is not.
pub fn group_frames_are_taken_from_the_owner_alone<S: Specimen>() {
    let image = images::probe(1, 5000);
    let mut bench = Bench::<S>::claimed();
    bench.begin(1, &image, CHUNK);
    bench.clear();
    let wrong = [
        Head { src: RIVAL, ..bench.group_head(Kind::ImageData, 0, 0) },
        Head { epoch: GROUP + 1, ..bench.group_head(Kind::ImageData, 0, 0) },
        Head { epoch: bench.epoch, ..bench.group_head(Kind::ImageCommit, 0, 0) },
        Head { src: RIVAL, ..bench.group_head(Kind::ImagePoll, 0, 0) },
        Head { src: PEER, epoch: 9, ..bench.group_head(Kind::ImageConfirmMissing, 0, 0) },
    ];
    for head in wrong {
        bench.frame(head.frame(&[&image[..1472]]));
    }
    assert_eq!(bench.count(Counter::DropEpoch), 5);
    let elsewhere = Head { dst: MacAddr::group(GROUP + 1), ..bench.group_head(Kind::ImageData, 0, 0) };
    bench.frame(elsewhere.frame(&[&image[..1472]]));
    assert_eq!((bench.count(Counter::DropForeign), bench.count(Counter::ImageChunks)), (1, 0));
    bench.expect_nothing();
    // A begin of another epoch is answered.
    let stale = Head { epoch: bench.epoch.wrapping_add(1), ..bench.head(Kind::ImageBegin, 3, 0) };
    bench.frame(stale.frame(&[begin_body(&image, CHUNK).as_bytes()]));
    assert_eq!(bench.expect(Kind::ImageConfirmFailed).code(), ErrorCode::StaleEpoch);
    // A load may be sent to one card alone.
    let alone = Head { dst: crate::bench::CARD, ..bench.group_head(Kind::ImageData, 0, 0) };
    bench.frame(alone.frame(&[&image[..1472]]));
    assert_eq!(bench.count(Counter::ImageChunks), 1);
}

/// A chunk is where it belongs and as long as it should be.
pub fn chunks_in_the_wrong_place_are_malformed<S: Specimen>() {
    let image = images::probe(1, 10_000);
    let mut bench = Bench::<S>::claimed();
    bench.begin(1, &image, CHUNK);
    let end = (image.len() / 1472 * 1472) as u64;
    let rest = image.len() % 1472;
    assert!(rest > 0);
    let cases = [
        (1, 1472),
        (64, 1472),
        (0, 1471),
        (0, 0),
        (end, rest - 1),
        (end, rest + 1),
        (end, 1472),
        (end + 1472, 1472),
        (1472 * 100, 1472),
        (1472 << 32, 1472),
        (u64::MAX - 1471, 1472),
    ];
    for (at, length) in cases {
        bench.send_group(Kind::ImageData, 0, at, &vec![0; length]);
    }
    assert_eq!((bench.count(Counter::DropMalformed), bench.count(Counter::ImageChunks)), (cases.len() as u64, 0));
    // As are reports of chunks that are none, or out of order.
    bench.poll(1, 4_000_000);
    overhear(&mut bench, 1, &[(0, 9999)]);
    overhear(&mut bench, 1, &[(4, 1), (3, 1)]);
    assert_eq!(bench.count(Counter::DropMalformed), 2 + cases.len() as u64);
}

/// A new role finds the data where the host has put it.
pub fn a_new_role_keeps_the_hosts_memory<S: Specimen>() {
    let mut bench = Bench::<S>::with_role();
    bench.write(1, BASE, b"kept");
    bench.load(2, &images::probe(2, 0));
    assert_eq!(bench.bytes(BASE, 4), b"kept");
}

/// Half a load is forgotten with its claim.
pub fn a_load_ends_with_its_claim<S: Specimen>() {
    let image = images::probe(1, 30_000);
    let mut bench = Bench::<S>::claimed();
    bench.begin(1, &image, CHUNK);
    bench.send_but(&image, |i| i == 0);
    bench.pass(Duration::from_secs(6));
    assert_eq!((bench.owner(), bench.state()), (None, CardState::Empty));
    bench.claim(HOST, 2);
    bench.clear();
    bench.chunk(&image, CHUNK, 0);
    bench.pass_ms(1);
    bench.expect_nothing();
    bench.load(1, &image);
}
