//! The address of a server.

use std::fmt;
use std::net::{IpAddr, Ipv6Addr, SocketAddr, ToSocketAddrs as _};
use std::path::PathBuf;
use std::str::FromStr;

use crate::tls::Pin;

/// A server's address: `unix:/run/x.sock` on this node, `tcp:10.0.0.7:7000` or `tls:board.example:7000` on any.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Endpoint {
    /// The path of a Unix socket; messages go through shared memory.
    Unix(PathBuf),
    /// IP address and port. Nothing is encrypted.
    Tcp(SocketAddr),
    /// TCP within TLS.
    Tls(TlsAddress),
}

/// Where a server is reached over TLS, and how it is known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct TlsAddress {
    /// A DNS name or an IP address, as the server's certificate has it.
    pub host: String,
    /// The port.
    pub port: u16,
    /// The key that the server must have. For a client only.
    pub pin: Option<Pin>,
}

impl TlsAddress {
    /// The host, if it is an IP address.
    #[must_use]
    pub fn ip(&self) -> Option<IpAddr> {
        self.host.parse().ok()
    }

    /// The addresses to try. A name is looked up, which may take as long as this system lets it.
    pub(crate) fn resolve(&self) -> std::io::Result<Vec<SocketAddr>> {
        Ok((self.host.as_str(), self.port).to_socket_addrs()?.collect())
    }
}

impl Endpoint {
    /// Whether it is a connection of a network, rather than shared memory.
    #[must_use]
    pub const fn is_network(&self) -> bool {
        !matches!(self, Self::Unix(_))
    }

    /// Whether what is said there goes beyond this machine in the clear.
    #[must_use]
    pub fn is_exposed(&self) -> bool {
        matches!(self, Self::Tcp(address) if !address.ip().to_canonical().is_loopback())
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Tcp(address) => write!(f, "tcp:{address}"),
            Self::Tls(address) => write!(f, "tls:{address}"),
        }
    }
}

impl fmt::Display for TlsAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { host, port, pin } = self;
        if host.contains(':') { write!(f, "[{host}]:{port}") } else { write!(f, "{host}:{port}") }?;
        pin.map_or(Ok(()), |pin| write!(f, "#{pin}"))
    }
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Self::Unix(path.into())),
            Some(("tcp", address)) => address.parse().map(Self::Tcp).map_err(|e| format!("{text:?}: {e}")),
            Some(("tls", address)) => address.parse().map(Self::Tls).map_err(|why| format!("{text:?}: {why}")),
            _ => {
                let forms = "unix:PATH, tcp:ADDRESS:PORT or tls:HOST:PORT[#sha256:DIGEST]";
                Err(format!("invalid endpoint {text:?}: expected {forms}"))
            }
        }
    }
}

impl FromStr for TlsAddress {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (address, pin) = match text.split_once('#') {
            Some((address, pin)) => (address, Some(pin.parse()?)),
            None => (text, None),
        };
        let (host, port) = address.rsplit_once(':').ok_or("expected HOST:PORT")?;
        let port = port.parse().map_err(|_| format!("invalid port {port:?}"))?;
        let is_name = |host: &str| {
            let is_label = |label: &str| {
                let is_inner = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
                (1..=63).contains(&label.len()) && label.chars().all(is_inner)
            };
            host.len() <= NAME_MAX && host.split('.').all(is_label)
        };
        let host = match host.strip_prefix('[').and_then(|host| host.strip_suffix(']')) {
            Some(inner) => inner.parse::<Ipv6Addr>().map_err(|_| format!("invalid address {host}"))?.to_string(),
            None if is_name(host) => host.to_owned(),
            None => return Err(format!("invalid host {host:?}: expected a DNS name or an IP address")),
        };
        Ok(Self { host, port, pin })
    }
}

/// Longest DNS name.
const NAME_MAX: usize = 253;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_as_they_are_written() {
        let pin = "ab".repeat(32);
        for text in [
            "unix:/run/x.sock",
            "tcp:10.0.0.7:7000",
            "tls:10.0.0.7:7000",
            "tls:[fd00::7]:7000",
            "tls:rack-7.example:7000",
            &format!("tls:rack:7000#sha256:{pin}"),
        ] {
            assert_eq!(text.parse::<Endpoint>().unwrap().to_string(), text);
        }
        for text in [
            "tls:rack",
            "tls::7",
            "tls:a b:7",
            "tls:fd00::7:7000",
            "tls:[x]:7",
            "tls:rack:70000",
            "tls:rack:7#",
            "tls:rack:7#sha256:ab",
            "tls:rack:7#md5:ab",
            &format!("tls:rack:7#sha256:{pin}0"),
            &format!("tls:{}:7", "a".repeat(64)),
        ] {
            assert!(text.parse::<Endpoint>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_plain_tcp_beyond_this_machine_is_exposed() {
        let is_exposed = |text: &str| text.parse::<Endpoint>().unwrap().is_exposed();
        for text in ["tcp:0.0.0.0:7", "tcp:10.0.0.7:7", "tcp:[::]:7", "tcp:[::ffff:10.0.0.7]:7"] {
            assert!(is_exposed(text), "{text}");
        }
        for text in ["tcp:127.0.0.1:7", "tcp:[::1]:7", "tcp:[::ffff:127.0.0.1]:7", "tls:10.0.0.7:7", "unix:/x"] {
            assert!(!is_exposed(text), "{text}");
        }
    }
}
