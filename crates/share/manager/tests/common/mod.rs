//! A manager on PoCL, and clients that speak to it as the library does, or that violate the protocol.
#![allow(dead_code, reason = "each test program uses a part of it")]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use rackloom_ipc::{Bulk, ChannelError, Client, ClientConfig, Closed, Endpoint, Handler, ServerConfig, Token};
use rackloom_manager::board::Board as _;
use rackloom_manager::native::{NativeBoard, Runtime, installed};
use rackloom_manager::paced::{Pace, PacedBoard};
use rackloom_manager::scheduler::Policy;
use rackloom_manager::{EndpointLimits, Listener, Manager};
use rackloom_opencl_wire::{
    Answer, Argument, Build, COMMAND, Command, EventId, Form, Id, Limits, Op, Payload, Reply, Times, VERSION,
    decode_reply, encode_command,
};

/// Longest that anything may take; a test that needs it has failed.
pub const PATIENCE: Duration = Duration::from_secs(60);

/// What a test's clients are granted.
pub const LIMITS: Limits = Limits { memory: 64 << 20, objects: 64, operations: 256, program: 1 << 20 };

/// What clients are granted if nobody says anything.
pub const DEFAULTS: Limits = Limits { memory: 4 << 30, objects: 65_536, operations: 16_384, program: 256 << 20 };

/// A manager that listens.
pub struct Daemon {
    pub manager: Manager,
    pub endpoint: Endpoint,
    _listener: Listener,
    folder: Option<tempfile::TempDir>,
}

impl Daemon {
    pub fn start(policy: Policy) -> Self {
        Self::over(policy, false)
    }

    pub fn over(policy: Policy, tcp: bool) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let to =
            if tcp { "tcp:127.0.0.1:0".parse().unwrap() } else { Endpoint::Unix(folder.path().join("manager.sock")) };
        Self { folder: Some(folder), ..Self::at(policy, &to) }
    }

    pub fn at(policy: Policy, to: &Endpoint) -> Self {
        let manager = Manager::default();
        for board in pocl() {
            manager.add(board, policy).unwrap();
        }
        Self::listening(manager, to, LIMITS.into())
    }

    /// With these boards.
    pub fn of(manager: Manager) -> Self {
        Self::on(manager, LIMITS.into())
    }

    /// The same, on other terms.
    fn on(manager: Manager, terms: EndpointLimits) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let daemon = Self::listening(manager, &Endpoint::Unix(folder.path().join("manager.sock")), terms);
        Self { folder: Some(folder), ..daemon }
    }

    /// With a board whose operations take a fixed time.
    pub fn paced(policy: Policy, pace: Pace) -> Self {
        Self::paced_with(policy, pace, LIMITS.into())
    }

    /// The same, on other terms.
    pub fn paced_with(policy: Policy, pace: Pace, terms: EndpointLimits) -> Self {
        let manager = Manager::default();
        manager.add(PacedBoard::new("paced", pace, pocl()[0].info()), policy).unwrap();
        Self::on(manager, terms)
    }

    /// With such a board behind a bus.
    pub fn behind_bus(pace: Pace) -> Self {
        let manager = Manager::default();
        let board = PacedBoard::new("paced", pace, pocl()[0].info()).behind_bus();
        manager.add(board, Policy::Fair).unwrap();
        Self::of(manager)
    }

    fn listening(manager: Manager, to: &Endpoint, terms: EndpointLimits) -> Self {
        let mut config = ServerConfig::default();
        let admission = terms.admission.clone();
        config.admit = Box::new(move |shown, _| admission.admit(shown));
        let listener = manager.listen(to, config, terms).unwrap();
        Self { manager, endpoint: listener.endpoint().clone(), _listener: listener, folder: None }
    }

    pub fn client(&self) -> Tenant {
        Tenant::connect(&self.endpoint)
    }

    /// A client that shows a token.
    pub fn client_with(&self, token: Token) -> Tenant {
        Tenant::opening(&self.endpoint, token)
    }
}

/// The devices of PoCL.
fn pocl() -> Vec<NativeBoard> {
    let library = installed().into_iter().find(|l| l.to_string_lossy().contains("pocl"));
    let library = library.expect("PoCL is installed (apt-get install pocl-opencl-icd)");
    // A runtime sets itself up at the first calls, and PoCL does not bear two threads there. The daemon has one.
    static OPENING: Mutex<()> = Mutex::new(());
    let _opening = OPENING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    Runtime::open(&library).unwrap().into_iter().flat_map(|runtime| NativeBoard::all(runtime).unwrap()).collect()
}

/// How an operation ended, and what it read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct End {
    pub status: i32,
    pub times: Option<Times>,
    pub tail: Vec<u8>,
}

#[derive(Debug, Default)]
pub struct Inbox {
    pub done: BTreeMap<EventId, End>,
    /// In the order in which they came.
    pub order: Vec<EventId>,
    pub answers: BTreeMap<u32, Result<Answer, i32>>,
    pub farewell: Option<String>,
    pub closed: Option<Closed>,
    /// This client uses numbers twice, and so hears of them twice.
    pub hostile: bool,
}

struct Into(Arc<Mutex<Inbox>>);

impl Handler for Into {
    fn message(&self, _: u32, body: &[u8]) {
        let mut inbox = self.0.lock().unwrap();
        let (reply, tail) = match decode_reply(body) {
            Ok(decoded) => decoded,
            Err(_) if inbox.hostile => return, // Its own kernel has written that.
            Err(why) => panic!("{why}"),
        };
        match reply {
            Reply::Done { event, status, times } => {
                let before = inbox.done.insert(event, End { status, times, tail: tail.to_vec() });
                assert!(before.is_none() || inbox.hostile, "told twice");
                inbox.order.push(event);
            }
            Reply::Answer { request, answer } => {
                let before = inbox.answers.insert(request, answer);
                assert!(before.is_none() || inbox.hostile, "answered twice");
            }
            Reply::Printed { .. } => {} // The library's tests.
            Reply::Farewell { reason } => inbox.farewell = Some(reason),
        }
    }

    fn closed(&self, why: Closed) {
        self.0.lock().unwrap().closed = Some(why);
    }
}

/// A client.
pub struct Tenant {
    pub client: Client,
    pub inbox: Arc<Mutex<Inbox>>,
    next: std::cell::Cell<u32>,
}

impl Tenant {
    /// Connects, and sends nothing.
    pub fn silent(to: &Endpoint) -> Self {
        Self::greeting(to, Token::default())
    }

    /// The same with a token.
    pub fn greeting(to: &Endpoint, token: Token) -> Self {
        Self::connecting(to, token).expect("it is admitted")
    }

    /// The same, if it is admitted.
    pub fn try_greeting(to: &Endpoint, token: Token) -> Option<Self> {
        Self::connecting(to, token).ok()
    }

    fn connecting(to: &Endpoint, token: Token) -> Result<Self, ChannelError> {
        let inbox = Arc::new(Mutex::new(Inbox::default()));
        let config = ClientConfig { token, ..ClientConfig::default() };
        let client = Client::connect(to, &config, Box::new(Into(Arc::clone(&inbox))))?;
        Ok(Self { client, inbox, next: std::cell::Cell::new(0) })
    }

    /// With the first board open.
    pub fn connect(to: &Endpoint) -> Self {
        Self::opening(to, Token::default())
    }

    /// With a token and the first board open.
    pub fn opening(to: &Endpoint, token: Token) -> Self {
        Self::try_opening(to, token).expect("it gets the board")
    }

    /// The same, if it gets the board.
    pub fn try_opening(to: &Endpoint, token: Token) -> Option<Self> {
        let tenant = Self::greeting(to, token);
        tenant.open().then_some(tenant)
    }

    /// Greets, and opens the first board; whether it gets that.
    fn open(&self) -> bool {
        let welcome = self.ask(|request| Command::Hello { request, version: VERSION, name: "test" });
        assert!(matches!(welcome, Ok(Answer::Welcome { boards: 1.., limits: LIMITS | DEFAULTS, .. })), "{welcome:?}");
        self.ask(|request| Command::Open { request, board: 0 }) == Ok(Answer::Open)
    }

    pub fn number(&self) -> u32 {
        self.next.set(self.next.get() + 1);
        self.next.get()
    }

    pub fn send(&self, command: &Command<'_>, tail: &[u8]) {
        let mut bytes = Vec::new();
        encode_command(command, tail, &mut bytes);
        self.client.send(COMMAND, &bytes).unwrap();
    }

    fn wait<T>(&self, mut look: impl FnMut(&mut Inbox) -> Option<T>) -> T {
        let deadline = Some(Instant::now() + PATIENCE);
        self.client.wait(deadline, || look(&mut self.inbox.lock().unwrap())).unwrap()
    }

    pub fn ask<'a>(&self, command: impl FnOnce(u32) -> Command<'a>) -> Result<Answer, i32> {
        let request = self.number();
        self.send(&command(request), &[]);
        self.wait(|inbox| inbox.answers.remove(&request))
    }

    /// Adds an operation to the task.
    pub fn enqueue(&self, op: Op<'_>, tail: &[u8]) -> EventId {
        self.enqueue_after(op, tail, vec![], false)
    }

    pub fn enqueue_after(&self, op: Op<'_>, tail: &[u8], waits: Vec<EventId>, submit: bool) -> EventId {
        let event = self.number().into();
        self.send(&Command::Enqueue { event, waits, submit, op }, tail);
        event
    }

    /// Runs an operation, and waits for its end.
    pub fn run(&self, op: Op<'_>, tail: &[u8]) -> End {
        let event = self.enqueue_after(op, tail, vec![], true);
        self.end(event)
    }

    pub fn end(&self, event: EventId) -> End {
        self.wait(|inbox| inbox.done.get(&event).cloned())
    }

    pub fn buffer(&self, buffer: Id, size: u64) {
        self.send(&Command::CreateBuffer { buffer, flags: 1, size, backing: None }, &[]);
    }

    pub fn write(&self, buffer: Id, offset: u64, bytes: &[u8]) -> End {
        self.run(Op::Write { buffer, offset, from: Payload::Inline }, bytes)
    }

    pub fn read(&self, buffer: Id, offset: u64, len: u64) -> End {
        self.run(Op::Read { buffer, offset, len, into: None }, &[])
    }

    pub fn build(&self, program: Id, source: &str) -> Build {
        self.send(&Command::CreateProgram { program, form: Form::Source, bytes: Payload::Inline }, source.as_bytes());
        match self.ask(|request| Command::Build { request, program, options: "" }) {
            Ok(Answer::Built(build)) => build,
            other => panic!("{other:?}"),
        }
    }

    /// The same with an image, for a card: status and log.
    pub fn build_image(&self, program: Id, image: &[u8]) -> (i32, String) {
        let bulk = self.bulk(image.len() as u64);
        let bytes = Payload::Bulk(bulk.put(0, image).unwrap().into());
        self.send(&Command::CreateProgram { program, form: Form::Binary, bytes }, &[]);
        match self.ask(|request| Command::Build { request, program, options: "" }) {
            Ok(Answer::Built(build)) => (build.status, build.log),
            other => panic!("{other:?}"),
        }
    }

    pub fn launch<'a>(kernel: Id, items: u64, arguments: Vec<(u32, Argument<'a>)>) -> Op<'a> {
        let (offset, global, local, reaches) = ([0; 3], [items, 0, 0], None, None);
        Op::Launch { kernel, dimensions: 1, offset, global, local, arguments, reaches }
    }

    pub fn bulk(&self, len: u64) -> Bulk {
        self.client.bulk(len).unwrap()
    }

    /// Waits until the manager has looked at all that was sent; whether the session still is.
    pub fn is_served(&self) -> bool {
        let request = self.number();
        let mut bytes = Vec::new();
        encode_command(&Command::Clock { request }, &[], &mut bytes);
        let deadline = Some(Instant::now() + PATIENCE);
        let answered = || self.inbox.lock().unwrap().answers.remove(&request);
        self.client.send(COMMAND, &bytes).is_ok() && self.client.wait(deadline, answered).is_ok()
    }

    /// Waits until an operation has ended, or the channel has.
    pub fn settles(&self, event: EventId) {
        let end = Instant::now() + PATIENCE;
        let is_settled = |inbox: &Inbox| inbox.closed.is_some() || inbox.done.contains_key(&event);
        while !is_settled(&self.inbox.lock().unwrap()) {
            assert!(Instant::now() < end, "the operation goes on");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    /// Waits for the end of the channel; what the manager said before.
    pub fn ended(&self) -> Option<String> {
        let end = Instant::now() + PATIENCE;
        while self.inbox.lock().unwrap().closed.is_none() {
            assert!(Instant::now() < end, "the channel is still open");
            std::thread::sleep(Duration::from_millis(1));
        }
        self.inbox.lock().unwrap().farewell.clone()
    }
}
