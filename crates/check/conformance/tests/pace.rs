//! Cycles that the whole gateware may take, from its network port to its memory and its role and back.

use rackloom_conformance::pace::{latencies, stream};

#[test]
fn effects_follow_their_frames_within_their_cycles() {
    let all = latencies();
    assert_eq!(all.len(), 2 + 4 + 1, "{all:?}");
    for latency in all {
        println!("{}: {} of {} cycles", latency.what, latency.cycles, latency.limit);
        assert!(latency.cycles <= latency.limit, "{latency:?}");
    }
}

#[test]
fn frames_back_to_back_are_taken_word_by_word() {
    for (payload, frames) in [(8, 2000), (28, 2000), (1472, 200)] {
        let stream = stream(payload, frames);
        println!("{stream:?}");
        // A word in each cycle, none lost, and memory keeps up: however many there were, only the last frame is left
        // when the last word has come.
        assert_eq!((stream.words, stream.writes), (stream.cycles, stream.frames));
        assert!(stream.behind < 64 + payload as u64 / 8, "{stream:?}");
    }
}
