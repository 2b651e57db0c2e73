//! The client's end of a channel.

mod bulk;
mod core;
mod dispatch;
mod handler;
mod shm;
mod spans;
mod tcp;
mod wire;

use std::fmt;
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Instant;

use rackloom_sync::lock;

pub use self::bulk::Bulk;
use self::core::{Core, Link};
pub use self::handler::Handler;
use self::shm::ShmLink;
use self::tcp::TcpLink;
use crate::endpoint::Endpoint;
use crate::error::{ChannelError, Closed};
use crate::hello::{FEATURES, Token};
use crate::limits::Spin;
use crate::tls::{Authorities, Trust};

/// Configuration of a client.
#[derive(Clone)]
pub struct ClientConfig {
    /// Proof of the right to connect, as the server requires it.
    pub token: Token,
    /// How threads wait.
    pub spin: Spin,
    /// Authorities that must vouch for servers over TLS, and may for those whose endpoint names their key.
    pub authorities: Option<Authorities>,
    /// Speak plain TCP also beyond this machine, where all on the way can read and change token and data.
    pub insecure: bool,
}

impl Default for ClientConfig {
    fn default() -> Self {
        let (token, spin, authorities, insecure) = (Token::default(), Spin::of_a_client(), None, false);
        Self { token, spin, authorities, insecure }
    }
}

impl fmt::Debug for ClientConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { spin, authorities, insecure, .. } = self;
        let mut out = f.debug_struct("ClientConfig");
        out.field("spin", spin).field("authorities", authorities).field("insecure", insecure).finish_non_exhaustive()
    }
}

/// A connection to a server, for all threads of a program; closed when dropped. In a child of a fork every call is
/// refused.
#[derive(Debug)]
pub struct Client {
    core: Arc<Core>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl Client {
    /// Connects and greets; takes 2 seconds at most (4 over TCP, and as long as the system needs to look a name up).
    ///
    /// # Errors
    /// Nobody listens, the server refuses, or the peer does not speak this version of the protocol. Over TLS: it is not
    /// known to be the right server. Over TCP: the address is of another machine, and that is not allowed.
    pub fn connect(to: &Endpoint, config: &ClientConfig, handler: Box<dyn Handler>) -> Result<Self, ChannelError> {
        let link = match to {
            Endpoint::Unix(path) => Link::Shm(ShmLink::connect(path, config.token, FEATURES, config.spin)?.0),
            Endpoint::Tcp(_) if to.is_exposed() && !config.insecure => return Err(ChannelError::Exposed),
            Endpoint::Tcp(address) => {
                Link::Tcp(TcpLink::connect(&[*address], None, config.token, FEATURES, config.spin)?)
            }
            Endpoint::Tls(address) => {
                let trust = Trust::new(&address.host, address.pin, config.authorities.as_ref())?;
                let addresses = address.resolve().map_err(ChannelError::io("look the server's name up"))?;
                Link::Tcp(TcpLink::connect(&addresses, Some(&trust), config.token, FEATURES, config.spin)?)
            }
        };
        let is_tcp = matches!(link, Link::Tcp(_));
        let client = Self { core: Arc::new(Core::new(link, handler)), threads: Mutex::default() };
        let start = |name: &str, run: fn(&Core)| -> Result<(), ChannelError> {
            let core = Arc::clone(&client.core);
            let thread = std::thread::Builder::new().name(name.into()).spawn(move || run(&core));
            lock(&client.threads).push(thread.map_err(ChannelError::io("start a thread"))?);
            Ok(())
        };
        start("ipc", |core| {
            match &core.link {
                Link::Shm(link) => link.run(core),
                Link::Tcp(link) => link.run(core),
            }
            core.close(Closed::PeerGone); // Unless there is another reason already.
            if core.closed() == Some(Closed::PeerGone) {
                core.dispatcher.handle_now(core); // What came before the end.
            }
            core.handler.closed(core.closed().unwrap_or(Closed::Here));
        })?;
        if is_tcp {
            start("ipc-bulk", |core| {
                if let Link::Tcp(link) = &core.link {
                    link.run_bulk(core);
                }
            })?;
        }
        Ok(client)
    }

    /// Sends a message. Waits while the server's queue is full; never for an answer.
    ///
    /// # Errors
    /// The channel is closed; the message is too long, or its kind is reserved.
    pub fn send(&self, kind: u32, body: &[u8]) -> Result<(), ChannelError> {
        self.core.send(kind, body)
    }

    /// Sends a message that the server need not have before the next one, or before a thread waits or polls here: until
    /// then it may be kept, to leave together with others.
    ///
    /// # Errors
    /// As for [`Self::send`].
    pub fn send_later(&self, kind: u32, body: &[u8]) -> Result<(), ChannelError> {
        self.core.send_later(kind, body)
    }

    /// Waits until `done` returns something, and handles messages meanwhile. `done` is called at the beginning and
    /// after messages have been handled, by this thread alone; it checks what the handler has changed.
    ///
    /// # Errors
    /// The time has passed ([`ChannelError::Timeout`]), or the channel is closed.
    pub fn wait<T>(&self, deadline: Option<Instant>, mut done: impl FnMut() -> Option<T>) -> Result<T, ChannelError> {
        if !self.core.is_ours() {
            return Err(ChannelError::Forked);
        }
        self.core.flush();
        self.core.dispatcher.wait(&self.core, deadline, &mut done)
    }

    /// Handles messages that have arrived, if no other thread does; without waiting.
    ///
    /// # Errors
    /// The channel is closed.
    pub fn poll(&self) -> Result<(), ChannelError> {
        self.core.check()?;
        if dispatch::in_handler() {
            return Err(ChannelError::Reentrant);
        }
        self.core.flush();
        self.core.dispatcher.handle_now(&self.core);
        Ok(())
    }

    /// Gets bulk memory of `len` bytes.
    ///
    /// # Errors
    /// It exceeds the client's quota ([`ChannelError::Quota`]), or the channel is closed.
    pub fn bulk(&self, len: u64) -> Result<Bulk, ChannelError> {
        Bulk::new(&self.core, len)
    }

    /// Bytes of new shared bulk memory that the server would still grant: 0 between nodes. What this client holds and
    /// does not use is not counted.
    #[must_use]
    pub fn shared_room(&self) -> u64 {
        match &self.core.link {
            Link::Shm(link) => link.room(),
            Link::Tcp(_) => 0,
        }
    }

    /// Why the channel is closed, if it is.
    #[must_use]
    pub fn closed(&self) -> Option<Closed> {
        self.core.closed()
    }

    /// Closes the channel; waiting calls return.
    pub fn close(&self) {
        if self.core.is_ours() {
            self.core.close(Closed::Here);
        }
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        if !self.core.is_ours() {
            return; // The threads and the connection belong to the parent.
        }
        self.core.close(Closed::Here);
        for thread in lock(&self.threads).drain(..) {
            // A handler that drops the last handle runs on such a thread.
            if thread.thread().id() != std::thread::current().id() {
                let _ = thread.join();
            }
        }
    }
}
