//! A manager within TLS, authorities, and a client that speaks TLS and believes everybody.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use rackloom_ipc::hello::{Hello, Role, Welcome};
use rackloom_ipc::{
    Authorities, Client, ClientConfig, Closed, Endpoint, Handler, Server, ServerConfig, TlsAddress, TlsIdentity, Token,
};
use rcgen::{CertificateParams, CertifiedIssuer, IsCa, KeyPair};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::crypto::CryptoProvider;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::{ClientConnection, DigitallySignedStruct, SignatureScheme, StreamOwned, SupportedProtocolVersion};

use crate::isolating::{Isolating, free_port};
use crate::site::until;

/// A manager that listens within TLS, too.
pub struct Secured {
    pub manager: Isolating,
    /// With the digest of its key, if it has one of its own.
    pub tls: Endpoint,
    pub folder: tempfile::TempDir,
}

impl Secured {
    /// With a key of its own.
    pub fn start(files: usize, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("own.pem");
        let options = [options, &["--tls-self-signed", file.to_str().unwrap()]].concat();
        let secured = Self::run(files, &options, folder);
        let tls = secured.pinned_by(&file);
        Self { tls, ..secured }
    }

    /// With a certificate.
    pub fn certified(certificate: &Certificate, options: &[&str]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        certificate.write(&files);
        let [cert, key] = files.each_ref().map(|file| file.to_str().unwrap());
        Self::run(1024, &[options, &["--tls-cert", cert, "--tls-key", key]].concat(), folder)
    }

    fn run(files: usize, options: &[&str], folder: tempfile::TempDir) -> Self {
        let tls: Endpoint = format!("tls:127.0.0.1:{}", free_port()).parse().unwrap();
        let manager = Isolating::with_files(files, &[options, &["--listen", &tls.to_string()]].concat());
        until("it listens within TLS", || TcpStream::connect(address(&tls)).is_ok());
        Self { manager, tls, folder }
    }

    /// Its endpoint with the digest of its key, for clients that know it by that.
    pub fn pinned(&self) -> Endpoint {
        let joined = self.folder.path().join("joined.pem");
        let texts = self.files().map(|file| std::fs::read_to_string(file).unwrap());
        std::fs::write(&joined, texts.concat()).unwrap();
        self.pinned_by(&joined)
    }

    fn pinned_by(&self, file: &Path) -> Endpoint {
        let pin = TlsIdentity::open_pinned(file, Box::new(|why| panic!("{why}"))).unwrap().pin();
        let Endpoint::Tls(address) = self.tls.clone() else { unreachable!("it listens so") };
        Endpoint::Tls(TlsAddress { pin, ..address })
    }

    /// The files of its certificate.
    pub fn files(&self) -> [PathBuf; 2] {
        ["cert.pem", "key.pem"].map(|name| self.folder.path().join(name))
    }
}

/// Where to connect.
pub fn address(endpoint: &Endpoint) -> String {
    match endpoint {
        Endpoint::Tcp(address) => address.to_string(),
        Endpoint::Tls(address) => format!("{}:{}", address.host, address.port),
        Endpoint::Unix(_) => unreachable!("it is no address"),
    }
}

/// An authority of a test.
pub struct Authority(CertifiedIssuer<'static, KeyPair>);

/// A certificate and its key, in PEM.
pub struct Certificate {
    certificate: String,
    key: String,
}

impl Certificate {
    pub fn write(&self, [certificate, key]: &[PathBuf; 2]) {
        std::fs::write(key, &self.key).unwrap();
        std::fs::write(certificate, &self.certificate).unwrap();
    }
}

impl Authority {
    pub fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        // Two of one name would be told apart by their keys alone.
        static NUMBER: AtomicUsize = AtomicUsize::new(0);
        let name = format!("authority {}", NUMBER.fetch_add(1, Ordering::Relaxed));
        params.distinguished_name.push(rcgen::DnType::CommonName, name);
        params.is_ca = IsCa::Ca(rcgen::BasicConstraints::Unconstrained);
        Self(CertifiedIssuer::self_signed(params, KeyPair::generate().unwrap()).unwrap())
    }

    /// A certificate for a name or an address, valid until the end of a year.
    pub fn vouch(&self, name: &str, year: i32) -> Certificate {
        let key = KeyPair::generate().unwrap();
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_after = rcgen::date_time_ymd(year, 12, 31);
        let certificate = params.signed_by(&key, &self.0).unwrap().pem();
        Certificate { certificate, key: key.serialize_pem() }
    }

    /// The same with a key of Ed25519, and the seed of that.
    pub fn vouch_for_a_seed(&self) -> (Certificate, Vec<u8>) {
        let key = KeyPair::generate_for(&rcgen::PKCS_ED25519).unwrap();
        // In PKCS #8 (RFC 8410): an octet string of 34 bytes, and within it one of 32.
        let (encoded, head) = (key.serialize_der(), [4, 34, 4, 32]);
        let at = encoded.windows(head.len()).position(|part| part == head).unwrap() + head.len();
        let certificate = CertificateParams::new(Vec::new()).unwrap().signed_by(&key, &self.0).unwrap().pem();
        (Certificate { certificate, key: key.serialize_pem() }, encoded[at..at + 32].to_vec())
    }

    pub fn known(&self) -> Authorities {
        Authorities::from_pem(self.0.pem().as_bytes()).unwrap()
    }
}

/// The year in which good certificates end.
pub const LATER: i32 = 2099;

/// A server that a client must not believe. It counts the tokens that it gets.
pub struct Impostor {
    pub server: Server,
    tokens: Arc<AtomicUsize>,
    _folder: tempfile::TempDir,
}

impl Impostor {
    /// On this port of the machine, or on any.
    pub fn listen(port: u16) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let files = ["cert.pem", "key.pem"].map(|name| folder.path().join(name));
        Authority::new().vouch("127.0.0.1", LATER).write(&files);
        let tls = TlsIdentity::open(&files[0], &files[1], Box::new(|why| panic!("{why}"))).unwrap();
        let tokens = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&tokens);
        let mut config = ServerConfig { tls: Some(tls), ..ServerConfig::default() };
        config.admit = Box::new(move |_, _| {
            count.fetch_add(1, Ordering::SeqCst);
            true
        });
        let server = Server::bind(&format!("tls:127.0.0.1:{port}").parse().unwrap(), config).unwrap();
        Self { server, tokens, _folder: folder }
    }

    /// How many tokens it has got.
    pub fn tokens(&self) -> usize {
        self.tokens.load(Ordering::SeqCst)
    }

    /// Instead of the endpoint that a client means.
    pub fn instead_of(&self, endpoint: &Endpoint) -> Endpoint {
        let (Endpoint::Tls(meant), Endpoint::Tls(here)) = (endpoint, self.server.endpoint()) else {
            unreachable!("both are within TLS")
        };
        Endpoint::Tls(TlsAddress { port: here.port, ..meant.clone() })
    }
}

struct Ignore;

impl Handler for Ignore {
    fn message(&self, _: u32, _: &[u8]) {}
    fn closed(&self, _: Closed) {}
}

/// Connects as the library does; what is wrong, for a person.
pub fn connects(to: &Endpoint, token: Token, authorities: Option<Authorities>) -> Result<(), String> {
    let config = ClientConfig { token, authorities, ..ClientConfig::default() };
    match Client::connect(to, &config, Box::new(Ignore)) {
        Ok(_) => Ok(()),
        Err(why) => Err(why.to_string()),
    }
}

/// A connection within TLS to whoever answers.
pub struct Believing(pub StreamOwned<ClientConnection, TcpStream>);

impl Believing {
    /// Ready to connect, with these versions of TLS.
    fn prepare(versions: &[&'static SupportedProtocolVersion]) -> ClientConnection {
        let config = rustls::ClientConfig::builder_with_provider(provider()).with_protocol_versions(versions).unwrap();
        let config = config.dangerous().with_custom_certificate_verifier(Arc::new(Anybody)).with_no_client_auth();
        ClientConnection::new(Arc::new(config), "localhost".try_into().unwrap()).unwrap()
    }

    /// The first bytes of a handshake.
    pub fn first_words() -> Vec<u8> {
        let mut bytes = Vec::new();
        Self::prepare(&[&rustls::version::TLS13]).write_tls(&mut bytes).unwrap();
        bytes
    }

    /// A finished handshake, or why there is none.
    pub fn connect(to: &Endpoint, version: &'static SupportedProtocolVersion) -> std::io::Result<Self> {
        let socket = TcpStream::connect(address(to))?;
        socket.set_read_timeout(Some(Duration::from_secs(20)))?;
        let mut stream = StreamOwned::new(Self::prepare(&[version]), socket);
        while stream.conn.is_handshaking() {
            stream.conn.complete_io(&mut stream.sock)?;
        }
        while stream.conn.wants_write() {
            stream.conn.write_tls(&mut stream.sock)?;
        }
        Ok(Self(stream))
    }

    /// Both connections of a client, greeted.
    pub fn pair(to: &Endpoint, token: Token) -> [Self; 2] {
        let mut hello = Hello { role: Role::Messages, features: 0, token, session: [0; 16] };
        let greet = |hello: &Hello| {
            let mut connection = Self::connect(to, &rustls::version::TLS13).unwrap();
            connection.0.write_all(&hello.encode()).unwrap();
            let mut answer = [0; Welcome::LEN];
            connection.0.read_exact(&mut answer).unwrap();
            (connection, Welcome::decode(&answer).unwrap().unwrap().session)
        };
        let (main, session) = greet(&hello);
        (hello.role, hello.session) = (Role::Bulk, session);
        [main, greet(&hello).0]
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(rustls::crypto::ring::default_provider())
}

/// Takes any certificate.
#[derive(Debug)]
struct Anybody;

impl ServerCertVerifier for Anybody {
    fn verify_server_cert(
        &self,
        _: &CertificateDer<'_>,
        _: &[CertificateDer<'_>],
        _: &ServerName<'_>,
        _: &[u8],
        _: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn verify_tls13_signature(
        &self,
        _: &[u8],
        _: &CertificateDer<'_>,
        _: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        Ok(HandshakeSignatureValid::assertion())
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        provider().signature_verification_algorithms.supported_schemes()
    }
}
