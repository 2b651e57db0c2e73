//! `rackloom mem`: a card's memory.

use std::path::PathBuf;
use std::time::Instant;

use schemars::JsonSchema;
use serde::Serialize;

use crate::args::{MemRead, MemWrite};
use crate::cards::Roster;
use crate::context::Context;
use crate::exit::Exit;
use crate::failure::{Explain, Failure, Result};
use crate::format;

/// A transfer to or from a card's memory.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct MemoryReport {
    /// `rackloom.memory/1`
    schema: &'static str,
    /// `read` or `write`.
    action: &'static str,
    /// The card.
    card: String,
    /// First address.
    addr: u64,
    /// Bytes.
    bytes: u64,
    /// How long it took, seconds.
    seconds: f64,
    /// The file, if any.
    file: Option<PathBuf>,
    /// The bytes that were read, in hexadecimal, unless they went to a file.
    hex: Option<String>,
}

/// Most bytes shown as text: about ten thousand lines.
pub(super) const SHOWN_MAX: u64 = 160 << 10;

pub(super) fn read(cx: &Context, args: &MemRead) -> Result<Exit> {
    if args.output.is_none() && args.len > SHOWN_MAX {
        let what = format!("{} are too much to show", format::memory(args.len));
        return Err(Failure::new(what).help("write them to a file with -o"));
    }
    let rack = cx.connect()?;
    let roster = Roster::discover_named(&rack, &cx.global, &[&args.card])?;
    let card = roster.find(&args.card)?.mac;
    cx.claim_one(&rack, card)?;
    let started = Instant::now();
    let what = || format!("cannot read {} bytes at {:#x}", args.len, args.addr);
    let data = rack.read(card, args.addr, args.len).wait().during(what())?;
    let took = started.elapsed();
    if let Some(file) = &args.output {
        std::fs::write(file, &data).during(format!("cannot write {}", file.display()))?;
    }
    let report = MemoryReport {
        schema: "rackloom.memory/1",
        action: "read",
        card: roster.name(card),
        addr: args.addr,
        bytes: data.len() as u64,
        seconds: took.as_secs_f64(),
        file: args.output.clone(),
        hex: args.output.is_none().then(|| format::hex(&data)),
    };
    cx.ui.result(&report, || match &args.output {
        Some(file) => format!(
            "read {} from {} to {} ({})\n",
            format::bytes(report.bytes),
            report.card,
            file.display(),
            format::rate(report.bytes, took)
        ),
        None => dump(args.addr, &data),
    });
    Ok(Exit::Ok)
}

pub(super) fn write(cx: &Context, args: &MemWrite) -> Result<Exit> {
    let data = std::fs::read(&args.file).during(format!("cannot read {}", args.file.display()))?;
    let bytes = data.len() as u64;
    let rack = cx.connect()?;
    let roster = Roster::discover_named(&rack, &cx.global, &[&args.card])?;
    let card = roster.find(&args.card)?.mac;
    cx.claim_one(&rack, card)?;
    let started = Instant::now();
    let what = format!("cannot write {bytes} bytes at {:#x}", args.addr);
    rack.write(card, args.addr, data.into()).wait().during(what)?;
    let took = started.elapsed();
    let report = MemoryReport {
        schema: "rackloom.memory/1",
        action: "write",
        card: roster.name(card),
        addr: args.addr,
        bytes,
        seconds: took.as_secs_f64(),
        file: Some(args.file.clone()),
        hex: None,
    };
    cx.ui.result(&report, || {
        format!("wrote {} to {} ({})\n", format::bytes(bytes), report.card, format::rate(bytes, took))
    });
    Ok(Exit::Ok)
}

/// Sixteen bytes per line: address, hexadecimal, ASCII.
pub(super) fn dump(addr: u64, data: &[u8]) -> String {
    let mut out = String::new();
    for (i, line) in data.chunks(16).enumerate() {
        let hex: Vec<_> = line.chunks(2).map(format::hex).collect();
        let ascii = line.iter().map(|&b| if b.is_ascii_graphic() || b == b' ' { char::from(b) } else { '.' });
        let at = addr + 16 * i as u64;
        out.push_str(&format!("{at:010x}  {:<39}  {}\n", hex.join(" "), ascii.collect::<String>()));
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_dump_has_sixteen_bytes_per_line() {
        let text = dump(0x100000, b"Rackloom weaves\0!");
        assert_eq!(
            text,
            "0000100000  5261 636b 6c6f 6f6d 2077 6561 7665 7300  Rackloom weaves.\n\
             0000100010  21                                       !\n"
        );
    }
}
