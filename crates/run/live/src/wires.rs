//! The wires of one node, by the numbers of its ports.

use std::io;
use std::time::Instant;

use rackloom_node::{Frame, Port as PortNumber};

use crate::switch::Port;
use crate::wire::{Refused, Wire};

/// The cables of a node in a [`Pool`](crate::Pool), or of a node's ports beside port 0 in a
/// [`Driver`](crate::Driver): each in a port of a [`Switch`](crate::Switch), or an end of a
/// [`cable`](crate::cable). A port without one sends nowhere and hears nothing.
#[derive(Debug, Default)]
pub struct Ports(Vec<(PortNumber, Port)>);

impl Ports {
    /// No cable yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// These, and one more.
    ///
    /// # Panics
    /// If the port has a cable already.
    #[must_use]
    pub fn with(mut self, number: PortNumber, port: Port) -> Self {
        assert!(self.0.iter().all(|(n, _)| *n != number), "port {number} has a cable already");
        self.0.push((number, port));
        self
    }

    pub(crate) fn iter_mut(&mut self) -> impl Iterator<Item = &mut Port> {
        self.0.iter_mut().map(|(_, port)| port)
    }
}

impl From<Port> for Ports {
    /// Port 0 alone.
    fn from(port: Port) -> Self {
        Self::new().with(0, port)
    }
}

/// The wires that an [`Engine`](crate::engine::Engine) sends on and hears from.
#[derive(Debug)]
pub(crate) struct Wires<W>(Vec<Option<W>>);

impl<W: Wire> Wires<W> {
    pub(crate) fn new(plugged: impl IntoIterator<Item = (PortNumber, W)>) -> Self {
        let mut wires = Vec::new();
        for (number, wire) in plugged {
            let at = usize::from(number);
            if wires.len() <= at {
                wires.resize_with(at + 1, || None);
            }
            wires[at] = Some(wire);
        }
        Self(wires)
    }

    /// Ports up to the last that has a wire.
    pub(crate) const fn count(&self) -> usize {
        self.0.len()
    }

    /// Appends frames that have come, with the ports they came in on; waits for some on port 0 until the deadline if
    /// there are none elsewhere. Whatever comes in on another port wakes port 0.
    ///
    /// # Errors
    /// Port 0's wire is gone for good. Another port's is pulled out: the node lives on without it.
    pub(crate) fn recv(
        &mut self,
        deadline: Option<Instant>,
        inbox: &mut Vec<Frame>,
        mut heard: impl FnMut(PortNumber, Frame),
    ) -> io::Result<()> {
        let mut found = false;
        for (slot, number) in self.0.iter_mut().zip(0..).skip(1) {
            let Some(wire) = slot else { continue };
            let gone = wire.recv(Some(Instant::now()), inbox).is_err();
            found |= !inbox.is_empty();
            inbox.drain(..).for_each(|frame| heard(number, frame));
            if gone {
                *slot = None;
            }
        }
        let Some(Some(wire)) = self.0.first_mut() else { return Ok(()) };
        let deadline = if found { Some(Instant::now()) } else { deadline };
        let result = wire.recv(deadline, inbox);
        inbox.drain(..).for_each(|frame| heard(0, frame));
        result
    }

    /// Whether what the node's frames go to does not keep up: see [`Wire::is_starved`].
    pub(crate) fn are_starved(&self) -> bool {
        self.0.iter().flatten().any(Wire::is_starved)
    }

    /// What port 0's wire has refused.
    pub(crate) fn refused(&self) -> Refused {
        self.0.first().and_then(Option::as_ref).map(Wire::refused).unwrap_or_default()
    }

    /// Sends frames on one port; how many of them were taken. `None`: the port has no wire.
    ///
    /// # Errors
    /// As [`recv`](Self::recv).
    pub(crate) fn send(&mut self, number: usize, frames: &[Frame]) -> io::Result<Option<usize>> {
        let Some(slot) = self.0.get_mut(number) else { return Ok(None) };
        let Some(wire) = slot else { return Ok(None) };
        match wire.send(frames) {
            Ok(taken) => Ok(Some(taken)),
            Err(e) if number == 0 => Err(e),
            Err(_) => {
                *slot = None;
                Ok(None)
            }
        }
    }
}

impl Wires<Port> {
    /// When the first of the full wires may send again by its rate, if one waits for that.
    pub(crate) fn open_at(&self) -> Option<Instant> {
        self.0.iter().flatten().filter_map(Port::opens_at).min()
    }

    /// The wires of a node in a pool, all of which use `waker`.
    pub(crate) fn pooled(mut ports: Ports, waker: &std::task::Waker) -> Self {
        ports.iter_mut().for_each(|port| port.set_waker(waker.clone()));
        Self::new(ports.0)
    }
}

impl Wires<Box<dyn Wire>> {
    /// The wires of a node on a thread that sleeps at `first`, its port 0; the other ports wake it there.
    pub(crate) fn driven(first: impl Wire + 'static, mut others: Ports) -> Self {
        let waker = first.waker();
        others.iter_mut().for_each(|port| port.set_waker(waker.clone()));
        let others = others.0.into_iter().map(|(number, port)| {
            assert_ne!(number, 0, "port 0 has a wire already");
            (number, Box::new(port) as Box<dyn Wire>)
        });
        Self::new([(0, Box::new(first) as Box<dyn Wire>)].into_iter().chain(others))
    }
}
