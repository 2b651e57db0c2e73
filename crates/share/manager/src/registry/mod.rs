//! The manager's boards at the registry: each is a device there, with an attendant that tells its list of tenants and
//! is asked before a card is reconfigured.

mod describe;
mod options;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use rackloom_ipc::Endpoint;
use rackloom_opencl_wire::BoardInfo;
use rackloom_registry_client::{Attendant, Event, Registry};

use self::describe::{describe, label};
pub use self::options::RegistryOptions;
use crate::access::allowlist::Allowlist;
use crate::card::Consent;

/// A board that is to be registered.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) info: BoardInfo,
    /// Who may use it, to be kept current.
    pub(crate) allowlist: Arc<Allowlist>,
    /// If it can be configured anew.
    pub(crate) consent: Option<Arc<Consent>>,
    /// Whether it is for one tenant at a time.
    pub(crate) is_exclusive: bool,
}

/// Boards that are registered, until this is dropped.
#[derive(Debug)]
pub(crate) struct Membership {
    /// The boards' ids, in the order of their numbers.
    pub(crate) devices: Vec<String>,
    /// This manager, to the registry.
    manager: String,
    node: String,
    url: String,
    endpoints: Vec<String>,
    metrics: String,
    // Cards have attendants, too; they all end with the thread.
    attendants: Vec<Arc<Attendant>>,
    registry: Registry,
}

impl Membership {
    /// Prepares to have boards registered. `asked` are the endpoints as the user wrote them: they tell this manager
    /// from others of the node, also after a restart. `listening` are these with the ports that were chosen. None
    /// without a registry.
    ///
    /// # Errors
    /// The options name a file that is missing or makes no sense, or programs could not reach the boards.
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
        let registry = Registry::new(access).with_context(|| format!("cannot speak to the registry {url}"))?;
        let (devices, attendants) = (Vec::new(), Vec::new());
        Ok(Some(Self { devices, manager, node, url, endpoints, metrics, attendants, registry }))
    }

    /// Has a board registered, now and as often as it takes.
    pub(crate) fn add(&mut self, board: Entry) {
        let Entry { info, allowlist, consent, is_exclusive } = board;
        let id = |label: &str| format!("{}/{label}", self.node);
        let id = id(&label(&info.name, |label| self.devices.contains(&id(label))));
        let mut spec = describe(&info, consent.is_some(), is_exclusive);
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

/// Characters of a manager's name that the registry takes.
const MANAGER_MAX: usize = 128;

/// A name that is this manager's whenever it is started, and no other's on its node: where it listens.
fn installation(asked: &[Endpoint], node: &str) -> String {
    let first = asked.first().map(ToString::to_string).unwrap_or_default();
    format!("{first} on {node}").chars().take(MANAGER_MAX).collect()
}

/// Keeps a board's list, and tells people how its registration stands.
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
