//! All limits, with their reasons.

use std::time::Duration;

/// What a server grants each client, and when it closes the channel of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of each of the two rings; a power of two from 128 KiB, so that the longest message fits, to 1 GiB.
    /// The default, 256 KiB, holds thousands of small messages and stays in a second-level cache.
    pub ring_bytes: u32,
    /// Messages queued for a client that does not read, beyond those in its ring. The next one closes its channel.
    /// Over TCP only the bytes count.
    pub queue_messages_max: usize,
    /// Bytes queued in the same way, beyond the ring or the socket.
    pub queue_bytes_max: usize,
    /// Bytes of bulk that a client may hold at a time: arenas on one node, transfers between nodes.
    pub bulk_bytes_max: u64,
    /// Arenas, or transfers under way, that a client may have. Each arena costs the server a map, and a file while it
    /// is handed over.
    pub bulk_count_max: usize,
    /// How long an unfinished bulk transfer may go without progress.
    pub stall: Duration,
    /// How the server's threads wait.
    pub spin: Spin,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            ring_bytes: 256 * 1024,
            queue_messages_max: 4096,
            queue_bytes_max: 4 << 20,
            bulk_bytes_max: 4 << 30,
            bulk_count_max: 1024,
            stall: Duration::from_secs(10),
            spin: Spin::default(),
        }
    }
}

/// How long a thread spins before it sleeps; not at all on a machine with one processor, and over
/// TCP with fewer than four.
///
/// A sleep and a wake-up cost each side some microseconds; but a thread that spins keeps a processor from the very
/// process that it waits for, if no other is free. So the time adapts: it halves after each spin that fails, down to
/// none, and is restored after a number of sleeps that doubles with each failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spin {
    /// Longest time, in microseconds; 0 sleeps at once.
    pub us_max: u32,
}

impl Spin {
    /// Sleeps at once.
    pub const OFF: Self = Self { us_max: 0 };

    /// Of a client, who waits for kernels, and without a manager would wait in a driver that does not sleep at all.
    pub(crate) fn of_a_client() -> Self {
        if has_many_processors() { Self { us_max: 4000 } } else { Self::default() }
    }
}

/// Whether a thread that looks is likely to keep nobody from a processor.
fn has_many_processors() -> bool {
    std::thread::available_parallelism().is_ok_and(|processors| processors.get() >= 8)
}

impl Default for Spin {
    /// Where many processors idle, waking one of them takes longer than most answers do. Some kernels of a few
    /// microseconds each make an answer of some hundred.
    fn default() -> Self {
        Self { us_max: if has_many_processors() { 300 } else { 20 } }
    }
}

/// Default for the most clients of a server at a time.
pub const CLIENTS_MAX: usize = 64;

/// Most connections at a time that have not greeted yet; the oldest makes room for the next, so that silent ones do not
/// keep others out.
pub(crate) const GREETINGS_MAX: usize = 32;

/// Bytes of packets, with the system's own for each, that wait in a client's socket: some twenty packets. The files in
/// them count against the server's user, whose limit all clients share.
pub(crate) const SOCKET_SEND: usize = 8 * 1024;

/// How long a client that has asked for an arena may leave its full socket unread: many times as long as a thread waits
/// for a processor on a busy machine.
pub(crate) const UNREAD_TIMEOUT: Duration = Duration::from_secs(1);

/// How long a greeting may take, on both sides.
pub(crate) const GREETING_TIMEOUT: Duration = Duration::from_secs(2);

/// How long a client over TCP that was welcomed may take to bring its second connection. It has a seat meanwhile, which
/// is its tenant's: so there are no more of them than seats, and who is slow takes no place of others.
pub(crate) const SESSION_TIMEOUT: Duration = Duration::from_secs(10);

/// Smallest arena: small spans share one.
pub(crate) const ARENA_MIN: u64 = 4 << 20;

/// Bytes of free arenas that a client keeps for the next spans, since fresh pages cost more than the copies into them.
pub(crate) const ARENA_KEEP: u64 = 128 << 20;

/// How long messages may stay unread while a program's own threads keep calling, and so will soon read them themselves.
pub(crate) const GRACE: Duration = Duration::from_millis(1);

/// How long the connection for messages may outlast the one for bulk, whose end may overtake what was said before.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(1);
