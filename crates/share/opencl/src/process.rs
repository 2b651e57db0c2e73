//! Values that a process has once, and that start anew in a child of a fork.
//!
//! A child has none of its parent's threads, and locks may be held in it forever. So it forgets the parent's values:
//! the parent's handles are invalid in it, except the platform's, and asking that for devices connects again.
#![allow(unsafe_code)]

use std::marker::PhantomData;
use std::ptr::null_mut;
use std::sync::Once;
use std::sync::atomic::{AtomicPtr, Ordering};

/// A value that each process makes when it first uses it, and never drops.
pub struct PerProcess<T: 'static> {
    /// A leaked `T`, or null.
    current: AtomicPtr<()>,
    value: PhantomData<T>,
}

/// A cell that a child of a fork has to clear.
struct Listed {
    cell: &'static AtomicPtr<()>,
    next: *const Self,
}

/// The cells with a value. A cell may be listed twice.
static CELLS: AtomicPtr<Listed> = AtomicPtr::new(null_mut());

impl<T: Default + Sync> PerProcess<T> {
    /// Without a value yet.
    pub const fn new() -> Self {
        Self { current: AtomicPtr::new(null_mut()), value: PhantomData }
    }

    /// This process' value.
    pub fn get(&'static self) -> &'static T {
        let mut current = self.current.load(Ordering::Acquire);
        if current.is_null() {
            current = self.make();
        }
        // SAFETY: `make` has published a `T` here, which is never freed.
        unsafe { &*current.cast() }
    }

    #[cold]
    fn make(&'static self) -> *mut () {
        static HANDLER: Once = Once::new();
        HANDLER.call_once(|| {
            // SAFETY: the handler takes no lock and allocates nothing.
            unsafe { libc::pthread_atfork(None, None, Some(forget_all)) };
        });
        // Listed before it is published: a child that inherits the value must find it in the list.
        list(&self.current);
        let fresh = Box::into_raw(Box::<T>::default());
        let published = self.current.compare_exchange(null_mut(), fresh.cast(), Ordering::AcqRel, Ordering::Acquire);
        published.map_or_else(
            |other| {
                // SAFETY: another thread was faster; nobody has seen ours.
                drop(unsafe { Box::from_raw(fresh) });
                other
            },
            |_| fresh.cast(),
        )
    }
}

fn list(cell: &'static AtomicPtr<()>) {
    let mut head = CELLS.load(Ordering::Acquire);
    let entry = Box::into_raw(Box::new(Listed { cell, next: head }));
    while let Err(other) = CELLS.compare_exchange_weak(head, entry, Ordering::AcqRel, Ordering::Acquire) {
        head = other;
        // SAFETY: the entry is ours until it is published.
        unsafe { (*entry).next = head };
    }
}

/// In the child: forgets all values, so that the next use makes them anew.
unsafe extern "C" fn forget_all() {
    let mut at = CELLS.swap(null_mut(), Ordering::AcqRel).cast_const();
    // SAFETY: entries are never freed, nor changed once they are in the list.
    while let Some(listed) = unsafe { at.as_ref() } {
        listed.cell.store(null_mut(), Ordering::Release);
        at = listed.next;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn a_value_stays_until_a_child_forgets_it() {
        static FIRST: PerProcess<AtomicU32> = PerProcess::new();
        static SECOND: PerProcess<AtomicU32> = PerProcess::new();
        for round in 1..3 {
            for cell in [&FIRST, &SECOND] {
                assert_eq!(cell.get().fetch_add(round, Ordering::Relaxed), 0);
                assert_eq!(cell.get().load(Ordering::Relaxed), round);
            }
            // SAFETY: as in a child; no other test of this program uses such values.
            unsafe { forget_all() };
        }
    }
}
