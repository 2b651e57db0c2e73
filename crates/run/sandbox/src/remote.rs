//! Accesses of a kernel to the memory of other nodes, between the role's module and the card.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex};

use bytes::Bytes;
use rackloom_role::{RemoteAccess, RemoteFault, RemoteWork};
use rackloom_sync::lock;

/// Accesses that a kernel may have under way; one more is not begun.
const UNDER_WAY: usize = 16;

/// The accesses of a role. The card answers while the module's instance may be inside a kernel, so it is shared.
#[derive(Clone, Debug, Default)]
pub(crate) struct Remote(Arc<Mutex<Desk>>);

#[derive(Debug, Default)]
struct Desk {
    last: u32,
    open: BTreeMap<u32, Open>,
    /// Begun, and not yet taken by the card.
    begun: VecDeque<RemoteAccess>,
    /// What the kernel waits for.
    awaited: Option<u32>,
}

#[derive(Debug)]
struct Open {
    /// Where what is read goes; a write has none.
    into: Option<u64>,
    result: Option<Result<Bytes, RemoteFault>>,
}

/// What has become of an access.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Fate {
    /// There is none of this number.
    Unknown,
    UnderWay,
    /// It is over and forgotten. What was read goes to this address.
    Over(Option<u64>, Result<Bytes, RemoteFault>),
}

impl Remote {
    /// Begins an access; its number, or `None` if too many are under way.
    pub(crate) fn begin(&self, stream: u8, addr: u64, into: Option<u64>, work: RemoteWork) -> Option<u32> {
        let desk = &mut *lock(&self.0);
        if desk.open.len() >= UNDER_WAY {
            return None;
        }
        // Not 0, and none that is under way: there are far fewer than numbers.
        desk.last = if desk.last == i32::MAX as u32 { 1 } else { desk.last + 1 };
        desk.open.insert(desk.last, Open { into, result: None });
        desk.begun.push_back(RemoteAccess { number: desk.last, stream, addr, work });
        Some(desk.last)
    }

    /// Looks after an access that the kernel waits for.
    pub(crate) fn take(&self, number: u32) -> Fate {
        let desk = &mut *lock(&self.0);
        desk.awaited = None;
        match desk.open.get(&number) {
            None => return Fate::Unknown,
            Some(Open { result: None, .. }) => {
                desk.awaited = Some(number);
                return Fate::UnderWay;
            }
            Some(_) => {}
        }
        let open = desk.open.remove(&number).expect("it was looked up");
        Fate::Over(open.into, open.result.expect("it was looked at"))
    }

    /// Whether the kernel waits for something that is still under way.
    pub(crate) fn is_awaited(&self) -> bool {
        let desk = lock(&self.0);
        desk.awaited.is_some_and(|number| desk.open.get(&number).is_some_and(|open| open.result.is_none()))
    }

    /// The card takes the next access.
    pub(crate) fn poll(&self) -> Option<RemoteAccess> {
        lock(&self.0).begun.pop_front()
    }

    /// The card says how an access has ended.
    pub(crate) fn settle(&self, number: u32, result: Result<Bytes, RemoteFault>) {
        if let Some(open) = lock(&self.0).open.get_mut(&number) {
            open.result = Some(result);
        }
    }

    /// The kernel is over: nobody waits for its accesses.
    pub(crate) fn clear(&self) {
        let desk = &mut *lock(&self.0);
        *desk = Desk { last: desk.last, ..Desk::default() };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accesses_are_bounded_and_each_ends_once() {
        let remote = Remote::default();
        let begin = || remote.begin(3, 64, Some(8), RemoteWork::Read(8));
        let numbers: Vec<_> = (0..UNDER_WAY).map(|_| begin().unwrap()).collect();
        assert_eq!(begin(), None);
        assert_eq!(remote.poll().unwrap().number, numbers[0]);
        assert_eq!((remote.take(99), remote.take(numbers[1])), (Fate::Unknown, Fate::UnderWay));
        assert!(remote.is_awaited());
        remote.settle(numbers[0], Err(RemoteFault::Gone));
        assert!(remote.is_awaited(), "another one has ended");
        remote.settle(numbers[1], Ok(Bytes::from_static(b"yes")));
        assert!(!remote.is_awaited());
        assert_eq!(remote.take(numbers[1]), Fate::Over(Some(8), Ok(Bytes::from_static(b"yes"))));
        assert_eq!(remote.take(numbers[1]), Fate::Unknown);
        remote.clear();
        remote.settle(numbers[2], Err(RemoteFault::Gone));
        assert_eq!((remote.poll(), remote.take(numbers[2])), (None, Fate::Unknown));
        assert!(begin().unwrap() > numbers[15], "a late answer finds nobody");
    }
}
