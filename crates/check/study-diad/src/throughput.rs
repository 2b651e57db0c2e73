//! `diad-throughput`: figure 5. Payload a second between a node in a fabric and a card's memory, or another fabric's
//! stream.
//!
//! Three ways: so many requests under way all the time; messages in packets of 4 KiB, the next when the last is
//! answered; messages of a stream. Every byte that comes is compared with what was sent, at the end.

mod measure;
mod options;
mod report;

pub use options::Options;
pub use report::{Point, Report, SCHEMA, Way};

use rackloom_report::Progress;

use crate::error::Result;

/// What is to be measured, in order.
fn jobs(options: &Options) -> Vec<Way> {
    let pairs = |reads| {
        let of = move |bytes: &usize| {
            let bytes = *bytes;
            options.depths.iter().map(move |&depth| Way::Requests { reads, bytes, depth })
        };
        options.requests.iter().flat_map(of)
    };
    let messages = options.messages.iter().map(|&bytes| Way::Messages { bytes });
    let streams = options.streams.iter().map(|&bytes| Way::Stream { bytes });
    pairs(true).chain(pairs(false)).chain(messages).chain(streams).collect()
}

/// Measures all points.
///
/// # Errors
/// If a request fails, or what has come is not what was sent.
pub fn run(options: &Options, progress: &mut dyn Progress) -> Result<Report> {
    let jobs = jobs(options);
    let mut points = Vec::new();
    for way in &jobs {
        points.push(measure::measure(*way, options)?);
        progress.step(points.len(), jobs.len(), &way.to_string());
    }
    Ok(Report::new(options, points))
}
