//! The ring's ordering, checked exhaustively: loom runs every interleaving of the two sides, with every value that the
//! memory model lets a load see, over the very code that runs in shared memory.

use std::sync::atomic::Ordering;

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicU32, fence};
use rackloom_ipc::ring::{Area, Consumer, Producer, Refused, Word};

/// A word of the model.
struct Modelled(AtomicU32);

impl Word for Modelled {
    fn load(&self, order: Ordering) -> u32 {
        self.0.load(order)
    }
    fn store(&self, value: u32, order: Ordering) {
        self.0.store(value, order);
    }
    fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.0.swap(value, order)
    }
}

/// A ring of two records of one byte, and what its sides sleep on. Access to bytes is checked: a read that does not
/// happen after the write, or a write not after the read, fails the test.
struct Small {
    words: [Modelled; 4],
    bytes: [UnsafeCell<[u8; 8]>; CAPACITY as usize / 8],
    bells: [loom::sync::Mutex<bool>; 2],
    rung: [loom::sync::Condvar; 2],
}

const CAPACITY: u32 = 32;

#[derive(Clone)]
struct Shared(Arc<Small>);

impl Area for Shared {
    type Word = Modelled;
    fn head(&self) -> &Modelled {
        &self.0.words[0]
    }
    fn tail(&self) -> &Modelled {
        &self.0.words[1]
    }
    fn want_data(&self) -> &Modelled {
        &self.0.words[2]
    }
    fn want_space(&self) -> &Modelled {
        &self.0.words[3]
    }
    fn capacity(&self) -> u32 {
        CAPACITY
    }
    fn write(&self, at: u32, bytes: &[u8]) {
        if !bytes.is_empty() {
            assert!(at.is_multiple_of(8) && bytes.len() <= 8, "this test's records have short bodies");
            self.0.bytes[at as usize / 8].with_mut(|p| put(p, bytes));
        }
    }
    fn read(&self, at: u32, out: &mut [u8]) {
        if !out.is_empty() {
            self.0.bytes[at as usize / 8].with(|p| out.copy_from_slice(&cell(p)[..out.len()]));
        }
    }
    fn fence(&self) {
        fence(Ordering::SeqCst);
    }
}

#[allow(unsafe_code)]
fn put(at: *mut [u8; 8], bytes: &[u8]) {
    // SAFETY: loom gives the pointer for this call, and fails the test if anybody else has access meanwhile.
    unsafe { (&mut *at)[..bytes.len()].copy_from_slice(bytes) };
}

#[allow(unsafe_code)]
fn cell(at: *const [u8; 8]) -> [u8; 8] {
    // SAFETY: as in `put`.
    unsafe { *at }
}

impl Shared {
    fn new(start: u32) -> Self {
        Self(Arc::new(Small {
            words: [start, start, 0, 0].map(|n| Modelled(AtomicU32::new(n))),
            bytes: std::array::from_fn(|_| UnsafeCell::new([0; 8])),
            bells: std::array::from_fn(|_| loom::sync::Mutex::new(false)),
            rung: std::array::from_fn(|_| loom::sync::Condvar::new()),
        }))
    }

    /// As a futex: a call is not lost between the look and the sleep.
    fn sleep(&self, bell: usize) {
        let mut rung = self.0.bells[bell].lock().unwrap();
        while !*rung {
            rung = self.0.rung[bell].wait(rung).unwrap();
        }
        *rung = false;
    }

    fn call(&self, bell: usize) {
        *self.0.bells[bell].lock().unwrap() = true;
        self.0.rung[bell].notify_one();
    }
}

/// Sends `count` records from one thread to another, both of which sleep when they cannot go on; a call that is lost
/// leaves both asleep, which loom reports.
fn transfer(start: u32, count: u8) {
    let area = Shared::new(start);
    let (mut producer, mut consumer) = (Producer::new(area.clone(), start), Consumer::new(area.clone(), start));
    let sending = {
        let area = area.clone();
        loom::thread::spawn(move || {
            for i in 0..count {
                while let Err(refused) = producer.push(u32::from(i), &[i + 1]) {
                    assert_eq!(refused, Refused::Full);
                    producer.want_space();
                    match producer.push(u32::from(i), &[i + 1]) {
                        Ok(()) => break,
                        Err(_) => area.sleep(1),
                    }
                }
                if producer.data_wanted() != 0 {
                    area.call(0);
                }
            }
        })
    };
    let mut next = 0;
    while next < count {
        let got = consumer.pop(8, 1000, |kind, len, read| {
            let mut body = vec![0; len];
            read(&mut body);
            assert_eq!((kind, body), (u32::from(next), vec![next + 1]));
            next += 1;
        });
        if got.unwrap() > 0 {
            if consumer.space_wanted() {
                area.call(1);
            }
            continue;
        }
        consumer.want_data(1);
        if consumer.is_empty() {
            area.sleep(0);
        }
        consumer.unwant_data();
    }
    sending.join().unwrap();
}

fn explore(preemptions: usize, act: impl Fn() + Sync + Send + 'static) {
    let mut model = loom::model::Builder::new();
    model.preemption_bound = Some(preemptions);
    model.check(act);
}

#[test]
fn one_record_arrives_and_wakes_the_reader() {
    explore(4, || transfer(0, 1));
}

#[test]
fn records_around_the_end_and_the_wrap_arrive_in_order_and_nobody_sleeps_for_ever() {
    // Two records fill the ring, the third waits for space; positions pass 2^32.
    explore(2, || transfer(u32::MAX - 15, 3));
}

#[test]
fn bodies_of_every_length_go_around_the_end() {
    // Without a model: one thread, all places.
    use std::cell::RefCell;
    use std::rc::Rc;
    #[derive(Clone)]
    struct Plain(Rc<([std::sync::atomic::AtomicU32; 4], RefCell<Vec<u8>>)>);
    impl Area for Plain {
        type Word = std::sync::atomic::AtomicU32;
        fn head(&self) -> &Self::Word {
            &self.0.0[0]
        }
        fn tail(&self) -> &Self::Word {
            &self.0.0[1]
        }
        fn want_data(&self) -> &Self::Word {
            &self.0.0[2]
        }
        fn want_space(&self) -> &Self::Word {
            &self.0.0[3]
        }
        fn capacity(&self) -> u32 {
            64
        }
        fn write(&self, at: u32, bytes: &[u8]) {
            self.0.1.borrow_mut()[at as usize..at as usize + bytes.len()].copy_from_slice(bytes);
        }
        fn read(&self, at: u32, out: &mut [u8]) {
            out.copy_from_slice(&self.0.1.borrow()[at as usize..at as usize + out.len()]);
        }
        fn fence(&self) {}
    }
    for offset in (0..64).step_by(8) {
        for len in 0..=56usize {
            let start = (u32::MAX - 63).wrapping_add(offset);
            let words = [start, start, 0, 0].map(std::sync::atomic::AtomicU32::new);
            let area = Plain(Rc::new((words, RefCell::new(vec![0xee; 64]))));
            let (mut producer, mut consumer) = (Producer::new(area.clone(), start), Consumer::new(area, start));
            let body: Vec<u8> = (0..len as u8).collect();
            for _ in 0..3 {
                assert_eq!(producer.push(len as u32, &body), Ok(()));
                let fits = 2 * rackloom_ipc::ring::record_len(len) <= 64;
                assert_eq!(producer.push(1, &body).is_ok(), fits, "{len}");
                let mut got = Vec::new();
                consumer
                    .pop(8, 1000, |_, len, read| {
                        let mut out = vec![0; len];
                        read(&mut out);
                        got.push(out);
                    })
                    .unwrap();
                assert!(got.iter().all(|g| *g == body) && got.len() == 1 + usize::from(fits), "{offset} {len}");
            }
        }
    }
}
