//! Images that mean harm, or are broken: each ends with an error of its own, and the next role works.

mod common;

use common::{DDR_BYTES, fault, manifest, prepare_error, role, run, sandbox, wasm};
use proptest::prelude::*;
use rackloom_ddr::Ddr;
use rackloom_role::{RoleError, RoleFault, Sandbox, Step};

const RETURN_7: &str = r#"(func (export "k") (result i64) i64.const 7)"#;

/// The role answers 7, whatever happened before.
fn assert_serves(role: &mut dyn rackloom_role::Role, kernel: usize) {
    let (step, _) = run(role, kernel, &[], 0);
    assert!(matches!(step, Step::Done { value: 7, .. }), "{step:?}");
}

#[test]
fn not_a_module() {
    for part in [&b""[..], b"\0asm", b"\0asm\x02\0\0\0", b"not wasm at all", b"\0asm\x0d\0\x01\0"] {
        let error = prepare_error(part, &[("k", 0)]);
        assert!(matches!(error, RoleError::Module(_)), "{part:?}: {error}");
        assert_eq!(error.code_name(), "image-part");
    }
    // A body that pops from an empty stack.
    let mut bad = wasm(RETURN_7);
    let at = bad.windows(3).position(|code| code == [0x42, 7, 0x0b]).unwrap();
    bad[at..at + 2].copy_from_slice(&[0x1a, 0x1a]);
    assert!(matches!(prepare_error(&bad, &[("k", 0)]), RoleError::Module(_)));
}

#[test]
fn a_start_function_never_runs() {
    let part = wasm(&format!("{RETURN_7} (func $forever (loop (br 0))) (start $forever)"));
    let error = prepare_error(&part, &[("k", 0)]);
    assert!(error.to_string().contains("start function"), "{error}");
}

#[test]
fn kernels_must_be_there_with_their_arguments() {
    for body in [
        "",
        r#"(func (export "k") (param i32) (result i64) i64.const 0)"#,
        r#"(func (export "k") (param i64 i64) (result i64) i64.const 0)"#,
        r#"(func (export "k") (param i64))"#,
        r#"(global (export "k") i64 (i64.const 0))"#,
    ] {
        let error = prepare_error(&wasm(body), &[("k", 1)]);
        assert_eq!(error, RoleError::Kernel { kernel: "k".into(), args: 1 }, "{body}");
    }
}

#[test]
fn nothing_else_is_imported() {
    for import in [
        r#"(import "wasi_snapshot_preview1" "fd_write" (func (param i32 i32 i32 i32) (result i32)))"#,
        r#"(import "env" "other" (global i32))"#,
        r#"(import "env" "memory" (func))"#,
        r#"(import "rackloom" "charge" (func (param i32)))"#,
        r#"(import "rackloom" "charge" (global i64))"#,
    ] {
        let part = wat::parse_str(format!("(module {import} {RETURN_7})")).unwrap();
        let error = prepare_error(&part, &[("k", 0)]);
        assert!(matches!(error, RoleError::Import { .. }), "{import}: {error}");
    }
}

#[test]
fn memory_must_be_the_cards_and_fit() {
    for (memory, what) in [
        (r#"(memory 1)"#, "defines a memory"),
        (r#"(import "env" "memory" (memory 65))"#, "the card has 64"),
        (r#"(import "env" "memory" (memory 1 63))"#, "the card has 64"),
    ] {
        let part = wat::parse_str(format!("(module {memory} {RETURN_7})")).unwrap();
        let error = prepare_error(&part, &[("k", 0)]);
        assert!(error.to_string().contains(what), "{memory}: {error}");
        assert_eq!(error.code_name(), "image-memory");
    }
    let error = sandbox().prepare(&manifest(&[("k", 0)]), &wasm(RETURN_7), 65536).unwrap_err();
    assert!(matches!(error, RoleError::Memory(_)), "{error}");
}

#[test]
fn constants_stay_in_the_roles_own_memory() {
    for body in [
        r#"(data (i32.const 0xffffe) "abc")"#,
        r#"(data (i32.const 0x200000) "abc")"#,
        r#"(data (i32.const -1) "abc")"#,
        r#"(global $g i32 (i32.const 0x200000)) (data (global.get $g) "abc")"#,
        r#"(global (export "__heap_base") i32 (i32.const 0x100001))"#,
    ] {
        let error = prepare_error(&wasm(&format!("{RETURN_7} {body}")), &[("k", 0)]);
        assert!(matches!(error, RoleError::Memory(_)), "{body}: {error}");
    }
    role(&wasm(&format!(r#"{RETURN_7} (data (i32.const 0xffffd) "abc")"#)), &[("k", 0)]);
}

#[test]
fn tables_functions_and_globals_are_limited() {
    let many = |item: &str, count: usize| format!("{RETURN_7} {}", item.repeat(count));
    for (body, what) in [
        (format!("{RETURN_7} (table 0xffffffff funcref)"), "elements of a table"),
        (many("(func)", 20_000), "functions"),
        (many("(global i64 (i64.const 0))", 5_000), "globals"),
        (format!("{RETURN_7} (func {})", "(drop (i64.const 1))".repeat(100_000)), "bytes of a function"),
        (many(&format!("(func {})", "(drop (i64.const 1))".repeat(60_000)), 25), "bytes of the module"),
    ] {
        let error = prepare_error(&wasm(&body), &[("k", 0)]);
        assert!(matches!(error, RoleError::Limit { what: found, .. } if found == what), "{what}: {error}");
    }
    // What the limits let through and the engine cannot place: elements beyond their table.
    let error =
        prepare_error(&wasm(&format!("{RETURN_7} (func $f) (table 1 funcref) (elem (i32.const 9) $f)")), &[("k", 0)]);
    assert!(error.to_string().contains("cannot be instantiated"), "{error}");
}

#[test]
fn locals_and_recursion_end_at_the_stack() {
    let deep = r#"(func $deep (param i64) (result i64) (call $deep (i64.add (local.get 0) (i64.const 1))))
                  (func (export "deep") (result i64) (call $deep (i64.const 0)))"#;
    // As many values alive at once as the limit on a function's bytes allows.
    let count = 4_500;
    let sets: String = (0..count).map(|n| format!("(local.set {n} (call $one))")).collect();
    let sums: String = (0..count).map(|n| format!("(i64.add (local.get {n}))")).collect();
    let wide = format!(
        r#"(func $one (result i64) i64.const 1)
           (func (export "wide") (result i64) (local {}) {sets} (i64.const 0) {sums})"#,
        "i64 ".repeat(count)
    );
    let too_many = format!("{RETURN_7} (func (local {}))", "i64 ".repeat(50_001));
    assert!(matches!(prepare_error(&wasm(&too_many), &[("k", 0)]), RoleError::Module(_)));

    let (_ddr, mut role) = role(&wasm(&format!("{deep} {wide} {RETURN_7}")), &[("deep", 0), ("wide", 0), ("k", 0)]);
    let (step, _) = run(&mut *role, 0, &[], 0);
    assert_eq!(fault(&step), RoleFault::Trap);
    assert_serves(&mut *role, 2);
    assert!(matches!(run(&mut *role, 1, &[], 0).0, Step::Done { value: 4_500, .. }));
}

#[test]
fn a_trap_is_reported_and_the_role_serves_on() {
    let (ddr, mut role) = role(
        &wasm(&format!(
            r#"(func (export "load") (param i64) (result i64) (i64.load (i32.wrap_i64 (local.get 0))))
               (func (export "far") (param i64) (result i64)
                 (i64.store offset=0xfffffff0 (i32.wrap_i64 (local.get 0)) (i64.const 1)) i64.const 0)
               (func (export "div") (param i64) (result i64) (i64.div_u (i64.const 1) (local.get 0)))
               (func (export "stop") (result i64) unreachable)
               (func (export "back") (result i64) (call $charge (i64.const -1)) i64.const 0)
               {RETURN_7}"#
        )),
        &[("load", 1), ("far", 1), ("div", 1), ("stop", 0), ("back", 0), ("k", 0)],
    );
    ddr.write(DDR_BYTES - 8, &[1, 0, 0, 0, 0, 0, 0, 0]).unwrap();
    assert!(matches!(run(&mut *role, 0, &[DDR_BYTES - 8], 0).0, Step::Done { value: 1, .. }));
    for (kernel, args, what) in [
        (0, &[DDR_BYTES - 7][..], "out of bounds"),
        (0, &[u64::from(u32::MAX)], "out of bounds"),
        (1, &[0], "out of bounds"),
        (1, &[u64::from(u32::MAX)], "out of bounds"),
        (2, &[0], "divide by zero"),
        (3, &[], "unreachable"),
        (4, &[], "negative number of cycles"),
    ] {
        let (step, _) = run(&mut *role, kernel, args, 0);
        assert_eq!(fault(&step), RoleFault::Trap);
        assert!(matches!(&step, Step::Failed { text, .. } if text.contains(what)), "{step:?}");
        assert_serves(&mut *role, 5);
    }
}

/// The fault signal is handled on whatever thread runs the role, several at once.
#[test]
fn traps_work_on_every_thread() {
    let part = wasm(r#"(func (export "k") (result i64) (i64.load (i32.const -8)))"#);
    let sandbox = sandbox();
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                let ddr = Ddr::new(DDR_BYTES).unwrap();
                let mut role =
                    sandbox.prepare(&manifest(&[("k", 0)]), &part, DDR_BYTES).unwrap().activate(&ddr.handle()).unwrap();
                for _ in 0..20 {
                    assert_eq!(fault(&run(&mut *role, 0, &[], 0).0), RoleFault::Trap);
                }
            });
        }
    });
    assert_eq!(sandbox.modules_kept(), 1);
}

#[test]
fn memory_and_tables_do_not_grow() {
    let (_ddr, mut role) = role(
        &wasm(
            r#"(table $t 1 funcref)
               (func (export "memory") (result i64) (i64.extend_i32_s (memory.grow (i32.const 1))))
               (func (export "size") (result i64) (i64.extend_i32_s (memory.size)))"#,
        ),
        &[("memory", 0), ("size", 0)],
    );
    assert!(matches!(run(&mut *role, 0, &[], 0).0, Step::Done { value: u64::MAX, .. }));
    assert!(matches!(run(&mut *role, 1, &[], 0).0, Step::Done { value: 64, .. }));
}

#[test]
fn a_runaway_ends_at_its_bound() {
    let (_ddr, mut role) = role(
        &wasm(&format!(
            r#"(func (export "spin") (result i64) (loop (br 0)) i64.const 0)
               (func (export "fill") (result i64)
                 (loop (memory.fill (i32.const 0x100000) (i32.const 1) (i32.const 0x300000)) (br 0)) i64.const 0)
               (func (export "work") (param i64) (result i64) (call $charge (local.get 0)) i64.const 0)
               {RETURN_7}"#
        )),
        &[("spin", 0), ("fill", 0), ("work", 1), ("k", 0)],
    );
    for (kernel, bound, ends_at) in [(0, 50_000, 50_000), (0, 0, 10_000_000), (1, u64::MAX, 10_000_000)] {
        let (step, slices) = run(&mut *role, kernel, &[], bound);
        assert_eq!(fault(&step), RoleFault::Fuel);
        assert!(matches!(step, Step::Failed { cycles, .. } if cycles == ends_at), "{step:?}");
        assert!(slices > 2, "{slices}");
        assert_serves(&mut *role, 3);
    }
    // Charged cycles count as well as fuel.
    assert!(matches!(run(&mut *role, 2, &[1000], 1000).0, Step::Done { cycles: 1000, .. }));
    for cycles in [1001, i64::MAX.cast_unsigned()] {
        let (step, _) = run(&mut *role, 2, &[cycles], 1000);
        assert!(matches!(step, Step::Failed { fault: RoleFault::Fuel, cycles: 1000, .. }), "{step:?}");
    }
    assert_serves(&mut *role, 3);
}

/// 100 MB that stand in for a bitstream cost the card neither memory nor compilation.
#[test]
fn ballast_is_skipped() {
    let plain = wasm(RETURN_7);
    let mut heavy = plain.clone();
    let length = 100_000_000u32;
    heavy.push(0);
    heavy.extend_from_slice(&leb(length + 8));
    heavy.extend_from_slice(b"\x07ballast");
    heavy.resize(heavy.len() + length as usize, 0xa5);
    let sandbox = sandbox();
    for part in [&plain, &heavy] {
        let ddr = Ddr::new(DDR_BYTES).unwrap();
        let mut role =
            sandbox.prepare(&manifest(&[("k", 0)]), part, DDR_BYTES).unwrap().activate(&ddr.handle()).unwrap();
        assert_serves(&mut *role, 0);
    }
    assert_eq!(sandbox.modules_kept(), 1, "the same code is compiled once");
    heavy.truncate(heavy.len() - 1);
    assert!(matches!(sandbox.prepare(&manifest(&[("k", 0)]), &heavy, DDR_BYTES), Err(RoleError::Module(_))));
}

fn leb(value: u32) -> Vec<u8> {
    let low = (0..4).map(|n| (value >> (7 * n)) as u8 & 0x7f | 0x80);
    low.chain([(value >> 28) as u8]).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// Damage anywhere in a module is refused, or it is another module, which runs to some end.
    #[test]
    fn damaged_modules_never_panic(at in any::<prop::sample::Index>(), byte in any::<u8>(), cut in any::<bool>()) {
        let body = r#"(table 2 funcref) (func $f (export "k") (param i64) (result i64) (local i64)
            (loop (br_if 0 (i64.lt_u (local.tee 1 (i64.add (local.get 1) (i64.const 1))) (local.get 0))))
            (i64.store offset=8 (i32.const 16) (local.get 1)) (local.get 1)) (elem (i32.const 0) $f)
            (data (i32.const 8) "constants")"#;
        let mut part = wasm(body);
        let at = at.index(part.len());
        part[at] = byte;
        if cut {
            part.truncate(at);
        }
        let ddr = Ddr::new(DDR_BYTES).unwrap();
        if let Ok(prepared) = sandbox().prepare(&manifest(&[("k", 1)]), &part, DDR_BYTES) {
            let mut role = prepared.activate(&ddr.handle()).unwrap();
            let (step, _) = run(&mut *role, 0, &[100], 100_000);
            prop_assert!(step != Step::Running);
        }
    }
}
