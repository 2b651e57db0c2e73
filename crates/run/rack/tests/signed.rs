//! A load of signed images into many cards at once, in virtual time: who refuses it is named, and nobody waits for
//! them.

use bytes::Bytes;
use rackloom_card::{Config, Pace};
use rackloom_host::{ClaimOptions, Commit, Config as HostConfig, Event, Host, LoadReport, OpError, OpId, Outcome};
use rackloom_image::Image;
use rackloom_node::{Duration, Either, Instant};
use rackloom_rack::{Kind, Maker, SimRack, Slot};
use rackloom_sign::{Cards, Policy, Refusal, Release, Signer, SignerKey, sign};
use rackloom_sim::{Cable, SwitchConfig};
use rackloom_wire::{ErrorCode, MacAddr};

const HOST: MacAddr = MacAddr([2, 0, 0, 0, 0, 99]);

fn mac(unit: u16) -> MacAddr {
    MacAddr([2, 0, 0, 0, 1, unit as u8])
}

fn key(n: u8) -> SignerKey {
    SignerKey::new(&[n; 32])
}

fn policy(name: &str, n: u8, cards: Cards) -> Policy {
    Policy::new(vec![Signer { name: name.into(), key: key(n).id(), cards }]).unwrap()
}

fn signed(n: u8, version: u64) -> Bytes {
    let image = Image::parse(Bytes::from_static(rackloom_builtin_roles::image("vadd").unwrap())).unwrap();
    sign(&image, &key(n), version).unwrap()
}

struct Lab {
    rack: SimRack<Host>,
    host: Slot,
}

impl Lab {
    /// Twenty cards, claimed.
    fn new(host_policy: Option<Policy>, change: impl Fn(&mut Config)) -> Self {
        let mut rack = SimRack::new(7, Maker::shared());
        let cable = Cable::TEN_GIGABIT;
        let switch = rack.net.switch(SwitchConfig::with_ports(21));
        let config = HostConfig { policy: host_policy, ..HostConfig::simulated(HOST, 7, 10_000_000_000) };
        let host = rack.add_host(HOST, Host::new(config), switch, cable);
        for unit in 0..20 {
            let mut config = Config::new(mac(unit), Pace::Virtual);
            (config.unit, config.memory, config.boot) = (unit, 4 << 20, 100 + u32::from(unit));
            change(&mut config);
            rack.add_card(Kind::Model, config, switch, cable).unwrap();
        }
        let mut lab = Self { rack, host };
        while lab.rack.host(host).cards().count() < 20 {
            lab.next();
        }
        for unit in 0..20 {
            let claim = lab.command(|host, now| host.claim(now, mac(unit), ClaimOptions::default()));
            lab.wait(claim).unwrap();
        }
        lab
    }

    fn next(&mut self) -> Event {
        let limit = self.rack.net.now() + Duration::from_secs(60);
        loop {
            match self.rack.run_until(limit).expect("nothing happens any more") {
                (.., Either::A(event)) => return event,
                (.., Either::B(_)) => {}
            }
        }
    }

    fn command<R>(&mut self, command: impl FnOnce(&mut Host, Instant) -> R) -> R {
        self.rack.with_host(self.host, command)
    }

    fn wait(&mut self, op: OpId) -> Result<Outcome, OpError> {
        loop {
            match self.next() {
                Event::Completed { op: over, result } if over == op => return result,
                _ => {}
            }
        }
    }

    fn load(&mut self, image: Bytes, commit: Commit) -> LoadReport {
        let cards: Vec<_> = (0..20).map(mac).collect();
        let op = self.command(|host, now| host.load(now, &cards, image, commit));
        match self.wait(op) {
            Ok(Outcome::Loaded(report)) => report,
            other => panic!("{other:?}"),
        }
    }

    /// The unit numbers of the cards that run the image with this digest.
    fn run_by(&self, image: &[u8]) -> Vec<u16> {
        let digest = Some(*blake3::hash(image).as_bytes());
        let runs = |slot: &&Slot| self.rack.card(**slot).as_model().unwrap().active_digest() == digest;
        self.rack.cards().iter().filter(runs).map(|slot| u16::from(slot.mac.0[5])).collect()
    }
}

/// Three of twenty refuse for three reasons: one knows the signer for other cards only, one does not know it, and one
/// has run something newer.
fn three_refuse(config: &mut Config) {
    let (unit, mac) = (config.unit, config.mac);
    config.signers = Some(match unit {
        3 => policy("lab", 1, Cards::Only { macs: Default::default(), units: [4].into() }).of(mac, unit),
        8 => policy("others", 2, Cards::All).of(mac, unit),
        _ => policy("lab", 1, Cards::All).of(mac, unit),
    });
    if unit == 17 {
        config.versions = [Release { signer: key(1).id(), role: "vadd".into(), version: 9 }].into_iter().collect();
    }
}

#[test]
fn seventeen_of_twenty_load_and_the_report_names_the_three_that_refuse() {
    let image = signed(1, 5);
    let mut all = Lab::new(None, |_| {});
    let usual = all.load(image.clone(), Commit::Each).total();
    let mut lab = Lab::new(None, three_refuse);
    let report = lab.load(image.clone(), Commit::Each);
    let refused: Vec<_> = report
        .cards
        .iter()
        .filter_map(|(card, result)| match result {
            Ok(()) => None,
            Err(OpError::Load { code: ErrorCode::ImageSignature, text, .. }) => Some((card.0[5], text.as_str())),
            Err(why) => panic!("{why}"),
        })
        .collect();
    let stranger = format!("signed by {}, whom nobody knows here", key(1).id().short());
    let expected =
        [(3, "signed by lab, who may not sign for it"), (8, stranger.as_str()), (17, "version 5 is older than 9")];
    assert_eq!(refused, expected);
    assert_eq!(lab.run_by(&image), (0..20).filter(|unit| ![3, 8, 17].contains(unit)).collect::<Vec<_>>());
    // A refusal is said as soon as it is known, so the others do not wait for it.
    let time = report.total();
    assert!(time <= usual + usual / 20, "{time:?} in place of {usual:?}");
    let why = report.cards[&mac(17)].clone().unwrap_err();
    assert_eq!(why.to_string(), "card17 (02:00:00:00:01:11): refused the image: version 5 is older than 9");
    assert_eq!(why.code_name(), Some("image-signature"));
}

#[test]
fn all_or_none_loads_none_where_one_refuses() {
    let mut lab = Lab::new(None, three_refuse);
    let image = signed(1, 5);
    let report = lab.load(image.clone(), Commit::AllOrNone);
    assert!(report.cards.values().all(Result::is_err));
    assert!(matches!(report.fault(), Some(OpError::Load { code: ErrorCode::ImageSignature, .. })));
    assert!(lab.run_by(&image).is_empty());
}

/// A host with a policy sends nothing to a card for which it does not hold, and the others have the image.
#[test]
fn a_host_with_a_policy_sends_nothing_where_it_does_not_hold() {
    let for_some = Cards::Only { macs: [mac(0)].into(), units: (5..20).collect() };
    let image = signed(1, 5);
    let mut lab = Lab::new(Some(policy("lab", 1, for_some)), |_| {});
    let report = lab.load(image.clone(), Commit::Each);
    let refused: Vec<_> = report.cards.iter().filter(|(_, r)| r.is_err()).map(|(card, _)| card.0[5]).collect();
    assert_eq!(refused, [1, 2, 3, 4]);
    assert!(
        matches!(&report.cards[&mac(2)], Err(OpError::NotAllowed { why: Refusal::NotFor(name), .. }) if name == "lab")
    );
    assert_eq!(lab.run_by(&image).len(), 16);
    let begun = |unit: usize| {
        let slot = lab.rack.cards()[unit];
        lab.rack.card(slot).as_model().unwrap().counters().get(rackloom_wire::Counter::ImageChunks)
    };
    assert!(begun(2) == 0 && begun(5) > 0);
    // Nobody's image goes nowhere, and a load for all or none to nobody.
    let nobody = Bytes::from_static(rackloom_builtin_roles::image("vadd").unwrap());
    for (image, commit) in [(nobody, Commit::Each), (signed(2, 5), Commit::Each), (signed(1, 6), Commit::AllOrNone)] {
        let report = lab.load(image.clone(), commit);
        assert!(report.cards.len() == 20 && report.cards.values().all(Result::is_err), "{report:?}");
        assert!(matches!(report.fault(), Some(OpError::NotAllowed { .. })));
        assert_eq!((report.wire_bytes, lab.run_by(&image).len()), (0, 0));
    }
}
