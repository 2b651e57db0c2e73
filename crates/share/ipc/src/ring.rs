//! A ring of records from one process to another: the algorithm alone, over any words and bytes, so that its ordering
//! can be checked exhaustively (`tests/ring.rs`) and its reader tested with arbitrary bytes.
//!
//! Positions count bytes since the beginning and wrap at 2^32; each side keeps its own privately and only publishes it.
//! **Everything read from the area is copied out before it is validated, and never read twice.** A record is a head of
//! 8 bytes (length and kind, little endian) and the body, padded to a multiple of 8; bodies may wrap around the end.
//!
//! Sleeping: a side that wants to sleep sets a flag and then checks once more; a side that has published checks the
//! flag. A fence on both sides separates the two steps, so that one of the two sees the other. While nobody sleeps,
//! there are no system calls.

use std::sync::atomic::Ordering;

/// Most bytes of a body.
pub const BODY_MAX: usize = 64 * 1024;

/// Bytes before each body.
pub const HEAD: u32 = 8;

/// An atomic word: of the shared memory, or a model's.
pub trait Word {
    /// Reads.
    fn load(&self, order: Ordering) -> u32;
    /// Writes.
    fn store(&self, value: u32, order: Ordering);
    /// Writes, and returns the old value.
    fn swap(&self, value: u32, order: Ordering) -> u32;
}

impl Word for std::sync::atomic::AtomicU32 {
    fn load(&self, order: Ordering) -> u32 {
        self.load(order)
    }
    fn store(&self, value: u32, order: Ordering) {
        self.store(value, order);
    }
    fn swap(&self, value: u32, order: Ordering) -> u32 {
        self.swap(value, order)
    }
}

/// The memory of a ring. Offsets of `write` and `read` are within the capacity, and ranges do not wrap around.
pub trait Area {
    /// Its words.
    type Word: Word;
    /// How far the producer has written.
    fn head(&self) -> &Self::Word;
    /// How far the consumer has read.
    fn tail(&self) -> &Self::Word;
    /// Not 0: the consumer wants to be woken when there is something to read; the value is its own.
    fn want_data(&self) -> &Self::Word;
    /// Not 0: the producer wants to be woken when there is space.
    fn want_space(&self) -> &Self::Word;
    /// Capacity in bytes; a power of two.
    fn capacity(&self) -> u32;
    /// Copies in.
    fn write(&self, at: u32, bytes: &[u8]);
    /// Copies out.
    fn read(&self, at: u32, out: &mut [u8]);
    /// A sequentially consistent fence.
    fn fence(&self);
}

/// The other side wrote something invalid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Corrupt {
    /// The writer's position is invalid.
    #[error("the writer's position is invalid")]
    Head,
    /// The reader's position is invalid.
    #[error("the reader's position is invalid")]
    Tail,
    /// A record is longer than allowed, or than what was written.
    #[error("a record's length is invalid")]
    Length,
}

/// Why a record was not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refused {
    /// There is no space now.
    Full,
    /// The other side is broken or hostile.
    Corrupt(Corrupt),
}

/// Bytes that a body takes in the ring, its head included. A body has at most [`BODY_MAX`] bytes.
pub const fn record_len(body: usize) -> u32 {
    HEAD + (body as u32).next_multiple_of(8)
}

/// The writing side. There is one.
#[derive(Debug)]
pub struct Producer<A> {
    area: A,
    head: u32,
    /// The reader's position as last seen; it only advances, and never past `head`.
    tail: u32,
}

impl<A: Area> Producer<A> {
    /// Begins at `start`, which the reader must know as well.
    pub const fn new(area: A, start: u32) -> Self {
        Self { area, head: start, tail: start }
    }

    /// Continues where another one stopped: at its [`Self::positions`].
    ///
    /// # Panics
    /// If the positions are invalid.
    pub fn resume(area: A, (head, tail): (u32, u32)) -> Self {
        assert!(head.wrapping_sub(tail) <= area.capacity(), "callers check positions");
        assert!(head.is_multiple_of(8) && tail.is_multiple_of(8), "callers check positions");
        Self { area, head, tail }
    }

    /// How far it has written, and the reader's position as last seen.
    pub const fn positions(&self) -> (u32, u32) {
        (self.head, self.tail)
    }

    /// The memory it writes to.
    pub const fn area(&self) -> &A {
        &self.area
    }

    /// Writes a record and publishes it; [`Self::data_wanted`] says whether to wake the reader.
    pub fn push(&mut self, kind: u32, body: &[u8]) -> Result<(), Refused> {
        assert!(body.len() <= BODY_MAX, "callers check lengths");
        let need = record_len(body.len());
        if self.free() < need {
            self.look().map_err(Refused::Corrupt)?;
            if self.free() < need {
                return Err(Refused::Full);
            }
        }
        let mut head = [0; HEAD as usize];
        head[..4].copy_from_slice(&(body.len() as u32).to_le_bytes());
        head[4..].copy_from_slice(&kind.to_le_bytes());
        let mask = self.area.capacity() - 1;
        // Records are multiples of 8, as is the capacity: a head never wraps around the end.
        self.area.write(self.head & mask, &head);
        let at = self.head.wrapping_add(HEAD) & mask;
        let (first, second) = body.split_at(body.len().min((self.area.capacity() - at) as usize));
        self.area.write(at, first);
        if !second.is_empty() {
            self.area.write(0, second);
        }
        self.head = self.head.wrapping_add(need);
        self.area.head().store(self.head, Ordering::Release);
        Ok(())
    }

    /// Ask this after pushing: the value that the reader left when it went to sleep, or 0 if it is awake. Asking clears
    /// it.
    pub fn data_wanted(&self) -> u32 {
        self.area.fence();
        take(self.area.want_data())
    }

    /// Asks to be woken when there is space. Try again after this, before sleeping.
    pub fn want_space(&self) {
        self.area.want_space().store(1, Ordering::Relaxed);
        self.area.fence();
    }

    fn free(&self) -> u32 {
        self.area.capacity() - self.head.wrapping_sub(self.tail)
    }

    fn look(&mut self) -> Result<(), Corrupt> {
        let tail = self.area.tail().load(Ordering::Acquire);
        let unread = self.head.wrapping_sub(tail);
        // It can only have advanced, by whole records.
        if unread > self.head.wrapping_sub(self.tail) || !unread.is_multiple_of(8) {
            return Err(Corrupt::Tail);
        }
        self.tail = tail;
        Ok(())
    }
}

/// The reading side. There is one.
#[derive(Debug)]
pub struct Consumer<A> {
    area: A,
    tail: u32,
}

impl<A: Area> Consumer<A> {
    /// Begins at `start`.
    pub const fn new(area: A, start: u32) -> Self {
        Self { area, tail: start }
    }

    /// How far it has read.
    pub const fn position(&self) -> u32 {
        self.tail
    }

    /// The memory it reads from.
    pub const fn area(&self) -> &A {
        &self.area
    }

    /// Copies records out until there are no more, or `most` of them, or `bytes_max` bytes were copied; `take` is
    /// called with kind and length, and returns the place for the body. Frees their space at the end.
    pub fn pop(
        &mut self,
        most: usize,
        bytes_max: usize,
        mut take: impl FnMut(u32, usize, &mut dyn FnMut(&mut [u8])),
    ) -> Result<usize, Corrupt> {
        let written = self.area.head().load(Ordering::Acquire);
        let capacity = self.area.capacity();
        let mut unread = written.wrapping_sub(self.tail);
        if unread > capacity || !unread.is_multiple_of(8) {
            return Err(Corrupt::Head);
        }
        let (mut count, mut bytes) = (0, 0);
        while unread > 0 && count < most && bytes < bytes_max {
            let mut head = [0; HEAD as usize];
            self.area.read(self.tail & (capacity - 1), &mut head);
            let len = u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize;
            let kind = u32::from_le_bytes([head[4], head[5], head[6], head[7]]);
            if len > BODY_MAX || record_len(len) > unread {
                return Err(Corrupt::Length);
            }
            let at = self.tail.wrapping_add(HEAD) & (capacity - 1);
            let area = &self.area;
            take(kind, len, &mut |out: &mut [u8]| {
                let (first, second) = out.split_at_mut(len.min((capacity - at) as usize));
                area.read(at, first);
                if !second.is_empty() {
                    area.read(0, second);
                }
            });
            self.tail = self.tail.wrapping_add(record_len(len));
            unread -= record_len(len);
            count += 1;
            bytes += len;
        }
        if count > 0 {
            self.area.tail().store(self.tail, Ordering::Release);
        }
        Ok(count)
    }

    /// Whether there is nothing to read.
    pub fn is_empty(&self) -> bool {
        self.area.head().load(Ordering::Acquire) == self.tail
    }

    /// Asks to be woken when there is something to read. Check again after this, before sleeping.
    pub fn want_data(&self, who: u32) {
        self.area.want_data().store(who, Ordering::Relaxed);
        self.area.fence();
    }

    /// Withdraws that request; returns its value, or 0 if it was granted already.
    pub fn unwant_data(&self) -> u32 {
        take(self.area.want_data())
    }

    /// Ask this after popping: whether the writer sleeps until there is space. Asking clears it.
    pub fn space_wanted(&self) -> bool {
        self.area.fence();
        take(self.area.want_space()) != 0
    }
}

/// Reads first: a swap costs much more than reading a flag that is hardly ever set.
fn take(flag: &impl Word) -> u32 {
    if flag.load(Ordering::Relaxed) == 0 { 0 } else { flag.swap(0, Ordering::AcqRel) }
}
