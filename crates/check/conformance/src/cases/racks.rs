//! Racks: one image for all over a network that loses frames, cards that come and go, roles that hang.

use rackloom_host::{DownReason, Event, OpError};
use rackloom_node::Duration;
use rackloom_wire::{ErrorCode, ROLE_PRIVATE};

use crate::bench::CHUNK;
use crate::images;
use crate::images::kernel::{BUMP, FLOOD, HANG, WILD};
use crate::rack::{Kinds, Rack};

/// One image goes out once to all, though the network loses a frame in a hundred; what is lost is repaired, and each
/// card runs it.
pub fn an_image_for_all_arrives_though_one_frame_in_a_hundred_is_lost<K: Kinds>() {
    let mut rack = Rack::claimed::<K>(11);
    let cards = rack.cards();
    rack.lose(0.01);
    let mut repairs = 0;
    for version in 1..=2 {
        let image = images::probe(version, 400_000);
        let report = rack.load(&cards, &image);
        let frames = image.len().div_ceil(CHUNK.into()) as u64;
        assert_eq!(report.data_frames - report.repair_frames, frames, "each chunk goes out once");
        // Sent by unicast it would be as many times the frames as there are cards.
        assert!(report.repair_frames < frames / 4, "{} repairs of {frames}", report.repair_frames);
        repairs += report.repair_frames;
        for &at in &cards {
            let done = rack.launch(at, BUMP, &[CELL, 10]).expect("the role runs");
            assert_eq!(done.value, u64::from(version));
        }
    }
    assert!(repairs > 0, "nothing was lost");
}

/// A card that is plugged in while the others work is found by its announcement, and takes part in the next load.
pub fn a_card_that_comes_later_announces_itself_and_joins<K: Kinds>() {
    let mut kinds = K::KINDS[..2].to_vec();
    kinds.dedup();
    for kind in kinds {
        let mut rack = Rack::claimed::<K>(12);
        rack.load(&rack.cards(), &images::probe(1, 0));
        rack.told();
        let late = rack.plug(kind);
        rack.pass(Duration::from_millis(1));
        let mac = rack.mac(late);
        let up =
            |event: &Event| matches!(event, Event::CardUp(card) if card.mac == mac && card.kind == kind.announced());
        assert!(rack.told().iter().any(up), "no {kind:?} card was found within a millisecond");
        rack.claim(&[late]);
        let cards = rack.cards();
        rack.load(&cards, &images::probe(2, 0));
        for at in cards {
            rack.launch(at, BUMP, &[CELL, 10]).expect("the role runs");
        }
    }
}

/// A card that is pulled out says goodbye, and the others go on.
pub fn a_card_that_is_pulled_out_is_missed_at_once<K: Kinds>() {
    let mut rack = Rack::claimed::<K>(13);
    rack.load(&rack.cards(), &images::probe(1, 0));
    rack.told();
    rack.unplug(0);
    rack.pass(Duration::from_millis(1));
    let gone = Event::CardDown { card: rack.mac(0), reason: DownReason::Goodbye };
    assert!(rack.told().contains(&gone));
    let rest = &rack.cards()[1..];
    rack.load(rest, &images::probe(2, 0));
    rest.iter().for_each(|&at| assert_eq!(rack.launch(at, BUMP, &[CELL, 10]).expect("it runs").value, 1));
}

/// A cable pulled in the middle of a load costs that card its load and no other; plugged in again, the card is found,
/// claimed and loaded as before.
pub fn a_cable_pulled_in_the_middle_of_a_load_costs_one_card<K: Kinds>() {
    let mut rack = Rack::claimed::<K>(14);
    let cards = rack.cards();
    rack.load(&cards, &images::probe(1, 0));
    let image = images::probe(2, 150_000);
    let load = rack.begin_load(&cards, &image);
    // The image takes 130 us on the wire.
    rack.pass(Duration::from_micros(60));
    rack.pull_cable(0);
    let report = rack.end_load(load);
    let lost = rack.mac(0);
    assert!(report.cards[&lost].as_ref().is_err_and(OpError::is_card_loss), "{report:?}");
    assert!(report.cards.iter().all(|(mac, result)| *mac == lost || result.is_ok()), "{report:?}");
    // The others are done long before: the load ends with this card's loss, of which the host speaks next.
    rack.pass(Duration::from_millis(1));
    let silent = Event::CardDown { card: lost, reason: DownReason::Silent };
    assert!(rack.told().contains(&silent));
    rack.discovered(&cards[1..]);
    // The lease runs out meanwhile.
    rack.pass(Duration::from_secs(6));
    rack.plug_cable(0);
    rack.discovered(&cards);
    assert_eq!(rack.digest(0), Some(*blake3::hash(&images::probe(1, 0)).as_bytes()), "its old role serves on");
    rack.claim(&[0]);
    rack.load(&cards, &image);
    cards.iter().for_each(|&at| assert_eq!(rack.launch(at, BUMP, &[CELL, 10]).expect("it runs").value, 1));
}

/// A card whose power failed for a moment is empty, and told apart from the one that it was.
pub fn a_card_that_restarts_is_another_card<K: Kinds>() {
    let mut rack = Rack::claimed::<K>(15);
    let cards = rack.cards();
    rack.load(&cards, &images::probe(1, 0));
    assert_eq!(rack.launch(0, BUMP, &[CELL, 10]).expect("it runs").value, 1);
    rack.told();
    rack.restart(0);
    rack.pass(Duration::from_millis(1));
    let restarted = Event::CardDown { card: rack.mac(0), reason: DownReason::Restarted };
    assert!(rack.told().contains(&restarted));
    rack.discovered(&cards);
    assert_eq!(rack.digest(0), None);
    rack.claim(&[0]);
    rack.load(&cards, &images::probe(2, 0));
    assert_eq!(rack.launch(0, BUMP, &[CELL, 10]).expect("it runs").value, 1, "its memory is empty");
}

/// A role that goes wrong is the fault of a launch: the host gets an error, the card stays, and the next launch and the
/// next image work, on a network that loses frames.
pub fn a_role_that_goes_wrong_costs_one_launch<K: Kinds>() {
    let mut rack = Rack::claimed::<K>(16);
    let cards = rack.cards();
    rack.lose(0.01);
    for (version, (kernel, args)) in (1..).zip([(HANG, &[][..]), (FLOOD, &[]), (WILD, &[1 << 30])]) {
        rack.load(&cards, &images::probe(version, 0));
        rack.told();
        for &at in &cards {
            let fault = rack.launch(at, kernel, args).expect_err("it goes wrong");
            let mac = rack.mac(at);
            let told = matches!(fault, OpError::Kernel { card, code, .. } if card.mac == mac
                && [ErrorCode::KernelTrap, ErrorCode::KernelFuel].contains(&code));
            assert!(told, "{fault:?}");
            let done = rack.launch(at, BUMP, &[CELL, 10]).expect("the next launch runs");
            assert_eq!(done.value, u64::from(version));
        }
        // No card was given up, not even for a moment.
        let gone = |event: &Event| matches!(event, Event::CardDown { .. } | Event::ClaimLost { .. });
        assert!(!rack.told().iter().any(gone));
    }
}

/// Memory that fails takes its card from the host and says why, whatever was under way; the others go on, and so does
/// the card when it is claimed again.
pub fn memory_that_fails_costs_one_card<K: Kinds>() {
    let mut rack = Rack::claimed::<K>(17);
    let bytes: Vec<u8> = (0..20_000).map(|n| (n * 7) as u8).collect();
    for at in rack.cards() {
        rack.write(at, ROLE_PRIVATE, &bytes).expect("all is well");
    }
    for (n, at) in rack.cards().into_iter().enumerate() {
        rack.break_memory(at, ROLE_PRIVATE + 5000);
        let error = if n % 2 == 0 {
            rack.read(at, ROLE_PRIVATE, 20_000).expect_err("it cannot be read")
        } else {
            rack.write(at, ROLE_PRIVATE, &bytes).expect_err("it cannot be written")
        };
        let mac = rack.mac(at);
        assert!(
            matches!(&error, OpError::Vanished { card, reason: DownReason::MemoryFailed, .. } if card.mac == mac),
            "{error}"
        );
        assert!(error.to_string().ends_with("vanished: its memory failed and it restarted"), "{error}");
        for other in rack.cards().into_iter().filter(|&other| other > at) {
            assert!(rack.read(other, ROLE_PRIVATE, 20_000).expect("it has no part in it") == bytes);
        }
    }
    let cards = rack.cards();
    rack.discovered(&cards);
    rack.claim(&cards);
    for at in cards {
        assert!(rack.read(at, ROLE_PRIVATE, 4096).expect("these bytes are sound") == bytes[..4096]);
    }
}

/// Where launches count.
const CELL: u64 = ROLE_PRIVATE + 4096;
