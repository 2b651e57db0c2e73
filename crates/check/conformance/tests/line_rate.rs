//! Images of a megabyte and more, sent at the rate of the wire: the digest follows, and the load comes to its end soon
//! after the last frame.

use rackloom_card::Card;
use rackloom_conformance::images;
use rackloom_conformance::rack::{Kinds, Rack};
use rackloom_node::Duration;
use rackloom_verilated::RtlCard;

fn follows_the_wire<K: Kinds>() {
    for bytes in [400_000, 800_000, 1_200_000, 1_600_000] {
        let mut rack = Rack::claimed::<K>(1);
        let report = rack.load(&[0], &images::probe(1, bytes));
        let [.., verify, _] = report.phases;
        // The digest of the last block takes 52 us at 1.25 GB/s, what the firmware does then some 260 us. The tree
        // above the chunks takes some 60 us more for each megabyte.
        let limit = Duration::from_micros(345 + bytes as u64 / 16_000);
        println!("{bytes} bytes: {verify:?} after the last frame, of {limit:?}");
        assert!(verify < limit);
    }
}

#[test]
fn the_models_digest_follows_the_wire() {
    follows_the_wire::<Card>();
}

#[test]
fn the_gatewares_digest_follows_the_wire() {
    follows_the_wire::<RtlCard>();
}
