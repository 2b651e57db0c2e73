//! Shared virtual memory: no other tenant's bytes are in it, and no kernel gets an address that is not its tenant's.

use opencl_sys::*;
use rackloom_manager::scheduler::Policy;
use rackloom_opencl_wire::{Answer, Argument, Command, Op, Place};

use crate::common::{Daemon, LIMITS, Tenant};

/// Makes shared virtual memory; its address.
fn svm(tenant: &Tenant, buffer: u32, size: u64) -> Result<u64, i32> {
    svm_of(tenant, buffer, size, None)
}

fn svm_of(tenant: &Tenant, buffer: u32, size: u64, backing: Option<Place>) -> Result<u64, i32> {
    match tenant.ask(|request| Command::CreateSvm { request, buffer, flags: 1, size, backing }) {
        Ok(Answer::Svm { address }) => Ok(address),
        Ok(other) => panic!("{other:?}"),
        Err(code) => Err(code),
    }
}

#[test]
fn shared_virtual_memory_passes_on_without_bytes() {
    let daemon = Daemon::start(Policy::Fair);
    let size = 1 << 20;
    for round in 0..4u8 {
        let first = daemon.client();
        for memory in 0..4 {
            svm(&first, memory, size).unwrap();
            let pattern = [0xa5 ^ round];
            assert_eq!(first.run(Op::Fill { buffer: memory, offset: 0, len: size, pattern: &pattern }, &[]).status, 0);
        }
        drop(first);
        let second = daemon.client();
        second.build(0, "kernel void k(global uchar *x, global ulong *at) { x[0] = ((global uchar *)at[0])[70]; }");
        second.send(&Command::CreateKernel { kernel: 0, program: 0, name: "k" }, &[]);
        for memory in 0..4 {
            let address = svm(&second, memory, size).unwrap();
            if memory % 2 == 0 {
                // By a pointer in another memory, before anything else has touched it.
                second.buffer(9, 8);
                second.buffer(8, 1);
                assert_eq!(second.write(9, 0, &address.to_le_bytes()).status, 0);
                let arguments = vec![(0, Argument::Buffer(Some(8))), (1, Argument::Buffer(Some(9)))];
                let mut launch = Tenant::launch(0, 1, arguments);
                let Op::Launch { reaches, .. } = &mut launch else { unreachable!() };
                *reaches = Some(vec![memory]);
                assert_eq!(second.run(launch, &[]).status, 0);
                assert_eq!(second.read(8, 0, 1).tail, [0], "memory {memory}");
                [8, 9].iter().for_each(|buffer| second.send(&Command::ReleaseBuffer { buffer: *buffer }, &[]));
            }
            assert_eq!(second.read(memory, size - 4096, 4096).tail, [0; 4096], "memory {memory}");
        }
    }
}

#[test]
fn no_kernel_gets_an_address_that_is_not_of_its_tenants_shared_memory() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    t.build(0, "kernel void k(global int *x, ulong n) { x[0] = (int)n; }");
    t.send(&Command::CreateKernel { kernel: 0, program: 0, name: "k" }, &[]);
    t.buffer(0, 64);
    let address = svm(&t, 1, 100).unwrap();
    assert!(address != 0 && address.is_multiple_of(4096));
    let seven = 7u64.to_le_bytes();
    let good = vec![(0, Argument::Svm { memory: 1, offset: 96 }), (1, Argument::Value(&seven))];
    let is_good = || {
        assert_eq!(t.run(Tenant::launch(0, 1, good.clone()), &[]).status, 0);
        assert_eq!(t.read(1, 96, 4).tail, [7, 0, 0, 0]);
    };
    is_good();
    let bad = [
        ((0, Argument::Svm { memory: 1, offset: 100 }), CL_INVALID_VALUE),
        ((0, Argument::Svm { memory: 1, offset: u64::MAX }), CL_INVALID_VALUE),
        ((0, Argument::Svm { memory: 0, offset: 0 }), CL_INVALID_ARG_VALUE),
        ((0, Argument::Svm { memory: 5, offset: 0 }), CL_INVALID_MEM_OBJECT),
        ((1, Argument::Svm { memory: 1, offset: 0 }), CL_INVALID_ARG_VALUE),
    ];
    for (argument, code) in bad {
        assert_eq!(t.run(Tenant::launch(0, 1, vec![argument.clone()]), &[]).status, code, "{argument:?}");
        is_good();
    }
    for wrong in [vec![0], vec![5], vec![1, 0]] {
        let mut launch = Tenant::launch(0, 1, vec![]);
        let Op::Launch { reaches, .. } = &mut launch else { unreachable!() };
        *reaches = Some(wrong.clone());
        assert_ne!(t.run(launch, &[]).status, 0, "{wrong:?}");
        is_good();
    }
    // Memory that is gone stays as long as a kernel has it as its argument.
    t.send(&Command::ReleaseBuffer { buffer: 1 }, &[]);
    assert_eq!(t.run(Tenant::launch(0, 1, vec![]), &[]).status, 0);
    assert_eq!(t.read(1, 0, 4).status, CL_INVALID_MEM_OBJECT);
}

#[test]
fn quotas_hold_for_shared_virtual_memory() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    for size in [0, LIMITS.memory + 1, u64::MAX, u64::MAX - 4096] {
        assert!(svm(&t, 0, size).is_err(), "{size} bytes");
        assert_ne!(t.read(0, 0, 1).status, 0, "it was not made");
        t.send(&Command::ReleaseBuffer { buffer: 0 }, &[]);
    }
    // They count for what they cost the board, which rounds up, and is asked for a page more.
    for (size, cost) in [(1, 2 << 20), (2 << 20, 4 << 20)] {
        let made = (0..LIMITS.objects).take_while(|memory| svm(&t, *memory, size).is_ok()).count() as u32;
        assert_eq!(u64::from(made), (LIMITS.memory / cost).min(LIMITS.objects.into()), "of {size} bytes");
        // Not with its client: one tenant's clients share a quota, and a session is cleared away after it has ended.
        (0..=made).for_each(|memory| t.send(&Command::ReleaseBuffer { buffer: memory }, &[]));
    }
}

#[test]
fn only_whole_pages_of_the_clients_own_take_the_place_of_the_boards() {
    let daemon = Daemon::start(Policy::Fair);
    let t = daemon.client();
    let bulk = t.bulk(5 * 4096);
    let skip = bulk.as_ptr().unwrap().addr().wrapping_neg() as u64 % 4096;
    let place = |offset, len| Some(bulk.publish(skip + offset, len).unwrap().into());
    for (size, offset, len) in [(4096, 128, 4096), (4096, 0, 4095), (4096, 0, 8192), (4097, 0, 4097), (0, 0, 4096)] {
        assert!(svm_of(&t, 0, size, place(offset, len)).is_err(), "{size} bytes of {len} at {offset}");
        assert_ne!(t.read(0, 0, 1).status, 0, "it was not made");
        t.send(&Command::ReleaseBuffer { buffer: 0 }, &[]);
    }
    for round in 0..50u8 {
        svm_of(&t, 0, 5000, place(4096, 8192)).unwrap();
        let bytes = [round; 8];
        assert_eq!(t.write(0, 4090, &bytes).status, 0);
        let (mut seen, at) = ([0; 8], skip + 4096 + 4090);
        bulk.get(&bulk.expect(0, bulk.len()).unwrap(), at, &mut seen).unwrap();
        assert_eq!(seen, bytes, "it is the same memory");
        bulk.put(at, &[!round]).unwrap();
        assert_eq!(t.read(0, 4090, 2).tail, [!round, round]);
        // Nor may it be mapped as a buffer with a backing.
        assert_ne!(t.run(Op::Map { buffer: 0, flags: 1, offset: 0, len: 8 }, &[]).status, 0);
        t.send(&Command::ReleaseBuffer { buffer: 0 }, &[]);
    }
    // What the runtime got back is its own again: most likely this is the same address.
    svm(&t, 0, 5000).unwrap();
    bulk.put(skip, &vec![0; 4 * 4096]).unwrap();
    assert_eq!(t.run(Op::Fill { buffer: 0, offset: 0, len: 5000, pattern: &[0xa5] }, &[]).status, 0);
    let mut seen = vec![1; 4 * 4096];
    bulk.get(&bulk.expect(0, bulk.len()).unwrap(), skip, &mut seen).unwrap();
    assert!(seen.iter().all(|byte| *byte == 0), "the client sees the runtime's memory");
    bulk.put(skip, &vec![1; 4 * 4096]).unwrap();
    assert_eq!(t.read(0, 0, 5000).tail, vec![0xa5; 5000]);
}
