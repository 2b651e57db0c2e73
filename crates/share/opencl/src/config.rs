//! Configuration from the environment: the managers' endpoints, how they are known, and the token to connect with.

use std::path::PathBuf;

use rackloom_ipc::{Authorities, Endpoint, Token};

/// From the variables `RACKLOOM_MANAGERS`, `RACKLOOM_TOKEN`, `RACKLOOM_TOKEN_FILE`, `RACKLOOM_TLS_CA`,
/// `RACKLOOM_INSECURE`, `RACKLOOM_LOG`.
#[derive(Clone, Default)]
pub struct Config {
    /// Managers, in the order of their devices.
    pub managers: Vec<Endpoint>,
    /// Proof of the right to connect; all zeros if none is set.
    pub token: Token,
    /// Authorities that vouch for managers over TLS.
    pub authorities: Option<Authorities>,
    /// Whether plain TCP beyond this machine is allowed.
    pub insecure: bool,
}

impl Config {
    /// Reads the variables. Invalid values are logged ([`log`]) and ignored: no device is then better than a token for
    /// whoever answers.
    pub fn from_environment() -> Self {
        let managers = match std::env::var("RACKLOOM_MANAGERS") {
            Ok(list) => parse_managers(&list),
            Err(_) => vec![Endpoint::Unix(default_socket())],
        };
        let file = std::env::var_os("RACKLOOM_TOKEN_FILE").map(|path| match std::fs::read_to_string(&path) {
            Ok(text) => text,
            Err(e) => {
                log(|| format!("RACKLOOM_TOKEN_FILE {}: {e}", PathBuf::from(path).display()));
                String::new()
            }
        });
        let text = std::env::var("RACKLOOM_TOKEN").ok().or(file);
        let token = text.map(|text| text.trim().to_owned()).filter(|text| !text.is_empty()).map(|text| {
            parse_token(&text).unwrap_or_else(|| {
                log(|| format!("invalid token of {} characters: expected 64 hexadecimal digits", text.chars().count()));
                Token::default()
            })
        });
        let authorities = std::env::var_os("RACKLOOM_TLS_CA").and_then(|path| {
            let read = std::fs::read(&path).map_err(|e| e.to_string());
            let known = read.and_then(|text| Authorities::from_pem(&text).map_err(|e| e.to_string()));
            known.map_err(|why| complain(&format!("RACKLOOM_TLS_CA {}: {why}", PathBuf::from(path).display()))).ok()
        });
        Self { managers, token: token.unwrap_or_default(), authorities, insecure: is_on("RACKLOOM_INSECURE") }
    }
}

/// How bytes are copied into and out of registered arenas, where the environment says so: `RACKLOOM_COPY_HELPERS`,
/// `RACKLOOM_COPY_STREAMING`, `RACKLOOM_COPY_PIECE`. What it does not say is tried.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Copies {
    /// Threads that help.
    pub helpers: Option<usize>,
    /// Bytes of the shortest transfer that goes past the caches.
    pub streaming_from: Option<usize>,
    /// Bytes of a piece; a multiple of 4096.
    pub piece: Option<usize>,
}

impl Copies {
    /// Reads the variables. Invalid values are logged ([`log`]) and ignored.
    pub fn from_environment() -> Self {
        Self {
            helpers: number("RACKLOOM_COPY_HELPERS", |_| true),
            streaming_from: number("RACKLOOM_COPY_STREAMING", |_| true),
            piece: number("RACKLOOM_COPY_PIECE", |n| (PIECES.contains(&n)) && n.is_multiple_of(4096)),
        }
    }
}

/// Pieces that make sense, in bytes.
const PIECES: std::ops::RangeInclusive<usize> = 64 << 10..=16 << 20;

/// A variable's number.
fn number(name: &str, is_valid: impl Fn(usize) -> bool) -> Option<usize> {
    let text = std::env::var(name).ok()?;
    let number = text.trim().parse().ok().filter(|n| is_valid(*n));
    if number.is_none() {
        log(|| format!("{name} is ignored: invalid number {text:?}; docs/src/reference/opencl.md says what it may be"));
    }
    number
}

fn parse_managers(list: &str) -> Vec<Endpoint> {
    let entries = list.split(',').map(str::trim).filter(|e| !e.is_empty());
    entries.filter_map(|e| e.parse().map_err(|why| log(|| format!("RACKLOOM_MANAGERS: {why}"))).ok()).collect()
}

fn default_socket() -> PathBuf {
    let mine = std::env::var_os("XDG_RUNTIME_DIR").map(|dir| PathBuf::from(dir).join("rackloom/manager.sock"));
    mine.filter(|path| path.exists()).unwrap_or_else(|| PathBuf::from("/run/rackloom/manager.sock"))
}

fn parse_token(text: &str) -> Option<Token> {
    let digits: Option<Vec<u8>> = text.chars().map(|c| c.to_digit(16).map(|d| d as u8)).collect();
    let digits = digits.filter(|d| d.len() == 64)?;
    let mut token = Token::default();
    token.iter_mut().zip(digits.chunks(2)).for_each(|(byte, pair)| *byte = pair[0] << 4 | pair[1]);
    Some(token)
}

/// Whether logging is on (`RACKLOOM_LOG`, any value but 0).
pub fn logs() -> bool {
    is_on("RACKLOOM_LOG")
}

fn is_on(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|v| v != "0" && !v.is_empty())
}

/// Writes a line to standard error, also if logging is off: a manager is refused for the sake of security, and the
/// program's user has to know.
pub fn complain(text: &str) {
    eprintln!("rackloom-opencl: {text}");
}

/// Writes a line to standard error, if logging is on.
pub fn log(text: impl FnOnce() -> String) {
    if logs() {
        eprintln!("rackloom-opencl: {}", text());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_come_in_order_and_bad_ones_are_left_out() {
        let found = parse_managers("unix:/a, tcp:127.0.0.1:7 ,,nonsense,tls:rack:7");
        let texts: Vec<_> = found.iter().map(ToString::to_string).collect();
        assert_eq!(texts, ["unix:/a", "tcp:127.0.0.1:7", "tls:rack:7"]);
    }

    #[test]
    fn a_token_is_64_digits() {
        let mut wanted = Token::default();
        (wanted[0], wanted[31]) = (0xa5, 0x0f);
        assert_eq!(parse_token(&format!("A5{}0f", "00".repeat(30))), Some(wanted));
        assert_eq!(parse_token("a5"), None);
        assert_eq!(parse_token(&"g".repeat(64)), None);
    }
}
