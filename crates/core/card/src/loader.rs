//! Loading: an image is staged while the old role serves, checked, and only then committed.
//!
//! ```text
//! begin -> receiving -> staged --commit--> configuring -> active, or written and awaiting a restart
//!              |                                            (the claim may end meanwhile: it still completes)
//!              +-> failed: the old role serves on
//! ```
//!
//! Everything that can be wrong with an image is found before `staged`.

use rackloom_auth::ImageKey;
use rackloom_node::{Duration, Frame, Instant};
use rackloom_role::{RoleError, Sandbox};
use rackloom_wire::{
    self as wire, Counter, ErrorCode, Failure, Head, IMAGE_CHUNKS_MAX, ImageBegin, IntoBytes, Kind, MISSING_FRAMES,
    MISSING_RANGES, MacAddr, Packet, Poll, Restart, U16, U64, missing_report, parse_missing,
};

use crate::CardEvent;
use crate::config::{Config, STAGE_FIFO};
use crate::flash::Flash;
use crate::ready::{self, Ready, code_named};
use crate::shell::{Shell, earlier, time_for};
use crate::spent::Spent;
use crate::staging::Staging;

/// The loading block.
#[derive(Debug)]
pub(crate) struct Loader {
    load: Option<Load>,
    port: Option<Port>,
    /// Load numbers of this claim that are over. A late copy of their begin must not drop the present load.
    spent: Spent<u32, 8>,
}

/// A load that the card is a member of.
#[derive(Debug)]
struct Load {
    seq: u32,
    owner: MacAddr,
    begin: ImageBegin,
    key: Option<ImageKey>,
    phase: Phase,
    /// Number of the newest poll.
    poll: Option<u32>,
    /// There was one before it.
    polled_before: bool,
    answer: Option<Answer>,
    /// When the staging area is set up, and the answer to its owner then.
    ready: Option<(Instant, Head)>,
    /// When what is in the FIFO before the staging area has gone through it.
    fifo_empty: Instant,
    /// When the digest pipelines have taken in all blocks that are whole.
    digest_done: Instant,
}

/// Something to say at a random moment: what, the phase then tells.
#[derive(Debug, Clone, Copy)]
struct Answer {
    due: Instant,
    seq: u32,
}

#[derive(Debug)]
enum Phase {
    Receiving(Staging),
    Staged(Ready),
    Configuring,
    Active { configure: Duration },
    Written { write: Duration, restart: Restart },
    Failed { code: ErrorCode, text: String },
}

/// The configuration port at work.
#[derive(Debug)]
struct Port {
    ready: Ready,
    began: Instant,
    until: Instant,
    commit: u32,
}

impl Loader {
    pub(crate) const fn new() -> Self {
        Self { load: None, port: None, spent: Spent::new() }
    }

    /// The group that the card is a member of.
    pub(crate) fn group(&self) -> Option<u16> {
        self.load.as_ref().map(|l| l.begin.group.get())
    }

    /// True while an image is being staged or waits for its commit.
    pub(crate) fn is_loading(&self) -> bool {
        self.load.as_ref().is_some_and(|l| matches!(l.phase, Phase::Receiving(_) | Phase::Staged(_)))
    }

    /// True while the configuration port is writing.
    pub(crate) const fn is_configuring(&self) -> bool {
        self.port.is_some()
    }

    /// The claim is over: the load is forgotten. What the port has begun, it completes.
    pub(crate) fn forget(&mut self) {
        self.load = None;
        self.spent = Spent::new();
    }

    /// The owner begins a load.
    ///
    /// With a `key` its data is encrypted.
    pub(crate) fn begin(
        &mut self,
        now: Instant,
        shell: &mut Shell,
        asked: &Head,
        body: &ImageBegin,
        key: Option<ImageKey>,
    ) {
        let is_new = self.load.as_ref().is_none_or(|l| l.seq != asked.seq || l.begin != *body || l.key != key);
        if is_new {
            if self.spent.contains(asked.seq) {
                return shell.counters.inc(Counter::DropDuplicate);
            }
            if let Err((code, text)) = self.check_begin(shell, body) {
                shell.counters.inc(Counter::Refusals);
                return fail(shell, asked.src, body.group.get(), asked.seq, code, text);
            }
            let staging = Staging::new(body.length.get(), body.chunk.get());
            let load = Load {
                seq: asked.seq,
                owner: asked.src,
                begin: *body,
                key,
                phase: Phase::Receiving(staging),
                poll: None,
                polled_before: false,
                answer: None,
                ready: None,
                fifo_empty: now,
                digest_done: now,
            };
            if let Some(old) = self.load.replace(load)
                && old.seq != asked.seq
            {
                self.spent.insert(old.seq);
            }
        }
        let head = shell.head(asked.src, Kind::ImageConfirmReady, body.group.get(), asked.seq);
        let load = self.load.as_mut().expect("it is there, or has just begun");
        let took = shell.config.spent(|firmware| firmware.begin);
        if is_new && took > Duration::ZERO {
            load.ready = Some((now + took, head));
        } else if load.ready.is_none() {
            shell.send(head, &[]);
        }
    }

    fn check_begin(&self, shell: &Shell, body: &ImageBegin) -> Result<(), (ErrorCode, &'static str)> {
        let chunk = body.chunk.get();
        if self.port.is_some() {
            return Err((ErrorCode::Busy, "the card is configuring"));
        }
        if chunk == 0 || !chunk.is_multiple_of(wire::BEAT) || chunk > shell.config.bulk {
            return Err((ErrorCode::BadRequest, "the chunk is not a multiple of 64 that the card takes"));
        }
        if body.group.get() == 0 {
            return Err((ErrorCode::BadRequest, "the group is 0"));
        }
        if body.length.get() == 0 {
            return Err((ErrorCode::BadRequest, "the image is empty"));
        }
        if body.length.get() > shell.config.staging_max {
            return Err((ErrorCode::ImageTooLarge, "the image is larger than the staging area"));
        }
        if body.length.get().div_ceil(chunk.into()) > IMAGE_CHUNKS_MAX.into() {
            return Err((ErrorCode::BadRequest, "the image has too many chunks"));
        }
        Ok(())
    }

    /// A chunk, from the owner.
    pub(crate) fn data(&mut self, now: Instant, shell: &mut Shell, frame: &Frame, packet: &Packet<'_>) {
        let Some(load) = &mut self.load else { return };
        let Phase::Receiving(staging) = &mut load.phase else {
            // All chunks were there once.
            return shell.counters.inc(Counter::DropDuplicate);
        };
        let Some(index) = staging.index(packet.head.addr, packet.payload.len()) else {
            return shell.counters.inc(Counter::DropMalformed);
        };
        if staging.has(index) {
            return shell.counters.inc(Counter::DropDuplicate);
        }
        let rate = shell.config.stage_rate;
        if load.fifo_empty.saturating_since(now) > time_for(STAGE_FIFO, rate) {
            return shell.counters.inc(Counter::DropQueue);
        }
        load.fifo_empty = load.fifo_empty.max(now) + time_for(packet.payload.len() as u64, rate);
        shell.counters.inc(Counter::ImageChunks);
        let data = match &load.key {
            None => frame.slice_ref(packet.payload),
            Some(key) => {
                let mut plain = packet.payload.to_vec();
                key.mask(packet.head.addr, &mut plain);
                plain.into()
            }
        };
        let whole = staging.insert(index, data);
        if whole > 0 {
            let start = load.digest_done.max(load.fifo_empty);
            load.digest_done = start + time_for(whole, shell.config.digest_rate);
        }
    }

    /// The owner asks each member how far it is.
    pub(crate) fn poll(&mut self, now: Instant, shell: &mut Shell, asked: &Head, body: &Poll) {
        let Some(load) = &mut self.load else { return };
        if load.poll != Some(asked.seq) {
            load.polled_before = load.poll.replace(asked.seq).is_some();
            load.answer = None;
            if let Phase::Receiving(staging) = &mut load.phase {
                staging.clear_reported();
            }
        }
        if load.answer.is_none() {
            let due = now + shell.jitter_us(body.window_us.get());
            load.answer = Some(Answer { due, seq: asked.seq });
        }
    }

    /// Another member reports what it lacks.
    pub(crate) fn overhear(&mut self, shell: &mut Shell, packet: &Packet<'_>) {
        let Some(load) = &mut self.load else { return };
        let Some((_, ranges)) = parse_missing(packet.payload) else {
            return shell.counters.inc(Counter::DropMalformed);
        };
        if load.poll != Some(packet.head.seq) {
            return shell.counters.inc(Counter::DropWindow);
        }
        let Phase::Receiving(staging) = &mut load.phase else { return };
        // What was left out once and did not come is reported, whatever others say: their report may have been lost, or
        // be a lie.
        if load.polled_before {
            return;
        }
        let mut end = 0;
        for (first, chunks) in ranges {
            // Ascending, as every card sends them: so the work is bounded by the image, not by the frame.
            if first < end || !staging.note_reported(first, chunks) {
                return shell.counters.inc(Counter::DropMalformed);
            }
            end = first + chunks;
        }
    }

    /// The owner commits. True: the card must now stop its role and call [`configure`](Self::configure).
    pub(crate) fn commit(&mut self, now: Instant, shell: &mut Shell, asked: &Head) -> bool {
        let Some(load) = &mut self.load else { return false };
        match load.phase {
            Phase::Staged(_) => return true,
            Phase::Receiving(_)
            | Phase::Configuring
            | Phase::Active { .. }
            | Phase::Written { .. }
            | Phase::Failed { .. } => {
                load.answer_soon(now, shell, asked.seq);
            }
        }
        false
    }

    /// Starts the configuration port; with an image in the configuration flash that is there already, it has nothing to
    /// do.
    ///
    /// # Panics
    /// If no image is staged.
    pub(crate) fn configure(&mut self, now: Instant, shell: &mut Shell, commit: u32, flash: Option<&Flash>) {
        let load = self.load.as_mut().expect("a load is staged");
        let Phase::Staged(ready) = std::mem::replace(&mut load.phase, Phase::Configuring) else {
            unreachable!("a load is staged");
        };
        load.answer = None;
        load.answer_soon(now, shell, commit);
        let rest = shell.config.spent(|firmware| firmware.activate);
        let part = if flash.is_some_and(|f| f.has(&ready.digest)) { 0 } else { ready.part_bytes };
        let until = now + time_for(part, shell.config.config_rate) + rest;
        self.port = Some(Port { ready, began: now, until, commit });
    }

    /// The image whose configuration is complete; the card activates it and calls [`configured`](Self::configured).
    pub(crate) fn take_configured(&mut self, now: Instant) -> Option<(Ready, Configured)> {
        let port = self.port.take_if(|p| p.until <= now)?;
        Some((port.ready, Configured { took: port.until - port.began, commit: port.commit }))
    }

    /// The image is active, or its activation has failed.
    pub(crate) fn configured(
        &mut self,
        now: Instant,
        shell: &mut Shell,
        how: Configured,
        result: Result<(), RoleError>,
    ) {
        let Some(load) = self.load.as_mut().filter(|l| matches!(l.phase, Phase::Configuring)) else { return };
        load.phase = match result {
            Ok(()) => Phase::Active { configure: how.took },
            Err(e) => Phase::Failed { code: code_named(e.code_name()), text: e.to_string() },
        };
        load.answer_soon(now, shell, how.commit);
    }

    /// The image is in the configuration flash, and the card awaits this.
    pub(crate) fn written(&mut self, now: Instant, shell: &mut Shell, how: Configured, restart: Restart) {
        let Some(load) = self.load.as_mut().filter(|l| matches!(l.phase, Phase::Configuring)) else { return };
        load.phase = Phase::Written { write: how.took, restart };
        load.answer_soon(now, shell, how.commit);
    }

    /// The owner gives the load up.
    pub(crate) fn abort(&mut self) {
        if let Some(load) = self.load.take_if(|l| !matches!(l.phase, Phase::Configuring)) {
            self.spent.insert(load.seq);
        }
    }

    /// Does a bounded part of the digest's work when live, all of it when time is virtual; and checks the image when it
    /// is complete.
    pub(crate) fn work(&mut self, now: Instant, shell: &mut Shell, sandbox: &dyn Sandbox, ddr_bytes: u64) {
        let Some(load) = &mut self.load else { return };
        let checked = load.checked(&shell.config);
        let Phase::Receiving(staging) = &mut load.phase else { return };
        let live = shell.config.pace.is_live();
        while staging.hash_block() && !live {}
        let Some(digest) = staging.digest() else { return };
        if !live && checked > now {
            return;
        }
        load.phase = match ready::check(shell, staging, digest, &load.begin.digest, sandbox, ddr_bytes) {
            Ok(ready) => {
                shell.event(CardEvent::Staged { digest });
                Phase::Staged(ready)
            }
            Err((code, text)) => {
                shell.counters.inc(Counter::ImagesFailed);
                shell.event(CardEvent::LoadFailed { code, text: text.clone() });
                Phase::Failed { code, text }
            }
        };
        let seq = load.seq;
        load.answer_soon(now, shell, seq);
    }

    /// Says what is due.
    pub(crate) fn timeout(&mut self, now: Instant, shell: &mut Shell) {
        if let Some(load) = &mut self.load
            && let Some((_, head)) = load.ready.take_if(|(due, _)| *due <= now)
        {
            shell.send(head, &[]);
        }
        if let Some(load) = &mut self.load
            && let Some(answer) = load.answer.take_if(|a| a.due <= now)
        {
            load.speak(shell, answer.seq);
        }
    }

    pub(crate) fn deadline(&self, config: &Config) -> Option<Instant> {
        let port = self.port.as_ref().map(|p| p.until);
        let Some(load) = &self.load else { return port };
        let answer = earlier(load.answer.map(|a| a.due), load.ready.map(|(due, _)| due));
        let digest = match &load.phase {
            Phase::Receiving(s) if config.pace.is_live() => s.is_behind().then_some(Instant::ZERO),
            Phase::Receiving(s) => s.digest().map(|_| load.checked(config)),
            _ => None,
        };
        earlier(earlier(port, answer), digest)
    }

    /// Bytes held for the present load.
    pub(crate) fn bytes(&self) -> usize {
        match self.load.as_ref().map(|l| &l.phase) {
            Some(Phase::Receiving(staging)) => staging.bytes(),
            _ => 0,
        }
    }

    pub(crate) fn check_invariants(&self) {
        if let Some(load) = &self.load {
            if let Phase::Receiving(staging) = &load.phase {
                staging.check_invariants();
            }
            assert!(!matches!(load.phase, Phase::Configuring) || self.port.is_some());
            assert!(!self.spent.contains(load.seq));
        }
    }
}

impl Load {
    /// When everything about the image is known, once all of it is there.
    fn checked(&self, config: &Config) -> Instant {
        self.digest_done + config.spent(|firmware| firmware.check)
    }

    /// An answer within a time in which each member's has room on a 10 Gb/s port.
    fn answer_soon(&mut self, now: Instant, shell: &mut Shell, seq: u32) {
        if self.answer.is_none() {
            let members = u64::from(self.begin.members.get().clamp(1, MEMBERS_MAX));
            let jitter = shell.rng.below(members * ANSWER_NS);
            self.answer = Some(Answer { due: now + Duration::from_nanos(jitter), seq });
        }
    }

    fn speak(&self, shell: &mut Shell, seq: u32) {
        let group = self.begin.group.get();
        match &self.phase {
            Phase::Receiving(staging) => report(shell, staging, group, seq),
            Phase::Staged(_) => shell.send(shell.head(self.owner, Kind::ImageConfirmStaged, group, seq), &[]),
            Phase::Configuring => shell.send(shell.head(self.owner, Kind::ImageConfirmCommitted, group, seq), &[]),
            Phase::Active { configure } => {
                let body = wire::Active { digest: self.begin.digest, configure_ns: nanoseconds(*configure) };
                shell.send(shell.head(self.owner, Kind::ImageConfirmActive, group, seq), &[body.as_bytes()]);
            }
            Phase::Written { write, restart } => {
                let (digest, write_ns, restart) = (self.begin.digest, nanoseconds(*write), u8::from(*restart));
                let body = wire::Written { digest, write_ns, restart, reserved: [0; 7] };
                shell.send(shell.head(self.owner, Kind::ImageConfirmWritten, group, seq), &[body.as_bytes()]);
            }
            Phase::Failed { code, text } => fail(shell, self.owner, group, seq, *code, text),
        }
    }
}

fn nanoseconds(time: Duration) -> U64 {
    U64::new(u64::try_from(time.as_nanos()).unwrap_or(u64::MAX))
}

/// How a configuration went.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Configured {
    took: Duration,
    commit: u32,
}

fn report(shell: &mut Shell, staging: &Staging, group: u16, poll: u32) {
    let report = staging.report((MISSING_FRAMES * MISSING_RANGES) as usize);
    shell.counters.add(Counter::ImageSuppressed, report.suppressed);
    let head = shell.head(MacAddr::group(group), Kind::ImageConfirmMissing, group, poll);
    // A report without ranges still tells that this card is there and not ready.
    // A tag takes some of a frame's room.
    let most = MISSING_RANGES as usize - if shell.config.keys.is_some() { usize::from(wire::BEAT) / 8 } else { 0 };
    let frames = report.ranges.chunks(most).count().max(1);
    for i in 0..frames {
        let ranges = report.ranges.chunks(most).nth(i).unwrap_or_default();
        let more = u16::try_from(frames - 1 - i).expect("at most 16 frames");
        shell.counters.inc(Counter::ImageReports);
        shell.send(head, &[&missing_report(staging.missing(), ranges, more)]);
    }
}

fn fail(shell: &mut Shell, to: MacAddr, group: u16, seq: u32, code: ErrorCode, text: &str) {
    let body = Failure { code: U16::new(code.into()), reserved: [0; 6] };
    let text = &text.as_bytes()[..text.floor_char_boundary(FAILURE_TEXT_MAX)];
    shell.send(shell.head(to, Kind::ImageConfirmFailed, group, seq), &[body.as_bytes(), text]);
}

/// Bytes of text in a failure.
const FAILURE_TEXT_MAX: usize = 64;
/// Nanoseconds that each member adds to the window of unsolicited answers: a short frame takes 67 ns at 10 Gb/s.
const ANSWER_NS: u64 = 100;
/// Bound on what a begin may claim of its members, for the jitter.
const MEMBERS_MAX: u32 = 1 << 16;
