//! Seats of a server: as many as there may be clients, and not all for one tenant.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Arc, Mutex};

use rackloom_sync::lock;

use super::config::{Identity, ServerConfig};
use crate::hello::Token;

/// Whose clients are counted together.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Tenant {
    /// Who shows this token.
    Token(Token),
    /// A user of this node.
    User(u32),
    /// An address of IPv4, or a network of IPv6 whose addresses one machine may choose from.
    Address(IpAddr),
}

/// The bits of an IPv6 address that its owner was given: within the network it may choose any.
const NETWORK: u128 = u128::MAX << 64;

impl Tenant {
    /// Of a client that has shown no token that is known.
    #[must_use]
    pub fn without_token(identity: &Identity) -> Self {
        match identity {
            Identity::Unix { uid, .. } => Self::User(*uid),
            Identity::Tcp { from } => Self::Address(match from.ip().to_canonical() {
                IpAddr::V6(ip) => Ipv6Addr::from_bits(ip.to_bits() & NETWORK).into(),
                ip @ IpAddr::V4(_) => ip,
            }),
        }
    }
}

/// Seats that are taken, by tenant.
#[derive(Debug, Default)]
pub(super) struct Seats(Mutex<BTreeMap<Tenant, usize>>);

/// A client's seat, free again when everything of the client is dropped.
#[derive(Debug)]
pub(super) struct Seat(Arc<Seats>, Tenant);

impl Seats {
    /// Takes a seat, if one is free for this client's tenant.
    pub(super) fn take(self: &Arc<Self>, config: &ServerConfig, token: &Token, identity: &Identity) -> Option<Seat> {
        let tenant = if config.knows_tokens { Tenant::Token(*token) } else { Tenant::without_token(identity) };
        let mut taken = lock(&self.0);
        let (all, theirs) = (taken.values().sum::<usize>(), taken.get(&tenant).copied().unwrap_or(0));
        if all >= config.clients_max || theirs >= config.tenant_max {
            return None;
        }
        taken.insert(tenant.clone(), theirs + 1);
        Some(Seat(Arc::clone(self), tenant))
    }
}

impl Drop for Seat {
    fn drop(&mut self) {
        let Self(seats, tenant) = self;
        let mut taken = lock(&seats.0);
        let theirs = taken.get_mut(tenant).expect("this seat is counted");
        *theirs -= 1;
        if *theirs == 0 {
            taken.remove(tenant);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unix(uid: u32) -> Identity {
        Identity::Unix { pid: 1, uid, gid: 1 }
    }

    fn tcp(last: u8, port: u16) -> Identity {
        Identity::Tcp { from: ([10, 0, 0, last], port).into() }
    }

    #[test]
    fn no_tenant_takes_the_last_seat() {
        let seats = Arc::new(Seats::default());
        let config = ServerConfig { clients_max: 4, tenant_max: 3, ..ServerConfig::default() };
        let take = |identity| seats.take(&config, &[0; 32], &identity);
        let mut held: Vec<_> = (0..3).map(|_| take(unix(7)).unwrap()).collect();
        assert!(take(unix(7)).is_none());
        held.push(take(unix(8)).unwrap());
        assert!(take(unix(9)).is_none(), "all are taken");
        held.pop();
        let by_port: Vec<_> = (0..9).filter_map(|port| take(tcp(1, port))).collect();
        assert_eq!(by_port.len(), 1);
        drop((held, by_port));
        assert!(lock(&seats.0).is_empty());
    }

    #[test]
    fn an_address_stands_for_all_that_its_owner_may_choose() {
        let tenant =
            |ip: &str| Tenant::without_token(&Identity::Tcp { from: (ip.parse::<IpAddr>().unwrap(), 1).into() });
        assert_eq!(tenant("2001:db8:1:2::1"), tenant("2001:db8:1:2:ffff:ffff:ffff:ffff"));
        assert_ne!(tenant("2001:db8:1:2::1"), tenant("2001:db8:1:3::1"));
        assert_eq!(tenant("::ffff:10.0.0.1"), tenant("10.0.0.1"));
        assert_ne!(tenant("::ffff:10.0.0.1"), tenant("10.0.0.2"));
    }

    #[test]
    fn tokens_count_only_where_they_are_known() {
        let seats = Arc::new(Seats::default());
        let mut config = ServerConfig { clients_max: 4, tenant_max: 1, ..ServerConfig::default() };
        let held = seats.take(&config, &[1; 32], &unix(7));
        assert!(held.is_some() && seats.take(&config, &[2; 32], &unix(7)).is_none(), "anybody can make up a token");
        config.knows_tokens = true;
        let one = seats.take(&config, &[1; 32], &unix(7));
        assert!(one.is_some() && seats.take(&config, &[1; 32], &tcp(1, 1)).is_none());
        assert!(seats.take(&config, &[2; 32], &unix(7)).is_some());
    }
}
