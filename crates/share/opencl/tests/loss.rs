//! A manager that is killed, one that is not there, a quota, and a child of a fork.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Sender, channel};
use std::time::{Duration, Instant};

use common::{Bench, Cl, Manager, NEXT, open};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

/// All in one, since a process has one library and this one's manager comes and goes.
#[test]
fn a_lost_manager_gives_errors_and_a_new_one_new_devices() {
    let folder = tempfile::tempdir().unwrap();
    let socket = format!("unix:{}", folder.path().join("m.sock").display());
    let cl = open(&[socket.clone(), "unix:/nonexistent/manager.sock".into()]);
    let began = Instant::now();
    assert!(cl.devices().is_empty() && began.elapsed() < Duration::from_secs(2), "nobody is there");

    let limits = ["--objects", "8", "--memory", "1048576", "--operations", "16"];
    let mut manager = Manager::start(&[&socket], &limits);
    let devices = cl.devices();
    assert_eq!((devices.len(), cl.devices()), (1, devices.clone()), "the same as long as it lives");
    let bench = Bench::of(cl, &devices, 0);
    quotas(&bench);
    forks(&bench);

    // Two contexts want to hear of errors, and one of them is gone by then.
    let (to, from) = channel::<(u8, String)>();
    let [kept, _released] = [1, 2].map(|mark| {
        let data = (&raw const *Box::leak(Box::new((mark, to.clone())))).cast_mut().cast();
        let context = make!(cl, clCreateContext(null(), 1, devices.as_ptr(), Some(told), data));
        if mark == 2 {
            ok!(cl, clReleaseContext(context));
        }
        context
    });

    let kernel = bench.kernel(NEXT, "next");
    let a = bench.filled(&[0; 8]);
    bench.set(kernel, 0, &a);
    let gate = bench.user_event();
    let held = bench.launch(bench.queue(), kernel, 8, &[gate]);
    let waiter = {
        let (cl, held) = (cl, held.addr());
        std::thread::spawn(move || cl!(cl, clWaitForEvents(1, [held as cl_event].as_ptr())))
    };
    std::thread::sleep(Duration::from_millis(50));
    let killed = Instant::now();
    manager.kill();
    assert_eq!(waiter.join().unwrap(), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    assert!(killed.elapsed() < Duration::from_secs(1), "{:?}", killed.elapsed());
    assert_eq!(bench.status(held), CL_DEVICE_NOT_AVAILABLE);
    let (mark, text) = from.recv_timeout(Duration::from_secs(1)).unwrap();
    assert!(mark == 1 && text.contains(&socket) && text.contains("lost"), "{mark}: {text}");
    assert!(from.recv_timeout(Duration::from_millis(100)).is_err(), "told once, and only who is there");
    ok!(cl, clReleaseContext(kept));
    assert_eq!(cl!(cl, clFinish(bench.queue())), CL_DEVICE_NOT_AVAILABLE);
    let lost = cl!(cl, clEnqueueMarkerWithWaitList(bench.queue(), 0, null(), null_mut()));
    assert_eq!(lost, CL_DEVICE_NOT_AVAILABLE);
    let mut code = 0;
    cl!(cl, clCreateBuffer(bench.context, 0, 8, null_mut(), &raw mut code));
    assert_eq!(code, CL_DEVICE_NOT_AVAILABLE);
    let mut available = 7u32;
    ok!(cl, clGetDeviceInfo(devices[0], CL_DEVICE_AVAILABLE, 4, (&raw mut available).cast(), null_mut()));
    assert_eq!(available, 0);
    ok!(cl, clSetUserEventStatus(gate, 0));
    [gate, held].iter().for_each(|e| ok!(cl, clReleaseEvent(*e)));
    ok!(cl, clReleaseMemObject(a));
    ok!(cl, clReleaseKernel(kernel));
    drop(bench);
    assert!(cl.devices().is_empty());

    let manager = Manager::start(&[&socket], &[]);
    let fresh = cl.devices();
    assert!(fresh.len() == 1 && fresh != devices);
    let bench = Bench::of(cl, &fresh, 0);
    let a = bench.filled(&[3; 8]);
    assert_eq!(bench.read(bench.queue(), a, 8), [3; 8]);
    ok!(cl, clReleaseMemObject(a));
    drop((bench, manager));
    (0..8).for_each(|_| loses_at_once(cl, &socket));
}

/// Whoever hears of the loss first finds no device that is lost.
fn loses_at_once(cl: Cl, socket: &str) {
    let mut manager = Manager::start(&[socket], &[]);
    let devices = cl.devices();
    assert_eq!(devices.len(), 1);
    let bench = Bench::of(cl, &devices, 0);
    let queues: Vec<_> = (0..4).map(|_| make!(cl, clCreateCommandQueue(bench.context, devices[0], 0)).addr()).collect();
    std::thread::scope(|scope| {
        for queue in &queues {
            let device = devices[0].addr();
            scope.spawn(move || {
                let queue = *queue as cl_command_queue;
                let start = Instant::now();
                loop {
                    let sent = cl!(cl, clEnqueueMarkerWithWaitList(queue, 0, null(), null_mut()));
                    if sent != 0 || cl!(cl, clFlush(queue)) != 0 {
                        break;
                    }
                    std::thread::sleep(Duration::from_micros(100)); // One that waits hears of it later.
                    assert!(start.elapsed() < Duration::from_secs(60));
                }
                assert!(!cl.devices().iter().any(|found| found.addr() == device), "it is lost");
            });
        }
        std::thread::sleep(Duration::from_millis(20));
        manager.kill();
    });
    queues.iter().for_each(|queue| ok!(cl, clReleaseCommandQueue(*queue as cl_command_queue)));
}

/// The error callback of a context.
extern "C" fn told(text: *const c_char, _: *const c_void, _: usize, to: *mut c_void) {
    let (mark, to) = unsafe { &*to.cast::<(u8, Sender<(u8, String)>)>() };
    let _ = to.send((*mark, unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()));
}

fn quotas(bench: &Bench) {
    let cl = bench.cl;
    let make = |size| {
        let mut code = 1;
        let made = cl!(cl, clCreateBuffer(bench.context, 0, size, null_mut(), &raw mut code));
        (code, made)
    };
    assert_eq!(make((1 << 19) + 1).0, CL_INVALID_BUFFER_SIZE);
    let halves = [make(1 << 19).1, make(1 << 19).1];
    assert_eq!(make(1).0, CL_MEM_OBJECT_ALLOCATION_FAILURE);
    halves.iter().for_each(|m| ok!(cl, clReleaseMemObject(*m)));
    let many: Vec<cl_mem> = (0..8).map(|_| make(1).1).collect();
    assert_eq!(make(1).0, CL_OUT_OF_RESOURCES);
    many.iter().for_each(|m| ok!(cl, clReleaseMemObject(*m)));
    let (code, again) = make(1 << 19);
    assert_eq!(code, 0, "what was released can be had again");
    ok!(cl, clReleaseMemObject(again));
    // More than 16 operations that wait for nothing but a flush.
    for _ in 0..100 {
        ok!(cl, clEnqueueMarkerWithWaitList(bench.queue(), 0, null(), null_mut()));
    }
    ok!(cl, clFinish(bench.queue()));
}

/// In the child old handles are wrong, and new devices can be had.
fn forks(bench: &Bench) {
    let cl = bench.cl;
    let child = unsafe { libc::fork() };
    if child == 0 {
        let stale = cl!(cl, clFinish(bench.queue())) == CL_INVALID_COMMAND_QUEUE
            && cl!(cl, clRetainContext(bench.context)) == CL_INVALID_CONTEXT;
        let own = Bench::of(cl, &cl.devices(), 0);
        let buffer = own.filled(&[5; 8]);
        let works = own.read(own.queue(), buffer, 8) == [5; 8];
        unsafe { libc::_exit(i32::from(!stale) + 2 * i32::from(!works)) };
    }
    let mut status = 1;
    let until = Instant::now() + Duration::from_secs(10);
    while unsafe { libc::waitpid(child, &raw mut status, libc::WNOHANG) } == 0 {
        assert!(Instant::now() < until, "the child hangs");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(status, 0, "old handles work in a child, or new ones do not");
}
