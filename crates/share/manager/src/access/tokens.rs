//! A token file, which may change while the manager serves.
//!
//! A line is `TOKEN [name=NAME] [weight=N] [kernel=DURATION]`.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use anyhow::{Context as _, bail};
use rackloom_ipc::Token;
use rackloom_sync::lock;

use super::duration::duration;
use super::grant::{Grant, find, parse_token};
use crate::quota::{TenantLimits, TenantQuotas};
use crate::schedule::scheduler::Share;

/// The tokens of a file, read again when it has changed.
#[derive(Debug)]
pub struct Tokens {
    path: PathBuf,
    /// What all clients of a token may have together.
    limits: TenantLimits,
    known: Mutex<(Option<SystemTime>, List)>,
}

#[derive(Debug, Default)]
struct List {
    grants: Vec<(Token, Grant)>,
    /// The number of the newest account.
    accounts: u64,
}

/// Largest weight; the registry's bound.
const WEIGHT_MAX: u32 = 1000;
/// Longest name in bytes; the registry's bound for instances.
const NAME_MAX: usize = 253;

impl Tokens {
    /// Reads the file. `limits`: what all clients of a token may have together.
    ///
    /// # Errors
    /// The file cannot be read, or a line of it is malformed.
    pub fn open(path: &Path, limits: impl Into<TenantLimits>) -> anyhow::Result<Self> {
        let changed = changed(path); // Before reading: what is written meanwhile is read again.
        let (mut list, limits) = (List::default(), limits.into());
        list.read(path, limits)?;
        Ok(Self { path: path.to_owned(), limits, known: Mutex::new((changed, list)) })
    }

    /// Whether a token is in the file. If the file is missing or malformed, the last good one stays in force, with a
    /// warning.
    #[must_use]
    pub fn admit(&self, shown: &Token) -> bool {
        self.grant(shown).is_some()
    }

    /// The grant of a token by the file as it is now; `None` if it is not listed.
    pub(crate) fn grant(&self, shown: &Token) -> Option<Grant> {
        let mut known = lock(&self.known);
        let now = changed(&self.path);
        if now != known.0 {
            known.0 = now;
            if let Err(why) = known.1.read(&self.path, self.limits) {
                eprintln!("rackloom-manager: cannot read the changed tokens; the old ones stay in force: {why:#}");
            }
        }
        find(&known.1.grants, shown).cloned()
    }
}

impl List {
    /// Replaces the list by that of a file, unless the file is malformed.
    fn read(&mut self, path: &Path, limits: TenantLimits) -> anyhow::Result<()> {
        let text =
            std::fs::read_to_string(path).with_context(|| format!("cannot read the tokens {}", path.display()))?;
        let mut grants: Vec<(Token, Grant)> = Vec::new();
        let mut accounts = self.accounts;
        for (at, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let place = || format!("{}:{}", path.display(), at + 1);
            let Line { token, name, weight, kernel } = parse(line).with_context(place)?;
            let twice = |(before, grant): &(Token, Grant)| {
                if *before == token {
                    return Some("this token is listed twice; remove one of the lines".to_owned());
                }
                let name = name.as_ref().filter(|name| grant.name.as_ref() == Some(*name))?;
                Some(format!("the name `{name}` belongs to another token; names tell tenants apart, choose another"))
            };
            if let Some(why) = grants.iter().find_map(twice) {
                bail!("{}: {why}", place());
            }
            // A token keeps its account and quotas, so that clients from before and after a change stay one tenant.
            let before = self.grants.iter().find(|(before, _)| *before == token).map(|(_, grant)| grant);
            let account = before.and_then(|grant| grant.share.account).unwrap_or_else(|| {
                accounts += 1;
                accounts
            });
            let quotas = before.map_or_else(|| TenantQuotas::new(limits), |grant| Arc::clone(&grant.quotas));
            grants.push((token, Grant { name, share: Share { weight, account: Some(account) }, quotas, kernel }));
        }
        *self = Self { grants, accounts };
        Ok(())
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|data| data.modified()).ok()
}

/// What a line says.
struct Line {
    token: Token,
    name: Option<String>,
    weight: u32,
    kernel: Option<Duration>,
}

/// Parses a line. Errors never repeat the token, which is a secret.
fn parse(line: &str) -> anyhow::Result<Line> {
    let mut words = line.split_whitespace();
    let token = parse_token(words.next().unwrap_or_default())
        .context("a line begins with a token of 64 hexadecimal digits; `openssl rand -hex 32` makes one")?;
    let (mut name, mut weight, mut kernel) = (None, None, None);
    for word in words {
        match word.split_once('=') {
            Some(("name", value)) if name.is_none() => name = Some(self::name(value)?),
            Some(("weight", value)) if weight.is_none() => {
                let number = value.parse().ok().filter(|number| (1..=WEIGHT_MAX).contains(number));
                weight = Some(number.with_context(|| {
                    format!(
                        "invalid weight `{value}`: expected a whole number from 1 to {WEIGHT_MAX}, such as weight=1"
                    )
                })?);
            }
            Some(("kernel", value)) if kernel.is_none() => kernel = Some(duration(value).map_err(anyhow::Error::msg)?),
            Some((key @ ("name" | "weight" | "kernel"), _)) => bail!("`{key}` is given twice; remove one"),
            _ => {
                let begin: String = word.chars().take(12).collect(); // It may be another token.
                bail!("unknown word `{begin}`: expected TOKEN [name=NAME] [weight=N] [kernel=DURATION]");
            }
        }
    }
    Ok(Line { token, name, weight: weight.unwrap_or(1), kernel })
}

fn name(text: &str) -> anyhow::Result<String> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    if text.is_empty() || text.len() > NAME_MAX || !text.chars().all(plain) {
        bail!("invalid name `{text}`: expected 1 to {NAME_MAX} letters, digits, `.`, `_` and `-`");
    }
    Ok(text.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quota::{Account, Accounts, Charge, Purse as _, Quota};

    const LIMITS: TenantLimits = TenantLimits { memory: 1000, programs: 1000, objects: 10, registered: 0 };

    fn takes(tokens: &Tokens, token: &Token, bytes: u64) -> Option<Charge> {
        let accounts =
            Accounts { tenant: tokens.grant(token)?.quotas, host: Quota::new(0), registered: Default::default() };
        accounts.pay(&[(Account::Memory, bytes)])
    }

    fn write(path: &Path, text: &str, age: u64) {
        std::fs::write(path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + age);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn lines_are_read() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (zero, ones, two) = ("00".repeat(32), "fF".repeat(32), "22".repeat(32));
        write(file.path(), &format!("# lab\n{zero}\n\n  {ones}\tweight=7 name=a_b.c-9 kernel=250ms\n{two} name=x"), 0);
        let mut list = List::default();
        list.read(file.path(), LIMITS).unwrap();
        let grant = |name, weight, account| (name, Share { weight, account: Some(account) });
        let right = [
            ([0; 32], grant(None, 1, 1)),
            ([0xff; 32], grant(Some("a_b.c-9"), 7, 2)),
            ([0x22; 32], grant(Some("x"), 1, 3)),
        ];
        let read = list.grants.iter().map(|(token, grant)| (*token, (grant.name.as_deref(), grant.share)));
        assert_eq!(read.collect::<Vec<_>>(), right);
        let kernels: Vec<_> = list.grants.iter().map(|(_, grant)| grant.kernel).collect();
        assert_eq!(kernels, [None, Some(Duration::from_millis(250)), None]);
    }

    #[test]
    fn errors_name_their_line_and_not_the_token() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (good, other) = ("ab".repeat(32), "cd".repeat(32));
        let long = "n".repeat(254);
        for (line, why) in [
            (format!("+f{}", &other[2..]), "64 hexadecimal digits"),
            (other[1..].to_owned(), "64 hexadecimal digits"),
            (format!("{other} weight=0"), "from 1 to 1000"),
            (format!("{other} weight=1001"), "from 1 to 1000"),
            (format!("{other} weight=-3"), "`-3`"),
            (format!("{other} weight="), "from 1 to 1000"),
            (format!("{other} name="), "1 to 253"),
            (format!("{other} name={long}"), "1 to 253"),
            (format!("{other} name=a/b"), "`a/b`"),
            (format!("{other} name=a name=b"), "given twice"),
            (format!("{other} weight=1 weight=1"), "given twice"),
            (format!("{other} kernel=1s kernel=1s"), "given twice"),
            (format!("{other} kernel=5"), "invalid duration `5`"),
            (format!("{other} wieght=3"), "unknown word `wieght=3`"),
            (format!("{other} 3"), "unknown word `3`"),
            (good.clone(), "twice"),
            (format!("{other} name=lab"), "belongs to another token"),
        ] {
            write(file.path(), &format!("{good} name=lab\n{line}\n"), 0);
            let told = format!("{:#}", List::default().read(file.path(), LIMITS).unwrap_err());
            assert!(told.contains(":2: ") && told.contains(why), "{line}: {told}");
            assert!(!told.contains(&other[1..]) && !told.contains(&good), "{told}");
        }
    }

    #[test]
    fn a_file_that_changes_counts_at_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.path(), &"11".repeat(32), 0);
        let tokens = Tokens::open(file.path(), LIMITS).unwrap();
        let (one, two) = ([0x11; 32], [0x22; 32]);
        assert!(tokens.admit(&one) && !tokens.admit(&two));
        write(file.path(), &format!("{} weight=5\n{}", "22".repeat(32), "11".repeat(32)), 1);
        let (first, second) = (tokens.grant(&one).unwrap(), tokens.grant(&two).unwrap());
        assert_eq!((first.share.account, second.share.account), (Some(1), Some(2)), "a token keeps its account");
        let charge = takes(&tokens, &one, 600).unwrap();
        assert!(takes(&tokens, &one, 401).is_none(), "one token has one quota");
        assert!(takes(&tokens, &two, 1000).is_some());
        assert_eq!((first.share.weight, second.share.weight), (1, 5));
        write(file.path(), &format!("{}\n{}", "11".repeat(32), "22".repeat(32)), 2);
        assert!(takes(&tokens, &one, 401).is_none(), "a token keeps its quota");
        drop(charge);
        write(file.path(), &"22".repeat(32), 3);
        assert!(!tokens.admit(&one) && tokens.admit(&two));
        write(file.path(), "no token", 4);
        assert!(!tokens.admit(&one) && tokens.admit(&two), "as before");
        write(file.path(), &format!("{}\n{}", "11".repeat(32), "22".repeat(32)), 5);
        assert_eq!(tokens.grant(&one).unwrap().share.account, Some(3), "a number is given once");
        write(file.path(), "", 6);
        assert!(!tokens.admit(&two), "nobody");
    }
}
