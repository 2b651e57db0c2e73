//! The digest of a server's public key.

use std::fmt;
use std::str::FromStr;

use rustls::pki_types::CertificateDer;
use rustls::server::ParsedCertificate;

/// SHA-256 of a public key (its `SubjectPublicKeyInfo`): a certificate that is renewed for the same key has the same.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Pin([u8; 32]);

impl Pin {
    /// Of a certificate's key.
    pub(super) fn of(certificate: &CertificateDer<'_>) -> Result<Self, rustls::Error> {
        let key = ParsedCertificate::try_from(certificate)?.subject_public_key_info();
        let digest = ring::digest::digest(&ring::digest::SHA256, &key);
        Ok(Self(digest.as_ref().try_into().expect("SHA-256 has 32 bytes")))
    }
}

impl fmt::Display for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("sha256:")?;
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Pin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for Pin {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("invalid digest {text:?}: expected sha256: and 64 hexadecimal digits");
        let digits = text.strip_prefix("sha256:").filter(|d| d.len() == 64 && d.is_ascii()).ok_or_else(bad)?;
        let mut pin = [0; 32];
        for (at, byte) in pin.iter_mut().enumerate() {
            let pair = &digits[2 * at..2 * at + 2];
            let is_hex = pair.bytes().all(|c| c.is_ascii_hexdigit()); // `from_str_radix` takes a sign, too.
            *byte = u8::from_str_radix(pair, 16).ok().filter(|_| is_hex).ok_or_else(bad)?;
        }
        Ok(Self(pin))
    }
}
