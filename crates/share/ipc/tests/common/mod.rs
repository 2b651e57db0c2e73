//! A server and clients in one process, over each transport.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use rackloom_ipc::{
    Batch, BulkRef, Client, ClientConfig, Closed, Endpoint, Handler, Peer, Server, ServerConfig, TlsIdentity,
};

/// Longest that anything here may take; a test that needs it has failed.
pub const PATIENCE: Duration = Duration::from_secs(20);

pub fn deadline() -> Option<Instant> {
    Some(Instant::now() + PATIENCE)
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Transport {
    Shm,
    Tcp,
    /// TCP within TLS.
    Tls,
}

pub const ALL: [Transport; 3] = [Transport::Shm, Transport::Tcp, Transport::Tls];

/// Kinds and bodies.
type Messages = VecDeque<(u32, Vec<u8>)>;

/// What a client got: messages in order, and the end.
#[derive(Debug, Default)]
pub struct Inbox {
    state: Mutex<(Messages, Option<Closed>)>,
    changed: Condvar,
}

impl Inbox {
    pub fn pop(&self) -> Option<(u32, Vec<u8>)> {
        self.state.lock().unwrap().0.pop_front()
    }

    /// Waits without reading the channel: for what the client's own thread brings.
    pub fn wait_passively<T>(&self, mut look: impl FnMut(&mut Messages, Option<Closed>) -> Option<T>) -> T {
        let mut state = self.state.lock().unwrap();
        let end = Instant::now() + PATIENCE;
        loop {
            let (messages, closed) = &mut *state;
            if let Some(found) = look(messages, *closed) {
                return found;
            }
            let left = end.saturating_duration_since(Instant::now());
            assert!(!left.is_zero(), "nothing came: {state:?}");
            state = self.changed.wait_timeout(state, left).unwrap().0;
        }
    }
}

/// The handler that fills an [`Inbox`].
#[derive(Debug, Clone, Default)]
pub struct Into(pub Arc<Inbox>);

impl Handler for Into {
    fn message(&self, kind: u32, body: &[u8]) {
        self.0.state.lock().unwrap().0.push_back((kind, body.to_vec()));
        self.0.changed.notify_all();
    }

    fn closed(&self, why: Closed) {
        let before = self.0.state.lock().unwrap().1.replace(why);
        assert_eq!(before, None, "told once");
        self.0.changed.notify_all();
    }
}

/// A server, and where its socket is if it has one.
#[derive(Debug)]
pub struct Place {
    pub server: Server,
    _folder: tempfile::TempDir,
}

impl Place {
    pub fn new(transport: Transport, mut config: ServerConfig) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let endpoint = match transport {
            Transport::Shm => Endpoint::Unix(folder.path().join("s")),
            Transport::Tcp => Endpoint::Tcp("127.0.0.1:0".parse().unwrap()),
            Transport::Tls => {
                config.tls = Some(identity(folder.path()));
                "tls:127.0.0.1:0".parse().unwrap()
            }
        };
        Self { server: Server::bind(&endpoint, config).unwrap(), _folder: folder }
    }

    pub fn connect(&self) -> (Client, Arc<Inbox>) {
        let into = Into::default();
        let inbox = Arc::clone(&into.0);
        let client = Client::connect(self.server.endpoint(), &ClientConfig::default(), Box::new(into)).unwrap();
        (client, inbox)
    }

    /// A client and its peer.
    pub fn pair(&self) -> (Client, Arc<Inbox>, Peer) {
        let (client, inbox) = self.connect();
        (client, inbox, self.server.accept(deadline()).unwrap().expect("a client has connected"))
    }
}

/// A server with a key of its own.
pub fn identity(folder: &std::path::Path) -> TlsIdentity {
    let key = rcgen::KeyPair::generate().unwrap();
    let certificate = rcgen::CertificateParams::new(Vec::new()).unwrap().self_signed(&key).unwrap();
    let file = folder.join("key.pem");
    std::fs::write(&file, key.serialize_pem() + &certificate.pem()).unwrap();
    TlsIdentity::open_pinned(&file, Box::new(|why| panic!("{why}"))).unwrap()
}

/// Message kinds of the serving thread below.
pub const ECHO: u32 = 0xf000_0001;
/// Bulk reference of the client's bytes and of a place for them: copied from one to the other, each byte plus one.
pub const COPY: u32 = 0xf000_0002;
/// Sends as many messages as the body says (u32), each with its number and of the length (u32) that follows.
pub const FLOOD: u32 = 0xf000_0003;

/// Serves one client until it is gone; why it ended.
pub fn serve(peer: &Peer) -> Closed {
    let mut batch = Batch::new();
    loop {
        batch.clear();
        match peer.recv(deadline(), &mut batch).and_then(|got| answer(peer, &batch).map(|()| got)) {
            Ok(got) => assert!(got > 0, "nothing came: the client's side of the test has failed"),
            Err(e) => return peer.closed().unwrap_or_else(|| panic!("{e}")),
        }
    }
}

/// Does what messages ask for.
pub fn answer(peer: &Peer, batch: &Batch) -> Result<(), rackloom_ipc::ChannelError> {
    for (kind, body) in batch.iter() {
        match kind {
            COPY => {
                let (from, to) = body.split_at(BulkRef::LEN);
                let taken = peer.take(&BulkRef::decode(from.try_into().unwrap()), deadline())?;
                let given = peer.give(&BulkRef::decode(to.try_into().unwrap()))?;
                assert_eq!(taken.len(), given.len());
                let mut bytes = vec![0; taken.len()];
                taken.read(0, &mut bytes);
                bytes.iter_mut().for_each(|b| *b = b.wrapping_add(1));
                given.write(0, &bytes);
                given.finish()?;
                drop(taken);
                peer.send(COPY, &[])?;
            }
            FLOOD => {
                let number = |at: usize| u32::from_le_bytes(body[at..at + 4].try_into().unwrap());
                let mut out = vec![7; number(4) as usize];
                for i in 0..number(0) {
                    out[..4].copy_from_slice(&i.to_le_bytes());
                    peer.send(FLOOD, &out)?;
                }
            }
            _ => peer.send(kind, body)?,
        }
    }
    Ok(())
}
