//! A sandbox whose roles are Rust: small, exact, and with every way to fail that a real one has.

use std::sync::Arc;

use rackloom_ddr::Ddr;
use rackloom_image::{Array, Dir, Dtype, ImageBuilder, Kernel, Manifest};
use rackloom_role::{Memory, MemoryError, Prepared, Role, RoleError, RoleFault, Sandbox, Step};

use crate::bump::Bump;
use crate::talker::Talker;

/// Cycles that a slice takes.
pub(crate) const SLICE: u64 = 100;

/// Kernel numbers of every image made here.
pub(crate) const COUNT: u64 = 0;
pub(crate) const FILL: u64 = 1;
pub(crate) const SLOW: u64 = 2;
pub(crate) const TRAP: u64 = 3;

/// A role image whose part is `part`; `filler` bytes of a part for another target make it larger.
pub(crate) fn image(part: &[u8], filler: usize) -> Vec<u8> {
    let array =
        |index: &str| Array { name: "data".into(), dtype: Dtype::U64, index: index.into(), dir: Dir::Out, halo: false };
    let kernel = |name: &str, args: &[&str], index: &str| Kernel {
        scalars: Vec::new(),
        name: name.into(),
        args: args.iter().map(|&a| a.into()).collect(),
        arrays: vec![array(index)],
        tile: Default::default(),
        halo: Default::default(),
    };
    let manifest = Manifest {
        name: "test".into(),
        version: "1".into(),
        description: "d".repeat(1000),
        clock_mhz: 100,
        kernels: vec![
            kernel("count", &["data"], "i"),
            kernel("fill", &["data", "i", "v"], "iv"),
            kernel("slow", &["data", "i"], "i"),
            kernel("trap", &["data"], "i"),
        ],
    };
    let mut builder = ImageBuilder::new(manifest).part("model", part.to_vec());
    if filler > 0 {
        builder = builder.part("rtl", (0..filler).map(|i| (i % 251) as u8).collect());
    }
    builder.build().unwrap()
}

/// Parts that begin with `bad` are no modules, with `big` need too much memory, with `late` fail when activated, with
/// `talk` have streams, with `bump` those of a hook.
#[derive(Debug)]
pub(crate) struct Native;

impl Sandbox for Native {
    fn target(&self) -> &'static str {
        "model"
    }

    fn memory(&self, bytes: u64) -> Result<Arc<dyn Memory>, MemoryError> {
        Ok(Arc::new(Ddr::new(bytes)?))
    }

    fn prepare(&self, manifest: &Manifest, part: &[u8], ddr_bytes: u64) -> Result<Box<dyn Prepared>, RoleError> {
        match part {
            [b'b', b'a', b'd', ..] => Err(RoleError::Module("it says so itself".into())),
            [b'b', b'i', b'g', ..] => Err(RoleError::Memory(format!("it needs more than {ddr_bytes} bytes"))),
            _ => Ok(Box::new(Waiting { kernels: manifest.kernels.clone(), part: part.to_vec() })),
        }
    }
}

#[derive(Debug)]
struct Waiting {
    kernels: Vec<Kernel>,
    part: Vec<u8>,
}

impl Prepared for Waiting {
    fn activate(self: Box<Self>, ddr: &Arc<dyn Memory>) -> Result<Box<dyn Role>, RoleError> {
        if self.part.starts_with(b"late") {
            return Err(RoleError::Engine("no memory left".into()));
        }
        ddr.write(0, &self.part).unwrap();
        let running = Box::new(Running { kernels: self.kernels, ddr: ddr.clone(), run: None });
        Ok(match &self.part[..] {
            [b't', b'a', b'l', b'k', ..] => Box::new(Talker::new(running)),
            [b'b', b'u', b'm', b'p', ..] => Box::new(Bump::new(running)),
            _ => running,
        })
    }
}

#[derive(Debug)]
struct Running {
    kernels: Vec<Kernel>,
    ddr: Arc<dyn Memory>,
    run: Option<Run>,
}

#[derive(Debug)]
struct Run {
    kernel: usize,
    args: Vec<u64>,
    bound: u64,
    cycles: u64,
}

impl Role for Running {
    fn kernels(&self) -> &[Kernel] {
        &self.kernels
    }

    fn start(&mut self, kernel: usize, args: &[u64], bound: u64) -> Result<(), RoleError> {
        assert!(self.run.is_none());
        assert_eq!(args.len(), self.kernels[kernel].args.len());
        self.run = Some(Run { kernel, args: args.to_vec(), bound, cycles: 0 });
        Ok(())
    }

    fn step(&mut self) -> Step {
        let run = self.run.as_mut().expect("a kernel was started");
        run.cycles += SLICE;
        let cycles = run.cycles;
        let step = if cycles > run.bound {
            Step::Failed { fault: RoleFault::Fuel, text: "bound".into(), cycles }
        } else {
            match (run.kernel as u64, &run.args[..]) {
                (COUNT, &[addr]) => match self.count(addr) {
                    Ok(value) => Step::Done { value, cycles },
                    Err(_) => trap(cycles),
                },
                (FILL, &[addr, n, value]) => match self.fill(addr, n, value) {
                    Ok(()) => Step::Done { value: n, cycles },
                    Err(_) => trap(cycles),
                },
                (SLOW, &[_, slices]) if cycles < slices.saturating_mul(SLICE) => return Step::Running,
                (SLOW, _) => Step::Done { value: 7, cycles },
                _ => trap(cycles),
            }
        };
        self.run = None;
        step
    }

    fn cancel(&mut self) -> Option<Step> {
        let Run { cycles, .. } = self.run.take()?;
        Some(Step::Failed { fault: RoleFault::Cancelled, text: "cancelled".into(), cycles })
    }
}

impl Running {
    fn count(&self, addr: u64) -> Result<u64, MemoryError> {
        let mut word = [0; 8];
        self.ddr.read(addr, &mut word)?;
        let value = u64::from_le_bytes(word).wrapping_add(1);
        self.ddr.write(addr, &value.to_le_bytes())?;
        Ok(value)
    }

    fn fill(&self, addr: u64, n: u64, value: u64) -> Result<(), MemoryError> {
        self.ddr.view(addr, n, |_| ())?;
        let bytes: Vec<u8> = (0..n).map(|i| (i * 13 + i / 256).wrapping_add(value) as u8).collect();
        self.ddr.write(addr, &bytes)
    }
}

fn trap(cycles: u64) -> Step {
    Step::Failed { fault: RoleFault::Trap, text: "trap".into(), cycles }
}
