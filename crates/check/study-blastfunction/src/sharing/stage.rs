//! The boards and functions of a use case: three hosts with five functions, and beside them three boards with a
//! function of their own each.

use std::path::Path;

use rackloom_manager::native::{NativeBoard, Runtime};
use rackloom_manager::paced::PacedBoard;
use schemars::JsonSchema;
use serde::Serialize;

use super::direct::Direct;
use super::host::Host;
use super::load::Served;
use super::paper::{self, Figures, Load, NATIVE, NODES, Placement, SHARED, UseCase};
use super::program::{Program, Reach};
use super::scenario::{FunctionRow, Player, Scenario, play};
use super::{Options, Tools};
use crate::error::{BenchError, Result};

/// What the boards are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Boards {
    /// Three boards with the service times of the paper's.
    Paced,
    /// Three boards that are this machine's processor, by PoCL or another runtime.
    Processor,
}

/// A configuration: the same functions in both scenarios.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct Configuration {
    /// What the boards are.
    pub boards: Boards,
    /// What the functions compute.
    pub use_case: UseCase,
    /// How much is asked of them.
    pub load: Load,
    /// How the five functions came to their boards.
    pub placement: Placement,
    /// Five functions share three boards.
    pub shared: Scenario,
    /// Three functions have a board each.
    pub native: Scenario,
}

/// Functions with boards of their own.
enum Native {
    Paced(Vec<Direct>),
    Processor(Vec<Program>),
}

/// All that is needed for a use case.
pub(super) struct Stage {
    // Dropped in this order: no function is left without its board.
    shared: Vec<Program>,
    native: Native,
    hosts: Vec<Host>,
    of: UseCase,
    placement: Placement,
}

impl Stage {
    /// With boards that take the paper's time.
    pub(super) fn paced(of: UseCase, placement: Placement, options: &Options, tools: &Tools) -> Result<Self> {
        let room = tools.room(&format!("{}-{placement:?}", of.program()))?;
        let host = |node: usize| {
            let board = PacedBoard::accelerator(NODES[node], of.pace(node));
            Host::start(NODES[node], board, options.policy, &room)
        };
        let hosts = (0..NATIVE).map(host).collect::<Result<Vec<_>>>()?;
        let direct = |node: usize| Direct::new(&PacedBoard::accelerator(NODES[node], of.pace(node)), &of.request());
        let native = Native::Paced((0..NATIVE).map(direct).collect::<Result<_>>()?);
        // The paced boards compute nothing.
        let shared = functions(of, placement, &hosts, tools, &room, "none")?;
        Ok(Self { shared, native, hosts, of, placement })
    }

    /// With boards that are this machine's processor.
    pub(super) fn processor(of: UseCase, options: &Options, tools: &Tools, runtime: &Path) -> Result<Self> {
        let failed = |why| BenchError::Site(format!("{why:#}"));
        let opened = Runtime::open(runtime).map_err(failed)?;
        let opened = opened
            .into_iter()
            .next()
            .ok_or_else(|| BenchError::Site(format!("{} has no platform; name another library", runtime.display())))?;
        let room = tools.room(&format!("{}-processor", of.program()))?;
        let host = |node: &&'static str| {
            let mut boards = NativeBoard::all(opened).map_err(failed)?;
            if options.device >= boards.len() {
                let (device, count) = (options.device, boards.len());
                return Err(BenchError::Site(format!("no device number {device}: the runtime has {count}")));
            }
            Host::start(node, boards.swap_remove(options.device), options.policy, &room)
        };
        let hosts = NODES.iter().map(host).collect::<Result<Vec<_>>>()?;
        let reach = Reach { library: runtime, managers: None, device: options.device };
        let program = |number: usize| start(of, &format!("native-{}", number + 1), &reach, tools, &room, "first");
        let native = Native::Processor((0..NATIVE).map(program).collect::<Result<_>>()?);
        let placement = Placement::Paper;
        let shared = functions(of, placement, &hosts, tools, &room, "first")?;
        let mut this = Self { shared, native, hosts, of, placement };
        this.warm_up()?;
        Ok(this)
    }

    /// A request of each: a runtime compiles kernels at their first launch, and results are checked there.
    fn warm_up(&mut self) -> Result<()> {
        use super::load::Function as _;
        self.shared.iter_mut().try_for_each(Program::request)?;
        match &mut self.native {
            Native::Paced(functions) => functions.iter_mut().try_for_each(Direct::request),
            Native::Processor(functions) => functions.iter_mut().try_for_each(Program::request),
        }
    }

    /// Puts both scenarios under load: at the same time where they do not disturb each other, for paced boards leave
    /// the processor to others.
    pub(super) fn measure(&mut self, load: Load, seconds: u32) -> Result<Configuration> {
        let rates = paper::rates(self.of, load);
        let Self { shared, native, hosts, of, placement } = self;
        let (of, placement) = (*of, *placement);
        let tenants = tenants(of, placement);
        let reading = || tenants.iter().map(|(place, name)| hosts[*place].tenant_busy(name)).collect();
        let sharing = |shared| players(shared, &rates);
        let (shared, busy, native, native_busy, boards) = match native {
            Native::Paced(functions) => {
                let before: Vec<f64> = functions.iter().map(Direct::busy).collect();
                let mut all = sharing(shared);
                all.extend(players(functions, &rates));
                let (mut served, busy) = play(all, seconds, reading)?;
                let native = served.split_off(SHARED);
                let native_busy: Vec<f64> = functions.iter().zip(before).map(|(f, before)| f.busy() - before).collect();
                (served, busy, native, native_busy, Boards::Paced)
            }
            Native::Processor(functions) => {
                let before: Vec<f64> = functions.iter().map(Program::calling).collect();
                let (native, _) = play(players(functions, &rates), seconds, Vec::new)?;
                let native_busy = functions.iter().zip(before).map(|(f, before)| f.calling() - before).collect();
                let (served, busy) = play(sharing(shared), seconds, reading)?;
                (served, busy, native, native_busy, Boards::Processor)
            }
        };
        let told = boards == Boards::Paced && placement == Placement::Paper;
        let scenario = |served: Vec<Served>, busy: Vec<f64>, places: &[usize], shared: bool| {
            let told_rows: &[Figures] = if told { paper::functions(of, load, shared) } else { &[] };
            let row = |(number, (served, busy)): (usize, (Served, f64))| {
                let name = format!("{}-{}", of.program(), number + 1);
                let mut row = FunctionRow::new(name, NODES[places[number]], busy, seconds, served);
                row.paper = told_rows.get(number).copied();
                row
            };
            let rows = served.into_iter().zip(busy).enumerate().map(row).collect();
            Scenario::new(rows, told.then(|| paper::sums(of, load, shared)))
        };
        Ok(Configuration {
            boards,
            use_case: of,
            load,
            placement,
            shared: scenario(shared, busy, &placement.places(), true),
            native: scenario(native, native_busy, &[0, 1, 2], false),
        })
    }

    /// The hosts.
    #[cfg(test)]
    pub(super) fn hosts(&self) -> &[Host] {
        &self.hosts
    }

    /// A function that shares.
    #[cfg(test)]
    pub(super) fn shared(&mut self, number: usize) -> &mut Program {
        &mut self.shared[number]
    }
}

/// The functions that share, one after another, so that a manager numbers its tenants in their order.
fn functions(
    of: UseCase,
    placement: Placement,
    hosts: &[Host],
    tools: &Tools,
    room: &Path,
    check: &str,
) -> Result<Vec<Program>> {
    let function = |(number, place): (usize, usize)| {
        let reach = Reach::manager(&tools.library, hosts[place].endpoint());
        start(of, &format!("shared-{}", number + 1), &reach, tools, room, check)
    };
    placement.places().into_iter().enumerate().map(function).collect()
}

fn start(of: UseCase, name: &str, reach: &Reach<'_>, tools: &Tools, room: &Path, check: &str) -> Result<Program> {
    let [option, size] = of.arguments();
    let name = format!("{}-{name}", of.program());
    let program = tools.programs.join(of.program());
    Program::serve(&name, &program, &[option, size, "--check", check], reach, room)
}

/// The host of each function that shares, and what the manager there calls it.
fn tenants(of: UseCase, placement: Placement) -> Vec<(usize, String)> {
    let places = placement.places();
    let tenant = |(number, place): (usize, &usize)| {
        let here = places[..=number].iter().filter(|other| *other == place).count();
        (*place, format!("{}-{here}", of.program()))
    };
    places.iter().enumerate().map(tenant).collect()
}

fn players<'a, F: super::load::Function>(functions: &'a mut [F], rates: &[u32]) -> Vec<Player<'a>> {
    let player = |(function, rate): (&'a mut F, &u32)| Player { function, rate: *rate };
    functions.iter_mut().zip(rates).map(player).collect()
}
