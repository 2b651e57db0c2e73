//! A load's begin brings a key for its data in a claim that is encrypted, and none in another: whatever is behind it
//! else makes it malformed, on each kind of card. It comes from the owner, so no tag speaks against it.

use std::collections::BTreeMap;

use rackloom_auth::{Agreement, Bound, CardKey, Direction, PairKey, Sealer};
use rackloom_card::{CardEvent, Config, Keys, Pace};
use rackloom_conformance::PythonCard;
use rackloom_node::{Duration, Frame, Instant, Node, Output};
use rackloom_rack::{Kind as CardKind, Maker};
use rackloom_wire::{
    Claim, Counter, FLAG_ENCRYPTED, Grant, Head, ImageBegin, IntoBytes, Kind, MacAddr, Proof, Tagged, U16, U32, U64,
    in_session, with_trailer,
};

const CARD: MacAddr = MacAddr([2, 0, 0, 0, 0, 1]);
const NUMBER: u16 = 1;
const HOST: MacAddr = MacAddr([6, 0, NUMBER as u8, 0, 0, 9]);
const STRANGER: MacAddr = MacAddr([2, 0, 0, 0, 7, 7]);
const BOOT: u32 = 5;
const GROUP: u16 = 77;
const KEY: [u8; 16] = [9; 16];

/// A card, and its owner frame by frame.
struct Owned<N> {
    card: N,
    now: Instant,
    sealer: Sealer,
    epoch: u16,
}

fn config() -> Config {
    let mut config = Config::new(CARD, Pace::Virtual);
    (config.memory, config.boot, config.seed) = (4 << 20, BOOT, 1);
    config
}

fn pair() -> PairKey {
    CardKey::new(KEY).host(NUMBER.into(), 0)
}

fn head(src: MacAddr, kind: Kind, epoch: u16, seq: u32) -> Head {
    Head { dst: CARD, src, kind, flags: 0, epoch, seq, addr: 0 }
}

/// What the card says within a while.
fn heard<N: Node<Event = CardEvent>>(card: &mut N, now: &mut Instant) -> Vec<Frame> {
    let (end, mut said) = (*now + Duration::from_millis(2), Vec::new());
    loop {
        while let Some(output) = card.poll(*now) {
            if let Output::Transmit(0, frame) = output {
                said.push(frame);
            }
        }
        match card.next_deadline().filter(|due| *due <= end) {
            Some(due) => *now = due.max(*now),
            None => break,
        }
        card.handle_timeout(*now);
    }
    *now = end;
    said
}

fn of_kind(said: &[Frame], kind: Kind) -> Option<&Frame> {
    said.iter().rev().find(|frame| Tagged::parse(frame).is_ok_and(|tagged| tagged.packet.head.kind == kind))
}

impl<N: Node<Event = CardEvent>> Owned<N> {
    /// It is claimed by its host, which asks for encryption or not.
    fn new(mut card: N, encrypts: bool) -> Self {
        let (mut now, nonce) = (Instant::ZERO, U64::new(33));
        card.handle_timeout(now);
        heard(&mut card, &mut now);
        let body = Claim { nonce, lease_ms: U32::new(60_000), group: U16::new(0), scrub: 0, beats: 0 };
        let flags = if encrypts { FLAG_ENCRYPTED } else { 0 };
        let plain = Head { flags, ..head(HOST, Kind::SessionClaim, 0, 1) }.frame(&[body.as_bytes()]);
        let (claims, counter) = (pair().claims(), 1);
        let tag = |frame: &[u8]| claims.tag(&Bound { frame, boot: BOOT, direction: Direction::ToCard, counter });
        card.handle_frame(now, 0, with_trailer(&plain, 0, |frame| Some((counter, tag(frame)?.0))).unwrap());
        let said = heard(&mut card, &mut now);
        let granted = Tagged::parse(of_kind(&said, Kind::SessionGrant).expect("it is granted")).unwrap().packet;
        let epoch = granted.head.epoch;
        let (_, behind) = granted.view::<Grant>().unwrap();
        let card_nonce = u64::from_be_bytes(behind[..size_of::<Proof>()].try_into().unwrap());
        let agreed = Agreement { host_nonce: nonce.get(), card_nonce, boot: BOOT, epoch };
        let sealer = match encrypts {
            true => Sealer::new(pair().cipher(&agreed), BOOT, Direction::ToCard),
            false => Sealer::new(pair().session(&agreed), BOOT, Direction::ToCard),
        };
        Self { card, now, sealer, epoch }
    }

    fn malformed(&mut self) -> u64 {
        self.card.handle_frame(self.now, 0, head(STRANGER, Kind::SessionCountersGet, 0, 0).frame(&[]));
        let said = heard(&mut self.card, &mut self.now);
        let told = Tagged::parse(of_kind(&said, Kind::SessionCounters).expect("it tells")).unwrap().packet;
        let at = 8 * Counter::DropMalformed as usize;
        u64::from_be_bytes(told.payload[at..at + 8].try_into().unwrap())
    }

    /// A begin with so many bytes behind it. Whether the card is ready then; if not, it counts the frame as malformed
    /// and says nothing.
    fn is_ready(&mut self, seq: u32, behind: usize) -> bool {
        let before = self.malformed();
        let (length, chunk) = (U64::new(5000), U16::new(1472));
        let body = ImageBegin { length, chunk, group: U16::new(GROUP), members: U32::new(1), digest: [3; 32] };
        let plain = head(HOST, Kind::ImageBegin, self.epoch, seq).frame(&[body.as_bytes(), &[0x5A; 64][..behind]]);
        let encrypts = self.sealer.encrypts();
        let sealer = &mut self.sealer;
        let seal = |message: &mut [u8], open| sealer.seal(message, open).map(|(counter, tag)| (counter, tag.0));
        self.card.handle_frame(self.now, 0, in_session(&plain, encrypts, seal).unwrap());
        let said = heard(&mut self.card, &mut self.now);
        let is_ready = of_kind(&said, Kind::ImageConfirmReady).is_some();
        assert!(of_kind(&said, Kind::ImageConfirmFailed).is_none(), "{behind}");
        assert_eq!(self.malformed() - before, u64::from(!is_ready), "{behind}");
        is_ready
    }
}

/// Which of these lengths the card takes.
fn taken<N: Node<Event = CardEvent>>(card: N, encrypts: bool) -> BTreeMap<usize, bool> {
    let mut owned = Owned::new(card, encrypts);
    [8, 0, 15, 17, 16, 32].into_iter().zip(1..).map(|(behind, seq)| (behind, owned.is_ready(seq, behind))).collect()
}

/// Only this one.
fn only(right: usize) -> BTreeMap<usize, bool> {
    [0, 8, 15, 16, 17, 32].map(|behind| (behind, behind == right)).into()
}

fn made(kind: CardKind) -> impl Node<Event = CardEvent> {
    let keys = Some(Keys::new(CardKey::new(KEY), [(NUMBER, 0)]));
    Maker::shared().make(kind, Config { keys, ..config() }).unwrap()
}

fn in_python() -> PythonCard {
    let key: String = KEY.iter().map(|byte| format!("{byte:02x}")).collect();
    let keys = format!(r#"{{"cards":{{"{CARD}":"{key}"}},"hosts":{{"{NUMBER}":0}}}}"#);
    PythonCard::with_keys(&config(), &keys)
}

#[test]
fn a_begin_whose_key_is_missing_or_malformed_in_an_encrypted_claim_is_malformed() {
    assert_eq!(taken(made(CardKind::Model), true), only(16));
    assert_eq!(taken(in_python(), true), only(16));
}

#[test]
fn a_begin_with_a_key_in_a_claim_that_is_not_encrypted_is_malformed() {
    assert_eq!(taken(made(CardKind::Model), false), only(0));
    assert_eq!(taken(made(CardKind::Rtl), false), only(0));
    assert_eq!(taken(in_python(), false), only(0));
}
