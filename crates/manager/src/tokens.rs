//! Who may connect: tokens in a file, which may change while the manager serves.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::SystemTime;

use anyhow::Context as _;
use rackloom_channel::{ServerConfig, Token};

/// The tokens of a file.
#[derive(Debug)]
pub(crate) struct Tokens {
    path: PathBuf,
    known: Mutex<(Option<SystemTime>, Vec<Token>)>,
}

impl Tokens {
    /// Reads the file.
    ///
    /// # Errors
    /// It cannot be read, or a line is no token.
    pub(crate) fn open(path: &Path) -> anyhow::Result<Self> {
        let changed = changed(path); // Before reading: what is written meanwhile is read again.
        Ok(Self { path: path.to_owned(), known: Mutex::new((changed, read(path)?)) })
    }

    /// Whether a token is in the file. A file that is gone or malformed changes nothing, and is complained about.
    pub(crate) fn admit(&self, shown: &Token) -> bool {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        let now = changed(&self.path);
        if now != known.0 {
            known.0 = now;
            match read(&self.path) {
                Ok(tokens) => known.1 = tokens,
                Err(why) => eprintln!("rackloom-manager: the tokens stay as they were: {why:#}"),
            }
        }
        // Each is compared, so that the time says nothing.
        known.1.iter().fold(false, |found, token| found | ServerConfig::same_token(token, shown))
    }
}

fn changed(path: &Path) -> Option<SystemTime> {
    std::fs::metadata(path).and_then(|data| data.modified()).ok()
}

fn read(path: &Path) -> anyhow::Result<Vec<Token>> {
    let text = std::fs::read_to_string(path).with_context(|| format!("cannot read the tokens {}", path.display()))?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty() && !line.starts_with('#'));
    let tokens = lines.map(|(at, line)| {
        parse(line.trim()).with_context(|| format!("{}:{}: a token is 64 hexadecimal digits", path.display(), at + 1))
    });
    tokens.collect()
}

fn parse(text: &str) -> Option<Token> {
    if text.len() != 64 || !text.bytes().all(|digit| digit.is_ascii_hexdigit()) {
        return None;
    }
    let mut token = Token::default();
    for (byte, digits) in token.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(token)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    fn write(path: &Path, text: &str, age: u64) {
        std::fs::write(path, text).unwrap();
        let time = SystemTime::UNIX_EPOCH + Duration::from_secs(1_000_000_000 + age);
        std::fs::File::options().write(true).open(path).unwrap().set_modified(time).unwrap();
    }

    #[test]
    fn tokens_are_read_or_refused_with_their_line() {
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.path(), &format!("# lab\n{}\n\n{}\n", "00".repeat(32), "fF".repeat(32)), 0);
        assert_eq!(read(file.path()).unwrap(), [[0; 32], [255; 32]]);
        write(file.path(), &format!("{}\n+f{}\n", "00".repeat(32), "00".repeat(31)), 1);
        assert!(read(file.path()).unwrap_err().to_string().contains(":2:"));
    }

    #[test]
    fn a_file_that_changes_counts_at_once() {
        let file = tempfile::NamedTempFile::new().unwrap();
        write(file.path(), &"11".repeat(32), 0);
        let tokens = Tokens::open(file.path()).unwrap();
        let (one, two) = ([0x11; 32], [0x22; 32]);
        assert!(tokens.admit(&one) && !tokens.admit(&two));
        write(file.path(), &"22".repeat(32), 1);
        assert!(!tokens.admit(&one) && tokens.admit(&two));
        write(file.path(), "no token", 2);
        assert!(!tokens.admit(&one) && tokens.admit(&two), "as before");
        write(file.path(), "", 3);
        assert!(!tokens.admit(&two), "nobody");
    }
}
