//! Requests of this node to the memory of its peers.

use bytes::Bytes;
use rackloom_node::Instant;
use rackloom_wire::MacAddr;
use rackloom_wire::bridge::{CHANNEL_MEMORY, TRANSACTIONS};

use crate::codec::Key;
use crate::endpoint::{Endpoint, NotTaken};
use crate::message::{Atomic, Message};
use crate::transactions::Ticket;

impl Endpoint {
    /// Requests that may begin to this peer now.
    pub fn room(&self, peer: MacAddr) -> usize {
        let key = Key { peer, channel: CHANNEL_MEMORY };
        self.peers.get(&key).map_or_else(|| usize::from(TRANSACTIONS), |link| link.transactions.room())
    }

    /// Asks `peer` for `count` bytes at `addr`, 1 to [`EndpointConfig::longest`].
    ///
    /// # Errors
    /// See [`NotTaken`].
    pub fn read(&mut self, now: Instant, peer: MacAddr, addr: u64, count: u32) -> Result<Ticket, NotTaken> {
        if count == 0 || count > self.config.longest.into() {
            return Err(NotTaken::Invalid);
        }
        self.begin(now, peer, Message::read(0, addr, count), count)
    }

    /// Writes to `peer`'s memory at `addr`, 1 to [`EndpointConfig::longest`] bytes.
    ///
    /// # Errors
    /// See [`NotTaken`].
    pub fn write(&mut self, now: Instant, peer: MacAddr, addr: u64, bytes: Bytes) -> Result<Ticket, NotTaken> {
        let count = self.length(&bytes)?;
        self.begin(now, peer, Message::write(0, addr, bytes), count)
    }

    /// Writes to several places of `peer`'s memory in one packet: all of it, or nothing where one is not permitted.
    ///
    /// # Errors
    /// See [`NotTaken`]; [`NotTaken::Invalid`] also if the writes do not fit one packet.
    pub fn write_batch(&mut self, now: Instant, peer: MacAddr, writes: &[(u64, &[u8])]) -> Result<Ticket, NotTaken> {
        let mut records = Vec::new();
        for (addr, bytes) in writes {
            if bytes.is_empty() || bytes.len() > usize::from(u16::MAX) {
                return Err(NotTaken::Invalid);
            }
            rackloom_wire::put_record(&mut records, *addr, bytes);
        }
        let records = Bytes::from(records);
        self.length(&records)?;
        let count = writes.iter().map(|(_, bytes)| bytes.len() as u32).sum();
        self.begin(now, peer, Message::batch(0, records), count)
    }

    /// Changes 8 bytes of `peer`'s memory at `addr`, a multiple of 8, in one step.
    ///
    /// # Errors
    /// See [`NotTaken`].
    pub fn atomic(&mut self, now: Instant, peer: MacAddr, addr: u64, atomic: Atomic) -> Result<Ticket, NotTaken> {
        if !addr.is_multiple_of(8) {
            return Err(NotTaken::Invalid);
        }
        self.begin(now, peer, Message::atomic(0, addr, atomic), 8)
    }

    fn length(&self, bytes: &Bytes) -> Result<u32, NotTaken> {
        let count = u32::try_from(bytes.len()).ok().filter(|n| (1..=self.config.longest.into()).contains(n));
        count.ok_or(NotTaken::Invalid)
    }

    /// `count`: bytes that the answer will tell of.
    fn begin(&mut self, now: Instant, peer: MacAddr, mut message: Message, count: u32) -> Result<Ticket, NotTaken> {
        let key = Key { peer, channel: CHANNEL_MEMORY };
        self.open(now, key)?;
        let ticket = Ticket(self.tickets);
        let link = self.peers.get_mut(&key).expect("it is open");
        if link.transactions.room() == 0 {
            return Err(NotTaken::Full);
        }
        if !link.is_waiting() {
            link.gives_up = now + self.config.patience;
        }
        link.transactions.begin(ticket, &mut message, count);
        link.connection.push(message).expect("the queue has room for all requests under way and all answers");
        self.tickets += 1;
        self.settle(key);
        Ok(ticket)
    }
}
