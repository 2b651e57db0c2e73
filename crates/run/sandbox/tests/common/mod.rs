//! Small roles in WebAssembly text.
#![allow(dead_code, unreachable_pub)] // Each test crate uses its share.

use rackloom_ddr::Ddr;
use rackloom_image::Manifest;
use rackloom_role::{Role, RoleError, RoleFault, Sandbox, Step};
use rackloom_sandbox::{WasmConfig, WasmSandbox};

pub const DDR_BYTES: u64 = 4 << 20;

/// A role whose module imports the memory and charge, followed by `body`.
pub fn wasm(body: &str) -> Vec<u8> {
    let text = format!(
        r#"(module (import "env" "memory" (memory 1)) (import "rackloom" "charge" (func $charge (param i64))) {body})"#
    );
    wat::parse_str(text).unwrap()
}

/// A manifest of kernels with one or more scalar-free arguments, `name/args`.
pub fn manifest(kernels: &[(&str, usize)]) -> Manifest {
    let kernels: Vec<String> = kernels
        .iter()
        .map(|(name, args)| {
            let names: Vec<String> = (0..*args).map(|n| format!("x{n}")).collect();
            let arrays = names.iter().map(|n| format!(r#"{{"name":"{n}","dtype":"u8","index":"i","dir":"in"}}"#));
            format!(r#"{{"name":"{name}","args":{names:?},"arrays":[{}]}}"#, arrays.collect::<Vec<_>>().join(","))
        })
        .collect();
    let json = format!(r#"{{"name":"test","version":"1","kernels":[{}]}}"#, kernels.join(","));
    Manifest::from_json(json.as_bytes()).unwrap()
}

/// Short slices and a small bound, so that runaway kernels end soon.
pub fn sandbox() -> WasmSandbox {
    WasmSandbox::new(WasmConfig { slice_fuel: 10_000, bound: 10_000_000, modules: 4 }).unwrap()
}

pub fn prepare_error(part: &[u8], kernels: &[(&str, usize)]) -> RoleError {
    sandbox().prepare(&manifest(kernels), part, DDR_BYTES).unwrap_err()
}

pub fn role(part: &[u8], kernels: &[(&str, usize)]) -> (Ddr, Box<dyn Role>) {
    let ddr = Ddr::new(DDR_BYTES).unwrap();
    let role = sandbox().prepare(&manifest(kernels), part, DDR_BYTES).unwrap().activate(&ddr.handle()).unwrap();
    (ddr, role)
}

/// Runs a kernel to its end; also the number of slices.
pub fn run(role: &mut dyn Role, kernel: usize, args: &[u64], bound: u64) -> (Step, usize) {
    role.start(kernel, args, bound).unwrap();
    let mut slices = 0;
    loop {
        slices += 1;
        match role.step() {
            Step::Running => {}
            end => return (end, slices),
        }
    }
}

pub fn fault(step: &Step) -> RoleFault {
    match step {
        Step::Failed { fault, .. } => *fault,
        other => panic!("{other:?}"),
    }
}
