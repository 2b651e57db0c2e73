//! A manager that refuses a board says why, and the program's log has it.
#![allow(unsafe_code)]
#![allow(clippy::undocumented_unsafe_blocks, reason = "arguments are right")]

#[macro_use]
mod common;

use std::process::Command;
use std::time::{Duration, Instant};

use opencl_sys::*;
use rackloom_ipc::{Batch, Endpoint, Peer, Server, ServerConfig};
use rackloom_opencl_wire::{Answer, BoardInfo, Command as Asked, Limits, REPLY, Reply, decode_command, encode_reply};

/// Where the program finds the manager, in the process that is one.
const PROGRAM: &str = "RACKLOOM_TEST_PROGRAM";
const WHY: &str = "another tenant has this board for itself; try again when that is gone";

/// A program that looks for devices, if [`a_refusal_is_in_the_programs_log`] has started this one.
#[test]
fn a_program() {
    let Ok(manager) = std::env::var(PROGRAM) else { return };
    let cl = common::open(&[manager]);
    let mut count = 0;
    cl!(cl, clGetDeviceIDs(cl.platform, CL_DEVICE_TYPE_ALL, 0, std::ptr::null_mut(), &raw mut count));
    println!("{count} devices");
}

/// Serves one client: it may know the board, and does not get it.
fn refuse(peer: &Peer) {
    let answer = |reply: &Reply| {
        let mut bytes = Vec::new();
        encode_reply(reply, &[], &mut bytes);
        peer.send(REPLY, &bytes).unwrap();
    };
    let mut batch = Batch::new();
    loop {
        batch.clear();
        if !peer.recv(Some(Instant::now() + Duration::from_secs(20)), &mut batch).is_ok_and(|got| got > 0) {
            return;
        }
        for (_, body) in batch.iter() {
            let (request, said) = match decode_command(body).unwrap().0 {
                Asked::Hello { request, .. } => {
                    let limits = Limits { memory: 1, objects: 1, operations: 1, program: 1 };
                    (request, Ok(Answer::Welcome { boards: 1, limits, software: "a test".to_owned() }))
                }
                Asked::Board { request, .. } => {
                    let (name, device, platform) = ("a board".to_owned(), Vec::new(), Vec::new());
                    (
                        request,
                        Ok(Answer::Board(BoardInfo { name, device, platform, shares_memory: false, registers: false })),
                    )
                }
                Asked::Open { request, .. } => (request, Err(CL_DEVICE_NOT_AVAILABLE)),
                other => panic!("{other:?}"),
            };
            let is_over = said.is_err();
            answer(&Reply::Answer { request, answer: said });
            if is_over {
                std::thread::sleep(Duration::from_millis(100)); // The program has its answer by then.
                answer(&Reply::Farewell { reason: WHY.to_owned() });
                return peer.close();
            }
        }
    }
}

#[test]
fn a_refusal_is_in_the_programs_log() {
    let folder = tempfile::tempdir().unwrap();
    for to in [Endpoint::Unix(folder.path().join("s")), Endpoint::Tcp("127.0.0.1:0".parse().unwrap())] {
        let server = Server::bind(&to, ServerConfig::default()).unwrap();
        let mut program = Command::new(std::env::current_exe().unwrap());
        program.args(["--exact", "a_program", "--nocapture"]);
        program.env(PROGRAM, server.endpoint().to_string()).env("RACKLOOM_LOG", "1");
        let said = std::thread::scope(|scope| {
            scope.spawn(|| {
                while let Ok(Some(peer)) = server.accept(None) {
                    refuse(&peer);
                }
            });
            let said = program.output().unwrap();
            server.stop();
            said
        });
        let (out, log) = (String::from_utf8_lossy(&said.stdout), String::from_utf8_lossy(&said.stderr));
        assert!(out.contains("0 devices"), "{out}{log}");
        assert!(log.contains(WHY), "{log}");
    }
}
