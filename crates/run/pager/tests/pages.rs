//! Loads and stores of threads, and what reaches the source.
#![allow(unsafe_code, missing_docs)]

use std::io;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use rackloom_pager::{Access, PagerError, Pages, Source, Span};

/// Bytes in this process.
#[derive(Clone, Default)]
struct Store(Arc<Inner>);

#[derive(Default)]
struct Inner {
    bytes: Mutex<Vec<u8>>,
    fetches: AtomicU64,
    writes: Mutex<Vec<(u64, usize)>>,
    is_gone: AtomicBool,
}

impl Source for Store {
    type Error = io::Error;

    fn fetch(&self, spans: &[Span]) -> Vec<Result<Vec<u8>, io::Error>> {
        self.0.fetches.fetch_add(1, Ordering::Relaxed);
        let one = |span: &Span| match self.0.is_gone.load(Ordering::Relaxed) {
            true => Err(io::Error::other("gone")),
            false => Ok(self.0.bytes.lock().unwrap()[span.offset as usize..][..span.length].to_vec()),
        };
        spans.iter().map(one).collect()
    }

    fn store(&self, writes: Vec<(u64, Vec<u8>)>) -> Result<(), io::Error> {
        if self.0.is_gone.load(Ordering::Relaxed) {
            return Err(io::Error::other("gone"));
        }
        for (offset, bytes) in writes {
            self.0.writes.lock().unwrap().push((offset, bytes.len()));
            self.0.bytes.lock().unwrap()[offset as usize..][..bytes.len()].copy_from_slice(&bytes);
        }
        Ok(())
    }
}

impl Store {
    fn new(length: usize) -> Self {
        let store = Self::default();
        *store.0.bytes.lock().unwrap() = (0..length).map(|i| (i / 7) as u8).collect();
        store
    }
    fn byte(&self, at: usize) -> u8 {
        self.0.bytes.lock().unwrap()[at]
    }
    fn set(&self, at: usize, byte: u8) {
        self.0.bytes.lock().unwrap()[at] = byte;
    }
}

fn load(pages: &Pages<Store>, at: usize) -> u8 {
    assert!(at < pages.len());
    // SAFETY: the byte is inside the mapping, which outlives the call.
    unsafe { pages.as_ptr().add(at).read_volatile() }
}

fn save(pages: &Pages<Store>, at: usize, byte: u8) {
    assert!(at < pages.len());
    // SAFETY: as above; the mapping is writable.
    unsafe { pages.as_ptr().add(at).write_volatile(byte) };
}

/// Set in the process that is to die.
const CHILD: &str = "RACKLOOM_PAGER_CHILD";
const LENGTH: usize = 40 * 4096 + 100;

fn pages(access: Access) -> (Store, Pages<Store>) {
    let store = Store::new(LENGTH);
    let pages = Pages::new(store.clone(), LENGTH as u64, access).expect("this system lets programs serve page faults");
    (store, pages)
}

#[test]
fn what_is_touched_comes_from_the_source_once() {
    let (store, pages) = pages(Access::Read);
    assert_eq!((pages.len(), store.0.fetches.load(Ordering::Relaxed)), (LENGTH, 0));
    for at in [5, 9000, 9001, LENGTH - 1, 5] {
        assert_eq!(load(&pages, at), (at / 7) as u8, "{at}");
    }
    assert_eq!(store.0.fetches.load(Ordering::Relaxed), 3);
    for at in 0..LENGTH {
        assert_eq!(load(&pages, at), (at / 7) as u8, "{at}");
    }
    let fetches = store.0.fetches.load(Ordering::Relaxed);
    assert!(fetches < 15, "{fetches} fetches: those in order run ahead");
}

#[test]
fn only_words_that_changed_are_written_back() {
    let (store, pages) = pages(Access::ReadWrite);
    save(&pages, 8, 200); // A page that is not there.
    let _ = load(&pages, 4096 * 3);
    save(&pages, 4096 * 3 + 4095, 201); // A page that is, and one behind it: one run.
    save(&pages, 4096 * 4, 202);
    save(&pages, LENGTH - 1, 203);
    assert_eq!(store.byte(8), 1, "nothing is written before");
    // Words beside those that changed are another's.
    store.set(16, 77);
    pages.sync().unwrap();
    assert_eq!((store.byte(8), store.byte(16), store.byte(LENGTH - 1)), (200, 77, 203));
    let expected = [(8, 8), (4096 * 4 - 8, 16), (LENGTH as u64 / 8 * 8, LENGTH % 8)];
    assert_eq!(*store.0.writes.lock().unwrap(), expected);
    // Once: and again only what changes again.
    pages.sync().unwrap();
    assert_eq!(store.0.writes.lock().unwrap().len(), 3);
    save(&pages, 8, 204);
    pages.sync().unwrap();
    assert_eq!(store.byte(8), 204);
    drop(pages);
    assert_eq!(store.0.writes.lock().unwrap().len(), 4);
}

#[test]
fn dropping_writes_back() {
    let (store, pages) = pages(Access::ReadWrite);
    save(&pages, 100, 99);
    drop(pages);
    assert_eq!(store.byte(100), 99);
}

#[test]
fn invalidated_pages_are_fetched_anew_and_changes_stay() {
    let (store, pages) = pages(Access::ReadWrite);
    assert_eq!((load(&pages, 7), load(&pages, 5000)), (1, (5000 / 7) as u8));
    save(&pages, 5000, 9);
    store.set(7, 50);
    store.set(5008, 51);
    assert_eq!(load(&pages, 7), 1, "a page stays as it was fetched");
    pages.invalidate();
    assert_eq!((load(&pages, 7), load(&pages, 5000)), (50, 9));
    assert_ne!(load(&pages, 5008), 51, "it has a change beside it");
    pages.sync().unwrap();
    pages.invalidate();
    assert_eq!((load(&pages, 5000), load(&pages, 5008)), (9, 51));
}

#[test]
fn what_could_not_be_written_is_written_with_the_next_sync() {
    let (store, pages) = pages(Access::ReadWrite);
    save(&pages, 100, 99);
    store.0.is_gone.store(true, Ordering::Relaxed);
    assert_eq!(pages.sync().unwrap_err().to_string(), "gone");
    save(&pages, 108, 98);
    pages.invalidate();
    store.0.is_gone.store(false, Ordering::Relaxed);
    pages.sync().unwrap();
    assert_eq!((store.byte(100), store.byte(108)), (99, 98));
}

#[test]
fn threads_lose_no_store_while_others_sync_and_invalidate() {
    let (store, pages) = pages(Access::ReadWrite);
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let writers: Vec<_> = (0..4)
            .map(|thread| {
                let pages = &pages;
                scope.spawn(move || {
                    for round in 1..=200u32 {
                        for page in 0..40 {
                            // Each thread has a word of each page.
                            let at = page * 4096 + thread * 8;
                            assert_eq!(load(pages, at), if round == 1 { (at / 7) as u8 } else { (round - 1) as u8 });
                            save(pages, at, round as u8);
                        }
                    }
                })
            })
            .collect();
        scope.spawn(|| {
            while !done.load(Ordering::Relaxed) {
                pages.sync().unwrap();
                pages.invalidate();
            }
        });
        let ended: Vec<_> = writers.into_iter().map(|writer| writer.join()).collect();
        done.store(true, Ordering::Relaxed);
        assert!(ended.iter().all(Result::is_ok));
    });
    pages.sync().unwrap();
    for page in 0..40 {
        for thread in 0..4 {
            assert_eq!(store.byte(page * 4096 + thread * 8), 200, "page {page}, thread {thread}");
        }
    }
}

#[test]
fn lengths_that_cannot_be_mapped_are_refused() {
    for length in [0, u64::MAX] {
        let refused = Pages::new(Store::default(), length, Access::Read).map(drop);
        assert!(matches!(refused, Err(PagerError::Length { .. })), "{refused:?}");
    }
}

/// In a process of its own, which the next test starts: touches a page of a source that is gone.
#[test]
fn touch_what_is_gone() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let (store, pages) = pages(Access::Read);
    assert_eq!(load(&pages, 7), 1);
    store.0.is_gone.store(true, Ordering::Relaxed);
    let _ = load(&pages, 9000);
}

#[test]
fn a_page_that_does_not_come_is_a_bus_error_and_not_a_hang() {
    use std::os::unix::process::ExitStatusExt as _;
    let program = std::env::current_exe().unwrap();
    let started = std::time::Instant::now();
    let child =
        std::process::Command::new(program).args(["--exact", "touch_what_is_gone"]).env(CHILD, "1").output().unwrap();
    assert_eq!(child.status.signal(), Some(7), "{child:?}"); // SIGBUS.
    assert!(started.elapsed() < std::time::Duration::from_secs(5));
}
