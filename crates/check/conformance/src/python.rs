//! The card of `docs/examples/card`, a second implementation in Python.
//!
//! It runs as a process of its own, which the bench gives frames and tells the time. So it is as exact as the other
//! kinds, however slow Python is. Its `bench.py` describes what goes through the pipes.

use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rackloom_card::{Card, CardEvent, Config};
use rackloom_node::{Frame, Instant, Node, Output, Port};
use rackloom_rack::Kind;
use rackloom_role::{Memory, MemoryError};
use rackloom_wire::ErrorCode;

use crate::Specimen;

/// A Python card in a process of its own.
#[derive(Debug)]
pub struct PythonCard {
    process: Process,
    deadline: Option<Instant>,
    /// Frames that came in on other ports than port 0: it has no others.
    elsewhere: u64,
}

/// The process, and its memory as the bench sees it.
#[derive(Debug)]
struct Process {
    pipes: Mutex<Pipes>,
    memory: u64,
}

#[derive(Debug)]
struct Pipes {
    child: Child,
    ask: Option<ChildStdin>,
    answer: ChildStdout,
}

impl Specimen for PythonCard {
    // It announces itself as a model: it takes the parts that models take.
    const KIND: Kind = Card::KIND;
    const PORTS: u8 = Card::PORTS;
    const TARGET: &'static str = Card::TARGET;
    const CHECKS_HEAD: bool = Card::CHECKS_HEAD;
    const PROBE_KHZ: u32 = Card::PROBE_KHZ;
    const STUCK: ErrorCode = Card::STUCK;

    fn lacks(group: &str, _: &str) -> Option<&'static str> {
        match group {
            "faults" => Some("its memory is Python's, and has no beats that fail"),
            "workers" => Some("a role does nothing on it while no kernel runs"),
            _ => None,
        }
    }

    fn plug(config: Config) -> Self {
        Self::of(&config, None)
    }

    fn unplug(&mut self, now: Instant) {
        self.tell(b'U', now, &[]);
    }

    fn handle_garbled(&mut self, _: Instant, _: Frame) -> bool {
        false
    }

    fn frames_elsewhere(&self) -> u64 {
        self.elsewhere
    }

    fn ddr(&self) -> &dyn Memory {
        &self.process
    }

    fn check(&self) {}
}

impl Node for PythonCard {
    type Event = CardEvent;

    fn handle_frame(&mut self, now: Instant, port: Port, frame: Frame) {
        match port {
            0 => _ = self.tell(b'F', now, &frame),
            _ => self.elsewhere += 1,
        }
    }

    fn handle_timeout(&mut self, now: Instant) {
        self.tell(b'T', now, &[]);
    }

    fn poll(&mut self, now: Instant) -> Option<Output<CardEvent>> {
        let frame = self.tell(b'P', now, &[]);
        (!frame.is_empty()).then(|| Output::Transmit(0, frame.into()))
    }

    fn next_deadline(&self) -> Option<Instant> {
        self.deadline
    }
}

impl PythonCard {
    /// A card with keys: a file of `rackloom key cards`, which names it.
    pub fn with_keys(config: &Config, file: &str) -> Self {
        Self::of(config, Some(file))
    }

    fn of(config: &Config, keys: Option<&str>) -> Self {
        let process = Process::start(config, keys);
        Self { process, deadline: Some(Instant::ZERO), elsewhere: 0 }
    }

    /// Asks the process; what it answers beside the deadline.
    fn tell(&mut self, what: u8, now: Instant, body: &[u8]) -> Vec<u8> {
        let mut answer = self.process.ask(what, now, body);
        let rest = answer.split_off(8);
        let due = u64::from_be_bytes(answer.try_into().expect("eight bytes"));
        self.deadline = (due != u64::MAX).then(|| Instant::from_nanos(due));
        rest
    }
}

impl Process {
    fn start(c: &Config, keys: Option<&str>) -> Self {
        let card = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/examples/card");
        let python = std::env::var("RACKLOOM_PYTHON").unwrap_or_else(|_| "python3".to_owned());
        let ns = |time: rackloom_node::Duration| time.as_nanos();
        let config = format!(
            "{{\"mac\":\"{}\",\"unit\":{},\"vendor\":{},\"product\":{},\"memory\":{},\"bulk\":{},\"boot\":{},\
             \"seed\":{},\"port_rate\":{},\"config_rate\":{},\"scrub_rate\":{},\"staging_max\":{},\"ack_every\":{},\
             \"ack_delay\":{},\"resend_after\":{},\"fuel_max\":{},\"announce_interval\":{},\"keys\":{}}}",
            c.mac,
            c.unit,
            c.vendor,
            c.product,
            c.memory,
            c.bulk,
            c.boot,
            c.seed,
            c.port_rate,
            c.config_rate,
            c.scrub_rate,
            c.staging_max,
            c.ack_every,
            ns(c.ack_delay),
            ns(c.resend_after),
            c.fuel_max,
            ns(c.announce_interval),
            keys.unwrap_or("null")
        );
        let mut command = Command::new(&python);
        command.arg("-B").arg(card).args(["--bench", &config]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let started = command.spawn();
        let mut child = started.unwrap_or_else(|e| panic!("{python}: {e}; RACKLOOM_PYTHON names another Python 3"));
        let answer = child.stdout.take().expect("it is piped");
        let ask = child.stdin.take();
        Self { pipes: Mutex::new(Pipes { child, ask, answer }), memory: c.memory }
    }

    fn ask(&self, what: u8, now: Instant, body: &[u8]) -> Vec<u8> {
        let mut pipes = self.pipes.lock().unwrap_or_else(PoisonError::into_inner);
        let length = u32::try_from(body.len()).expect("a frame's length");
        let request = [&[what][..], &now.as_nanos().to_be_bytes(), &length.to_be_bytes(), body].concat();
        pipes.ask.as_mut().expect("it is open").write_all(&request).expect("the Python card has ended");
        let mut length = [0; 4];
        pipes.answer.read_exact(&mut length).expect("the Python card has ended; what it says is above");
        let mut answer = vec![0; u32::from_be_bytes(length) as usize];
        pipes.answer.read_exact(&mut answer).expect("the Python card has ended");
        answer
    }

    fn inside(&self, addr: u64, length: u64) -> Result<(), MemoryError> {
        match addr.checked_add(length) {
            Some(end) if end <= self.memory => Ok(()),
            _ => Err(MemoryError::OutOfBounds { addr, length, size: self.memory }),
        }
    }

    fn bytes(&self, addr: u64, length: u64) -> Result<Vec<u8>, MemoryError> {
        self.inside(addr, length)?;
        Ok(self.ask(b'R', Instant::ZERO, &[addr.to_be_bytes(), length.to_be_bytes()].concat()))
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let pipes = self.pipes.get_mut().unwrap_or_else(PoisonError::into_inner);
        // It ends when nobody asks it any more.
        drop(pipes.ask.take());
        let _ = pipes.child.wait();
    }
}

/// The card's memory, which never breaks.
impl Memory for Process {
    fn len(&self) -> u64 {
        self.memory
    }

    fn read(&self, addr: u64, into: &mut [u8]) -> Result<(), MemoryError> {
        into.copy_from_slice(&self.bytes(addr, into.len() as u64)?);
        Ok(())
    }

    fn write(&self, addr: u64, bytes: &[u8]) -> Result<(), MemoryError> {
        self.inside(addr, bytes.len() as u64)?;
        self.ask(b'W', Instant::ZERO, &[&addr.to_be_bytes(), bytes].concat());
        Ok(())
    }

    fn with_bytes(&self, addr: u64, length: u64, f: &mut dyn FnMut(&[u8])) -> Result<(), MemoryError> {
        f(&self.bytes(addr, length)?);
        Ok(())
    }

    fn fail(&self, _: Option<u64>) {
        unreachable!("a case that breaks memory is one that this card lacks")
    }

    fn silence(&self, _: bool) {
        unreachable!("a case that breaks memory is one that this card lacks")
    }

    fn answers(&self) -> bool {
        true
    }

    fn zero(&self) -> Result<(), MemoryError> {
        unreachable!("a case that zeroes memory from outside is one that this card lacks")
    }
}
