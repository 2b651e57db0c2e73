//! Building, compiling and linking programs. Tasks go to the boards at once: no queue orders them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use opencl_sys::{CL_BUILD_IN_PROGRESS, CL_BUILD_NONE, CL_INVALID_OPERATION, CL_SUCCESS};
use rackloom_opencl_wire::{self as wire, Id};
use rackloom_sync::lock;

use crate::callback::{self, Call};
use crate::error::{Error, Result, ensure, fail};
use crate::handle::Ref;
use crate::objects::program::{Part, Program, State};
use crate::session::Then;
use crate::session::numbers::ObjectTable;
use crate::session::remote::Remote;

/// A task for the compiler of each board.
pub enum Task {
    /// Compile and link.
    Build,
    /// Compile only; names to include and the programs that hold their source.
    Compile(Vec<(String, Ref<Program>)>),
    /// Link these.
    Link(Vec<Ref<Program>>),
}

/// Starts a task for these parts of a program. Without `notify`, waits for its end.
///
/// # Errors
/// A part has a task under way, or the program has kernels; without `notify`, the error of the task.
pub fn run(program: &Ref<Program>, parts: &[usize], task: &Task, options: &str, notify: Option<Call>) -> Result<()> {
    ensure(program.kernels.load(Ordering::Acquire) == 0, CL_INVALID_OPERATION)?;
    for (done, &at) in parts.iter().enumerate() {
        let mut state = lock(&program.parts[at].state);
        if state.status == CL_BUILD_IN_PROGRESS {
            drop(state);
            parts[..done].iter().for_each(|&at| lock(&program.parts[at].state).status = CL_BUILD_NONE);
            return fail(CL_INVALID_OPERATION);
        }
        *state = State::in_progress(options);
    }
    let waits = notify.is_none();
    let all = Arc::new(Join { left: AtomicUsize::new(parts.len()), notify: Mutex::new(notify) });
    for &at in parts {
        let (ended, join) = (Arc::clone(program), Arc::clone(&all));
        let then: Then = Box::new(move |answer| {
            ended.parts[at].end(answer);
            join.one_less();
        });
        if let Err(why) = start(&program.parts[at], task, options, then) {
            program.parts[at].end(Err(why.0));
            all.one_less();
        }
    }
    if waits { parts.iter().try_for_each(|&at| wait(&program.parts[at])) } else { Ok(()) }
}

/// Asks the board of a part for it; `then` gets the answer.
fn start(part: &Part, task: &Task, options: &str, then: Then) -> Result<()> {
    let board = part.board();
    let session = &board.session;
    match task {
        Task::Build => {
            part.bring(options, &[]);
            let program = part.id()?;
            session.request(&[], |request| wire::Command::Build { request, program, options }, then)
        }
        Task::Compile(headers) => {
            part.bring(options, &headers.iter().map(|(name, _)| name.as_str()).collect::<Vec<_>>());
            let program = part.id()?;
            let mut ids = Vec::new();
            for (name, header) in headers {
                let header = header.part(&part.device).ok_or(Error(CL_INVALID_OPERATION))?;
                ids.push((name.as_str(), header.id()?));
            }
            let compile = |request| wire::Command::Compile { request, program, options, headers: ids };
            session.request(&[], compile, then)
        }
        Task::Link(inputs) => {
            let parts = inputs.iter().map(|p| p.part(&part.device).ok_or(Error(CL_INVALID_OPERATION))?.id());
            let inputs = parts.collect::<Result<Vec<Id>>>()?;
            let mut remote = Remote::reserve(board, ObjectTable::Programs)?;
            let program = remote.id;
            let link = |request| wire::Command::Link { request, program, options, inputs };
            session.request(&[], link, then)?;
            remote.announced();
            // A program is linked once, when it is made.
            part.linked(remote);
            Ok(())
        }
    }
}

/// Waits for the end of a task, and gives its result.
fn wait(part: &Part) -> Result<()> {
    let ended = || {
        let state = lock(&part.state);
        (state.status != CL_BUILD_IN_PROGRESS).then_some(state.build.status)
    };
    match part.board().session.wait(None, ended)? {
        CL_SUCCESS => Ok(()),
        status => fail(status),
    }
}

/// The parts of one call whose task has not ended.
struct Join {
    left: AtomicUsize,
    notify: Mutex<Option<Call>>,
}

impl Join {
    fn one_less(&self) {
        if self.left.fetch_sub(1, Ordering::AcqRel) == 1 {
            callback::call(lock(&self.notify).take());
        }
    }
}
