//! A symbolic model of claims and sessions, of which every course is tried: a host, a card, and a stranger. He hears
//! all, delivers what he likes as often as he likes, and has opened another card, whose key he holds. Tags are perfect:
//! he makes one only with the key. Rules with a mistake each show that the model would find it.
//!
//! ```text
//! host -> card   Claim  host's nonce, wish to encrypt       by the pair's key of claims, with the card's boot number
//! card -> host   Grant  both nonces, epoch, and whether it  likewise
//!                       encrypts
//! both ways      Data                                       by the session's key or, encrypted, by that of its cipher
//! ```
//!
//! A host wants encryption for each claim or not; there is a card that encrypts for who asks, and one that cannot. Who
//! sits between would like them to go on in clear: that is found by what leaves, and by sessions of which one end
//! encrypts.
//!
//! What is bounded: two claims, one restart of each side, two frames from the host and one from the card. The host's
//! counter of claims does not go back when it restarts; all else that either side holds is lost.

use std::collections::{BTreeMap, BTreeSet, HashSet};

/// The card that nobody has opened, and the one whose key the stranger holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Card {
    Sound,
    Opened,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Key {
    Claims(Card),
    Session(Session),
    /// Of a session that is encrypted.
    Cipher(Session),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Session {
    card: Card,
    host_nonce: u8,
    card_nonce: u8,
    boot: u8,
    epoch: u8,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Body {
    Claim { host_nonce: u8, encrypts: bool },
    Grant { host_nonce: u8, card_nonce: u8, epoch: u8, encrypts: bool },
    Data(u8),
}

/// A frame with its tag: what the tag binds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Frame {
    key: Key,
    to_host: bool,
    boot: u8,
    counter: u8,
    body: Body,
}

/// What the sides do; each may be left out.
#[derive(Debug, Clone, Copy)]
struct Rules {
    tag_binds_boot: bool,
    tag_binds_direction: bool,
    claims_are_taken_once: bool,
    data_is_taken_once: bool,
    each_card_has_its_key: bool,
    grant_repeats_the_nonce: bool,
    claim_binds_encryption: bool,
    grant_binds_encryption: bool,
    /// A host that wants encryption goes on with nothing else.
    host_insists: bool,
}

const RIGHT: Rules = Rules {
    tag_binds_boot: true,
    tag_binds_direction: true,
    claims_are_taken_once: true,
    data_is_taken_once: true,
    each_card_has_its_key: true,
    grant_repeats_the_nonce: true,
    claim_binds_encryption: true,
    grant_binds_encryption: true,
    host_insists: true,
};

impl Rules {
    /// A frame without what its tag does not bind, which the stranger sets as the receiver wants it.
    fn bound(&self, mut frame: Frame) -> Frame {
        if !self.tag_binds_boot {
            frame.boot = 0;
        }
        if !self.tag_binds_direction {
            frame.to_host = false;
        }
        frame
    }

    /// The same frame with another word on encryption, if its tag does not bind that.
    fn turned(&self, mut frame: Frame) -> Option<Frame> {
        let (encrypts, is_bound) = match &mut frame.body {
            Body::Claim { encrypts, .. } => (encrypts, self.claim_binds_encryption),
            Body::Grant { encrypts, .. } => (encrypts, self.grant_binds_encryption),
            Body::Data(_) => return None,
        };
        *encrypts = !*encrypts;
        (!is_bound).then_some(frame)
    }

    /// Whether the stranger can make tags by this key.
    fn is_known(&self, key: Key) -> bool {
        let (Key::Claims(card) | Key::Session(Session { card, .. }) | Key::Cipher(Session { card, .. })) = key;
        card == Card::Opened || !self.each_card_has_its_key
    }
}

/// One end of a session.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct End {
    session: Session,
    encrypts: bool,
    sent: u8,
    /// Counters that were accepted.
    seen: BTreeSet<u8>,
}

impl End {
    const fn new(session: Session, encrypts: bool) -> Self {
        Self { session, encrypts, sent: 0, seen: BTreeSet::new() }
    }

    /// By which it takes and makes data.
    const fn key(&self) -> Key {
        if self.encrypts { Key::Cipher(self.session) } else { Key::Session(self.session) }
    }
}

/// What a host has claimed, and how.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
struct Asked {
    card: Card,
    host_nonce: u8,
    boot: u8,
    encrypts: bool,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct World {
    // The card.
    can_encrypt: bool,
    boot: u8,
    epoch: u8,
    claims_seen: BTreeSet<u8>,
    card: Option<End>,
    // The host.
    claims_sent: u8,
    asked: Option<Asked>,
    host: Option<End>,
    // The network: all that was ever sent.
    air: BTreeSet<Frame>,
    /// Nonces and boot numbers that were drawn, and numbers of data: none comes twice.
    drawn: u8,
    card_restarts: u8,
    host_restarts: u8,
    // What has happened, for the properties.
    claims: BTreeMap<u8, Asked>,
    /// Of the sound card, and whether it encrypts there.
    sessions: BTreeMap<Session, bool>,
    opened: BTreeSet<Session>,
    data: BTreeMap<u8, (Session, bool)>,
    taken: BTreeSet<u8>,
}

const FORGED: u8 = 255;

impl World {
    const fn new(can_encrypt: bool) -> Self {
        Self {
            can_encrypt,
            boot: 1,
            epoch: 0,
            claims_seen: BTreeSet::new(),
            card: None,
            claims_sent: 0,
            asked: None,
            host: None,
            air: BTreeSet::new(),
            drawn: 1,
            card_restarts: 0,
            host_restarts: 0,
            claims: BTreeMap::new(),
            sessions: BTreeMap::new(),
            opened: BTreeSet::new(),
            data: BTreeMap::new(),
            taken: BTreeSet::new(),
        }
    }

    fn draw(&mut self) -> u8 {
        self.drawn += 1;
        self.drawn
    }

    /// All that may happen next; an error is a property that no longer holds.
    fn next(&self, rules: &Rules) -> Result<Vec<Self>, &'static str> {
        let mut next = Vec::new();
        if self.claims_sent < 2 {
            // Which boot number the host has heard of is the stranger's choice: announcements have no tag.
            for (card, encrypts) in [(Card::Sound, false), (Card::Sound, true), (Card::Opened, true)] {
                for boot in 1..=self.boot {
                    next.push(self.claim(rules, Asked { card, host_nonce: 0, boot, encrypts }));
                }
            }
        }
        if let Some(end) = self.host.as_ref().filter(|end| end.sent < 2) {
            next.push(self.data(rules, end, false)?);
        }
        if let Some(end) = self.card.as_ref().filter(|end| end.sent < 1) {
            next.push(self.data(rules, end, true)?);
        }
        if self.card_restarts < 1 {
            let mut world = self.clone();
            (world.boot, world.epoch, world.card, world.claims_seen) = (world.draw(), 0, None, BTreeSet::new());
            world.card_restarts += 1;
            next.push(world);
        }
        if self.host_restarts < 1 {
            let mut world = self.clone();
            (world.asked, world.host) = (None, None);
            world.host_restarts += 1;
            next.push(world);
        }
        let heard = self.air.iter().flat_map(|frame| [Some(*frame), rules.turned(*frame)]).flatten();
        for frame in heard.chain(self.forged(rules)) {
            next.extend(self.to_card(rules, &frame)?);
            next.extend(self.to_host(rules, &frame)?);
        }
        Ok(next)
    }

    /// The host claims like this, with a nonce that it draws.
    fn claim(&self, rules: &Rules, mut asked: Asked) -> Self {
        let mut world = self.clone();
        let host_nonce = world.draw();
        asked.host_nonce = host_nonce;
        world.claims_sent += 1;
        world.claims.insert(host_nonce, asked);
        world.asked = Some(asked);
        world.host = None;
        let Asked { card, boot, encrypts, .. } = asked;
        let (key, counter, body) = (Key::Claims(card), world.claims_sent, Body::Claim { host_nonce, encrypts });
        world.air.insert(rules.bound(Frame { key, to_host: false, boot, counter, body }));
        world
    }

    /// The host or, `to_host`, the card sends data.
    fn data(&self, rules: &Rules, end: &End, to_host: bool) -> Result<Self, &'static str> {
        let mut world = self.clone();
        let number = world.draw();
        let session = end.session;
        // What an opened card hears its opener reads anyway. One that cannot encrypt says nothing before it is asked,
        // and what it is asked in clear is no secret.
        let wish = if to_host { self.claims.get(&session.host_nonce) } else { self.claims.values().next_back() };
        let is_secret = session.card == Card::Sound && (self.can_encrypt || !to_host);
        if is_secret && wish.is_some_and(|asked| asked.encrypts) && !end.encrypts {
            return Err("what its host wanted encrypted has left in clear");
        }
        let frame =
            Frame { key: end.key(), to_host, boot: session.boot, counter: end.sent + 1, body: Body::Data(number) };
        world.air.insert(rules.bound(frame));
        world.data.insert(number, (session, to_host));
        let sender = if to_host { &mut world.card } else { &mut world.host };
        sender.as_mut().expect("it has sent").sent += 1;
        Ok(world)
    }

    /// What the stranger can make: whatever either side would take next, if he knows the key.
    fn forged(&self, rules: &Rules) -> Vec<Frame> {
        let mut made = Vec::new();
        let claim = Body::Claim { host_nonce: FORGED, encrypts: false };
        let frame = |key, to_host, boot, body| Frame { key, to_host, boot, counter: FORGED, body };
        made.push(frame(Key::Claims(Card::Sound), false, self.boot, claim));
        if let Some(Asked { card, host_nonce, boot, encrypts }) = self.asked {
            let grant = Body::Grant { host_nonce, card_nonce: FORGED, epoch: FORGED, encrypts };
            made.push(frame(Key::Claims(card), true, boot, grant));
        }
        for (end, to_host) in [(&self.card, false), (&self.host, true)] {
            if let Some(end) = end {
                made.push(frame(end.key(), to_host, end.session.boot, Body::Data(FORGED)));
            }
        }
        made.into_iter().filter(|frame| rules.is_known(frame.key)).map(|frame| rules.bound(frame)).collect()
    }

    /// The sound card gets a frame; nothing if it drops it.
    fn to_card(&self, rules: &Rules, frame: &Frame) -> Result<Option<Self>, &'static str> {
        let expects = |key| rules.bound(Frame { key, to_host: false, boot: self.boot, ..*frame }) == *frame;
        let mut world = self.clone();
        match frame.body {
            Body::Claim { host_nonce, encrypts } if expects(Key::Claims(Card::Sound)) => {
                if !world.claims_seen.insert(frame.counter) && rules.claims_are_taken_once {
                    return Ok(None);
                }
                if world.sessions.len() == 4 {
                    return Ok(None); // Enough to be seen.
                }
                world.epoch += 1;
                let card_nonce = world.draw();
                let session =
                    Session { card: Card::Sound, host_nonce, card_nonce, boot: self.boot, epoch: world.epoch };
                if world.claims.get(&host_nonce).is_none_or(|asked| asked.card != Card::Sound) {
                    return Err("a claim that its host did not make was granted");
                }
                if world.sessions.keys().any(|other| other.host_nonce == host_nonce) {
                    return Err("a claim was granted twice");
                }
                // One that cannot does not know the flag.
                let encrypts = encrypts && self.can_encrypt;
                world.sessions.insert(session, encrypts);
                world.card = Some(End::new(session, encrypts));
                let body = Body::Grant { host_nonce, card_nonce, epoch: session.epoch, encrypts };
                let key = Key::Claims(Card::Sound);
                let counter = card_nonce;
                world.air.insert(rules.bound(Frame { key, to_host: true, boot: self.boot, counter, body }));
            }
            Body::Data(number) => {
                let Some(end) = &mut world.card else { return Ok(None) };
                if !expects(end.key()) || !end.seen.insert(frame.counter) && rules.data_is_taken_once {
                    return Ok(None);
                }
                let session = end.session;
                world.take(number, session, false)?;
            }
            _ => return Ok(None),
        }
        Ok(Some(world))
    }

    /// The host gets a frame; nothing if it drops it.
    fn to_host(&self, rules: &Rules, frame: &Frame) -> Result<Option<Self>, &'static str> {
        let expects = |key, boot| rules.bound(Frame { key, to_host: true, boot, ..*frame }) == *frame;
        let mut world = self.clone();
        match (frame.body, self.asked) {
            (Body::Grant { host_nonce, card_nonce, epoch, encrypts: granted }, Some(asked))
                if expects(Key::Claims(asked.card), asked.boot)
                    && (host_nonce == asked.host_nonce || !rules.grant_repeats_the_nonce) =>
            {
                let Asked { card, boot, encrypts: wanted, .. } = asked;
                let session = Session { card, host_nonce, card_nonce, boot, epoch };
                world.asked = None;
                if wanted && !granted && rules.host_insists {
                    // It gives the claim back.
                    return Ok(Some(world));
                }
                let encrypts = if rules.host_insists { wanted } else { granted };
                if card == Card::Sound {
                    let Some(card_encrypts) = world.sessions.get(&session) else {
                        return Err("a session was opened that the card does not have");
                    };
                    if *card_encrypts != encrypts {
                        return Err("a session was opened of which one end encrypts");
                    }
                    if !world.opened.insert(session) {
                        return Err("a session was opened twice");
                    }
                }
                world.host = Some(End::new(session, encrypts));
            }
            (Body::Data(number), _) => {
                let Some(end) = &mut world.host else { return Ok(None) };
                let session = end.session;
                let known = expects(end.key(), session.boot);
                if !known || !end.seen.insert(frame.counter) && rules.data_is_taken_once {
                    return Ok(None);
                }
                // What an opened card says is its opener's word.
                if session.card == Card::Sound {
                    world.take(number, session, true)?;
                }
            }
            _ => return Ok(None),
        }
        Ok(Some(world))
    }

    /// One side of a session with the sound card has accepted this.
    fn take(&mut self, number: u8, session: Session, to_host: bool) -> Result<(), &'static str> {
        if self.data.get(&number) != Some(&(session, to_host)) {
            return Err("data was accepted that nobody sent in this session and direction");
        }
        if self.taken.insert(number) { Ok(()) } else { Err("data was accepted twice") }
    }
}

/// Tries everything; gives the number of states.
fn search(rules: &Rules) -> Result<usize, &'static str> {
    let mut open = vec![World::new(true), World::new(false)];
    let mut seen: HashSet<_> = open.iter().cloned().collect();
    while let Some(world) = open.pop() {
        for next in world.next(rules)? {
            if seen.insert(next.clone()) {
                open.push(next);
            }
        }
    }
    // That nothing bad happens is worth something only if the good happens.
    for encrypts in [false, true] {
        let both = |world: &&World| world.taken.len() == 3 && world.host_restarts == 1 && world.card_restarts == 1;
        let all = |world: &World| world.host.as_ref().is_some_and(|end| end.encrypts == encrypts);
        assert!(seen.iter().filter(both).any(all), "no course in which all data is accepted in spite of restarts");
    }
    Ok(seen.len())
}

#[test]
fn nobody_is_impersonated_nothing_is_accepted_twice_and_nobody_brings_them_to_speak_in_clear() {
    let states = search(&RIGHT).expect("the rules hold");
    println!("{states} states");
    assert!(states > 10_000, "{states} states are not all that there are");
}

#[test]
fn rules_with_a_mistake_are_found() {
    let wrong = [
        ("a session was opened that the card does not have", Rules { tag_binds_boot: false, ..RIGHT }),
        ("a claim was granted twice", Rules { claims_are_taken_once: false, ..RIGHT }),
        ("data was accepted twice", Rules { data_is_taken_once: false, ..RIGHT }),
        (
            "data was accepted that nobody sent in this session and direction",
            Rules { tag_binds_direction: false, ..RIGHT },
        ),
        ("a claim that its host did not make was granted", Rules { each_card_has_its_key: false, ..RIGHT }),
        ("a session was opened twice", Rules { grant_repeats_the_nonce: false, ..RIGHT }),
        ("what its host wanted encrypted has left in clear", Rules { claim_binds_encryption: false, ..RIGHT }),
        ("a session was opened of which one end encrypts", Rules { grant_binds_encryption: false, ..RIGHT }),
        ("what its host wanted encrypted has left in clear", Rules { host_insists: false, ..RIGHT }),
    ];
    for (what, rules) in wrong {
        assert_eq!(search(&rules), Err(what), "{rules:?}");
    }
}
