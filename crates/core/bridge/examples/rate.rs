//! How many requests a second two endpoints get through in one thread, without a network: what the state machines cost.
//!
//! `cargo run --release --example rate -p rackloom-bridge`

use std::time::Instant as Clock;

use bytes::Bytes;
use rackloom_bridge::{Endpoint, EndpointConfig, EndpointEvent, Rights, Target, TargetFailed, Window};
use rackloom_node::{Duration, Instant};
use rackloom_wire::MacAddr;

struct Ram(Vec<u8>);

impl Target for Ram {
    fn read(&mut self, addr: u64, into: &mut [u8]) -> Result<(), TargetFailed> {
        into.copy_from_slice(&self.0[addr as usize..][..into.len()]);
        Ok(())
    }

    fn write(&mut self, addr: u64, bytes: &[u8]) -> Result<(), TargetFailed> {
        self.0[addr as usize..][..bytes.len()].copy_from_slice(bytes);
        Ok(())
    }
}

const SERVER: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);

fn client(n: u32) -> MacAddr {
    let [_, _, c, d] = n.to_be_bytes();
    MacAddr([2, 0, 0, 1, c, d])
}

/// Requests a second and frames for each, of so many clients of one server, each with `depth` under way.
fn rate(clients: u32, depth: usize, size: usize, reads: bool, total: u64) -> (f64, f64) {
    let mut server = Endpoint::new(EndpointConfig::new(SERVER, 1, false));
    let window = Window { base: 0, length: 1 << 20, peer: MacAddr::ZERO, rights: Rights::READ | Rights::WRITE };
    assert!(server.windows().set(0, Some(window)));
    let mut askers: Vec<_> = (0..clients).map(|n| Endpoint::new(EndpointConfig::new(client(n), 1, false))).collect();
    let mut memory = Ram(vec![0; 1 << 20]);
    let bytes = Bytes::from(vec![7; size]);
    let (mut now, mut done, mut frames) = (Instant::ZERO, 0, 0u64);
    let mut under_way = vec![0; clients as usize];
    let start = Clock::now();
    while done < total {
        for (asker, under_way) in askers.iter_mut().zip(&mut under_way) {
            while *under_way < depth {
                let begun = if reads {
                    asker.read(now, SERVER, 64, size as u32)
                } else {
                    asker.write(now, SERVER, 64, bytes.clone())
                };
                begun.expect("as many may be under way");
                *under_way += 1;
            }
            while let Some(frame) = asker.poll(now) {
                frames += 1;
                server.handle_frame(now, &frame, &mut memory);
            }
        }
        while let Some(frame) = server.poll(now) {
            frames += 1;
            let n = usize::from(u16::from_be_bytes([frame[4], frame[5]]));
            askers[n].handle_frame(now, &frame, &mut memory);
            while let Some(event) = askers[n].next_event() {
                assert!(matches!(event, EndpointEvent::Done { result: Ok(_), .. }), "{event:?}");
                under_way[n] -= 1;
                done += 1;
            }
        }
        now += Duration::from_micros(2);
        for node in askers.iter_mut().chain([&mut server]) {
            if node.deadline().is_some_and(|at| at <= now) {
                node.handle_timeout(now);
            }
        }
    }
    (done as f64 / start.elapsed().as_secs_f64(), frames as f64 / done as f64)
}

fn main() {
    println!("clients  depth  bytes  kind    requests/s  frames each");
    for (clients, depth) in [(1, 1), (1, 8), (1, 64), (64, 8), (500, 4)] {
        for (size, reads) in [(8, true), (8, false), (1408, true), (1408, false)] {
            let (rate, frames) = rate(clients, depth, size, reads, 400_000);
            let kind = if reads { "read" } else { "write" };
            println!("{clients:7}  {depth:5}  {size:5}  {kind:<6}  {rate:10.0}  {frames:11.2}");
        }
    }
}
