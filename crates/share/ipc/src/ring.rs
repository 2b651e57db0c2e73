//! A ring of records from one process to another: the algorithm alone, over any words and bytes, so that its ordering
//! can be checked exhaustively (`tests/ring.rs`) and its reader given nonsense.
//!
//! Positions count bytes since the beginning and wrap at 2^32; each side keeps its own privately and only publishes it.
//! **Whatever is read from the area is copied out before it is judged, and is never read twice.** A record is a head of
//! 8 bytes (length and kind, little endian) and the body, padded to a multiple of 8; bodies may go around the end.
//!
//! Sleeping: who wants to sleep raises a flag, and then looks once more; who has published looks at the flag. A fence
//! on both sides stands between the two steps, so that one of the two sees the other. While nobody sleeps, no system
//! call.

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
    /// Writes, and gives what was there.
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

/// What a ring lies in. Offsets of `write` and `read` are within the capacity, and ranges do not go around.
pub trait Area {
    /// Its words.
    type Word: Word;
    /// How far the producer has written.
    fn head(&self) -> &Self::Word;
    /// How far the consumer has read.
    fn tail(&self) -> &Self::Word;
    /// Not 0: the consumer wants a call when there is something to read; what it says is the consumer's business.
    fn want_data(&self) -> &Self::Word;
    /// Not 0: the producer wants a call when there is space.
    fn want_space(&self) -> &Self::Word;
    /// Bytes; a power of two.
    fn capacity(&self) -> u32;
    /// Copies in.
    fn write(&self, at: u32, bytes: &[u8]);
    /// Copies out.
    fn read(&self, at: u32, out: &mut [u8]);
    /// A sequentially consistent fence.
    fn fence(&self);
}

/// The other side wrote what it never writes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Corrupt {
    /// The writer's position is not where one can be.
    #[error("the writer's position is impossible")]
    Head,
    /// The reader's position is not where one can be.
    #[error("the reader's position is impossible")]
    Tail,
    /// A record is longer than allowed, or than what was written.
    #[error("a record's length is impossible")]
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

/// Bytes that a body takes in the ring, its head included. At most [`BODY_MAX`] go in.
pub const fn record_len(body: usize) -> u32 {
    HEAD + (body as u32).next_multiple_of(8)
}

/// The writing side. There is one.
#[derive(Debug)]
pub struct Producer<A> {
    area: A,
    head: u32,
    /// The reader's position as last seen; it only moves on, and never past `head`.
    tail: u32,
}

impl<A: Area> Producer<A> {
    /// Begins where `start` says, which the reader must know as well.
    pub const fn new(area: A, start: u32) -> Self {
        Self { area, head: start, tail: start }
    }

    /// Goes on where another one stopped: its [`Self::positions`].
    ///
    /// # Panics
    /// If there can be no such positions.
    pub fn resume(area: A, (head, tail): (u32, u32)) -> Self {
        assert!(head.wrapping_sub(tail) <= area.capacity(), "callers check positions");
        assert!(head.is_multiple_of(8) && tail.is_multiple_of(8), "callers check positions");
        Self { area, head, tail }
    }

    /// How far it has written, and the reader's position as last seen.
    pub const fn positions(&self) -> (u32, u32) {
        (self.head, self.tail)
    }

    /// What it writes to.
    pub const fn area(&self) -> &A {
        &self.area
    }

    /// Writes a record and publishes it; [`Self::data_wanted`] says whether to call the reader.
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
        // Records are multiples of 8, as is the capacity: a head never goes around the end.
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

    /// To be asked after pushing: what the reader left when it went to sleep, or 0 when it is awake. Asking takes it.
    pub fn data_wanted(&self) -> u32 {
        self.area.fence();
        take(self.area.want_data())
    }

    /// Asks for a call when there is space. Try again after this before sleeping.
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
        // It may only have moved on from where it was, in whole records.
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
    /// Begins where `start` says.
    pub const fn new(area: A, start: u32) -> Self {
        Self { area, tail: start }
    }

    /// How far it has read.
    pub const fn position(&self) -> u32 {
        self.tail
    }

    /// What it reads from.
    pub const fn area(&self) -> &A {
        &self.area
    }

    /// Copies records out until there is none, or `most` of them, or `bytes_max` bytes were passed; `take` is called
    /// with kind and length, and gives the place for the body. Frees their space at the end.
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

    /// Whether nothing is there to be read.
    pub fn is_empty(&self) -> bool {
        self.area.head().load(Ordering::Acquire) == self.tail
    }

    /// Asks for a call when there is something to read. Look again after this before sleeping.
    pub fn want_data(&self, who: u32) {
        self.area.want_data().store(who, Ordering::Relaxed);
        self.area.fence();
    }

    /// Takes the wish back; what it was, or 0 if it was granted already.
    pub fn unwant_data(&self) -> u32 {
        take(self.area.want_data())
    }

    /// To be asked after popping: whether the writer sleeps until there is space. Asking takes it.
    pub fn space_wanted(&self) -> bool {
        self.area.fence();
        take(self.area.want_space()) != 0
    }
}

/// Reads first, for a swap costs much more than a look at a flag that is hardly ever up.
fn take(flag: &impl Word) -> u32 {
    if flag.load(Ordering::Relaxed) == 0 { 0 } else { flag.swap(0, Ordering::AcqRel) }
}
