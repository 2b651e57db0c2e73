//! The certificate and key of a server.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::SystemTime;

use rackloom_sync::lock;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::server::{ClientHello, NoServerSessionStorage, ResolvesServerCert};
use rustls::sign::CertifiedKey;
use rustls::{ServerConfig, ServerConnection};

use super::{Pin, Secure, TlsError, provider};

/// Who a server is over TLS: a certificate and its key, in files that are read again when they have changed.
#[derive(Debug, Clone)]
pub struct TlsIdentity {
    config: Arc<ServerConfig>,
    pin: Option<Pin>,
}

/// What is said about files that have changed and cannot be used.
type Warn = Box<dyn Fn(&TlsError) + Send + Sync>;

impl TlsIdentity {
    /// Reads a certificate, with those of the authorities between it and the root, and its key, all in PEM. `warn`
    /// hears of later contents that cannot be used; the last good ones stay in force.
    ///
    /// # Errors
    /// A file cannot be read or holds no such thing, or the key is of another certificate.
    pub fn open(certificate: &Path, key: &Path, warn: Warn) -> Result<Self, TlsError> {
        let files = Files { certificate: certificate.into(), key: key.into() };
        let (changed, known) = (files.changed(), files.read()?); // What is written meanwhile is read again.
        let current = Current { files, pin: None, known: Mutex::new((changed, Arc::new(known))), warn };
        Self::of(current)
    }

    /// Reads a key and a certificate that it has signed itself, in one file. Programs know it by the key, so one that
    /// changes is not taken up.
    ///
    /// # Errors
    /// As with [`Self::open`].
    pub fn open_pinned(file: &Path, warn: Warn) -> Result<Self, TlsError> {
        let files = Files { certificate: file.into(), key: file.into() };
        let (changed, known) = (files.changed(), files.read()?);
        let pin = Pin::of(known.end_entity_cert()?)?;
        Self::of(Current { files, pin: Some(pin), known: Mutex::new((changed, Arc::new(known))), warn })
    }

    fn of(current: Current) -> Result<Self, TlsError> {
        let pin = current.pin;
        let versions =
            ServerConfig::builder_with_provider(provider()).with_protocol_versions(&[&rustls::version::TLS13]);
        let mut config = versions?.with_no_client_auth().with_cert_resolver(Arc::new(current));
        config.session_storage = Arc::new(NoServerSessionStorage {});
        config.send_tls13_tickets = 0;
        Ok(Self { config: Arc::new(config), pin })
    }

    /// The key by which programs know the server, if that is how they do.
    #[must_use]
    pub const fn pin(&self) -> Option<Pin> {
        self.pin
    }

    pub(crate) fn connection(&self) -> Result<Secure, TlsError> {
        Ok(Secure::new(ServerConnection::new(Arc::clone(&self.config))?.into()))
    }
}

/// The present certificate and key.
struct Current {
    files: Files,
    /// The only key that may be, if there is only one.
    pin: Option<Pin>,
    known: Mutex<(Changed, Arc<CertifiedKey>)>,
    warn: Warn,
}

impl std::fmt::Debug for Current {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Current").field("files", &self.files).finish_non_exhaustive()
    }
}

impl ResolvesServerCert for Current {
    fn resolve(&self, _: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        let mut known = lock(&self.known);
        let now = self.files.changed();
        if now != known.0 {
            known.0 = now;
            match self.read() {
                Ok(fresh) => known.1 = Arc::new(fresh),
                Err(why) => (self.warn)(&why),
            }
        }
        Some(Arc::clone(&known.1))
    }
}

impl Current {
    fn read(&self) -> Result<CertifiedKey, TlsError> {
        let fresh = self.files.read()?;
        let found = Pin::of(fresh.end_entity_cert()?)?;
        match self.pin.filter(|expected| *expected != found) {
            Some(expected) => Err(TlsError::OtherKey { expected, found }),
            None => Ok(fresh),
        }
    }
}

#[derive(Debug)]
struct Files {
    certificate: PathBuf,
    key: PathBuf,
}

/// When the files were written.
type Changed = [Option<SystemTime>; 2];

impl Files {
    fn changed(&self) -> Changed {
        [&self.certificate, &self.key].map(|path| std::fs::metadata(path).and_then(|data| data.modified()).ok())
    }

    fn read(&self) -> Result<CertifiedKey, TlsError> {
        let read = |path: &Path| {
            std::fs::read(path).map_err(|why| TlsError::File { path: path.display().to_string(), why: why.to_string() })
        };
        let chain = CertificateDer::pem_slice_iter(&read(&self.certificate)?).collect::<Result<Vec<_>, _>>();
        let chain = chain.ok().filter(|chain| !chain.is_empty()).ok_or(TlsError::NoPem("certificate"))?;
        let key = PrivateKeyDer::from_pem_slice(&read(&self.key)?).map_err(|_| TlsError::NoPem("private key"))?;
        Ok(CertifiedKey::from_der(chain, key, &provider())?)
    }
}
