//! Attacks on real processes: a rack with keys, `rackloom run` and `rackloom load` on one virtual segment, and a
//! stranger among them who sends raw frames while they work.
//!
//! Each job loads its image and has its results compared. Whatever he does, no job ends well with a wrong result, no
//! load says what is not so, nothing is read or executed for him; the rack serves the next job; and the job's report
//! names the attack, as do the cards' counters.
#![allow(missing_docs, unreachable_pub)]

#[path = "../common/mod.rs"]
mod common;
mod intruder;

use std::path::Path;

use common::{Finished, Matrix, Rack, keyed, parse, save_npy, strings};
use intruder::Intruder;
use rackloom_auth::PairKey;
use rackloom_stranger::{ATTACKS, Attack, Seen, Stranger};
use rackloom_wire::{Counter, MacAddr};
use serde_json::Value;

/// A rack with keys, a stranger on its segment, and jobs to be disturbed.
struct Site {
    // He leaves before the rack.
    intruder: Intruder,
    rack: Rack,
    _files: tempfile::TempDir,
    key: String,
    cards: Vec<MacAddr>,
    works: [Work; 2],
    runs: usize,
}

/// A job and its right result. Two in turn: each has to load its image.
struct Work {
    arguments: &'static [&'static str],
    is_right: Box<dyn Fn(&Rack) -> bool>,
    /// Tiles in all.
    tiles: u64,
}

/// How a job went.
struct Went {
    finished: Finished,
    /// What it has printed: of a job that failed, the error.
    report: Value,
    /// Whether what it wrote is right.
    is_right: bool,
    /// Launches, reads and activations on all cards meanwhile.
    launches: u64,
    reads: u64,
    activations: u64,
    /// Frames of the stranger.
    attacks: u64,
}

impl Site {
    fn new() -> Self {
        let (rack, files) = keyed();
        let key = files.path().join("host").to_str().unwrap().to_owned();
        let stranger = stranger(&files.path().join("other"));
        let cards: Vec<MacAddr> =
            strings(&rack.json(&["ls"])["cards"], "mac").iter().map(|mac| mac.parse().unwrap()).collect();
        let works = [burn(&rack), ptrans(&rack)];
        let intruder = Intruder::join(&rack, &cards, stranger);
        Self { intruder, rack, _files: files, key, cards, works, runs: 0 }
    }

    fn count(&self, counters: &[Counter]) -> Vec<u64> {
        let of_card: Vec<_> = self.cards.iter().map(|card| self.intruder.counters(*card)).collect();
        counters.iter().map(|counter| of_card.iter().map(|values| values[*counter as usize]).sum()).collect()
    }

    /// Runs the next job while he does this.
    fn run(&mut self, attacks: &[&'static Attack]) -> Went {
        const DEEDS: [Counter; 3] = [Counter::Launches, Counter::Reads, Counter::ImagesActivated];
        let work = &self.works[self.runs % 2];
        self.runs += 1;
        let _ = std::fs::remove_file(self.rack.path("out.npy"));
        let (before, sent) = (self.count(&DEEDS), self.intruder.sent());
        if !attacks.is_empty() {
            self.intruder.attack(attacks);
        }
        let finished = self.rack.run(&[work.arguments, &["-o", "out.npy", "--json", "--key", &self.key]].concat());
        self.intruder.rest();
        let attacks = self.intruder.sent() - sent;
        let after = self.count(&DEEDS);
        let [launches, reads, activations] = [0, 1, 2].map(|i| after[i] - before[i]);
        let is_right = (work.is_right)(&self.rack);
        let report = parse(&finished.stdout);
        Went { finished, report, is_right, launches, reads, activations, attacks }
    }

    /// The job before it could have given a tile of its to both cards, and nobody else has launched anything.
    fn may_launch(&self) -> u64 {
        2 * self.works[(self.runs - 1) % 2].tiles
    }
}

impl Went {
    /// How often the job's report names this.
    fn named(&self, seen: Seen) -> u64 {
        if [Seen::Harmless, Seen::Spoils].contains(&seen) {
            return self.attacks;
        }
        let forged = &self.report["forged"];
        let here = |name: &str| forged[name].as_u64().unwrap();
        let at = |card: &Value, name: &str| card[name].as_u64().unwrap();
        let cards = |name: &str| forged["cards"].as_array().unwrap().iter().map(|card| at(card, name)).sum::<u64>();
        match seen {
            Seen::CardUntagged => cards("untagged"),
            Seen::CardUnknown => cards("unknown"),
            // What he makes of a frame may come before it or after it, when its counter was used.
            Seen::CardWrong => cards("wrong") + cards("replayed"),
            Seen::CardReplay => cards("replayed"),
            Seen::CardTruncated => cards("truncated"),
            Seen::CardKind => cards("kind"),
            Seen::HostUntagged => here("untagged"),
            Seen::HostWrong => here("wrong") + here("replayed"),
            Seen::HostReplayed => here("replayed"),
            Seen::Harmless | Seen::Spoils => unreachable!("above"),
        }
    }

    /// What is wrong with it, if he did these.
    fn faults(&self, site: &Site, attacks: &[&Attack]) -> Vec<String> {
        let mut faults = Vec::new();
        let spoils = attacks.iter().any(|attack| attack.seen == Seen::Spoils);
        if self.finished.code == 0 && !self.is_right {
            faults.push("a wrong result, and nobody says so".to_owned());
        }
        if self.finished.code != 0 && !(spoils && self.finished.stderr.contains("digest")) {
            faults.push(format!("it failed: {}", self.finished.stderr));
        }
        if self.launches > site.may_launch() || self.reads > 0 || self.activations > 2 {
            let Self { launches, reads, activations, .. } = self;
            faults.push(format!("{launches} launches, {reads} reads, {activations} activations"));
        }
        faults
    }
}

/// A stranger who has the keys of another host.
fn stranger(file: &Path) -> Stranger {
    let file = parse(&std::fs::read_to_string(file).unwrap());
    let pair = |(card, key): (&String, &Value)| {
        let key = u128::from_str_radix(key.as_str().unwrap(), 16).unwrap();
        (card.parse().unwrap(), PairKey::new(key.to_be_bytes()))
    };
    Stranger::new(1, file["cards"].as_object().unwrap().iter().map(pair))
}

/// Hashes: 6 tiles of 500 words, several frames in each direction.
fn burn(rack: &Rack) -> Work {
    let work: Vec<u64> = (0..3000).map(|i| i << 40 | 50).collect();
    save_npy(&rack.path("work.npy"), "<u8", "(3000,)", work.iter().flat_map(|v| v.to_le_bytes()));
    let hash = |z: &u64| (0..64).fold(*z, |z, _| rackloom_node::Rng::new(z).next_u64());
    let right: Vec<u8> = work.iter().flat_map(|z| hash(z).to_le_bytes()).collect();
    let is_right = move |rack: &Rack| std::fs::read(rack.path("out.npy")).is_ok_and(|out| out.ends_with(&right));
    Work { arguments: &["run", "burn", "work.npy", "--tile", "i=500"], is_right: Box::new(is_right), tiles: 6 }
}

/// A matrix that is transposed and added to another, in 4 tiles.
fn ptrans(rack: &Rack) -> Work {
    let (a, b) = (Matrix::random(60, 80, 1), Matrix::random(80, 60, 2));
    a.save(&rack.path("a.npy"));
    b.save(&rack.path("b.npy"));
    let cells = (0..80 * 60).map(|n| b.at(n / 60, n % 60) + a.at(n % 60, n / 60)).collect();
    let right = Matrix { rows: 80, columns: 60, cells };
    let is_right = move |rack: &Rack| {
        let file = rack.path("out.npy");
        file.exists() && Matrix::load(&file, 80, 60) == right
    };
    let arguments = &["run", "ptrans", "a.npy", "b.npy", "--tile", "i=40", "--tile", "j=30"];
    Work { arguments, is_right: Box::new(is_right), tiles: 4 }
}

/// Attacks that show at cards and those that show elsewhere, two at a time: each job suffers one of each.
fn pairs() -> Vec<Vec<&'static Attack>> {
    let is_at_card = |attack: &&Attack| {
        use Seen::{CardKind, CardReplay, CardTruncated, CardUnknown, CardUntagged, CardWrong};
        [CardKind, CardReplay, CardTruncated, CardUnknown, CardUntagged, CardWrong].contains(&attack.seen)
    };
    // Those that may spoil a job have it for themselves.
    let (spoiling, others): (Vec<_>, Vec<_>) = ATTACKS.iter().partition(|attack| attack.seen == Seen::Spoils);
    let (at_card, elsewhere): (Vec<&Attack>, Vec<_>) = others.into_iter().partition(is_at_card);
    let most = at_card.len().max(elsewhere.len());
    let pair = |i| at_card.get(i).into_iter().chain(elsewhere.get(i)).copied().collect();
    (0..most).map(pair).chain(spoiling.into_iter().map(|attack| vec![attack])).collect()
}

/// Jobs in which an attack may go unnamed because he had no processor meanwhile.
const TRIES: u32 = 20;

#[test]
fn no_attack_on_a_live_rack_makes_a_result_wrong_or_goes_unnamed() {
    let mut site = Site::new();
    for _ in 0..2 {
        let calm = site.run(&[]);
        assert!(calm.finished.code == 0 && calm.is_right, "{}", calm.finished.stderr);
        let seen = [Seen::CardUntagged, Seen::CardUnknown, Seen::CardWrong, Seen::CardReplay, Seen::HostWrong];
        assert!(seen.iter().all(|seen| calm.named(*seen) == 0), "{}", calm.finished.stdout);
        assert_eq!((calm.attacks, calm.reads), (0, 0));
    }
    for attacks in pairs() {
        let names: Vec<_> = attacks.iter().map(|attack| attack.name).collect();
        let (mut unnamed, mut tries) = (attacks.clone(), 0);
        // Where he gets no processor while the job runs, he does nothing to it.
        while !unnamed.is_empty() && tries < TRIES {
            tries += 1;
            let went = site.run(&attacks);
            unnamed.retain(|attack| went.named(attack.seen) == 0);
            let faults = went.faults(&site, &attacks);
            // At once: a rack that is had may take the time-out of each further job.
            assert!(faults.is_empty(), "{}: {}", names.join(" and "), faults.join("\n"));
        }
        let unnamed: Vec<_> = unnamed.iter().map(|attack| attack.name).collect();
        assert!(unnamed.is_empty(), "no report of {TRIES} jobs names {}", unnamed.join(" and "));
    }

    // The cards start again, and their host's program is another one each time: what was recorded is of no use.
    for card in ["card0", "card1"] {
        site.rack.json(&["card", "rm", card, "--yank"]);
        site.rack.json(&["card", "add"]);
    }
    let is_named = (0..TRIES).any(|_| {
        site.intruder.replay();
        let went = site.run(&[]);
        let faults = went.faults(&site, &[]);
        assert!(faults.is_empty(), "after restarts: {}", faults.join("\n"));
        let seen = [Seen::CardWrong, Seen::CardReplay, Seen::CardUnknown];
        seen.iter().any(|seen| went.named(*seen) > 0)
    });
    assert!(is_named, "no report of {TRIES} jobs names what was recorded");

    // A load that he spoils, if he is quicker than its host, fails by name; one that he lies about is not misled.
    let load = |site: &Site, role: &str, names: &[&str]| {
        let attacks: Vec<_> = ATTACKS.iter().filter(|attack| names.contains(&attack.name)).collect();
        assert_eq!(attacks.len(), names.len());
        site.intruder.attack(&attacks);
        let finished = site.rack.run(&["load", role, "--json", "--key", &site.key]);
        site.intruder.rest();
        finished
    };
    let spoilt = load(&site, "gemm", &["other image data"]);
    let why = format!("{}{}", spoilt.stdout, spoilt.stderr);
    assert!(spoilt.code == 0 || why.contains("digest"), "{why}");
    assert!(parse(&spoilt.stdout)["forged"].is_object(), "{why}");
    let lies = ["an image that is active", "an image that is staged", "a load that failed", "an abort", "a commit"];
    let is_named = ["vadd", "sobel"].iter().cycle().take(TRIES as usize).any(|role| {
        let loaded = load(&site, role, &lies);
        assert_eq!(loaded.code, 0, "{}", loaded.stderr);
        for card in site.rack.json(&["ls"])["cards"].as_array().unwrap() {
            assert_eq!(card["role"], *role, "{card}");
        }
        parse(&loaded.stdout)["forged"]["untagged"].as_u64() > Some(0)
    });
    assert!(is_named, "no report of {TRIES} loads names the lies");
    let info = site.rack.json(&["info", "card0"]);
    assert!(info["counters"]["auth_untagged"].as_u64() > Some(0), "{info}");
}
