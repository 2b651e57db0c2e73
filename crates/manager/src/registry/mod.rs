//! The manager's boards at the registry: each is a device there, with an attendant that tells its list of tenants and
//! is asked before a card is reconfigured.

mod describe;
mod options;

use std::net::SocketAddr;
use std::sync::Arc;

use anyhow::Context as _;
use rackloom_channel::Endpoint;
use rackloom_opencl_wire::BoardInfo;
use rackloom_registry_client::{Attendant, Event, Registry};

use self::describe::{describe, label};
pub use self::options::RegistryOptions;
use crate::card::Consent;
use crate::roll::Roll;

/// A board that is to be registered.
pub(crate) struct Entry<'a> {
    pub(crate) info: &'a BoardInfo,
    /// Who may use it, to be kept current.
    pub(crate) roll: Arc<Roll>,
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
    // Cards have attendants, too; they all end with the thread.
    _attendants: Vec<Arc<Attendant>>,
    _registry: Registry,
}

impl Membership {
    /// Has boards registered, now and as often as it takes. `asked` are the endpoints as the user wrote them: they tell
    /// this manager from others of the node, also after a restart. `listening` are these with the ports that were
    /// chosen.
    ///
    /// # Errors
    /// The options name a file that is missing or makes no sense, or programs could not reach the boards.
    pub(crate) fn join(
        options: &RegistryOptions,
        asked: &[Endpoint],
        listening: &[Endpoint],
        metrics: Option<SocketAddr>,
        boards: &[Entry<'_>],
    ) -> anyhow::Result<Option<Self>> {
        let Some(access) = options.access()? else { return Ok(None) };
        let node = options.node()?;
        let is_here = access.url.is_here();
        let endpoints = options.endpoints(listening, is_here)?;
        let metrics = options.metrics(metrics, is_here)?;
        let manager = installation(asked, &node);
        let url = access.url.to_string();
        let registry = Registry::new(access).with_context(|| format!("cannot speak to the registry {url}"))?;
        let mut devices: Vec<String> = Vec::new();
        let mut attendants = Vec::new();
        for board in boards {
            let taken = |id: &str| devices.iter().any(|device| device == id);
            let id = format!("{node}/{}", label(&board.info.name, |label| taken(&format!("{node}/{label}"))));
            let mut spec = describe(board.info, board.consent.is_some(), board.is_exclusive);
            (spec.id, spec.endpoints, spec.metrics_url) = (id.clone(), endpoints.clone(), metrics.clone());
            let tell = teller(id.clone(), url.clone(), Arc::clone(&board.roll), board.consent.clone());
            let attendant = Arc::new(registry.attend(&manager, spec, tell));
            if let Some(consent) = &board.consent {
                consent.ask_through(Arc::clone(&attendant));
            }
            attendants.push(attendant);
            devices.push(id);
        }
        Ok(Some(Self { devices, _attendants: attendants, _registry: registry }))
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
fn teller(id: String, url: String, roll: Arc<Roll>, consent: Option<Arc<Consent>>) -> impl Fn(Event) + Send + Sync {
    move |event| match event {
        Event::Tenants(tenants) => roll.renew(&tenants),
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
