"""A card without socket and clock: frames and times in nanoseconds go in, frames come out."""

import random
import struct
from collections import deque

from keys import CLAIMS, TRAILER, Guard
from launches import Launches
from loads import Loads
from memory import Memory
from session import Session
from wire import *

DEFAULTS = dict(unit=0, vendor=0x524C, product=1, memory=64 << 20, bulk=BULK_STANDARD, port_rate=10**10, config_rate=0)
DEFAULTS |= dict(scrub_rate=0, staging_max=256 << 20, ack_every=16, ack_delay=200 * US, resend_after=20 * MS)
DEFAULTS |= dict(fuel_max=1 << 40, announce_interval=10_000 * MS, hash_turn=16 << 10, seed=None)


class Card(Session, Memory, Launches, Loads):
    """The card. After each `frame` and `timeout`, call `poll` until it gives None; call `timeout` at `deadline`."""

    def __init__(self, keys: dict | None = None, **config) -> None:
        self.config = DEFAULTS | config
        self.guard = Guard(config["boot"], config["mac"], keys) if keys else None
        self.mac = bytes.fromhex(config["mac"].replace(":", ""))
        self.random = random.Random(self.config["seed"])
        self.memory = bytearray(self.config["memory"])
        self.counters = dict.fromkeys(COUNTERS, 0)
        self.out: deque[bytes] = deque()
        self.booted: int | None = None
        self.gone = False
        # Discovery: announcements of the link's coming up, and hosts that wait for an answer [host, seq, due].
        self.links, self.announced, self.periodic = [0, 50 * MS, 200 * MS], 0, 0
        self.answers: list[list] = []
        self.changed = False
        # The claim, those that are over, and who waits for memory to be zeroed.
        self.owner, self.epoch, self.nonce, self.lease, self.expires, self.group = NOBODY, 0, 0, 0, 0, 0
        self.newest = self.random.randrange(1 << 16)
        self.spent: deque[tuple] = deque(maxlen=32)
        self.released, self.zeroed, self.leaver, self.next = None, None, None, None
        # What outlives a claim: the role, and the configuration port at work.
        self.role: dict | None = None
        self.port: dict | None = None
        self.forget()

    def forget(self) -> None:
        """What belongs to a claim is gone."""
        self.load: dict | None = None
        self.loads_over: deque[int] = deque(maxlen=8)
        self.first, self.unacked, self.ack_at = 1, 0, None
        self.beyond: set[int] = set()
        self.reads: deque[tuple] = deque()
        self.last_launch, self.running, self.turn = 0, None, 0
        self.queue: deque[dict] = deque()
        self.results: list[dict] = []

    def boot(self, now: int) -> None:
        if self.booted is None:
            self.booted = now
            self.periodic = now + self.interval()
            self.settle(now)

    def frame(self, now: int, frame: bytes) -> None:
        """A frame has come in."""
        if self.gone:
            return
        self.boot(now)
        if frame[6:12] != self.owner:  # What the owner has sent in time renews the lease before it is judged.
            self.expire(now)
        self.count(rx_frames=1, rx_bytes=len(frame), rx_words=-(-len(frame) // 8))
        try:
            self.take(now, frame)
        except Dropped as why:
            self.count(**{why.args[0]: 1})
        self.settle(now)

    def take(self, now: int, frame: bytes) -> None:
        """The order of these questions decides which counter a frame with several faults is counted by."""
        dst, src = frame[:6], frame[6:12]
        if len(src) < 6:
            raise Dropped("drop_truncated")
        joined = [GROUPS + struct.pack(">H", g) for g in (self.group, self.load and self.load["group"]) if g]
        if dst not in (self.mac, CARDS, BROADCAST, *joined) or src == self.mac or src[0] & 1:
            raise Dropped("drop_foreign")
        if len(frame) < 14:
            raise Dropped("drop_truncated")
        family = struct.unpack_from(">H", frame, 12)[0]
        if family not in KINDS:
            raise Dropped("drop_foreign")
        if len(frame) < HEAD.size:
            raise Dropped("drop_truncated")
        _, _, _, version_flags, kind, length, epoch, seq, addr = HEAD.unpack_from(frame)
        if version_flags >> 4 != 1:
            raise Dropped("drop_version")
        if not 1 <= kind <= KINDS[family]:
            raise Dropped("drop_kind")
        is_tagged = bool(version_flags & AUTH)
        if is_tagged and not self.guard:
            raise Dropped("drop_auth")
        end = HEAD.size + length
        if end + is_tagged * TRAILER.size > len(frame):
            raise Dropped("drop_truncated")
        name, reach = TAKEN.get((family, kind), (None, None))
        if name is None or (reach == "group" and dst[:4] != GROUPS):
            raise Dropped("drop_kind")
        if reach == "unicast" and dst != self.mac:
            raise Dropped("drop_foreign")
        payload = frame[HEAD.size : end]
        asked = dict(src=src, flags=version_flags & 15, epoch=epoch, seq=seq, addr=addr)
        if self.guard:
            trailer = frame[end : end + TRAILER.size] if is_tagged else None
            match self.guard.judge(name, frame, frame[:end], trailer):
                case "ignored":
                    return
                case "key-needed":
                    self.count(auth_untagged=1)
                    return self.refuse(asked, REFUSE, KEY_NEEDED)
                case "stale-boot":
                    self.count(auth_wrong=1)
                    return self.refuse(asked, REFUSE, STALE_BOOT, self.config["boot"])
                case "key-revoked":
                    self.count(auth_unknown=1)
                    return self.refuse(asked, REFUSE, KEY_REVOKED)
                case verdict:
                    asked["proven"] = verdict == "proven"
                    if asked["proven"] and name not in CLAIMS:
                        payload = self.guard.opened  # It may have been encrypted.
        getattr(self, "on_" + name)(now, asked, payload)

    def timeout(self, now: int) -> None:
        """Time has passed."""
        if self.gone:
            return
        self.boot(now)
        self.expire(now)
        if self.running and self.running["until"] <= now:
            self.end_launch(now, self.queue[0], *self.running["end"])
        for result in self.results:
            self.resend(now, result)
        self.settle(now)

    def settle(self, now: int) -> None:
        """Does what has become due or possible."""
        self.end_zeroing(now)
        self.hash_some(now)
        self.activate(now)
        self.start_launch(now)
        self.speak(now)
        self.speak_up(now)

    def poll(self, now: int) -> bytes | None:
        """The next frame to send: answers first, then acknowledgements, data that was read, and results."""
        if not self.gone:
            self.boot(now)
        if not self.out and self.owner != NOBODY:
            self.transmit_memory(now) or self.transmit_result(now)
        if not self.out:
            return None
        frame = self.out.popleft()
        if self.guard:
            frame = self.guard.seal(frame)
        self.count(tx_frames=1, tx_bytes=len(frame), tx_words=-(-len(frame) // 8))
        return frame

    def deadline(self) -> int | None:
        """When `timeout` is wanted; None: never."""
        if self.gone:
            return None
        if self.booted is None:
            return 0
        times = [self.periodic, self.zeroed, self.ack_at]
        times += [self.booted + at for at in self.links[:1]] + [answer[2] for answer in self.answers]
        times += [0] if self.changed else []
        times += [self.expires] if self.owner != NOBODY else []
        times += [self.running["until"]] if self.running else []
        times += [self.port["until"]] if self.port else []
        times += [result["due"] for result in self.results]
        if self.load:
            times += [self.load["answer"][0]] if self.load["answer"] else []
            times += [0] if self.load["phase"] == "receiving" and not self.load["lacks"] else []
        return min(at for at in times if at is not None)

    def state(self) -> int:
        if self.port or self.running:
            return CONFIGURING if self.port else RUNNING
        if self.load and self.load["phase"] in ("receiving", "staged"):
            return LOADING
        return ACTIVE if self.role else EMPTY

    def unplug(self) -> None:
        """Says goodbye and is gone."""
        self.out.clear()
        if self.guard and self.owner != NOBODY:
            self.send(self.owner, GOODBYE, 0, 0)  # Under a tag: the owner believes no other.
        self.send(HOSTS, GOODBYE, 0, 0)
        self.owner, self.gone = NOBODY, True

    # ---- what it says
    def send(self, dst, kind, epoch: int, seq: int, body: bytes = b"", addr: int = 0, flags: int = 0) -> None:
        head = HEAD.pack(dst, self.mac, kind[0], 0x10 | flags, kind[1], len(body), epoch, seq, addr)
        self.out.append((head + body).ljust(60, b"\0"))

    def answer(self, asked: dict, kind: tuple, body: bytes = b"", addr: int = 0) -> None:
        self.send(asked["src"], kind, asked["epoch"], asked["seq"], body, addr)

    def refuse(self, asked: dict, kind: tuple, code: int, detail: int = 0, holder: bytes = NOBODY) -> None:
        """A refusal has the epoch, number and address of what is refused."""
        self.count(refusals=1)
        self.answer(asked, kind, struct.pack(">H6sQ", code, holder, detail), asked["addr"])

    def count(self, **what: int) -> None:
        for name, n in what.items():
            self.counters[name] += n
