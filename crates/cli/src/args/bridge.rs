//! Options of remote memory and streams.

use std::ffi::OsString;
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use clap::{Args, Subcommand, ValueHint};
use rackloom::MacAddr;
use rackloom_wire::bridge::STREAMS;

use super::parse;

#[derive(Debug, Subcommand)]
pub(crate) enum RmaAction {
    /// Claim a card and open a window onto its memory, until interrupted
    Open(RmaOpen),
    /// Read memory that is open to this node
    Read(RmaRead),
    /// Write a file to memory that is open to this node
    Write(RmaWrite),
    /// Add to 8 bytes of memory in one step, and show what was there
    Add(RmaAdd),
    /// Claim a card and run a program that has a window of its memory mapped
    Map(RmaMap),
}

/// This process as a node.
#[derive(Debug, Clone, Args)]
pub(crate) struct Node {
    /// This node's address, as a window names it; else a random one
    #[arg(long = "as", value_name = "ADDRESS")]
    pub(crate) mac: Option<MacAddr>,
    /// Use jumbo frames, which the peer has to take
    #[arg(long)]
    pub(crate) jumbo: bool,
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example:
  rackloom rma open card0 --rights read,write       in one terminal
  rackloom rma write card0 2M FILE                  in another")]
pub(crate) struct RmaOpen {
    /// The card, by name, unit number or address
    pub(crate) card: String,
    /// First address of the window
    #[arg(long, value_name = "ADDR", value_parser = parse::bytes, default_value = "1M")]
    pub(crate) base: u64,
    /// Bytes of the window; else all up to the end of the card's memory
    #[arg(long, value_name = "BYTES", value_parser = parse::bytes)]
    pub(crate) length: Option<u64>,
    /// The node that may use it; else anybody on the network
    #[arg(long = "for", value_name = "ADDRESS")]
    pub(crate) peer: Option<MacAddr>,
    /// What it may do
    #[arg(long, value_delimiter = ',', default_value = "read", value_name = "RIGHTS")]
    pub(crate) rights: Vec<Right>,
    /// Close it after this time instead of at Ctrl-C
    #[arg(long = "for-time", value_name = "TIME", value_parser = parse::duration)]
    pub(crate) time: Option<Duration>,
}

/// A right to memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Right {
    Read,
    Write,
    Atomic,
}

#[derive(Debug, Args)]
pub(crate) struct RmaRead {
    /// The peer: a card's name or unit number, or the address of any node
    pub(crate) peer: String,
    /// First address, such as 0x200000 or 2M
    #[arg(value_parser = parse::bytes)]
    pub(crate) addr: u64,
    /// Number of bytes
    #[arg(value_parser = parse::bytes)]
    pub(crate) len: u64,
    /// Write the bytes to this file instead of showing them
    #[arg(long, short, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) output: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) node: Node,
}

#[derive(Debug, Args)]
pub(crate) struct RmaWrite {
    /// The peer: a card's name or unit number, or the address of any node
    pub(crate) peer: String,
    /// First address, such as 0x200000 or 2M
    #[arg(value_parser = parse::bytes)]
    pub(crate) addr: u64,
    /// File with the bytes
    #[arg(value_hint = ValueHint::FilePath)]
    pub(crate) file: PathBuf,
    #[command(flatten)]
    pub(crate) node: Node,
}

#[derive(Debug, Args)]
pub(crate) struct RmaAdd {
    /// The peer: a card's name or unit number, or the address of any node
    pub(crate) peer: String,
    /// Address of the 8 bytes, a big-endian integer; a multiple of 8
    #[arg(value_parser = parse::bytes)]
    pub(crate) addr: u64,
    /// What to add
    pub(crate) value: u64,
    #[command(flatten)]
    pub(crate) node: Node,
}

#[derive(Debug, Args)]
#[command(after_help = "\
The program maps the window with rl_map_given() of rackloom_rma.h, and reaches the
card's memory with plain loads and stores. The card is claimed and the window open
for this program alone, until it ends. The exit code is the program's, or 128 + n if
signal n has ended it: 135 if the card was lost under it.

Example:
  cc walk.c -I crates/api/c/include -L target/release -lrackloom_rma -o walk
  rackloom rma map card0 --base 2M --length 16M -- ./walk")]
pub(crate) struct RmaMap {
    /// The card, by name, unit number or address
    pub(crate) card: String,
    /// First address of the window
    #[arg(long, value_name = "ADDR", value_parser = parse::bytes, default_value = "1M")]
    pub(crate) base: u64,
    /// Bytes of the window; else all up to the end of the card's memory
    #[arg(long, value_name = "BYTES", value_parser = parse::bytes)]
    pub(crate) length: Option<u64>,
    /// Let the program load only: a store ends it with SIGSEGV
    #[arg(long)]
    pub(crate) read_only: bool,
    /// The program's address as a node; else a random one
    #[arg(long = "as", value_name = "ADDRESS")]
    pub(crate) mac: Option<MacAddr>,
    /// The program and its arguments
    #[arg(last = true, required = true, value_name = "PROGRAM", value_hint = ValueHint::CommandWithArguments)]
    pub(crate) program: Vec<OsString>,
}

#[derive(Debug, Subcommand)]
pub(crate) enum StreamAction {
    /// Send the lines of the standard input, or a file, to a node's stream
    Send(StreamSend),
    /// Show the messages that come on a stream of this node
    Receive(StreamReceive),
    /// Claim cards and join streams of their roles to each other and to other nodes, until interrupted
    Connect(StreamConnect),
}

#[derive(Debug, Args)]
pub(crate) struct StreamSend {
    /// The receiver: a card's name or unit number, or the address of any node
    pub(crate) peer: String,
    /// Number of its stream, 0 to 15
    pub(crate) stream: u16,
    /// Send this file, in messages of 8 KiB, instead of the input's lines
    #[arg(long, value_name = "FILE", value_hint = ValueHint::FilePath)]
    pub(crate) file: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) node: Node,
}

/// A stream of a node: `card0:1`, or `02:00:00:00:00:07:1` of a node that is no card.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamEnd {
    pub(crate) node: String,
    pub(crate) stream: u16,
}

impl FromStr for StreamEnd {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let parts = text.rsplit_once(':').filter(|(node, _)| !node.is_empty());
        let stream = parts.and_then(|(_, stream)| stream.parse().ok()).filter(|stream| *stream < STREAMS);
        match (parts, stream) {
            (Some((node, _)), Some(stream)) => Ok(Self { node: node.to_owned(), stream }),
            _ => Err(format!("expected NODE:STREAM, such as card0:1, with a stream from 0 to {}", STREAMS - 1)),
        }
    }
}

/// Two ends with `=` between them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct StreamJoint {
    pub(crate) from: StreamEnd,
    pub(crate) to: StreamEnd,
}

impl FromStr for StreamJoint {
    type Err = String;
    fn from_str(text: &str) -> Result<Self, String> {
        let (from, to) = text.split_once('=').ok_or("expected FROM=TO, such as card0:1=card1:0")?;
        Ok(Self { from: from.parse()?, to: to.parse()? })
    }
}

#[derive(Debug, Args)]
#[command(after_help = "\
Example: what comes to stream 0 of card0 goes on to card1, and from there to a
node that shows it
  rackloom stream connect --input card0:0 card0:1=card1:0 card1:1=02:00:00:00:00:07:3
  rackloom stream receive 3 --as 02:00:00:00:00:07")]
pub(crate) struct StreamConnect {
    /// What the role of one card sends on a stream goes to a stream of another card or node
    #[arg(value_name = "CARD:STREAM=NODE:STREAM", required = true)]
    pub(crate) joints: Vec<StreamJoint>,
    /// A card's stream that others may send to; may be repeated
    #[arg(long, value_name = "CARD:STREAM")]
    pub(crate) input: Vec<StreamEnd>,
    /// The node that may send to them; else anybody on the network
    #[arg(long = "for", value_name = "ADDRESS", requires = "input")]
    pub(crate) peer: Option<MacAddr>,
    /// End after this time instead of at Ctrl-C
    #[arg(long = "for-time", value_name = "TIME", value_parser = parse::duration)]
    pub(crate) time: Option<Duration>,
}

#[derive(Debug, Args)]
pub(crate) struct StreamReceive {
    /// Number of the stream, 0 to 15
    pub(crate) stream: u16,
    /// The node that may send; else anybody on the network
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) from: Option<MacAddr>,
    /// End after so many messages
    #[arg(long, value_name = "N")]
    pub(crate) count: Option<u64>,
    #[command(flatten)]
    pub(crate) node: Node,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_and_joints_are_read() {
        let end = |node: &str, stream| StreamEnd { node: node.to_owned(), stream };
        assert_eq!("card0:1".parse(), Ok(end("card0", 1)));
        assert_eq!("02:00:00:00:00:07:15".parse(), Ok(end("02:00:00:00:00:07", 15)));
        let joint = StreamJoint { from: end("card0", 1), to: end("1", 0) };
        assert_eq!("card0:1=1:0".parse(), Ok(joint));
        for bad in ["card0", "card0:", ":1", "card0:16", "card0:-1", "card0:1=card1", "=card1:0"] {
            assert!(
                bad.parse::<StreamJoint>().is_err() && (bad.contains('=') || bad.parse::<StreamEnd>().is_err()),
                "{bad}"
            );
        }
    }
}
