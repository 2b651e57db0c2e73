//! Command-line options about connections from other machines: TLS, or nothing.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use rackloom_ipc::{Endpoint, TlsError, TlsIdentity};

/// How connections from other machines are secured.
#[derive(Debug, Clone, Default, clap::Args)]
pub struct TlsOptions {
    /// File with the certificate for `--listen tls:`, in PEM, followed by those between it and the authority that
    /// programs know. It is read again when it changes.
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub tls_cert: Option<PathBuf>,
    /// File with the certificate's key, in PEM.
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    pub tls_key: Option<PathBuf>,
    /// File with a key and a certificate of its own for `--listen tls:`, made if it does not exist. Programs know the
    /// manager by the digest of that key, which is a part of the endpoint that the manager prints.
    #[arg(long, value_name = "FILE", conflicts_with = "tls_cert")]
    pub tls_self_signed: Option<PathBuf>,
    /// Listen on plain TCP also for other machines: whoever sits between reads and changes tokens and data.
    #[arg(long)]
    pub insecure: bool,
}

impl TlsOptions {
    /// Who the manager is at those of its endpoints that are within TLS.
    ///
    /// # Errors
    /// Endpoint and options do not fit, or the files cannot be used.
    pub(super) fn identity(&self, listen: &[Endpoint]) -> anyhow::Result<Option<TlsIdentity>> {
        if let Some(exposed) = listen.iter().find(|endpoint| endpoint.is_exposed() && !self.insecure) {
            bail!(
                "{exposed} is reached from other machines, and tokens and data would travel in the clear; listen on \
                 {} with --tls-self-signed FILE or --tls-cert and --tls-key, or allow it with --insecure",
                exposed.to_string().replacen("tcp:", "tls:", 1)
            );
        }
        let wanted = listen.iter().find(|endpoint| matches!(endpoint, Endpoint::Tls(_)));
        let (Some(wanted), true) = (wanted, self.tls_cert.is_some() || self.tls_self_signed.is_some()) else {
            match wanted {
                Some(wanted) => bail!("{wanted} needs --tls-self-signed FILE, or --tls-cert and --tls-key"),
                None if self.tls_cert.is_some() || self.tls_self_signed.is_some() => {
                    bail!("a certificate for TLS is there, but no endpoint: listen with --listen tls:ADDRESS:PORT")
                }
                None => return Ok(None),
            }
        };
        let warn = Box::new(|why: &TlsError| {
            eprintln!("rackloom-manager: cannot use the changed certificate; the old one stays in force: {why}");
        });
        let identity = match (&self.tls_cert, &self.tls_key, &self.tls_self_signed) {
            (Some(certificate), Some(key), _) => {
                warn_of_readers(key);
                TlsIdentity::open(certificate, key, warn)
            }
            (_, _, Some(file)) => {
                make_if_missing(file)?;
                warn_of_readers(file);
                TlsIdentity::open_pinned(file, warn)
            }
            _ => unreachable!("one of the two was given, and --tls-cert requires --tls-key"),
        };
        identity.map(Some).with_context(|| format!("cannot use the certificate for {wanted}"))
    }
}

/// Makes a key and a certificate of its own. The certificate has no use but to carry the key, so it never expires, and
/// its name is nobody's.
fn make_if_missing(file: &Path) -> anyhow::Result<()> {
    if file.exists() {
        return Ok(());
    }
    let key = rcgen::KeyPair::generate().context("cannot make a key")?;
    let mut certificate = rcgen::CertificateParams::new(Vec::new()).context("cannot make a certificate")?;
    certificate.distinguished_name.push(rcgen::DnType::CommonName, "rackloom-manager");
    certificate.not_after = rcgen::date_time_ymd(9999, 12, 31); // RFC 5280: no well-defined end.
    let certificate = certificate.self_signed(&key).context("cannot make a certificate")?;
    let text = key.serialize_pem() + &certificate.pem();
    let failed = || format!("cannot make {}", file.display());
    // Whole or not at all, and never over another's: two managers may start at once.
    let folder = file.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let part = folder.join(format!(".rackloom-{}.part", std::process::id()));
    let _ = std::fs::remove_file(&part); // Of one that was killed, whose number this process has.
    let written = std::fs::OpenOptions::new().write(true).create_new(true).mode(0o600).open(&part);
    let written = written.and_then(|mut out| out.write_all(text.as_bytes()).and_then(|()| out.sync_all()));
    let linked = written.and_then(|()| std::fs::hard_link(&part, file));
    let _ = std::fs::remove_file(&part);
    match linked {
        Err(e) if e.kind() == std::io::ErrorKind::AlreadyExists => Ok(()),
        other => other.with_context(failed),
    }
}

/// A key that others may read is no secret.
fn warn_of_readers(key: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    let mode = std::fs::metadata(key).map(|data| data.permissions().mode()).unwrap_or_default();
    if mode & 0o044 != 0 {
        eprintln!("rackloom-manager: other users may read the key in {}; chmod 600 it", key.display());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(options: &TlsOptions, listen: &[&str]) -> String {
        let listen: Vec<Endpoint> = listen.iter().map(|text| text.parse().unwrap()).collect();
        options.identity(&listen).unwrap_err().to_string()
    }

    #[test]
    fn what_leaves_the_machine_is_encrypted_unless_told_otherwise() {
        let plain = TlsOptions::default();
        for endpoint in ["tcp:0.0.0.0:7000", "tcp:10.0.0.7:7000", "tcp:[::]:7000"] {
            let why = refused(&plain, &["unix:/x", endpoint]);
            assert!(why.contains("in the clear") && why.contains("--insecure") && why.contains("tls:"), "{why}");
            let insecure = TlsOptions { insecure: true, ..TlsOptions::default() };
            assert!(insecure.identity(&[endpoint.parse().unwrap()]).unwrap().is_none());
        }
        assert!(plain.identity(&["tcp:127.0.0.1:7".parse().unwrap()]).unwrap().is_none());
        assert!(refused(&plain, &["tls:10.0.0.7:7000"]).contains("--tls-self-signed"));
        let idle = TlsOptions { tls_self_signed: Some("/x".into()), ..TlsOptions::default() };
        assert!(refused(&idle, &["unix:/x"]).contains("--listen tls:"));
    }

    #[test]
    fn a_key_is_made_once_and_for_its_owner() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("key.pem");
        let options = TlsOptions { tls_self_signed: Some(file.clone()), ..TlsOptions::default() };
        let listen = ["tls:127.0.0.1:0".parse().unwrap()];
        let pin = |options: &TlsOptions| options.identity(&listen).unwrap().unwrap().pin().unwrap();
        let first = pin(&options);
        assert_eq!(pin(&options), first, "it is the same at the next start");
        assert_eq!(std::fs::metadata(&file).unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(folder.path().read_dir().unwrap().count(), 1, "nothing else stays");
        std::fs::write(&file, "no key").unwrap();
        assert!(options.identity(&listen).is_err(), "and never over what is there");
        let other = TlsOptions { tls_self_signed: Some(folder.path().join("other.pem")), ..TlsOptions::default() };
        assert_ne!(pin(&other), first);
    }
}
