//! Images of a megabyte and more, sent at the rate of the wire. Not run by default (see Cargo.toml), for the gateware
//! does not pass it yet: its digest falls behind the wire, and a block that has waited for it while 128 more frames
//! came is never taken if the image ends then. To run it: `cargo test -p rackloom-conformance --test line_rate`.

use rackloom_card::Card;
use rackloom_conformance::images;
use rackloom_conformance::rack::{Kinds, Rack};
use rackloom_node::Duration;
use rackloom_rtl::RtlCard;

fn follows_the_wire<K: Kinds>() {
    for bytes in [400_000, 800_000, 1_200_000, 1_600_000] {
        let mut rack = Rack::claimed::<K>(1);
        let report = rack.load(&[0], &images::probe(1, bytes));
        let [.., verify, _] = report.phases;
        // The digest of the last block takes 52 us at 1.25 GB/s, what the firmware does then some 210 us.
        assert!(verify < Duration::from_micros(320), "{bytes} bytes: {verify:?} after the last frame");
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

/// Whatever the digest's pace, a load comes to its end.
#[test]
fn the_gateware_takes_an_image_of_a_megabyte_and_a_half() {
    Rack::claimed::<RtlCard>(1).load(&[0], &images::probe(1, 1_600_000));
}
