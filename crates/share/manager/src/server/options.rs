//! Command-line options of the manager.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use rackloom::Net;
use rackloom_ipc::Endpoint;

use super::bytes::bytes;
use super::tls::TlsOptions;
use crate::access::duration::duration;
use crate::native::{NativeBoard, Register};
use crate::registry::RegistryOptions;
use crate::schedule::scheduler::Policy;

/// Shares OpenCL devices of this machine, or Rackloom cards, among programs, here and on other machines.
#[derive(Debug, Clone, clap::Args)]
pub struct Options {
    /// Where to listen: unix:PATH, tls:ADDRESS:PORT, or tcp:ADDRESS:PORT for this machine; may be repeated.
    #[arg(long, value_name = "ENDPOINT")]
    pub listen: Vec<Endpoint>,
    /// How connections from other machines are secured.
    #[command(flatten)]
    pub tls: TlsOptions,
    /// A vendor's OpenCL library whose devices to share; may be repeated. Default: all that /etc/OpenCL/vendors names.
    #[arg(long, value_name = "LIBRARY")]
    pub runtime: Vec<PathBuf>,
    /// Segment whose Rackloom cards to share: virtual, virtual:NAME, or eth:INTERFACE. Without --runtime, only these.
    #[arg(long, value_name = "NET")]
    pub cards: Option<Net>,
    /// Who may sign the images that tenants bring for cards. Whoever starts the manager reads that from somewhere.
    #[arg(skip)]
    pub signers: Option<rackloom::Policy>,
    /// The manager's keys as a host of cards. Whoever starts the manager reads them from somewhere.
    #[arg(skip)]
    pub keys: Option<rackloom::Keys>,
    /// Whether it uses cards without keys on an interface. Whoever starts the manager asks its user.
    #[arg(skip)]
    pub insecure_open: bool,
    /// Give each card to one client at a time, and zero it before the next.
    #[arg(long, requires = "cards")]
    pub exclusive: bool,
    /// Time limit of a kernel on a card, in seconds; then it is cancelled.
    #[arg(long, value_name = "SECONDS", default_value_t = 120)]
    pub card_timeout: u32,
    /// The order of tenants' tasks on a board.
    #[arg(long, value_enum, default_value_t)]
    pub policy: Policy,
    /// File of lines TOKEN [name=NAME] [weight=N] [kernel=DURATION]: only clients that present one of the tokens, each
    /// of 64 hexadecimal digits, are admitted. It is read again when it changes.
    #[arg(long, value_name = "FILE")]
    pub tokens: Option<PathBuf>,
    /// The registry, if any.
    #[command(flatten)]
    pub registry: RegistryOptions,
    /// Where to serve metrics for Prometheus, as ADDRESS:PORT; the path is /metrics.
    #[arg(long, value_name = "ADDRESS")]
    pub metrics: Option<SocketAddr>,
    /// Most clients at a time on each endpoint.
    #[arg(long, value_name = "N", default_value_t = rackloom_ipc::CLIENTS_MAX)]
    pub clients: usize,
    /// Most clients at a time of one tenant on each endpoint. Default: three quarters of --clients.
    #[arg(long, value_name = "N")]
    pub tenant_clients: Option<usize>,
    /// Most bytes of buffers of one tenant: all clients with one token; without tokens, all of one user of this
    /// machine, or of one address.
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "4GiB")]
    pub memory: u64,
    /// Most bytes of this machine's memory that all clients may have together: their processes, buffers and
    /// transfers. Default: half of the machine's memory.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub host_memory: Option<u64>,
    /// Whether memory that clients share with the manager is registered (pinned) with a device's runtime, so that
    /// transfers take no copy of the runtime's own.
    #[arg(long, value_enum, value_name = "WHEN", default_value_t)]
    pub register: Register,
    /// Most bytes of one tenant that are registered; transfers beyond are slower.
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "1GiB")]
    pub registered: u64,
    /// Say of each device how clients' bytes get there, and what was tried to find out.
    #[arg(long)]
    pub explain: bool,
    /// Most objects of each kind of one tenant.
    #[arg(long, value_name = "N", default_value_t = 65_536)]
    pub objects: u32,
    /// Most operations of each client in progress.
    #[arg(long, value_name = "N", default_value_t = 16_384)]
    pub operations: u32,
    /// Most bytes of a program's source or binary.
    #[arg(long, value_name = "BYTES", value_parser = bytes, default_value = "256MiB")]
    pub program: u64,
    /// Most bytes of all sources and binaries of one tenant. Default: four times --program.
    #[arg(long, value_name = "BYTES", value_parser = bytes)]
    pub programs: Option<u64>,
    /// How long a task may keep a board before the rest of it waits like a new task, such as 20ms; or none.
    #[arg(long, value_name = "DURATION", value_parser = bound, default_value = "100ms")]
    pub task_time: Bound,
    /// Devices whose clients get a process each: their kernels cannot reach the manager or other clients, and a kernel
    /// that never ends can be stopped.
    #[arg(long, value_enum, value_name = "WHICH", default_value_t)]
    pub isolate: Isolate,
    /// Serve only if this machine has all layers that confine clients' processes: namespaces, bounded folders, Landlock
    /// and seccomp. Control groups are not required. `rackloom doctor` tells which it has.
    #[arg(long)]
    pub require_isolation: bool,
    /// How long one task of a client with its own process may keep others waiting, unless its token says otherwise;
    /// then the process is killed.
    #[arg(long, value_name = "DURATION", value_parser = duration, default_value = "10s")]
    pub stall_time: Duration,
}

/// The devices whose clients have processes of their own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
pub enum Isolate {
    /// Processors only, whose kernels run in the process that launches them.
    Processors,
    /// All devices: a GPU's driver and compiler run in the process that uses them, too.
    #[default]
    All,
    /// No devices: for clients that trust each other.
    None,
}

impl Isolate {
    /// Whether a board's clients have processes.
    pub(super) fn applies_to(self, board: &NativeBoard) -> bool {
        match self {
            Self::Processors => board.is_processor(),
            Self::All => true,
            Self::None => false,
        }
    }
}

/// Most seats of one tenant, of so many: the last ones are for others.
pub(super) fn seats_of_a_tenant(seats: usize) -> usize {
    (seats - (seats / 4).max(1).min(seats)).max(1)
}

/// Parses a duration, or that there is no bound.
fn bound(text: &str) -> Result<Bound, String> {
    if text == "none" { Ok(None) } else { duration(text).map(Some) }
}

/// A bound of time, if there is one.
pub type Bound = Option<Duration>;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_seat_is_never_the_same_tenants() {
        let seats = [0, 1, 2, 3, 4, 8, 64].map(seats_of_a_tenant);
        assert_eq!(seats, [1, 1, 1, 2, 3, 6, 48], "but of one there is no other");
    }

    #[test]
    fn a_bound_may_be_none() {
        assert_eq!(bound("none"), Ok(None));
        assert_eq!(bound("20ms"), Ok(Some(Duration::from_millis(20))));
        assert!(bound("0s").is_err() && bound("never").is_err());
    }
}
