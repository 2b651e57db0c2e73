//! A connection to a manager.

pub mod board;
pub mod numbers;
pub mod pending;
pub mod remote;
pub mod stream;

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, AtomicI64, AtomicU32, Ordering};
use std::sync::{Arc, Condvar, Mutex, OnceLock, PoisonError, Weak};
use std::time::{Duration, Instant};

use opencl_sys::{CL_DEVICE_NOT_AVAILABLE, cl_int};
use rackloom_ipc::{ChannelError, Client, ClientConfig, Closed, Endpoint, Handler, Token};
use rackloom_opencl_wire::{self as wire, Answer, Limits, REPLY, Reply, VERSION, decode_reply, now_ns};

use crate::callback::{spawn, without_signals};
use crate::command::dispatch::HeldCommand;
use crate::config::log;
use crate::error::{Error, Result};
use crate::globals::globals;
use crate::handle::lock;
use crate::objects::context::Context;
use crate::session::board::Board;
use crate::session::numbers::Numbers;
use crate::session::pending::{Completion, InFlight};
use crate::session::remote::ObjectTable;
use crate::session::stream::Stream;
use crate::stats;

/// Gets the answer to a request, in the thread that reads messages: it must not wait.
pub type Then = Box<dyn FnOnce(std::result::Result<Answer, cl_int>) + Send>;

/// A connection.
pub struct Session {
    client: OnceLock<Client>,
    /// Where the manager is.
    endpoint: String,
    /// Whether bulk is streamed, and has to be waited for.
    pub is_tcp: bool,
    limits: OnceLock<Limits>,
    lost: AtomicBool,
    pub stream: Stream,
    pub requests: Mutex<HashMap<u32, Then>>,
    pub in_flight: InFlight,
    numbers: [Mutex<Numbers>; 3],
    /// To be added to the manager's clock, in nanoseconds.
    clock: AtomicI64,
    completions: Mutex<VecDeque<Completion>>,
    completion_count: AtomicU32,
    sender: Mutex<SenderThread>,
    more: Condvar,
    /// Commands held back, and how many of them there were when those that are gone were last dropped.
    held: Mutex<(Vec<Weak<HeldCommand>>, usize)>,
    me: Weak<Self>,
}

/// The session's own thread: it sends what was held back, and takes bulk for which nobody waits.
#[derive(Default)]
struct SenderThread {
    released: VecDeque<Arc<HeldCommand>>,
    is_called: bool,
    is_running: bool,
}

/// The longest that a manager may take to say who it is.
const GREETING: Duration = Duration::from_secs(5);

/// Questions about a distant clock; the fastest answer counts.
const CLOCK_ROUNDS: usize = 8;

thread_local! {
    /// This thread waits, and so will look for completions itself.
    static WAITS: Cell<bool> = const { Cell::new(false) };
}

impl Session {
    /// Connects to a manager, once for each of its boards.
    ///
    /// # Errors
    /// Why not, for a person.
    pub fn connect(endpoint: &Endpoint, token: Token) -> std::result::Result<Vec<Arc<Board>>, String> {
        let mut boards = Vec::new();
        for number in 0.. {
            let session = Self::dial(endpoint, token).map_err(|e| describe(&e))?;
            let (board, count) = session.open(number).map_err(|e| format!("opening board {number} fails: {}", e.0))?;
            boards.extend(board);
            if number + 1 >= count {
                break;
            }
        }
        stats::print_at_exit();
        log(|| format!("{endpoint}: {} boards", boards.len()));
        Ok(boards)
    }

    fn dial(endpoint: &Endpoint, token: Token) -> std::result::Result<Arc<Self>, ChannelError> {
        let is_tcp = matches!(endpoint, Endpoint::Tcp(_));
        let session = Arc::new_cyclic(|me| Self {
            client: OnceLock::new(),
            endpoint: endpoint.to_string(),
            is_tcp,
            limits: OnceLock::new(),
            lost: AtomicBool::new(false),
            stream: Stream::default(),
            requests: Mutex::default(),
            in_flight: InFlight::default(),
            numbers: Default::default(),
            clock: AtomicI64::new(0),
            completions: Mutex::default(),
            completion_count: AtomicU32::new(0),
            sender: Mutex::default(),
            more: Condvar::new(),
            held: Mutex::default(),
            me: me.clone(),
        });
        let config = ClientConfig { token, ..ClientConfig::default() };
        let reader = Box::new(Reader(Arc::downgrade(&session)));
        let client = without_signals(|| Client::connect(endpoint, &config, reader))?;
        let _ = session.client.set(client);
        Ok(session)
    }

    /// Makes this the session of a board; the board, if it can be had, and how many there are.
    fn open(self: &Arc<Self>, number: u16) -> Result<(Option<Arc<Board>>, u16)> {
        let deadline = Some(Instant::now() + GREETING);
        let name = program_name();
        let hello =
            self.ask(deadline, &[], |request| wire::Command::Hello { request, version: VERSION, name: &name })?;
        let Answer::Welcome { boards, limits, software } = hello else { return unexpected() };
        log(|| format!("the manager is {software}; {limits:?}"));
        let _ = self.limits.set(limits);
        if number >= boards {
            return Ok((None, boards));
        }
        let ask = |request| wire::Command::Board { request, board: number };
        let Answer::Board(info) = self.ask(deadline, &[], ask)? else { return unexpected() };
        if let Err(Error(code)) = self.ask(deadline, &[], |request| wire::Command::Open { request, board: number }) {
            self.check()?;
            // It may be somebody's alone, or gone; the manager's others are none the less there.
            log(|| format!("board {number}, {}, is not to be had: {code}", info.name));
            return Ok((None, boards));
        }
        if self.is_tcp {
            self.compare_clocks(deadline)?;
        }
        let board = Board::new(Arc::clone(self), info);
        Ok((Some(Arc::new(board)), boards))
    }

    fn compare_clocks(&self, deadline: Option<Instant>) -> Result<()> {
        let mut best = u64::MAX;
        for _ in 0..CLOCK_ROUNDS {
            let before = now_ns();
            let Answer::Clock(there) = self.ask(deadline, &[], |request| wire::Command::Clock { request })? else {
                return unexpected();
            };
            let took = now_ns() - before;
            if took < best {
                best = took;
                let here = before + took / 2;
                self.clock.store(here.wrapping_sub(there).cast_signed(), Ordering::Release);
            }
        }
        Ok(())
    }

    /// The connection.
    ///
    /// # Errors
    /// It is lost.
    pub fn client(&self) -> Result<&Client> {
        self.check()?;
        self.client.get().ok_or(Error(CL_DEVICE_NOT_AVAILABLE))
    }

    /// Whether the connection is there.
    ///
    /// # Errors
    /// It is not.
    pub fn check(&self) -> Result<()> {
        if self.is_lost() { Err(Error(CL_DEVICE_NOT_AVAILABLE)) } else { Ok(()) }
    }

    /// Whether the connection is lost.
    pub fn is_lost(&self) -> bool {
        self.lost.load(Ordering::Acquire)
    }

    /// What this program may have at a time.
    pub fn limits(&self) -> Limits {
        self.limits.get().copied().unwrap_or(Limits { memory: 0, objects: 0, operations: 0, program: 0 })
    }

    /// The free numbers of a kind.
    pub fn numbers(&self, table: ObjectTable) -> &Mutex<Numbers> {
        &self.numbers[match table {
            ObjectTable::Buffers(_) => 0,
            ObjectTable::Programs => 1,
            ObjectTable::Kernels => 2,
        }]
    }

    /// A time of the manager's clock in ours.
    pub fn to_local(&self, there: u64) -> u64 {
        there.saturating_add_signed(self.clock.load(Ordering::Acquire))
    }

    /// Asks, and waits for the answer.
    ///
    /// # Errors
    /// What the manager says; the connection is lost; the time is over.
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

    /// Waits until `done` gives something, reading messages meanwhile.
    ///
    /// # Errors
    /// The connection is lost, or the time over.
    pub fn wait<T>(
        &self,
        deadline: Option<Instant>,
        mut done: impl FnMut() -> Option<T>,
    ) -> std::result::Result<T, ChannelError> {
        let client = self.client.get().ok_or(ChannelError::Closed(Closed::Here))?;
        let before = WAITS.replace(true);
        let found = client.wait(deadline, || {
            self.finish_completions();
            done()
        });
        WAITS.set(before);
        if found.is_err() {
            self.finish_completions();
        }
        found
    }

    /// Reads what has come, without waiting.
    pub fn poll(&self) {
        if let Some(client) = self.client.get() {
            let _ = client.poll();
        }
    }

    /// Takes the bulk of operations that have ended.
    fn finish_completions(&self) {
        while self.completion_count.load(Ordering::Acquire) > 0 {
            let Some(completion) = lock(&self.completions).pop_front() else { return };
            self.completion_count.fetch_sub(1, Ordering::AcqRel);
            completion.finish();
        }
    }

    /// Notes a command that is held back, so that it ends with the connection.
    pub fn hold(&self, held: &Arc<HeldCommand>) {
        let mut all = lock(&self.held);
        if all.0.len() >= 64 + 2 * all.1 {
            all.0.retain(|h| h.strong_count() > 0);
            all.1 = all.0.len();
        }
        all.0.push(Arc::downgrade(held));
    }

    /// Has a command sent by the session's thread.
    pub fn release(&self, held: Arc<HeldCommand>) {
        lock(&self.sender).released.push_back(held);
        self.call_sender();
    }

    fn call_sender(&self) {
        let mut sender = lock(&self.sender);
        sender.is_called = true;
        if !sender.is_running
            && let Some(me) = self.me.upgrade()
        {
            sender.is_running = spawn("opencl-sender", move || me.run_sender());
        }
        drop(sender);
        self.more.notify_one();
    }

    fn run_sender(&self) {
        let mut sender = lock(&self.sender);
        loop {
            sender.is_called = false;
            while let Some(held) = sender.released.pop_front() {
                let last = sender.released.is_empty();
                drop(sender);
                held.go(last);
                sender = lock(&self.sender);
            }
            drop(sender);
            self.finish_completions();
            sender = lock(&self.sender);
            if sender.is_called || !sender.released.is_empty() {
                continue;
            }
            if self.is_lost() {
                sender.is_running = false;
                return;
            }
            sender = self.more.wait(sender).unwrap_or_else(PoisonError::into_inner);
        }
    }

    fn end(&self, closed: &Closed) {
        self.lost.store(true, Ordering::Release);
        let text = format!("Rackloom: the connection to the manager at {} is lost: {closed}", self.endpoint);
        globals().contexts.all().iter().for_each(|context| Context::lost(context, self, &text));
        let why = Error(CL_DEVICE_NOT_AVAILABLE);
        self.in_flight.take_all().into_iter().for_each(|p| p.lost(why));
        let requests = std::mem::take(&mut *lock(&self.requests));
        requests.into_values().for_each(|then| then(Err(why.0)));
        let held = std::mem::take(&mut *lock(&self.held)).0;
        held.iter().filter_map(Weak::upgrade).for_each(|h| h.fail(why));
        self.call_sender();
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
                let completion = session.in_flight.take(event).and_then(|p| p.done(&session, status, times, tail));
                if let Some(completion) = completion {
                    lock(&session.completions).push_back(completion);
                    session.completion_count.fetch_add(1, Ordering::AcqRel);
                    if !WAITS.get() {
                        session.call_sender();
                    }
                }
            }
            Some((Reply::Answer { request, answer }, _)) => {
                let then = lock(&session.requests).remove(&request);
                if let Some(then) = then {
                    then(answer);
                }
            }
            Some((Reply::Farewell { reason }, _)) => log(|| format!("the manager ends the session: {reason}")),
            None => {
                log(|| "a message that is none; this is no manager of this version".into());
                if let Some(client) = session.client.get() {
                    client.close();
                }
            }
        }
    }

    fn closed(&self, why: Closed) {
        if let Some(session) = self.0.upgrade() {
            log(|| format!("a connection ended: {why}"));
            session.end(&why);
        }
    }
}

fn unexpected<T>() -> Result<T> {
    Err(Error(CL_DEVICE_NOT_AVAILABLE))
}

fn program_name() -> String {
    let path = std::env::current_exe().unwrap_or_default();
    path.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default()
}

fn describe(error: &ChannelError) -> String {
    match std::error::Error::source(error) {
        Some(source) => format!("{error}: {source}"),
        None => error.to_string(),
    }
}
