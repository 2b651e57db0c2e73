//! One link: the connection to the card at its other end, and what that card has said ahead of time.

use std::collections::VecDeque;

use bytes::Bytes;
use rackloom_node::{Instant, Port};
use rackloom_transport::Connection;
use rackloom_wire::link::{CONTEXTS, EAGER, Kind, Neighbour};
use rackloom_wire::{IntoBytes, MacAddr};

use crate::config::SequencerConfig;
use crate::message::{Key, Message, SIGNALS_MAX};

/// One link of a card.
#[derive(Debug)]
pub(crate) struct Link {
    pub(crate) port: Port,
    pub(crate) mac: MacAddr,
    pub(crate) connection: Connection<Message>,
    /// Numbers have begun: something may have been taken, or sent, in this life.
    pub(crate) has_begun: bool,
    /// Who has said last to be at the other end, in this life.
    pub(crate) neighbour: Option<(MacAddr, Port)>,
    /// What each context of the neighbour has said that waits for a command of ours.
    pub(crate) early: [Early; CONTEXTS as usize],
    /// Words to be sent, before any data.
    words: VecDeque<Message>,
    /// Whose data comes next.
    pub(crate) turn: usize,
    /// When the neighbour counts as dead if nothing comes; `None`: no program waits for it.
    pub(crate) dead_at: Option<Instant>,
    /// When the neighbour is to be asked for a sign of life.
    pub(crate) beat_at: Option<Instant>,
    epoch: u32,
}

/// What a context of the neighbour has said that waits for a command.
#[derive(Debug, Default)]
pub(crate) struct Early {
    /// The beginning of a message, at most [`EAGER`] bytes, or up to two signals: the newest, since a context has no
    /// more under way. The older one is first.
    pub(crate) messages: Vec<EarlyData>,
    /// It awaits this message.
    pub(crate) ready: Option<Key>,
    /// Its program of this operation has failed.
    pub(crate) failed: Option<Key>,
}

#[derive(Debug)]
pub(crate) struct EarlyData {
    pub(crate) key: Key,
    pub(crate) total: u32,
    pub(crate) bytes: Vec<u8>,
}

impl EarlyData {
    /// None of its bytes is here yet.
    fn of(message: &Message) -> Self {
        Self { key: message.key, total: message.total, bytes: Vec::with_capacity(message.total as usize) }
    }

    const fn is_signal(&self) -> bool {
        self.total == 0
    }
}

impl Early {
    /// Takes out the message of this key.
    pub(crate) fn take(&mut self, key: Key) -> Option<EarlyData> {
        let at = self.messages.iter().position(|data| data.key == key)?;
        Some(self.messages.remove(at))
    }
}

/// Words that wait to be sent on a link, at most. Programs wait for room.
const WORDS_MAX: usize = 4 * CONTEXTS as usize;

impl Link {
    pub(crate) fn new(now: Instant, config: &SequencerConfig, port: Port, mac: MacAddr) -> Self {
        Self {
            port,
            mac,
            connection: Connection::new(now, config.connection(), config.epoch),
            has_begun: false,
            neighbour: None,
            early: Default::default(),
            words: VecDeque::new(),
            turn: 0,
            dead_at: None,
            beat_at: None,
            epoch: config.epoch,
        }
    }

    /// Ends the connection; the next one is a later life, unless this one never began.
    pub(crate) fn restart(&mut self, now: Instant, config: &SequencerConfig) {
        if self.has_begun {
            // 0 is no epoch.
            self.epoch = if self.epoch == u32::MAX { 1 } else { self.epoch + 1 };
        }
        self.connection = Connection::new(now, config.connection(), self.epoch);
        self.has_begun = false;
        self.forget();
        self.dead_at = None;
        self.beat_at = None;
    }

    /// The neighbour has begun a new life: nothing of its last one counts.
    pub(crate) fn forget(&mut self) {
        self.neighbour = None;
        self.early = Default::default();
        self.words.clear();
        self.connection.retain_queued(|_| false);
    }

    /// Whether there is room for another word, beside one for each context's failure.
    pub(crate) fn has_room(&self) -> bool {
        self.words.len() < WORDS_MAX - CONTEXTS as usize
    }

    /// Queues a word. One that finds no room is left out: that ends somebody's operation by its time, and nothing else.
    pub(crate) fn say(&mut self, word: Message) {
        if self.words.len() < WORDS_MAX {
            self.words.push_back(word);
        }
    }

    /// Asks for a sign of life, and says who is here.
    pub(crate) fn beat(&mut self, config: &SequencerConfig) {
        let key = Key { group: 0, sequence: 0, tag: 0 };
        if self.words.iter().all(|word| word.kind != Kind::LinkBeat) {
            let body = Neighbour { mac: config.mac, port: self.port, reserved: 0 };
            let payload = Bytes::copy_from_slice(body.as_bytes());
            self.say(Message { payload, ..Message::word(Kind::LinkBeat, 0, key, 0) });
        }
    }

    /// The next word to be sent.
    pub(crate) fn next_word(&mut self) -> Option<Message> {
        self.words.pop_front()
    }

    /// Whether nothing waits to be sent or acknowledged.
    pub(crate) fn is_idle(&self) -> bool {
        self.words.is_empty() && self.connection.is_idle()
    }

    /// Whether its connection may be polled to some effect: there is something to say.
    pub(crate) fn has_words(&self) -> bool {
        !self.words.is_empty()
    }

    /// A context of the neighbour has sent bytes that no command takes yet. False: they cannot be kept.
    pub(crate) fn keep(&mut self, message: &Message) -> bool {
        let Some(early) = self.early.get_mut(usize::from(message.slot)) else { return false };
        if message.total > EAGER {
            return false;
        }
        if message.offset == 0 {
            let begun = EarlyData::of(message);
            // What more of its context is here is no more under way.
            if !begun.is_signal() {
                early.messages.clear();
            } else if early.messages.len() == SIGNALS_MAX {
                early.messages.remove(0);
            }
            early.messages.push(begun);
        }
        match early.messages.last_mut() {
            Some(data)
                if data.key == message.key
                    && data.total == message.total
                    && data.bytes.len() == message.offset as usize
                    && data.bytes.len() + message.payload.len() <= data.total as usize =>
            {
                data.bytes.extend_from_slice(&message.payload);
                true
            }
            _ => {
                early.messages.pop();
                false
            }
        }
    }

    /// Bytes that it holds for commands to come.
    pub(crate) fn bytes(&self) -> usize {
        self.early.iter().flat_map(|early| &early.messages).map(|data| data.bytes.capacity()).sum()
    }

    /// # Panics
    /// If an invariant does not hold.
    pub(crate) fn check_invariants(&self) {
        self.connection.check_invariants();
        assert!(self.words.len() <= WORDS_MAX);
        for early in &self.early {
            let is_kept = |data: &EarlyData| data.bytes.len() <= data.total as usize && data.total <= EAGER;
            assert!(early.messages.iter().all(is_kept) && early.messages.len() <= SIGNALS_MAX);
            // Of bytes there is one place.
            assert!(early.messages.iter().filter(|data| !data.is_signal()).count() <= 1);
        }
    }
}
