//! Frames kept for Wireshark: pcap with nanosecond time stamps.

use core::fmt;
use std::collections::VecDeque;
use std::io::Write;
use std::time::Duration;

use pcap_file::pcap::{PcapHeader, PcapPacket, PcapWriter};
use pcap_file::{DataLink, Endianness, PcapError, TsResolution};
use rackloom_node::{Frame, Instant};

use crate::ids::{LinkId, NodeId};

/// Where frames are captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tap {
    /// What comes out of a cable, both ways: after faults, as its ends receive it.
    Link(LinkId),
    /// What a node transmits (before faults) and what it receives (after them): as tcpdump on that node would.
    Node(NodeId),
    /// What all nodes transmit, those added later too: each frame once, before faults and flooding.
    Sent,
}

/// Why a capture could not be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the capture: {0}")]
pub struct CaptureError(String);

impl From<PcapError> for CaptureError {
    fn from(e: PcapError) -> Self {
        // The crate's own text for an I/O error says "reading" and leaves the cause out.
        Self(match e {
            PcapError::IoError(io) => io.to_string(),
            other => other.to_string(),
        })
    }
}

enum Sink {
    Memory { last: Option<usize>, frames: VecDeque<(Instant, Frame)> },
    Stream(PcapWriter<Box<dyn Write>>),
}

/// A recorder: in memory, whole or only the end, or straight into a writer.
pub struct Capture {
    sink: Sink,
    seen: u64,
    /// The first failure of the stream; nothing is written after it.
    failed: Option<CaptureError>,
}

impl Capture {
    /// Keeps every frame in memory. The frames are shared, not copied; their memory is not freed before the capture.
    pub fn whole() -> Self {
        Self::new(Sink::Memory { last: None, frames: VecDeque::new() })
    }

    /// Keeps the last `count` frames in memory: for the trace of a run that fails late.
    pub fn last(count: usize) -> Self {
        Self::new(Sink::Memory { last: Some(count), frames: VecDeque::new() })
    }

    /// Writes every frame at once; keeps none. The header is written here.
    pub fn stream(to: Box<dyn Write>) -> Result<Self, CaptureError> {
        Ok(Self::new(Sink::Stream(PcapWriter::with_header(to, header())?)))
    }

    fn new(sink: Sink) -> Self {
        Self { sink, seen: 0, failed: None }
    }

    /// Frames seen, also those no longer kept.
    pub fn seen(&self) -> u64 {
        self.seen
    }

    /// The frames kept in memory, oldest first; none for a stream.
    pub fn frames(&self) -> impl Iterator<Item = &(Instant, Frame)> {
        match &self.sink {
            Sink::Memory { frames, .. } => Some(frames.iter()),
            Sink::Stream(_) => None,
        }
        .into_iter()
        .flatten()
    }

    /// Writes the frames kept in memory as one pcap file.
    pub fn write_to(&self, to: impl Write) -> Result<(), CaptureError> {
        let mut writer = PcapWriter::with_header(to, header())?;
        for (at, frame) in self.frames() {
            write_one(&mut writer, *at, frame)?;
        }
        flush(writer)
    }

    /// Ends a stream: flushes, and says whether all was written. A capture in memory has nothing to do here.
    pub fn finish(self) -> Result<(), CaptureError> {
        match (self.failed, self.sink) {
            (Some(e), _) => Err(e),
            (None, Sink::Stream(writer)) => flush(writer),
            (None, Sink::Memory { .. }) => Ok(()),
        }
    }

    pub(crate) fn record(&mut self, at: Instant, frame: &Frame) {
        self.seen += 1;
        match &mut self.sink {
            Sink::Memory { last, frames } => {
                frames.push_back((at, frame.clone()));
                if last.is_some_and(|n| frames.len() > n) {
                    frames.pop_front();
                }
            }
            Sink::Stream(writer) => {
                if self.failed.is_none() {
                    self.failed = write_one(writer, at, frame).err();
                }
            }
        }
    }
}

fn write_one(writer: &mut PcapWriter<impl Write>, at: Instant, frame: &Frame) -> Result<(), CaptureError> {
    let kept = &frame[..frame.len().min(SNAP_BYTES as usize)];
    let original = u32::try_from(frame.len()).unwrap_or(u32::MAX);
    writer.write_packet(&PcapPacket::new(Duration::from_nanos(at.as_nanos()), original, kept))?;
    Ok(())
}

fn flush(writer: PcapWriter<impl Write>) -> Result<(), CaptureError> {
    writer.into_writer().flush().map_err(|e| CaptureError(e.to_string()))
}

fn header() -> PcapHeader {
    PcapHeader {
        snaplen: SNAP_BYTES,
        datalink: DataLink::ETHERNET,
        ts_resolution: TsResolution::NanoSecond,
        // Fixed, not the machine's: the same seed then leaves the same file everywhere.
        endianness: Endianness::Little,
        ..PcapHeader::default()
    }
}

impl fmt::Debug for Capture {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kept = self.frames().count();
        f.debug_struct("Capture").field("seen", &self.seen).field("kept", &kept).finish_non_exhaustive()
    }
}

/// Longest frame kept whole: far above any MTU; Wireshark's own limit.
const SNAP_BYTES: u32 = 262_144;

#[cfg(test)]
mod tests {
    use super::*;
    use pcap_file::pcap::PcapReader;
    use std::io;

    #[test]
    fn a_ring_keeps_the_last_frames_and_writes_a_readable_file() {
        let mut capture = Capture::last(2);
        for i in 0..5u8 {
            capture.record(Instant::from_nanos(1_000_000_001 * u64::from(i)), &Frame::from(vec![i; 60]));
        }
        assert_eq!(capture.seen(), 5);
        let mut file = Vec::new();
        capture.write_to(&mut file).unwrap();
        assert_eq!(file[..4], 0xA1B2_3C4Du32.to_le_bytes(), "the magic of nanosecond pcap");
        let mut reader = PcapReader::new(&file[..]).unwrap();
        for i in 3..5u8 {
            let packet = reader.next_packet().unwrap().unwrap();
            assert_eq!(packet.timestamp, Duration::new(u64::from(i), u32::from(i)));
            assert_eq!(packet.data[..], [i; 60]);
        }
        assert!(reader.next_packet().is_none());
    }

    struct Full(usize);
    impl Write for Full {
        fn write(&mut self, buf: &[u8]) -> io::Result<usize> {
            self.0 = self.0.checked_sub(buf.len()).ok_or_else(|| io::Error::other("disk full"))?;
            Ok(buf.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn a_stream_that_fails_says_so_at_the_end() {
        let mut capture = Capture::stream(Box::new(Full(100))).unwrap();
        for _ in 0..3 {
            capture.record(Instant::ZERO, &Frame::from_static(&[0; 60]));
        }
        assert_eq!(capture.finish().unwrap_err().to_string(), "cannot write the capture: disk full");
    }
}
