//! What is written to the card's key store: its keys, and which hosts may claim it, as `rl_key_store` has them.

use std::collections::VecDeque;

use rackloom_card::Keys;

/// Hosts that a key store has room for, those that were revoked among them.
pub const KEY_STORE_HOSTS: usize = 64;

/// A word, and where it goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Write {
    pub(crate) at: u16,
    pub(crate) word: u32,
}

/// Words that wait to be written.
#[derive(Debug, Default)]
pub(crate) struct KeyWriter(VecDeque<Write>);

impl KeyWriter {
    /// These come behind all that waits. There must be room for their hosts.
    pub(crate) fn push(&mut self, keys: &Keys) {
        let hosts = keys.hosts();
        assert!(hosts.len() <= KEY_STORE_HOSTS, "it was checked");
        let mut put = |at, word| self.0.push_back(Write { at, word });
        let of_host = |(n, (host, keys)): (u16, (&u16, &rackloom_card::HostKeys))| {
            let counts = u32::from(keys.counts.is_some()) << COUNTS_BIT;
            let revoked = u32::from(keys.revoked.is_some()) << REVOKED_BIT;
            let words = [u32::from(*host) | counts | revoked, keys.counts.unwrap_or(0), keys.revoked.unwrap_or(0)];
            (HOST_WORDS * n..).zip(words)
        };
        (0..).zip(&hosts).flat_map(of_host).for_each(|(at, word)| put(at, word));
        let mut own = keys.of_card();
        for first in [KEYS, KEYS + KEY_PLACES] {
            let key = own.next();
            if let Some((generation, key)) = key {
                let words = key.reveal().chunks_exact(4);
                let words = words.map(|word| u32::from_le_bytes(word.try_into().expect("four bytes")));
                (first..).zip(words.chain([generation])).for_each(|(at, word)| put(at, word));
            }
            put(first + THERE, u32::from(key.is_some()));
        }
        put(END, u32::try_from(hosts.len()).expect("a few"));
    }

    /// No key and no host comes behind all that waits.
    pub(crate) fn push_none(&mut self) {
        self.push_words([KEYS + THERE, KEYS + KEY_PLACES + THERE, END].map(|at| Write { at, word: 0 }));
    }

    /// These words come behind all that waits.
    pub(crate) fn push_words(&mut self, words: impl IntoIterator<Item = Write>) {
        self.0.extend(words);
    }

    /// What is to be written now.
    pub(crate) fn next(&self) -> Option<Write> {
        self.0.front().copied()
    }

    /// It was written.
    pub(crate) fn pop(&mut self) {
        self.0.pop_front();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// Places of a host.
const HOST_WORDS: u16 = 4;
/// Bits of a host's first word.
const COUNTS_BIT: u32 = 16;
const REVOKED_BIT: u32 = 17;
/// Where the first of the card's keys is, how far it is to the other one, and where one says that it is there.
const KEYS: u16 = 256;
const KEY_PLACES: u16 = 8;
const THERE: u16 = 5;
/// Ends what is written.
const END: u16 = 272;
