//! `rackloom stream`: messages between nodes.

use std::io::BufRead as _;
use std::time::{Duration, Instant};

use bytes::Bytes;
use rackloom::{MacAddr, Pending, Rma};
use schemars::JsonSchema;
use serde::Serialize;

use super::rma::{attach, connect};
use crate::args::{StreamReceive, StreamSend};
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Result};
use crate::format;

/// What was sent.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct SentReport {
    /// `rackloom.stream-sent/1`
    schema: &'static str,
    /// The receiver's address.
    peer: String,
    /// This node's address.
    node: String,
    /// Messages.
    messages: u64,
    /// Their bytes.
    bytes: u64,
    /// How long it took, seconds.
    seconds: f64,
}

/// A message that has come.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MessageReport {
    /// `rackloom.stream-message/1`
    schema: &'static str,
    /// The sender's address.
    from: String,
    /// The message, in hexadecimal.
    hex: String,
}

/// Bytes of a file in one message: roles take messages of 9014 bytes, and a card drops what is longer.
const PIECE: usize = 8 << 10;
/// Messages on their way at once.
const AHEAD: usize = 32;

pub(super) fn send(cx: &Context, args: &StreamSend) -> Result<Exit> {
    let (rma, peer) = connect(cx, &args.node, &args.peer)?;
    let mut sending = Sending { rma: &rma, peer, stream: args.stream, ahead: Vec::new(), messages: 0, bytes: 0 };
    let started = Instant::now();
    match &args.file {
        Some(file) => {
            let data = Bytes::from(std::fs::read(file).during(format!("cannot read {}", file.display()))?);
            let mut from = 0;
            while from < data.len() {
                let to = data.len().min(from + PIECE);
                sending.push(data.slice(from..to))?;
                from = to;
            }
        }
        None => {
            for line in std::io::stdin().lock().split(b'\n') {
                sending.push(line.during("cannot read the standard input")?.into())?;
            }
        }
    }
    let (messages, bytes) = sending.end()?;
    let report = SentReport {
        schema: "rackloom.stream-sent/1",
        peer: peer.to_string(),
        node: rma.mac().to_string(),
        messages,
        bytes,
        seconds: started.elapsed().as_secs_f64(),
    };
    cx.ui.result(&report, || {
        let rate = format::rate(bytes, Duration::from_secs_f64(report.seconds));
        format!("sent {messages} messages, {} to {peer} ({rate})\n", format::bytes(bytes))
    });
    Ok(Exit::Ok)
}

struct Sending<'a> {
    rma: &'a Rma,
    peer: MacAddr,
    stream: u16,
    ahead: Vec<Pending<()>>,
    messages: u64,
    bytes: u64,
}

impl Sending<'_> {
    fn push(&mut self, message: Bytes) -> Result<()> {
        if self.ahead.len() >= AHEAD {
            self.ahead.remove(0).wait()?;
        }
        self.messages += 1;
        self.bytes += message.len() as u64;
        self.ahead.push(self.rma.send(self.peer, self.stream, message));
        Ok(())
    }

    /// Messages and bytes, once the receiver has acknowledged all.
    fn end(self) -> Result<(u64, u64)> {
        for pending in self.ahead {
            pending.wait()?;
        }
        self.rma.flush(self.peer).wait()?;
        Ok((self.messages, self.bytes))
    }
}

pub(super) fn receive(cx: &Context, args: &StreamReceive) -> Result<Exit> {
    let rma = attach(cx, &args.node)?;
    let messages = rma.open_stream(args.stream, args.from.unwrap_or(MacAddr::ZERO))?;
    cx.ui.say(format!("stream {} of {} is open", args.stream, rma.mac()));
    let mut left = args.count.unwrap_or(u64::MAX);
    while left > 0 {
        let (from, bytes) = messages.next()?;
        left -= 1;
        if cx.global.json {
            let from = from.to_string();
            cx.ui.json(&MessageReport { schema: "rackloom.stream-message/1", from, hex: format::hex(&bytes) });
        } else {
            cx.ui.bytes(&[&bytes[..], b"\n"].concat());
        }
    }
    Ok(Exit::Ok)
}
