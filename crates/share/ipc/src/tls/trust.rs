//! How a client knows the server.

use std::fmt;
use std::sync::Arc;

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{Resumption, WebPkiServerVerifier};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{
    CertificateError, ClientConfig, ClientConnection, DigitallySignedStruct, OtherError, RootCertStore, SignatureScheme,
};

use super::{Pin, Secure, TlsError, provider};

/// Authorities that vouch for servers' certificates.
#[derive(Clone)]
pub struct Authorities(Arc<WebPkiServerVerifier>);

impl Authorities {
    /// The certificates of a text in PEM.
    ///
    /// # Errors
    /// There is none, or one that is malformed.
    pub fn from_pem(text: &[u8]) -> Result<Self, TlsError> {
        let mut roots = RootCertStore::empty();
        for certificate in CertificateDer::pem_slice_iter(text) {
            roots.add(certificate.map_err(|_| TlsError::NoPem("certificate"))?)?;
        }
        if roots.is_empty() {
            return Err(TlsError::NoPem("certificate"));
        }
        let verifier = WebPkiServerVerifier::builder_with_provider(Arc::new(roots), provider()).build();
        Ok(Self(verifier.map_err(|e| TlsError::Handshake(rustls::Error::General(e.to_string())))?))
    }
}

impl fmt::Debug for Authorities {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Authorities").finish_non_exhaustive()
    }
}

/// Makes connections to a server that is known.
pub(crate) struct Trust {
    config: Arc<ClientConfig>,
    name: ServerName<'static>,
}

impl Trust {
    /// # Errors
    /// Neither authorities nor a pin is there to know the server by.
    pub(crate) fn new(host: &str, pin: Option<Pin>, authorities: Option<&Authorities>) -> Result<Self, TlsError> {
        if authorities.is_none() && pin.is_none() {
            return Err(TlsError::NoTrust);
        }
        let name = ServerName::try_from(host.to_owned());
        let name = name.map_err(|e| TlsError::Handshake(rustls::Error::General(e.to_string())))?;
        let judge = Judge { pin, authorities: authorities.map(|a| Arc::clone(&a.0)) };
        let versions =
            ClientConfig::builder_with_provider(provider()).with_protocol_versions(&[&rustls::version::TLS13]);
        let config = versions?.dangerous().with_custom_certificate_verifier(Arc::new(judge));
        let mut config = config.with_no_client_auth();
        config.resumption = Resumption::disabled();
        Ok(Self { config: Arc::new(config), name })
    }

    pub(crate) fn connection(&self) -> Result<Secure, TlsError> {
        Ok(Secure::new(ClientConnection::new(Arc::clone(&self.config), self.name.clone())?.into()))
    }
}

/// Judges the certificate of a server. Where authorities are given, they must vouch for it, for the name, and for
/// today; where a pin is, the key must be that one. A pinned key alone needs no name and no date: it is the identity.
#[derive(Debug)]
struct Judge {
    pin: Option<Pin>,
    authorities: Option<Arc<WebPkiServerVerifier>>,
}

impl ServerCertVerifier for Judge {
    fn verify_server_cert(
        &self,
        certificate: &CertificateDer<'_>,
        between: &[CertificateDer<'_>],
        name: &ServerName<'_>,
        ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Some(expected) = self.pin {
            let found = Pin::of(certificate)?;
            if found != expected {
                return Err(rustls::Error::Other(OtherError(Arc::new(TlsError::OtherKey { expected, found }))));
            }
        }
        match &self.authorities {
            Some(authorities) => authorities.verify_server_cert(certificate, between, name, ocsp, now),
            None if self.pin.is_some() => Ok(ServerCertVerified::assertion()),
            None => Err(CertificateError::UnknownIssuer.into()),
        }
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Err(rustls::PeerIncompatible::ServerDoesNotSupportTls12Or13.into())
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        let algorithms = provider().signature_verification_algorithms;
        rustls::crypto::verify_tls13_signature(message, certificate, signed, &algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
