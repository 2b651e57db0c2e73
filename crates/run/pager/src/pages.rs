//! A range of pages and the thread that fetches them.

use std::fmt;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use rackloom_sync::lock;
use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::io::Errno;

use crate::diff::changed;
use crate::error::PagerError;
use crate::faults::{Fault, FaultKind, Faults};
use crate::region::Region;
use crate::source::{Source, Span};
use crate::table::Table;

/// What the memory may be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// A store ends the process with SIGSEGV.
    Read,
    /// Stores stay here until they are written back.
    ReadWrite,
}

/// Memory whose pages come from a source. Dropping it writes back what has changed, as far as that is possible; after
/// that its addresses are no longer valid.
pub struct Pages<S: Source> {
    shared: Arc<Shared<S>>,
    thread: Option<JoinHandle<()>>,
}

struct Shared<S: Source> {
    // Before the region: its faults are asked for no longer once it is gone.
    faults: Faults,
    region: Region,
    source: S,
    /// Bytes of the source; the region is longer by a part of a page, at most.
    length: usize,
    page: usize,
    access: Access,
    table: Mutex<Table>,
    /// One write-back at a time.
    syncing: Mutex<()>,
    failure: Mutex<Option<S::Error>>,
    stop: OwnedFd,
}

impl<S: Source> Pages<S> {
    /// Maps the first `length` bytes of `source`. Behind them, up to the end of the page, are zeros that go nowhere.
    ///
    /// # Errors
    /// The system does not allow it, or has no addresses: [`PagerError`] says what can be done.
    pub fn new(source: S, length: u64, access: Access) -> Result<Self, PagerError> {
        let page = rustix::param::page_size();
        let bytes = usize::try_from(length).ok().filter(|bytes| *bytes > 0 && *bytes <= isize::MAX as usize - page);
        let length = bytes.ok_or(PagerError::Length { length })?;
        let region = Region::new(length.next_multiple_of(page), access == Access::ReadWrite)?;
        let faults = Faults::of(&region, page)?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK);
        let shared = Arc::new(Shared {
            faults,
            region,
            source,
            length,
            page,
            access,
            table: Mutex::default(),
            syncing: Mutex::default(),
            failure: Mutex::new(None),
            stop: stop.map_err(PagerError::io("make an eventfd"))?,
        });
        let theirs = Arc::clone(&shared);
        let thread = std::thread::Builder::new().name("rackloom-pager".to_owned()).spawn(move || {
            // Whoever waits for a page would wait for ever, and no error can reach them.
            if std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| theirs.serve())).is_err() {
                std::process::abort();
            }
        });
        Ok(Self { shared, thread: Some(thread.map_err(PagerError::io("start a thread"))?) })
    }

    /// The first address. It may be read, and written if the access permits, up to [`len`](Self::len) bytes and for as
    /// long as this value lives. An access to a page that the source fails to give raises SIGBUS.
    #[must_use]
    pub fn as_ptr(&self) -> *mut u8 {
        self.shared.region.start()
    }

    /// Bytes of memory.
    #[must_use]
    #[allow(clippy::len_without_is_empty)] // It never is.
    pub fn len(&self) -> usize {
        self.shared.length
    }

    /// Where pages come from.
    #[must_use]
    pub fn source(&self) -> &S {
        &self.shared.source
    }

    /// Why the last page could not be fetched, if one could not; told once.
    pub fn failure(&self) -> Option<S::Error> {
        lock(&self.shared.failure).take()
    }

    /// Writes back the words that have changed, and waits until they are written. What is stored meanwhile may go along
    /// or stay.
    ///
    /// # Errors
    /// Of the source: what was not written stays changed.
    pub fn sync(&self) -> Result<(), S::Error> {
        self.shared.sync()
    }

    /// Drops the pages that hold no changes, poisoned ones among them: the next access fetches them anew. Those that
    /// do stay as they are: [`sync`](Self::sync) them first.
    pub fn invalidate(&self) {
        self.shared.invalidate();
    }
}

impl<S: Source> Drop for Pages<S> {
    fn drop(&mut self) {
        let _ = self.sync(); // Who wants to hear of it calls it before.
        // Cannot fail: the counter is far from its maximum.
        let _ = rustix::io::write(&self.shared.stop, &1u64.to_ne_bytes());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl<S: Source> fmt::Debug for Pages<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pages").field("region", &self.shared.region).finish_non_exhaustive()
    }
}

impl<S: Source> Shared<S> {
    /// Serves faults until it is time to stop.
    fn serve(&self) {
        let mut ahead = Ahead::default();
        loop {
            let mut fds =
                [PollFd::from_borrowed_fd(self.faults.as_fd(), PollFlags::IN), PollFd::new(&self.stop, PollFlags::IN)];
            match poll(&mut fds, None) {
                Ok(_) | Err(Errno::INTR) => {}
                Err(e) => panic!("cannot wait for page faults: {e}"),
            }
            if !fds[1].revents().is_empty() {
                return;
            }
            let faults = self.faults.read().expect("the kernel reports page faults");
            self.answer(&faults, &mut ahead).expect("the kernel takes answers to its page faults");
        }
    }

    fn answer(&self, faults: &[Fault], ahead: &mut Ahead) -> io::Result<()> {
        for fault in faults.iter().filter(|fault| fault.kind == FaultKind::Protected) {
            let mut table = lock(&self.table);
            if !table.is_present(fault.offset) {
                // It was dropped since the fault: whoever waits comes again and finds it absent.
                self.faults.wake(fault.offset)?;
                continue;
            }
            // It is protected, and stays so while this holds the lock.
            table.open(fault.offset, || self.region.copy_out(fault.offset..fault.offset + self.page));
            self.faults.protect(fault.offset, false)?;
        }
        let absent: Vec<_> = faults.iter().filter(|fault| fault.kind != FaultKind::Protected).collect();
        let mut wanted: Vec<usize> = absent.iter().map(|fault| fault.offset).collect();
        wanted.sort_unstable();
        wanted.dedup();
        if let [only] = wanted[..] {
            let pages = ahead.pages(only, self.page);
            wanted.extend((1..pages).map(|i| only + i * self.page).take_while(|offset| *offset < self.length));
        }
        let is_store = |offset| absent.iter().any(|fault| fault.offset == offset && fault.kind == FaultKind::Store);
        let mut tries = 0;
        while !wanted.is_empty() {
            tries += 1;
            let held = lock(&self.table);
            let generation = held.generation;
            // Who drops pages over and over has to wait in the end.
            let held = (tries == TRIES).then_some(held);
            let fetched = self.fetch(&wanted);
            let table = &mut *held.unwrap_or_else(|| lock(&self.table));
            if table.generation != generation {
                // Pages were dropped meanwhile: this may be what was to be forgotten.
                continue;
            }
            for (offset, result) in wanted.drain(..).zip(fetched) {
                let is_awaited = absent.iter().any(|fault| fault.offset == offset);
                match result {
                    Ok(mut contents) => {
                        contents.resize(self.page, 0);
                        let is_store = is_store(offset);
                        if self.faults.give(offset, &contents, !is_store)? {
                            table.give(offset);
                            if is_store {
                                table.open(offset, || contents);
                            }
                        }
                    }
                    Err(why) if is_awaited => {
                        *lock(&self.failure) = Some(why);
                        self.faults.poison(offset)?;
                    }
                    // Nobody has asked for it yet.
                    Err(_) => {}
                }
            }
        }
        Ok(())
    }

    fn fetch(&self, offsets: &[usize]) -> Vec<Result<Vec<u8>, S::Error>> {
        let span = |&offset: &usize| Span { offset: offset as u64, length: self.page.min(self.length - offset) };
        let fetched = self.source.fetch(&offsets.iter().map(span).collect::<Vec<_>>());
        assert_eq!(fetched.len(), offsets.len(), "each span has a result");
        fetched
    }

    fn sync(&self) -> Result<(), S::Error> {
        if self.access == Access::Read {
            return Ok(());
        }
        let _one = lock(&self.syncing);
        let mut looks = Vec::new();
        let mut table = lock(&self.table);
        for offset in table.opened() {
            // From here on a store to it waits for the lock.
            self.faults.protect(offset, true).expect("the page is there");
            let is = self.region.copy_out(offset..offset + self.page);
            looks.push(table.look(offset, is));
        }
        drop(table);
        let writes = looks.iter().flat_map(|look| {
            let valid = self.page.min(self.length - look.offset);
            changed(&look.was, &look.is).into_iter().filter(move |run| run.start < valid).map(move |run| {
                let end = run.end.min(valid);
                ((look.offset + run.start) as u64, look.is[run.start..end].to_vec())
            })
        });
        let mut joined: Vec<(u64, Vec<u8>)> = Vec::new();
        for (offset, bytes) in writes {
            match joined.last_mut() {
                Some((at, before)) if *at + before.len() as u64 == offset => before.extend(bytes),
                _ => joined.push((offset, bytes)),
            }
        }
        let result = if joined.is_empty() { Ok(()) } else { self.source.store(joined) };
        let mut table = lock(&self.table);
        looks.into_iter().for_each(|look| table.settle(look, result.is_ok()));
        result
    }

    fn invalidate(&self) {
        let mut table = lock(&self.table);
        table.generation += 1;
        for range in table.unchanged(self.page, self.region.bytes()) {
            table.forget(&range);
            self.region.drop_pages(range).expect("the pages are ours");
        }
    }
}

/// How far to fetch ahead of whoever goes through the pages in order.
#[derive(Debug, Default)]
struct Ahead {
    /// The fault that would go on where the last one ended.
    next: usize,
    pages: usize,
}

impl Ahead {
    /// Pages to fetch for a fault.
    fn pages(&mut self, offset: usize, page: usize) -> usize {
        self.pages = if self.pages > 0 && offset == self.next { (self.pages * 2).min(AHEAD_MAX) } else { 1 };
        self.next = offset + self.pages * page;
        self.pages
    }
}

/// After how many fetches, less one, a page is given although pages are dropped all the time.
const TRIES: u32 = 4;
/// Most pages fetched at once: 256 KiB of 4 KiB pages, some 190 standard frames.
const AHEAD_MAX: usize = 64;
