//! What a killed manager leaves is gone when the next one of its user has started.

use std::os::unix::fs::FileTypeExt as _;
use std::path::PathBuf;

use rackloom_ipc::Endpoint;
use rustix::process::{Pid, Signal, kill_process};

use crate::isolating::{Isolating, Place, counts_to, with_kernels};
use crate::site::until;

/// Folders of managers.
fn folders(manager: &Isolating) -> Vec<PathBuf> {
    let all = manager.folder.path().join("tmp").read_dir().unwrap().map(|entry| entry.unwrap().path());
    all.filter(|folder| folder.to_string_lossy().contains("rackloom-manager-")).collect()
}

/// Sockets of managers.
fn sockets(manager: &Isolating) -> usize {
    let entries = manager.folder.path().read_dir().unwrap().map(|entry| entry.unwrap().file_type().unwrap());
    entries.filter(|kind| kind.is_socket()).count()
}

#[test]
fn a_killed_manager_leaves_nothing_to_the_next_one() {
    for place in [Place::Here, Place::Plain, Place::Bare] {
        let Some(living) = Isolating::start_in(place, &[]) else { continue };
        let neighbour = living.client();
        with_kernels(&neighbour);
        let own = folders(&living);
        assert_eq!((own.len(), sockets(&living)), (1, 1));
        let mut killed = living.beside(place);
        let client = killed.client();
        with_kernels(&client);
        counts_to(&client, 1);
        // Nobody of it can remove anything.
        let keepers = killed.workers();
        let stop = |pid: &u32, signal| kill_process(Pid::from_raw(*pid as i32).unwrap(), signal).unwrap();
        keepers.iter().for_each(|pid| stop(pid, Signal::STOP));
        killed.process.kill();
        keepers.iter().for_each(|pid| stop(pid, Signal::KILL));
        client.ended();
        assert_eq!((folders(&living).len(), sockets(&living)), (2, 2), "there is something to sweep");
        let next = living.beside(place);
        let Endpoint::Unix(socket) = &killed.endpoint else { unreachable!("it listened there") };
        assert!(!socket.exists());
        let now = folders(&living);
        assert!(now.len() == 2 && own.iter().all(|folder| now.contains(folder)), "{own:?}, now {now:?}");
        counts_to(&neighbour, 1);
        let another = next.client();
        with_kernels(&another);
        counts_to(&another, 1);
        drop(another);
        assert_eq!(living.process.words().matches("was ended by signal").count(), 0);
        until("no process of the killed one is left", || {
            let ours = [&living, &next].map(|manager| 1 + manager.templates().len() + 2 * manager.workers().len());
            living.descendants() == ours.iter().sum::<usize>()
        });
    }
}
