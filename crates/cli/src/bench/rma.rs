//! `rackloom bench rma`: a process reads a card's memory through the bridge, live in this process, beside two threads
//! that send a datagram of UDP back and forth.

use std::net::UdpSocket;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom::{ClaimOptions, RackOptions, Rights, Rma, RmaOptions, Window};
use rackloom_wire::bridge::HEADER_END;
use rackloom_wire::{BULK_STANDARD, ROLE_PRIVATE};
use schemars::JsonSchema;
use serde::Serialize;

use super::process::processor;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::format;
use crate::rack::{self, Pace, Shape};

/// The figures.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct BenchRma {
    /// `rackloom.bench-rma/1`
    schema: &'static str,
    /// The processor.
    processor: String,
    /// Processors that this process may use.
    threads: usize,
    /// Whether this is an optimised build.
    release: bool,
    /// Reads of 8 bytes, and datagrams, measured.
    reads: u32,
    /// Round trip of a read: median, microseconds.
    rma_us: f64,
    /// 99th percentile, microseconds.
    rma_p99_us: f64,
    /// Round trip of a datagram as long as the answer's packet, over the loopback interface: median, microseconds.
    udp_us: f64,
    /// 99th percentile, microseconds.
    udp_p99_us: f64,
    /// `rma_us` by `udp_us`.
    ratio: f64,
    /// A transfer to the card, bits a second.
    write_bps: f64,
    /// A transfer from the card, bits a second.
    read_bps: f64,
}

/// Round trips before the measured ones.
const WARM_UP: u32 = 1000;
const PATTERN: [u8; 8] = *b"rackloom";
/// Bytes of the transfers.
const TRANSFER: u64 = 64 << 20;
/// A datagram that does not come back.
const PATIENCE: Duration = Duration::from_secs(5);

pub(crate) fn run(cx: &Context, reads: u32) -> Result<Exit> {
    let shape = Shape { memory: Some(128 << 20), bulk: BULK_STANDARD, seed: 1, pace: Pace::Live, rate: None };
    let local = rack::of_models(1, shape)?;
    let card = local.mac(0);
    let rack = rack::connect(&local, RackOptions::default())?;
    rack::discover_all(&local, &rack, cx.global.discover)?;
    rack.claim(&[card], ClaimOptions::default()).wait_all()?;
    let node = Rma::attach(local.attach("node")?, RmaOptions::default())?;
    let rights = Rights::READ | Rights::WRITE;
    let window = Window { base: ROLE_PRIVATE, length: TRANSFER, peer: node.mac(), rights };
    rack.set_window(card, 0, Some(window)).wait()?;

    node.write(card, ROLE_PRIVATE, Bytes::from_static(&PATTERN)).wait()?;
    let rma = round_trips(reads, || {
        let data = node.read(card, ROLE_PRIVATE, 8).wait()?;
        if data != PATTERN[..] {
            return Err(Failure::new(format!("card0 returned {data:02x?}, where {PATTERN:02x?} was written")));
        }
        Ok(())
    })?;
    let udp = datagrams(reads).during("cannot measure UDP over the loopback interface")?;

    let data: Bytes = (0..TRANSFER).map(|i| (i / 64) as u8).collect();
    let (write_bps, ()) = rate(|| Ok(node.write(card, ROLE_PRIVATE, data.clone()).wait()?))?;
    let (read_bps, back) = rate(|| Ok(node.read(card, ROLE_PRIVATE, TRANSFER).wait()?))?;
    if back != data {
        return Err(Failure::new("card0 returned other bytes than were written"));
    }
    let (rma_us, udp_us) = (at(&rma, 0.5), at(&udp, 0.5));
    let report = BenchRma {
        schema: "rackloom.bench-rma/1",
        processor: processor(),
        threads: std::thread::available_parallelism().map_or(1, usize::from),
        release: !cfg!(debug_assertions),
        reads,
        rma_us,
        rma_p99_us: at(&rma, 0.99),
        udp_us,
        udp_p99_us: at(&udp, 0.99),
        ratio: rma_us / udp_us,
        write_bps,
        read_bps,
    };
    cx.ui.result(&report, || {
        format!(
            "8-byte remote reads: median {rma_us:.1} us, 99 % within {:.1} us\n\
             UDP there and back:  median {udp_us:.1} us, 99 % within {:.1} us; ratio {:.2}\n\
             {} written at {:.2} Gb/s, read at {:.2} Gb/s\n{} threads of {}\n",
            report.rma_p99_us,
            report.udp_p99_us,
            report.ratio,
            format::bytes(TRANSFER),
            write_bps / 1e9,
            read_bps / 1e9,
            report.threads,
            report.processor
        )
    });
    Ok(Exit::Ok)
}

/// Times of `reads` round trips, sorted.
fn round_trips<E>(
    reads: u32,
    mut once: impl FnMut() -> std::result::Result<(), E>,
) -> std::result::Result<Vec<Duration>, E> {
    let mut times = Vec::with_capacity(reads as usize);
    for i in 0..reads + WARM_UP {
        let started = Instant::now();
        once()?;
        if i >= WARM_UP {
            times.push(started.elapsed());
        }
    }
    times.sort();
    Ok(times)
}

/// The same of datagrams between two threads, each as long as an answer's packet of IPv6.
fn datagrams(reads: u32) -> std::io::Result<Vec<Duration>> {
    let (here, there) = (UdpSocket::bind("127.0.0.1:0")?, UdpSocket::bind("127.0.0.1:0")?);
    here.connect(there.local_addr()?)?;
    there.connect(here.local_addr()?)?;
    here.set_read_timeout(Some(PATIENCE))?;
    there.set_read_timeout(Some(PATIENCE))?;
    let echo = std::thread::spawn(move || -> std::io::Result<()> {
        let mut buffer = [0; 256];
        for _ in 0..reads + WARM_UP {
            let length = there.recv(&mut buffer)?;
            there.send(&buffer[..length])?;
        }
        Ok(())
    });
    let datagram = vec![0x5a; usize::from(HEADER_END) - 14 + PATTERN.len()];
    let mut buffer = [0; 256];
    let times = round_trips(reads, || {
        here.send(&datagram)?;
        here.recv(&mut buffer).map(drop)
    })?;
    echo.join().expect("the echo does not panic")?;
    Ok(times)
}

/// Bits a second of a transfer, and what it gave.
fn rate<T>(transfer: impl FnOnce() -> Result<T>) -> Result<(f64, T)> {
    let started = Instant::now();
    let result = transfer()?;
    Ok((TRANSFER as f64 * 8.0 / started.elapsed().as_secs_f64(), result))
}

/// The time, microseconds, within which this part of all lies.
fn at(times: &[Duration], part: f64) -> f64 {
    times[((times.len() - 1) as f64 * part) as usize].as_secs_f64() * 1e6
}
