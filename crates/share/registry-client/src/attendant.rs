//! The manager's side: plain calls that block, of a thread that does not.

use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use tokio::runtime::Handle;
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::sync::oneshot;

use crate::access::{Access, AccessError};
use crate::api::DeviceSpec;
use crate::duty::{Duty, Order, Question, Report};
use crate::event::Event;
use crate::verdict::{Unanswered, Verdict};

/// The thread that speaks to a registry; it ends when this is dropped, and its attendants with it.
#[derive(Debug)]
pub struct Registry {
    access: Access,
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

/// Looks after one board, until it is dropped.
#[derive(Debug)]
pub struct Attendant {
    orders: UnboundedSender<Order>,
}

/// Why there is nobody to speak to a registry.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// It cannot be called.
    #[error(transparent)]
    Access(#[from] AccessError),
    /// The system refuses.
    #[error("cannot start a thread for it")]
    Thread(#[from] std::io::Error),
}

impl Registry {
    /// Starts the thread. The registry need not be there.
    ///
    /// # Errors
    /// A file that is to be shown is missing or makes no sense, or there is no thread.
    pub fn new(access: Access) -> Result<Self, StartError> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let handle = runtime.handle().clone();
        {
            let _within = handle.enter();
            access.client()?;
        }
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || {
            // Attendants end where they are when the runtime is dropped.
            let _ = runtime.block_on(stopped);
        };
        let thread = std::thread::Builder::new().name("registry".into()).spawn(run)?;
        Ok(Self { access, handle, stop: Some(stop), thread: Some(thread) })
    }

    /// Looks after a board of a manager. `manager` names the installation and stays the same when it restarts, 1 to 128
    /// characters; what the board is stays the same, but for the accelerator.
    pub fn attend(&self, manager: &str, board: DeviceSpec, tell: impl Fn(Event) + Send + Sync + 'static) -> Attendant {
        let (orders, taken) = unbounded_channel();
        let duty = Duty::new(self.access.clone(), manager.to_owned(), board, Box::new(tell), taken);
        self.handle.spawn(duty.run());
        Attendant { orders }
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        drop(self.stop.take());
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

impl Attendant {
    /// Asks whether an accelerator may be loaded for an instance; waits for the answer so long.
    ///
    /// # Errors
    /// There was none, or the question makes no sense to the registry; why, for people.
    pub fn validate(&self, instance: &str, accelerator: &str, patience: Duration) -> Result<Verdict, Unanswered> {
        let (reply, answer) = sync_channel(1);
        let question = Question {
            instance: instance.to_owned(),
            accelerator: accelerator.to_owned(),
            until: Instant::now() + patience - patience / 10, // So that there is time to say why it gives up.
            reply,
        };
        let ended = || Unanswered("this manager is stopping".to_owned());
        self.orders.send(Order::Ask(question)).map_err(|_| ended())?;
        match answer.recv_timeout(patience) {
            Ok(answer) => answer,
            Err(RecvTimeoutError::Timeout) => answer.try_recv().unwrap_or_else(|_| {
                Err(Unanswered(format!("the registry gave no answer in {} s", patience.as_secs_f32())))
            }),
            Err(RecvTimeoutError::Disconnected) => Err(ended()),
        }
    }

    /// Says how a reconfiguration ended: what is configured now, and why it failed if it did. Does not wait; it is said
    /// as soon as the registry hears.
    pub fn report(&self, accelerator: &str, failure: Option<&str>) {
        let failure = failure.unwrap_or_default().to_owned();
        let _ = self.orders.send(Order::Report(Report { accelerator: accelerator.to_owned(), failure }));
    }

    /// Says at once that the board is there, with this accelerator configured. Does not wait.
    pub fn found(&self, accelerator: &str) {
        let _ = self.orders.send(Order::Found(accelerator.to_owned()));
    }

    /// Says at once that nothing is configured, and then lets the lease run out, as the board is not there: it keeps
    /// its instances, and gets no new ones. Until [`Self::found`]. Does not wait.
    pub fn lost(&self) {
        let _ = self.orders.send(Order::Lost);
    }
}
