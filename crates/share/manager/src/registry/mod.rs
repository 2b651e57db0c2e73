//! The manager's boards as devices of a registry. Each has an attendant that receives the board's tenants and asks for
//! consent before a card is reconfigured.

mod describe;
mod options;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use rackloom_ipc::Endpoint;
use rackloom_opencl_wire::BoardInfo;
use rackloom_registry_client::{Attendant, Event, ReconfigurationPolicy, Registry};

use self::describe::{describe, label};
pub use self::options::RegistryOptions;
use crate::access::allowlist::Allowlist;
use crate::card::{Consent, Sharing};

/// A board to register.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) info: BoardInfo,
    /// Its allowlist, to keep up to date.
    pub(crate) allowlist: Arc<Allowlist>,
    /// The registry's consent, if the board can be reconfigured.
    pub(crate) consent: Option<Arc<Consent>>,
    /// How many tenants it serves at a time.
    pub(crate) sharing: Sharing,
}

/// The registered boards. They stay registered until this is dropped.
#[derive(Debug)]
pub(crate) struct Membership {
    /// The boards' ids, in the order of their numbers.
    pub(crate) devices: Vec<String>,
    /// This manager's name at the registry.
    manager: String,
    node: String,
    url: String,
    endpoints: Vec<String>,
    metrics: String,
    // Cards hold attendants as well; all end with the registry's thread.
    attendants: Vec<Arc<Attendant>>,
    registry: Registry,
}

impl Membership {
    /// Prepares the registration of boards; `None` without a registry. `asked` are the endpoints as the user wrote
    /// them: they identify this manager on its node, also after a restart. `listening` are the same with the ports
    /// that were chosen.
    ///
    /// # Errors
    /// The options name a file that is missing or malformed, or endpoints that programs cannot reach.
    pub(crate) fn new(
        options: &RegistryOptions,
        asked: &[Endpoint],
        listening: &[Endpoint],
        metrics: Option<SocketAddr>,
    ) -> anyhow::Result<Option<Self>> {
        let Some(access) = options.access()? else { return Ok(None) };
        let node = options.node()?;
        let is_here = access.url.is_here();
        let endpoints = options.endpoints(listening, is_here)?;
        let metrics = options.metrics(metrics, is_here)?;
        let manager = installation(asked, &node);
        let url = access.url.to_string();
        let registry =
            Registry::new(access).with_context(|| format!("cannot set up a client of the registry {url}"))?;
        let (devices, attendants) = (Vec::new(), Vec::new());
        Ok(Some(Self { devices, manager, node, url, endpoints, metrics, attendants, registry }))
    }

    /// Registers a board, again whenever that becomes necessary.
    pub(crate) fn add(&mut self, board: Entry) {
        let Entry { info, allowlist, consent, sharing } = board;
        let id = |label: &str| format!("{}/{label}", self.node);
        let id = id(&label(&info.name, |label| self.devices.contains(&id(label))));
        let reconfiguration =
            if consent.is_some() { ReconfigurationPolicy::OnRequest } else { ReconfigurationPolicy::Fixed };
        let mut spec = describe(&info, reconfiguration, sharing);
        (spec.id, spec.endpoints, spec.metrics_url) = (id.clone(), self.endpoints.clone(), self.metrics.clone());
        let tell = teller(id.clone(), self.url.clone(), allowlist, consent.clone());
        let attendant = Arc::new(self.registry.attend(&self.manager, spec, tell));
        if let Some(consent) = consent {
            consent.ask_through(Arc::clone(&attendant));
        }
        self.attendants.push(attendant);
        self.devices.push(id);
    }
}

/// Most characters of a manager's name that the registry accepts.
const MANAGER_MAX: usize = 128;

/// The manager's name: the same at each start, and unique on its node, since it is where the manager listens.
fn installation(asked: &[Endpoint], node: &str) -> String {
    let first = asked.first().map(ToString::to_string).unwrap_or_default();
    format!("{first} on {node}").chars().take(MANAGER_MAX).collect()
}

/// Handles a board's events: updates the allowlist and logs the state of the registration.
fn teller(
    id: String,
    url: String,
    allowlist: Arc<Allowlist>,
    consent: Option<Arc<Consent>>,
) -> impl Fn(Event) + Send + Sync {
    move |event| match event {
        Event::Tenants(tenants) => allowlist.renew(&tenants),
        Event::Registered => {
            if let Some(consent) = &consent {
                consent.registered_anew();
            }
            eprintln!("rackloom-manager: {id} is registered at {url}");
        }
        Event::Failing(why) => eprintln!("rackloom-manager: {id}: the registry {url} fails, tried again: {why}"),
        Event::Back => eprintln!("rackloom-manager: {id}: the registry {url} answers again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_managers_name_fits_and_is_its_own() {
        let at = |text: &str| vec![text.parse().unwrap()];
        assert_eq!(installation(&at("unix:/run/m.sock"), "a"), "unix:/run/m.sock on a");
        assert_eq!(installation(&at("tcp:127.0.0.1:0"), &"n".repeat(253)).len(), MANAGER_MAX);
    }
}
