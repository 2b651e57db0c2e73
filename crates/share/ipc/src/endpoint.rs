//! The address of a server.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;

/// A server's address: `unix:/run/x.sock` on this node, `tcp:10.0.0.7:7000` on any.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// The path of a Unix socket; messages go through shared memory.
    Unix(PathBuf),
    /// IP address and port.
    Tcp(SocketAddr),
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
        }
    }
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Self::Unix(path.into())),
            Some(("tcp", address)) => address.parse().map(Self::Tcp).map_err(|e| format!("{text:?}: {e}")),
            _ => Err(format!("invalid endpoint {text:?}: expected unix:PATH or tcp:ADDRESS:PORT")),
        }
    }
}
