"""A card with keys on a bench: the vault and the tags of sessions as hardware has them, and a host that has keys."""

import itertools
import struct
from dataclasses import dataclass, field

import golden
from addresses import CARD_MAC
from bench import Bench
from board import Board, Config
from golden_guard import TRAILER
from headers import C, W
from store import Named, Store
from wire import FLAG, KINDS, Frame, mac, number

CARD, FORMER, PAIR, CLAIMS = range(4)
SHOW, TAGS, DERIVES, SESSION = range(4)
GENERATION = 7
OWNER = mac("06:01:02:00:08:08")
OTHER = mac("06:01:02:00:09:09")  # Another program of the same host.
RIVAL = mac("06:04:05:00:08:08")
STRANGER = mac("02:01:02:00:08:08")  # No host with a key has such an address.
HOST, RIVALS = 0x0102, 0x0405  # Their numbers.
KEY, OLD_KEY = bytes(range(16)), bytes(range(50, 66))
BY_CLAIMS = (W.KIND_SESSION_CLAIM, W.KIND_SESSION_RELEASE)
ANSWERS = (W.KIND_SESSION_GRANT, W.KIND_SESSION_REFUSE, W.KIND_SESSION_RELEASED)
# What is taken without a tag.
OPEN = [KINDS[name].number for name in ("Discovery.Solicit", "Session.CountersGet", "Session.ManifestGet",
                                        "Session.Ping", "Image.Data")]


def pair_key(host: int, key: bytes = KEY, own: int = 0) -> bytes:
    """What this host, by the number in its address, shares with the card; and which key of its own it is."""
    return golden.mac(key, struct.pack("<BQI", 2, host >> 24 & 0xFFFF, own), derive=True)


def claims_key(host: int, key: bytes = KEY, own: int = 0) -> bytes:
    return golden.mac(pair_key(host, key, own), b"\3", derive=True)


@dataclass
class Keyed(Config):
    keys: tuple[bytes | None, ...] = (KEY, None)  # Of the newest generation and the one before.
    hosts: tuple[Named, ...] = (Named(HOST), Named(RIVALS))
    reads: int = 0  # How often the firmware asks until the key store holds something.


@dataclass
class Session:
    valid: bool = False
    owner: int = 0
    epoch: int = 0
    key: bytes | None = None
    counter: int = 0  # The newest of a frame that was taken.


@dataclass
class Vault:
    """rl_auth_vault and its registers."""

    keys: dict[int, tuple[bytes, bool]] = field(default_factory=dict)  # And whether it derives.
    sessions: list[Session] = field(default_factory=lambda: [Session(), Session()])
    newer: int = 0
    hosts: list[int | None] = field(default_factory=lambda: [None, None])  # Who may claim whatever others send,
    claims: list[bytes | None] = field(default_factory=lambda: [None, None])  # and by which key.
    message: bytes | None = None
    slot: int = 0
    done: bool = False
    tag: bytes = bytes(16)

    def put(self, value: int, order: str) -> None:
        assert self.message is not None, "a message that has not begun"
        self.message += value.to_bytes(4, order)

    def order(self, word: int) -> None:
        op, slot, count = word >> 8 & 3, word >> 10 & 3, word >> 4 & 7
        to, target = word >> 2 & 3, word & 3
        self.done, self.tag = False, bytes(16)
        if op == 0:
            self.message, self.slot = b"", slot
        elif op == 1:
            self.end(count, to, target)
        elif op == 3:
            assert target < 2, "the firmware puts another key in a host's place"
            self.session_key(target, None)
        else:
            raise AssertionError("the firmware forgets no key of the vault")

    def end(self, count: int, to: int, target: int) -> None:
        message, self.message = self.message, None
        assert message is not None and (count > 0) == bool(message) and count <= 4
        key, derives = self.keys.get(self.slot, (None, False))
        if key is None:
            return
        message = message[: len(message) - 4 + count] if message else b""
        made = golden.mac(key, message, derive=derives)
        assert derives == (to != SHOW), "what the vault refuses"
        self.done = True
        if to == SHOW:
            self.tag = made
        elif to == SESSION:
            self.receiver_key(target, made)
        else:
            assert target >= 2
            self.keys[target] = made, to == DERIVES

    def receiver_key(self, which: int, key: bytes) -> None:
        if which < 2:
            return self.session_key(which, key)
        assert self.hosts[which - 2] is None, "a host that is vouched for loses its key"
        self.claims[which - 2] = key
        self.done = True

    def vouch(self, word: int) -> None:
        at, number = word >> 16 & 1, word & 0xFFFF
        self.hosts[at] = number if word >> 17 & 1 else None
        assert self.hosts[at] is None or self.claims[at], "a host is vouched for without a key"

    def vouched(self) -> dict[int, bytes]:
        return {of: key for of, key in zip(self.hosts, self.claims, strict=True) if of is not None}

    def session_key(self, which: int, key: bytes | None) -> None:
        assert not self.sessions[which].valid, "a session that is valid loses its key"
        self.sessions[which] = Session(key=key)
        self.done = True

    def tell(self, owner: int, word: int) -> None:
        session = self.sessions[word >> 16 & 1]
        session.valid, session.owner, session.epoch = bool(word >> 17 & 1), owner, word & 0xFFFF
        if session.valid:
            assert session.key, "a session is valid and has no key"
            self.newer = word >> 16 & 1

    def of(self, owner: int) -> Session | None:
        order = (self.newer, 1 - self.newer)
        return next((s for s in map(self.sessions.__getitem__, order) if s.valid and s.owner == owner), None)


class KeysBoard(Board):
    def __init__(self, library, config: Keyed) -> None:
        self.vault = Vault()
        self.store_of = Store(config.keys, GENERATION, config.hosts, reads=config.reads)
        self.shaped: bytes | None = None
        self.trailers: list[bytes] = []  # Of the firmware's answers, each as a whole frame.
        self.under: list[tuple[int, int]] = []  # What has left under a session's tag: kind and receiver.
        super().__init__(library, config)

    # -- registers
    def read_register(self, address: int) -> int:
        vault, store = self.vault, self.store_of
        if address == C.CSR_KEY_STORE:
            return store.status()
        if address == C.CSR_KEY_HOSTS:
            return store.word()
        if address == C.CSR_KEY_ORDER:
            return C.KEY_ORDER_DONE if vault.done else 0
        if C.CSR_KEY_TAG <= address < C.CSR_KEY_TAG + 16:
            return number(vault.tag[address - C.CSR_KEY_TAG :][:4])
        if C.CSR_KEY_GENERATION <= address < C.CSR_KEY_GENERATION + 8:
            return store.shown[(address - C.CSR_KEY_GENERATION) // 4][1]
        return super().read_register(address)

    def write_register(self, address: int, value: int) -> None:
        if address == C.CSR_KEY_DATA:
            self.vault.put(value, "little")
        elif address == C.CSR_KEY_FRAME:
            self.vault.put(value, "big")
        elif address == C.CSR_KEY_ORDER:
            self.vault.order(value)
        elif address == C.CSR_KEY_STORE:
            self.store_of.order(value)
            keys = enumerate(key for key, _ in self.store_of.shown)
            made = {slot: made for slot, made in self.vault.keys.items() if slot in (PAIR, CLAIMS)}
            self.vault.keys = {n: (key, True) for n, key in keys if key} | made
        elif address == C.CSR_KEY_HOSTS_AT:
            self.store_of.at = value
        elif address == C.CSR_KEY_HOST:
            self.vault.vouch(value)
        elif address == C.CSR_KEY_SESSION:
            owner = self.registers[C.CSR_KEY_OWNER_HI] << 32 | self.registers[C.CSR_KEY_OWNER_LO]
            self.vault.tell(owner, value)
        else:
            if address == C.CSR_SESSION and value & C.SESSION_LISTENING:
                assert self.store_of.handed and self.registers[C.CSR_KEY_BOOT] == self.config.boot
            super().write_register(address, value)

    def events(self) -> int:
        return super().events() | (C.EVENTS_KEYS if self.store_of.has_news() else 0)

    def drop(self, *cause: str) -> None:
        """A frame, by its cause; or the oldest launch."""
        if not cause:
            return super().drop()
        at = C.CSR_KEY_COUNT + 8 * ("untagged", "unknown", "wrong", "replay").index(cause[0])
        self.registers[at] = self.registers.get(at, 0) + 1

    # -- frames, as rl_auth_rx and rl_auth_tx have them
    def receive(self, raw: bytes) -> None:
        kind, has_tag = Frame.parse(plain(raw)).kind, bool(raw[14] & FLAG.AUTH)
        if kind in BY_CLAIMS:
            if kind == W.KIND_SESSION_RELEASE and not has_tag:
                return self.drop("untagged")
            length = len(raw) - W.HEADER_END if has_tag else None
            self.shaped = raw[:16] + length.to_bytes(2, "big") + raw[18:] if has_tag else None
        elif has_tag:
            if (cause := self.judge(raw)) is not None:
                return self.drop(cause)
            self.shaped = plain(raw)[:14] + raw[14:15] + plain(raw)[15:]
        elif kind not in OPEN:
            return self.drop("untagged")
        super().receive(plain(raw))
        self.shaped = None

    def judge(self, raw: bytes) -> str | None:
        session = self.vault.of(int.from_bytes(raw[6:12], "big"))
        if session is None:
            return "unknown"
        _, counter, tag = TRAILER.unpack(raw[-TRAILER.size :])
        if counter <= session.counter:
            return "replay"
        made = golden.tag(session.key, raw[: -TRAILER.size], boot=self.config.boot, to_host=False, counter=counter)
        if made != tag:
            return "wrong"
        session.counter = counter
        return None

    def push_control(self, raw: bytes, why: int) -> None:
        super().push_control(raw if self.shaped is None else self.shaped, why)

    def transmit(self, raw: bytes) -> None:
        kind, dst = Frame.parse(plain(raw)).kind, int.from_bytes(raw[:6], "big")
        if raw[14] & FLAG.AUTH:
            assert kind in ANSWERS
            self.trailers.append(raw)
            raw = plain(raw)
        elif kind not in (*ANSWERS, W.KIND_SESSION_COUNTERS, W.KIND_SESSION_MANIFEST) and self.vault.of(dst):
            self.under.append((kind, dst))
        super().transmit(raw)


def plain(raw: bytes) -> bytes:
    """The frame without its tag."""
    if not raw[14] & FLAG.AUTH:
        return raw.ljust(W.FRAME_MIN, b"\0")
    return (raw[:14] + bytes([raw[14] & ~FLAG.AUTH]) + raw[15 : -TRAILER.size]).ljust(W.FRAME_MIN, b"\0")


class KeysBench(Bench):
    """A card with keys, and hosts that have theirs."""

    def __init__(self, library, config: Keyed | None = None) -> None:
        self.board = KeysBoard(library, config or Keyed())
        self.epoch = 0
        self.counters = itertools.count(1)
        self.frames = itertools.count(1)

    def give(self, *hosts: Named, keys: tuple[bytes | None, ...] = (KEY, None), generation: int = GENERATION) -> None:
        """The card is given other keys and hosts."""
        self.board.store_of.write(keys, generation, hosts)
        self.board.run()

    def by_claims(self, raw: bytes, *, key: bytes | None = None, own: int = 0, counter: int | None = None,
                  boot: int | None = None, to_host: bool = False, generation: int = GENERATION,
                  length: int | None = None) -> bytes:
        """A claim or a release as its sender's host sends it, or as somebody else would."""
        length = number(raw[16:18]) if length is None else length
        message = raw[: W.HEADER_END + length]
        message = message[:14] + bytes([message[14] | FLAG.AUTH]) + message[15:]
        counter = next(self.counters) if counter is None else counter
        src = int.from_bytes(raw[6:12], "big")
        boot = self.board.config.boot if boot is None else boot
        made = golden.tag(claims_key(src, key or KEY, own), message, boot=boot, to_host=to_host, counter=counter)
        return message + TRAILER.pack(generation, counter, made)

    def claim_with(self, host: int = OWNER, nonce: int = 1, *, lease: int = 5000, scrub: int = 0, beats: int = 23,
                   **how) -> bytes:
        return self.by_claims(self.claim_frame(host, nonce, lease, scrub, 0, beats), **how)

    def claim(self, host: int = OWNER, nonce: int = 1, **how) -> Frame:
        self.board.receive(self.claim_with(host, nonce, **how))
        grant = self.take(W.KIND_SESSION_GRANT)[-1].frame
        assert number(grant.payload[:8]) == nonce
        self.epoch = grant.epoch
        return grant

    def release_with(self, host: int = OWNER, scrub: int = 0, **how) -> bytes:
        raw = Frame(CARD_MAC, host, W.KIND_SESSION_RELEASE, 0, self.epoch, 6, 0).raw(bytes([scrub]) + bytes(7))
        return self.by_claims(raw, **how)

    def in_session(self, kind: int, payload: bytes = b"", seq: int = 0, addr: int = 0, **change: int) -> None:
        """A frame under the tag of its sender's session."""
        raw = self.head(kind, seq, addr, **{"src": OWNER, **change}).raw(payload)
        message = raw[: W.HEADER_END + len(payload)]
        message = message[:14] + bytes([message[14] | FLAG.AUTH]) + message[15:]
        session = self.board.vault.of(change.get("src", OWNER))
        counter = next(self.frames) + session.counter
        made = golden.tag(session.key, message, boot=self.board.config.boot, to_host=False, counter=counter)
        self.board.receive(message + TRAILER.pack(0, counter, made))

    def answer(self, host: int = OWNER, key: bytes = KEY, generation: int = GENERATION,
               own: int = 0) -> tuple[Frame, int]:
        """The oldest answer under a tag, which must be right by this host's key; and its counter."""
        raw = self.board.trailers.pop(0)
        of, counter, tag = TRAILER.unpack(raw[-TRAILER.size :])
        message = raw[: -TRAILER.size]
        boot = self.board.config.boot
        made = golden.tag(claims_key(host, key, own), message, boot=boot, to_host=True, counter=counter)
        assert (of, tag) == (generation, made)
        assert number(message[16:18]) == len(message) - W.HEADER_END, "the trailer is no payload"
        return Frame.parse(plain(raw)), counter

    def counted(self, cause: str) -> int:
        """A counter of tags, as the card tells it."""
        return self.told_counter(45 + ("untagged", "unknown", "wrong", "replay").index(cause))

    def told_counter(self, which: int) -> int:
        before = self.board.sent.copy()
        self.send(W.KIND_SESSION_COUNTERS_GET, seq=1, addr=which, src=STRANGER)
        told = self.take(W.KIND_SESSION_COUNTERS)[-1].frame
        self.board.sent = before
        return number(told.payload[:8])
