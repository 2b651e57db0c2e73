//! The planted bugs do what they are named for.

use rackloom_card::{Config, PlantedBug};
use rackloom_conformance::bench::{BASE, CHUNK, begin_body};
use rackloom_wire::{Counter, Head, ImageBegin, IntoBytes, Kind};

use crate::cards::{Bench, virtual_time, with_role};
use crate::native::{COUNT, image};

fn with(bug: PlantedBug) -> Bench {
    with_role(Config { planted: Some(bug), ..virtual_time() })
}

#[test]
fn a_duplicate_launch_runs_twice() {
    let mut bench = with(PlantedBug::DuplicateLaunch);
    bench.launch(1, COUNT, &[BASE]);
    bench.launch(1, COUNT, &[BASE]);
    bench.pass_ms(1);
    assert_eq!(bench.word(BASE), 2);
}

#[test]
fn a_write_of_an_old_epoch_is_taken() {
    let mut bench = with(PlantedBug::IgnoreEpoch);
    let head = Head { epoch: bench.epoch.wrapping_sub(1), ..bench.head(Kind::InputWrite, 1, BASE) };
    bench.frame(head.frame(&[&[9]]));
    assert_eq!(bench.word(BASE), 9);
}

#[test]
fn an_image_with_another_digest_becomes_active() {
    let image = image(b"other", 0);
    let mut bench = with(PlantedBug::SkipDigest);
    let body = ImageBegin { digest: [3; 32], ..begin_body(&image, CHUNK) };
    bench.send(Kind::ImageBegin, 2, 0, body.as_bytes());
    bench.send_but(&image, |_| false);
    bench.pass_ms(1);
    bench.commit(1);
    assert_eq!(bench.count(Counter::ImagesActivated), 2);
}

#[test]
fn a_write_after_a_gap_is_lost() {
    let mut bench = with(PlantedBug::LoseWrite);
    for seq in [2, 1, 4, 3] {
        bench.write(seq, BASE + u64::from(seq) * 8, &[1]);
    }
    assert_eq!([1, 2, 3, 4].map(|n| bench.word(BASE + n * 8)), [1, 1, 1, 0]);
}
