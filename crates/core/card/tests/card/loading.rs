//! Loading: staging, reports, digests, commits.

use rackloom_card::{CardEvent, Config, FirmwareTimes, Pace, STAGE_FIFO};
use rackloom_node::{Duration, Node};
use rackloom_wire::{Active, CardState, Counter, ErrorCode, Kind, parse_missing};

use crate::bench::{BASE, Bench, GROUP, HOST, Sent, config};
use crate::native::{self, COUNT, SLOW};

const CHUNK: u16 = 1472;

/// Sends all chunks but those that `lost` picks.
fn send_but(bench: &mut Bench, image: &[u8], lost: impl Fn(usize) -> bool) {
    for i in (0..image.len().div_ceil(CHUNK.into())).filter(|&i| !lost(i)) {
        bench.chunk(image, CHUNK, i);
    }
}

/// A bench where an image with this part is staged.
fn staged(part: &[u8], config: Config) -> (Bench, Vec<u8>) {
    let image = native::image(part, 0);
    let mut bench = Bench::claimed_with(config);
    bench.begin(1, &image, CHUNK);
    send_but(&mut bench, &image, |_| false);
    (bench, image)
}

fn commit(bench: &mut Bench, seq: u32) {
    bench.send_group(Kind::ImageCommit, seq, 0, &[]);
}

fn ranges(sent: &Sent) -> (u32, Vec<(u32, u32)>) {
    let (head, ranges) = parse_missing(&sent.payload).unwrap();
    (head.missing.get(), ranges.collect())
}

#[test]
fn an_image_is_staged_committed_and_active() {
    let image = native::image(b"role", 100_000);
    let digest = *blake3::hash(&image).as_bytes();
    let mut bench = Bench::claimed();
    bench.begin(1, &image, CHUNK);
    let ready = bench.expect(Kind::ImageConfirmReady);
    assert_eq!((ready.head.dst, ready.head.seq, ready.head.epoch), (HOST, 1, GROUP));
    assert_eq!(bench.card.state(), CardState::Loading);
    send_but(&mut bench, &image, |_| false);
    bench.pass_ms(1);
    let staged = bench.expect(Kind::ImageConfirmStaged);
    assert_eq!((staged.head.dst, staged.head.seq, staged.head.epoch), (HOST, 1, GROUP));
    bench.poll(9, 0);
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::ImageConfirmStaged).head.seq, 9);
    assert_eq!((bench.card.active_digest(), bench.card.memory_in_use()), (None, 0));
    commit(&mut bench, 20);
    bench.pass_ms(1);
    for seq in [20, 21] {
        let active = bench.expect(Kind::ImageConfirmActive);
        assert_eq!((active.head.seq, active.body::<Active>().digest), (seq, digest));
        commit(&mut bench, 21);
        bench.pass_ms(1);
    }
    bench.clear();
    bench.poll(10, 0);
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::ImageConfirmActive).head.seq, 10);
    assert_eq!((bench.card.active_digest(), bench.card.state()), (Some(digest), CardState::Active));
    assert_eq!((bench.count(Counter::ImagesActivated), bench.count(Counter::ImagesFailed)), (1, 0));
}

#[test]
fn bad_images_are_named_and_harm_nothing() {
    let good = native::image(b"role", 0);
    let with = |at: usize, value: u8| {
        let mut image = good.clone();
        image[at] = value;
        image
    };
    let mut other = rackloom_image::ImageBuilder::new(
        rackloom_image::Image::parse(good.clone().into()).unwrap().manifest().clone(),
    );
    other = other.part("rtl", vec![1]);
    let cases = [
        (with(0, b'X'), ErrorCode::ImageFormat),
        (with(9, 99), ErrorCode::ImageVersion),
        (with(11, 99), ErrorCode::ImageFormat),
        (good[..good.len() - 64].to_vec(), ErrorCode::ImageFormat),
        (vec![0; 10], ErrorCode::ImageFormat),
        (other.clone().build().unwrap(), ErrorCode::ImageTarget),
        (other.part("model", b"role".to_vec()).shell(9).build().unwrap(), ErrorCode::ImageVersion),
        (native::image(b"bad", 0), ErrorCode::ImagePart),
        (native::image(b"big", 0), ErrorCode::ImageMemory),
    ];
    let mut bench = Bench::with_role();
    let digest = bench.card.active_digest();
    for (seq, (image, code)) in (10..).zip(&cases) {
        bench.clear();
        bench.begin(seq, image, CHUNK);
        send_but(&mut bench, image, |_| false);
        bench.pass_ms(1);
        bench.expect(Kind::ImageConfirmReady);
        let failed = bench.expect(Kind::ImageConfirmFailed);
        assert_eq!((failed.code(), failed.head.seq), (*code, seq));
        let text = String::from_utf8(failed.payload[8..].to_vec()).unwrap();
        assert!(!text.is_empty() && text.len() <= 64);
        assert!(matches!(&bench.events[..], [CardEvent::LoadFailed { .. }]));
        // A commit does not make it better; the old role serves on.
        commit(&mut bench, 500 + seq);
        bench.pass_ms(1);
        assert_eq!(bench.expect(Kind::ImageConfirmFailed).head.seq, 500 + seq);
        assert_eq!((bench.card.active_digest(), bench.card.state()), (digest, CardState::Active));
        bench.launch(seq - 9, COUNT, &[BASE]);
        bench.pass_ms(1);
        assert_eq!(bench.word(BASE), u64::from(seq) - 9);
    }
    assert_eq!(bench.count(Counter::ImagesFailed), cases.len() as u64);
}

#[test]
fn a_repeated_begin_keeps_what_is_staged_and_a_new_one_starts_over() {
    let image = native::image(b"role", 100_000);
    let mut bench = Bench::claimed();
    bench.begin(1, &image, CHUNK);
    send_but(&mut bench, &image, |i| i == 3);
    bench.clear();
    bench.begin(1, &image, CHUNK);
    bench.expect(Kind::ImageConfirmReady);
    assert!(bench.card.memory_in_use() > 100_000);
    bench.chunk(&image, CHUNK, 3);
    bench.pass_ms(1);
    bench.expect(Kind::ImageConfirmStaged);
    bench.begin(2, &image, CHUNK);
    bench.expect(Kind::ImageConfirmReady);
    assert_eq!(bench.card.state(), CardState::Loading);
    bench.poll(1, 0);
    bench.pass_ms(1);
    assert_eq!(ranges(&bench.expect(Kind::ImageConfirmMissing)).1.len(), 1);
    // A late copy of the first begin does not drop the second load.
    bench.chunk(&image, CHUNK, 0);
    bench.begin(1, &image, CHUNK);
    bench.expect_nothing();
    assert_eq!(bench.count(Counter::DropDuplicate), 1);
    bench.poll(2, 0);
    bench.pass_ms(1);
    assert_eq!(ranges(&bench.expect(Kind::ImageConfirmMissing)).1[0].0, 1);
}

#[test]
fn configuration_takes_its_time_and_nothing_serves_meanwhile() {
    let part = vec![7; 40_000];
    let config = Config { config_rate: 400_000_000, ..config(Pace::Virtual) };
    let mut bench = Bench::claimed_with(config);
    bench.load(1, b"first", 0);
    bench.launch(1, SLOW, &[BASE, 1 << 40]);
    bench.launch(2, COUNT, &[BASE]);
    let image = native::image(&part, 0);
    bench.begin(2, &image, CHUNK);
    send_but(&mut bench, &image, |_| false);
    bench.pass_ms(1);
    bench.clear();
    let began = bench.now;
    commit(&mut bench, 50);
    // The old role's launches are over, and no new one is taken.
    for seq in [1, 2] {
        let done = bench.expect(Kind::ResultDone);
        assert_eq!((done.head.seq, done.code()), (seq, ErrorCode::Cancelled));
    }
    assert_eq!((bench.card.state(), bench.card.active_digest()), (CardState::Configuring, None));
    bench.launch(3, COUNT, &[BASE]);
    assert_eq!(bench.expect(Kind::ResultRefused).code(), ErrorCode::Busy);
    // Memory goes on; another load, an abort and another commit change nothing.
    bench.write(1, BASE + 8, &[5]);
    assert_eq!(bench.word(BASE + 8), 5);
    bench.begin(3, &image, CHUNK);
    assert_eq!(bench.expect(Kind::ImageConfirmFailed).code(), ErrorCode::Busy);
    bench.send_group(Kind::ImageAbort, 0, 0, &[]);
    commit(&mut bench, 51);
    bench.poll(1, 0);
    bench.pass(Duration::from_nanos(99_999));
    bench.take_all(Kind::InputConfirmWriteAck);
    // One for the first commit, and one for the commit and the poll that came again.
    assert!(!bench.take_all(Kind::ImageConfirmCommitted).is_empty());
    bench.expect_nothing();
    bench.pass_ms(1);
    let active = bench.expect(Kind::ImageConfirmActive);
    // The port takes 100 us; the answer then has its jitter.
    let took = (active.at - began).as_nanos();
    assert!((100_000..100_100).contains(&took), "{took}");
    assert_eq!((active.head.seq, active.body::<Active>().configure_ns.get()), (50, 100_000));
    bench.launch(3, COUNT, &[BASE]);
    bench.expect(Kind::ResultAccepted);
}

#[test]
fn a_claim_that_ends_leaves_no_card_half_configured() {
    let (mut bench, image) = staged(&[1; 4000], Config { config_rate: 1_000_000, ..config(Pace::Virtual) });
    bench.pass_ms(1);
    commit(&mut bench, 5);
    bench.clear();
    bench.claim(HOST, 2);
    assert_eq!(bench.card.state(), CardState::Configuring);
    bench.begin(1, &image, CHUNK);
    assert_eq!(bench.expect(Kind::ImageConfirmFailed).code(), ErrorCode::Busy);
    bench.pass_ms(4);
    bench.expect_nothing();
    assert_eq!(bench.card.active_digest(), Some(*blake3::hash(&image).as_bytes()));
    // A load that was staged only is gone with its claim.
    bench.begin(1, &image, CHUNK);
    send_but(&mut bench, &image, |_| false);
    bench.pass_ms(1);
    bench.claim(HOST, 3);
    bench.clear();
    commit(&mut bench, 6);
    assert_eq!((bench.card.state(), bench.count(Counter::ImagesActivated)), (CardState::Active, 1));
}

#[test]
fn an_activation_that_fails_leaves_an_empty_card_that_can_be_loaded() {
    let (mut bench, _) = staged(b"late", config(Pace::Virtual));
    bench.pass_ms(1);
    bench.clear();
    commit(&mut bench, 5);
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::ImageConfirmFailed).code(), ErrorCode::Busy);
    assert_eq!(bench.card.state(), CardState::Empty);
    bench.load(2, b"good", 0);
}

#[test]
fn the_digest_follows_the_arrival_in_virtual_time() {
    // 1 MB/s: 64 KiB take 65.536 ms.
    let slow = Config { digest_rate: 1_000_000, ..config(Pace::Virtual) };
    let image = native::image(b"role", 4 * 65_536);
    let mut bench = Bench::claimed_with(slow);
    bench.begin(1, &image, 64);
    bench.clear();
    let began = bench.now;
    // The last block of four and a bit comes first, the first one last: only that is left to do.
    for i in (0..image.len() / 64).rev() {
        if i % 1024 == 1023 {
            bench.pass_ms(100);
        }
        bench.chunk(&image, 64, i);
    }
    let last = bench.now;
    assert!((last - began).as_millis() >= 400);
    bench.expect_nothing();
    bench.pass_ms(1000);
    let tail = bench.expect(Kind::ImageConfirmStaged).at - last;
    assert!(tail >= Duration::from_nanos(65_536_000) && tail < Duration::from_nanos(65_537_000), "{tail:?}");
}

/// The shell's processor takes its time for what is rare; a begin that is repeated meanwhile is one begin.
#[test]
fn firmware_takes_its_time_in_virtual_time() {
    let us = Duration::from_micros;
    let firmware = FirmwareTimes { begin: us(70), check: us(300), activate: us(90) };
    let mut bench = Bench::claimed_with(Config { firmware, config_rate: 1_000_000, ..config(Pace::Virtual) });
    let part = vec![3; 1000];
    let image = native::image(&part, 0);
    let began = bench.now;
    bench.begin(1, &image, CHUNK);
    bench.begin(1, &image, CHUNK);
    bench.expect_nothing();
    bench.pass_ms(1);
    assert_eq!(bench.expect(Kind::ImageConfirmReady).at - began, us(70));
    bench.begin(1, &image, CHUNK);
    let again = bench.expect(Kind::ImageConfirmReady);
    assert_eq!(again.at, bench.now, "there is nothing left to set up");
    let sent = bench.now;
    send_but(&mut bench, &image, |_| false);
    bench.pass_ms(1);
    // An answer comes within 100 ns for each member.
    let checked = bench.expect(Kind::ImageConfirmStaged).at - sent;
    assert!(checked >= us(300) && checked < us(301), "{checked:?}");
    let committed = bench.now;
    commit(&mut bench, 5);
    bench.pass_ms(3);
    bench.expect(Kind::ImageConfirmCommitted);
    let active = bench.expect(Kind::ImageConfirmActive).at - committed;
    assert!(active >= us(1090) && active < us(1091), "{active:?}");
}

#[test]
fn live_work_on_a_digest_is_bounded_and_goes_on_between_frames() {
    let image = native::image(b"role", 1 << 20);
    let mut bench = Bench::claimed_with(config(Pace::Live));
    bench.begin(1, &image, CHUNK);
    // All blocks wait for their first chunks; then these come at once.
    let firsts = |i: usize| (i * 1472) % 65_536 < 1472;
    send_but(&mut bench, &image, firsts);
    bench.clear();
    for i in (0..image.len().div_ceil(1472)).filter(|&i| firsts(i)) {
        bench.chunk(&image, CHUNK, i);
    }
    bench.poll(1, 0);
    bench.pass_ms(1);
    bench.expect(Kind::ImageConfirmStaged);
    // A frame's own work is one block: the rest was done on timeouts.
    let image = native::image(b"role", 3 << 20);
    bench.begin(2, &image, CHUNK);
    bench.clear();
    send_but(&mut bench, &image, |_| false);
    bench.pass_ms(1);
    bench.expect(Kind::ImageConfirmStaged);
}

#[test]
fn what_comes_faster_than_it_can_be_staged_is_dropped() {
    let rate = 100_000_000;
    let mut bench = Bench::claimed_with(Config { stage_rate: rate, ..config(Pace::Virtual) });
    let image = native::image(b"role", 1 << 20);
    bench.begin(1, &image, CHUNK);
    send_but(&mut bench, &image, |_| false);
    let chunks = image.len().div_ceil(CHUNK.into()) as u64;
    let taken = bench.count(Counter::ImageChunks);
    assert_eq!(taken + bench.count(Counter::DropQueue), chunks);
    assert!((STAGE_FIFO..STAGE_FIFO + 2 * 1472).contains(&(taken * 1472)), "{taken}");
    // At its rate, all of it is taken.
    bench.begin(2, &image, CHUNK);
    bench.clear();
    let before = bench.count(Counter::DropQueue);
    for i in 0..chunks as usize {
        bench.chunk(&image, CHUNK, i);
        bench.pass(Duration::from_nanos(14_720));
    }
    assert_eq!(bench.count(Counter::DropQueue), before);
    bench.pass_ms(10);
    bench.expect(Kind::ImageConfirmStaged);
}

#[test]
fn the_staging_area_is_given_back() {
    let image = native::image(b"role", 1 << 20);
    let mut bench = Bench::claimed();
    bench.begin(1, &image, CHUNK);
    send_but(&mut bench, &image, |i| i == 0);
    let held = bench.card.memory_in_use();
    assert!((image.len()..image.len() + image.len() / 16).contains(&held), "{held}");
    // The card keeps slices of the frames, no copies: with the claim gone they are freed.
    bench.pass_ms(6000);
    assert_eq!((bench.card.owner(), bench.card.memory_in_use()), (None, 0));
    assert!(bench.card.next_deadline().is_some());
}
