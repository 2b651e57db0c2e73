//! The main function of a worker: a process that serves one client and ends with it.
#![allow(unsafe_code)]

use std::ffi::OsStr;
use std::os::fd::{AsFd as _, OwnedFd};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;
use std::time::Duration;

use anyhow::{Context as _, bail};
use rackloom_ipc::{Handover, Identity, Peer, Receipt, Token};
use rackloom_opencl_wire::Answer;
use rustix::process::{DumpableBehavior, Signal};

use super::build_asker::BuildAsker;
use super::confine::{confine, limit};
use super::control::{self, Assignment, DeviceOrigin, FromWorker, Receiver, ToWorker};
use super::keeper::{ASKED, Enclosure, GROUP, keep};
use super::layers::Layers;
use super::lease_client::LeaseClient;
use super::memory_quota::Asker;
use super::own_user::OwnUser;
use super::shared_page::SharedPage;
use super::syscalls::lock_in;
use super::template::TEMPLATE;
use super::template_main;
use super::worker_folder::{KERNELS, is_bounded};
use crate::board::Board;
use crate::cgroup::is_in;
use crate::code::Code;
use crate::metrics::Metrics;
use crate::native::{NativeBoard, Output, Runtime};
use crate::quota::{Account, Purse};
use crate::schedule::dispatcher::Dispatcher;
use crate::schedule::scheduler::{Policy, Share};
use crate::schedule::task::{LeasedBoard, Tenant};
use crate::session::command_loop::attend;
use crate::session::inbox::Inbox;
use crate::session::replies::{answer_to, farewell};
use crate::session::{Charging, Session};

/// Whether this program becomes a worker when started as one, having called [`work_if_asked`].
pub(crate) fn can_work() -> bool {
    CALLED.load(Ordering::Relaxed)
}

static CALLED: AtomicBool = AtomicBool::new(false);

/// Becomes a worker if this process was started as one; then it does not return. Every program that starts a manager
/// calls this before all else: with `--isolate` the manager runs it again for each client.
pub fn work_if_asked() {
    CALLED.store(true, Ordering::Relaxed);
    let Some(asked) = std::env::var_os(ASKED) else { return };
    if let Err(why) = enclosure(&asked).and_then(|enclosure| work(enclosure, start(enclosure)?.as_ref())) {
        eprintln!("rackloom-worker: {why:#}");
        std::process::exit(1);
    }
    end();
}

/// Ends the process at once: a runtime's own exit handlers wait for kernels, which may never end.
fn end() -> ! {
    // SAFETY: ends the process without running anything of it.
    unsafe { libc::_exit(0) }
}

/// The enclosure of the keeper that this process is to be, or is a copy of a template for.
fn enclosure(asked: &OsStr) -> anyhow::Result<Enclosure> {
    // SAFETY: nothing of this process has opened a file beyond the standard ones yet.
    unsafe { libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, 0) };
    if asked == TEMPLATE {
        return Ok(template_main::copies()?.enclosure);
    }
    Enclosure::from_name(asked).with_context(|| format!("{ASKED} is set by the manager only"))
}

/// Becomes the keeper and, in another process, the worker, where this returns.
fn start(enclosure: Enclosure) -> anyhow::Result<Option<OwnUser>> {
    let life = std::io::stdout().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdout(std::fs::OpenOptions::new().write(true).open("/dev/null")?)?;
    keep(life, enclosure).context("cannot start a process")
}

fn work(enclosure: Enclosure, user: Option<&OwnUser>) -> anyhow::Result<()> {
    limit(enclosure, user.is_some()).context("cannot limit this process")?;
    user.map(OwnUser::become_it).transpose().context("cannot change the user of this process")?;
    let control = Arc::new(alone()?);
    let output = Output::take().context("cannot open a file in memory")?;
    let mut receiver = Receiver::new();
    let first = receiver.next(&control).context("a worker is started by the manager only")?;
    let Some((ToWorker::OpenDevice(place), _)) = first else { bail!("the manager is gone") };
    let landlock = confine(&place).context("cannot confine this process")?;
    let board = open(&place.origin);
    // A GPU's driver takes a tenth of a second for a context: no client shall wait for it.
    let space = board.as_ref().ok().map(|board| board.open(""));
    let seccomp = lock_in(place.origin.is_processor).context("cannot lock this process in")?;
    let folder = is_bounded(&place.own);
    let cgroup = std::env::var_os(GROUP).is_some_and(|group| is_in(&group));
    let (namespaces, own_user) = (enclosure == Enclosure::Namespaces, user.is_some());
    let layers = Layers { namespaces, own_user, folder, cgroup, landlock, seccomp };
    let kernels = std::fs::File::open(place.own.join(KERNELS)).context("cannot open the folder of kernels")?;
    let opened = board.as_ref().map(drop).map_err(|why| format!("{why:#}"));
    control::tell_with(&*control, &FromWorker::Ready(layers, opened), &[kernels.as_fd()])?;
    drop(kernels);
    let (Ok(board), Some(space)) = (board, space) else { return Ok(()) }; // The manager says why.
    let Some((ToWorker::Serve(assignment), files)) = receiver.next(&control)? else {
        return Ok(()); // No client needed it.
    };
    // When this worker started, others may have had all of the device's memory.
    let space = space.or_else(|_| board.open(&assignment.name));
    serve(space, &place.origin, output, *assignment, files, control, receiver)
}

/// Shuts other processes of this user out. Returns the control socket.
fn alone() -> anyhow::Result<OwnedFd> {
    let control = std::io::stdin().as_fd().try_clone_to_owned()?;
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    // Otherwise a kernel that has taken over another client's worker could read this one's memory.
    rustix::process::set_dumpable_behavior(DumpableBehavior::NotDumpable)?;
    rustix::thread::set_no_new_privs(true)?;
    // If something else ends the keeper. Another user would not have kept it.
    rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
    rustix::thread::set_name(c"rackloom-worker")?; // It is started by a link.
    Ok(control)
}

fn open(origin: &DeviceOrigin) -> anyhow::Result<NativeBoard> {
    // A template may have it in memory already, so the linker would not notice that this user cannot open it.
    if origin.library.is_absolute() {
        let opened = std::fs::File::open(&origin.library);
        drop(opened.with_context(|| format!("cannot open the runtime {}", origin.library.display()))?);
    }
    let platform = Runtime::open(&origin.library)?.into_iter().nth(origin.platform);
    let platform = platform.context("the runtime has fewer platforms than before")?;
    let board = NativeBoard::all(platform)?.into_iter().nth(origin.device);
    Ok(board.context("the runtime has fewer devices than before")?.registering(origin.registers))
}

fn serve(
    space: Result<<NativeBoard as Board>::Space, Code>,
    origin: &DeviceOrigin,
    output: Output,
    assignment: Assignment,
    files: Vec<OwnedFd>,
    control: Arc<OwnedFd>,
    receiver: Receiver,
) -> anyhow::Result<()> {
    let mut files = files.into_iter();
    let page = SharedPage::open(files.next().context("the assignment came without a shared page")?)?;
    let client = Handover::from_parts(files.collect(), &assignment.channel)?;
    let (asker, taken) = Asker::new(Arc::clone(&control));
    let (builds, turns) = BuildAsker::new(Arc::clone(&control));
    let asks = Arc::clone(&asker);
    let grant =
        move |_: &Token, _: &Identity, more, _| Some(Box::new(asks.pay(&[(Account::HostArenas, more)])?) as Receipt);
    let inbox = Inbox::new(client.into_peer(Box::new(grant))?);
    let listen = {
        let (control, peer) = (Arc::clone(&control), Arc::clone(&inbox.peer));
        move || {
            listen(&control, receiver, &taken, &turns, &peer);
            end();
        }
    };
    std::thread::Builder::new().name("manager".into()).spawn(listen)?;
    let lease = Arc::new(LeaseClient::new(page, control));
    // The worker's own: the manager reads its counters from the page.
    let metrics = Metrics::default().board("");
    let dispatcher = Arc::new(Dispatcher::new(Policy::Fifo, metrics.clone()));
    let run = Arc::clone(&dispatcher);
    std::thread::Builder::new().name("board".into()).spawn(move || run.run())?;
    let peer = Arc::clone(&inbox.peer);
    let space = match space {
        Ok(space) if origin.is_processor => space.alone(output, true).taking_turns(Box::new(builds)),
        Ok(space) => space.alone(output, false),
        Err(code) => {
            answer_to(&peer, assignment.request, Err(code));
            return Ok(());
        }
    };
    let task_time = assignment.task_ns.map(Duration::from_nanos);
    let name = metrics.tenant(assignment.name);
    let leased = Some(Arc::clone(&lease) as Arc<dyn LeasedBoard>);
    let tenant = Tenant::new(0, Share::default(), task_time, space, Arc::clone(&peer), name, leased);
    let charging = Charging::new(asker, origin.is_processor);
    let mut session = Session::new(Arc::new(tenant), dispatcher, charging, assignment.limits);
    answer_to(&peer, assignment.request, Ok(Answer::Open));
    attend(inbox, &mut session, &|number| assignment.boards.get(usize::from(number)).cloned());
    lease.publish(&metrics, 0);
    end();
}

/// The thread that listens to the manager, until that is gone.
fn listen(control: &OwnedFd, mut receiver: Receiver, taken: &Sender<bool>, turns: &Sender<()>, peer: &Peer) {
    while let Ok(Some((order, _))) = receiver.next(control) {
        match order {
            ToWorker::Charged(was) => drop(taken.send(was)), // To the thread that asked.
            ToWorker::Build => drop(turns.send(())),
            ToWorker::Disconnect(reason) => farewell(peer, &reason),
            ToWorker::OpenDevice(_) | ToWorker::Serve(_) => break,
        }
    }
}
