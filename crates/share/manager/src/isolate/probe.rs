//! Finds out what confines the processes of clients on this machine, without a device.

use std::io;
use std::path::PathBuf;

use super::control::{DeviceOrigin, ReadAccess, WorkerSetup};
use super::host::Host;
use super::layers::Layers;
use super::worker::{Worker, first_that_starts};
use crate::host_memory::default_for_this_machine;

/// Starts a process as for a client, and asks it what confines it. For programs that call
/// [`work_if_asked`](super::work_if_asked).
///
/// # Errors
/// The process cannot be started, or cannot confine itself.
pub fn probe() -> io::Result<Layers> {
    let host = Host::new(default_for_this_machine()).map_err(io::Error::other)?;
    let start = |enclosure, has_own_user| -> io::Result<Layers> {
        // A library that nothing can open.
        let origin =
            DeviceOrigin { library: PathBuf::new(), platform: 0, device: 0, is_processor: true, registers: None };
        let own = host.home.path().join("worker");
        let setup = WorkerSetup { origin, own, access: ReadAccess::Runtime, memory: 0 };
        let mut layers = Worker::start(setup, enclosure, has_own_user, host.group(0), None)?.0.layers;
        layers.cgroup &= host.has_bounds();
        Ok(layers)
    };
    first_that_starts(host.gives_users, start)
}
