//! What the board of a card keeps of signatures: which signers count, which the firmware reads, and the versions that
//! have run, which it writes; as `rl_sign_store` has them.

use rackloom_card::Config;
use rackloom_sign::{Release, SignerId};

use crate::key_store::Write;

/// Signers that a card of gateware has room for.
pub const SIGN_STORE_SIGNERS: usize = 32;
/// Roles of all signers of which it remembers the newest version.
pub const SIGN_STORE_ROLES: usize = 96;

/// The table's words of versions, as the firmware has left them.
#[derive(Debug)]
pub(crate) struct SignStore {
    /// In the order of the table.
    signers: Vec<SignerId>,
    places: Box<[[u32; PLACE]]>,
}

impl SignStore {
    /// The table of a card of this configuration, and the words that it begins with; it asks nobody if there are no
    /// signers. There must be room.
    pub(crate) fn new(config: &Config) -> (Self, Vec<Write>) {
        let known: Vec<_> = config.signers.iter().flat_map(rackloom_sign::Signers::iter).collect();
        assert!(known.len() <= SIGN_STORE_SIGNERS, "it was checked");
        let mut store = Self {
            signers: known.iter().map(|(id, ..)| *id).collect(),
            places: vec![[0; PLACE]; SIGN_STORE_ROLES].into(),
        };
        let mut words = Vec::new();
        for (n, (id, name, may)) in known.iter().enumerate() {
            words.push((n * PLACE, u32::from(*may)));
            words.extend((n * PLACE + SIGNER_KEY..).zip(be_words::<8>(&id.0)));
            words.extend((n * PLACE + SIGNER_NAME..).zip(be_words::<6>(name.as_bytes())));
        }
        let kept = kept(config).collect::<Vec<_>>();
        for (place, release) in store.places.iter_mut().zip(&kept) {
            let signer = known.iter().position(|(id, ..)| *id == release.signer).expect("it was filtered");
            place[0] = u32::try_from(signer).expect("a few") + 1;
            place[VERSION..NAME].copy_from_slice(&be_words::<2>(&release.version.to_be_bytes()));
            place[NAME..OTHER_VERSION].copy_from_slice(&be_words::<8>(release.role.as_bytes()));
        }
        for (n, place) in store.places.iter().enumerate() {
            // Of a free place nothing else counts.
            let count = if place[0] == 0 { 1 } else { PLACE };
            words.extend((ROLES + n * PLACE..).zip(place.iter().copied()).take(count));
        }
        words.push((COUNT, u32::try_from(known.len()).expect("a few")));
        let write = |(at, word)| Write { at: SIGN_STORE | u16::try_from(at).expect("a small table"), word };
        (store, words.into_iter().map(write).collect())
    }

    /// The firmware has written a word; what that says has run, if it makes a version count or a place be taken.
    pub(crate) fn keep(&mut self, at: u16, word: u32) -> Option<Release> {
        let at = usize::from(at).checked_sub(ROLES)?;
        let place = self.places.get_mut(at / PLACE)?;
        place[at % PLACE] = word;
        if !matches!(at % PLACE, 0 | WHICH) {
            return None;
        }
        let signer = *self.signers.get(usize::try_from(place[0]).ok()?.checked_sub(1)?)?;
        let name: Vec<u8> =
            place[NAME..OTHER_VERSION].iter().flat_map(|word| word.to_be_bytes()).take_while(|b| *b != 0).collect();
        let version = if place[WHICH] == 2 { OTHER_VERSION } else { VERSION };
        let version = u64::from(place[version]) << 32 | u64::from(place[version + 1]);
        Some(Release { signer, role: String::from_utf8(name).ok()?, version })
    }
}

/// Whether the table has room for a card's signers and what it has run of theirs.
pub(crate) fn has_room(config: &Config) -> bool {
    config.signers.as_ref().is_none_or(|signers| signers.iter().count() <= SIGN_STORE_SIGNERS)
        && kept(config).count() <= SIGN_STORE_ROLES
}

/// What it has run of signers that it knows: nothing of others can run.
fn kept(config: &Config) -> impl Iterator<Item = Release> {
    let knows =
        |id: &SignerId| config.signers.iter().flat_map(rackloom_sign::Signers::iter).any(|(known, ..)| known == *id);
    config.versions.iter().filter(move |release| knows(&release.signer))
}

/// Bytes in words, the first one the highest, with zeros behind them.
fn be_words<const N: usize>(bytes: &[u8]) -> [u32; N] {
    let byte = |at: usize| bytes.get(at).copied().unwrap_or(0);
    core::array::from_fn(|n| u32::from_be_bytes(core::array::from_fn(|i| byte(4 * n + i))))
}

/// A place of the store that is not the key store's.
const SIGN_STORE: u16 = 1 << 12;
/// Words of a signer, or of a role that has run.
const PLACE: usize = 16;
const SIGNER_KEY: usize = 1;
const SIGNER_NAME: usize = 9;
/// Where roles begin, and what there is of each.
const ROLES: usize = 512;
const VERSION: usize = 1;
const NAME: usize = 3;
const OTHER_VERSION: usize = 11;
const WHICH: usize = 15;
/// How many signers there are.
const COUNT: usize = 2048;
