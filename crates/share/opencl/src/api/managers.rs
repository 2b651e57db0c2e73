//! The managers of this process, and the devices behind them.

use std::sync::Mutex;
use std::time::{Duration, Instant};

use rackloom_ipc::Endpoint;
use rackloom_sync::lock;

use crate::config::{Config, log};
use crate::handle::{FunctionTable, Object, Ref};
use crate::objects::context::report_loss;
use crate::objects::device::Device;
use crate::process::PerProcess;
use crate::session::connect::connect;

/// The managers of this process.
pub struct Managers {
    config: Config,
    /// One for each endpoint of the configuration, in its order.
    managers: Vec<Mutex<Manager>>,
}

#[derive(Default)]
struct Manager {
    /// Of the last connection.
    devices: Vec<Ref<Device>>,
    failed_at: Option<Instant>,
}

/// Time until a node that did not answer is tried again: each attempt can take seconds.
const RETRY: Duration = Duration::from_secs(5);

impl Default for Managers {
    /// Those that the environment names, not connected yet.
    fn default() -> Self {
        let config = Config::from_environment();
        Self { managers: config.managers.iter().map(|_| Mutex::default()).collect(), config }
    }
}

impl Managers {
    /// Those of the environment of this process, or of this child of a fork.
    pub fn of_this_process() -> &'static Self {
        static MANAGERS: PerProcess<Managers> = PerProcess::new();
        MANAGERS.get()
    }

    /// All devices, after connecting to the managers that are not connected. New devices get this table.
    pub fn devices(&self, table: &'static FunctionTable) -> Vec<Ref<Device>> {
        let pairs = self.config.managers.iter().zip(&self.managers);
        pairs.flat_map(|(endpoint, manager)| self.devices_of(endpoint, manager, table)).collect()
    }

    fn devices_of(
        &self,
        endpoint: &Endpoint,
        manager: &Mutex<Manager>,
        table: &'static FunctionTable,
    ) -> Vec<Ref<Device>> {
        // Locked while connecting: threads that ask at the same time get the same devices.
        let mut manager = lock(manager);
        if manager.devices.iter().any(|d| !d.board().session.is_lost()) {
            return manager.devices.clone();
        }
        let rests = manager.failed_at.is_some_and(|at| at.elapsed() < RETRY);
        if rests && endpoint.is_network() {
            return Vec::new();
        }
        match connect(endpoint, &self.config, report_loss) {
            Ok(boards) => {
                let devices = boards.into_iter().map(|board| Object::new(table, Device::new(board)));
                // Devices of a lost connection stay as handles; each keeps itself alive.
                manager.devices = devices.inspect(|device| _ = Object::list(device)).collect();
                manager.failed_at = None;
            }
            Err(why) => {
                log(|| format!("{endpoint}: {why}"));
                *manager = Manager { devices: Vec::new(), failed_at: Some(Instant::now()) };
            }
        }
        manager.devices.clone()
    }
}
