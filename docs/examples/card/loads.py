"""Loads of images: docs/src/concepts/loading.md."""

import struct

import image
from ascon import mask
from blake3 import Blake3
from wire import *

BEGIN_BYTES = 48

RECEIVING, STAGED_NOW, CONFIGURES, IS_ACTIVE, HAS_FAILED = "receiving", "staged", "configuring", "active", "failed"


class Loads:
    """Part of a Card: an image is staged chunk by chunk, checked, and made active by a commit."""

    def on_begin(self, now: int, asked: dict, payload: bytes) -> None:
        key = payload[BEGIN_BYTES:]
        length, chunk, group, members, digest = exactly(">QHHI32s", payload[:BEGIN_BYTES])
        if len(key) not in (0, 16):
            raise Dropped("drop_malformed")
        seq = asked["seq"]
        if not self.holds(asked):
            self.count(refusals=1)
            self.failed(asked["src"], group, seq, STALE_EPOCH, "")
            raise Dropped("drop_epoch")
        if bool(key) != bool(self.guard and self.guard.session.encrypts):
            raise Dropped("drop_malformed")
        self.expires = now + self.lease
        if self.load is None or (self.load["seq"], self.load["begin"]) != (seq, payload):
            if seq in self.loads_over:
                raise Dropped("drop_duplicate")
            try:
                self.check_begin(length, chunk, group)
            except Refused as why:
                self.count(refusals=1)
                return self.failed(asked["src"], group, seq, *why.args)
            if self.load and self.load["seq"] != seq:
                self.loads_over.append(self.load["seq"])
            chunks = -(-length // chunk)
            self.load = dict(seq=seq, src=asked["src"], begin=payload, length=length, chunk=chunk, group=group, key=key)
            self.load |= dict(members=members, digest=digest, phase=RECEIVING, bytes=bytearray(length), chunks=chunks)
            self.load |= dict(lacks=set(range(chunks)), reported=set(), poll=None, first=None, answer=None)
            self.load |= dict(hash=Blake3(), hashed=0)
        self.send(asked["src"], READY, group, seq)

    def check_begin(self, length: int, chunk: int, group: int) -> None:
        if self.port:
            raise Refused(BUSY, "the card is configuring")
        if chunk == 0 or chunk % 64 or chunk > self.config["bulk"]:
            raise Refused(BAD_REQUEST, "the chunk is not a multiple of 64 that the card takes")
        if group == 0 or length == 0:
            raise Refused(BAD_REQUEST, "the group is 0, or the image is empty")
        if length > self.config["staging_max"]:
            raise Refused(IMAGE_TOO_LARGE, "the image is larger than the staging area")
        if length > chunk * IMAGE_CHUNKS_MAX:
            raise Refused(BAD_REQUEST, "the image has too many chunks")

    def need_load(self, now: int, asked: dict) -> dict:
        if self.load is None or asked["src"] != self.owner or asked["epoch"] != self.load["group"]:
            raise Dropped("drop_epoch")
        self.renew(now, asked)
        return self.load

    def on_data(self, now: int, asked: dict, payload: bytes) -> None:
        load = self.need_load(now, asked)
        index, beside = divmod(asked["addr"], load["chunk"])
        if load["phase"] != RECEIVING:
            raise Dropped("drop_duplicate")
        left = load["length"] - asked["addr"]
        if beside or left <= 0 or len(payload) != min(load["chunk"], left):
            raise Dropped("drop_malformed")
        if index not in load["lacks"]:
            raise Dropped("drop_duplicate")
        if load["key"]:
            payload = mask(load["key"], asked["addr"], payload)
        load["lacks"].remove(index)
        load["bytes"][asked["addr"] : asked["addr"] + len(payload)] = payload
        self.count(image_chunks=1)

    def on_poll(self, now: int, asked: dict, payload: bytes) -> None:
        load = self.need_load(now, asked)
        window, _ = exactly(">II", payload)
        if load["poll"] != asked["seq"]:
            if load["poll"] is None:
                load["first"] = asked["seq"]
            load["poll"], load["answer"] = asked["seq"], None
            load["reported"].clear()
        if load["answer"] is None:
            load["answer"] = (now + self.random.randrange(min(window, WINDOW_US_MAX) * US + 1), asked["seq"])

    def on_missing(self, now: int, asked: dict, payload: bytes) -> None:
        """Another member reports what it lacks: that need not be reported again."""
        load = self.load
        if load is None or asked["epoch"] != load["group"]:
            raise Dropped("drop_epoch")
        if len(payload) < 16:
            raise Dropped("drop_malformed")
        count = struct.unpack_from(">H", payload, 4)[0]
        if count > MISSING_RANGES or len(payload) < 16 + 8 * count:
            raise Dropped("drop_malformed")
        words = struct.unpack_from(f">{2 * count}I", payload, 16)
        ranges = list(zip(words[::2], words[1::2]))
        if any(n == 0 or first + n >= 1 << 32 for first, n in ranges):
            raise Dropped("drop_malformed")
        if load["poll"] != asked["seq"]:
            raise Dropped("drop_window")
        end = 0
        for first, n in ranges if load["phase"] == RECEIVING else ():
            if first < end or first + n > load["chunks"]:
                raise Dropped("drop_malformed")
            end = first + n
            if load["poll"] == load["first"]:  # Whoever lies, or loses a report, does so once.
                load["reported"].update(range(first, end))

    def on_commit(self, now: int, asked: dict, payload: bytes) -> None:
        load = self.need_load(now, asked)
        exactly("", payload)
        if load["phase"] == STAGED_NOW:
            self.cancel_all(now)
            self.role, load["phase"], load["answer"] = None, CONFIGURES, None
            rate = self.config["config_rate"]
            takes = load["part"] * 1_000_000_000 // rate if rate else 0
            self.port = dict(until=now + takes, takes=takes, role=load["role"], load=load, commit=asked["seq"])
        self.answer_soon(now, load, asked["seq"])

    def on_abort(self, now: int, asked: dict, payload: bytes) -> None:
        load = self.need_load(now, asked)
        exactly("", payload)
        if load["phase"] != CONFIGURES:
            self.loads_over.append(load["seq"])
            self.load = None

    def hash_some(self, now: int) -> None:
        """Once all chunks are there: the digest, a bounded part of it in a turn, and then all checks."""
        load = self.load
        if not load or load["phase"] != RECEIVING or load["lacks"]:
            return
        piece = load["bytes"][load["hashed"] :][: self.config["hash_turn"]]
        load["hash"].update(bytes(piece))
        load["hashed"] += len(piece)
        if load["hashed"] < load["length"]:
            return
        try:
            if load["hash"].digest() != load["digest"]:
                raise Refused(IMAGE_DIGEST, "the image does not have the digest announced")
            manifest, kernels, clock, load["part"] = image.check(bytes(load["bytes"]), "model")
            load["role"] = dict(digest=load["digest"], manifest=manifest, kernels=kernels, clock=clock)
            load["phase"] = STAGED_NOW
        except Refused as why:
            self.count(images_failed=1)
            load["phase"], load["why"] = HAS_FAILED, why.args
        self.answer_soon(now, load, load["seq"])

    def activate(self, now: int) -> None:
        if not self.port or self.port["until"] > now:
            return
        port, self.port = self.port, None
        self.role = port["role"]
        self.count(images_activated=1)
        self.changed = True
        if self.load is port["load"]:
            self.load["phase"], self.load["took"] = IS_ACTIVE, port["takes"]
            self.answer_soon(now, self.load, port["commit"])

    def answer_soon(self, now: int, load: dict, seq: int) -> None:
        """Within a time in which each member's answer has room on the wire."""
        if load["answer"] is None:
            load["answer"] = (now + self.random.randrange(max(1, min(load["members"], 1 << 16)) * 100), seq)

    def speak(self, now: int) -> None:
        load = self.load
        if not load or not load["answer"] or load["answer"][0] > now:
            return
        (_, seq), load["answer"] = load["answer"], None
        match load["phase"]:
            case "receiving":
                self.report(load, seq)
            case "staged":
                self.send(load["src"], STAGED, load["group"], seq)
            case "configuring":
                self.send(load["src"], COMMITTED, load["group"], seq)
            case "active":
                body = struct.pack(">32sQ", load["digest"], load["took"])
                self.send(load["src"], ACTIVE_NOW, load["group"], seq, body)
            case "failed":
                self.failed(load["src"], load["group"], seq, *load["why"])

    def report(self, load: dict, seq: int) -> None:
        self.count(image_suppressed=len(load["lacks"] & load["reported"]))
        ranges: list[list[int]] = []
        for n in sorted(load["lacks"] - load["reported"]):
            if ranges and sum(ranges[-1]) == n:
                ranges[-1][1] += 1
            elif len(ranges) == MISSING_FRAMES * MISSING_RANGES:
                break
            else:
                ranges.append([n, 1])
        # A report without ranges still tells that this card is there and not ready.
        frames = [ranges[i : i + MISSING_RANGES] for i in range(0, len(ranges), MISSING_RANGES)] or [[]]
        for i, some in enumerate(frames):
            body = struct.pack(">IHHQ", len(load["lacks"]), len(some), len(frames) - 1 - i, 0)
            body += b"".join(struct.pack(">II", *one) for one in some)
            self.count(image_reports=1)
            self.send(GROUPS + struct.pack(">H", load["group"]), MISSING, load["group"], seq, body)

    def failed(self, to: bytes, group: int, seq: int, code: int, text: str) -> None:
        self.send(to, FAILED, group, seq, struct.pack(">H6x", code) + text.encode()[:64])
