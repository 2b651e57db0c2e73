"""The models, from the Rust crates: what gateware and firmware are compared with.

This file and golden_link.py declare the C functions of crates/check/golden, whose documentation says what each rule is
taken from. The environment variable RACKLOOM_GOLDEN names the library, which scripts/golden.sh builds.
"""

import ctypes
import enum
import os
import weakref
from collections.abc import Callable, Iterable, Iterator
from ctypes import POINTER, byref, c_char_p, c_int32, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass

from protocol import CONTROL

VARIABLE = "RACKLOOM_GOLDEN"
CHUNK, VALUE = 1024, 32  # Bytes of a chunk of BLAKE3's tree, and of a chaining value or digest.
ROOM = 16 << 10  # Bytes of the first attempt; a longer result takes a second one.


class _Head(ctypes.Structure):
    _fields_ = [
        *((name, c_uint64) for name in ("dst", "src", "addr")),
        ("seq", c_uint32),
        *((name, c_uint16) for name in ("epoch", "ether_type")),
        *((name, c_uint8) for name in ("kind", "flags")),
    ]


class _Window(ctypes.Structure):
    _fields_ = [("next", c_uint32), ("bitmap", c_uint8 * 32)]


class _Card(ctypes.Structure):
    _fields_ = [
        *((name, c_uint64) for name in ("mac", "owner", "memory")),
        *((name, c_uint16) for name in ("epoch", "claim_group", "load_group", "bulk")),
        *((name, c_uint8) for name in ("claimed", "loading")),
    ]


class _Verdict(ctypes.Structure):
    _fields_ = [("drop", c_int32), *((name, c_uint8) for name in ("route", "reason", "waits", "barrier"))]


class _Bytes(ctypes.Structure):
    _fields_ = [("data", c_char_p), ("len", c_size_t)]


class _Part(ctypes.Structure):
    _fields_ = [("target", _Bytes), ("body", _Bytes)]


class _Config(ctypes.Structure):
    _fields_ = [
        *((name, c_uint64) for name in ("rto_ns", "ack_delay_ns")),
        *((name, c_uint32) for name in ("first", "window", "credit", "ack_every", "hold", "queue_max", "epoch",
                                     "asks_seldom")),
    ]


class _Segment(ctypes.Structure):
    _fields_ = [
        ("payload", c_uint64),
        *((name, c_uint32) for name in ("src", "dst", "seq", "ack", "limit")),
        *((name, c_uint8) for name in ("has_payload", "is_nack", "asks")),
    ]


class _Counters(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in ("served", "malformed", "denied")]


class _Event(ctypes.Structure):
    _fields_ = [("payload", c_uint64), ("kind", c_uint8)]


class _BridgeHead(ctypes.Structure):
    _fields_ = [
        *((name, c_uint64) for name in ("dst", "src", "addr")),
        *((name, c_uint32) for name in ("seq", "src_epoch", "dst_epoch", "ack", "limit", "count")),
        *((name, c_uint16) for name in ("id", "tag", "channel")),
        *((name, c_uint8) for name in ("kind", "flags")),
    ]


class _NicCounts(ctypes.Structure):
    _fields_ = [
        *((f"to_{side}_{what}", c_uint64) for side in ("host", "wire") for what in ("frames", "bytes")),
        *((name, c_uint64) for name in ("forged", "reserved", "astray", "overflow", "paused")),
    ]


class _Happening(ctypes.Structure):
    _fields_ = [("request", c_uint64), ("peer", c_uint64), ("stream", c_uint16), ("failed", c_uint8)]


_BYTES = (c_char_p, c_size_t)  # An argument's bytes; and the place of a result.
_FUNCTIONS = {
    "digest": (*_BYTES, *_BYTES),
    "chunk_values": (*_BYTES, c_uint64, c_uint8, *_BYTES),
    "parent_values": (*_BYTES, c_uint8, *_BYTES),
    "sack_insert": (POINTER(_Window), c_uint32),
    "connection_new": (c_uint64, POINTER(_Config), POINTER(c_void_p)),
    "connection_free": (c_void_p,),
    "connection_push": (c_void_p, c_uint64),
    "connection_handle": (c_void_p, c_uint64, POINTER(_Segment)),
    "connection_timeout": (c_void_p, c_uint64),
    "connection_consume": (c_void_p, c_uint64, c_uint32),
    "connection_poll": (c_void_p, c_uint64, POINTER(_Segment)),
    "connection_event": (c_void_p, POINTER(_Event)),
    "connection_deadline": (c_void_p, POINTER(c_uint64)),
    "endpoint_new": (c_uint64, c_uint16, c_uint32, *_BYTES, POINTER(c_void_p)),
    "endpoint_free": (c_void_p,),
    "endpoint_window": (c_void_p, c_uint64, c_uint64, c_uint64, c_uint64, c_uint8),
    "endpoint_fails": (c_void_p, c_uint8),
    "endpoint_handle": (c_void_p, *_BYTES),
    "endpoint_poll": (c_void_p, *_BYTES),
    "endpoint_time": (c_void_p, c_uint64),
    "endpoint_read": (c_void_p, c_uint64, c_uint64, c_uint32),
    "endpoint_write": (c_void_p, c_uint64, c_uint64, *_BYTES),
    "endpoint_send": (c_void_p, c_uint64, c_uint16, *_BYTES),
    "endpoint_done": (c_void_p, POINTER(_Happening)),
    "endpoint_take": (c_void_p, POINTER(_Happening)),
    "endpoint_bytes": (c_void_p, *_BYTES),
    "endpoint_memory": (c_void_p, *_BYTES),
    "endpoint_counters": (c_void_p, POINTER(_Counters)),
    "nic_new": (c_uint64, c_uint64, POINTER(c_void_p)),
    "nic_free": (c_void_p,),
    "nic_handle": (c_void_p, c_uint8, *_BYTES),
    "nic_poll": (c_void_p, c_uint64, c_uint8, *_BYTES),
    "nic_counts": (c_void_p, POINTER(_NicCounts)),
    "mac": (c_char_p, c_uint8, *_BYTES, *_BYTES),
    "tag": (c_char_p, c_uint32, c_uint8, c_uint64, *_BYTES, *_BYTES),
    "judge": (POINTER(_Card), *_BYTES, POINTER(_Verdict)),
    "route": (POINTER(_Card), *_BYTES, POINTER(_Verdict)),
    "admit": (POINTER(_Card), c_uint32, *_BYTES, *_BYTES),
    "frame": (POINTER(_Head), *_BYTES, *_BYTES),
    "parse": (*_BYTES, POINTER(_Head)),
    "bridge_frame": (POINTER(_BridgeHead), *_BYTES, *_BYTES),
    "bridge_parse": (*_BYTES, POINTER(_BridgeHead), POINTER(c_uint8)),
    "image": (c_uint16, *_BYTES, POINTER(_Part), c_size_t, *_BYTES),
    "rtl_part": (c_uint16, c_uint32, *_BYTES, c_size_t, *_BYTES),
}
REFUSED = -2
FAULTS = {-1: "an argument is out of range", REFUSED: "the input is refused", -3: "the library has a bug"}


_LIBRARY: dict[str, Callable[..., int]] = {}


def declare(functions: dict[str, tuple]) -> None:
    """Functions of the library, by their names and the kinds of their arguments."""
    path = os.environ.get(VARIABLE)
    if not path or not os.path.exists(path):
        raise RuntimeError(
            f"{VARIABLE} does not name the library of the models; "
            f"build it from the repository's root: export {VARIABLE}=$(scripts/golden.sh)"
        )
    library = ctypes.CDLL(path)
    for name, arguments in functions.items():
        _LIBRARY[name] = library[f"rl_golden_{name}"]
        _LIBRARY[name].argtypes, _LIBRARY[name].restype = arguments, ctypes.c_int64


declare(_FUNCTIONS)


def _call(name: str, *arguments: object) -> int:
    """The number that a function returns."""
    result = _try(name, *arguments)
    if result == REFUSED:
        raise ValueError(f"golden {name}: {FAULTS[result]}")
    return result


def _try(name: str, *arguments: object) -> int:
    """The number that a function returns, or REFUSED."""
    for value, kind in zip(arguments, _LIBRARY[name].argtypes, strict=True):
        if isinstance(value, int):
            _fits(f"golden {name}", value, kind)
    result = _LIBRARY[name](*arguments)
    if result < 0 and result != REFUSED:
        raise ValueError(f"golden {name}: {FAULTS[result]}")
    return result


def _unless_refused(result: int) -> int | None:
    return None if result == REFUSED else result


def _fits(what: str, value: int, kind: type) -> None:
    """ctypes cuts off what does not fit."""
    if not 0 <= value < 1 << 8 * ctypes.sizeof(kind):
        raise OverflowError(f"{what}: {value:#x} does not fit")


def _struct(kind: type[ctypes.Structure], /, **values: int) -> ctypes.Structure:
    for name, field in kind._fields_:
        _fits(name, values[name], field)
    return kind(**values)


def _bytes(name: str, *arguments: object) -> bytes:
    """The bytes that a function gives."""
    out = ctypes.create_string_buffer(ROOM)
    length = _call(name, *arguments, out, len(out))
    if length > len(out):
        out = ctypes.create_string_buffer(length)
        _call(name, *arguments, out, length)
    return out.raw[:length]


# ---- BLAKE3
def digest(data: bytes) -> bytes:
    """The digest."""
    return _bytes("digest", data, len(data))


def chunk_values(data: bytes, first: int = 0, root: bool = False) -> bytes:
    """The chaining values of all chunks, the first of which has the number `first`. Of a root: the digest."""
    return _bytes("chunk_values", data, len(data), first, root)


def parent_values(values: bytes, root: bool = False) -> bytes:
    """The next level of the tree: each pair gives a value, an odd last one stays. Of a root: the digest."""
    return _bytes("parent_values", values, len(values), root)


# ---- tags
def mac(key: bytes, message: bytes, derive: bool = False) -> bytes:
    """The tag of a message by Ascon-MAC; or the key that Ascon-PRF makes of it."""
    return _bytes("mac", _key(key), derive, message, len(message))


def tag(key: bytes, frame: bytes, *, boot: int, to_host: bool, counter: int) -> bytes:
    """The tag of a frame, from its first address to the end of its payload."""
    return _bytes("tag", _key(key), boot, to_host, counter, frame, len(frame))


def _key(key: bytes) -> bytes:
    if len(key) != 16:
        raise ValueError(f"a key has 16 bytes, and this one {len(key)}")
    return key


# ---- the window of writes
class Arrival(enum.IntEnum):
    """What a number is to a window."""

    NEW = 0
    DUPLICATE = 1
    BEYOND = 2


class Sack:
    """A receiver's window of numbers, which expects `first`."""

    def __init__(self, first: int) -> None:
        self._window = _Window()
        _fits("first", first, c_uint32)
        self._window.next = first

    @property
    def next(self) -> int:
        """The first number missing."""
        return self._window.next

    def insert(self, number: int) -> Arrival:
        """Takes note of a number."""
        return Arrival(_call("sack_insert", byref(self._window), number))

    def beyond(self) -> set[int]:
        """The numbers that are there beyond the first missing one."""
        bits = int.from_bytes(self._window.bitmap, "little")
        return {(self.next + 1 + at) % (1 << 32) for at in range(256) if bits >> at & 1}

    def ring(self) -> int:
        """The same as hardware keeps it: bit n % 256 for number n."""
        return sum(1 << number % 256 for number in self.beyond())


# ---- a connection that delivers in order
@dataclass(frozen=True)
class ConnectionConfig:
    """How an end is set: see the struct of the same fields in crates/check/golden."""

    rto_ns: int
    ack_delay_ns: int
    first: int
    window: int
    credit: int
    ack_every: int
    queue_max: int
    epoch: int
    hold: int = 0
    asks_seldom: int = 0


@dataclass(frozen=True)
class Segment:
    """What goes from one end to the other. `ack` and `limit` count if `dst` is not 0."""

    src: int
    dst: int
    ack: int
    limit: int
    asks: bool = False
    is_nack: bool = False
    has_payload: bool = False
    seq: int = 0
    payload: int = 0


class EventKind(enum.IntEnum):
    """What a segment leads to."""

    DELIVERED = 0
    RESTARTED = 1
    LOST = 2


class Connection:
    """One end, to which payloads are numbers. Law: after each call that changes it, send what `poll` gives."""

    def __init__(self, now_ns: int, config: ConnectionConfig) -> None:
        self._at = c_void_p()
        _call("connection_new", now_ns, byref(_struct(_Config, **vars(config))), byref(self._at))
        weakref.finalize(self, _call, "connection_free", self._at)

    def push(self, payload: int) -> bool:
        """Queues a payload, unless the queue is full."""
        return _try("connection_push", self._at, payload) != REFUSED

    def handle(self, now_ns: int, segment: Segment) -> bool:
        """A segment has come. False if it is the other end's error."""
        return _try("connection_handle", self._at, now_ns, byref(_struct(_Segment, **vars(segment)))) != REFUSED

    def timeout(self, now_ns: int) -> None:
        """Time has passed."""
        _call("connection_timeout", self._at, now_ns)

    def consume(self, now_ns: int, count: int = 1) -> None:
        """The owner has room again for so many payloads."""
        _call("connection_consume", self._at, now_ns, count)

    def poll(self, now_ns: int) -> Segment | None:
        """The next segment to send now."""
        segment = _Segment()
        if not _call("connection_poll", self._at, now_ns, byref(segment)):
            return None
        values = {name: getattr(segment, name) for name, _ in _Segment._fields_}
        return Segment(**values | {name: bool(values[name]) for name in ("has_payload", "is_nack", "asks")})

    def events(self) -> Iterator[tuple[EventKind, int]]:
        """What segments have led to since the last call, oldest first, each with its payload."""
        event = _Event()
        while _call("connection_event", self._at, byref(event)):
            yield EventKind(event.kind), event.payload

    def deadline(self) -> int | None:
        """When `timeout` and `poll` are wanted, in nanoseconds."""
        at = c_uint64()
        return at.value if _call("connection_deadline", self._at, byref(at)) else None


# ---- the analyzer
class Route(enum.IntEnum):
    """Where a frame goes, as route_e."""

    DROP = 0
    CONTROL = 1
    WRITE = 2
    READ = 3
    IMAGE = 4
    LAUNCH = 5


class Reason(enum.IntEnum):
    """Why a frame goes to the firmware, as divert_reason_e. BUSY is the launch block's, the others are the models'."""

    KIND = 0
    EPOCH = 1
    MALFORMED = 2
    LENGTH = 3
    ADDRESS = 4
    TURN = 5
    KERNEL = 6
    BUSY = 7
    ACCEPTED = 8


@dataclass(frozen=True)
class Card:
    """What a card judges frames by."""

    mac: int
    owner: int
    memory: int
    epoch: int
    claim_group: int
    load_group: int
    bulk: int = CONTROL.consts["BULK_STANDARD"]
    claimed: bool = True
    loading: bool = True


@dataclass(frozen=True)
class Judgement:
    """What becomes of a frame: the counter of its drop, or where it goes and why; whether it waits for frames that the
    firmware has not finished, and whether others wait for it."""

    drop: str | None
    route: Route = Route.DROP
    reason: Reason = Reason.KIND
    waits: bool = False
    barrier: bool = False


COUNTERS = list(CONTROL.counters)


def judge(card: Card, data: bytes) -> Judgement:
    """What becomes of these bytes, their check sequence being right."""
    return _judged("judge", card, data)


def route(card: Card, data: bytes) -> Judgement:
    """The same for a frame that has passed the analyzer's first checks, whatever its addresses are."""
    return _judged("route", card, data)


def _card(card: Card) -> object:
    return byref(_struct(_Card, **vars(card)))


def _judged(by: str, card: Card, data: bytes) -> Judgement:
    verdict = _Verdict()
    _call(by, _card(card), data, len(data), byref(verdict))
    return judgement(verdict)


def judgement(verdict: _Verdict) -> Judgement:
    """What a verdict of the library says."""
    drop = COUNTERS[verdict.drop] if verdict.drop >= 0 else None
    route, reason = Route(verdict.route), Reason(verdict.reason)
    return Judgement(drop, route, reason, bool(verdict.waits), bool(verdict.barrier))


def admit(card: Card, data: bytes, *, last: int = 0, takes: Iterable[int] = ()) -> Reason:
    """What the block behind the analyzer does with a read or launch: takes it, or why the firmware gets it.

    `last` is the number of the newest launch accepted; `takes` says how many arguments each kernel takes.
    """
    counts = bytes(takes)
    return Reason(_call("admit", _card(card), last, counts, len(counts), data, len(data)))


# ---- frames; `wire` has them by their names
def build(payload: bytes, **head: int) -> bytes:
    """A frame without check sequence, padded to the shortest there is."""
    return _bytes("frame", byref(_struct(_Head, **head)), payload, len(payload))


def parse(data: bytes) -> tuple[dict[str, int], bytes]:
    """A frame's head and its payload without padding."""
    head = _Head()
    end = CONTROL.consts["HEADER_END"] + _call("parse", data, len(data), byref(head))
    return {name: getattr(head, name) for name, _ in _Head._fields_}, data[CONTROL.consts["HEADER_END"] : end]


# ---- frames of the bridge
class BridgeFault(enum.IntEnum):
    """What is wrong with a frame, as BridgeFault."""

    TRUNCATED = 1
    FOREIGN = 2
    HOP_LIMIT = 3
    SUBNET = 4
    SPOOFED = 5
    MISDIRECTED = 6
    LENGTH = 7
    VERSION = 8
    KIND = 9
    AUTH = 10


@dataclass(frozen=True)
class BridgeHead:
    """Everything of a bridge frame but its payload: see the struct of the same fields."""

    dst: int
    src: int
    kind: int
    flags: int = 0
    id: int = 0
    seq: int = 0
    src_epoch: int = 0
    dst_epoch: int = 0
    ack: int = 0
    limit: int = 0
    addr: int = 0
    count: int = 0
    tag: int = 0
    channel: int = 0

    def frame(self, payload: bytes = b"") -> bytes:
        """The frame with this payload, without check sequence."""
        return _bytes("bridge_frame", byref(_struct(_BridgeHead, **vars(self))), payload, len(payload))


def bridge_parse(data: bytes) -> tuple[BridgeHead, bytes] | BridgeFault:
    """A frame's head and its payload without padding, or what is wrong with it."""
    head, fault = _BridgeHead(), c_uint8()
    length = _try("bridge_parse", data, len(data), byref(head), byref(fault))
    if length == REFUSED:
        return BridgeFault(fault.value)
    return BridgeHead(**{name: getattr(head, name) for name, _ in _BridgeHead._fields_}), data[96 : 96 + length]


class Endpoint:
    """A node of the bridge with a memory, for which time passes as `time` says."""

    def __init__(self, mac: int, longest: int, epoch: int, memory: bytes) -> None:
        self._at, self._size = c_void_p(), len(memory)
        _call("endpoint_new", mac, longest, epoch, memory, len(memory), byref(self._at))
        weakref.finalize(self, _call, "endpoint_free", self._at)

    def window(self, number: int, base: int = 0, length: int = 0, peer: int = 0, rights: int = 0) -> None:
        """Sets a window, for one node or, with peer 0, for all; without a length it is closed."""
        _call("endpoint_window", self._at, number, base, length, peer, rights)

    def fails(self, fails: bool) -> None:
        """Whether its memory fails from now on."""
        _call("endpoint_fails", self._at, fails)

    def exchange(self, data: bytes) -> list[bytes]:
        """A frame comes; the frames that go out."""
        _call("endpoint_handle", self._at, data, len(data))
        return self.says()

    def says(self) -> list[bytes]:
        """The frames that go out now."""
        sent = []
        while said := _bytes("endpoint_poll", self._at):
            sent.append(said)
        return sent

    def time(self, now_ns: int) -> None:
        """It is so late."""
        _call("endpoint_time", self._at, now_ns)

    def read(self, peer: int, addr: int, count: int) -> int | None:
        """Asks a node for bytes of its memory: the request's number; None while too many are under way."""
        return _unless_refused(_try("endpoint_read", self._at, peer, addr, count))

    def write(self, peer: int, addr: int, data: bytes) -> int | None:
        """Writes to a node's memory, likewise."""
        return _unless_refused(_try("endpoint_write", self._at, peer, addr, data, len(data)))

    def send(self, peer: int, stream: int, message: bytes) -> bool:
        """Sends a message to a node's stream, if there is room."""
        return _try("endpoint_send", self._at, peer, stream, message, len(message)) != REFUSED

    def done(self) -> dict[int, bytes | None]:
        """The requests that are over: the bytes that were read, or None if it failed."""
        over, it = {}, _Happening()
        while _call("endpoint_done", self._at, byref(it)):
            over[it.request] = None if it.failed else _bytes("endpoint_bytes", self._at)
        return over

    def take(self) -> tuple[int, int, bytes] | None:
        """Takes the next message: its node, stream and bytes."""
        it = _Happening()
        if not _call("endpoint_take", self._at, byref(it)):
            return None
        return it.peer, it.stream, _bytes("endpoint_bytes", self._at)

    def memory(self) -> bytes:
        """What its memory holds."""
        out = ctypes.create_string_buffer(self._size)
        _call("endpoint_memory", self._at, out, self._size)
        return out.raw

    def counters(self) -> dict[str, int]:
        """What it has counted."""
        counters = _Counters()
        _call("endpoint_counters", self._at, byref(counters))
        return {name: getattr(counters, name) for name, _ in _Counters._fields_}


# ---- a host behind a card
class Side(enum.IntEnum):
    """Where frames come in and leave."""

    WIRE = 0
    HOST = 1


NIC_COUNTS = [name for name, _ in _NicCounts._fields_]


class Nic:
    """What passes between the wire and a host behind a card."""

    def __init__(self, card: int, host: int) -> None:
        self._at = c_void_p()
        _call("nic_new", card, host, byref(self._at))
        weakref.finalize(self, _call, "nic_free", self._at)

    def handle(self, at: Side, data: bytes) -> bool:
        """A frame has come in. Whether it was the host's, or pretended to be: at the wire, others are the card's."""
        return bool(_call("nic_handle", self._at, at, data, len(data)))

    def poll(self, now_ns: int, at: Side) -> bytes:
        """The next frame that leaves, orders to the host first; none if there is none."""
        return _bytes("nic_poll", self._at, now_ns, at)

    def counts(self) -> dict[str, int]:
        """What it has counted."""
        counts = _NicCounts()
        _call("nic_counts", self._at, byref(counts))
        return {name: getattr(counts, name) for name in NIC_COUNTS}


# ---- images
def image(parts: dict[str, bytes], manifest: bytes, shell: int = 1) -> bytes:
    """An image with these parts by target, around any manifest."""
    listed = [_Part(_of(target.encode()), _of(body)) for target, body in parts.items()]
    return _bytes("image", shell, manifest, len(manifest), (_Part * len(listed))(*listed), len(listed))


def rtl_part(role: int, args: Iterable[int], clock_khz: int, size: int) -> bytes:
    """The `rtl` part of a role whose kernels take these numbers of arguments."""
    takes = bytes(args)
    return _bytes("rtl_part", role, clock_khz, takes, len(takes), size)


def _of(data: bytes) -> _Bytes:
    return _Bytes(data, len(data))
