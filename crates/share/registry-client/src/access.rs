//! Where the registry is, and what is shown to it.

use std::fmt;
use std::net::IpAddr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint, Identity};
use tonic::{Request, Status};

use crate::api::devices_service_client::DevicesServiceClient;

/// How long a connection may take to come about.
const CONNECT: Duration = Duration::from_secs(5);

/// How often a connection that says nothing is tried; the registry lets nobody do that more often than every 5 s.
const KEEP_ALIVE: Duration = Duration::from_secs(10);

/// How a certificate begins.
const BEGIN: &[u8] = b"-----BEGIN CERTIFICATE-----";

/// A registry's address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Url {
    /// A socket's path.
    Unix(PathBuf),
    /// HOST:PORT, in the clear.
    Http(String),
    /// HOST:PORT, by TLS.
    Https(String),
}

/// How to reach a registry. Files are read for each connection, so they may be renewed at any time.
#[derive(Debug, Clone)]
pub struct Access {
    /// Where it is.
    pub url: Url,
    /// The file of a token of the role `manager`; none if the registry asks for none.
    pub token: Option<PathBuf>,
    /// The authorities, in PEM, that the registry's certificate is checked by; needed for `https`.
    pub ca: Option<PathBuf>,
    /// Our own certificate and its key, in PEM, if the registry asks for one.
    pub identity: Option<(PathBuf, PathBuf)>,
}

/// Why a registry cannot even be called.
#[derive(Debug, thiserror::Error)]
pub enum AccessError {
    /// A file cannot be read.
    #[error("cannot read {what} {}", path.display())]
    File {
        /// What the file has.
        what: &'static str,
        /// Which.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// The file has no token as a header can carry it.
    #[error("{} has no token; write it there, in one line of printable characters", .0.display())]
    Token(PathBuf),
    /// The file of the authorities has none.
    #[error("{} has no certificate in PEM; name the file of the registry's authorities", .0.display())]
    Authorities(PathBuf),
    /// TLS without authorities.
    #[error("https needs the authorities to check the registry's certificate by; name their file with --registry-ca")]
    NoAuthorities,
    /// Files of TLS, and an address without.
    #[error("TLS files are of use for https alone; write https://HOST:PORT, or leave them out")]
    NoTls,
    /// The address or the TLS files make no sense.
    #[error("cannot call the registry")]
    Transport(#[from] tonic::transport::Error),
}

/// A client that shows the token.
pub(crate) type Client = DevicesServiceClient<InterceptedService<Channel, Bearer>>;

/// Adds the token to each call.
#[derive(Clone)]
pub(crate) struct Bearer(Option<MetadataValue<Ascii>>);

impl Interceptor for Bearer {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(token) = &self.0 {
            request.metadata_mut().insert("authorization", token.clone());
        }
        Ok(request)
    }
}

impl Url {
    /// Whether it can only be this machine.
    #[must_use]
    pub fn is_here(&self) -> bool {
        match self {
            Self::Unix(_) => true,
            Self::Http(address) | Self::Https(address) => {
                let host = address.rsplit_once(':').map_or(&**address, |(host, _)| host);
                let ip = host.trim_matches(['[', ']']).parse();
                host == "localhost" || ip.is_ok_and(|ip: IpAddr| ip.is_loopback())
            }
        }
    }
}

impl fmt::Display for Url {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unix(path) => write!(f, "unix:{}", path.display()),
            Self::Http(address) => write!(f, "http://{address}"),
            Self::Https(address) => write!(f, "https://{address}"),
        }
    }
}

impl FromStr for Url {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("{text:?} is no registry; write http://HOST:PORT, https://HOST:PORT or unix:PATH");
        if let Some(path) = text.strip_prefix("unix:").filter(|path| !path.is_empty()) {
            return Ok(Self::Unix(path.into()));
        }
        let (scheme, address) = text.split_once("://").ok_or_else(bad)?;
        let address = address.strip_suffix('/').unwrap_or(address);
        let (host, port) = address.rsplit_once(':').ok_or_else(bad)?;
        let plain = |c: char| c.is_ascii_alphanumeric() || ".-_[]:".contains(c);
        if host.is_empty() || !host.chars().all(plain) || !port.parse().is_ok_and(|port: u16| port > 0) {
            return Err(bad());
        }
        match scheme {
            "http" => Ok(Self::Http(address.to_owned())),
            "https" => Ok(Self::Https(address.to_owned())),
            _ => Err(bad()),
        }
    }
}

impl Access {
    /// A client. It connects when it is first used, and again when its connection is lost. To be called within a
    /// runtime.
    ///
    /// # Errors
    /// A file is missing or makes no sense.
    pub(crate) fn client(&self) -> Result<Client, AccessError> {
        let endpoint = Endpoint::from_shared(self.url.to_string())?
            .connect_timeout(CONNECT)
            .http2_keep_alive_interval(KEEP_ALIVE)
            .keep_alive_timeout(CONNECT)
            .keep_alive_while_idle(true);
        let channel = self.secured(endpoint)?.connect_lazy();
        Ok(DevicesServiceClient::with_interceptor(channel, Bearer(self.bearer()?)))
    }

    fn secured(&self, endpoint: Endpoint) -> Result<Endpoint, AccessError> {
        if !matches!(self.url, Url::Https(_)) {
            let is_bare = self.ca.is_none() && self.identity.is_none();
            return if is_bare { Ok(endpoint) } else { Err(AccessError::NoTls) };
        }
        let ca = self.ca.as_ref().ok_or(AccessError::NoAuthorities)?;
        let pem = read("the authorities", ca)?;
        if !pem.windows(BEGIN.len()).any(|bytes| bytes == BEGIN) {
            return Err(AccessError::Authorities(ca.clone())); // No connection would come about, for no clear reason.
        }
        let mut tls = ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem));
        if let Some((cert, key)) = &self.identity {
            tls = tls.identity(Identity::from_pem(read("the certificate", cert)?, read("the key", key)?));
        }
        Ok(endpoint.tls_config(tls)?)
    }

    fn bearer(&self) -> Result<Option<MetadataValue<Ascii>>, AccessError> {
        let Some(path) = &self.token else { return Ok(None) };
        let text = String::from_utf8(read("the token", path)?).unwrap_or_default();
        let token = Some(text.trim()).filter(|token| !token.is_empty());
        let header = token.and_then(|token| MetadataValue::try_from(format!("Bearer {token}")).ok());
        let mut header = header.ok_or_else(|| AccessError::Token(path.clone()))?;
        header.set_sensitive(true);
        Ok(Some(header))
    }
}

fn read(what: &'static str, path: &Path) -> Result<Vec<u8>, AccessError> {
    std::fs::read(path).map_err(|source| AccessError::File { what, path: path.to_owned(), source })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_and_written_alike() {
        for (text, here) in [
            ("unix:/run/rackloom/registry.sock", true),
            ("http://127.0.0.1:7440", true),
            ("http://localhost:7440", true),
            ("https://[::1]:7440", true),
            ("https://registry.example.org:443", false),
            ("http://10.0.0.7:7440", false),
        ] {
            let url: Url = text.parse().unwrap();
            assert_eq!((url.to_string().as_str(), url.is_here()), (text, here));
        }
        assert_eq!("http://a:1/".parse(), Ok(Url::Http("a:1".into())));
        for bad in [
            "",
            "unix:",
            "127.0.0.1:7440",
            "http://a",
            "http://:1",
            "http://a:0",
            "http://a:70000",
            "ftp://a:1",
            "http://a/b:1",
            "http://a:1/x",
        ] {
            assert!(bad.parse::<Url>().unwrap_err().contains("write http://HOST:PORT"), "{bad}");
        }
    }

    #[test]
    fn what_cannot_work_is_told() {
        let bare = Access { url: "https://a:1".parse().unwrap(), token: None, ca: None, identity: None };
        let told = |access: &Access| access.client().err().map(|why| why.to_string()).unwrap_or_default();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let _within = runtime.enter();
        assert!(told(&bare).contains("--registry-ca"));
        let missing = PathBuf::from("/nonexistent/file");
        assert_eq!(
            told(&Access { ca: Some(missing.clone()), ..bare.clone() }),
            "cannot read the authorities /nonexistent/file"
        );
        let plain = Access { url: "http://a:1".parse().unwrap(), ..bare.clone() };
        assert_eq!(told(&plain), "");
        assert!(told(&Access { ca: Some(missing.clone()), ..plain.clone() }).contains("https alone"));
        assert_eq!(told(&Access { token: Some(missing), ..plain.clone() }), "cannot read the token /nonexistent/file");
        let empty = Some(PathBuf::from("/dev/null"));
        assert!(told(&Access { token: empty.clone(), ..plain }).contains("/dev/null has no token"));
        assert!(told(&Access { ca: empty, ..bare }).contains("/dev/null"));
    }
}
