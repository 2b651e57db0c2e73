//! What is to happen: one heap, in order of time and then of entry, and the frames under way.

use core::cmp::Ordering;
use std::collections::BinaryHeap;

use rackloom_node::{Frame, Instant};

use crate::ids::{NodeId, PipeId};

/// Something to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    /// A frame comes out of pipes; the number of its flight.
    Arrival(u32),
    /// The first frame in this pipe's line comes out, if it is still the one that entered with this event.
    Head(PipeId),
    /// A node's deadline, if its generation is still this one.
    Deadline(NodeId, u32),
    /// A node is to be polled: it is new, or it waited for its queue.
    Wake(NodeId, u32),
    /// A node that had no processor may have one again, and reads the next frames that have waited.
    Serve(NodeId, u32),
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    at: u64,
    /// Number of entry: what was asked for first happens first.
    seq: u64,
    what: What,
}

impl Ord for Entry {
    /// Reversed: the heap gives its greatest, and we want the earliest.
    fn cmp(&self, other: &Self) -> Ordering {
        (other.at, other.seq).cmp(&(self.at, self.seq))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Entry {}

/// The event queue.
#[derive(Debug, Default)]
pub(crate) struct Queue {
    heap: BinaryHeap<Entry>,
    seq: u64,
}

impl Queue {
    pub(crate) fn push(&mut self, at: u64, what: What) {
        let seq = self.number();
        self.push_numbered(at, seq, what);
    }

    /// A number of entry for something that is pushed later: it happens as if it had been pushed now.
    pub(crate) fn number(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    pub(crate) fn push_numbered(&mut self, at: u64, seq: u64, what: What) {
        self.heap.push(Entry { at, seq, what });
    }

    /// Takes the next thing if it is due by `limit`, with its time and number of entry.
    pub(crate) fn pop_until(&mut self, limit: Instant) -> Option<(Instant, u64, What)> {
        if self.heap.peek()?.at > limit.as_nanos() {
            return None;
        }
        let entry = self.heap.pop()?;
        Some((Instant::from_nanos(entry.at), entry.seq, entry.what))
    }

    pub(crate) fn len(&self) -> usize {
        self.heap.len()
    }
}

/// A frame in a pipe, in line behind those that come out earlier. Only the first of a line is in the heap: it stays as
/// small as the network, however much is under way.
#[derive(Debug)]
pub(crate) struct Waiting {
    pub(crate) at: u64,
    /// Its number of entry.
    pub(crate) seq: u64,
    pub(crate) frame: Frame,
}

/// A frame on its way outside of a line: a flood, or out of order. And the pipes it comes out of, all at one time.
#[derive(Debug)]
pub(crate) struct Flight {
    pub(crate) frame: Frame,
    pub(crate) to: Pipes,
    at: u64,
}

/// Where a flight ends.
#[derive(Debug)]
pub(crate) enum Pipes {
    /// Nowhere: it was lost on its way.
    None,
    One(PipeId),
    /// A flood: one event for all ports that the frame leaves at the same time.
    Many(Vec<PipeId>),
}

/// The frames under way, by number.
#[derive(Debug, Default)]
pub(crate) struct Flights {
    all: Vec<Flight>,
    free: Vec<u32>,
    /// Emptied lists of floods, to be used again.
    spare: Vec<Vec<PipeId>>,
}

impl Flights {
    pub(crate) fn add(&mut self, at: u64, frame: Frame, to: Pipes) -> u32 {
        let flight = Flight { frame, to, at };
        if let Some(number) = self.free.pop() {
            self.all[number as usize] = flight;
            return number;
        }
        self.all.push(flight);
        u32::try_from(self.all.len() - 1).expect("fewer than 2^32 frames under way")
    }

    pub(crate) fn take(&mut self, number: u32) -> Flight {
        self.free.push(number);
        let empty = Flight { frame: Frame::new(), to: Pipes::None, at: 0 };
        core::mem::replace(&mut self.all[number as usize], empty)
    }

    pub(crate) fn list(&mut self) -> Vec<PipeId> {
        self.spare.pop().unwrap_or_default()
    }

    pub(crate) fn give_back(&mut self, mut list: Vec<PipeId>) {
        list.clear();
        self.spare.push(list);
    }

    /// Takes all frames out of one pipe that would arrive from `from` to before `until`; returns how many. It looks at
    /// every frame under way: cables are not pulled often.
    pub(crate) fn lose(&mut self, pipe: PipeId, from: u64, until: u64) -> u64 {
        let mut lost = 0;
        for flight in self.all.iter_mut().filter(|f| (from..until).contains(&f.at)) {
            match &mut flight.to {
                Pipes::One(p) if *p == pipe => {
                    flight.to = Pipes::None;
                    lost += 1;
                }
                Pipes::One(_) | Pipes::None => {}
                Pipes::Many(list) => {
                    let before = list.len();
                    list.retain(|p| *p != pipe);
                    lost += (before - list.len()) as u64;
                }
            }
        }
        lost
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_comes_first_and_then_the_order_of_entry() {
        let mut queue = Queue::default();
        for (at, number) in [(5, 0), (3, 1), (5, 2), (3, 3), (4, 4)] {
            queue.push(at, What::Arrival(number));
        }
        let mut order = Vec::new();
        while let Some((at, _, What::Arrival(number))) = queue.pop_until(Instant::from_nanos(5)) {
            order.push((at.as_nanos(), number));
        }
        assert_eq!(order, [(3, 1), (3, 3), (4, 4), (5, 0), (5, 2)]);
    }

    #[test]
    fn a_lost_flight_keeps_its_number_until_its_time() {
        let mut flights = Flights::default();
        let list = vec![PipeId(1), PipeId(2), PipeId(3)];
        let many = flights.add(10, Frame::from_static(b"x"), Pipes::Many(list));
        let one = flights.add(20, Frame::from_static(b"y"), Pipes::One(PipeId(2)));
        assert_eq!(flights.lose(PipeId(2), 0, 20), 1);
        assert_eq!(flights.lose(PipeId(2), 20, 21), 1);
        assert!(matches!(flights.take(one).to, Pipes::None));
        assert!(matches!(flights.take(many).to, Pipes::Many(l) if l == [PipeId(1), PipeId(3)]));
    }
}
