//! Programs that take the seats of others.

use std::time::{Duration, Instant};

use rackloom_ipc::{Endpoint, Token};

use crate::common::Tenant;
use crate::isolating::{Isolating, counts_to, with_kernels};
use crate::quotas::Whose;
use crate::site::until;

/// The options' file, with the tokens of two tenants.
pub fn tokens(file: &tempfile::NamedTempFile) -> String {
    let text = format!("{} name=greedy\n{} name=other\n", "aa".repeat(32), "bb".repeat(32));
    std::fs::write(file.path(), text).unwrap();
    file.path().to_str().unwrap().to_owned()
}

const GREEDY: Token = [0xaa; 32];
pub const OTHER: Token = [0xbb; 32];

#[test]
fn sockets_that_are_greeted_and_idle() {
    let file = tempfile::NamedTempFile::new().unwrap();
    let manager = Isolating::start(&["--tokens", &tokens(&file)]);
    // More than there are seats, here and over TCP.
    for endpoint in [&manager.endpoint, &manager.tcp] {
        let greet = |_| Tenant::try_greeting(endpoint, GREEDY);
        let held: Vec<_> = (0..80).filter_map(greet).collect();
        assert_eq!(held.len(), 48, "three quarters of 64");
        let start = Instant::now();
        let other = Tenant::opening(endpoint, OTHER);
        with_kernels(&other);
        counts_to(&other, 1);
        assert!(start.elapsed() < Duration::from_secs(5), "{:?}", start.elapsed());
        until("nobody holds a seat without a board", || Tenant::try_greeting(endpoint, GREEDY).is_some());
        assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
        counts_to(&other, 2);
        drop(held);
    }
    until("its threads are gone", || manager.process.threads("client") <= 2);
}

#[test]
fn without_tokens_a_user_is_a_tenant_and_an_address_is() {
    let manager = Isolating::start(&[]);
    for endpoint in [&manager.endpoint, &manager.tcp] {
        // Anybody can make a token up.
        let greet = |number: u8| Tenant::try_greeting(endpoint, [number; 32]);
        let held: Vec<_> = (0..80).filter_map(greet).collect();
        assert_eq!(held.len(), 48, "three quarters of 64");
        let Some(other) = other_user(&manager, endpoint) else { continue };
        with_kernels(&other);
        counts_to(&other, 1);
        drop(held);
    }
}

/// A program of another user, where there can be one: over TCP this one has the only address.
fn other_user(manager: &Isolating, endpoint: &Endpoint) -> Option<Tenant> {
    let whose = Whose::by_identity(manager);
    let other = whose.iter().find(|whose| whose.is_another_user() && whose.comes_to(endpoint))?;
    Some(other.opens(0))
}
