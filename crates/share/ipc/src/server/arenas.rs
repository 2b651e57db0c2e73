//! The arenas of one client.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use super::config::Receipt;
use crate::bulkref::BulkRef;
use crate::error::{Closed, Violation};
use crate::sys::map::{self, Mapping};

/// The arenas that a client shares with the server. A span in use keeps its arena mapped after the client returns it.
#[derive(Debug, Default)]
pub(super) struct Arenas {
    /// The number of the newest arena.
    last: u32,
    maps: BTreeMap<u32, Arc<Mapping>>,
    bytes: u64,
}

impl Arenas {
    /// No arenas, numbered on from `last`: a client may still name earlier ones.
    pub(super) fn after(last: u32) -> Self {
        Self { last, ..Self::default() }
    }

    /// The number of the newest arena.
    pub(super) const fn last(&self) -> u32 {
        self.last
    }

    /// Bytes of all arenas.
    pub(super) const fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Number of arenas.
    pub(super) fn count(&self) -> usize {
        self.maps.len()
    }

    /// Creates a zeroed arena; returns its number and the file for the client. The receipt is kept while it is mapped.
    pub(super) fn make(&mut self, len: u64, receipt: Receipt) -> io::Result<(u32, OwnedFd)> {
        let id = self.last.checked_add(1).ok_or(io::ErrorKind::InvalidInput)?;
        let bytes = usize::try_from(len).map_err(|_| io::ErrorKind::InvalidInput)?;
        let file = map::create(bytes)?;
        let mapping = Mapping::new(&file, bytes)?.with(receipt);
        self.last = id;
        self.maps.insert(id, Arc::new(mapping));
        self.bytes += len;
        Ok((id, file))
    }

    /// Takes an arena back.
    pub(super) fn free(&mut self, id: u32) -> Result<(), Closed> {
        let map = self.maps.remove(&id).ok_or(Violation::Control)?;
        self.bytes -= map.len() as u64;
        Ok(())
    }

    /// The map and place that a reference names.
    pub(super) fn find(&self, what: &BulkRef) -> Option<(Arc<Mapping>, usize, usize)> {
        let map = self.maps.get(&u32::try_from(what.id).ok()?)?;
        let end = what.offset.checked_add(what.len)?;
        (end <= map.len() as u64).then(|| (Arc::clone(map), what.offset as usize, what.len as usize))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_receipt_is_kept_as_long_as_the_memory() {
        let (mut arenas, counted) = (Arenas::default(), Arc::new(()));
        let (id, _file) = arenas.make(4096, Box::new(Arc::clone(&counted))).unwrap();
        let used = arenas.find(&BulkRef { id: id.into(), offset: 0, len: 1 }).unwrap();
        arenas.free(id).unwrap();
        assert_eq!(Arc::strong_count(&counted), 2, "it is still mapped");
        drop(used);
        assert_eq!(Arc::strong_count(&counted), 1);
    }

    #[test]
    fn what_is_kept_with_an_arena_goes_before_its_memory_does() {
        /// Reads the memory as it goes, as a runtime may that has it registered.
        struct Registered(*const u8, Arc<std::sync::atomic::AtomicU32>);
        // SAFETY: only its last owner uses the pointer.
        #[allow(unsafe_code)]
        unsafe impl Send for Registered {}
        // SAFETY: as above.
        #[allow(unsafe_code)]
        unsafe impl Sync for Registered {}
        impl Drop for Registered {
            fn drop(&mut self) {
                // SAFETY: mapped still; otherwise this faults, and the test with it.
                #[allow(unsafe_code)]
                let byte = unsafe { self.0.read_volatile() };
                self.1.store(byte.into(), std::sync::atomic::Ordering::Relaxed);
            }
        }
        let (mut arenas, seen) = (Arenas::default(), Arc::new(std::sync::atomic::AtomicU32::new(0)));
        let (id, _file) = arenas.make(4096, Box::new(())).unwrap();
        let (map, ..) = arenas.find(&BulkRef { id: id.into(), offset: 0, len: 1 }).unwrap();
        map.write(0, &[7]);
        assert_eq!((map.count(10), map.count(1)), (0, 10));
        let make = || Some(Box::new(Registered(map.at(0, 1), Arc::clone(&seen))) as _);
        assert!(map.keep(make));
        assert!(map.keep(|| unreachable!("it is made once")));
        arenas.free(id).unwrap();
        assert_eq!(seen.load(std::sync::atomic::Ordering::Relaxed), 0, "a transfer may use it still");
        drop(map);
        assert_eq!(seen.load(std::sync::atomic::Ordering::Relaxed), 7);
    }

    #[test]
    fn references_outside_an_arena_are_refused() {
        let mut arenas = Arenas::default();
        let (id, _file) = arenas.make(8192, Box::new(())).unwrap();
        let find = |id: u64, offset, len| arenas.find(&BulkRef { id, offset, len }).is_some();
        let id = u64::from(id);
        assert!(find(id, 0, 8192) && find(id, 8191, 1));
        assert!(!find(id, 8191, 2) && !find(id, 8193, 0) && !find(id, u64::MAX, 2) && !find(id, 1, u64::MAX));
        assert!(!find(id + 1, 0, 1) && !find(id + (1 << 32), 0, 1) && !find(0, 0, 1));
        assert_eq!(arenas.free(9), Err(Violation::Control.into()));
        assert_eq!((arenas.free(1), arenas.bytes(), arenas.count()), (Ok(()), 0, 0));
    }
}
