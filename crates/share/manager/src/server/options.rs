//! What the manager is told when it is started.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rackloom::NetSpec;
use rackloom_ipc::{Endpoint, ServerConfig};
use rackloom_opencl_wire::Limits;

use crate::access::admission::Admission;
use crate::access::allowlist::Rolls;
use crate::access::limits::Terms;
use crate::access::tokens::Tokens;
use crate::board::Board as _;
use crate::card::{CardOptions, CardRack};
use crate::isolate::{IsolatedBoard, Origin, can_work};
use crate::metrics::exporter;
use crate::native::{NativeBoard, Runtime, installed};
use crate::registry::{Membership, RegistryOptions};
use crate::schedule::scheduler::Policy;
use crate::server::attach::Intake;
use crate::server::manager::{Listener, Manager};

/// Shares OpenCL devices of this machine, or Rackloom cards, among programs, here and on other machines.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Where to listen: unix:PATH or tcp:ADDRESS:PORT; may be repeated.
    #[arg(long, value_name = "ENDPOINT")]
    pub listen: Vec<Endpoint>,
    /// Vendor's OpenCL library whose devices to share; may be repeated. Default: all that /etc/OpenCL/vendors names.
    #[arg(long, value_name = "LIBRARY")]
    pub runtime: Vec<PathBuf>,
    /// Segment whose Rackloom cards to share: virtual, virtual:NAME, or eth:INTERFACE. Without --runtime: those alone.
    #[arg(long, value_name = "NET")]
    pub cards: Option<NetSpec>,
    /// Give each card to one client at a time, and zero it before the next.
    #[arg(long, requires = "cards")]
    pub exclusive: bool,
    /// Longest that a kernel on a card may take, in seconds; then it is called off.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub card_timeout: u32,
    /// The order of tenants' tasks on a board.
    #[arg(long, value_enum, default_value_t)]
    pub policy: Policy,
    /// File of lines TOKEN [name=NAME] [weight=N]: only clients that show one of the tokens, each of 64 hexadecimal
    /// digits, are admitted. It is read again when it has changed.
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// The registry, if there is one.
    #[command(flatten)]
    pub registry: RegistryOptions,
    /// Where to serve metrics for Prometheus, as ADDRESS:PORT; at the path /metrics.
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Clients at a time on each endpoint.
    #[arg(long, value_name = "N", default_value_t = rackloom_ipc::CLIENTS_MAX)]
    pub clients: usize,
    /// Bytes of buffers that each client may have on a board.
    #[arg(long, value_name = "BYTES", default_value_t = 4 << 30)]
    pub memory: u64,
    /// Objects of each kind that each client may have.
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    pub objects: u32,
    /// Operations that each client may have under way.
    #[arg(long, value_name = "N", default_value_t = 16_384)]
    pub operations: u32,
    /// Bytes of a program's source or binary.
    #[arg(long, value_name = "BYTES", default_value_t = 256 << 20)]
    pub program: u64,
    /// How long a task may have a board before the rest of it has to wait like a new task: such as 20ms. Default: as
    /// long as it takes.
    #[arg(long, value_name = "DURATION", value_parser = duration)]
    pub task_time: Option<Duration>,
    /// Which OpenCL devices' clients to serve in processes of their own: their kernels cannot reach the manager or
    /// other clients, and one that never ends can be stopped.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub isolate: Isolate,
    /// How long a client with a process of its own may keep others waiting by one task; then its process is ended.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "60s")]
    pub stall_time: Duration,
}

/// Devices whose clients have processes of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Isolate {
    /// Processors: their kernels run in the process that asks for them.
    #[default]
    Processors,
    /// All.
    All,
    /// None: for people who trust each other.
    None,
}

impl Isolate {
    /// Whether a board's clients have; not, where it is not asked for, if this program cannot start itself again.
    fn applies_to(self, board: &NativeBoard) -> bool {
        match self {
            Self::Processors => board.is_processor() && can_work(),
            Self::All => true,
            Self::None => false,
        }
    }
}

/// A manager that serves, until it is dropped.
#[derive(Debug)]
pub struct Service {
    // Dropped in this order: nobody comes in any more before the boards go.
    listeners: Vec<Listener>,
    intake: Arc<Intake>,
    /// Given back when nobody uses them any more.
    _cards: Option<CardRack>,
    metrics: Option<SocketAddr>,
}

impl Service {
    /// Where it listens, with the ports that were chosen.
    pub fn endpoints(&self) -> impl Iterator<Item = &Endpoint> {
        self.listeners.iter().map(Listener::endpoint)
    }

    /// The names of its boards of now, in the order of their numbers.
    #[must_use]
    pub fn boards(&self) -> Vec<String> {
        self.intake.manager().boards()
    }

    /// The ids of its boards of now at the registry, in the same order; none without a registry.
    #[must_use]
    pub fn devices(&self) -> Vec<String> {
        self.intake.devices()
    }

    /// Where its metrics are, if anywhere.
    #[must_use]
    pub const fn metrics(&self) -> Option<SocketAddr> {
        self.metrics
    }
}

impl Options {
    /// Opens the boards, and serves.
    ///
    /// # Errors
    /// There is no board, an address cannot be listened on, or the registry could not work with what is said of it.
    pub fn start(&self) -> anyhow::Result<Service> {
        let terms = self.terms()?;
        let manager = Manager::default();
        let intake = Arc::new(Intake::new(manager.clone(), self.policy, terms.admission.clone()));
        if self.cards.is_none() || !self.runtime.is_empty() {
            if self.isolate == Isolate::All && !can_work() {
                bail!("this program cannot start itself again for each client: it has not called work_if_asked");
            }
            for (origin, board) in self.open_boards()? {
                if self.isolate.applies_to(&board) {
                    intake.add_isolated(IsolatedBoard::new(board.info().clone(), origin, self.stall_time)?)?;
                } else {
                    intake.add(board)?;
                }
            }
        }
        let cards = self.cards.as_ref().map(|net| self.claim_cards(net, &intake)).transpose()?;
        let endpoints = if self.listen.is_empty() { vec![default_endpoint()?] } else { self.listen.clone() };
        let listeners = endpoints.iter().map(|to| manager.listen(to, self.config(&terms), terms.clone()));
        let listeners = listeners.collect::<anyhow::Result<Vec<_>>>()?;
        let metrics = self.metrics.map(|at| exporter::serve(at, Arc::clone(manager.metrics()))).transpose()?;
        let listening: Vec<_> = listeners.iter().map(|listener| listener.endpoint().clone()).collect();
        if let Some(membership) = Membership::new(&self.registry, &endpoints, &listening, metrics)? {
            intake.join(membership);
        }
        Ok(Service { listeners, intake, _cards: cards, metrics })
    }

    fn claim_cards(&self, net: &NetSpec, intake: &Arc<Intake>) -> anyhow::Result<CardRack> {
        let deadline = Duration::from_secs(self.card_timeout.into());
        let options = CardOptions { exclusive: self.exclusive, deadline };
        let (metrics, intake) = (Arc::clone(intake.manager().metrics()), Arc::clone(intake));
        CardRack::connect(net, options, metrics, Box::new(move |card| intake.add_card(card)))
    }

    fn open_boards(&self) -> anyhow::Result<Vec<(Origin, NativeBoard)>> {
        let libraries = if self.runtime.is_empty() { installed() } else { self.runtime.clone() };
        if libraries.is_empty() {
            bail!(
                "no OpenCL runtime is installed (/etc/OpenCL/vendors is empty); install one, or name it by --runtime"
            );
        }
        let mut boards = Vec::new();
        for library in &libraries {
            match Runtime::open(library) {
                Ok(platforms) => {
                    for (platform, opened) in platforms.into_iter().enumerate() {
                        let origin = |device, board: &NativeBoard| {
                            let (library, is_processor) = (library.clone(), board.is_processor());
                            Origin { library, platform, device, is_processor }
                        };
                        let devices = NativeBoard::all(opened)?.into_iter().enumerate();
                        boards.extend(devices.map(|(device, board)| (origin(device, &board), board)));
                    }
                }
                // Of those that happen to be installed some may have no hardware; one that was named must open.
                Err(why) if self.runtime.is_empty() => eprintln!("rackloom-manager: left out: {why:#}"),
                Err(why) => return Err(why),
            }
        }
        if boards.is_empty() {
            bail!("the OpenCL runtimes have no device");
        }
        number_equals(&mut boards);
        Ok(boards)
    }

    fn terms(&self) -> anyhow::Result<Terms> {
        let Self { memory, objects, operations, program, task_time, .. } = *self;
        let limits = Limits { memory, objects, operations, program };
        let admission = match (&self.tokens, &self.registry.registry) {
            (Some(path), _) => Admission::File(Arc::new(Tokens::open(path)?)),
            (None, Some(_)) => Admission::Registry(Arc::new(Rolls::new(memory))),
            (None, None) => Admission::Anybody,
        };
        Ok(Terms { limits, task_time, admission })
    }

    fn config(&self, terms: &Terms) -> ServerConfig {
        let mut config = ServerConfig { clients_max: self.clients, ..ServerConfig::default() };
        config.limits.bulk_bytes_max = self.memory.saturating_add(TRANSFERS);
        let admission = terms.admission.clone();
        config.admit = Box::new(move |shown, _| admission.admit(shown));
        config
    }
}

/// `500us`, `20ms`, `2s`: more than nothing.
fn duration(text: &str) -> Result<Duration, String> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len()));
    let scale = match unit {
        "us" => 1e-6,
        "ms" => 1e-3,
        "s" => 1.0,
        _ => return Err(format!("`{text}` has no unit of time; write 500us, 20ms or 2s")),
    };
    let seconds: f64 = number.parse().map_err(|_| format!("`{text}` is no time; write 500us, 20ms or 2s"))?;
    let time = Duration::try_from_secs_f64(seconds * scale).map_err(|_| format!("`{text}` is out of range"))?;
    if time.is_zero() {
        Err(format!("`{text}` is no time at all; leave the option out for no bound"))
    } else {
        Ok(time)
    }
}

/// Bytes of memory that a client shares with the manager beyond that of its buffers, which may all be there: for bytes
/// on their way.
const TRANSFERS: u64 = 256 << 20;

/// Gives devices of the same name a number each.
fn number_equals(boards: &mut [(Origin, NativeBoard)]) {
    let names: Vec<String> = boards.iter().map(|(_, board)| board.info().name.clone()).collect();
    for (at, (_, board)) in boards.iter_mut().enumerate() {
        if names.iter().filter(|name| **name == names[at]).count() > 1 {
            let number = names[..=at].iter().filter(|name| **name == names[at]).count();
            board.rename(format!("{} #{number}", names[at]));
        }
    }
}

/// Where a library of the same user looks first.
fn default_endpoint() -> anyhow::Result<Endpoint> {
    let folder = std::env::var_os("XDG_RUNTIME_DIR").map_or_else(|| PathBuf::from("/run"), PathBuf::from);
    let folder = folder.join("rackloom");
    std::fs::create_dir_all(&folder).with_context(|| {
        format!("cannot make the folder {}; name another place by --listen unix:PATH", folder.display())
    })?;
    Ok(Endpoint::Unix(folder.join("manager.sock")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_a_unit_and_are_not_nothing() {
        assert_eq!(duration("500us"), Ok(Duration::from_micros(500)));
        assert_eq!((duration("1.5ms"), duration("2s")), (Ok(Duration::from_micros(1500)), Ok(Duration::from_secs(2))));
        for bad in ["", "5", "5h", "ms", "-1ms", "0s", "0.1ns", "1e300s", "nans", "infs"] {
            assert!(duration(bad).is_err(), "{bad}");
        }
    }
}
