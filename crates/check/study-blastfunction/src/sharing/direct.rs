//! A function with a board of its own and nothing between the two: the paper's native scenario.
//!
//! It drives the paced board itself, without library, manager or process, and enqueues what the program does (a test
//! holds it to that). So it is better off than any native program could be, and what sharing costs is not flattered.

use std::sync::Arc;
use std::time::Instant;

use rackloom_manager::Charge;
use rackloom_manager::Code;
use rackloom_manager::board::{Board as _, Operation, Shape, Sink, Source, Space as _};
use rackloom_manager::paced::{PacedBoard, PacedSpace};
use rackloom_opencl_wire::Form;

use super::load::Function;
use super::usecase::Call;
use crate::error::{BenchError, Result};

/// A board and the operations of a request.
#[derive(Debug)]
pub(super) struct Direct {
    space: PacedSpace,
    groups: Vec<Vec<Operation<PacedSpace>>>,
    busy: f64,
}

impl Direct {
    /// On a board, for requests that enqueue this.
    ///
    /// # Errors
    /// The board has no pace for a kernel.
    pub(super) fn new(board: &PacedBoard, request: &[Vec<Call>]) -> Result<Self> {
        let space = board.open("direct").map_err(refused)?;
        let operation = |call: &Call| Self::operation(&space, *call).map_err(refused);
        let group = |calls: &Vec<Call>| calls.iter().map(operation).collect::<Result<Vec<_>>>();
        let groups = request.iter().map(group).collect::<Result<Vec<_>>>()?;
        Ok(Self { space, groups, busy: 0.0 })
    }

    fn operation(space: &PacedSpace, call: Call) -> std::result::Result<Operation<PacedSpace>, Code> {
        let buffer = |len: usize| Ok(Arc::new(space.buffer(0, len as u64, None, Charge::on_nobody())?));
        Ok(match call {
            Call::Write(len) => {
                Operation::Write { buffer: buffer(len)?, offset: 0, from: Source::Inline(vec![0; len].into()) }
            }
            Call::Read(len) => {
                Operation::Read { buffer: buffer(len)?, offset: 0, into: Sink::Inline(vec![0; len].into()) }
            }
            Call::Launch(name) => {
                let source = format!("kernel void {name}(int x) {{}}");
                let program = space.program(Form::Source, source.into_bytes(), Charge::on_nobody())?;
                let kernel = Arc::new(space.kernel(&program, name, Charge::on_nobody())?);
                let shape = Shape { dimensions: 1, offset: [0; 3], global: [1, 0, 0], local: None };
                Operation::Launch { kernel, shape, arguments: Vec::new(), reaches: None }
            }
        })
    }

    /// Seconds that the board was taken so far.
    pub(super) const fn busy(&self) -> f64 {
        self.busy
    }
}

impl Function for Direct {
    fn request(&mut self) -> Result<()> {
        for group in &mut self.groups {
            let began = Instant::now();
            let mut tickets = Vec::with_capacity(group.len());
            for operation in &mut *group {
                tickets.push(self.space.start(operation, false).map_err(refused)?);
            }
            for (ticket, operation) in tickets.into_iter().zip(group) {
                self.space.finish(ticket, operation).map_err(refused)?;
            }
            self.busy += began.elapsed().as_secs_f64();
        }
        Ok(())
    }
}

fn refused(why: Code) -> BenchError {
    BenchError::Site(format!("the paced board refuses an operation: {why:?}"))
}
