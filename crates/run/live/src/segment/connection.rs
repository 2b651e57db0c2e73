//! One client, as the segment's server sees it.

use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::time::Instant;

use rackloom_node::Frame;

use super::record::{self, Answer, Received, Receiver};
use crate::switch::Port;
use crate::wire::Wire;

/// A connection and its port of the switch.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) socket: OwnedFd,
    port: Port,
    /// When the connection was made, until the client has greeted.
    pub(super) ungreeted: Option<Instant>,
    /// From the client, not yet taken by the switch.
    inward: Vec<Frame>,
    /// From the switch, not yet taken by the socket.
    outward: Vec<Frame>,
    /// The switch is full: nothing more is read from the client.
    pub(super) inward_full: bool,
    /// The socket is full: nothing more is taken from the port.
    pub(super) outward_full: bool,
    pub(super) malformed: u64,
}

/// What became of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Serviced {
    /// It has done what can be done now.
    Idle,
    /// There is more to do at once; others first.
    Busy,
    /// The client has gone, or must go.
    Close,
}

impl Connection {
    pub(super) const fn new(socket: OwnedFd, port: Port, now: Instant) -> Self {
        Self {
            socket,
            port,
            ungreeted: Some(now),
            inward: Vec::new(),
            outward: Vec::new(),
            inward_full: false,
            outward_full: false,
            malformed: 0,
        }
    }

    /// Moves frames both ways, a bounded number of them.
    pub(super) fn service(&mut self, receiver: &mut Receiver) -> Serviced {
        let inward = match self.ungreeted {
            Some(_) => self.greet(receiver),
            None => self.inward(receiver),
        };
        let Ok(inward) = inward else { return Serviced::Close };
        if self.ungreeted.is_some() || inward == Serviced::Close {
            return inward;
        }
        match self.outward() {
            Ok(Serviced::Idle) => inward,
            Ok(other) => other,
            Err(_) => Serviced::Close,
        }
    }

    fn greet(&mut self, receiver: &mut Receiver) -> io::Result<Serviced> {
        match receiver.next(self.socket.as_fd())? {
            Received::Message(message) if record::is_greeting(&message) => {
                answer(&self.socket, Answer::Welcome { mtu: self.port.mtu() })?;
                self.ungreeted = None;
                Ok(Serviced::Busy) // Its first frames may be there already, and frames for it.
            }
            Received::Nothing => Ok(Serviced::Idle),
            Received::Message(_) | Received::Oversize => {
                self.malformed += 1;
                Ok(Serviced::Close)
            }
            Received::End => Ok(Serviced::Close),
        }
    }

    fn inward(&mut self, receiver: &mut Receiver) -> io::Result<Serviced> {
        for _ in 0..RECORDS_MAX {
            let taken = self.port.send(&self.inward)?;
            self.inward.drain(..taken);
            self.inward_full = !self.inward.is_empty();
            if self.inward_full {
                return Ok(Serviced::Idle);
            }
            match receiver.next(self.socket.as_fd())? {
                Received::Message(message) => {
                    self.malformed += u64::from(!record::split(message, self.port.mtu(), &mut self.inward));
                }
                Received::Oversize => self.malformed += 1,
                Received::Nothing => return Ok(Serviced::Idle),
                Received::End => return Ok(Serviced::Close),
            }
        }
        Ok(Serviced::Busy)
    }

    fn outward(&mut self) -> io::Result<Serviced> {
        self.outward_full = false;
        let long_ago = Instant::now();
        for _ in 0..RECORDS_MAX {
            if self.outward.is_empty() {
                self.port.recv(Some(long_ago), &mut self.outward)?;
                if self.outward.is_empty() {
                    return Ok(Serviced::Idle); // And the port's waker is armed.
                }
            }
            let sent = record::send(self.socket.as_fd(), &self.outward)?;
            if sent == 0 {
                self.outward_full = true;
                return Ok(Serviced::Idle);
            }
            self.outward.drain(..sent);
        }
        Ok(Serviced::Busy)
    }
}

/// Answers a greeting. The socket is new: there is room.
pub(super) fn answer(socket: &OwnedFd, answer: Answer) -> io::Result<()> {
    let flags = rustix::net::SendFlags::NOSIGNAL | rustix::net::SendFlags::DONTWAIT;
    rustix::net::send(socket, &answer.encode(), flags)?;
    Ok(())
}

/// Most records moved each way before others have their turn.
const RECORDS_MAX: usize = 8;
