//! Writes down what passes, for Wireshark.
//!
//! A capture has a thread and a bounded queue of its own: neither a slow disk nor a full one ever holds up a frame.
//! What does not fit in the queue is counted as lost; when the file cannot be written, the capture says so once and
//! stops.

use std::borrow::Cow;
use std::collections::VecDeque;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::task::Waker;
use std::thread::JoinHandle;
use std::time::{Duration, Instant, SystemTime};

use pcap_file::pcapng::PcapNgWriter;
use pcap_file::pcapng::blocks::enhanced_packet::{EnhancedPacketBlock, EnhancedPacketOption};
use pcap_file::pcapng::blocks::interface_description::{InterfaceDescriptionBlock, InterfaceDescriptionOption};
use pcap_file::{DataLink, PcapError};
use rackloom_node::Frame;
use rackloom_sync::{lock, wait, wait_for};

use crate::wire::Wire;

/// A pcapng file being written. Clones write to the same file, which is complete once the last one is dropped.
#[derive(Debug, Clone)]
pub struct Capture {
    writer: Arc<WriterThread>,
}

/// Which way a frame went.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    /// Received on a wire.
    In,
    /// Sent on a wire.
    Out,
    /// Through a switch.
    Through,
}

impl Capture {
    /// Starts a capture to a new file at `path`, which is replaced if it exists. `name` is the interface name that
    /// Wireshark shows. `warn` is called, at most once and on another thread, if writing fails later on.
    ///
    /// # Errors
    /// The file cannot be created or its head not written.
    pub fn create(
        path: &Path,
        name: &str,
        warn: impl FnOnce(CaptureError) + Send + 'static,
    ) -> Result<Self, CaptureError> {
        let fail = |source| CaptureError { path: path.to_owned(), source };
        let file = File::create(path).map_err(fail)?;
        let pcap = head(BufWriter::with_capacity(1 << 20, file), name).map_err(fail)?;
        let queue = Arc::new(Queue::default());
        let (theirs, path) = (Arc::clone(&queue), path.to_owned());
        let thread = std::thread::Builder::new()
            .name("rackloom-pcap".to_owned())
            .spawn(move || {
                if let Err(source) = theirs.write_all(pcap) {
                    theirs.fail();
                    warn(CaptureError { path, source });
                }
            })
            .map_err(|source| CaptureError { path: PathBuf::from("a thread to write it"), source })?;
        Ok(Self { writer: Arc::new(WriterThread { queue, thread: Some(thread) }) })
    }

    /// Notes that this frame passed now.
    pub(crate) fn record(&self, way: Way, frame: &Frame) {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        self.writer.queue.push(now, way, frame);
    }

    /// Waits until what was recorded before is in the file, or the capture has failed.
    pub fn flush(&self) {
        let queue = &self.writer.queue;
        let mut state = lock(&queue.state);
        let target = state.stats.frames;
        state.flush_to = state.flush_to.max(target);
        queue.filled.notify_one();
        while state.flushed < target && !state.stats.failed {
            state = wait(&queue.emptied, state);
        }
    }

    /// What was recorded so far.
    #[must_use]
    pub fn stats(&self) -> CaptureStats {
        lock(&self.writer.queue.state).stats
    }
}

/// What a capture did.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CaptureStats {
    /// Frames written, or on their way to the file.
    pub frames: u64,
    /// Frames missing from the file: the disk was too slow for them, or the capture had failed.
    pub lost: u64,
    /// Whether writing failed; nothing is written after that.
    pub failed: bool,
}

/// Why a capture file cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("cannot write the capture {}; frames go on, uncaptured", path.display())]
pub struct CaptureError {
    /// The file.
    pub path: PathBuf,
    /// What the operating system says.
    pub source: io::Error,
}

/// A wire whose frames are captured both ways.
#[derive(Debug)]
pub struct Captured<W> {
    wire: W,
    capture: Capture,
}

impl<W: Wire> Captured<W> {
    /// Captures what passes on `wire`.
    pub const fn new(wire: W, capture: Capture) -> Self {
        Self { wire, capture }
    }
}

impl<W: Wire> Wire for Captured<W> {
    fn send(&mut self, frames: &[Frame]) -> io::Result<usize> {
        let taken = self.wire.send(frames)?;
        frames[..taken].iter().for_each(|f| self.capture.record(Way::Out, f));
        Ok(taken)
    }

    fn recv(&mut self, deadline: Option<Instant>, out: &mut Vec<Frame>) -> io::Result<()> {
        let before = out.len();
        let result = self.wire.recv(deadline, out);
        out[before..].iter().for_each(|f| self.capture.record(Way::In, f));
        result
    }

    fn mtu(&self) -> usize {
        self.wire.mtu()
    }

    fn waker(&self) -> Waker {
        self.wire.waker()
    }
}

#[derive(Debug)]
struct WriterThread {
    queue: Arc<Queue>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for WriterThread {
    fn drop(&mut self) {
        lock(&self.queue.state).closed = true;
        self.queue.filled.notify_one();
        if let Some(thread) = self.thread.take() {
            // It ends when the queue is empty. A panic there is reported by its own message.
            let _ = thread.join();
        }
    }
}

#[derive(Debug, Default)]
struct Queue {
    state: Mutex<State>,
    filled: Condvar,
    emptied: Condvar,
}

#[derive(Debug, Default)]
struct State {
    frames: VecDeque<(Duration, Way, Frame)>,
    bytes: usize,
    stats: CaptureStats,
    /// Frames known to be in the file.
    flushed: u64,
    /// Somebody waits for this many.
    flush_to: u64,
    closed: bool,
}

impl Queue {
    fn push(&self, now: Duration, way: Way, frame: &Frame) {
        let mut state = lock(&self.state);
        if state.stats.failed || state.frames.len() >= QUEUE_FRAMES || state.bytes + frame.len() > QUEUE_BYTES {
            state.stats.lost += 1;
            return;
        }
        state.stats.frames += 1;
        state.bytes += frame.len();
        state.frames.push_back((now, way, frame.clone()));
        if state.frames.len() == 1 {
            self.filled.notify_one();
        }
    }

    fn fail(&self) {
        let mut state = lock(&self.state);
        state.stats.failed = true;
        state.stats.lost += state.stats.frames - state.flushed;
        state.stats.frames = state.flushed;
        state.frames.clear();
        state.bytes = 0;
        self.emptied.notify_all();
    }

    /// Writes until the queue is closed and empty. Flushes whenever it has caught up for a while, so that the file of a
    /// process that is killed lacks little.
    fn write_all(&self, mut pcap: PcapNgWriter<BufWriter<File>>) -> io::Result<()> {
        let mut train = VecDeque::new();
        let mut written = 0;
        loop {
            let mut state = lock(&self.state);
            let mut idle = false;
            while state.frames.is_empty() && !state.closed && state.flush_to <= state.flushed && !idle {
                if state.flushed == written {
                    state = wait(&self.filled, state);
                } else {
                    // Nothing to write after that, for whatever reason: what there is goes to the file.
                    (state, idle) = (wait_for(&self.filled, state, FLUSH_AFTER), true);
                }
            }
            std::mem::swap(&mut train, &mut state.frames);
            state.bytes = 0;
            let closed = state.closed;
            drop(state);
            written += train.len() as u64;
            let caught_up = train.is_empty();
            for (time, way, frame) in train.drain(..) {
                packet(&mut pcap, time, way, &frame)?;
            }
            if caught_up {
                pcap.get_mut().flush()?;
                lock(&self.state).flushed = written;
                self.emptied.notify_all();
                if closed {
                    return Ok(());
                }
            }
        }
    }
}

/// Section and interface headers.
fn head(file: BufWriter<File>, name: &str) -> io::Result<PcapNgWriter<BufWriter<File>>> {
    let mut pcap = PcapNgWriter::new(file).map_err(io_error)?;
    let mut interface = InterfaceDescriptionBlock::new(DataLink::ETHERNET, 0);
    interface.options = vec![
        InterfaceDescriptionOption::IfName(Cow::Owned(name.to_owned())),
        InterfaceDescriptionOption::IfTsResol(9), // Nanoseconds: the unit that pcap-file writes.
    ];
    pcap.write_pcapng_block(interface).map_err(io_error)?;
    pcap.get_mut().flush()?;
    Ok(pcap)
}

fn packet(pcap: &mut PcapNgWriter<BufWriter<File>>, timestamp: Duration, way: Way, frame: &Frame) -> io::Result<()> {
    let options = match way {
        Way::In => vec![EnhancedPacketOption::Flags(1)],
        Way::Out => vec![EnhancedPacketOption::Flags(2)],
        Way::Through => Vec::new(),
    };
    let original_len = u32::try_from(frame.len()).expect("a frame is short");
    let data = Cow::Borrowed(&frame[..]);
    pcap.write_pcapng_block(EnhancedPacketBlock { interface_id: 0, timestamp, original_len, data, options })
        .map_err(io_error)?;
    Ok(())
}

fn io_error(e: PcapError) -> io::Error {
    match e {
        PcapError::IoError(e) => e,
        other => io::Error::other(other),
    }
}

/// Most frames that wait to be written.
const QUEUE_FRAMES: usize = 65_536;

/// Most bytes that wait to be written: a tenth of a second at 5 Gb/s, more than a disk's hiccup.
const QUEUE_BYTES: usize = 64 << 20;

/// How long after the last frame the file is flushed.
const FLUSH_AFTER: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests {
    use pcap_file::pcapng::PcapNgReader;

    use super::*;
    use crate::Switch;

    fn frame(tag: u8, length: usize) -> Frame {
        let mut bytes = vec![tag; length];
        bytes[..6].copy_from_slice(&[0xff; 6]);
        bytes[6..12].copy_from_slice(&[2, 0, 0, 0, 0, tag]);
        bytes.into()
    }

    fn read(path: &Path) -> Vec<(Duration, Vec<u8>, Option<u32>)> {
        let mut reader = PcapNgReader::new(File::open(path).unwrap()).unwrap();
        let mut out = Vec::new();
        while let Some(block) = reader.next_block() {
            let Some(p) = block.unwrap().into_owned().into_enhanced_packet() else { continue };
            let flags = p.options.iter().find_map(|o| match o {
                EnhancedPacketOption::Flags(f) => Some(*f),
                _ => None,
            });
            assert_eq!(p.original_len as usize, p.data.len());
            out.push((p.timestamp, p.data.into_owned(), flags));
        }
        out
    }

    #[test]
    fn a_wire_is_captured_both_ways_and_read_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("both.pcapng");
        let switch = Switch::default();
        let capture = Capture::create(&path, "a", |e| panic!("{e}")).unwrap();
        let mut a = Captured::new(switch.attach("a").unwrap(), capture.clone());
        let mut b = switch.attach("b").unwrap();
        let began = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
        assert_eq!(a.send(&[frame(1, 60), frame(2, 9014)]).unwrap(), 2);
        b.send(&[frame(3, 61)]).unwrap();
        let mut got = Vec::new();
        a.recv(None, &mut got).unwrap();
        assert_eq!(got.len(), 1);
        capture.flush(); // The capture goes on, and yet all of this is in the file.
        let packets = read(&path);
        let seen: Vec<_> = packets.iter().map(|(_, data, flags)| (data.clone(), *flags)).collect();
        let want = [(frame(1, 60), Some(2)), (frame(2, 9014), Some(2)), (frame(3, 61), Some(1))];
        assert_eq!(seen, want.map(|(f, w)| (f.to_vec(), w)));
        assert!(packets.iter().all(|p| p.0 >= began && p.0 < began + Duration::from_secs(60)));
        assert_eq!(capture.stats(), CaptureStats { frames: 3, lost: 0, failed: false });
    }

    #[test]
    fn a_switch_tap_sees_each_frame_once_and_dropping_it_completes_the_file() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("tap.pcapng");
        let switch = Switch::default();
        switch.set_tap(Some(Capture::create(&path, "switch", |e| panic!("{e}")).unwrap()));
        let mut ports: Vec<_> = (0..5).map(|i| switch.attach(&format!("p{i}")).unwrap()).collect();
        let sent: Vec<_> = (0..100).map(|i| frame(i, 60 + usize::from(i))).collect();
        assert_eq!(ports[0].send(&sent).unwrap(), 100);
        switch.set_tap(None);
        let seen: Vec<_> = read(&path).into_iter().map(|p| Frame::from(p.1)).collect();
        assert_eq!(seen, sent);
    }

    #[test]
    fn a_full_disk_warns_once_and_frames_go_on() {
        let (tell, told) = std::sync::mpsc::channel();
        // Nothing but a full device: /dev/full takes no byte. The head is written when the file is made, so that a
        // hopeless place is refused at once.
        let refused = Capture::create(Path::new("/dev/full"), "x", |_| {});
        assert_eq!(refused.unwrap_err().source.kind(), io::ErrorKind::StorageFull);

        // A disk that fills up later: what was a good file becomes too small to grow.
        let queue = Arc::new(Queue::default());
        let theirs = Arc::clone(&queue);
        let file = File::options().write(true).open("/dev/full").unwrap();
        let pcap = PcapNgWriter::new(BufWriter::new(file)).unwrap();
        let thread = std::thread::spawn(move || {
            let mut pcap = pcap;
            pcap.write_pcapng_block(InterfaceDescriptionBlock::new(DataLink::ETHERNET, 0)).unwrap();
            if let Err(e) = theirs.write_all(pcap) {
                theirs.fail();
                tell.send(e.kind()).unwrap();
            }
        });
        let capture = Capture { writer: Arc::new(WriterThread { queue, thread: Some(thread) }) };
        let switch = Switch::default();
        switch.set_tap(Some(capture.clone()));
        let (mut a, mut b) = (switch.attach("a").unwrap(), switch.attach("b").unwrap());
        let mut got = Vec::new();
        for i in 0..50 {
            assert_eq!(a.send(&[frame(i, 9014)]).unwrap(), 1);
            b.recv(None, &mut got).unwrap();
        }
        capture.flush();
        assert_eq!(got.len(), 50);
        assert_eq!(told.recv().unwrap(), io::ErrorKind::StorageFull);
        assert!(capture.stats().failed);
        assert_eq!(a.send(&[frame(1, 60)]).unwrap(), 1, "traffic goes on");
        switch.set_tap(None);
        drop(capture);
        assert!(told.recv().is_err(), "it warned once");
    }
}
