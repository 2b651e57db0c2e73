//! A symbolic model of keys that change and of hosts that are revoked, of which every course is tried: a card, a host,
//! an operator who gives them other files while they run, and a stranger. He hears all, delivers what he likes as often
//! as he likes, and has found a key: the host's file, or the card's key. Tags are perfect: he makes one only with the
//! key. Rules with a mistake each show that the model would find it. What one generation of keys needs is the model
//! in `exchange.rs`.
//!
//! What is bounded: two claims of the host, or one and the stranger's, a frame of data, two other files for the card
//! and one for the host. Files go forwards only: no generation comes back that was taken back. Nonces that were granted
//! are remembered; a card does so for as many as it has room for.

use std::collections::{BTreeSet, HashSet};

/// What a card and a host share: of a generation of the rack's key, and one of the host's own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Pair {
    rack: u8,
    host: u8,
}

/// The keys of the rack that a file has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Generations {
    newest: u8,
    /// That before, too.
    has_former: bool,
}

const FIRST: Generations = Generations { newest: 0, has_former: false };
const BOTH: Generations = Generations { newest: 1, has_former: true };
const NEXT: Generations = Generations { newest: 1, has_former: false };

impl Generations {
    fn has(self, rack: u8) -> bool {
        rack == self.newest || self.has_former && rack + 1 == self.newest
    }

    /// Whether an operator gives this after that.
    fn follows(self, before: Self) -> bool {
        self.newest >= before.newest && (self.has_former <= before.has_former || self.newest > before.newest)
    }
}

/// A card's file: of the host's own keys that generation counts, or none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct CardFile {
    rack: Generations,
    host: Option<u8>,
}

/// A host's file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct HostFile {
    rack: Generations,
    own: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Session {
    pair: Pair,
    nonce: u8,
    /// Drawn by the card; the stranger's for one that no card has.
    number: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Frame {
    Claim {
        pair: Pair,
        nonce: u8,
    },
    Grant(Session),
    /// The card does not take that generation; it answers under its newest.
    Stale(Pair),
    /// The host's key counts no more.
    Revoked(Pair),
    Data(Session),
}

/// What the stranger has found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Nothing,
    /// A copy of the host's first file.
    HostFile,
    /// The card's key of the first generation: the keys of all hosts come from it.
    CardKey,
}

/// What the sides do; each may be left out.
#[derive(Debug, Clone, Copy)]
struct Rules {
    generations_are_drawn_anew: bool,
    hosts_keys_have_generations: bool,
    card_forgets_the_former: bool,
    host_forgets_the_former: bool,
    revoked_keys_count_no_more: bool,
    claims_that_wait_are_checked_again: bool,
    sessions_end_with_their_keys: bool,
    refusals_have_tags: bool,
}

const RIGHT: Rules = Rules {
    generations_are_drawn_anew: true,
    hosts_keys_have_generations: true,
    card_forgets_the_former: true,
    host_forgets_the_former: true,
    revoked_keys_count_no_more: true,
    claims_that_wait_are_checked_again: true,
    sessions_end_with_their_keys: true,
    refusals_have_tags: true,
};

/// A nonce and a number of a session that nobody but the stranger draws.
const FORGED: u8 = 255;

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    // The card. A claim waits while memory is zeroed.
    card_file: CardFile,
    /// Generations that it had.
    card_had: BTreeSet<u8>,
    waiting: Option<(Pair, u8)>,
    card: Option<Session>,
    spent: BTreeSet<u8>,
    // The host.
    host_file: HostFile,
    host_had: BTreeSet<u8>,
    asked: Option<(Pair, u8)>,
    host: Option<Session>,
    was_refused: bool,
    // The network: all that was ever sent.
    air: BTreeSet<Frame>,
    drawn: u8,
    claims: u8,
    sent: u8,
    card_changes: u8,
    host_changes: u8,
    // What has happened, for the properties.
    sessions: BTreeSet<Session>,
    taken: BTreeSet<Session>,
}

impl World {
    fn new() -> Self {
        let (card_file, host_file) = (CardFile { rack: FIRST, host: Some(0) }, HostFile { rack: FIRST, own: 0 });
        Self {
            card_file,
            card_had: BTreeSet::from([0]),
            waiting: None,
            card: None,
            spent: BTreeSet::new(),
            host_file,
            host_had: BTreeSet::from([0]),
            asked: None,
            host: None,
            was_refused: false,
            air: BTreeSet::new(),
            drawn: 0,
            claims: 0,
            sent: 0,
            card_changes: 0,
            host_changes: 0,
            sessions: BTreeSet::new(),
            taken: BTreeSet::new(),
        }
    }

    fn draw(&mut self) -> u8 {
        self.drawn += 1;
        self.drawn
    }

    /// All that may happen next; an error is a property that no longer holds.
    fn next(&self, rules: &Rules, found: Found) -> Result<Vec<Self>, &'static str> {
        let mut next = self.files();
        if self.claims < if found == Found::Nothing { 2 } else { 1 } {
            let mut world = self.clone();
            world.claims += 1;
            let nonce = world.draw();
            world.host = None;
            world.ask(rules, self.host_file.rack.newest, nonce);
            next.push(world);
        }
        if let Some(session) = self.host.filter(|_| self.sent < 1) {
            let mut world = self.clone();
            world.sent += 1;
            world.air.insert(Frame::Data(session));
            next.push(world);
        }
        next.extend(self.grant(rules, found)?);
        for frame in self.air.iter().copied().chain(self.forged(rules, found)) {
            next.extend(self.to_card(rules, frame)?);
            next.extend(self.to_host(rules, found, frame)?);
        }
        Ok(next)
    }

    /// The operator gives one of them another file. A host starts again with it.
    fn files(&self) -> Vec<Self> {
        let mut next = Vec::new();
        for rack in [FIRST, BOTH, NEXT] {
            for host in [Some(0), None, Some(1)] {
                let (file, before) = (CardFile { rack, host }, self.card_file);
                let is_later = match (before.host, host) {
                    (Some(before), Some(now)) => now >= before,
                    (Some(_), None) => before.host == Some(0),
                    (None, now) => now != Some(0),
                };
                if self.card_changes < 2 && file != before && rack.follows(before.rack) && is_later {
                    let mut world = self.clone();
                    world.card_changes += 1;
                    world.card_file = file;
                    world.card_had.insert(rack.newest);
                    next.push(world);
                }
            }
            for own in self.host_file.own..=1 {
                let file = HostFile { rack, own };
                if self.host_changes < 1 && file != self.host_file && rack.follows(self.host_file.rack) {
                    let mut world = self.clone();
                    world.host_changes += 1;
                    (world.host_file, world.asked, world.host, world.was_refused) = (file, None, None, false);
                    world.host_had.insert(rack.newest);
                    next.push(world);
                }
            }
        }
        next
    }

    /// The host claims the card under a generation of keys.
    fn ask(&mut self, rules: &Rules, rack: u8, nonce: u8) {
        let pair = self.host_pair(rules, rack);
        self.asked = Some((pair, nonce));
        self.air.insert(Frame::Claim { pair, nonce });
    }

    fn host_pair(&self, rules: &Rules, rack: u8) -> Pair {
        Pair { rack, host: if rules.hosts_keys_have_generations { self.host_file.own } else { 0 } }
    }

    /// Whether the card takes claims under this key, by its file.
    fn counts(&self, rules: &Rules, pair: Pair) -> bool {
        let has =
            self.card_file.rack.has(pair.rack) || !rules.card_forgets_the_former && self.card_had.contains(&pair.rack);
        let own = self.card_file.host.map(|own| if rules.hosts_keys_have_generations { own } else { 0 });
        has && (own == Some(pair.host) || !rules.revoked_keys_count_no_more)
    }

    /// The same as the operator means it.
    fn should_count(&self, pair: Pair, found: Found) -> bool {
        // Without generations of hosts' keys the later one is the one that was lost.
        let is_lost = found == Found::HostFile && self.card_file.host != Some(0);
        self.card_file.rack.has(pair.rack) && self.card_file.host.is_some() && !is_lost
    }

    /// What the stranger can make with what he has found.
    fn forged(&self, rules: &Rules, found: Found) -> Vec<Frame> {
        let knows = |pair: &Pair| {
            let rack = pair.rack == 0 || !rules.generations_are_drawn_anew;
            rack && match found {
                Found::Nothing => false,
                Found::HostFile => pair.host == 0,
                Found::CardKey => true,
            }
        };
        let pairs = [0, 1].into_iter().flat_map(|rack| [0, 1].map(|host| Pair { rack, host }));
        let mut made = Vec::new();
        for pair in pairs {
            let known = knows(&pair);
            if known {
                made.push(Frame::Claim { pair, nonce: FORGED });
                let nonce = self.asked.map_or(FORGED, |(_, nonce)| nonce);
                made.push(Frame::Grant(Session { pair, nonce, number: FORGED }));
                made.extend(self.card.filter(|s| s.pair == pair && s.nonce == FORGED).map(Frame::Data));
            }
            if known || !rules.refusals_have_tags {
                made.extend([Frame::Stale(pair), Frame::Revoked(pair)]);
            }
        }
        made
    }

    /// The claim that waits has the card, once memory is zeroed.
    fn grant(&self, rules: &Rules, found: Found) -> Result<Option<Self>, &'static str> {
        let Some((pair, nonce)) = self.waiting else { return Ok(None) };
        let mut world = self.clone();
        world.waiting = None;
        if rules.claims_that_wait_are_checked_again && !self.counts(rules, pair) {
            return Ok(Some(world));
        }
        if nonce == FORGED && !self.should_count(pair, found) {
            return Err("a key that was taken back was granted a claim");
        }
        if !world.spent.insert(nonce) {
            return Err("a claim was granted twice");
        }
        let session = Session { pair, nonce, number: world.draw() };
        world.sessions.insert(session);
        world.card = Some(session);
        world.air.insert(Frame::Grant(session));
        Ok(Some(world))
    }

    /// The card gets a frame; nothing if it drops it.
    fn to_card(&self, rules: &Rules, frame: Frame) -> Result<Option<Self>, &'static str> {
        let mut world = self.clone();
        match frame {
            Frame::Claim { pair, nonce } => {
                if self.spent.contains(&nonce) || self.waiting.is_some() || self.sessions.len() == 2 {
                    return Ok(None);
                }
                if self.counts(rules, pair) {
                    world.waiting = Some((pair, nonce));
                } else {
                    // Under a key that it has: of the host's keys the one that counts and the one before.
                    let host = self.card_file.host.unwrap_or(0);
                    let is_former = self.card_file.host.is_none_or(|own| pair.host < own);
                    let is_revoked = self.card_file.rack.has(pair.rack) && is_former && pair.host == 0;
                    let newest = Pair { rack: self.card_file.rack.newest, host };
                    world.air.insert(if is_revoked { Frame::Revoked(pair) } else { Frame::Stale(newest) });
                }
            }
            Frame::Data(session) if self.card == Some(session) => {
                let ends = rules.sessions_end_with_their_keys && !self.counts(rules, session.pair);
                if ends {
                    world.card = None;
                } else if !self.counts(&RIGHT, session.pair) && rules.hosts_keys_have_generations {
                    return Err("data was accepted under a key that counts no more");
                } else {
                    world.taken.insert(session);
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(world))
    }

    /// The host gets a frame; nothing if it drops it.
    fn to_host(&self, rules: &Rules, found: Found, frame: Frame) -> Result<Option<Self>, &'static str> {
        let Some((asked, nonce)) = self.asked else { return Ok(None) };
        let rack = self.host_file.rack;
        let has = |pair: Pair| {
            let has = rack.has(pair.rack) || !rules.host_forgets_the_former && self.host_had.contains(&pair.rack);
            has && self.host_pair(rules, pair.rack) == pair
        };
        let mut world = self.clone();
        match frame {
            Frame::Grant(session) if session.nonce == nonce && session.pair == asked => {
                let is_lost = found != Found::Nothing && rack.has(0);
                if !self.sessions.contains(&session) && !is_lost {
                    return Err("a session was opened that the card does not have");
                }
                (world.asked, world.host) = (None, Some(session));
            }
            // To older keys only.
            Frame::Stale(pair) if has(pair) && pair.rack < asked.rack => world.ask(rules, pair.rack, nonce),
            Frame::Revoked(pair) if has(pair) => {
                if found == Found::Nothing && self.card_file.host == Some(0) {
                    return Err("a host believed that it was revoked, and it was not");
                }
                (world.asked, world.was_refused) = (None, true);
            }
            _ => return Ok(None),
        }
        Ok(Some(world))
    }
}

/// Tries everything; gives all states.
fn search(rules: &Rules, found: Found) -> Result<HashSet<World>, &'static str> {
    let mut seen = HashSet::from([World::new()]);
    let mut open = vec![World::new()];
    while let Some(world) = open.pop() {
        for next in world.next(rules, found)? {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    Ok(seen)
}

#[test]
fn what_is_taken_back_counts_no_more_and_what_is_given_works() {
    for found in [Found::Nothing, Found::HostFile, Found::CardKey] {
        let all = search(&RIGHT, found).expect("the rules hold");
        println!("{found:?}: {} states", all.len());
        assert!(all.len() > 10_000, "{} states are not all that there are", all.len());
        // That nothing bad happens is worth something only if the good happens.
        let works = |world: &World, rack, own| {
            world.taken.iter().any(|s| s.nonce != FORGED && s.pair == Pair { rack, host: own })
        };
        assert!(all.iter().any(|w| w.card_file.rack == NEXT && w.host_file.rack == NEXT && works(w, 1, 0)), "rotation");
        assert!(all.iter().any(|w| w.card_file.rack == BOTH && w.host_file.rack == FIRST && works(w, 0, 0)), "between");
        assert!(all.iter().any(|w| w.card_file.rack == FIRST && w.host_file.rack == BOTH && works(w, 0, 0)), "behind");
        assert!(all.iter().any(|w| w.card_file.host == Some(1) && works(w, 0, 1)), "a host is back");
        assert!(all.iter().any(|w| w.was_refused && w.card_file.host.is_none()), "a host hears that it was revoked");
    }
}

#[test]
fn rules_with_a_mistake_are_found() {
    let granted = "a key that was taken back was granted a claim";
    let accepted = "data was accepted under a key that counts no more";
    let opened = "a session was opened that the card does not have";
    let wrong = [
        (Found::CardKey, opened, Rules { generations_are_drawn_anew: false, ..RIGHT }),
        (Found::HostFile, granted, Rules { hosts_keys_have_generations: false, ..RIGHT }),
        (Found::CardKey, accepted, Rules { card_forgets_the_former: false, ..RIGHT }),
        (Found::HostFile, accepted, Rules { revoked_keys_count_no_more: false, ..RIGHT }),
        (Found::HostFile, granted, Rules { claims_that_wait_are_checked_again: false, ..RIGHT }),
        (Found::CardKey, opened, Rules { host_forgets_the_former: false, ..RIGHT }),
        (Found::Nothing, accepted, Rules { sessions_end_with_their_keys: false, ..RIGHT }),
        (
            Found::Nothing,
            "a host believed that it was revoked, and it was not",
            Rules { refusals_have_tags: false, ..RIGHT },
        ),
    ];
    for (found, what, rules) in wrong {
        assert_eq!(search(&rules, found).map(|all| all.len()), Err(what), "{rules:?}");
    }
}
