//! Order, waiting, callbacks and times; over both transports.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right, or wrong on purpose where that is checked")]

#[macro_use]
mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::time::Duration;

use common::{Bench, NEXT};
use opencl_sys::*;

#[test]
fn a_manager_process() {
    common::be_a_manager();
}

const OUT_OF_ORDER: u64 = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;

fn write(bench: &Bench, queue: cl_command_queue, buffer: cl_mem, byte: &'static u8, waits: &[cl_event]) -> cl_event {
    let mut event = null_mut();
    let list = if waits.is_empty() { null() } else { waits.as_ptr() };
    let (from, count) = ((&raw const *byte).cast(), waits.len() as u32);
    ok!(bench.cl, clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, 1, from, count, list, &raw mut event));
    event
}

#[test]
fn a_user_event_holds_back_all_that_depends_on_it_and_nothing_else() {
    for bench in Bench::each(0) {
        let (a, b) = (bench.filled(&[1]), bench.filled(&[1]));
        let free = make!(bench.cl, clCreateCommandQueue(bench.context, bench.devices[0], 0));
        let gate = bench.user_event();
        assert_eq!(bench.status(gate), CL_SUBMITTED);
        let first = write(&bench, bench.queue(), a, &2, &[gate]);
        let second = write(&bench, bench.queue(), a, &3, &[]);
        let third = write(&bench, free, b, &4, &[first]);
        let other = make!(bench.cl, clCreateCommandQueue(bench.context, bench.devices[0], 0));
        assert_eq!(bench.read(other, a, 1), [1], "another queue goes on");
        assert_eq!([first, second, third].map(|e| bench.status(e)), [CL_QUEUED; 3]);
        ok!(bench.cl, clFlush(bench.queue()));
        std::thread::scope(|scope| {
            let gate = gate.addr();
            let cl = bench.cl;
            scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                ok!(cl, clSetUserEventStatus(gate as cl_event, CL_COMPLETE));
            });
            ok!(bench.cl, clWaitForEvents(1, [second].as_ptr()));
        });
        assert_eq!(bench.read(other, a, 1), [3], "in the queue's order");
        ok!(bench.cl, clWaitForEvents(1, [third].as_ptr()));
        assert_eq!(bench.read(other, b, 1), [4]);
        assert_eq!(cl!(bench.cl, clSetUserEventStatus(gate, CL_COMPLETE)), CL_INVALID_OPERATION);
        [gate, first, second, third].iter().for_each(|e| ok!(bench.cl, clReleaseEvent(*e)));
        [free, other].iter().for_each(|q| ok!(bench.cl, clReleaseCommandQueue(*q)));
        [a, b].iter().for_each(|m| ok!(bench.cl, clReleaseMemObject(*m)));
    }
}

#[test]
fn a_failed_event_fails_what_waits_for_it() {
    for bench in Bench::each(0) {
        let a = bench.filled(&[1]);
        let gate = bench.user_event();
        let held = write(&bench, bench.queue(), a, &2, &[gate]);
        ok!(bench.cl, clSetUserEventStatus(gate, -77));
        let late = write(&bench, bench.queue(), a, &3, &[gate]);
        let chained = write(&bench, bench.queue(), a, &4, &[held]);
        let after = write(&bench, bench.queue(), a, &5, &[]);
        let failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
        assert_eq!(cl!(bench.cl, clWaitForEvents(2, [held, after].as_ptr())), failed);
        assert_eq!([held, late, chained].map(|e| bench.status(e)), [failed; 3]);
        assert_eq!(bench.status(gate), -77);
        assert_eq!(bench.read(bench.queue(), a, 1), [5]);
        let mut byte = 0u8;
        let to = (&raw mut byte).cast();
        let waits = [gate];
        let code =
            cl!(bench.cl, clEnqueueReadBuffer(bench.queue(), a, CL_TRUE, 0, 1, to, 1, waits.as_ptr(), null_mut()));
        assert_eq!(code, failed, "a blocking call");
        [gate, held, late, chained, after].iter().for_each(|e| ok!(bench.cl, clReleaseEvent(*e)));
        ok!(bench.cl, clReleaseMemObject(a));
    }
}

#[test]
fn barriers_and_markers_order_an_out_of_order_queue() {
    for bench in Bench::each(OUT_OF_ORDER) {
        let queue = bench.queue();
        let (a, b) = (bench.filled(&[1]), bench.filled(&[1]));
        let gate = bench.user_event();
        let held = write(&bench, queue, a, &2, &[gate]);
        let free = write(&bench, queue, b, &3, &[]);
        ok!(bench.cl, clWaitForEvents(1, [free].as_ptr()));
        let (mut marker, mut barrier) = (null_mut(), null_mut());
        ok!(bench.cl, clEnqueueMarkerWithWaitList(queue, 0, null(), &raw mut marker));
        ok!(bench.cl, clEnqueueBarrierWithWaitList(queue, 0, null(), &raw mut barrier));
        let behind = write(&bench, queue, a, &4, &[]);
        assert_eq!([held, marker, barrier, behind].map(|e| bench.status(e)), [CL_QUEUED; 4]);
        ok!(bench.cl, clSetUserEventStatus(gate, CL_COMPLETE));
        ok!(bench.cl, clFinish(queue));
        assert_eq!([held, marker, barrier, behind].map(|e| bench.status(e)), [CL_COMPLETE; 4]);
        assert_eq!((bench.read(queue, a, 1), bench.read(queue, b, 1)), (vec![4], vec![3]));
        ok!(bench.cl, clEnqueueBarrier(queue));
        ok!(bench.cl, clEnqueueWaitForEvents(queue, 1, [behind].as_ptr()));
        let wrong = cl!(bench.cl, clEnqueueWaitForEvents(queue, 1, [queue].as_ptr()));
        assert_eq!(wrong, CL_INVALID_EVENT);
        assert_eq!(cl!(bench.cl, clEnqueueMarker(queue, null_mut())), CL_INVALID_VALUE);
        ok!(bench.cl, clFinish(queue));
        [gate, held, free, marker, barrier, behind].iter().for_each(|e| ok!(bench.cl, clReleaseEvent(*e)));
        [a, b].iter().for_each(|m| ok!(bench.cl, clReleaseMemObject(*m)));
    }
}

type Told = (usize, i32);

/// A callback may still be at work with what it was given when what it has told is here already.
fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

extern "C" fn tell(event: cl_event, status: i32, to: *mut c_void) {
    let to = unsafe { &*to.cast::<Sender<Told>>() };
    let _ = to.send((event.addr(), status));
}

fn on(bench: &Bench, event: cl_event, at: i32, to: &Sender<Told>) {
    ok!(bench.cl, clSetEventCallback(event, at, Some(tell), (&raw const *to).cast_mut().cast()));
}

fn next(from: &Receiver<Told>) -> Told {
    from.recv_timeout(Duration::from_secs(30)).expect("a callback that does not come")
}

#[test]
fn callbacks_come_once_in_order_and_with_the_status() {
    for bench in Bench::each(0) {
        let a = bench.filled(&[1]);
        let (to, from) = channel();
        let to = leaked(to);
        let gate = bench.user_event();
        let held = write(&bench, bench.queue(), a, &2, &[gate]);
        for at in [CL_COMPLETE, CL_SUBMITTED, CL_RUNNING] {
            on(&bench, held, at, to);
        }
        assert!(from.recv_timeout(Duration::from_millis(50)).is_err(), "nothing has happened yet");
        ok!(bench.cl, clSetUserEventStatus(gate, CL_COMPLETE));
        let told: Vec<i32> = (0..3).map(|_| next(&from).1).collect();
        assert_eq!(told, [CL_SUBMITTED, CL_RUNNING, CL_COMPLETE]);
        // Set when it has ended: at once. No flush was asked for anywhere.
        on(&bench, held, CL_COMPLETE, to);
        assert_eq!(next(&from), (held.addr(), CL_COMPLETE));
        let failed = bench.user_event();
        on(&bench, failed, CL_COMPLETE, to);
        ok!(bench.cl, clSetUserEventStatus(failed, -5));
        assert_eq!(next(&from), (failed.addr(), -5));
        let unflushed = write(&bench, bench.queue(), a, &9, &[]);
        on(&bench, unflushed, CL_COMPLETE, to);
        assert_eq!(next(&from), (unflushed.addr(), CL_COMPLETE));
        assert!(from.recv_timeout(Duration::from_millis(20)).is_err());
        assert_eq!(cl!(bench.cl, clSetEventCallback(held, CL_QUEUED, Some(tell), null_mut())), CL_INVALID_VALUE);
        assert_eq!(cl!(bench.cl, clSetEventCallback(held, CL_COMPLETE, None, null_mut())), CL_INVALID_VALUE);
        [gate, held, failed, unflushed].iter().for_each(|e| ok!(bench.cl, clReleaseEvent(*e)));
        ok!(bench.cl, clReleaseMemObject(a));
    }
}

extern "C" fn gone(what: *mut c_void, to: *mut c_void) {
    let to = unsafe { &*to.cast::<(i32, Sender<Told>)>() };
    let _ = to.1.send((what.addr(), to.0));
}

#[test]
fn destructors_are_told_the_last_first_when_the_last_command_has_ended() {
    let (to, from) = channel();
    for bench in Bench::each(0) {
        let [one, two, context] = [1, 2, 3].map(|number| leaked((number, to.clone())));
        let data = |d: &(i32, Sender<Told>)| (&raw const *d).cast_mut().cast();
        let a = bench.filled(&[1]);
        ok!(bench.cl, clSetMemObjectDestructorCallback(a, Some(gone), data(one)));
        ok!(bench.cl, clSetMemObjectDestructorCallback(a, Some(gone), data(two)));
        ok!(bench.cl, clSetContextDestructorCallback(bench.context, Some(gone), data(context)));
        let gate = bench.user_event();
        let held = write(&bench, bench.queue(), a, &2, &[gate]);
        ok!(bench.cl, clReleaseMemObject(a));
        assert!(from.recv_timeout(Duration::from_millis(50)).is_err(), "a command still has it");
        ok!(bench.cl, clSetUserEventStatus(gate, CL_COMPLETE));
        assert_eq!((next(&from), next(&from)), ((a.addr(), 2), (a.addr(), 1)));
        ok!(bench.cl, clWaitForEvents(1, [held].as_ptr()));
        [gate, held].iter().for_each(|e| ok!(bench.cl, clReleaseEvent(*e)));
        let handle = bench.context.addr();
        drop(bench);
        assert_eq!(next(&from), (handle, 3));
    }
}

#[test]
fn what_waits_for_an_event_that_nobody_can_set_any_more_goes_with_the_context() {
    for late in [false, true] {
        let (to, from) = channel();
        for bench in Bench::each(0) {
            let cl = bench.cl;
            let mark = |number: i32| (&raw const *leaked((number, to.clone()))).cast_mut().cast();
            let context = make!(cl, clCreateContext(null(), 1, bench.devices.as_ptr(), None, null_mut()));
            ok!(cl, clSetContextDestructorCallback(context, Some(gone), mark(2)));
            let queue = make!(cl, clCreateCommandQueue(context, bench.devices[0], 0));
            let a = make!(cl, clCreateBuffer(context, 0, 1, null_mut()));
            ok!(cl, clSetMemObjectDestructorCallback(a, Some(gone), mark(1)));
            let gate = make!(cl, clCreateUserEvent(context));
            let held = write(&bench, queue, a, &2, &[gate]);
            ok!(cl, clReleaseCommandQueue(queue));
            ok!(cl, clReleaseMemObject(a));
            // Whichever goes last.
            if late {
                ok!(cl, clReleaseContext(context));
                assert_eq!([gate, held].map(|e| bench.status(e)), [CL_SUBMITTED, CL_QUEUED], "it may still be set");
                ok!(cl, clReleaseEvent(gate));
            } else {
                ok!(cl, clReleaseEvent(gate));
                assert_eq!(bench.status(held), CL_QUEUED, "as the specification says");
                ok!(cl, clReleaseContext(context));
            }
            assert_eq!(next(&from).1, 1, "the buffer");
            let failed = CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST;
            assert_eq!(cl!(cl, clWaitForEvents(1, [held].as_ptr())), failed);
            assert_eq!(bench.status(held), failed);
            ok!(cl, clReleaseEvent(held));
            assert_eq!(next(&from).1, 2, "and the context behind it");
        }
    }
}

#[test]
fn times_follow_each_other_and_are_told_only_where_asked_for() {
    for bench in Bench::each(CL_QUEUE_PROFILING_ENABLE) {
        let kernel = bench.kernel(NEXT, "next");
        let a = bench.filled(&vec![0; 3 << 20]);
        bench.set(kernel, 0, &a);
        let events: Vec<_> = (0..8).map(|_| bench.launch(bench.queue(), kernel, 3 << 20, &[])).collect();
        let time = |event, name| {
            let mut value = 0u64;
            let to = (&raw mut value).cast();
            let code = cl!(bench.cl, clGetEventProfilingInfo(event, name, 8, to, null_mut()));
            if code == 0 { Ok(value) } else { Err(code) }
        };
        ok!(bench.cl, clFinish(bench.queue()));
        let names = CL_PROFILING_COMMAND_QUEUED..=CL_PROFILING_COMMAND_COMPLETE;
        let times: Vec<u64> = names.map(|name| time(events[0], name).unwrap()).collect();
        assert!(times.is_sorted() && times[3] > times[2], "{times:?}");
        let spans = events.iter().map(|e| [CL_PROFILING_COMMAND_START, CL_PROFILING_COMMAND_END].map(|t| time(*e, t)));
        let spans: Vec<u64> = spans.flatten().map(Result::unwrap).collect();
        assert!(spans.is_sorted(), "one after the other: {spans:?}");
        // By the manager's own times each would begin at the very nanosecond at which it knows the end of the last.
        assert!((1..8).any(|at| spans[2 * at] > spans[2 * at - 1]), "not the board's times: {spans:?}");
        let (mut device, mut host) = (0, 0);
        ok!(bench.cl, clGetDeviceAndHostTimer(bench.devices[0], &raw mut device, &raw mut host));
        assert!(times[3] <= device && device - times[3] < 60_000_000_000, "in the same clock: {times:?} {device}");
        let plain = make!(bench.cl, clCreateCommandQueue(bench.context, bench.devices[0], 0));
        let silent = bench.launch(plain, kernel, 1, &[]);
        ok!(bench.cl, clFinish(plain));
        assert_eq!(time(silent, CL_PROFILING_COMMAND_START), Err(CL_PROFILING_INFO_NOT_AVAILABLE));
        events.iter().chain([&silent]).for_each(|e| ok!(bench.cl, clReleaseEvent(*e)));
        ok!(bench.cl, clReleaseCommandQueue(plain));
        ok!(bench.cl, clReleaseMemObject(a));
        ok!(bench.cl, clReleaseKernel(kernel));
    }
}

#[test]
fn many_threads_and_more_operations_than_the_manager_takes_at_a_time() {
    for bench in Bench::each(0) {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                let bench = &bench;
                scope.spawn(move || {
                    let own = Bench::of(bench.cl, &bench.devices, 0);
                    let kernel = own.kernel(NEXT, "next");
                    let a = own.filled(&[0; 8]);
                    own.set(kernel, 0, &a);
                    // Not one flush: the library has to see to it that there is room.
                    for _ in 0..5000 {
                        ok!(own.cl, clReleaseEvent(own.launch(own.queue(), kernel, 8, &[])));
                    }
                    assert_eq!(own.read(own.queue(), a, 8), [(5000 % 256) as u8; 8]);
                    ok!(own.cl, clReleaseMemObject(a));
                    ok!(own.cl, clReleaseKernel(kernel));
                });
            }
        });
    }
}

/// The variable that has this program be the one of the next test.
const ENDS: &str = "RACKLOOM_TEST_ENDS";

/// Releases a buffer and ends at once.
#[test]
fn a_program_that_ends_at_once() {
    extern "C" fn gone(_: cl_mem, _: *mut c_void) {
        std::thread::sleep(Duration::from_millis(200));
        eprintln!("the buffer is gone");
    }
    if std::env::var_os(ENDS).is_none() {
        return;
    }
    for bench in Bench::each(0) {
        let buffer = bench.filled(&[1; 8]);
        ok!(bench.cl, clSetMemObjectDestructorCallback(buffer, Some(gone), null_mut()));
        eprintln!("a buffer is released");
        ok!(bench.cl, clReleaseMemObject(buffer));
    }
    unsafe { libc::exit(0) };
}

#[test]
fn what_is_due_when_a_program_ends_is_still_called() {
    let mut program = std::process::Command::new(std::env::current_exe().unwrap());
    program.args(["--exact", "a_program_that_ends_at_once", "--nocapture"]).env(ENDS, "1");
    let output = program.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    let ways = said.matches("a buffer is released").count();
    assert!(ways >= 2, "{said}");
    assert_eq!(said.matches("the buffer is gone").count(), ways, "{said}");
}
