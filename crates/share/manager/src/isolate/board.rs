//! A shared board whose clients each have a worker.

use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, Weak};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use opencl_sys::CL_DEVICE_NOT_AVAILABLE;
use rackloom_ipc::{Handover, Identity};
use rackloom_opencl_wire::BoardInfo;
use rackloom_sync::lock;
use rustix::event::{EventfdFlags, PollFd, PollFlags, Timespec};

use super::build_turns::BuildTurn;
use super::control::{self, Assignment, DeviceOrigin, FromWorker, ReadAccess, ToWorker};
use super::host::Host;
use super::layers::Layers;
use super::lease::{Lease, LeaseHolder, Slice};
use super::memory_guard::Watched;
use super::memory_quota::WorkerQuota;
use super::shared_page::SharedPage;
use super::worker::Worker;
use super::worker_metrics::WorkerMetrics;
use super::worker_pool::WorkerPool;
use crate::access::grant::Disconnect;
use crate::access::limits::EndpointLimits;
use crate::access::shared_board::SharedBoard;
use crate::board::Board as _;
use crate::code::Code;
use crate::metrics::{BoardMetrics, Source};
use crate::native::NativeBoard;
use crate::quota::Accounts;
use crate::schedule::dispatcher::Dispatcher;
use crate::session::inbox::Inbox;
use crate::session::replies::answer_to;

/// A device and the workers for it.
pub(crate) struct IsolatedBoard {
    info: BoardInfo,
    pool: Arc<WorkerPool>,
    /// How long a client may keep others waiting by one task.
    stall_time: Duration,
    slice: Slice,
}

impl IsolatedBoard {
    /// `memory`: bytes of buffers and of transfers that each client may have.
    ///
    /// # Errors
    /// A worker cannot be started, or cannot open the device.
    pub(crate) fn new(
        board: &NativeBoard,
        origin: DeviceOrigin,
        memory: u64,
        stall_time: Duration,
        host: &Arc<Host>,
    ) -> anyhow::Result<Self> {
        let info = board.info().clone();
        let pool = WorkerPool::new(origin, memory, Arc::clone(host))
            .with_context(|| format!("cannot start a process for clients of {}", info.name))?;
        let slice = if board.is_processor() { Slice::PROCESSOR } else { Slice::DEVICE };
        Ok(Self { info, pool: Arc::new(pool), stall_time, slice })
    }

    /// What confines its clients' processes.
    pub(crate) fn layers(&self) -> Layers {
        self.pool.layers
    }

    pub(crate) const fn info(&self) -> &BoardInfo {
        &self.info
    }

    /// Shares it under this number.
    pub(crate) fn share(
        self,
        number: usize,
        dispatcher: Arc<Dispatcher<Lease>>,
        metrics: BoardMetrics,
    ) -> impl SharedBoard {
        let (tenants, holders) = (AtomicU64::new(1), Mutex::default());
        Shared { board: self, number, dispatcher, metrics, tenants, holders }
    }
}

struct Shared {
    board: IsolatedBoard,
    number: usize,
    dispatcher: Arc<Dispatcher<Lease>>,
    metrics: BoardMetrics,
    tenants: AtomicU64,
    /// Workers that serve a client.
    holders: Mutex<Vec<Weak<LeaseHolder>>>,
}

impl Shared {
    fn holders(&self) -> MutexGuard<'_, Vec<Weak<LeaseHolder>>> {
        lock(&self.holders)
    }
}

impl SharedBoard for Shared {
    fn info(&self) -> &BoardInfo {
        &self.board.info
    }

    fn number(&self) -> usize {
        self.number
    }

    fn serve(&self, inbox: Inbox, request: u32, boards: &[Arc<dyn SharedBoard>], endpoint: &EndpointLimits) {
        let peer = Arc::clone(&inbox.peer);
        let refuse = |why: &str| {
            answer_to(&peer, request, Err(Code(CL_DEVICE_NOT_AVAILABLE)));
            inbox.farewell(why);
        };
        let client = match Client::new() {
            Ok(client) => Arc::new(client),
            Err(why) => return refuse(&format!("cannot open an event file: {why}")),
        };
        let leaving = Arc::downgrade(&(Arc::clone(&client) as Arc<dyn Disconnect>));
        let grant = match endpoint.enter(self.number, &peer, leaving) {
            Ok(grant) => grant,
            Err(why) => return refuse(&why.to_string()),
        };
        let Some(_occupied) = self.board.pool.host.memory.take(PROCESS) else {
            return refuse("the memory that all clients may have together is used up (--host-memory); try again later");
        };
        let id = self.tenants.fetch_add(1, Ordering::Relaxed);
        let user = user(peer.identity());
        let tenant = tenant(grant.name.as_deref(), user);
        let is_ours = user == Some(rustix::process::geteuid().as_raw());
        let access = if is_ours && !self.board.layers().own_user { ReadAccess::User } else { ReadAccess::Runtime };
        let name = grant.name.unwrap_or_else(|| format!("{}-{id}", inbox.name));
        let assignment = Assignment {
            channel: Vec::new(),
            request,
            limits: endpoint.limits,
            task_ns: endpoint.task_time.map(|time| u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)),
            boards: boards.iter().map(|board| board.info().clone()).collect(),
            name: name.clone(),
        };
        let worker = || Ok(self.board.pool.take(tenant.as_deref(), access)?);
        let placed =
            if inbox.is_empty() { worker().and_then(|worker| place(&inbox, worker, assignment)) } else { Err(early()) };
        let (mut worker, page, handover) = match placed {
            Ok(placed) => placed,
            Err(why) => {
                eprintln!("rackloom-manager: {name} cannot be served by a process: {why:#}");
                return refuse(&format!("cannot start a process for this client: {why:#}"));
            }
        };
        let life = Arc::clone(&worker.life);
        let stall_time = grant.kernel.unwrap_or(self.board.stall_time);
        let holder =
            Arc::new(LeaseHolder::new(id, name.clone(), grant.share, page, life, stall_time, self.board.slice));
        let tenant_metrics = self.metrics.tenant(name.clone());
        let counted = Arc::new(WorkerMetrics::new(Arc::clone(&holder), self.metrics.clone(), tenant_metrics));
        self.metrics.watch(&(Arc::clone(&counted) as Arc<dyn Source>));
        {
            let mut holders = self.holders();
            holders.retain(|holder| holder.strong_count() > 0);
            holders.push(Arc::downgrade(&holder));
        }
        // A buffer that is released is charged until the board is through with it.
        let charges = 4 * endpoint.limits.objects as usize + handover.bulk_count_max();
        let host = Arc::clone(&self.board.pool.host.memory);
        let accounts = Accounts { tenant: grant.quotas, host, registered: self.metrics.registered.clone() };
        let account = WorkerQuota::new(accounts, charges);
        let watched = Arc::new(Watched {
            name: name.clone(),
            keeper: worker.keeper.pid(),
            life: Arc::clone(&worker.life),
            folder: worker.kernels.clone().filter(|_| worker.layers.folder),
            arenas: account.arenas(),
            is_ended: AtomicBool::new(false),
        });
        self.board.pool.host.guard.watch(&watched);
        let turn = self.board.pool.build_turn(id, tenant.as_deref(), &worker);
        let end = self.listen(&mut worker, &client, &handover, &holder, account, turn);
        let was_ended_by_us = holder.was_overdue() || watched.is_ended.load(Ordering::Relaxed);
        if let (End::Worker, false, Some(signal)) = (end, was_ended_by_us, worker.signal()) {
            let why = match signal {
                libc::SIGSYS => "it made a system call that no runtime makes",
                libc::SIGKILL if worker.has_exhausted_memory() => {
                    "it took more memory than was left for it (--memory, --host-memory)"
                }
                _ => "a kernel may be to blame",
            };
            eprintln!("rackloom-manager: the process of {name} was ended by signal {signal}; {why}");
        }
        // With its kernels: the next one has the board from here on, even if the system does not let this one end.
        if !worker.end() {
            eprintln!("rackloom-manager: the process of {name} does not end; the board is given to others");
        }
        holder.is_gone();
        self.dispatcher.forget(id, || ());
        self.board.pool.put_back(worker, tenant);
    }

    fn stop(&self) {
        self.dispatcher.stop();
        // The board's thread must not wait for kernels that may never end.
        let holders: Vec<_> = self.holders().iter().filter_map(Weak::upgrade).collect();
        holders.iter().for_each(|holder| {
            holder.end();
            holder.is_gone();
        });
        self.board.pool.close();
    }
}

/// Bytes of memory that a client's process occupies before it has a buffer: 75 MB with PoCL.
const PROCESS: u64 = 96 << 20;

/// A client that a worker serves.
struct Client {
    /// Why it is disconnected.
    reason: Mutex<Option<String>>,
    /// Signalled with it.
    signal: OwnedFd,
}

/// How long a worker may take to disconnect its client.
const LEAVING: Duration = Duration::from_secs(1);

impl Client {
    fn new() -> std::io::Result<Self> {
        let signal = rustix::event::eventfd(0, EventfdFlags::CLOEXEC | EventfdFlags::NONBLOCK)?;
        Ok(Self { reason: Mutex::default(), signal })
    }

    /// Why it is disconnected; clears the signal.
    fn reason(&self) -> String {
        let _ = rustix::io::read(&self.signal, &mut [0; 8]);
        lock(&self.reason).clone().unwrap_or_default()
    }
}

impl Disconnect for Client {
    /// The worker tells the client why. A worker that does not is ended, with the session.
    fn disconnect(&self, reason: &str) {
        *lock(&self.reason) = Some(reason.to_owned());
        let _ = rustix::io::write(&self.signal, &1_u64.to_ne_bytes());
    }
}

/// Which side ended a session.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Client,
    Worker,
}

/// The tenant of a client, as far as that is certain: a name belongs to a token, and a user's processes are all the
/// user's unless they are in a container, where each tenant may have the same user id.
fn tenant(name: Option<&str>, user: Option<u32>) -> Option<String> {
    name.map(|name| format!("name {name}")).or_else(|| user.map(|user| format!("user {user}")))
}

/// The user of a client's process; `None` if that runs elsewhere or in a container, as far as we can tell.
fn user(identity: Identity) -> Option<u32> {
    let Identity::Unix { uid, pid, .. } = identity else { return None };
    let is_here = ["mnt", "user"].iter().all(|space| {
        let [ours, theirs] =
            ["self", &pid.to_string()].map(|who| std::fs::read_link(format!("/proc/{who}/ns/{space}")));
        matches!((ours, theirs), (Ok(ours), Ok(theirs)) if ours == theirs)
    });
    is_here.then_some(uid)
}

fn early() -> anyhow::Error {
    anyhow::anyhow!("the client sent a message before its board was open")
}

/// Hands a client over to a worker.
fn place(inbox: &Inbox, worker: Worker, assignment: Assignment) -> anyhow::Result<(Worker, Arc<SharedPage>, Handover)> {
    let page = SharedPage::create()?;
    let handover = inbox.peer.hand_over()?;
    let order = ToWorker::Serve(Box::new(Assignment { channel: handover.state(), ..assignment }));
    let files: Vec<_> = std::iter::once(page.file()).chain(handover.files()).collect();
    control::send(&worker.control, &order, &files)?;
    Ok((worker, Arc::new(page), handover))
}

impl Shared {
    /// Serves the worker's requests until it has ended or its client is gone.
    fn listen(
        &self,
        worker: &mut Worker,
        client: &Client,
        channel: &Handover,
        holder: &Arc<LeaseHolder>,
        mut account: WorkerQuota,
        mut turn: Option<BuildTurn>,
    ) -> End {
        let mut deadline: Option<Instant> = None;
        loop {
            let left = deadline.map(|at| at.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                return End::Client;
            }
            let time = left.and_then(|left| Timespec::try_from(left).ok());
            let mut files: Vec<_> = [worker.control.as_fd(), client.signal.as_fd(), worker.keeper.as_fd()]
                .map(|file| PollFd::from_borrowed_fd(file, PollFlags::IN))
                .into();
            files.extend(channel.ends().into_iter().map(|(file, flags)| PollFd::from_borrowed_fd(file, flags)));
            match rustix::event::poll(&mut files, time.as_ref()) {
                Err(rustix::io::Errno::INTR) => continue,
                Err(_) => return End::Client,
                // A worker that ends takes nothing of the client's with it, so this is not the worker's end.
                Ok(_) if files[3..].iter().any(|file| !file.revents().is_empty()) => return End::Client,
                Ok(_) => {}
            }
            let [has_message, is_disconnected, has_ended] = std::array::from_fn(|at| !files[at].revents().is_empty());
            if is_disconnected {
                let order = ToWorker::Disconnect(client.reason());
                if control::send(&worker.control, &order, &[]).is_err() {
                    return End::Worker;
                }
                deadline = Some(Instant::now() + LEAVING);
            }
            if has_ended && !has_message {
                return End::Worker;
            }
            if !has_message {
                continue;
            }
            let Ok(Some((message, _))) = worker.receiver.next(&worker.control) else { return End::Worker };
            match message {
                FromWorker::RequestBoard => {
                    holder.request().into_iter().for_each(|lease| self.dispatcher.submit(lease));
                }
                FromWorker::ReturnBoard => holder.returned(),
                FromWorker::Charge(number, bill) => {
                    if account.answer(&worker.control, number, &bill).is_err() {
                        return End::Worker;
                    }
                }
                FromWorker::GiveBack(number) => account.give(number),
                FromWorker::BeginBuild(build) => {
                    let told = match &mut turn {
                        Some(turn) => turn.begin(build),
                        None => control::send(&worker.control, &ToWorker::Build, &[]),
                    };
                    if told.is_err() {
                        return End::Worker;
                    }
                }
                FromWorker::EndBuild => turn.iter_mut().for_each(BuildTurn::end),
                FromWorker::Ready(..) => return End::Worker, // It was ready before.
            }
        }
    }
}
