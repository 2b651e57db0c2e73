//! Operations under way.
#![allow(unsafe_code)]

use std::ptr::{with_exposed_provenance, with_exposed_provenance_mut};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Instant;

use bytes::Bytes;
use rackloom::{Communicator, HostGroup, HostPrepared, Prepared, Rack};
use rackloom_sync::{lock, wait};

use crate::failure::Failure;
use crate::group::{Group, Ready};

/// An operation that is ready, where its ranks' data is, and how it stands.
#[derive(Debug)]
pub(crate) struct Request {
    prepared: Ready,
    buffers: Vec<Buffers>,
    state: Mutex<State>,
    bell: Condvar,
}

/// One rank's memory of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Buffers {
    pub(crate) give: usize,
    pub(crate) gives: usize,
    /// 0: what it gets is not wanted.
    pub(crate) get: usize,
    pub(crate) gets: usize,
}

#[derive(Debug)]
enum State {
    /// It was not started, or is over: nanoseconds that its programs ran, or why it failed.
    Over(Result<u64, Arc<Failure>>),
    /// It was started.
    UnderWay,
}

impl Request {
    pub(crate) fn new(prepared: Ready, buffers: Vec<Buffers>) -> Self {
        Self { prepared, buffers, state: Mutex::new(State::Over(Ok(0))), bell: Condvar::new() }
    }

    /// # Errors
    /// It is under way already.
    pub(crate) fn start(&self) -> Result<(), Failure> {
        let mut state = lock(&self.state);
        match *state {
            State::UnderWay => Err(Failure::Invalid("the request is under way: wait for it first".to_owned())),
            State::Over(_) => {
                *state = State::UnderWay;
                Ok(())
            }
        }
    }

    /// Does it, and says so.
    pub(crate) fn perform(&self, group: &Group) {
        let result = self.operate(group).map_err(Arc::new);
        *lock(&self.state) = State::Over(result);
        self.bell.notify_all();
    }

    fn operate(&self, group: &Group) -> Result<u64, Failure> {
        match (group, &self.prepared) {
            (Group::Cards(comm, _), Ready::Cards(prepared)) => self.on_cards(comm, prepared),
            (Group::Hosts(hosts, _), Ready::Hosts(prepared)) => self.among_hosts(hosts, prepared),
            _ => unreachable!("a group prepares what it does"),
        }
    }

    fn among_hosts(&self, hosts: &HostGroup, prepared: &HostPrepared) -> Result<u64, Failure> {
        let [of] = self.buffers[..] else { unreachable!("a process is one rank") };
        let began = Instant::now();
        // A rank that does not want what it gets takes part all the same.
        let mut unwanted = vec![0; if of.get == 0 { of.gets } else { 0 }];
        let get = if of.get == 0 { unwanted.as_mut_ptr() } else { with_exposed_provenance_mut(of.get) };
        // SAFETY: whoever began the operation leaves its buffers as they are until it is over, and there is room for
        // what the rank gets.
        unsafe { hosts.run_at(prepared, with_exposed_provenance(of.give), get) }?;
        Ok(u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn on_cards(&self, comm: &Communicator<Arc<Rack>>, prepared: &Prepared) -> Result<u64, Failure> {
        let give = |of: &Buffers| match of.gives {
            0 => Bytes::new(),
            // SAFETY: whoever began the operation leaves its buffers as they are until it is over.
            bytes => Bytes::copy_from_slice(unsafe { std::slice::from_raw_parts(of.give as *const u8, bytes) }),
        };
        let inputs: Vec<_> = self.buffers.iter().map(give).collect();
        let done = comm.run_prepared(prepared, &inputs)?;
        for (of, output) in self.buffers.iter().zip(&done.outputs).filter(|(of, _)| of.get != 0) {
            assert_eq!(of.gets, output.len());
            // SAFETY: as above, and there is room for as many bytes.
            unsafe { std::ptr::copy_nonoverlapping(output.as_ptr(), of.get as *mut u8, output.len()) };
        }
        Ok(u64::try_from(done.time.as_nanos()).unwrap_or(u64::MAX))
    }

    /// How it went, once it is over; `None`: it is under way.
    pub(crate) fn outcome(&self) -> Option<Result<u64, Arc<Failure>>> {
        match &*lock(&self.state) {
            State::Over(result) => Some(result.clone()),
            State::UnderWay => None,
        }
    }

    /// Waits until it is over, and says how it went.
    pub(crate) fn wait(&self) -> Result<u64, Arc<Failure>> {
        let mut state = lock(&self.state);
        loop {
            match &*state {
                State::Over(result) => return result.clone(),
                State::UnderWay => state = wait(&self.bell, state),
            }
        }
    }
}
