//! One connection to a manager: its messages, its operations in flight, and its own thread.

pub mod board;
pub mod completion;
pub mod connect;
pub mod numbers;
pub mod pending;
pub mod places;
pub mod remote;
pub mod sender_thread;
pub mod stream;

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use opencl_sys::{CL_DEVICE_NOT_AVAILABLE, cl_int};
use rackloom_ipc::{ChannelError, Client, ClientConfig, Closed, Endpoint, Handler};
use rackloom_opencl_wire::{self as wire, Answer, COMMAND, Limits, REPLY, Reply, decode_reply};
use rackloom_sync::lock;

use crate::callback::{spawn, without_signals};
use crate::config::log;
use crate::error::{Error, Result};
use crate::session::completion::{Completions, Transport};
use crate::session::numbers::{Numbers, ObjectTable};
use crate::session::pending::InFlight;
use crate::session::sender_thread::{HeldCommand, SenderThread};
use crate::session::stream::{Sending, Stream};

/// Gets the answer to a request, in the thread that reads messages: it must not wait.
pub type Then = Box<dyn FnOnce(std::result::Result<Answer, cl_int>) + Send>;

/// Is called once when a session is lost, before its commands fail; with a text for a person. It must not wait.
pub type LossReport = fn(&Session, &str);

/// A connection.
pub struct Session {
    client: OnceLock<Client>,
    /// Where the manager is.
    endpoint: String,
    transport: Transport,
    limits: OnceLock<Limits>,
    lost: AtomicBool,
    report_loss: LossReport,
    pub stream: Stream,
    requests: Mutex<HashMap<u32, Then>>,
    pub in_flight: InFlight,
    numbers: [Mutex<Numbers>; 4],
    /// Nanoseconds to add to the manager's clock.
    clock: AtomicI64,
    completions: Completions,
    /// Whether stderr says already that text is lost.
    said_lost: AtomicBool,
    sender: SenderThread,
    me: Weak<Self>,
}

thread_local! {
    /// Whether this thread waits, and so will finish completions itself.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

impl Session {
    /// Connects, without sending a message.
    fn dial(
        endpoint: &Endpoint,
        config: &ClientConfig,
        report_loss: LossReport,
    ) -> std::result::Result<Arc<Self>, ChannelError> {
        let session = Arc::new_cyclic(|me| Self {
            client: OnceLock::new(),
            endpoint: endpoint.to_string(),
            transport: if endpoint.is_network() { Transport::Tcp } else { Transport::SharedMemory },
            limits: OnceLock::new(),
            lost: AtomicBool::new(false),
            report_loss,
            stream: Stream::default(),
            requests: Mutex::default(),
            in_flight: InFlight::default(),
            numbers: Default::default(),
            clock: AtomicI64::new(0),
            completions: Completions::default(),
            said_lost: AtomicBool::new(false),
            sender: SenderThread::default(),
            me: me.clone(),
        });
        let reader = Box::new(Reader(Arc::downgrade(&session)));
        let client = without_signals(|| Client::connect(endpoint, config, reader))?;
        let _ = session.client.set(client);
        Ok(session)
    }

    /// The connection.
    ///
    /// # Errors
    /// It is lost.
    pub fn client(&self) -> Result<&Client> {
        self.check()?;
        self.client.get().ok_or(Error(CL_DEVICE_NOT_AVAILABLE))
    }

    /// Checks that the connection is not lost.
    ///
    /// # Errors
    /// It is lost.
    pub fn check(&self) -> Result<()> {
        if self.is_lost() { Err(Error(CL_DEVICE_NOT_AVAILABLE)) } else { Ok(()) }
    }

    /// Whether the connection is lost: from the first call on that finds it closed, though its end may still be told.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire) || self.client.get().is_some_and(|client| client.closed().is_some())
    }

    /// How bulk travels.
    pub const fn transport(&self) -> Transport {
        self.transport
    }

    /// What this program may have at a time; nothing before the manager's `Welcome`.
    pub fn limits(&self) -> Limits {
        self.limits.get().copied().unwrap_or(Limits { memory: 0, objects: 0, operations: 0, program: 0 })
    }

    /// The free numbers of a table.
    pub fn numbers(&self, table: ObjectTable) -> &Mutex<Numbers> {
        &self.numbers[match table {
            ObjectTable::Buffers(_) => 0,
            ObjectTable::Programs => 1,
            ObjectTable::Kernels => 2,
            ObjectTable::Samplers => 3,
        }]
    }

    /// Converts a time of the manager's clock to this process' clock.
    fn to_local(&self, there: u64) -> u64 {
        there.saturating_add_signed(self.clock.load(Ordering::Acquire))
    }

    /// Encodes a message and sends it as the next of the stream.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn put(&self, sending: &mut Sending, message: &wire::Command<'_>, tail: &[u8]) -> Result<()> {
        let bytes = sending.encode(message, tail);
        Ok(self.client()?.send(COMMAND, bytes)?)
    }

    /// The same for a message that the manager need not have before the next one.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn put_later(&self, sending: &mut Sending, message: &wire::Command<'_>, tail: &[u8]) -> Result<()> {
        let bytes = sending.encode(message, tail);
        Ok(self.client()?.send_later(COMMAND, bytes)?)
    }

    /// Sends a message that has no answer.
    ///
    /// # Errors
    /// The connection is lost.
    pub fn send(&self, message: &wire::Command<'_>, tail: &[u8]) -> Result<()> {
        self.put(&mut self.stream.lock(), message, tail)
    }

    /// Sends a request; `then` gets the answer, or that the connection is lost, in the thread that reads it.
    ///
    /// # Errors
    /// The connection is lost; `then` is not called.
    pub fn request<'a>(&self, tail: &[u8], make: impl FnOnce(u32) -> wire::Command<'a>, then: Then) -> Result<()> {
        let mut sending = self.stream.lock();
        let request = sending.take_request();
        lock(&self.requests).insert(request, then);
        let sent = self.put(&mut sending, &make(request), tail);
        // If the connection was lost meanwhile and all requests were answered so, this one was, too.
        sent.or_else(|why| lock(&self.requests).remove(&request).map_or(Ok(()), |_| Err(why)))
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// The manager's error; the connection is lost; the deadline has passed.
    pub fn ask<'a>(
        &self,
        deadline: Option<Instant>,
        tail: &[u8],
        make: impl FnOnce(u32) -> wire::Command<'a>,
    ) -> Result<Answer> {
        let slot = Arc::new(Mutex::new(None));
        let fill = Arc::clone(&slot);
        self.request(tail, make, Box::new(move |answer| *lock(&fill) = Some(answer)))?;
        self.wait(deadline, || lock(&slot).take())?.map_err(Error)
    }

    /// Waits until `done` gives a value, reading messages meanwhile.
    ///
    /// # Errors
    /// The connection is lost; the deadline has passed.
    pub fn wait<T>(
        &self,
        deadline: Option<Instant>,
        mut done: impl FnMut() -> Option<T>,
    ) -> std::result::Result<T, ChannelError> {
        let client = self.client.get().ok_or(ChannelError::Closed(Closed::Here))?;
        let before = WAITS.replace(true);
        let found = client.wait(deadline, || {
            self.completions.finish();
            done()
        });
        WAITS.set(before);
        if found.is_err() {
            self.completions.finish();
        }
        found
    }

    /// Hears why a manager has refused something: it says so last, and ends the session.
    pub fn hear_out(&self) {
        let _ = self.wait(Some(Instant::now() + LAST_WORDS), || None::<()>);
    }

    /// Reads the messages that have arrived, without waiting.
    pub fn poll(&self) {
        if let Some(client) = self.client.get() {
            let _ = client.poll();
        }
    }

    /// Notes a command that is held back, so that it fails when the connection is lost.
    pub fn hold(&self, command: Weak<dyn HeldCommand>) {
        self.sender.hold(command);
    }

    /// Hands a held command to the session's thread to be sent.
    pub fn release(&self, command: Arc<dyn HeldCommand>) {
        self.sender.release(command);
        self.wake_sender();
    }

    fn wake_sender(&self) -> bool {
        self.sender.wake(|| {
            let Some(me) = self.me.upgrade() else { return false };
            spawn("opencl-sender", move || me.sender.run(|| me.completions.finish_all(), || me.is_lost()))
        })
    }

    /// Whether text of kernels is still to be written.
    pub fn has_text(&self) -> bool {
        self.completions.has_text()
    }

    /// Kernels have printed. Only the session's own thread writes that: whoever reads the program's output may be slow.
    fn printed(&self, text: &[u8], lost: bool) {
        let lost = lost || !self.wake_sender() || !self.completions.push_text(text);
        if lost && !self.said_lost.swap(true, Ordering::Relaxed) {
            eprintln!("Rackloom: kernels have printed more than was taken; some of it is lost");
        }
        self.wake_sender();
    }

    fn end(&self, closed: &Closed) {
        self.lost.store(true, Ordering::Release);
        let text = format!("Rackloom: the connection to the manager at {} is lost: {closed}", self.endpoint);
        (self.report_loss)(self, &text);
        let why = Error(CL_DEVICE_NOT_AVAILABLE);
        self.in_flight.take_all().into_iter().for_each(|p| p.lost(&self.in_flight, why));
        let requests = std::mem::take(&mut *lock(&self.requests));
        requests.into_values().for_each(|then| then(Err(why.0)));
        self.sender.fail_held(why);
        self.wake_sender();
    }
}

/// Reads the manager's messages.
struct Reader(Weak<Session>);

impl Handler for Reader {
    fn message(&self, kind: u32, body: &[u8]) {
        let Some(session) = self.0.upgrade() else { return };
        let reply = if kind == REPLY { decode_reply(body).ok() } else { None };
        match reply {
            Some((Reply::Done { event, status, times }, tail)) => {
                let times = times.map(|t| (session.to_local(t.started), session.to_local(t.ended)));
                let pending = session.in_flight.take(event);
                let (transport, is_behind_text) = (session.transport, session.completions.has_text());
                let late =
                    pending.and_then(|p| p.done(&session.in_flight, transport, is_behind_text, status, times, tail));
                if late.is_some_and(|completion| session.completions.push(completion) || !WAITS.get()) {
                    session.wake_sender();
                }
            }
            Some((Reply::Printed { lost }, text)) => session.printed(text, lost),
            Some((Reply::Answer { request, answer }, _)) => {
                let then = lock(&session.requests).remove(&request);
                if let Some(then) = then {
                    then(answer);
                }
            }
            Some((Reply::Farewell { reason }, _)) => log(|| format!("the manager ends the session: {reason}")),
            None => {
                log(|| {
                    let len = body.len();
                    format!(
                        "malformed reply: the peer is not a manager of this protocol version (expected version {}, \
                             got {len} bytes of message kind {kind})",
                        wire::VERSION
                    )
                });
                if let Some(client) = session.client.get() {
                    client.close();
                }
            }
        }
    }

    fn closed(&self, why: Closed) {
        if let Some(session) = self.0.upgrade() {
            log(|| format!("the connection to the manager at {} ended: {why}", session.endpoint));
            session.end(&why);
        }
    }
}

/// How long a manager may take to say why.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Logs that a request got an answer of the wrong kind.
pub fn log_unexpected(expected: &str, came: &Answer) {
    log(|| {
        // The kind is what comes first; an answer may go on for kilobytes.
        let came: String = format!("{came:?}").chars().take(60).collect();
        format!("unexpected answer of the manager: expected {expected}, got {came}")
    });
}
