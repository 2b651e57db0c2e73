//! Which frame goes to which block, and what is asked of the sender first.

use rackloom_auth::ImageKey;
use rackloom_node::{Frame, Instant};
use rackloom_wire::{
    self as wire, BULK_STANDARD, Counter, ErrorCode, Head, IntoBytes, Kind, Packet, Scrub, U16, U32, U64,
};
use zerocopy::{FromBytes, Immutable, KnownLayout, Unaligned};

use super::{Card, Power, role_mut};
use crate::ReleaseReason;
use crate::bridge::Bridge;
use crate::launches::{self, Turn};
use crate::session::Verdict;

impl Card {
    pub(super) fn dispatch(&mut self, now: Instant, frame: &Frame, packet: &Packet<'_>) {
        let head = &packet.head;
        match head.kind {
            Kind::DiscoverySolicit => {
                let Some(body) = self.exactly(packet) else { return };
                let facts = self.facts();
                if let Power::On { discovery, .. } = &mut self.power {
                    discovery.solicit(now, &mut self.shell, &facts, head, body);
                }
            }
            Kind::SessionClaim => self.on_claim(now, packet),
            Kind::SessionRelease => self.on_release(now, packet),
            Kind::SessionPing => self.on_ping(now, packet),
            Kind::SessionCountersGet => {
                if self.is_empty(packet) {
                    let values = self.shell.counters.wire(head.addr);
                    let answer = self.shell.head(head.src, Kind::SessionCounters, head.epoch, head.seq);
                    self.shell.send(Head { addr: head.addr, ..answer }, &[values.as_bytes()]);
                }
            }
            Kind::SessionManifestGet => self.on_manifest_get(packet),
            Kind::SessionWindowSet => self.on_window_set(now, packet),
            Kind::SessionRouteSet => self.on_route_set(now, packet),
            Kind::ImageBegin => {
                let Some((body, key)) = self.begin_of(packet) else { return };
                if !self.is_admitted(head) {
                    return self.stale_begin(head, body);
                }
                if key.is_some() != self.encrypts() {
                    return self.shell.counters.inc(Counter::DropMalformed);
                }
                self.session.renew(now);
                self.loader.begin(now, &mut self.shell, head, body, key);
            }
            Kind::ImageData | Kind::ImagePoll | Kind::ImageCommit | Kind::ImageAbort => {
                if !self.is_admitted(head) {
                    return self.shell.counters.inc(Counter::DropEpoch);
                }
                if self.is_proven(head) {
                    self.session.renew(now);
                }
                self.on_image(now, frame, packet);
            }
            Kind::ImageConfirmMissing => {
                if !self.is_admitted(head) {
                    return self.shell.counters.inc(Counter::DropEpoch);
                }
                self.loader.overhear(&mut self.shell, packet);
            }
            Kind::InputWrite => {
                if self.is_fresh(now, head, Kind::InputConfirmNak) || self.ignores_epoch(head) {
                    self.memory.write(now, &mut self.shell, &*self.ddr, head, packet.payload);
                }
            }
            Kind::InputRead => {
                let Some(body) = self.exactly(packet) else { return };
                if self.is_fresh(now, head, Kind::InputConfirmNak) {
                    self.memory.read(now, &mut self.shell, &*self.ddr, head, body);
                }
            }
            Kind::ExecLaunch => self.on_launch(now, packet),
            Kind::ExecGo => self.on_go(now, packet),
            Kind::ExecCancel => {
                if self.is_empty(packet) && self.is_fresh(now, head, Kind::ResultRefused) {
                    let role = role_mut(&mut self.role);
                    let ended = self.launches.cancel(now, &mut self.shell, role, head.seq);
                    match ended.or_else(|| self.cancel_program(now, head.seq)) {
                        Some(ended) => self.keep(now, &ended),
                        None => self.recall(head),
                    }
                }
            }
            Kind::ExecQuery => {
                if self.is_empty(packet) && self.is_fresh(now, head, Kind::ResultRefused) {
                    self.recall(head);
                }
            }
            Kind::ExecResultAck => {
                let Some(body) = self.exactly(packet) else { return };
                if !self.is_admitted(head) {
                    return self.shell.counters.inc(Counter::DropEpoch);
                }
                self.session.renew(now);
                self.results.acknowledge(now, &mut self.shell, head.seq, body);
            }
            // The analyzer lets no other kind through.
            _ => unreachable!("{} reached the dispatcher", head.kind.name()),
        }
    }

    /// The payload, if it is exactly what its kind requires; else the frame is dropped.
    pub(super) fn exactly<'a, T>(&mut self, packet: &Packet<'a>) -> Option<&'a T>
    where
        T: FromBytes + KnownLayout + Immutable + Unaligned,
    {
        let body = packet.view::<T>().filter(|(_, rest)| rest.is_empty()).map(|(body, _)| body);
        if body.is_none() {
            self.shell.counters.inc(Counter::DropMalformed);
        }
        body
    }

    /// A begin and, behind it, the key of the load's data if that is encrypted.
    fn begin_of<'a>(&mut self, packet: &Packet<'a>) -> Option<(&'a wire::ImageBegin, Option<ImageKey>)> {
        let (body, rest) = packet.view::<wire::ImageBegin>().unzip();
        let key = rest.filter(|rest| !rest.is_empty()).map(wire::BeginKey::read_from_bytes);
        if let (Some(body), Ok(key)) = (body, key.transpose()) {
            return Some((body, key.map(|key| ImageKey::new(key.key))));
        }
        self.shell.counters.inc(Counter::DropMalformed);
        None
    }

    /// The same for kinds without a payload.
    fn is_empty(&mut self, packet: &Packet<'_>) -> bool {
        if !packet.payload.is_empty() {
            self.shell.counters.inc(Counter::DropMalformed);
        }
        packet.payload.is_empty()
    }

    /// Asks [`Filter::admits`], which decides.
    fn is_admitted(&self, head: &Head) -> bool {
        self.filter().admits(head)
    }

    /// True when the sender holds what the kind requires; its lease is then renewed. If not, the frame is dropped and
    /// refused, so that a host that has lost its claim learns it at once.
    pub(super) fn is_fresh(&mut self, now: Instant, head: &Head, refusal: Kind) -> bool {
        let fresh = self.is_admitted(head);
        if fresh {
            self.session.renew(now);
        } else {
            self.shell.counters.inc(Counter::DropEpoch);
            if !self.ignores_epoch(head) {
                let present = self.epoch().unwrap_or(0);
                self.shell.refuse(head, refusal, ErrorCode::StaleEpoch, present.into());
            }
        }
        fresh
    }

    #[cfg(feature = "planted-bugs")]
    fn ignores_epoch(&self, head: &Head) -> bool {
        head.kind == Kind::InputWrite
            && self.shell.config.planted == Some(crate::PlantedBug::IgnoreEpoch)
            && self.owner() == Some(head.src)
    }

    #[cfg(not(feature = "planted-bugs"))]
    #[allow(clippy::unused_self)]
    const fn ignores_epoch(&self, _: &Head) -> bool {
        false
    }

    fn stale_begin(&mut self, head: &Head, body: &wire::ImageBegin) {
        self.shell.counters.inc(Counter::DropEpoch);
        self.shell.counters.inc(Counter::Refusals);
        let failure = wire::Failure { code: U16::new(ErrorCode::StaleEpoch.into()), reserved: [0; 6] };
        let answer = self.shell.head(head.src, Kind::ImageConfirmFailed, body.group.get(), head.seq);
        self.shell.send(answer, &[failure.as_bytes()]);
    }

    fn on_claim(&mut self, now: Instant, packet: &Packet<'_>) {
        let Some(body) = self.exactly::<wire::Claim>(packet) else { return };
        let head = &packet.head;
        if self.is_faulty() {
            return self.shell.refuse(head, Kind::SessionRefuse, ErrorCode::MemoryFault, 0);
        }
        if self.needs_encryption(head) {
            return self.shell.refuse(head, Kind::SessionRefuse, ErrorCode::EncryptionNeeded, 0);
        }
        match self.session.judge(now, head, body) {
            Verdict::No(code, holder, detail) => {
                self.shell.refuse_held(head, Kind::SessionRefuse, code, holder, detail);
            }
            Verdict::Again => {
                self.session.renew(now);
                self.send_grant(head.seq);
            }
            Verdict::Waits => self.session.wait(head, body),
            Verdict::New(scrub) => {
                self.end_claim(now, ReleaseReason::TakenOver);
                self.session.wait(head, body);
                if scrub == Scrub::Zero {
                    self.begin_zeroing(now);
                }
                self.grant_next(now);
            }
        }
    }

    pub(super) fn send_grant(&mut self, seq: u32) {
        let claim = *self.session.claim().expect("it is granted");
        let lease_ms = u32::try_from(claim.lease.as_millis()).expect("at most a minute");
        let grant = wire::Grant {
            nonce: U64::new(claim.nonce),
            lease_ms: U32::new(lease_ms),
            boot: U32::new(self.shell.config.boot),
        };
        let answer = self.shell.head(claim.owner, Kind::SessionGrant, claim.epoch, seq);
        let answer = Head { flags: self.grant_flags(), ..answer };
        match self.proof() {
            None => self.shell.send(answer, &[grant.as_bytes()]),
            Some((proof, said)) => self.shell.send(answer, &[grant.as_bytes(), proof.as_bytes(), said.as_bytes()]),
        }
    }

    fn on_release(&mut self, now: Instant, packet: &Packet<'_>) {
        let Some(body) = self.exactly::<wire::Release>(packet) else { return };
        let head = &packet.head;
        let Some(scrub) = Scrub::from_wire(body.scrub) else {
            return self.shell.refuse(head, Kind::SessionRefuse, ErrorCode::BadRequest, 1);
        };
        if self.session.holds(head) {
            self.end_claim(now, ReleaseReason::Released);
            self.session.released(head, scrub);
            if scrub == Scrub::Zero {
                self.begin_zeroing(now);
            }
            if self.zeroed_at.is_some() {
                return self.session.leave(head);
            }
        } else if scrub == Scrub::Zero && self.session.leaves(head) {
            return self.session.leave(head);
        } else if scrub == Scrub::Zero && !self.session.was_released(head, scrub) {
            // The lease had run out before. Who asks for zeroed memory must not believe that it was.
            return self.shell.refuse(head, Kind::SessionRefuse, ErrorCode::StaleEpoch, 0);
        }
        self.send_released(head);
    }

    pub(super) fn send_released(&mut self, asked: &Head) {
        let answer = self.shell.head(asked.src, Kind::SessionReleased, asked.epoch, asked.seq);
        self.shell.send(answer, &[]);
    }

    fn on_ping(&mut self, now: Instant, packet: &Packet<'_>) {
        if !self.is_empty(packet) {
            return;
        }
        let head = &packet.head;
        if self.session.holds(head) && self.is_proven(head) {
            self.session.renew(now);
        }
        let pong = wire::Pong {
            boot: U32::new(self.shell.config.boot),
            state: self.state().into(),
            queued: u8::try_from(self.launches.queued()).expect("at most 16"),
            reserved: U16::ZERO,
            uptime_ns: U64::new(u64::try_from((now - self.boot()).as_nanos()).unwrap_or(u64::MAX)),
        };
        let answer = self.shell.head(head.src, Kind::SessionPong, self.epoch().unwrap_or(0), head.seq);
        self.shell.send(answer, &[pong.as_bytes()]);
    }

    fn on_manifest_get(&mut self, packet: &Packet<'_>) {
        if !self.is_empty(packet) {
            return;
        }
        let head = &packet.head;
        let json = self.role.as_ref().map(|r| r.manifest_json.clone()).unwrap_or_default();
        let from = usize::try_from(head.addr).unwrap_or(usize::MAX).min(json.len());
        let to = json.len().min(from + usize::from(BULK_STANDARD));
        let answer = self.shell.head(head.src, Kind::SessionManifest, head.epoch, head.seq);
        self.shell.send(Head { addr: head.addr, ..answer }, &[&json[from..to]]);
    }

    fn on_image(&mut self, now: Instant, frame: &Frame, packet: &Packet<'_>) {
        let head = &packet.head;
        match head.kind {
            Kind::ImageData => {
                self.loader.data(now, &mut self.shell, frame, packet);
                self.loader.work(now, &mut self.shell, &*self.sandbox, self.ddr.len());
            }
            Kind::ImagePoll => {
                if let Some(body) = self.exactly(packet) {
                    self.loader.poll(now, &mut self.shell, head, body);
                }
            }
            Kind::ImageCommit => {
                if self.is_empty(packet) && self.loader.commit(now, &mut self.shell, head) {
                    self.cancel_launches(now);
                    self.role = None;
                    self.bridge.iter_mut().for_each(Bridge::forget_remote);
                    self.loader.configure(now, &mut self.shell, head.seq, self.flash.as_ref());
                }
            }
            _ => {
                if self.is_empty(packet) {
                    self.loader.abort();
                }
            }
        }
    }

    fn on_launch(&mut self, now: Instant, packet: &Packet<'_>) {
        let head = &packet.head;
        let Some((body, args)) = launches::parse_launch(packet.payload) else {
            return self.shell.counters.inc(Counter::DropMalformed);
        };
        if !self.is_fresh(now, head, Kind::ResultRefused) {
            return;
        }
        match self.launches.turn(head.seq) {
            Turn::Later => return self.shell.counters.inc(Counter::DropWindow),
            Turn::Before if !self.executes_twice(head.seq) => {
                self.shell.counters.inc(Counter::DropDuplicate);
                return self.recall(head);
            }
            Turn::Before | Turn::Next => {}
        }
        let judged = match &self.role {
            _ if self.launches_queued() + self.results.kept() >= wire::RESULTS_KEPT as usize => {
                Err((ErrorCode::Busy, wire::RESULTS_KEPT.into()))
            }
            _ if self.is_program(head) => self.judge_program(body, &args),
            None if self.loader.is_configuring() => Err((ErrorCode::Busy, 0)),
            None => Err((ErrorCode::NoRole, 0)),
            Some(active) => self.launches.judge(&*self.ddr, active.role.kernels(), head.addr, body),
        };
        match judged {
            Ok(()) if self.is_program(head) => self.accept_program(now, head, body, args),
            Ok(()) => {
                self.launches.accept(&mut self.shell, head, body, args);
                if let Some(active) = &mut self.role {
                    active.failed = false;
                }
            }
            // Its time may come: the number stays free.
            Err((code @ ErrorCode::Busy, detail)) => {
                return self.shell.refuse(head, Kind::ResultRefused, code, detail);
            }
            // A fault of the launch itself uses its number up. If the number went to the next launch, a late copy of
            // this one could pass for that.
            Err((code, _)) => {
                self.shell.counters.inc(Counter::Refusals);
                let ended = self.launches.reject(now, &mut self.shell, head, code);
                self.keep(now, &ended);
            }
        }
        self.recall(head);
    }

    #[cfg(feature = "planted-bugs")]
    fn executes_twice(&self, seq: u32) -> bool {
        self.shell.config.planted == Some(crate::PlantedBug::DuplicateLaunch) && self.launches.is_last(seq)
    }

    #[cfg(not(feature = "planted-bugs"))]
    #[allow(clippy::unused_self)]
    const fn executes_twice(&self, _: u32) -> bool {
        false
    }

    fn on_go(&mut self, now: Instant, packet: &Packet<'_>) {
        if !self.is_empty(packet) {
            return;
        }
        let head = &packet.head;
        if !self.is_admitted(head) {
            return self.shell.counters.inc(Counter::DropEpoch);
        }
        self.session.renew(now);
        self.launches.go(head.seq);
        self.go_programs(now, head.seq);
    }

    /// Tells what became of a launch.
    fn recall(&mut self, asked: &Head) {
        if self.launches.has(asked.seq) || self.has_program(asked.seq) {
            let answer = self.shell.head(asked.src, Kind::ResultAccepted, asked.epoch, asked.seq);
            self.shell.send(answer, &[]);
        } else if !self.results.repeat(asked.seq) {
            self.shell.refuse(asked, Kind::ResultRefused, ErrorCode::UnknownLaunch, 0);
        }
    }
}
