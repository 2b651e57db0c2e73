//! A cable from an in-process switch to the world outside.

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use rackloom_node::Frame;
use rackloom_sync::lock;
use rackloom_wire::Pause;

use crate::switch::Port;
use crate::wire::{BATCH, Refused, Wire};

/// Carries frames between a switch's port and a wire, both ways, on a thread of its own: how the nodes on an in-process
/// switch are reached through a network interface. Dropping it pulls the cable.
///
/// Orders to be silent ([`Pause`]) go no further, as no switch passes them on: whoever sends one into a network with
/// many members would silence a station for all of them.
#[derive(Debug)]
pub struct Uplink {
    shared: Arc<Shared>,
    waker: Waker,
    thread: Option<JoinHandle<()>>,
}

#[derive(Debug, Default)]
struct Shared {
    stop: AtomicBool,
    inward: AtomicU64,
    outward: AtomicU64,
    refused: Mutex<Refused>,
    failure: Mutex<Option<io::Error>>,
}

/// What an uplink carried.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UplinkStats {
    /// Frames from the wire into the switch.
    pub inward: u64,
    /// Frames from the switch to the wire.
    pub outward: u64,
}

impl Uplink {
    /// Joins `port` and `wire`.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn spawn(port: Port, wire: impl Wire + 'static) -> io::Result<Self> {
        Self::spawn_as(Orders::Dropped, port, wire)
    }

    /// As [`spawn`](Self::spawn), for a wire to one host, and a port with nobody but its card: the card's orders to be
    /// silent are obeyed. So long nothing is taken from the wire, whose own queue then holds up the host's programs.
    ///
    /// # Errors
    /// No thread can be started.
    pub fn spawn_for_host(port: Port, wire: impl Wire + 'static) -> io::Result<Self> {
        Self::spawn_as(Orders::Obeyed, port, wire)
    }

    fn spawn_as(orders: Orders, mut port: Port, wire: impl Wire + 'static) -> io::Result<Self> {
        let waker = wire.waker();
        // The thread sleeps at the wire; the port wakes it there.
        port.set_waker(waker.clone());
        let shared = Arc::new(Shared::default());
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("rackloom-uplink".to_owned()).spawn(move || {
            if let Err(e) = carry(orders, port, wire, &theirs) {
                *lock(&theirs.failure) = Some(e);
            }
        })?;
        Ok(Self { shared, waker, thread: Some(thread) })
    }

    /// What was carried so far.
    #[must_use]
    pub fn stats(&self) -> UplinkStats {
        UplinkStats {
            inward: self.shared.inward.load(Ordering::Relaxed),
            outward: self.shared.outward.load(Ordering::Relaxed),
        }
    }

    /// Frames of the switch that the wire dropped because nothing behind it takes frames of their length.
    #[must_use]
    pub fn refused(&self) -> Refused {
        *lock(&self.shared.refused)
    }

    /// Why the uplink has ended, if it has: the wire is gone. Told once.
    #[must_use]
    pub fn failure(&self) -> Option<io::Error> {
        lock(&self.shared.failure).take()
    }
}

impl Drop for Uplink {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        self.waker.wake_by_ref();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join(); // A panic has printed its message already.
        }
    }
}

/// What becomes of orders to be silent that come in at the port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Orders {
    Dropped,
    Obeyed,
}

fn carry(orders: Orders, mut port: Port, mut wire: impl Wire, shared: &Shared) -> io::Result<()> {
    let (mut inward, mut outward): (Vec<Frame>, Vec<Frame>) = (Vec::new(), Vec::new());
    let long_ago = Instant::now();
    let mut silent_until = long_ago;
    let mut refused = Refused::default();
    // The port had frames when it was last looked at, also if they went no further.
    let mut has_more = false;
    while !shared.stop.load(Ordering::Acquire) {
        if outward.is_empty() {
            port.recv(Some(long_ago), &mut outward)?;
            has_more = !outward.is_empty();
            outward.retain(|frame| {
                let order = Pause::of(frame);
                if let Some(pause) = order.filter(|_| orders == Orders::Obeyed) {
                    silent_until = Instant::now() + Duration::from_nanos(pause.nanos());
                }
                order.is_none()
            });
        }
        let sent = wire.send(&outward)?;
        outward.drain(..sent);
        shared.outward.fetch_add(sent as u64, Ordering::Relaxed);
        if wire.refused() != refused {
            refused = wire.refused();
            *lock(&shared.refused) = refused;
        }

        let is_silent = silent_until > Instant::now();
        if !is_silent {
            let taken = port.send(&inward)?;
            inward.drain(..taken);
            shared.inward.fetch_add(taken as u64, Ordering::Relaxed);
        }
        if inward.len() > BATCH || is_silent {
            // The switch is full, or silence was ordered: what else comes stays in the wire's own buffer. The outward
            // way goes on meanwhile.
            std::thread::sleep(SATURATED);
        } else if has_more && outward.is_empty() {
            // There may be more in the port, which tells only once it was found empty.
            wire.recv(Some(long_ago), &mut inward)?;
        } else {
            let deadline = (!inward.is_empty()).then(|| Instant::now() + SATURATED);
            wire.recv(deadline, &mut inward)?;
        }
    }
    Ok(())
}

/// How long an uplink waits for a full switch: the time of 14 jumbo frames at 10 Gb/s.
const SATURATED: Duration = Duration::from_micros(100);
