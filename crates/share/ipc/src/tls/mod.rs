//! TLS 1.3 for connections between nodes.
//!
//! A client knows a server by authorities that vouch for its certificate, by the digest of its public key (a pin), or
//! by both. Nothing of the client's leaves it before the server has shown who it is. Neither side resumes sessions or
//! sends early data: each connection proves the server's key anew.

mod identity;
mod pin;
mod secure;
mod trust;

use std::sync::Arc;

use rustls::crypto::CryptoProvider;

pub use self::identity::TlsIdentity;
pub use self::pin::Pin;
pub(crate) use self::secure::{HandshakeError, Secure};
pub use self::trust::Authorities;
pub(crate) use self::trust::Trust;

/// Why TLS cannot be set up, or the other end is not who it should be.
#[derive(Debug, Clone, thiserror::Error)]
#[non_exhaustive]
pub enum TlsError {
    /// Nothing says which server is the right one.
    #[error("nothing says how to know the server: neither the digest of its key nor authorities were given")]
    NoTrust,
    /// The connection could not be made secure.
    #[error("{0}")]
    Handshake(#[from] rustls::Error),
    /// The other end does not speak TLS.
    #[error("the server does not speak TLS at this port")]
    NotTls,
    /// The certificate is of another key than the pinned one.
    #[error("the server's key is {found}, not the one that was expected ({expected})")]
    OtherKey {
        /// The key that the endpoint names.
        expected: Pin,
        /// The key of the server.
        found: Pin,
    },
    /// A file holds no PEM of the sort that is needed.
    #[error("no {0} in PEM")]
    NoPem(&'static str),
    /// A file cannot be read.
    #[error("cannot read {path}: {why}")]
    File {
        /// Its path.
        path: String,
        /// The system's reason.
        why: String,
    },
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}
