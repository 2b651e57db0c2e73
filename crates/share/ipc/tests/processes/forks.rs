//! Children of a fork: refused, and no reason to take a dead client for a live one.

use std::time::Instant;

use rackloom_ipc::{Batch, ChannelError, Client, Closed, ServerConfig};

use crate::common::{ALL, Inbox, Place, Transport, deadline, serve};
use crate::role::{Role, SOON, say};

#[allow(unsafe_code)]
fn in_child(act: impl FnOnce() -> i32) -> i32 {
    // SAFETY: the child only calls what this test is about, which takes no lock that another thread may have held, and
    // leaves by _exit.
    let pid = unsafe { libc::fork() };
    if pid == 0 {
        let code = act();
        // SAFETY: ends the child without running anything of the parent's.
        unsafe { libc::_exit(code) };
    }
    pid
}

pub(super) fn fork(client: &Client, inbox: &Inbox) {
    let held = client.bulk(1000).unwrap();
    let call = |i| {
        client.send(i, b"x").unwrap();
        assert_eq!(client.wait(deadline(), || inbox.pop()).unwrap().0, i);
    };
    call(1);
    let child = in_child(|| {
        let refused = |r: Result<(), ChannelError>| i32::from(!matches!(r, Err(ChannelError::Forked)));
        let all = refused(client.send(2, b"y"))
            + 2 * refused(client.wait(None, || None::<()>))
            + 4 * refused(client.poll())
            + 8 * refused(client.bulk(5).map(|_| ()))
            + 16 * refused(held.put(0, b"z").map(|_| ()));
        client.close();
        all
    });
    let mut status = 0;
    #[allow(unsafe_code)]
    // SAFETY: waits for the child just made; `status` outlives the call.
    unsafe {
        libc::waitpid(child, &raw mut status, 0);
    }
    assert_eq!(status, 0, "the child's calls must be refused");
    call(3);
    held.put(0, b"z").unwrap();
    say("forked");
    inbox.wait_passively(|_, closed| closed);
}

pub(super) fn orphan(client: &Client) {
    let child = in_child(|| {
        // Stays until its standard input ends, with a copy of the socket.
        let _ = std::io::stdin().read_line(&mut String::new());
        0
    });
    assert_eq!(client.closed(), None);
    say(&child.to_string());
    loop {
        std::thread::park();
    }
}

pub(super) fn client_forks() {
    for transport in ALL {
        let place = Place::new(transport, ServerConfig::default());
        let mut role = Role::start("--client", &[&place.server.endpoint().to_string(), "fork"]);
        let peer = place.server.accept(deadline()).unwrap().unwrap();
        std::thread::scope(|s| {
            s.spawn(|| serve(&peer));
            assert_eq!(role.line(), "forked", "{transport:?}");
            peer.close();
        });
        assert!(role.child.wait().unwrap().success());
    }
}

pub(super) fn parent_of_fork_dies() {
    let place = Place::new(Transport::Shm, ServerConfig::default());
    let mut role = Role::start("--client", &[&place.server.endpoint().to_string(), "orphan"]);
    let peer = place.server.accept(deadline()).unwrap().unwrap();
    let child: i32 = role.line().parse().unwrap();
    let start = Instant::now();
    role.child.kill().unwrap();
    let end = peer.recv(deadline(), &mut Batch::new());
    assert!(matches!(end, Err(ChannelError::Closed(Closed::PeerGone))), "{end:?}");
    assert!(start.elapsed() < SOON);
    assert!(std::fs::exists(format!("/proc/{child}")).unwrap(), "the child lives, so only the process told");
    drop(role); // Ends the child's standard input, too.
}
