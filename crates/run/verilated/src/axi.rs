//! The card's DDR as the gateware sees it: an AXI4 memory with one data bus for reads and writes.
//!
//! It is as unhelpful as the protocol allows. A write takes effect when its answer is given, and a read takes its data
//! when it is asked: a card that does not wait for an answer reads what was there before. It also holds the card to
//! the protocol; what breaks it is a bug of the gateware, and a panic.

use std::collections::VecDeque;

use rackloom_ddr::Ddr;
use rackloom_node::Rng;
use rackloom_role::MemoryError;

use crate::DdrTiming;
use crate::bus::{Bus, Way};
use crate::ffi::{AxiIn, AxiOut, BEAT_BYTES};

/// One port.
#[derive(Debug)]
pub(crate) struct Port {
    timing: DdrTiming,
    rng: Rng,
    /// Cycles of the port's clock.
    cycle: u64,
    bus: Bus,
    wires: AxiIn,
    waiting: Waiting,
    /// Until then what is offered may be taken back: the card begins anew.
    excused_until: u64,
    /// Writes whose beats have not all come.
    bursts: VecDeque<Burst>,
    beats: VecDeque<Beat>,
    /// Writes that are here and have not all gone over the bus.
    storing: VecDeque<Burst>,
    /// Beats of writes that are here and have not gone over the bus.
    unstored: usize,
    /// Writes that wait for their answer.
    written: VecDeque<(u64, Burst)>,
    /// Beats on their way to the card.
    read: VecDeque<(u64, ReadBeat)>,
    refused: u64,
    failed: u64,
}

/// What the card has offered and the memory has not taken: it must not change.
#[derive(Debug, Default)]
struct Waiting {
    aw: Option<(u64, u8, u16)>,
    w: Option<Beat>,
    ar: Option<(u64, u8, u16)>,
}

#[derive(Debug)]
struct Burst {
    addr: u64,
    beats_left: u32,
    id: u16,
    beats: Vec<Beat>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Beat {
    data: [u8; BEAT_BYTES],
    strobes: u64,
    last: bool,
}

#[derive(Debug)]
struct ReadBeat {
    data: [u8; BEAT_BYTES],
    response: u8,
    id: u16,
    last: bool,
}

impl Port {
    pub(crate) fn new(timing: DdrTiming, seed: u64) -> Self {
        Self {
            timing,
            rng: Rng::new(seed),
            cycle: 0,
            bus: Bus::new(timing.turnaround),
            wires: AxiIn::QUIET,
            waiting: Waiting::default(),
            excused_until: 0,
            bursts: VecDeque::new(),
            beats: VecDeque::new(),
            storing: VecDeque::new(),
            unstored: 0,
            written: VecDeque::new(),
            read: VecDeque::new(),
            refused: 0,
            failed: 0,
        }
    }

    /// What the memory says at the next edge.
    pub(crate) const fn wires(&self) -> &AxiIn {
        &self.wires
    }

    /// Nothing is under way.
    pub(crate) fn is_idle(&self) -> bool {
        let writes = self.bursts.is_empty() && self.unstored == 0 && self.written.is_empty();
        writes && self.read.is_empty() && !self.wires.bvalid && !self.wires.rvalid
    }

    /// Accesses outside the memory so far; they were answered with errors.
    pub(crate) const fn refused(&self) -> u64 {
        self.refused
    }

    /// Accesses so far to memory that is at fault; they were answered with errors.
    pub(crate) const fn failed(&self) -> u64 {
        self.failed
    }

    /// The card begins anew: what it has offered may be gone.
    pub(crate) const fn excuse(&mut self) {
        self.excused_until = self.cycle + RESET_CYCLES;
    }

    /// An edge at which the card said `out`.
    pub(crate) fn edge(&mut self, out: &AxiOut, ddr: &Ddr) {
        self.cycle += 1;
        let asks = (out.awvalid | out.wvalid | out.arvalid) != 0;
        let ready = self.wires.awready && self.wires.wready && self.wires.arready;
        if !asks && ready && self.timing.stalls == 0 && self.is_idle() {
            return;
        }
        self.hold_to_protocol(out);
        self.take(out, ddr);
        self.gather();
        if ddr.answers() {
            self.offer(ddr);
        } else {
            self.failed += u64::from(asks);
            self.take_more();
        }
    }

    /// What is offered stays offered, as it is, until it is taken.
    fn hold_to_protocol(&mut self, out: &AxiOut) {
        let aw = (out.awvalid != 0).then_some((out.awaddr, out.awlen, out.awid));
        let w = (out.wvalid != 0).then(|| Beat::of(out));
        let ar = (out.arvalid != 0).then_some((out.araddr, out.arlen, out.arid));
        let waiting = core::mem::take(&mut self.waiting);
        let waiting = if self.cycle < self.excused_until { Waiting::default() } else { waiting };
        assert!(waiting.aw.is_none() || waiting.aw == aw, "AW changed before it was taken");
        assert!(waiting.w.is_none() || waiting.w == w, "W changed before it was taken");
        assert!(waiting.ar.is_none() || waiting.ar == ar, "AR changed before it was taken");
        let asked = [(aw, WRITES_MAX), (ar, READ_BURST_MAX)];
        for ((addr, len, _), longest) in asked.into_iter().filter_map(|(asked, longest)| Some((asked?, longest))) {
            let inside = beat_of(addr) % BOUNDARY + (u64::from(len) + 1) * BEAT_BYTES as u64;
            assert!(usize::from(len) < longest, "a burst from {addr:#x} on is longer than the card's are");
            assert!(inside <= BOUNDARY, "a burst from {addr:#x} on crosses a boundary of 4 KiB");
        }
        let wires = &self.wires;
        self.waiting = Waiting {
            aw: aw.filter(|_| !wires.awready),
            w: w.filter(|_| !wires.wready),
            ar: ar.filter(|_| !wires.arready),
        };
    }

    /// What was offered and taken at this edge.
    fn take(&mut self, out: &AxiOut, ddr: &Ddr) {
        if out.bready != 0 {
            self.wires.bvalid = false;
        }
        if out.rready != 0 {
            self.wires.rvalid = false;
        }
        if self.wires.awready && out.awvalid != 0 {
            let beats_left = u32::from(out.awlen) + 1;
            self.bursts.push_back(Burst { addr: beat_of(out.awaddr), beats_left, id: out.awid, beats: Vec::new() });
        }
        if self.wires.wready && out.wvalid != 0 {
            self.beats.push_back(Beat::of(out));
            self.unstored += 1;
        }
        if self.wires.arready && out.arvalid != 0 {
            self.start_read(out, ddr);
        }
    }

    fn start_read(&mut self, out: &AxiOut, ddr: &Ddr) {
        let due = self.cycle + u64::from(self.timing.latency);
        let mut at = self.read.len();
        if self.timing.mixes {
            at = self.read.iter().rposition(|(_, beat)| beat.id == out.arid).map_or(0, |last| last + 1);
        }
        for i in 0..=out.arlen {
            let mut data = [0; BEAT_BYTES];
            let result = ddr.read(beat_of(out.araddr) + u64::from(i) * BEAT_BYTES as u64, &mut data);
            let response = self.respond(&result);
            if self.timing.mixes {
                at += self.rng.below((self.read.len() - at) as u64 + 1) as usize;
            }
            self.read.insert(at, (due, ReadBeat { data, response, id: out.arid, last: i == out.arlen }));
            at += 1;
        }
    }

    /// Gives the beats of writes to their bursts.
    fn gather(&mut self) {
        while let Some(burst) = self.bursts.front_mut()
            && let Some(beat) = self.beats.pop_front()
        {
            burst.beats_left -= 1;
            assert_eq!(beat.last, burst.beats_left == 0, "WLAST is not the burst's end");
            burst.beats.push(beat);
            if beat.last {
                burst.beats_left = burst.beats.len() as u32;
                self.storing.extend(self.bursts.pop_front());
            }
        }
    }

    /// A beat goes over the bus, if one can.
    fn store_or_fetch(&mut self) {
        let cycle = self.cycle;
        let reads = !self.wires.rvalid && !self.stalls() && self.read.front().is_some_and(|(due, _)| *due <= cycle);
        match self.bus.next(cycle, reads, !self.storing.is_empty()) {
            Some(Way::Read) => {
                let (_, beat) = self.read.pop_front().expect("there is one to read");
                self.wires.rvalid = true;
                self.wires.rdata = beat.data;
                self.wires.rresp = beat.response;
                self.wires.rid = beat.id;
                self.wires.rlast = beat.last;
            }
            Some(Way::Write) => {
                let burst = self.storing.front_mut().expect("there is one to write");
                burst.beats_left -= 1;
                self.unstored -= 1;
                if burst.beats_left == 0 {
                    let due = cycle + u64::from(self.timing.latency);
                    self.written.extend(self.storing.pop_front().map(|burst| (due, burst)));
                }
            }
            None => {}
        }
    }

    /// What the memory says next.
    fn offer(&mut self, ddr: &Ddr) {
        self.store_or_fetch();
        let cycle = self.cycle;
        if !self.wires.bvalid
            && !self.stalls()
            && let Some(burst) = self.next_written(cycle)
        {
            self.wires.bresp = self.respond(&burst.apply(ddr));
            self.wires.bvalid = true;
            self.wires.bid = burst.id;
        }
        self.take_more();
    }

    /// Whether it takes what comes next.
    fn take_more(&mut self) {
        let writes = self.bursts.len() + self.storing.len() + self.written.len();
        self.wires.awready = writes < OUTSTANDING && !self.stalls();
        self.wires.wready = self.unstored < WRITES_MAX && !self.stalls();
        self.wires.arready = self.read.len() < READS_MAX && !self.stalls();
    }

    /// The next write that is due for its answer: the oldest, or the oldest of any id.
    fn next_written(&mut self, cycle: u64) -> Option<Burst> {
        let due = self.written.partition_point(|(due, _)| *due <= cycle);
        let any = if self.timing.mixes && due > 0 { self.rng.below(due as u64) as usize } else { 0 };
        let id = self.written.get(any).filter(|_| due > 0)?.1.id;
        let first = self.written.iter().position(|(_, burst)| burst.id == id)?;
        self.written.remove(first).map(|(_, burst)| burst)
    }

    /// What the memory says to an access.
    fn respond(&mut self, result: &Result<(), MemoryError>) -> u8 {
        match result {
            Ok(()) => OKAY,
            Err(MemoryError::Failed { .. }) => {
                self.failed += 1;
                SLAVE_ERROR
            }
            Err(_) => {
                self.refused += 1;
                DECODE_ERROR
            }
        }
    }

    fn stalls(&mut self) -> bool {
        self.timing.stalls > 0 && self.rng.below(256) < self.timing.stalls.into()
    }
}

impl Beat {
    const fn of(out: &AxiOut) -> Self {
        Self { data: out.wdata, strobes: out.wstrb, last: out.wlast != 0 }
    }
}

impl Burst {
    fn apply(&self, ddr: &Ddr) -> Result<(), MemoryError> {
        for (addr, beat) in (self.addr..).step_by(BEAT_BYTES).zip(&self.beats) {
            let mut at = 0;
            while at < BEAT_BYTES {
                let rest = beat.strobes >> at;
                let skip = rest.trailing_zeros() as usize;
                let from = (at + skip).min(BEAT_BYTES);
                let count = (!(rest.checked_shr(skip as u32).unwrap_or(0))).trailing_zeros() as usize;
                let to = (from + count).min(BEAT_BYTES);
                ddr.write(addr + from as u64, &beat.data[from..to])?;
                at = to.max(from + 1);
            }
        }
        Ok(())
    }
}

/// The address of a beat: the bits below are not looked at, for all transfers are whole beats.
const fn beat_of(addr: u64) -> u64 {
    addr & !(BEAT_BYTES as u64 - 1)
}

/// Written bursts that are not answered, at most.
const OUTSTANDING: usize = 32;
/// Beats that wait for the bus, at most: to be written, and to be read, those of the last burst not counted.
const WRITES_MAX: usize = 16;
const READS_MAX: usize = 48;
/// Beats of a wide shell's longest read: all that lie within a boundary.
const READ_BURST_MAX: usize = 64;
/// Cycles within which the card's reset has come to its port.
const RESET_CYCLES: u64 = 256;
/// No burst goes across a multiple of this.
const BOUNDARY: u64 = 4096;
const OKAY: u8 = 0;
const SLAVE_ERROR: u8 = 2;
const DECODE_ERROR: u8 = 3;

#[cfg(test)]
mod tests {
    use super::*;

    const LATENCY: DdrTiming = DdrTiming { latency: 5, turnaround: 2, stalls: 0, mixes: false };

    /// Edges with nothing asked.
    fn wait(port: &mut Port, ddr: &Ddr, cycles: usize) {
        for _ in 0..cycles {
            port.edge(&AxiOut { bready: 1, ..AxiOut::QUIET }, ddr);
        }
    }

    /// Edges at which the card takes nothing, until the memory says so.
    fn until(port: &mut Port, ddr: &Ddr, says: impl Fn(&AxiIn) -> bool) {
        for _ in 0..40 {
            if says(port.wires()) {
                return;
            }
            port.edge(&AxiOut::QUIET, ddr);
        }
        panic!("it says {:?}", port.wires());
    }

    fn port() -> (Port, Ddr) {
        let (mut port, ddr) = (Port::new(LATENCY, 1), Ddr::new(1 << 16).unwrap());
        wait(&mut port, &ddr, 1);
        (port, ddr)
    }

    fn write(addr: u64, strobes: u64) -> AxiOut {
        let data = core::array::from_fn(|i| i as u8 + 1);
        let aw = AxiOut { awvalid: 1, awaddr: addr, awlen: 0, awid: 2, ..AxiOut::QUIET };
        AxiOut { wvalid: 1, wdata: data, wstrb: strobes, wlast: 1, ..aw }
    }

    #[test]
    fn strobes_choose_the_bytes() {
        for strobes in [0, 1, u64::MAX, 1 << 63, 0x8000_0000_0000_0001, 0x00ff_0000_ff00_0ff0, 0xaaaa_5555_0f0f_f0f0] {
            let (mut port, ddr) = port();
            port.edge(&write(128, strobes), &ddr);
            wait(&mut port, &ddr, 10);
            assert!(port.is_idle());
            let mut bytes = [0; 64];
            ddr.read(128, &mut bytes).unwrap();
            let wanted = core::array::from_fn(|i| if strobes >> i & 1 == 1 { i as u8 + 1 } else { 0 });
            assert_eq!(bytes, wanted, "{strobes:#x}");
        }
    }

    #[test]
    fn a_read_that_does_not_wait_for_the_write_sees_what_was_before() {
        let (mut port, ddr) = port();
        let read = AxiOut { arvalid: 1, araddr: 128, arid: 1, ..AxiOut::QUIET };
        port.edge(&AxiOut { arvalid: 1, araddr: 128, ..write(128, u64::MAX) }, &ddr);
        until(&mut port, &ddr, |wires| wires.bvalid && wires.rvalid);
        assert_eq!(port.wires().rdata, [0; 64]);
        port.edge(&AxiOut { bready: 1, rready: 1, ..read }, &ddr);
        until(&mut port, &ddr, |wires| wires.rvalid);
        let wires = port.wires();
        assert_eq!((wires.rvalid, wires.rdata[0], wires.rlast, wires.rid, wires.rresp), (true, 1, true, 1, OKAY));
        assert!(!wires.bvalid);
    }

    #[test]
    fn bursts_go_on_beat_by_beat() {
        let (mut port, ddr) = port();
        ddr.write(0, &[7; 128]).unwrap();
        port.edge(&AxiOut { arvalid: 1, araddr: 0, arlen: 1, ..AxiOut::QUIET }, &ddr);
        let mut lasts = Vec::new();
        for _ in 0..20 {
            if port.wires().rvalid {
                lasts.push(port.wires().rlast);
            }
            port.edge(&AxiOut { rready: 1, ..AxiOut::QUIET }, &ddr);
        }
        assert_eq!(lasts, [false, true]);
    }

    #[test]
    fn outside_is_an_error_and_no_end() {
        let (mut port, ddr) = port();
        port.edge(&write(1 << 16, u64::MAX), &ddr);
        until(&mut port, &ddr, |wires| wires.bvalid);
        assert_eq!(port.wires().bresp, DECODE_ERROR);
        port.edge(&AxiOut { arvalid: 1, araddr: 1 << 30, ..AxiOut::QUIET }, &ddr);
        until(&mut port, &ddr, |wires| wires.rvalid);
        assert_eq!((port.wires().rresp, port.refused()), (DECODE_ERROR, 2));
    }

    #[test]
    fn stalls_delay_and_lose_nothing() {
        let ddr = Ddr::new(1 << 16).unwrap();
        let mut port = Port::new(DdrTiming { latency: 3, turnaround: 1, stalls: 200, mixes: false }, 7);
        let (mut sent, mut answered) = (0u64, 0);
        for _ in 0..5000 {
            let wires = *port.wires();
            answered += u64::from(wires.bvalid);
            // A card that offers address and data in the same cycle until both are taken.
            let out = if wires.awready && wires.wready && sent < 64 {
                sent += 1;
                write(sent * 64, u64::MAX)
            } else {
                AxiOut::QUIET
            };
            port.edge(&AxiOut { bready: 1, ..out }, &ddr);
        }
        assert_eq!((sent, answered), (64, 64));
        assert_eq!(ddr.view(64 * 64, 64, |b| b[63]).unwrap(), 64);
    }

    #[test]
    fn mixed_beats_keep_the_order_of_their_id() {
        let ddr = Ddr::new(1 << 16).unwrap();
        for beat in 0..64u64 {
            ddr.write(beat * 64, &[beat as u8; 64]).unwrap();
        }
        let mut port = Port::new(DdrTiming { mixes: true, ..LATENCY }, 3);
        wait(&mut port, &ddr, 1);
        let mut came = Vec::new();
        for cycle in 0..200u64 {
            // Bursts of four beats, with three ids by turns.
            let ask = AxiOut { arvalid: 1, araddr: cycle * 256, arlen: 3, arid: (cycle % 3) as u16, ..AxiOut::QUIET };
            let wires = *port.wires();
            assert!(cycle >= 9 || wires.arready);
            if wires.rvalid {
                came.push((wires.rid, wires.rdata[0], wires.rlast));
            }
            port.edge(&AxiOut { rready: 1, ..if cycle < 9 { ask } else { AxiOut::QUIET } }, &ddr);
        }
        for id in 0..3u16 {
            let own: Vec<_> = came.iter().filter(|beat| beat.0 == id).map(|beat| (beat.1, beat.2)).collect();
            let beats = (0..3).flat_map(|burst| (0..4).map(move |beat| (12 * burst + 4 * id as u8 + beat, beat == 3)));
            assert_eq!(own, beats.collect::<Vec<_>>(), "id {id}");
        }
        assert!(!came.is_sorted_by_key(|beat| beat.1), "nothing was mixed");
    }

    #[test]
    #[should_panic(expected = "AW changed")]
    fn what_is_offered_may_not_change() {
        let ddr = Ddr::new(1 << 16).unwrap();
        let mut port = Port::new(LATENCY, 1);
        port.edge(&write(64, 1), &ddr);
        port.edge(&AxiOut { awaddr: 128, ..write(64, 1) }, &ddr);
    }

    #[test]
    #[should_panic(expected = "4 KiB")]
    fn a_burst_may_not_cross_a_boundary() {
        let (mut port, ddr) = port();
        port.edge(&AxiOut { arvalid: 1, araddr: 4096 - 64, arlen: 1, ..AxiOut::QUIET }, &ddr);
    }
}
