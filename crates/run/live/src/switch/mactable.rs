//! Which port an address was last seen on.

use std::collections::HashMap;
use std::time::{Duration, Instant};

/// A learning switch's table: bounded, and forgetful.
#[derive(Debug)]
pub(crate) struct MacTable {
    // Never iterated where order could be seen: looked up by key, and swept by a condition on each entry alone.
    entries: HashMap<[u8; 6], Entry>,
    capacity: usize,
    age: Duration,
    sticky: bool,
    swept: Option<Instant>,
}

#[derive(Debug, Clone, Copy)]
struct Entry {
    port: usize,
    seen: Instant,
}

impl MacTable {
    /// An empty table that holds `capacity` addresses for `age` after they were last seen. If it is `sticky`, none
    /// moves to another port.
    pub(crate) fn new(capacity: usize, age: Duration, sticky: bool) -> Self {
        Self { entries: HashMap::new(), capacity, age, sticky, swept: None }
    }

    /// Notes that `mac` sends on `port`. False if the table is full: frames to `mac` will be flooded.
    pub(crate) fn learn(&mut self, mac: [u8; 6], port: usize, now: Instant) -> bool {
        if let Some(entry) = self.entries.get_mut(&mac) {
            if !self.sticky || entry.port == port {
                *entry = Entry { port, seen: now };
            }
            return true;
        }
        if self.entries.len() >= self.capacity {
            // At most once a second: a peer that invents addresses must not make each of its frames cost a sweep.
            if self.swept.is_some_and(|at| now.saturating_duration_since(at) < Duration::from_secs(1)) {
                return false;
            }
            self.swept = Some(now);
            let age = self.age;
            self.entries.retain(|_, e| now.saturating_duration_since(e.seen) < age);
            if self.entries.len() >= self.capacity {
                return false;
            }
        }
        self.entries.insert(mac, Entry { port, seen: now });
        true
    }

    /// The port `mac` was last seen on, if that was not too long ago.
    pub(crate) fn port(&self, mac: [u8; 6], now: Instant) -> Option<usize> {
        let entry = self.entries.get(&mac)?;
        (now.saturating_duration_since(entry.seen) < self.age).then_some(entry.port)
    }

    /// Forgets what was learnt on `port`: its cable was pulled.
    pub(crate) fn forget(&mut self, port: usize) {
        self.entries.retain(|_, e| e.port != port);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: [u8; 6] = [2, 0, 0, 0, 0, 1];
    const B: [u8; 6] = [2, 0, 0, 0, 0, 2];
    const C: [u8; 6] = [2, 0, 0, 0, 0, 3];

    #[test]
    fn learns_moves_and_forgets() {
        let (mut t, t0) = (MacTable::new(8, Duration::from_secs(300), false), Instant::now());
        assert_eq!(t.port(A, t0), None);
        assert!(t.learn(A, 3, t0));
        assert_eq!(t.port(A, t0), Some(3));
        assert!(t.learn(A, 4, t0));
        assert_eq!(t.port(A, t0), Some(4), "a node that moved is found on its new port");
        t.forget(4);
        assert_eq!(t.port(A, t0), None);
    }

    #[test]
    fn a_sticky_address_moves_only_when_its_cable_is_pulled() {
        let (mut t, t0) = (MacTable::new(8, Duration::from_secs(300), true), Instant::now());
        assert!(t.learn(A, 3, t0) && t.learn(A, 4, t0));
        assert_eq!(t.port(A, t0), Some(3));
        t.forget(3);
        assert!(t.learn(A, 4, t0));
        assert_eq!(t.port(A, t0), Some(4));
    }

    #[test]
    fn an_old_entry_is_not_believed_and_makes_room() {
        let (mut t, t0) = (MacTable::new(2, Duration::from_secs(10), false), Instant::now());
        let later = t0 + Duration::from_secs(9);
        assert!(t.learn(A, 1, t0));
        assert!(t.learn(B, 2, later));
        assert!(!t.learn(C, 3, later), "the table is full of fresh entries");
        let late = t0 + Duration::from_secs(11);
        assert_eq!(t.port(A, late), None);
        assert_eq!(t.port(B, late), Some(2));
        assert!(t.learn(C, 3, late), "A's entry has aged out");
        assert_eq!(t.port(C, late), Some(3));
    }

    #[test]
    fn invented_addresses_do_not_cost_a_sweep_each() {
        let (mut t, t0) = (MacTable::new(1, Duration::from_secs(300), false), Instant::now());
        assert!(t.learn(A, 1, t0));
        assert!(!t.learn(B, 1, t0));
        let swept = t.swept;
        assert!(!t.learn(C, 1, t0 + Duration::from_millis(999)));
        assert_eq!(t.swept, swept);
    }
}
