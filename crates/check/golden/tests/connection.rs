//! Connections as a program in C drives them.
#![allow(unsafe_code)]

use std::ptr::{null, null_mut};

use rackloom_golden::Fault;
use rackloom_golden::abi::*;

const ARGUMENT: i64 = Fault::Argument as i64;
const REFUSED: i64 = Fault::Refused as i64;
const RTO: u64 = 1000;
const CONFIG: Config = Config {
    rto_ns: RTO,
    ack_delay_ns: 100,
    first: u32::MAX,
    window: 8,
    credit: 16,
    ack_every: 4,
    hold: 0,
    queue_max: 8,
    epoch: 1,
    asks_seldom: 0,
};

fn new(config: Config) -> *mut Connection {
    let mut connection = null_mut();
    // SAFETY: both are ours.
    assert_eq!(unsafe { rl_golden_connection_new(0, &config, &mut connection) }, 0);
    connection
}

/// All that an end has to send now.
fn poll(end: *mut Connection, now: u64) -> Vec<Segment> {
    let mut segment = Segment::default();
    // SAFETY: the end is alive, and the segment ours.
    std::iter::from_fn(|| (unsafe { rl_golden_connection_poll(end, now, &mut segment) } == 1).then_some(segment))
        .collect()
}

fn handle(end: *mut Connection, now: u64, segment: &Segment) -> i64 {
    // SAFETY: the end is alive, and the segment ours.
    unsafe { rl_golden_connection_handle(end, now, segment) }
}

/// What has happened, as kind and payload.
fn events(end: *mut Connection) -> Vec<(u8, u64)> {
    let mut event = Event::default();
    // SAFETY: the end is alive, and the event ours.
    let next = || (unsafe { rl_golden_connection_event(end, &mut event) } == 1).then_some((event.kind, event.payload));
    std::iter::from_fn(next).collect()
}

const fn delivered(payload: u64) -> (u8, u64) {
    (EventKind::Delivered as u8, payload)
}

const RESTARTED: (u8, u64) = (EventKind::Restarted as u8, 0);

/// Two ends that know each other, and what the first one sends of the payloads `0..count` at time 0.
fn ends(count: u64) -> ([*mut Connection; 2], Vec<Segment>) {
    let [a, b] = [new(CONFIG), new(Config { epoch: 7, ..CONFIG })];
    // SAFETY: the end is alive.
    (0..count).for_each(|payload| assert_eq!(unsafe { rl_golden_connection_push(a, payload) }, 0));
    let hello = poll(a, 0);
    assert_eq!(hello, [Segment { src: 1, asks: 1, ..Segment::default() }]);
    assert_eq!(handle(b, 0, &hello[0]), 0);
    let answer = poll(b, 0);
    assert_eq!(answer, [Segment { src: 7, dst: 1, ack: u32::MAX, limit: 15, ..Segment::default() }]);
    assert_eq!(handle(a, 0, &answer[0]), 0);
    assert_eq!((events(a), events(b)), (vec![RESTARTED], vec![]));
    ([a, b], poll(a, 0))
}

fn free(ends: [*mut Connection; 2]) {
    // SAFETY: both are alive, and not used any more.
    ends.iter().for_each(|end| assert_eq!(unsafe { rl_golden_connection_free(*end) }, 0));
}

#[test]
fn what_is_lost_is_asked_for_and_sent_again() {
    let ([a, b], sent) = ends(4);
    let data = |seq, payload, asks| Segment {
        payload,
        src: 1,
        dst: 7,
        seq,
        ack: u32::MAX,
        limit: 15,
        asks,
        has_payload: 1,
        is_nack: 0,
    };
    let all = [data(u32::MAX, 0, 0), data(0, 1, 0), data(1, 2, 0), data(2, 3, 1)];
    assert_eq!(sent, all);
    assert_eq!((handle(b, 10, &sent[0]), handle(b, 10, &sent[2])), (0, 0));
    assert_eq!(events(b), [RESTARTED, delivered(0)]);
    let nack = Segment { src: 7, dst: 1, ack: 0, limit: 15, is_nack: 1, ..Segment::default() };
    assert_eq!(poll(b, 10), [nack]);
    assert_eq!(handle(a, 20, &nack), 0);
    assert_eq!(poll(a, 20), all[1..]);
    let mut deadline = 0;
    // SAFETY: the end is alive, and the number ours.
    unsafe {
        assert_eq!(rl_golden_connection_deadline(a, &mut deadline), 1);
        assert_eq!(deadline, 20 + RTO);
        assert_eq!(rl_golden_connection_timeout(a, deadline), 0);
    }
    assert_eq!(poll(a, deadline), all[1..], "the negative acknowledgement might be lost, or what was sent again");
    all[1..].iter().for_each(|segment| assert_eq!(handle(b, deadline, segment), 0));
    assert_eq!(events(b), [delivered(1), delivered(2), delivered(3)]);
    // SAFETY: the end is alive.
    assert_eq!(unsafe { rl_golden_connection_consume(b, deadline, 4) }, 0);
    let ack = Segment { src: 7, dst: 1, ack: 3, limit: 19, ..Segment::default() };
    assert_eq!(poll(b, deadline), [ack]);
    assert_eq!(handle(a, deadline, &ack), 0);
    // SAFETY: the end is alive, and the number ours.
    assert_eq!(unsafe { rl_golden_connection_deadline(a, &mut deadline) }, 0, "all has arrived");
    free([a, b]);
}

#[test]
fn a_new_life_of_the_peer_loses_what_was_in_flight() {
    let ([a, b], sent) = ends(2);
    assert_eq!(sent.len(), 2);
    assert_eq!(handle(a, 5, &Segment { src: 8, dst: 1, ack: u32::MAX, limit: 15, ..Segment::default() }), 0);
    let lost = EventKind::Lost as u8;
    assert_eq!(events(a), [RESTARTED, (lost, 0), (lost, 1)]);
    free([a, b]);
}

#[test]
fn mistakes_are_numbers() {
    let ([a, b], _) = ends(2);
    assert_eq!(handle(a, 5, &Segment { src: 7, dst: 1, ack: 2, limit: 15, ..Segment::default() }), REFUSED);
    assert_eq!(handle(a, 4, &Segment::default()), ARGUMENT, "time goes back");
    assert_eq!(handle(a, 5, &Segment { asks: 2, ..Segment::default() }), ARGUMENT);
    assert_eq!(handle(a, 5, &Segment { is_nack: 1, has_payload: 1, ..Segment::default() }), ARGUMENT);
    assert_eq!(handle(null_mut(), 5, &Segment::default()), ARGUMENT);
    let mut connection = null_mut();
    let wrong = [
        Config { rto_ns: 0, ..CONFIG },
        Config { rto_ns: 1 << 40, ..CONFIG },
        Config { ack_delay_ns: 1 << 40, ..CONFIG },
        Config { window: 0, ..CONFIG },
        Config { window: 257, ..CONFIG },
        Config { credit: 0, ..CONFIG },
        Config { credit: 1 << 31, ..CONFIG },
        Config { ack_every: 0, ..CONFIG },
        Config { hold: 257, ..CONFIG },
        Config { epoch: 0, ..CONFIG },
        Config { asks_seldom: 2, ..CONFIG },
    ];
    // SAFETY: what is not null is ours, and the end alive.
    unsafe {
        for config in wrong {
            assert_eq!(rl_golden_connection_new(0, &config, &mut connection), ARGUMENT, "{config:?}");
        }
        assert_eq!(rl_golden_connection_new(0, null(), &mut connection), ARGUMENT);
        assert_eq!(rl_golden_connection_new(0, &CONFIG, null_mut()), ARGUMENT);
        (0..8).for_each(|n| assert_eq!(rl_golden_connection_push(b, n), 0));
        assert_eq!(rl_golden_connection_push(b, 8), REFUSED, "the queue is full");
        assert_eq!(rl_golden_connection_push(null_mut(), 0), ARGUMENT);
        assert_eq!(rl_golden_connection_handle(a, 5, null()), ARGUMENT);
        assert_eq!(rl_golden_connection_poll(a, 5, null_mut()), ARGUMENT);
        assert_eq!(rl_golden_connection_event(a, null_mut()), ARGUMENT);
        assert_eq!(rl_golden_connection_deadline(a, null_mut()), ARGUMENT);
        assert_eq!(rl_golden_connection_consume(a, 0, 1), ARGUMENT);
        assert_eq!(rl_golden_connection_timeout(null_mut(), 5), ARGUMENT);
        assert_eq!(rl_golden_connection_free(null_mut()), 0);
    }
    free([a, b]);
}
