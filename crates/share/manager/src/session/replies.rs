//! Replies to a client: answers to requests, and the reason when its session is ended.

use opencl_sys::CL_OUT_OF_RESOURCES;
use rackloom_ipc::Peer;
use rackloom_opencl_wire::{Answer, REPLY, Reply, encode_reply};

use crate::code::Code;

/// Answers a request.
pub(crate) fn answer_to(peer: &Peer, request: u32, answer: Result<Answer, Code>) {
    let mut message = Vec::new();
    let mut reply = Reply::Answer { request, answer: answer.map_err(|Code(code)| code) };
    encode_reply(&reply, &[], &mut message);
    // Of a kernel with thousands of arguments their names do not go into a message. It is launched without.
    if message.len() > rackloom_ipc::BODY_MAX
        && let Reply::Answer { answer: Ok(Answer::Kernel(info)), .. } = &mut reply
    {
        info.arguments = None;
        encode_reply(&reply, &[], &mut message);
    }
    // Too long then only if a runtime lists thousands of kernels; the client gets an error.
    if message.len() > rackloom_ipc::BODY_MAX {
        encode_reply(&Reply::Answer { request, answer: Err(CL_OUT_OF_RESOURCES) }, &[], &mut message);
    }
    let _ = peer.send(REPLY, &message); // A client that is gone is noticed by its session.
}

/// Ends a client's session and tells it why.
pub(crate) fn farewell(peer: &Peer, reason: &str) {
    let mut message = Vec::new();
    encode_reply(&Reply::Farewell { reason: reason.to_owned() }, &[], &mut message);
    let _ = peer.send(REPLY, &message);
    peer.close();
}
