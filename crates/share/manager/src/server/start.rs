//! Start of a manager: opens the boards, listens, and registers.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rackloom::Net;
use rackloom_ipc::{Endpoint, ServerConfig};
use rackloom_opencl_wire::Limits;

use super::attach::Attacher;
use super::manager::{Listener, Manager};
use super::options::{Isolate, Options, seats_of_a_tenant};
use crate::access::admission::Admission;
use crate::access::allowlist::Allowlists;
use crate::access::limits::EndpointLimits;
use crate::access::tokens::Tokens;
use crate::board::Board as _;
use crate::card::{CardOptions, CardRack, Sharing};
use crate::host_memory::default_for_this_machine;
use crate::isolate::{DeviceOrigin, Host, IsolatedBoard, Lack, Layers, can_work};
use crate::metrics::exporter;
use crate::native::{NativeBoard, Runtime, installed};
use crate::quota::TenantLimits;
use crate::registry::Membership;

/// A running manager. It serves until this is dropped.
#[derive(Debug)]
pub struct Service {
    // Dropped in this order: no client can connect any more when the boards go.
    listeners: Vec<Listener>,
    attacher: Arc<Attacher>,
    /// The cards, released when nobody uses them any more.
    _cards: Option<CardRack>,
    metrics: Option<SocketAddr>,
    // Last: it holds the folders of the boards.
    _host: Closing,
}

/// Closes it when dropped.
#[derive(Debug)]
struct Closing(Arc<Host>);

impl Drop for Closing {
    fn drop(&mut self) {
        self.0.close();
    }
}

impl Service {
    /// The endpoints, with the ports that were chosen.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.listeners.iter().map(Listener::endpoint)
    }

    /// The names of its boards at present, in the order of their numbers.
    #[must_use]
    pub fn boards(&self) -> Vec<String> {
        self.attacher.manager().boards()
    }

    /// The ids of its boards at the registry at present, in the same order; empty without a registry.
    #[must_use]
    pub fn devices(&self) -> Vec<String> {
        self.attacher.devices()
    }

    /// The address of its metrics; `None` if they are not served.
    #[must_use]
    pub const fn metrics(&self) -> Option<SocketAddr> {
        self.metrics
    }
}

impl Options {
    /// Opens the boards, listens, and registers the boards.
    ///
    /// # Errors
    /// There is no board, the manager cannot listen on an endpoint, or the options about the registry are unusable.
    pub fn start(&self) -> anyhow::Result<Service> {
        let endpoints = if self.listen.is_empty() { vec![default_endpoint()?] } else { self.listen.clone() };
        let tls = self.tls.identity(&endpoints)?;
        let host = Host::new(self.host_memory.unwrap_or_else(default_for_this_machine))?;
        let endpoint = self.endpoint(&host)?;
        let manager = Manager::default();
        let attacher = Arc::new(Attacher::new(manager.clone(), self.policy, endpoint.admission.clone()));
        if self.cards.is_none() || !self.runtime.is_empty() {
            if self.isolate != Isolate::None && !can_work() {
                bail!("this program cannot start processes for clients: it has not called work_if_asked at its start");
            }
            let mut confined: Option<Layers> = None;
            for (origin, board) in self.open_boards()? {
                if self.isolate.applies_to(&board) {
                    // Buffers, and arenas that mirror them.
                    let memory = self.memory.min(host.memory().limit()).saturating_mul(2).saturating_add(TRANSFERS);
                    let board = IsolatedBoard::new(&board, origin, memory, self.stall_time, &host)?;
                    let layers = board.layers();
                    confined = Some(confined.map_or(layers, |others| others.and(layers)));
                    attacher.add_isolated(board)?;
                } else if self.require_isolation {
                    bail!("--require-isolation: clients of {} would have no process of their own", board.info().name);
                } else {
                    attacher.add(board)?;
                }
            }
            confined.map(|layers| self.tell(layers)).transpose()?;
        }
        let cards = self.cards.as_ref().map(|net| self.claim_cards(net, &attacher)).transpose()?;
        for endpoint in &endpoints {
            if let Endpoint::Unix(path) = endpoint {
                host.home.listens_at(path).context("cannot note where this manager listens")?;
            }
        }
        let config = || ServerConfig { tls: tls.clone(), ..self.config(&endpoint, &host) };
        let listeners = endpoints.iter().map(|to| manager.listen(to, config(), endpoint.clone()));
        let listeners = listeners.collect::<anyhow::Result<Vec<_>>>()?;
        let metrics = self.metrics.map(|at| exporter::serve(at, Arc::clone(manager.metrics()))).transpose()?;
        let listening: Vec<_> = listeners.iter().map(|listener| listener.endpoint().clone()).collect();
        if let Some(membership) = Membership::new(&self.registry, &endpoints, &listening, metrics)? {
            attacher.join_registry(membership);
        }
        Ok(Service { listeners, attacher, _cards: cards, metrics, _host: Closing(host) })
    }

    /// Says what confines the processes of clients.
    fn tell(&self, layers: Layers) -> anyhow::Result<()> {
        eprintln!("rackloom-manager: processes of clients are confined by: {}", layers.present().join(", "));
        for Lack { layer, means, is_required } in layers.missing() {
            if self.require_isolation && is_required {
                bail!("--require-isolation: this system lacks {layer}: {means}; `rackloom doctor` tells what to do");
            }
            eprintln!("rackloom-manager: this system lacks {layer}: {means}");
        }
        Ok(())
    }

    fn claim_cards(&self, net: &Net, attacher: &Arc<Attacher>) -> anyhow::Result<CardRack> {
        let deadline = Duration::from_secs(self.card_timeout.into());
        let sharing = if self.exclusive { Sharing::Exclusive } else { Sharing::Shared };
        let (signers, keys) = (self.signers.clone(), self.keys.clone());
        let options = CardOptions { sharing, deadline, signers, keys, insecure_open: self.insecure_open };
        let (metrics, attacher) = (Arc::clone(attacher.manager().metrics()), Arc::clone(attacher));
        CardRack::connect(net, options, metrics, Box::new(move |card| attacher.add_card(card)))
    }

    fn open_boards(&self) -> anyhow::Result<Vec<(DeviceOrigin, NativeBoard)>> {
        let libraries = if self.runtime.is_empty() { installed() } else { self.runtime.clone() };
        if libraries.is_empty() {
            bail!(
                "no OpenCL runtime is installed (/etc/OpenCL/vendors is empty); install one, or name one with --runtime"
            );
        }
        let mut boards = Vec::new();
        for library in &libraries {
            match Runtime::open(library) {
                Ok(platforms) => {
                    for (platform, opened) in platforms.into_iter().enumerate() {
                        let origin = |device, board: &NativeBoard| {
                            let (library, is_processor, registers) =
                                (library.clone(), board.is_processor(), board.registers());
                            DeviceOrigin { library, platform, device, is_processor, registers }
                        };
                        let decide = |mut board: NativeBoard| {
                            let why = board.decide(self.register);
                            if self.explain {
                                eprintln!("rackloom-manager: {}: {why}", board.info().name);
                            }
                            board
                        };
                        let devices = NativeBoard::all(opened)?.into_iter().map(decide).enumerate();
                        boards.extend(devices.map(|(device, board)| (origin(device, &board), board)));
                    }
                }
                // Some of those that happen to be installed may have no hardware; a runtime that was named must open.
                Err(why) if self.runtime.is_empty() => eprintln!("rackloom-manager: skipped a runtime: {why:#}"),
                Err(why) => return Err(why),
            }
        }
        if boards.is_empty() {
            bail!("the OpenCL runtimes have no device; check the hardware and the permissions of this user");
        }
        number_equals(&mut boards);
        Ok(boards)
    }

    fn endpoint(&self, host: &Host) -> anyhow::Result<EndpointLimits> {
        let Self { memory, objects, operations, program, task_time, .. } = *self;
        let limits = Limits { memory, objects, operations, program };
        let mut tenant = TenantLimits::from(limits);
        tenant.programs = self.programs.unwrap_or(tenant.programs);
        tenant.registered = self.registered;
        let admission = match (&self.tokens, &self.registry.registry) {
            (Some(path), _) => Admission::File(Arc::new(Tokens::open(path, tenant)?)),
            (None, Some(_)) => Admission::Registry(Arc::new(Allowlists::new(tenant))),
            (None, None) => Admission::default(),
        };
        Ok(EndpointLimits { limits, tenant, host: Arc::clone(host.memory()), task_time, admission })
    }

    fn config(&self, endpoint: &EndpointLimits, host: &Host) -> ServerConfig {
        let mut config = ServerConfig {
            clients_max: self.clients,
            tenant_max: self.tenant_clients.unwrap_or_else(|| seats_of_a_tenant(self.clients)),
            knows_tokens: !matches!(endpoint.admission, Admission::Anybody(_)),
            ..ServerConfig::default()
        };
        config.limits.bulk_bytes_max = self.memory.saturating_add(TRANSFERS);
        let admission = endpoint.admission.clone();
        // For clients without a process of their own; the others ask by theirs.
        let memory = Arc::clone(host.memory());
        config.grant = Box::new(move |_, _, more, _| Some(Box::new(memory.take(more)?)));
        config.admit = Box::new(move |shown, _| admission.admit(shown));
        config
    }
}

/// Bytes of memory that a client may share with the manager for transfers, beyond that of its buffers.
const TRANSFERS: u64 = 256 << 20;

/// Numbers the devices that have the same name.
fn number_equals(boards: &mut [(DeviceOrigin, NativeBoard)]) {
    let names: Vec<String> = boards.iter().map(|(_, board)| board.info().name.clone()).collect();
    for (at, (_, board)) in boards.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == names[at]).count() > 1 {
            let number = names[..=at].iter().filter(|name| **name == names[at]).count();
            board.rename(format!("{} #{number}", names[at]));
        }
    }
}

/// The endpoint where a library of the same user looks first.
fn default_endpoint() -> anyhow::Result<Endpoint> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(|| PathBuf::from("/run"), PathBuf::from);
    let folder = folder.join("rackloom");
    std::fs::create_dir_all(&folder).with_context(|| {
        format!("cannot make the folder {}; name another place with --listen unix:PATH", folder.display())
    })?;
    Ok(Endpoint::Unix(folder.join("manager.sock")))
}
