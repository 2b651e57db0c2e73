//! Kernels run in slices; memory is there between them and outlives roles.

mod common;

use common::{DDR_BYTES, fault, manifest, role, run, sandbox, wasm};
use rackloom_ddr::Ddr;
use rackloom_role::{ROLE_PRIVATE, RoleError, RoleFault, Sandbox, Step};
use rackloom_sandbox::{WasmConfig, WasmSandbox};

/// Adds 1 to the word at its argument, a million times; the constant at 0 is its step.
const COUNT: &str = r#"
    (data (i32.const 0) "\01\00\00\00\00\00\00\00")
    (func (export "count") (param i64) (result i64) (local $n i64)
      (loop
        (i64.store (i32.wrap_i64 (local.get 0))
          (i64.add (i64.load (i32.wrap_i64 (local.get 0))) (i64.load (i32.const 0))))
        (br_if 0 (i64.lt_u (local.tee $n (i64.add (local.get $n) (i64.const 1))) (i64.const 1000000))))
      (i64.load (i32.wrap_i64 (local.get 0))))"#;

fn word(ddr: &Ddr, addr: u64) -> u64 {
    ddr.view(addr, 8, |b| u64::from_le_bytes(b.try_into().unwrap())).unwrap()
}

fn counter(config: WasmConfig) -> (Ddr, Box<dyn rackloom_role::Role>) {
    let ddr = Ddr::new(DDR_BYTES).unwrap();
    let sandbox = WasmSandbox::new(config).unwrap();
    let prepared = sandbox.prepare(&manifest(&[("count", 1)]), &wasm(COUNT), DDR_BYTES).unwrap();
    let role = prepared.activate(&ddr.handle()).unwrap();
    (ddr, role)
}

#[test]
fn a_long_kernel_yields_and_memory_is_there_meanwhile() {
    let (ddr, mut role) = counter(WasmConfig { slice_fuel: 100_000, ..WasmConfig::default() });
    role.start(0, &[ROLE_PRIVATE], 0).unwrap();
    let mut seen = vec![word(&ddr, ROLE_PRIVATE)];
    assert_eq!(seen, [0], "nothing runs before the first step");
    let end = loop {
        match role.step() {
            Step::Running => seen.push(word(&ddr, ROLE_PRIVATE)),
            end => break end,
        }
        if seen.len() == 5 {
            // A host may write between slices; the kernel goes on from there.
            ddr.write(ROLE_PRIVATE, &(word(&ddr, ROLE_PRIVATE) + 5_000_000).to_le_bytes()).unwrap();
        }
    };
    let Step::Done { value: 6_000_000, cycles } = end else { panic!("{end:?}") };
    assert!(seen.len() > 50, "{} slices", seen.len());
    assert!(seen.windows(2).all(|w| w[0] < w[1]), "every slice makes progress");
    // A slice ends at the first loop or call after its fuel is spent.
    assert!((seen.len() as u64).abs_diff(cycles / 100_000) <= 2, "{} slices of {cycles} cycles", seen.len());
}

#[test]
fn cycles_do_not_depend_on_the_slices() {
    let cycles = |slice_fuel| {
        let (_ddr, mut role) = counter(WasmConfig { slice_fuel, ..WasmConfig::default() });
        match run(&mut *role, 0, &[ROLE_PRIVATE], 0).0 {
            Step::Done { cycles, .. } => cycles,
            other => panic!("{other:?}"),
        }
    };
    let whole = cycles(1 << 40);
    assert!(whole > 1_000_000);
    assert_eq!(whole, cycles(12_345));
}

#[test]
fn a_cancelled_kernel_leaves_its_work_and_a_usable_role() {
    let (ddr, mut role) = counter(WasmConfig { slice_fuel: 100_000, ..WasmConfig::default() });
    assert_eq!(role.cancel(), None);
    role.start(0, &[ROLE_PRIVATE], 0).unwrap();
    for _ in 0..3 {
        assert_eq!(role.step(), Step::Running);
    }
    let done = word(&ddr, ROLE_PRIVATE);
    let step = role.cancel().unwrap();
    assert_eq!(fault(&step), RoleFault::Cancelled);
    assert!(matches!(step, Step::Failed { cycles: 300_000, .. }), "{step:?}");
    assert_eq!(word(&ddr, ROLE_PRIVATE), done);
    assert!(done > 0);
    assert_eq!(role.cancel(), None);
    ddr.write(ROLE_PRIVATE, &[0; 8]).unwrap();
    assert!(matches!(run(&mut *role, 0, &[ROLE_PRIVATE], 0).0, Step::Done { value: 1_000_000, .. }));
}

#[test]
fn requests_are_checked() {
    let (_ddr, mut role) = counter(WasmConfig::default());
    assert_eq!(role.start(1, &[0], 0), Err(RoleError::UnknownKernel { kernel: 1, kernels: 1 }));
    let error = role.start(0, &[], 0).unwrap_err();
    assert_eq!(error, RoleError::Arguments { kernel: "count".into(), takes: 1, given: 0 });
    role.start(0, &[ROLE_PRIVATE], 0).unwrap();
    assert_eq!(role.start(0, &[ROLE_PRIVATE], 0), Err(RoleError::Running));
    assert_eq!(role.kernels()[0].name, "count");
}

/// C's stack pointer is a global like this one: a kernel that traps never restores it.
#[test]
fn globals_are_fresh_after_a_fault() {
    let (_ddr, mut role) = role(
        &wasm(
            r#"(global $sp (mut i64) (i64.const 100))
               (func (export "k") (param i64) (result i64)
                 (global.set $sp (i64.sub (global.get $sp) (i64.const 10)))
                 (if (i64.eqz (local.get 0)) (then unreachable))
                 (global.get $sp))"#,
        ),
        &[("k", 1)],
    );
    assert!(matches!(run(&mut *role, 0, &[1], 0).0, Step::Done { value: 90, .. }));
    assert_eq!(fault(&run(&mut *role, 0, &[0], 0).0), RoleFault::Trap);
    assert!(matches!(run(&mut *role, 0, &[1], 0).0, Step::Done { value: 90, .. }));
}

#[test]
fn memory_outlives_roles_but_the_roles_own() {
    let sandbox = sandbox();
    let ddr = Ddr::new(DDR_BYTES).unwrap();
    let store = wasm(
        r#"(data (i32.const 8) "first role")
           (func (export "k") (param i64) (result i64)
             (i64.store (i32.const 0x80000) (i64.const 1)) (i64.store (i32.wrap_i64 (local.get 0)) (i64.const 77))
             i64.const 0)"#,
    );
    let load = wasm(
        r#"(data (i32.const 12) "second")
           (func (export "k") (param i64) (result i64)
             (i64.add (i64.load (i32.const 0x80000)) (i64.load (i32.wrap_i64 (local.get 0)))))"#,
    );
    let mut first =
        sandbox.prepare(&manifest(&[("k", 1)]), &store, DDR_BYTES).unwrap().activate(&ddr.handle()).unwrap();
    assert!(matches!(run(&mut *first, 0, &[ROLE_PRIVATE], 0).0, Step::Done { .. }));
    let before = ddr.view(0, DDR_BYTES, <[u8]>::to_vec).unwrap();

    let second = sandbox.prepare(&manifest(&[("k", 1)]), &load, DDR_BYTES).unwrap();
    assert_eq!(ddr.view(0, DDR_BYTES, <[u8]>::to_vec).unwrap(), before, "preparing touches no memory");
    assert!(matches!(run(&mut *first, 0, &[ROLE_PRIVATE], 0).0, Step::Done { .. }), "the old role serves meanwhile");

    let mut second = second.activate(&ddr.handle()).unwrap();
    drop(first);
    assert_eq!(word(&ddr, ROLE_PRIVATE), 77);
    assert_eq!(ddr.view(0, 24, <[u8]>::to_vec).unwrap(), b"\0\0\0\0\0\0\0\0\0\0\0\0second\0\0\0\0\0\0");
    assert!(matches!(run(&mut *second, 0, &[ROLE_PRIVATE], 0).0, Step::Done { value: 77, .. }));
}

#[test]
fn compiled_modules_are_shared_and_bounded() {
    let sandbox = sandbox();
    let part = |n: usize| wasm(&format!(r#"(func (export "k") (result i64) i64.const {n})"#));
    for n in [0, 1, 2, 3, 0, 4, 5] {
        sandbox.prepare(&manifest(&[("k", 0)]), &part(n), DDR_BYTES).unwrap();
        assert!(sandbox.modules_kept() <= 4);
    }
    // 256 cards with one image.
    let cards: Vec<_> = (0..256)
        .map(|_| {
            let ddr = Ddr::new(4 << 30).unwrap();
            let role =
                sandbox.prepare(&manifest(&[("k", 0)]), &part(9), 4 << 30).unwrap().activate(&ddr.handle()).unwrap();
            (ddr, role)
        })
        .collect();
    for (_ddr, mut role) in cards {
        assert!(matches!(run(&mut *role, 0, &[], 0).0, Step::Done { value: 9, .. }));
    }
    assert_eq!(sandbox.modules_kept(), 4);
}

#[test]
fn nans_are_canonical() {
    let (_ddr, mut role) = role(
        &wasm(
            r#"(func (export "k") (param i64) (result i64)
                 (i64.extend_i32_u (i32.reinterpret_f32 (f32.div (f32.const 0) (f32.reinterpret_i32 (i32.wrap_i64 (local.get 0)))))))"#,
        ),
        &[("k", 1)],
    );
    for nan in [0u64, 0x7fa0_0001, 0xffff_ffff] {
        assert!(matches!(run(&mut *role, 0, &[nan], 0).0, Step::Done { value: 0x7fc0_0000, .. }), "{nan:x}");
    }
}
