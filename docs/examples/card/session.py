"""Discovery and claims: docs/src/concepts/claims.md."""

import struct

from wire import *


class Session:
    """Part of a Card: when it says who it is, and whose it is."""

    # ---- discovery
    def interval(self) -> int:
        """Cards that were switched on together do not stay in step."""
        mean = self.config["announce_interval"]
        return mean * 3 // 4 + self.random.randrange(mean // 2 + 1)

    def announce(self, to: bytes, reason: int, seq: int | None = None) -> None:
        if seq is None:
            self.announced += 1
            seq = self.announced
        self.count(announces=1)
        self.send(to, ANNOUNCE, self.epoch, seq, self.about(reason))

    def about(self, reason: int) -> bytes:
        """What an announcement says."""
        c = self.config
        role = self.role or dict(digest=bytes(32), kernels=(), clock=250_000)
        ids = (self.mac, NOBODY, c["vendor"], c["product"], c["unit"], 1, self.state(), reason, 1)
        rates = (len(self.memory), c["port_rate"], 0, c["config_rate"])
        body = struct.pack(">6s6sHHHBBBBHIIQQQQ", *ids, c["bulk"], c["boot"], role["clock"], *rates)
        return body + struct.pack(">6sBB32s", self.owner, ASKS_KEY if self.guard else 0, len(role["kernels"]), role["digest"])

    def on_solicit(self, now: int, asked: dict, payload: bytes) -> None:
        window, _ = exactly(">II", payload)
        for answer in self.answers:
            if answer[0] == asked["src"]:  # The answer that is due anyway answers both.
                answer[1] = asked["seq"]
                return
        if len(self.answers) == 4:  # With one more, the first of those who wait is answered at once.
            first = self.answers.pop(0)
            self.announce(first[0], SOLICITED, first[1])
        due = now + self.random.randrange(min(window, WINDOW_US_MAX) * US + 1)
        self.answers.append([asked["src"], asked["seq"], due])

    def speak_up(self, now: int) -> None:
        """Announces what is due."""
        due = [at for at in self.links if self.booted + at <= now]
        if due:
            self.links = self.links[len(due) :]
            self.announce(HOSTS, LINK_UP)
        if self.changed:
            self.changed = False
            self.announce(HOSTS, CHANGED)
            if self.guard and self.owner != NOBODY:
                self.announce(self.owner, CHANGED, self.announced)  # Under a tag: the other is a hint.
        if self.periodic <= now:
            self.periodic = now + self.interval()
            self.announce(HOSTS, PERIODIC)
        for answer in [a for a in self.answers if a[2] <= now]:
            self.answers.remove(answer)
            self.announce(answer[0], SOLICITED, answer[1])

    # ---- claims
    def holds(self, asked: dict) -> bool:
        return self.owner != NOBODY and (asked["src"], asked["epoch"]) == (self.owner, self.epoch)

    def need_claim(self, now: int, asked: dict, refusal: tuple) -> None:
        """Goes on if the sender holds the claim, which is renewed; else it learns the present epoch."""
        if not self.holds(asked):
            self.refuse(asked, refusal, STALE_EPOCH, self.epoch)
            raise Dropped("drop_epoch")
        self.expires = now + self.lease

    def renew(self, now: int, asked: dict) -> None:
        """The lease begins anew, unless the card has keys and no tag shows that it is the owner who asks."""
        if asked.get("proven", True):
            self.expires = now + self.lease

    def expire(self, now: int) -> None:
        if self.owner != NOBODY and self.expires <= now:
            self.count(leases_expired=1)
            self.end_claim(now)

    def end_claim(self, now: int) -> None:
        if self.owner == NOBODY:
            return
        self.spent.append((self.owner, self.nonce))
        self.cancel_all(now)
        if self.guard:
            self.guard.end()
        self.owner, self.epoch, self.group = NOBODY, 0, 0
        self.forget()
        self.changed = True

    def on_claim(self, now: int, asked: dict, payload: bytes) -> None:
        nonce, lease, group, scrub, beats = exactly(">QIHBB", payload)
        src, seq = asked["src"], asked["seq"]
        if not 100 <= lease <= 60_000:
            return self.refuse(asked, REFUSE, BAD_REQUEST, 100 if lease < 100 else 60_000)
        if scrub > 1:
            return self.refuse(asked, REFUSE, BAD_REQUEST, 1)
        if self.owner not in (NOBODY, src):
            return self.refuse(asked, REFUSE, CLAIMED, -(-(self.expires - now) // MS), self.owner)
        if self.next and self.next["src"] != src:
            return self.refuse(asked, REFUSE, CLAIMED, self.next["lease"], self.next["src"])
        if self.owner == src and self.nonce == nonce:
            self.expires = now + self.lease
            return self.grant(seq)
        if self.next and self.next["nonce"] == nonce:
            self.next["seq"] = seq
            return
        if (src, nonce) in self.spent:
            return self.refuse(asked, REFUSE, STALE_EPOCH)
        self.end_claim(now)
        if self.next:
            self.spent.append((src, self.next["nonce"]))
        self.next = dict(src=src, seq=seq, nonce=nonce, lease=lease, group=group, theirs=asked["epoch"])
        self.next["reach"], self.next["encrypts"] = beats * 64 or BULK_STANDARD, bool(asked["flags"] & ENCRYPTED)
        if scrub:
            self.zero(now)
        self.grant_next(now)

    def grant_next(self, now: int) -> None:
        if self.zeroed is not None or self.next is None:
            return
        n, self.next = self.next, None
        epoch = self.newest + 1 & 0xFFFF
        if n["theirs"] and (n["theirs"] - epoch & 0xFFFF) < 256:
            epoch = n["theirs"] + 1 & 0xFFFF
        self.newest = self.epoch = epoch or 1
        self.owner, self.nonce, self.group = n["src"], n["nonce"], n["group"]
        self.lease = n["lease"] * MS
        room = 64 if self.guard else 0  # That a tag takes.
        self.chunk = min(self.config["bulk"] - room, n["reach"])  # Of results: what both sides take.
        if self.guard:
            self.guard.begin(self.owner, self.nonce, self.random.getrandbits(64), self.epoch, n["encrypts"])
        self.expires = now + self.lease
        self.count(claims=1)
        self.changed = True
        self.grant(n["seq"])

    def grant(self, seq: int) -> None:
        body = struct.pack(">QII", self.nonce, self.lease // MS, self.config["boot"])
        if self.guard:
            body += struct.pack(">Q", self.guard.session.nonce) + self.about(CHANGED)
        flags = ENCRYPTED if self.guard and self.guard.session.encrypts else 0
        self.send(self.owner, GRANT, self.epoch, seq, body, flags=flags)

    def on_release(self, now: int, asked: dict, payload: bytes) -> None:
        scrub = exactly(">B7x", payload)[0]
        this = (asked["src"], asked["epoch"])
        if scrub > 1:
            return self.refuse(asked, REFUSE, BAD_REQUEST, 1)
        if self.holds(asked):
            self.end_claim(now)
            self.released = (*this, scrub)
            if scrub:
                self.zero(now)
            if self.zeroed is not None:
                self.leaver = asked
                return
        elif scrub and self.leaver and (self.leaver["src"], self.leaver["epoch"]) == this:
            self.leaver = asked
            return
        elif scrub and self.released != (*this, scrub):
            return self.refuse(asked, REFUSE, STALE_EPOCH)
        self.answer(asked, RELEASED)

    def zero(self, now: int) -> None:
        rate = self.config["scrub_rate"]
        if rate == 0:
            self.memory[ROLE_PRIVATE:] = bytes(len(self.memory) - ROLE_PRIVATE)
        elif self.zeroed is None:
            self.zeroed = now + (len(self.memory) - ROLE_PRIVATE) * 1_000_000_000 // rate

    def end_zeroing(self, now: int) -> None:
        if self.zeroed is None or self.zeroed > now:
            return
        self.zeroed = None
        self.memory[ROLE_PRIVATE:] = bytes(len(self.memory) - ROLE_PRIVATE)
        if self.leaver:
            self.answer(self.leaver, RELEASED)
            self.leaver = None
        self.grant_next(now)

    # ---- questions
    def on_ping(self, now: int, asked: dict, payload: bytes) -> None:
        exactly("", payload)
        if self.holds(asked):
            self.renew(now, asked)
        body = struct.pack(">IBBHQ", self.config["boot"], self.state(), len(self.queue), 0, now - self.booted)
        self.send(asked["src"], PONG, self.epoch, asked["seq"], body)

    def on_counters_get(self, now: int, asked: dict, payload: bytes) -> None:
        exactly("", payload)
        values = list(self.counters.values())[min(asked["addr"], len(COUNTERS)) :]
        self.answer(asked, COUNTERS_OF, struct.pack(f">{len(values)}Q", *values), asked["addr"])

    def on_manifest_get(self, now: int, asked: dict, payload: bytes) -> None:
        exactly("", payload)
        at = asked["addr"]
        text = self.role["manifest"] if self.role else b""
        self.answer(asked, MANIFEST, text[at : at + BULK_STANDARD], at)

    def on_window_set(self, now: int, asked: dict, payload: bytes) -> None:
        exactly(">QQ6sBx", payload)
        self.need_claim(now, asked, REFUSE)
        self.refuse(asked, REFUSE, UNSUPPORTED)

    def on_route_set(self, now: int, asked: dict, payload: bytes) -> None:
        exactly(">6sH", payload)
        self.need_claim(now, asked, REFUSE)
        self.refuse(asked, REFUSE, UNSUPPORTED)
