//! The switch: learning, flooding, back-pressure.

use super::*;

fn mac(n: u8) -> [u8; 6] {
    [2, 0, 0, 0, 0, n]
}

const BROADCAST: [u8; 6] = [0xff; 6];
const GROUP: [u8; 6] = [0x03, 0x52, 0x4c, 1, 0, 7];

fn frame(dst: [u8; 6], src: [u8; 6], tag: u8) -> Frame {
    [&dst[..], &src, &[0x80, 0xef], &[tag; 46]].concat().into()
}

fn long(dst: [u8; 6], src: [u8; 6], length: usize) -> Frame {
    let mut bytes = frame(dst, src, 0).to_vec();
    bytes.resize(length, 0);
    bytes.into()
}

fn take(port: &mut Port) -> Vec<Frame> {
    let mut out = Vec::new();
    loop {
        let before = out.len();
        port.recv(Some(Instant::now()), &mut out).unwrap();
        if out.len() == before {
            return out;
        }
    }
}

fn ports<const N: usize>(switch: &Switch) -> [Port; N] {
    std::array::from_fn(|i| switch.attach(&format!("p{i}")).unwrap())
}

fn small(queue_frames: usize) -> Switch {
    Switch::new(SwitchConfig { queue_frames, ..SwitchConfig::default() })
}

#[test]
fn unknown_group_and_broadcast_frames_reach_all_others_and_never_the_sender() {
    let switch = Switch::default();
    let mut p: [Port; 4] = ports(&switch);
    let frames = [frame(mac(9), mac(1), 1), frame(GROUP, mac(1), 2), frame(BROADCAST, mac(1), 3)];
    assert_eq!(p[0].send(&frames).unwrap(), 3);
    assert!(take(&mut p[0]).is_empty());
    for port in &mut p[1..] {
        assert_eq!(take(port), frames);
    }
}

#[test]
fn a_flood_copies_no_byte() {
    let switch = Switch::default();
    let mut p: [Port; 3] = ports(&switch);
    let sent = frame(BROADCAST, mac(1), 1);
    p[0].send(std::slice::from_ref(&sent)).unwrap();
    assert_eq!(take(&mut p[1])[0].as_ptr(), sent.as_ptr());
    assert_eq!(take(&mut p[2])[0].as_ptr(), sent.as_ptr());
}

#[test]
fn a_learnt_address_gets_its_frames_alone_and_follows_a_move() {
    let switch = Switch::default();
    let mut p: [Port; 3] = ports(&switch);
    p[1].send(&[frame(BROADCAST, mac(2), 0)]).unwrap();
    take(&mut p[0]);
    take(&mut p[2]);
    let to_2 = frame(mac(2), mac(1), 1);
    p[0].send(std::slice::from_ref(&to_2)).unwrap();
    assert_eq!((take(&mut p[1]), take(&mut p[2])), (vec![to_2.clone()], vec![]));

    p[2].send(&[frame(BROADCAST, mac(2), 0)]).unwrap(); // Node 2 was replugged.
    take(&mut p[0]);
    take(&mut p[1]);
    p[0].send(std::slice::from_ref(&to_2)).unwrap();
    assert_eq!((take(&mut p[1]), take(&mut p[2])), (vec![], vec![to_2.clone()]));

    // Its cable is pulled: what is for it is unknown again.
    let [mut a, mut b, c] = p;
    drop(c);
    a.send(std::slice::from_ref(&to_2)).unwrap();
    assert_eq!(take(&mut b), [to_2]);
}

#[test]
fn a_frame_for_a_node_on_the_same_cable_is_filtered() {
    let switch = Switch::default();
    let mut p: [Port; 2] = ports(&switch);
    p[0].send(&[frame(BROADCAST, mac(1), 0), frame(BROADCAST, mac(2), 0)]).unwrap();
    take(&mut p[1]);
    assert_eq!(p[0].send(&[frame(mac(1), mac(2), 1)]).unwrap(), 1);
    assert_eq!((take(&mut p[0]), take(&mut p[1])), (vec![], vec![]));
    assert_eq!(p[0].stats().filtered, 1);
}

#[test]
fn group_and_zero_sources_are_not_learnt() {
    let switch = Switch::default();
    let mut p: [Port; 3] = ports(&switch);
    p[1].send(&[frame(BROADCAST, GROUP, 0), frame(BROADCAST, [0; 6], 0)]).unwrap();
    take(&mut p[0]);
    take(&mut p[2]);
    p[0].send(&[frame(GROUP, mac(1), 1), frame([0; 6], mac(1), 2)]).unwrap();
    assert_eq!(take(&mut p[2]).len(), 2, "both were flooded, not sent to port 1 alone");
}

#[test]
fn frames_of_impossible_length_are_taken_counted_and_dropped() {
    let switch = Switch::default();
    let mut p: [Port; 2] = ports(&switch);
    let frames = [
        Frame::from_static(&[0; 13]),
        Frame::new(),
        long(BROADCAST, mac(1), MTU_JUMBO + ETHERNET_HEADER + 1),
        long(BROADCAST, mac(1), MTU_JUMBO + ETHERNET_HEADER),
    ];
    assert_eq!(p[0].send(&frames).unwrap(), 4);
    assert_eq!(take(&mut p[1]), frames[3..]);
    assert_eq!((p[0].stats().bad_length, p[0].stats().in_frames), (3, 1));
}

#[test]
fn a_full_port_cuts_the_send_short_and_nothing_is_lost() {
    let switch = small(4);
    let mut p: [Port; 2] = ports(&switch);
    let frames: Vec<_> = (0..10).map(|i| frame(mac(9), mac(1), i)).collect();
    assert_eq!(p[0].send(&frames).unwrap(), 4);
    assert_eq!(p[0].send(&frames[4..]).unwrap(), 0);
    let mut got = take(&mut p[1]);
    assert_eq!(p[0].send(&frames[4..]).unwrap(), 4);
    got.extend(take(&mut p[1]));
    assert_eq!(p[0].send(&frames[8..]).unwrap(), 2);
    got.extend(take(&mut p[1]));
    assert_eq!(got, frames);
    assert_eq!(p[1].stats().dropped, 0);
}

#[test]
fn bytes_fill_a_port_too() {
    let config = SwitchConfig { queue_bytes: 20_000, ..SwitchConfig::default() };
    let switch = Switch::new(config);
    let mut p: [Port; 2] = ports(&switch);
    let frames = vec![long(BROADCAST, mac(1), 9000); 5];
    assert_eq!(p[0].send(&frames).unwrap(), 2);
    assert_eq!(take(&mut p[1]).len(), 2);
    assert_eq!(p[0].send(&frames[2..]).unwrap(), 2);
}

#[test]
fn a_flood_is_taken_by_all_ports_or_by_none() {
    let switch = small(2);
    let mut p: [Port; 3] = ports(&switch);
    let frames: Vec<_> = (0..3).map(|i| frame(BROADCAST, mac(1), i)).collect();
    assert_eq!(p[0].send(&frames).unwrap(), 2);
    assert_eq!(take(&mut p[1]).len(), 2, "port 1 has room again, port 2 has not");
    assert_eq!(p[0].send(&frames[2..]).unwrap(), 0);
    assert!(take(&mut p[1]).is_empty());
    take(&mut p[2]);
    assert_eq!(p[0].send(&frames[2..]).unwrap(), 1);
    assert_eq!((take(&mut p[1]), take(&mut p[2])), (frames[2..].to_vec(), frames[2..].to_vec()));
}

#[test]
fn a_stuck_port_holds_up_others_for_the_stall_bound_and_no_longer() {
    let stall = Duration::from_millis(50);
    let switch = Switch::new(SwitchConfig { queue_frames: 8, stall, ..SwitchConfig::default() });
    let mut p: [Port; 3] = ports(&switch);
    let began = Instant::now();
    let (mut sent, mut got, mut scratch) = (0u32, 0, Vec::new());
    let mut first_stall = None;
    while sent < 100 {
        let n = p[0].send(&[frame(BROADCAST, mac(1), 0)]).unwrap() as u32;
        sent += n;
        if n == 0 {
            first_stall.get_or_insert(sent);
            p[0].recv(None, &mut scratch).unwrap(); // Returns although nobody wakes it.
        }
        got += take(&mut p[1]).len(); // Port 2 never takes anything.
    }
    let took = began.elapsed();
    assert_eq!(first_stall, Some(8));
    assert!(took >= stall, "{took:?}");
    assert!(took < stall * 40, "one stall for all 92 frames, not one each: {took:?}");
    assert_eq!(got, 100, "the port that keeps up lost nothing");
    assert_eq!(p[2].stats().dropped, 92);

    // It moves again: it is a port like any other.
    assert_eq!(take(&mut p[2]).len(), 8);
    assert_eq!(p[0].send(&vec![frame(BROADCAST, mac(1), 1); 9]).unwrap(), 8);
    assert_eq!(take(&mut p[2]).len(), 8);
    assert_eq!(p[2].stats().dropped, 92);
}

#[test]
fn a_sender_that_waits_is_woken_when_there_is_room() {
    let config = SwitchConfig { queue_frames: 8, stall: Duration::from_secs(3600), ..SwitchConfig::default() };
    let switch = Switch::new(config);
    let [mut a, mut b]: [Port; 2] = ports(&switch);
    let total = 20_000u32;
    let sender = std::thread::spawn(move || {
        let numbered = |i: u32| {
            let mut bytes = frame(mac(9), mac(1), 0).to_vec();
            bytes[14..18].copy_from_slice(&i.to_be_bytes());
            Frame::from(bytes)
        };
        let mut pending: Vec<_> = (0..total).map(numbered).collect();
        let mut scratch = Vec::new();
        while !pending.is_empty() {
            let n = a.send(&pending).unwrap();
            pending.drain(..n);
            if !pending.is_empty() {
                a.recv(None, &mut scratch).unwrap();
            }
        }
        assert!(scratch.is_empty());
    });
    let mut got = Vec::new();
    while got.len() < total as usize {
        b.recv(None, &mut got).unwrap();
    }
    sender.join().unwrap();
    for (i, frame) in got.iter().enumerate() {
        assert_eq!(frame[14..18], (i as u32).to_be_bytes(), "in order, none lost, none twice");
    }
}

#[test]
fn a_waiting_receiver_returns_for_a_frame_a_wake_and_its_deadline() {
    let switch = Switch::default();
    let [mut a, mut b]: [Port; 2] = ports(&switch);
    let mut out = Vec::new();

    let began = Instant::now();
    b.recv(Some(began + Duration::from_millis(20)), &mut out).unwrap();
    assert!(out.is_empty() && began.elapsed() >= Duration::from_millis(20));

    let waker = b.waker();
    waker.wake_by_ref(); // Before the wait: it is kept.
    b.recv(None, &mut out).unwrap();
    let thread = std::thread::spawn(move || {
        b.recv(None, &mut out).unwrap(); // Woken.
        assert!(out.is_empty());
        b.recv(None, &mut out).unwrap(); // A frame.
        (b, out)
    });
    std::thread::sleep(Duration::from_millis(10));
    waker.wake();
    std::thread::sleep(Duration::from_millis(10));
    a.send(&[frame(BROADCAST, mac(1), 7)]).unwrap();
    assert_eq!(thread.join().unwrap().1, [frame(BROADCAST, mac(1), 7)]);
}

#[test]
fn pulling_the_cable_of_a_full_port_frees_who_waits_for_it() {
    let config = SwitchConfig { queue_frames: 1, stall: Duration::from_secs(3600), ..SwitchConfig::default() };
    let switch = Switch::new(config);
    let [mut a, b]: [Port; 2] = ports(&switch);
    assert_eq!(a.send(&vec![frame(BROADCAST, mac(1), 0); 2]).unwrap(), 1);
    drop(b);
    let began = Instant::now();
    a.recv(Some(began + Duration::from_secs(60)), &mut Vec::new()).unwrap();
    assert!(began.elapsed() < Duration::from_secs(30));
    assert_eq!(a.send(&[frame(BROADCAST, mac(1), 0)]).unwrap(), 1);
}

#[test]
fn ports_are_bounded_named_and_reused() {
    let switch = Switch::new(SwitchConfig { ports: 2, ..SwitchConfig::default() });
    let [_a, b]: [Port; 2] = ports(&switch);
    assert_eq!(switch.attach("c").unwrap_err(), SwitchError::NoPort { ports: 2 });
    drop(b);
    let _c = switch.attach("c").unwrap();
    let names: Vec<_> = switch.stats().ports.into_iter().map(|p| p.0).collect();
    assert_eq!(names, ["p0", "c"]);
}

#[test]
fn a_full_address_table_floods_and_says_so() {
    let switch = Switch::new(SwitchConfig { addresses: 1, ..SwitchConfig::default() });
    let mut p: [Port; 3] = ports(&switch);
    p[0].send(&[frame(BROADCAST, mac(1), 0)]).unwrap();
    p[1].send(&[frame(BROADCAST, mac(2), 0)]).unwrap();
    p.iter_mut().for_each(|p| _ = take(p));
    p[0].send(&[frame(mac(2), mac(1), 1)]).unwrap();
    assert_eq!((take(&mut p[1]).len(), take(&mut p[2]).len()), (1, 1));
    assert_eq!(switch.stats().unlearnt, 1);
}

#[test]
fn who_leaves_frames_unread_is_starved_until_it_reads_or_hangs() {
    let switch = Switch::default();
    let [mut host, mut card, bystander] = ports(&switch);
    card.send(&[frame(mac(1), mac(2), 0)]).unwrap();
    take(&mut host);
    host.send(&[frame(mac(2), mac(1), 1)]).unwrap();
    let sent = Instant::now();
    let starved = |port: &Port, after: u64| {
        let mut fabric = rackloom_sync::lock(&switch.shared.fabric);
        // The host's first frames were flooded to the bystander too.
        let _ = fabric.recv(bystander.id, &mut Vec::new(), &mut Vec::new());
        fabric.is_starved(port.id, sent + Duration::from_millis(after))
    };
    assert!(!starved(&host, 50));
    assert!(starved(&host, 150));
    assert!(!starved(&card, 150), "its own frames wait for itself");
    assert!(!starved(&host, 31_000), "it hangs");
    assert_eq!(take(&mut card).len(), 1);
    assert!(!starved(&host, 150));
}

#[test]
fn a_port_with_a_rate_sends_no_faster_and_loses_nothing() {
    const RATE: u64 = 100_000_000;
    const FRAMES: usize = 400;
    let switch = Switch::default();
    let [mut slow, mut other] = ports(&switch);
    slow.set_rate(NonZeroU64::new(RATE).unwrap());
    let frames = vec![long(mac(2), mac(1), 1226); FRAMES]; // 0.1 ms each.
    let start = Instant::now();
    let (mut sent, mut got) = (0, Vec::new());
    while sent < FRAMES {
        sent += slow.send(&frames[sent..]).unwrap();
        let time = start.elapsed();
        // What it may make up for, and a burst, are 4.1 ms; the last frame may run over.
        let most = (time + Duration::from_micros(4200)).as_micros() / 100;
        assert!(sent as u128 <= most, "{sent} after {time:?}");
        if sent < FRAMES {
            slow.recv(None, &mut Vec::new()).unwrap(); // Until it has room: nothing else wakes it.
        }
        got.extend(take(&mut other));
    }
    got.extend(take(&mut other));
    assert_eq!(got.len(), FRAMES);
    assert!(start.elapsed() >= Duration::from_millis(35), "{:?}", start.elapsed());
}
