//! The platform: all boards of all managers.
//!
//! A loader asks for the platform once, and a child of a fork goes on with the handle of its parent. So the platform is
//! one object without a state, the same for both; the connections are each process' own.

use std::sync::{Mutex, OnceLock};
use std::time::{Duration, Instant};

use opencl_sys::{CL_INVALID_PLATFORM, cl_int, cl_platform_id};
use rackloom_ipc::Endpoint;

use crate::config::{Config, log};
use crate::error::{Result, ensure};
use crate::globals::Globals;
use crate::handle::{Live, Object, ObjectKind, Ref, lock};
use crate::objects::device::Device;
use crate::session::Session;

/// The one platform.
pub struct Platform;

/// The managers of this process.
pub struct Managers {
    config: Config,
    /// As many as in the configuration, in its order.
    managers: Vec<Mutex<Manager>>,
}

#[derive(Default)]
struct Manager {
    /// Of the connection that there was last.
    devices: Vec<Ref<Device>>,
    failed_at: Option<Instant>,
}

/// A node that does not answer is not asked again for so long: each time costs seconds.
const RETRY: Duration = Duration::from_secs(5);

impl ObjectKind for Platform {
    const INVALID: cl_int = CL_INVALID_PLATFORM;

    fn live(globals: &Globals) -> &Live<Self> {
        &globals.platforms
    }
}

impl Platform {
    /// The platform.
    pub fn the() -> &'static Ref<Self> {
        static THE: OnceLock<Ref<Platform>> = OnceLock::new();
        THE.get_or_init(|| Object::new(Self))
    }

    /// Whether the handle is the platform's.
    ///
    /// # Errors
    /// It is not.
    pub fn check(handle: cl_platform_id) -> Result<()> {
        ensure(handle == Self::the().handle(), CL_INVALID_PLATFORM)
    }
}

impl Default for Managers {
    /// Those of the environment; connects to nobody yet.
    fn default() -> Self {
        let config = Config::from_environment();
        Self { managers: config.managers.iter().map(|_| Mutex::default()).collect(), config }
    }
}

impl Managers {
    /// All devices that there are, after connecting to those managers to which there is no connection.
    pub fn devices(&self) -> Vec<Ref<Device>> {
        let pairs = self.config.managers.iter().zip(&self.managers);
        pairs.flat_map(|(endpoint, manager)| self.devices_of(endpoint, manager)).collect()
    }

    fn devices_of(&self, endpoint: &Endpoint, manager: &Mutex<Manager>) -> Vec<Ref<Device>> {
        // Locked while connecting: threads that ask at the same time get the same devices.
        let mut manager = lock(manager);
        if manager.devices.iter().any(|d| !d.board().session.is_lost()) {
            return manager.devices.clone();
        }
        let rests = manager.failed_at.is_some_and(|at| at.elapsed() < RETRY);
        if rests && matches!(endpoint, Endpoint::Tcp(_)) {
            return Vec::new();
        }
        match Session::connect(endpoint, self.config.token) {
            Ok(boards) => {
                let devices = boards.into_iter().map(|board| Object::new(Device::new(board)));
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
