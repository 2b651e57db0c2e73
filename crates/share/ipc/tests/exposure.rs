//! Nothing goes to another machine in the clear unless somebody has said so.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rackloom_ipc::{ChannelError, Client, ClientConfig, Handler, Identity, Server, ServerConfig, Token};

/// The address that others reach this machine at, if it has one.
fn address_of_this_machine() -> Option<std::net::IpAddr> {
    let probe = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    probe.connect("192.0.2.1:9").ok()?; // Nothing is sent.
    probe.local_addr().ok().map(|at| at.ip()).filter(|ip| !ip.is_loopback())
}

#[test]
fn no_token_goes_beyond_this_machine_in_the_clear() {
    struct Ignore;
    impl Handler for Ignore {
        fn message(&self, _: u32, _: &[u8]) {}
    }
    let connect = |to: &str, insecure| {
        let config = ClientConfig { token: [7; 32], insecure, ..ClientConfig::default() };
        Client::connect(&to.parse().unwrap(), &config, Box::new(Ignore)).map(drop)
    };
    assert!(matches!(connect("tcp:192.0.2.1:9", false), Err(ChannelError::Exposed)));
    let Some(ip) = address_of_this_machine() else {
        return eprintln!("not tried: a server beyond this machine, for want of an address");
    };
    let came = Arc::new(AtomicU32::new(0));
    let count = Arc::clone(&came);
    let admit = Box::new(move |_: &Token, _: &Identity| {
        count.fetch_add(1, Ordering::SeqCst);
        true
    });
    let config = ServerConfig { admit, ..ServerConfig::default() };
    let server = Server::bind(&"tcp:0.0.0.0:0".parse().unwrap(), config).unwrap();
    let to = server.endpoint().to_string().replace("0.0.0.0", &ip.to_string());
    assert!(matches!(connect(&to, false), Err(ChannelError::Exposed)));
    assert_eq!(came.load(Ordering::SeqCst), 0);
    connect(&to, true).unwrap();
    assert_eq!(came.load(Ordering::SeqCst), 1);
}
