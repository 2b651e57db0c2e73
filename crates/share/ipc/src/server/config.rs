//! The configuration of a server, and the identity of a client.

use std::any::Any;
use std::fmt;
use std::net::SocketAddr;

use crate::hello::Token;
use crate::limits::{CLIENTS_MAX, Limits};
use crate::tls::TlsIdentity;

/// Who a client is, according to the operating system.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Identity {
    /// A process of this node.
    Unix {
        /// Its process ID; 0 if it is in a namespace invisible to us.
        pid: u32,
        /// Its user ID.
        uid: u32,
        /// Its group ID.
        gid: u32,
    },
    /// A TCP connection.
    Tcp {
        /// Its remote address.
        from: SocketAddr,
    },
}

type Admit = dyn Fn(&Token, &Identity) -> bool + Send + Sync;
/// Decides whether a client may have another arena: its token, its identity, the bytes wanted, and the bytes of arenas
/// that it holds already. The receipt is dropped when the memory is free again.
pub type Grant = dyn Fn(&Token, &Identity, u64, u64) -> Option<Receipt> + Send + Sync;
/// Whatever stands for an arena in the accounts of whoever grants it.
pub type Receipt = Box<dyn Any + Send + Sync>;

/// Configuration of a server.
pub struct ServerConfig {
    /// The limits of each client.
    pub limits: Limits,
    /// Most clients at a time, until their handles are dropped; further ones are refused. Each takes at least a thread
    /// and three files, over TLS two threads and four files more.
    pub clients_max: usize,
    /// Most clients at a time of one tenant, so that it cannot shut the others out.
    pub tenant_max: usize,
    /// Whether `admit` knows each token: then a token is a tenant. Else a user is one, or an address.
    pub knows_tokens: bool,
    /// Whether a client may connect. Compare tokens with [`ServerConfig::same_token`]. Called by the acceptor's thread,
    /// which serves all clients: it must not wait.
    pub admit: Box<Admit>,
    /// Whether a client may have another arena. Called for requests within the limits, by the thread that receives from
    /// this client.
    pub grant: Box<Grant>,
    /// Who the server is over TLS; for an endpoint of that kind only.
    pub tls: Option<TlsIdentity>,
}

impl Default for ServerConfig {
    fn default() -> Self {
        Self {
            limits: Limits::default(),
            clients_max: CLIENTS_MAX,
            tenant_max: CLIENTS_MAX,
            knows_tokens: false,
            admit: Box::new(|_, _| true),
            grant: Box::new(|_, _, _, _| Some(Box::new(()))),
            tls: None,
        }
    }
}

impl fmt::Debug for ServerConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { limits, clients_max, tenant_max, knows_tokens, tls, .. } = self;
        f.debug_struct("ServerConfig")
            .field("limits", limits)
            .field("clients_max", clients_max)
            .field("tenant_max", tenant_max)
            .field("knows_tokens", knows_tokens)
            .field("tls", tls)
            .finish_non_exhaustive()
    }
}

impl ServerConfig {
    /// Compares two tokens in constant time.
    #[must_use]
    pub fn same_token(a: &Token, b: &Token) -> bool {
        crate::hello::same_token(a, b)
    }
}
