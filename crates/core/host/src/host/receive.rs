//! Dispatch of arriving frames.

use bytes::Bytes;
use rackloom_node::{Duration, Instant};
use rackloom_transport::{Rtt, Sack};
use rackloom_wire::{
    AnnounceReason, BULK_STANDARD, Counter, ErrorCode, FLAG_AUTH, Failure, HOSTS, Kind, MacAddr, Packet, Refusal,
};

use super::Host;
use super::gate::begin_session;
use crate::boots::Heard;
use crate::card_info::CardInfo;
use crate::ends::Ends;
use crate::error::{DownReason, OpError};
use crate::event::{Event, OpId, Outcome};
use crate::launcher::{Ended, Launcher};
use crate::path::Path;
use crate::peer::{Peer, PeerState};
use crate::reader::Reader;
use crate::request::Ask;
use crate::session::Session;
use crate::writer::Writer;

impl Host {
    pub(super) fn receive(&mut self, now: Instant, frame: &Bytes) {
        // First: a tag of what is for another program is one of its claims, and none of the business of this one.
        let Some(dst) = frame.first_chunk().copied().map(MacAddr) else { return self.ignore() };
        let ours = dst == self.config.mac || dst == HOSTS || dst == MacAddr::BROADCAST;
        let load = dst.is_multicast() && self.loads.values().any(|l| dst == MacAddr::group(l.group));
        if !(ours || load) {
            return self.ignore();
        }
        let mut plain = None;
        let Some(packet) = self.open(frame, &mut plain) else { return self.ignore() };
        if !packet.head.kind.is_to_host() {
            return self.ignore();
        }
        let card = packet.head.src;
        if packet.head.kind == Kind::DiscoveryAnnounce {
            return self.handle_announce(now, &packet);
        }
        let Some(peer) = self.peers.get_mut(&card) else { return self.ignore() };
        if packet.head.kind == Kind::DiscoveryGoodbye {
            return self.down(now, card, DownReason::Goodbye);
        }
        if peer.state == PeerState::Down {
            // It was given up and speaks again; its announcement brings it back.
            return self.solicit(now, Duration::ZERO);
        }
        peer.hear(now, &self.patience);
        if let Some(session) = &mut peer.session {
            session.path.hear(packet.payload.len());
        }
        match packet.head.kind {
            Kind::SessionGrant
            | Kind::SessionRefuse
            | Kind::SessionReleased
            | Kind::SessionWindowDone
            | Kind::SessionRouteDone
            | Kind::SessionCounters
            | Kind::SessionManifest => self.handle_answer(now, &packet),
            Kind::SessionPong => self.handle_pong(now, &packet),
            Kind::ImageConfirmReady
            | Kind::ImageConfirmMissing
            | Kind::ImageConfirmStaged
            | Kind::ImageConfirmCommitted
            | Kind::ImageConfirmActive
            | Kind::ImageConfirmWritten
            | Kind::ImageConfirmFailed => self.handle_load(now, &packet),
            _ => self.handle_session(now, &packet),
        }
    }

    fn handle_pong(&mut self, now: Instant, packet: &Packet<'_>) {
        let Some((pong, _)) = packet.view::<rackloom_wire::Pong>() else { return self.ignore() };
        let card = packet.head.src;
        let peer = self.peers.get_mut(&card).expect("the caller has seen it");
        // Under a key a pong of the claim is the card's own; one without a claim proves nothing: strangers can say it.
        let heard = match peer.guard {
            Some(_) => Heard::Present,
            None => peer.boots.hear(now, pong.boot.get(), Some(packet.head.seq), self.next_seq),
        };
        match heard {
            // Its announcement, if it was heard already, has said the same.
            Heard::Present => {}
            Heard::Late => return,
            Heard::Rival => return self.contest(now, card),
            Heard::New => {
                // It has restarted and its announcement is on its way, or lost.
                self.down(now, card, DownReason::Restarted);
                return self.solicit(now, Duration::ZERO);
            }
        }
        if peer.session.as_ref().is_some_and(|s| s.ends.epoch != packet.head.epoch) {
            self.lose_claim(now, card);
        }
    }

    fn handle_load(&mut self, now: Instant, packet: &Packet<'_>) {
        let Some(loader) = self.loads.values_mut().find(|l| l.group == packet.head.epoch) else { return };
        if packet.head.kind == Kind::ImageConfirmFailed
            && packet.view::<Failure>().is_some_and(|(f, _)| f.code.get() == u16::from(ErrorCode::StaleEpoch))
        {
            // Not the image is at fault: the claim is over. A card that is lost to the load speaks of an earlier claim.
            if loader.awaits(packet.head.src) {
                self.lose_claim(now, packet.head.src);
            }
            return;
        }
        let (op, before) = (loader.op, loader.progress());
        loader.set_patience(self.patience.now());
        let (card, was) = (packet.head.src, loader.has_loaded(packet.head.src));
        loader.handle(now, packet);
        if !was && loader.has_loaded(card) {
            self.events.push_back(Event::Loaded { op, card });
        }
        self.tell_progress(op, before);
        self.finish_load(now, op);
    }

    /// What belongs to a claim.
    fn handle_session(&mut self, now: Instant, packet: &Packet<'_>) {
        let share = self.share();
        let card = packet.head.src;
        let (head, kind) = (packet.head, packet.head.kind);
        let session = self.peers.get_mut(&card).and_then(|p| p.session.as_mut());
        let Some(s) = session.filter(|s| s.ends.epoch == head.epoch) else { return self.ignore() };
        let mut written = Vec::new();
        let mut read = None;
        let mut ack = None;
        let mut ended: Option<Ended> = None;
        let mut refused: Option<(OpId, Refusal)> = None;
        match kind {
            Kind::InputConfirmWriteAck => {
                let Some((a, _)) = packet.view::<rackloom_wire::Ack>() else { return self.ignore() };
                let sack = Sack::from_bitmap(head.seq, &a.bitmap);
                if let Err(what) = s.writer.handle_ack(now, &sack, &mut s.rtt, &mut written) {
                    self.ignore();
                    return self.fall_out_of_step(now, card, what);
                }
            }
            Kind::InputConfirmReadData => read = s.reader.handle_data(now, head.seq, packet.payload, &mut s.rtt),
            Kind::ResultAccepted => s.launcher.handle_accepted(now, head.seq),
            Kind::ResultDone => {
                let Some((d, _)) = packet.view::<rackloom_wire::Done>() else { return self.ignore() };
                (ack, ended) = s.launcher.handle_done(now, &s.ends, head.seq, d, share, &mut s.rtt);
            }
            Kind::ResultData => {
                (ack, ended) = s.launcher.handle_data(now, &s.ends, head.seq, head.addr, packet.payload, share);
            }
            Kind::InputConfirmNak | Kind::ResultRefused => {
                let Some((r, _)) = packet.view::<Refusal>() else { return self.ignore() };
                let code = ErrorCode::from_wire(r.code.get()).unwrap_or(ErrorCode::BadRequest);
                if code == ErrorCode::StaleEpoch {
                    return self.lose_claim(now, card);
                }
                // Writes and reads count separately, so a refusal's address tells which of the two it means.
                let op = if kind == Kind::ResultRefused {
                    s.launcher.handle_refused(now, head.seq, code)
                } else {
                    s.handle_nak(head.seq, head.addr)
                };
                refused = op.map(|op| (op, *r));
            }
            _ => return self.ignore(),
        }
        if let Some(frame) = ack {
            s.sent_at = now;
            self.send(frame);
        }
        for op in written {
            self.complete(op, Ok(Outcome::Written));
        }
        if let Some((op, bytes)) = read {
            self.complete(op, Ok(Outcome::Data(bytes)));
        }
        let name = self.name(card);
        if let Some((op, result)) = ended {
            let result = result.map(Outcome::Launched).map_err(|(code, cycles)| match code {
                ErrorCode::KernelTrap | ErrorCode::KernelFuel | ErrorCode::KernelRemote | ErrorCode::Cancelled => {
                    OpError::Kernel { card: name, code, cycles }
                }
                code => OpError::Refused { card: name, code, detail: 0 },
            });
            self.complete(op, result);
        }
        if let Some((op, r)) = refused {
            let code = ErrorCode::from_wire(r.code.get()).unwrap_or(ErrorCode::BadRequest);
            self.complete(op, Err(OpError::Refused { card: name, code, detail: r.detail.get() }));
        }
        self.touch(card);
    }

    fn handle_announce(&mut self, now: Instant, packet: &Packet<'_>) {
        let Some((announce, _)) = packet.view::<rackloom_wire::Announce>() else { return self.ignore() };
        let Some(info) = CardInfo::decode(announce, packet.head.epoch).filter(|i| i.mac == packet.head.src) else {
            return self.ignore();
        };
        let card = info.mac;
        let (mac, next_seq) = (self.config.mac, self.next_seq);
        match self.peers.get_mut(&card) {
            Some(peer) if peer.guard.is_some() => {
                self.handle_hint(now, packet.head.flags & FLAG_AUTH != 0, info);
            }
            None => {
                if self.peers.len() >= self.config.cards_max {
                    return self.ignore();
                }
                self.peers
                    .insert(card, Peer::new(info.clone(), now, &self.patience, next_seq, self.config.keys.as_ref()));
                self.events.push_back(Event::CardUp(info));
            }
            Some(peer) => {
                peer.hear(now, &self.patience);
                let asked = announce.reason == u8::from(AnnounceReason::Solicited) && packet.head.dst == mac;
                let heard = match peer.boots.hear(now, info.boot, asked.then_some(packet.head.seq), next_seq) {
                    Heard::Present if peer.info.boot == info.boot => peer.boots.compare(now, &peer.info, &info),
                    heard => heard,
                };
                if heard == Heard::Late {
                    return self.ignore();
                }
                let restarted = peer.info.boot != info.boot;
                let was_shared = peer.boots.take_unshared(now);
                let changed = peer.info != info && !peer.boots.are_shared(now);
                peer.info = info.clone();
                if heard == Heard::Rival {
                    peer.state = PeerState::Up;
                    return self.contest(now, card);
                }
                if restarted {
                    self.down(now, card, down_reason(announce));
                    self.doubt(now);
                }
                let peer = self.peers.get_mut(&card).expect("just seen");
                if peer.state == PeerState::Down || was_shared {
                    peer.state = PeerState::Up;
                    self.events.push_back(Event::CardUp(info));
                } else if changed {
                    self.events.push_back(Event::CardChanged(info));
                }
            }
        }
    }

    /// An answer to a request.
    fn handle_answer(&mut self, now: Instant, packet: &Packet<'_>) {
        let card = packet.head.src;
        let (next_seq, room) = (self.next_seq, self.tag_room());
        let Some(peer) = self.peers.get_mut(&card) else { return self.ignore() };
        let Some(i) = peer.requests.iter().position(|r| r.seq == packet.head.seq) else { return };
        let request = &mut peer.requests[i];
        let result = match (&mut request.ask, packet.head.kind) {
            (Ask::Claim { nonce, options, bulk, .. }, Kind::SessionGrant) => {
                let Some((grant, _)) = packet.view::<rackloom_wire::Grant>() else { return };
                if grant.nonce.get() != *nonce || packet.head.epoch == 0 {
                    return;
                }
                #[cfg(feature = "planted-bugs")]
                if self.config.planted == Some(crate::PlantedBug::GoOnInClear)
                    && let Some(guard) = &mut peer.guard
                {
                    guard.follow(packet.head.flags);
                }
                let said = peer.guard.as_mut().map(|guard| begin_session(guard, packet, grant));
                let heard = match said {
                    Some(_) => Heard::Present,
                    None => peer.boots.hear(now, grant.boot.get(), Some(packet.head.seq), next_seq),
                };
                let restarted = match heard {
                    _ if said.is_some() => false,
                    Heard::Present => peer.info.boot != grant.boot.get(),
                    Heard::New => true,
                    Heard::Late => return,
                    Heard::Rival => return self.contest(now, card),
                };
                if let Some(said) = said {
                    let Some(info) = said else { return };
                    peer.info = info;
                }
                let epoch = packet.head.epoch;
                // The card was asked for no more than this, and sends no more than it can.
                let bulk = (peer.info.bulk - room).min(*bulk);
                let session = Session {
                    ends: Ends { host: self.config.mac, card, epoch },
                    lease: options.lease.min(Duration::from_millis(u64::from(grant.lease_ms.get()))),
                    rtt: Rtt::new(self.config.rto_min, self.config.rto_max),
                    writer: Writer::new(bulk.into()),
                    reader: Reader::new(bulk.into()),
                    launcher: Launcher::new(bulk.into()),
                    path: Path::new(bulk),
                    sent_at: now,
                };
                peer.last_epoch = epoch;
                if restarted {
                    // It has restarted, and its announcement is on its way or lost: no role, whatever it said before.
                    peer.info.boot = grant.boot.get();
                    (peer.info.digest, peer.info.kernels) = (None, 0);
                }
                // What the card will announce, if that is not lost; else its next owner-less word would be no news.
                (peer.info.owner, peer.info.epoch) = (Some(self.config.mac), epoch);
                let (old, absurd) = (peer.session.replace(session), peer.info.absurdity());
                let is_clear = peer.guard.as_ref().is_some_and(|guard| !guard.agrees(packet.head.flags));
                let (op, name) = (peer.requests.remove(i).op, peer.name());
                if let Some(old) = old {
                    self.end_session(now, card, old, &OpError::ClaimLost { card: name });
                }
                if restarted {
                    self.doubt(now);
                }
                let result = match absurd {
                    None if is_clear => Err(OpError::Unencrypted { card: name }),
                    None => Ok(Outcome::Claimed { epoch }),
                    Some(what) => Err(OpError::Absurd { card: name, what }),
                };
                if let Err(why) = &result {
                    self.give_claim_up(now, card, why);
                }
                return self.complete(op, result);
            }
            (Ask::Release { .. }, Kind::SessionReleased) => Ok(Outcome::Released),
            (Ask::Window { .. }, Kind::SessionWindowDone) => Ok(Outcome::WindowSet),
            (Ask::Route { .. }, Kind::SessionRouteDone) => Ok(Outcome::RouteSet),
            (Ask::Counters { got }, Kind::SessionCounters) => {
                if packet.head.addr != got.len() as u64 {
                    return;
                }
                if packet.payload.is_empty() {
                    // A card of an earlier build has fewer: of what the others count it has nothing.
                    got.resize(Counter::COUNT, 0);
                }
                let words = packet.payload.chunks_exact(8);
                got.extend(words.map(|w| u64::from_be_bytes(w.try_into().expect("eight bytes"))));
                if got.len() < Counter::COUNT {
                    request.next_part(now, next_seq);
                    self.next_seq = self.next_seq.wrapping_add(1);
                    return self.ask_due(now, card);
                }
                Ok(Outcome::Counters(std::mem::take(got)))
            }
            (Ask::Manifest { got }, Kind::SessionManifest) => {
                if packet.head.addr != got.len() as u64 || got.len() > 1 << 20 {
                    return;
                }
                got.extend_from_slice(packet.payload);
                if packet.payload.len() >= usize::from(BULK_STANDARD) {
                    request.next_part(now, next_seq);
                    self.next_seq = self.next_seq.wrapping_add(1);
                    return self.ask_due(now, card);
                }
                Ok(Outcome::Manifest(Bytes::from(std::mem::take(got))))
            }
            (_, Kind::SessionRefuse) => {
                let Some((r, _)) = packet.view::<rackloom_wire::Refusal>() else { return };
                let code = ErrorCode::from_wire(r.code.get()).unwrap_or(ErrorCode::BadRequest);
                if code == ErrorCode::StaleEpoch && request.renew(now, next_seq, self.rng.next_u64()) {
                    self.next_seq = self.next_seq.wrapping_add(1);
                    return self.ask_due(now, card);
                }
                if code == ErrorCode::StaleBoot
                    && let Some(guard) = &mut peer.guard
                {
                    // Announced was another boot, by mistake or malice, or the card has other keys. This is its own
                    // word.
                    if guard.learn(r.detail.get() as u32) {
                        request.next_part(now, request.seq);
                        self.ask_due(now, card);
                    }
                    return;
                }
                if code == ErrorCode::Claimed {
                    peer.info.owner = Some(r.holder);
                }
                let card = peer.name();
                Err(match code {
                    ErrorCode::Claimed => OpError::Claimed { card, holder: r.holder, lease_ms: r.detail.get() },
                    code => OpError::Refused { card, code, detail: r.detail.get() },
                })
            }
            _ => return,
        };
        let op = peer.requests.remove(i).op;
        self.complete(op, result);
    }
}

/// Why a card that announces itself under another boot number has restarted.
fn down_reason(announce: &rackloom_wire::Announce) -> DownReason {
    if announce.reason == u8::from(AnnounceReason::MemoryFailed) {
        DownReason::MemoryFailed
    } else {
        DownReason::Restarted
    }
}
