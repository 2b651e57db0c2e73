//! Execution of operations on a card. Short transfers and launches are sent first and waited for later, so that those
//! of a task follow one another without a pause; everything else completes when it is started.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use bytes::Bytes;
use opencl_sys::{
    CL_INVALID_GLOBAL_WORK_SIZE, CL_INVALID_OPERATION, CL_MAP_READ, CL_MAP_WRITE, CL_MAP_WRITE_INVALIDATE_REGION,
    CL_OUT_OF_RESOURCES,
};
use rackloom::{Launch, LaunchReport, Pending};
use rackloom_opencl_wire::{Rect, Times, now_ns};
use rackloom_sync::lock;

use super::arguments;
use super::claim::{Card, ClaimNumber};
use super::failure;
use super::inflight::InFlight;
use super::objects::{CardBuffer, CardKernel, CardSpace, Mapping};
use super::rects::{Band, bands, rows};
use super::transfer::{PIECE, Range};
use crate::board::{Operation, Shape, Sink, Source, Value};
use crate::code::Code;

/// An operation that was started.
#[derive(Debug)]
pub struct Ticket {
    /// When it was submitted, in nanoseconds of our clock.
    submitted: u64,
    step: Step,
}

#[derive(Debug)]
enum Step {
    /// It ended at this time.
    Over(u64),
    Write(Pending<()>),
    Read(Arc<InFlight<Bytes>>),
    /// Keeps the kernel's buffers until the end, so that nobody else gets their memory.
    Launch(Launched),
}

#[derive(Debug)]
struct Launched {
    operation: Arc<InFlight<LaunchReport>>,
    claim: ClaimNumber,
    _buffers: Vec<Arc<CardBuffer>>,
}

/// Most bytes of a transfer that is waited for later. A task has at most 1,024 of them, all in memory at once.
const SHORT: usize = 64 << 10;

/// A launch whose predecessor took less than this, in nanoseconds, is sent before those ahead of it have ended.
const SHORT_LAUNCH_NS: u64 = 50_000_000;

/// Most launches in flight; as many as a card queues.
const LAUNCHES_AHEAD: usize = rackloom_wire::LAUNCH_QUEUE as usize;

/// Most mappings of a buffer at a time.
const MAPPINGS_MAX: usize = 4096;

/// Starts an operation.
pub(super) fn start(card: &Arc<Card>, operation: &mut Operation<CardSpace>) -> Result<Ticket, Code> {
    let submitted = now_ns();
    // A card delays nothing but launches until an earlier launch has ended.
    if !matches!(operation, Operation::Launch { .. } | Operation::Marker) {
        card.in_flight.launches.settle();
    }
    match operation {
        Operation::Write { buffer, offset, from } => {
            let range = buffer.range().part(*offset, from.len() as u64);
            if from.len() <= SHORT && range.block.is_scrubbed() {
                let step = Step::Write(range.start_write(copy(from, 0, from.len()))?);
                return Ok(Ticket { submitted, step });
            }
            overwrite(range, || range.write(|at, len| copy(from, at, len)))?;
        }
        Operation::Read { buffer, offset, into } => {
            let range = buffer.range().part(*offset, into.len() as u64);
            range.block.scrub()?;
            if into.len() <= SHORT {
                let step = Step::Read(card.in_flight.reads.begin(range.start_read()?));
                return Ok(Ticket { submitted, step });
            }
            range.read(|at, piece| put(into, at, piece))?;
        }
        Operation::WriteRect { buffer, rect, from } => {
            buffer.block.scrub()?;
            let mut done = 0;
            for_bands(buffer, rect, |range, band, width| {
                let at = done;
                done += band.rows.len() * width as usize;
                if band.has_gaps(width) {
                    let mut bytes = range.bytes()?;
                    band.scatter(&copy(from, at, done - at), width, &mut bytes);
                    return range.write(|at, len| Bytes::copy_from_slice(&bytes[at..][..len]));
                }
                range.write(|more, len| copy(from, at + more, len))
            })?;
        }
        Operation::ReadRect { buffer, rect, into } => {
            buffer.block.scrub()?;
            let (mut done, mut gathered) = (0, Vec::new());
            for_bands(buffer, rect, |range, band, width| {
                let at = done;
                done += band.rows.len() * width as usize;
                if band.has_gaps(width) {
                    gathered.clear();
                    band.gather(&range.bytes()?, width, &mut gathered);
                    put(into, at, &gathered);
                    return Ok(());
                }
                range.read(|more, piece| put(into, at + more, piece))
            })?;
        }
        Operation::Copy { from, from_offset, to, to_offset, len } => {
            copy_range(from.range().part(*from_offset, *len), to.range().part(*to_offset, *len))?;
        }
        Operation::CopyRect { from, source, to, target } => copy_box(from, source, to, target)?,
        Operation::Fill { buffer, offset, len, pattern } => {
            let range = buffer.range().part(*offset, *len);
            overwrite(range, || range.fill(pattern))?;
        }
        Operation::Map { buffer, flags, offset, len } => map(buffer, *flags, *offset, *len)?,
        Operation::Unmap { buffer, offset, len } => unmap(buffer, *offset, *len)?,
        Operation::Launch { kernel, shape, arguments, .. } => {
            return Ok(Ticket { submitted, step: Step::Launch(launch(card, kernel, shape, arguments)?) });
        }
        Operation::Marker => {}
        Operation::WriteImage { .. }
        | Operation::ReadImage { .. }
        | Operation::CopyImage { .. }
        | Operation::CopyImageToBuffer { .. }
        | Operation::CopyBufferToImage { .. }
        | Operation::FillImage { .. } => return Err(Code(CL_INVALID_OPERATION)),
    }
    Ok(Ticket { submitted, step: Step::Over(now_ns()) })
}

/// Waits for the end of an operation.
pub(super) fn finish(card: &Card, ticket: Ticket, operation: &mut Operation<CardSpace>) -> Result<Times, Code> {
    let submitted = ticket.submitted;
    let (started, ended) = match (ticket.step, operation) {
        (Step::Over(at), _) => (submitted, at),
        (Step::Write(pending), Operation::Write { buffer, .. }) => {
            buffer.range().end(pending)?;
            (submitted, now_ns())
        }
        (Step::Read(operation), Operation::Read { buffer, into, .. }) => {
            let completed = operation.wait();
            card.in_flight.reads.end(&operation);
            let bytes = completed.result.as_ref().map_err(|why| card.judge(buffer.block.claim, why))?;
            put(into, 0, bytes);
            (submitted, completed.at)
        }
        (Step::Launch(Launched { operation, claim, _buffers }), Operation::Launch { kernel, .. }) => {
            let completed = operation.wait();
            card.in_flight.launches.end(&operation);
            card.launched(claim, &completed.result);
            let report = completed.result.as_ref().map_err(|why| card.judge(claim, why))?;
            let took = report.finished_ns.saturating_sub(report.started_ns);
            kernel.last_ns.store(completed.at.saturating_sub(submitted).max(1), Ordering::Relaxed);
            // The card has a clock of its own: the time of the end there is unknown here, only that of its report.
            (completed.at.saturating_sub(took).max(submitted), completed.at)
        }
        _ => unreachable!("a ticket is given back with its operation"),
    };
    Ok(Times { submitted, started, ended })
}

/// Writes all of a range by `write`. A block that may hold another tenant's bytes is cleared first, unless the range is
/// all of it.
fn overwrite(range: Range<'_>, write: impl FnOnce() -> Result<(), Code>) -> Result<(), Code> {
    if !range.is_whole() {
        range.block.scrub()?;
        return write();
    }
    write()?;
    range.block.mark_scrubbed();
    Ok(())
}

fn copy(from: &Source, at: usize, len: usize) -> Bytes {
    match from {
        Source::Inline(bytes) => Bytes::copy_from_slice(&bytes[at..][..len]),
        Source::Bulk(taken) => {
            let mut bytes = vec![0; len];
            taken.read(at, &mut bytes);
            bytes.into()
        }
    }
}

fn put(into: &mut Sink, at: usize, bytes: &[u8]) {
    match into {
        Sink::Inline(to) => to[at..][..bytes.len()].copy_from_slice(bytes),
        Sink::Bulk(to) => to.write(at, bytes),
    }
}

fn for_bands(
    buffer: &CardBuffer,
    rect: &Rect,
    mut each: impl FnMut(Range<'_>, &Band, u64) -> Result<(), Code>,
) -> Result<(), Code> {
    let width = rect.region[0];
    bands(rows(rect), width).try_for_each(|band| each(buffer.range().part(band.offset, band.len), &band, width))
}

/// Copies through the host: a card has no operation for it.
fn copy_range(from: Range<'_>, to: Range<'_>) -> Result<(), Code> {
    from.block.scrub()?;
    overwrite(to, || {
        (0..from.len).step_by(PIECE).try_for_each(|at| {
            let len = (from.len - at).min(PIECE as u64);
            let bytes = Bytes::from(from.part(at, len).bytes()?);
            to.part(at, len).write(|at, len| bytes.slice(at..at + len))
        })
    })
}

fn copy_box(from: &CardBuffer, source: &Rect, to: &CardBuffer, target: &Rect) -> Result<(), Code> {
    from.block.scrub()?;
    to.block.scrub()?;
    let width = source.region[0];
    let (mut sources, mut targets) = (rows(source), rows(target));
    if width > PIECE as u64 {
        return sources.zip(targets).try_for_each(|(from_row, to_row)| {
            copy_range(from.range().part(from_row, width), to.range().part(to_row, width))
        });
    }
    let at_once = PIECE / width as usize;
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        for band in bands(sources.by_ref().take(at_once), width) {
            band.gather(&from.range().part(band.offset, band.len).bytes()?, width, &mut bytes);
        }
        if bytes.is_empty() {
            return Ok(());
        }
        let mut left = &bytes[..];
        for band in bands(targets.by_ref().take(at_once), width) {
            let range = to.range().part(band.offset, band.len);
            let mut there = if band.has_gaps(width) { range.bytes()? } else { vec![0; band.len as usize] };
            let (rows, more) = left.split_at(band.rows.len() * width as usize);
            left = more;
            band.scatter(rows, width, &mut there);
            let there = Bytes::from(there);
            range.write(|at, len| there.slice(at..at + len))?;
        }
    }
}

fn map(buffer: &CardBuffer, flags: u64, offset: u64, len: u64) -> Result<(), Code> {
    let given = buffer.backing.as_ref().ok_or(Code(CL_INVALID_OPERATION))?;
    let writes = flags & (CL_MAP_WRITE | CL_MAP_WRITE_INVALIDATE_REGION) != 0;
    let mut mappings = lock(&buffer.mappings);
    if mappings.len() >= MAPPINGS_MAX {
        return Err(Code(CL_OUT_OF_RESOURCES));
    }
    mappings.push(Mapping { offset, len, writes });
    drop(mappings);
    if flags & (CL_MAP_READ | CL_MAP_WRITE) != 0 {
        buffer.block.scrub()?;
        let range = buffer.range().part(offset, len);
        range.read(|at, piece| given.write(offset as usize + at, piece))?;
    }
    Ok(())
}

fn unmap(buffer: &CardBuffer, offset: u64, len: u64) -> Result<(), Code> {
    let given = buffer.backing.as_ref().ok_or(Code(CL_INVALID_OPERATION))?;
    let mapping = {
        let mut mappings = lock(&buffer.mappings);
        let at = mappings.iter().position(|m| (m.offset, m.len) == (offset, len)).ok_or(Code(CL_INVALID_OPERATION))?;
        mappings.remove(at)
    };
    if !mapping.writes {
        return Ok(());
    }
    let range = buffer.range().part(offset, len);
    overwrite(range, || {
        range.write(|at, len| {
            let mut bytes = vec![0; len];
            given.read(offset as usize + at, &mut bytes);
            bytes.into()
        })
    })
}

fn launch(
    card: &Arc<Card>,
    kernel: &CardKernel,
    shape: &Shape,
    arguments: &[(u32, Value<CardSpace>)],
) -> Result<Launched, Code> {
    let description = &kernel.built.image.manifest().kernels[usize::from(kernel.number)];
    let (words, buffers) = {
        let mut slots = lock(&kernel.slots);
        arguments::set_all(description, &mut slots, arguments)?;
        arguments::words(description, &slots)?
    };
    // A card's kernel gets no work-item number: it is the whole work.
    if shape.global[..shape.dimensions].iter().any(|items| *items != 1) {
        return Err(Code(CL_INVALID_GLOBAL_WORK_SIZE));
    }
    let claim = card.claim()?;
    for buffer in &buffers {
        if buffer.block.claim != claim {
            return Err(failure::GONE);
        }
        buffer.block.scrub()?;
    }
    card.in_flight.reads.settle();
    let is_short = (1..SHORT_LAUNCH_NS).contains(&kernel.last_ns.load(Ordering::Relaxed));
    let after_long = card.in_flight.has_long.swap(!is_short, Ordering::Relaxed);
    // A launch's time limit counts from its sending: it must not wait long behind others.
    if !is_short || after_long || card.in_flight.launches.len() >= LAUNCHES_AHEAD {
        card.in_flight.launches.settle();
    }
    if !card.has_active(&kernel.built.digest) {
        card.in_flight.launches.settle();
        card.configure(claim, &kernel.built)?;
    }
    let launch = Launch { kernel: kernel.number, args: words, ..Launch::default() };
    let pending = card.send(claim, |rack, mac| rack.launch(mac, launch))?;
    Ok(Launched { operation: card.in_flight.launches.begin(pending), claim, _buffers: buffers })
}
