//! Files about signed images: a signer's secret key, the policy, and what boards keep.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use rackloom::MacAddr;
use rackloom_sign::{Cards, Policy, Release, Signer, SignerId, SignerKey};
use serde::{Deserialize, Serialize};

use crate::failure::{Explain, Failure, Result};
use crate::format::hex;
use crate::keys;
use crate::whole::{self, Before};

/// A signer's keys: JSON, and only its owner may read it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "rackloom.signer-key/1")]
pub(crate) struct SignerFile {
    /// The public key, which policies name.
    public: String,
    secret: String,
}

/// A policy, in TOML.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct PolicyFile {
    #[serde(default, rename = "signer")]
    signers: Vec<SignerLine>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SignerLine {
    name: String,
    key: String,
    cards: Vec<String>,
}

/// What the boards of a rack keep: by card, signer and role, the newest version that has run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "kind", rename = "rackloom.board-versions/1")]
struct VersionsFile {
    cards: BTreeMap<String, BTreeMap<String, BTreeMap<String, u64>>>,
}

/// Most bytes of a policy, far more than the most signers need.
const POLICY_BYTES_MAX: u64 = 1 << 20;

impl SignerFile {
    /// A key that nobody has had before.
    pub(crate) fn draw() -> Result<Self> {
        let secret: [u8; 32] = keys::random()?;
        Ok(Self { public: SignerKey::new(&secret).id().to_string(), secret: hex(&secret) })
    }

    /// Reads the file.
    pub(crate) fn read(path: &Path) -> Result<SignerKey> {
        let file: Self = keys::read(path)?;
        let what = || format!("cannot use the signer's key in {}", path.display());
        let key = SignerKey::new(&keys::parse::<32>(&file.secret).during(what())?);
        match key.id().to_string() == file.public {
            true => Ok(key),
            false => Err(Failure::new("its public key is not that of its secret key").during(what())),
        }
    }

    /// The public key.
    pub(crate) fn public(&self) -> &str {
        &self.public
    }
}

/// Reads a policy.
pub(crate) fn read_policy(path: &Path) -> Result<Policy> {
    let what = || format!("cannot use the policy in {}", path.display());
    let mut text = String::new();
    let file = File::open(path).during(what())?;
    file.take(POLICY_BYTES_MAX + 1).read_to_string(&mut text).during(what())?;
    if text.len() as u64 > POLICY_BYTES_MAX {
        return Err(Failure::new(format!("it is longer than {POLICY_BYTES_MAX} bytes")).during(what()));
    }
    parse_policy(&text).map_err(|f| {
        f.during(what()).help(
            "a policy has `[[signer]]` tables with `name`, `key` (from `rackloom key signer`) and `cards`: a list of \
             addresses and names such as `card3`, or `[\"all\"]`",
        )
    })
}

fn parse_policy(text: &str) -> Result<Policy> {
    let file: PolicyFile = toml::from_str(text).map_err(|e| Failure::new(e.to_string().trim_end()))?;
    let signer = |line: SignerLine| {
        let of = |what: &str| format!("{what} of signer `{}`", line.name.chars().take(40).collect::<String>());
        let key: SignerId = line.key.parse().map_err(|e| Failure::new(e).during(of("the key")))?;
        let cards = parse_cards(&line.cards).map_err(|f| f.during(of("the cards")))?;
        Ok(Signer { name: line.name, key, cards })
    };
    let signers = file.signers.into_iter().map(signer).collect::<Result<Vec<_>>>()?;
    Policy::new(signers).map_err(|e| Failure::of(&e))
}

fn parse_cards(names: &[String]) -> Result<Cards> {
    if names.iter().any(|name| name == "all") {
        return match names.len() {
            1 => Ok(Cards::All),
            _ => Err(Failure::new("`all` stands alone")),
        };
    }
    let (mut macs, mut units) = (BTreeSet::new(), BTreeSet::new());
    for name in names {
        if let Ok(mac) = name.parse::<MacAddr>() {
            macs.insert(mac);
        } else if let Some(unit) = name.strip_prefix("card").and_then(|unit| unit.parse::<u16>().ok()) {
            units.insert(unit);
        } else {
            return Err(Failure::new(format!("`{name}` is neither an address nor a name such as card3")));
        }
    }
    Ok(Cards::Only { macs, units })
}

/// Reads what boards have kept; nothing, if the file is not there yet.
pub(crate) fn read_versions(path: &Path) -> Result<Vec<(MacAddr, Release)>> {
    if !path.exists() {
        return Ok(Vec::new());
    }
    let what = || format!("cannot read what the boards have kept in {}", path.display());
    let text = std::fs::read_to_string(path).during(what())?;
    let file: VersionsFile = serde_json::from_str(&text).map_err(|e| Failure::of(&e).during(what()))?;
    let mut releases = Vec::new();
    for (card, signers) in file.cards {
        let card: MacAddr = card.parse().map_err(|e| Failure::new(format!("`{card}`: {e}")).during(what()))?;
        for (signer, roles) in signers {
            let signer: SignerId =
                signer.parse().map_err(|e| Failure::new(format!("`{signer}`: {e}")).during(what()))?;
            releases.extend(roles.into_iter().map(|(role, version)| (card, Release { signer, role, version })));
        }
    }
    Ok(releases)
}

/// Writes it.
pub(crate) fn write_versions(path: &Path, releases: &[(MacAddr, Release)]) -> Result<()> {
    let mut file = VersionsFile { cards: BTreeMap::new() };
    for (card, Release { signer, role, version }) in releases {
        let signers = file.cards.entry(card.to_string()).or_default();
        signers.entry(signer.to_string()).or_default().insert(role.clone(), *version);
    }
    let mut text = serde_json::to_string_pretty(&file).expect("keys are text");
    text.push('\n');
    let what = format!("cannot write what the boards keep to {}", path.display());
    whole::write(path, text.as_bytes(), 0o600, Before::Replace).during(what)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The public key of RFC 8032's first test.
    const KEY: &str = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a";
    const OTHER: &str = "3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c";

    fn says(text: &str) -> String {
        let f = parse_policy(text).unwrap_err();
        [&[f.what], f.causes.as_slice()].concat().join(": ")
    }

    fn line(name: &str, key: &str, cards: &str) -> String {
        format!("[[signer]]\nname = \"{name}\"\nkey = \"{key}\"\ncards = [{cards}]\n")
    }

    #[test]
    fn a_policy_tells_who_counts_where() {
        let both = line("release", KEY, r#""all""#) + &line("lab", OTHER, r#""card3", "02:91:00:00:00:07""#);
        let policy = parse_policy(&both).unwrap();
        let lab = policy.signer(&OTHER.parse().unwrap()).unwrap();
        let mac = |last| MacAddr([2, 0x91, 0, 0, 0, last]);
        assert!(policy.signers()[0].cards.has(mac(1), 1));
        assert_eq!([(1, 3), (7, 1), (1, 1)].map(|(last, unit)| lab.cards.has(mac(last), unit)), [true, true, false]);
    }

    #[test]
    fn a_policy_that_cannot_be_meant_is_refused_by_name() {
        assert!(says("").contains("names no signer"));
        assert!(says(&line("a", KEY, "")).contains("no card for `a`"));
        assert!(says(&line("a", "12", r#""all""#)).contains("64 hexadecimal digits"));
        assert!(says(&line("a", &"00".repeat(32), r#""all""#)).contains("no public key"));
        assert!(says(&line("A b", KEY, r#""all""#)).contains("name `A b`"));
        assert!(says(&line("a", KEY, r#""all", "card1""#)).contains("stands alone"));
        assert!(says(&line("a", KEY, r#""rack7""#)).contains("`rack7` is neither"));
        assert!(says(&(line("a", KEY, r#""all""#) + &line("a", OTHER, r#""all""#))).contains("the name `a` twice"));
        assert!(says(&(line("a", KEY, r#""all""#) + &line("b", KEY, r#""all""#))).contains("the key `d75a"));
        assert!(says("[[signer]]\nname = \"a\"\nexpires = 3").contains("expires"));
        let crowd: String = (0..65).map(|n| line(&format!("s{n}"), KEY, r#""all""#)).collect();
        assert!(says(&crowd).contains("65 signers; the limit is 64"));
    }

    #[test]
    fn what_boards_keep_comes_back() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("boards");
        assert_eq!(read_versions(&path).unwrap(), []);
        let release = |role: &str, version| Release { signer: KEY.parse().unwrap(), role: role.to_owned(), version };
        let kept = vec![
            (MacAddr([2; 6]), release("gemm", u64::MAX)),
            (MacAddr([2; 6]), release("vadd", 3)),
            (MacAddr([4; 6]), release("vadd", 1)),
        ];
        write_versions(&path, &kept).unwrap();
        assert_eq!(read_versions(&path).unwrap(), kept);
        std::fs::write(&path, "{").unwrap();
        assert!(read_versions(&path).unwrap_err().what.contains("cannot read what the boards have kept"));
    }
}
