//! The same work with blocks that pass through the host, and with blocks that pass from card to card.
//!
//! From end to end, matrices come from the host's memory and results go back there: what `rackloom run` does with
//! `--exchange host` and with `--exchange cards`, by the same code. On cards, PTRANS begins with rows of A and B in the
//! cards, as an earlier step would leave them, and ends with rows of C there.

use std::any::Any;
use std::collections::BTreeMap;

use bytes::Bytes;
use rackloom::{Array, ArrayWork, ExchangeWork, Sizing};
use rackloom_host::{ClaimOptions, Event, Exchange, ExchangeEvent, Job, JobEvent, JobOptions, Launch, OpId, Outcome};
use rackloom_image::{Dtype, Image, Kernel};
use rackloom_node::{Duration, Instant};
use rackloom_wire::ROLE_PRIVATE;
use schemars::JsonSchema;
use serde::Serialize;

use super::Options;
use super::matrix::Matrix;
use crate::error::{Result, StudyError};
use crate::rack::{Rack, RackOptions};
use rackloom_rack::Maker;

/// A kernel with an exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Kernels {
    /// C = B + A^T.
    Ptrans,
    /// C = A B.
    Gemm,
}

impl Kernels {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Ptrans => "ptrans",
            Self::Gemm => "gemm",
        }
    }
}

/// Both ways on one rack, in seconds of virtual time. All cards have the image from the start.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, JsonSchema)]
pub struct Exchanged {
    /// The kernel.
    pub kernel: Kernels,
    /// Cards.
    pub cards: usize,
    /// Order of the matrices.
    pub order: usize,
    /// From end to end, with blocks from the host.
    pub host_s: f64,
    /// From end to end, with blocks from card to card.
    pub cards_s: f64,
    /// Of these: writing the operands.
    pub cards_write_s: f64,
    /// Computing, and fetching from other cards.
    pub cards_run_s: f64,
    /// Reading the results.
    pub cards_read_s: f64,
    /// PTRANS from operands on the cards to the result there, with blocks that the host reads and writes; null for
    /// others and for one card, which needs none.
    pub resident_host_s: Option<f64>,
    /// Bytes on the host's wire, both ways, with blocks from the host, from end to end.
    pub host_wire_bytes: u64,
    /// The same with blocks from card to card.
    pub cards_wire_bytes: u64,
    /// Bytes that cards fetched from each other.
    pub exchanged: u64,
    /// Elements of C compared: the two ways give the same bits.
    pub elements: u64,
}

/// Both ways on so many cards.
pub(super) fn measure(kernel: Kernels, cards: usize, options: &Options) -> Result<Exchanged> {
    let order = match kernel {
        Kernels::Ptrans => options.exchange_order,
        Kernels::Gemm => options.exchange_order / 2,
    };
    let [a, b] = [Matrix::a(options.seed), Matrix::b(options.seed)].map(|m| whole(m, order));
    let inputs = BTreeMap::from([("a".to_owned(), a.clone()), ("b".to_owned(), b)]);
    let name = kernel.name();
    let about = Image::parse(image(name)).expect("a role of ours");
    let about = about.manifest().kernel(name).expect("it has this kernel").1.clone();

    let mut rack = rack(cards, options, name)?;
    let (expected, host_s, host_wire_bytes) = by_host(&mut rack, &about, inputs.clone(), options)?;
    let resident_host_s = match kernel {
        Kernels::Ptrans if cards > 1 => Some(resident(&mut rack, order, &a)?),
        _ => None,
    };
    let mut rack = self::rack(cards, options, "exchange")?;
    let work = ExchangeWork::new(&about, inputs, cards, options.memory).map_err(rackloom::Error::from);
    let work = work.map_err(|why| StudyError::Option { option: "memory", why: why.to_string() })?;
    let exchanged = work.exchanged();
    let (times, result, cards_wire_bytes) = by_cards(&mut rack, work)?;
    if result != expected {
        return Err(StudyError::Wrong { what: format!("{name} on {cards} cards: the two ways differ") });
    }
    Ok(Exchanged {
        kernel,
        cards,
        order,
        host_s,
        cards_s: times.iter().sum(),
        cards_write_s: times[1],
        cards_run_s: times[2],
        cards_read_s: times[3],
        resident_host_s,
        host_wire_bytes,
        cards_wire_bytes,
        exchanged,
        elements: (order * order) as u64,
    })
}

/// A rack whose cards have this image and no claim.
fn rack(cards: usize, options: &Options, role: &str) -> Result<Rack> {
    let rack_options =
        RackOptions { jumbo: options.jumbo, memory: options.memory, ..RackOptions::new(cards, options.seed) };
    let mut rack = Rack::new(rack_options, Maker::shared())?;
    rack.discover()?;
    rack.claim()?;
    let all = rack.cards().to_vec();
    rack.load(&all, &image(role))?;
    release(&mut rack)?;
    Ok(rack)
}

fn release(rack: &mut Rack) -> Result<()> {
    let all = rack.cards().to_vec();
    let ops =
        rack.command(|host, now| all.iter().map(|card| host.release(now, *card, rackloom::Scrub::Keep)).collect());
    rack.finish("releases", HOUR, ops)?;
    Ok(())
}

fn wire_bytes(rack: &Rack) -> u64 {
    let (out, back) = rack.host_wire_bytes();
    out + back
}

/// The result and the time of a job whose tiles come from the host, and the bytes on the host's wire.
fn by_host(
    rack: &mut Rack,
    kernel: &Kernel,
    inputs: BTreeMap<String, Array>,
    options: &Options,
) -> Result<(Bytes, f64, u64)> {
    let sizing = Sizing { cards: rack.cards().len(), room: ((options.memory - ROLE_PRIVATE) / 2) & !63 };
    let work = ArrayWork::new(0, kernel, inputs, BTreeMap::new(), sizing).map_err(rackloom::Error::from);
    let work = work.map_err(|why| StudyError::Option { option: "memory", why: why.to_string() })?;
    let (start, before) = (rack.now(), wire_bytes(rack));
    let image = image(&kernel.name);
    let mut job = rack.command(|host, now| Job::start(now, host, image, Box::new(work), JobOptions::default()));
    let end = rack.run_until("a job", HOUR, |rack, _, event| {
        let updates = rack.command(|host, now| job.handle(now, host, &event));
        for update in &updates {
            if let JobEvent::Failed(why) | JobEvent::Left(_, why) = update {
                return Err(why.clone().into());
            }
        }
        Ok(updates.contains(&JobEvent::Finished))
    })?;
    let bytes = wire_bytes(rack) - before;
    let ops = rack.command(|host, now| job.release(now, host));
    rack.finish("releases", HOUR, ops)?;
    let work: Box<dyn Any> = job.into_work();
    let work = work.downcast::<ArrayWork>().expect("what it began with");
    Ok((work.into_outputs()["c"].data.clone(), (end - start).as_secs_f64(), bytes))
}

/// The times of an exchange: until the cards are ready, writing, computing, reading; its result; bytes on the host's
/// wire.
fn by_cards(rack: &mut Rack, mut work: ExchangeWork) -> Result<([f64; 4], Bytes, u64)> {
    let (start, before) = (rack.now(), wire_bytes(rack));
    let shares = rack.cards().iter().copied().zip(work.shares()).collect();
    let image = image("exchange");
    let mut exchange = rack.command(|host, now| Exchange::start(now, host, image, shares, ClaimOptions::default()));
    let mut at: Vec<Instant> = vec![start];
    rack.run_until("an exchange", HOUR, |rack, now, event| {
        for update in rack.command(|host, now| exchange.handle(now, host, &event)) {
            match update {
                ExchangeEvent::Ready | ExchangeEvent::Written | ExchangeEvent::Computed | ExchangeEvent::Finished => {
                    at.push(now);
                }
                ExchangeEvent::Output { place, data } => work.output(place, &data),
                ExchangeEvent::Failed(why) => return Err(why.into()),
                ExchangeEvent::Step { .. } => {}
            }
        }
        Ok(at.len() == 5)
    })?;
    let bytes = wire_bytes(rack) - before;
    let times = [0, 1, 2, 3].map(|n| (at[n + 1] - at[n]).as_secs_f64());
    let ops = rack.command(|host, now| exchange.release(now, host));
    rack.finish("releases", HOUR, ops)?;
    Ok((times, work.into_outputs()["c"].data.clone(), bytes))
}

/// PTRANS on rows of A that lie in the cards, whose blocks the host reads and writes: seconds. A block is written as
/// soon as it is read, also a card's own, and all cards compute when all is written.
fn resident(rack: &mut Rack, order: usize, a: &Array) -> Result<f64> {
    rack.claim()?;
    let cards = rack.cards().to_vec();
    let n = cards.len();
    let rows = |place: usize| order * place / n..order * (place + 1) / n;
    let row_bytes = order * 4;
    let most = order.div_ceil(n) * row_bytes;
    // Rows of A, its columns as the host puts them together, B (whose values are of no concern here), and C.
    let addr = |array: u64| ROLE_PRIVATE + array * (most as u64).next_multiple_of(64);
    let writes: Vec<OpId> = rack.command(|host, now| {
        let strips = cards.iter().enumerate();
        let strip = |place: usize| a.data.slice(rows(place).start * row_bytes..rows(place).end * row_bytes);
        strips.map(|(place, card)| host.write(now, *card, addr(0), strip(place))).collect()
    });
    rack.finish("operands", HOUR, writes)?;

    let start = rack.now();
    let mut reads: BTreeMap<OpId, usize> = BTreeMap::new();
    for (place, &card) in cards.iter().enumerate() {
        for first in rows(place).step_by(PIECE_ROWS) {
            let count = PIECE_ROWS.min(rows(place).end - first);
            let from = addr(0) + ((first - rows(place).start) * row_bytes) as u64;
            let op = rack.command(|host, now| host.read(now, card, from, (count * row_bytes) as u64));
            reads.insert(op, first);
        }
    }
    let mut open = reads.len() * n;
    rack.run_until("blocks", HOUR, |rack, _, event| {
        let Event::Completed { op, result } = event else { return Ok(false) };
        match (reads.get(&op), result?) {
            (Some(&first), Outcome::Data(data)) => {
                for (place, &card) in cards.iter().enumerate() {
                    let columns = rows(place);
                    let bytes = columns.start * 4..columns.end * 4;
                    let block: Vec<u8> =
                        data.chunks_exact(row_bytes).flat_map(|row| row[bytes.clone()].iter().copied()).collect();
                    let to = addr(1) + (first * bytes.len()) as u64;
                    rack.command(|host, now| host.write(now, card, to, block.into()));
                }
            }
            _ => open -= 1,
        }
        Ok(open == 0)
    })?;
    let launches = rack.command(|host, now| {
        let launch = |place: usize| Launch {
            args: vec![addr(1), addr(2), addr(3), rows(place).len() as u64, order as u64],
            ..Launch::default()
        };
        cards.iter().enumerate().map(|(place, card)| host.launch(now, *card, launch(place))).collect()
    });
    let (_, end) = rack.finish("kernels", HOUR, launches)?;
    release(rack)?;
    Ok((end - start).as_secs_f64())
}

fn whole(matrix: Matrix, order: usize) -> Array {
    let data: Vec<u8> =
        (0..order).flat_map(|row| (0..order).flat_map(move |column| matrix.at(row, column).to_le_bytes())).collect();
    Array::new(Dtype::F32, vec![order, order], data.into()).expect("as many bytes as elements")
}

fn image(role: &str) -> Bytes {
    Bytes::from_static(rackloom_builtin_roles::image(role).expect("a role of ours"))
}

/// Rows of A that the host moves at a time.
const PIECE_ROWS: usize = 16;
const HOUR: Duration = Duration::from_secs(3600);
