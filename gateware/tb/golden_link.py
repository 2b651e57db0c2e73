"""The models of links, from the Rust crates: frames, and a sequencer that moves messages. See `golden`."""

import ctypes
import enum
import weakref
from ctypes import POINTER, byref, c_char_p, c_size_t, c_uint8, c_uint16, c_uint32, c_uint64, c_void_p
from dataclasses import dataclass

import golden


class _Head(ctypes.Structure):
    _fields_ = [
        *((name, c_uint64) for name in ("src", "group")),
        *(
            (name, c_uint32)
            for name in ("src_epoch", "dst_epoch", "seq", "ack", "limit", "number", "offset", "total")
        ),
        *((name, c_uint16) for name in ("slot", "tag")),
        *((name, c_uint8) for name in ("kind", "flags")),
    ]


class _Ended(ctypes.Structure):
    _fields_ = [
        *((name, c_uint64) for name in ("id", "moved", "takes", "puts")),
        ("command", c_uint32),
        ("cause", c_uint16),
        ("port", c_uint8),
    ]


class _Counts(ctypes.Structure):
    _fields_ = [(name, c_uint64) for name in ("malformed", "stray", "resent", "dead")]


class _Planned(ctypes.Structure):
    _fields_ = [
        *((name, c_uint64) for name in ("count", "from_", "to", "scratch", "room")),
        *((name, c_uint8) for name in ("kind", "op", "datatype", "root", "rank")),
    ]


_BYTES = (c_char_p, c_size_t)
golden.declare(
    {
        "link_frame": (POINTER(_Head), *_BYTES, *_BYTES),
        "link_parse": (*_BYTES, POINTER(_Head), POINTER(c_uint8)),
        "reduce": (c_uint8, c_uint8, c_char_p, *_BYTES, *_BYTES),
        "plan": (*_BYTES, POINTER(_Planned), *_BYTES),
        "link_command": (c_uint8, c_uint8, c_uint16, c_uint32, c_uint64, c_uint64, *_BYTES),
        "sequencer_new": (c_uint64, c_uint8, c_uint32, c_uint16, c_size_t, POINTER(c_void_p)),
        "sequencer_free": (c_void_p,),
        "sequencer_start": (c_void_p, *_BYTES, c_uint64, c_uint32, c_uint64),
        "sequencer_handle": (c_void_p, c_uint8, *_BYTES),
        "sequencer_poll": (c_void_p, POINTER(c_uint8), *_BYTES),
        "sequencer_time": (c_void_p, c_uint64),
        "sequencer_ended": (c_void_p, POINTER(_Ended)),
        "sequencer_write": (c_void_p, c_uint64, *_BYTES),
        "sequencer_read": (c_void_p, c_uint64, *_BYTES),
        "sequencer_counts": (c_void_p, POINTER(_Counts)),
    }
)


class Fault(enum.IntEnum):
    """What is wrong with a frame, as LinkFault."""

    TRUNCATED = 1
    FOREIGN = 2
    VERSION = 3
    KIND = 4
    AUTH = 5


@dataclass(frozen=True)
class Head:
    """Everything of a link's frame but its payload: see the struct LinkHead of the same fields."""

    src: int
    kind: int
    flags: int = 0
    slot: int = 0
    tag: int = 0
    src_epoch: int = 0
    dst_epoch: int = 0
    seq: int = 0
    ack: int = 0
    limit: int = 0
    number: int = 0
    offset: int = 0
    total: int = 0
    group: int = 0

    def frame(self, payload: bytes = b"") -> bytes:
        """The frame with this payload, without check sequence."""
        return golden._bytes("link_frame", byref(golden._struct(_Head, **vars(self))), payload, len(payload))


def parse(data: bytes) -> tuple[Head, bytes] | Fault:
    """A frame's head and its payload without padding, or what is wrong with it."""
    head, fault = _Head(), c_uint8()
    length = golden._try("link_parse", data, len(data), byref(head), byref(fault))
    if length == golden.REFUSED:
        return Fault(fault.value)
    return Head(**{name: getattr(head, name) for name, _ in _Head._fields_}), data[64 : 64 + length]


# ---- commands of a program
def put(tag: int, addr: int, length: int, port: int = 1) -> bytes:
    """Begins to send."""
    return golden._bytes("link_command", 1, port, tag, length, addr, 0)


def take(tag: int, addr: int, length: int, port: int = 1) -> bytes:
    """Begins to receive."""
    return golden._bytes("link_command", 2, port, tag, length, addr, 0)


def wait() -> bytes:
    """Until all is done."""
    return golden._bytes("link_command", 3, 0, 0, 0, 0, 0)


def wait_takes() -> bytes:
    """Until what it takes is here."""
    return golden._bytes("link_command", 3, 1, 0, 0, 0, 0)


def copy(source: int, to: int, length: int) -> bytes:
    """Copies in the card's memory."""
    return golden._bytes("link_command", 4, 0, 0, length, to, source)


class Datatype(enum.IntEnum):
    """What elements are, as commands name them."""

    I8 = 1
    I16 = 2
    I32 = 3
    I64 = 4
    F32 = 5
    F64 = 6
    F16 = 7
    BF16 = 8

    @property
    def size(self) -> int:
        """Bytes of an element."""
        return {1: 1, 2: 2, 3: 4, 4: 8, 5: 4, 6: 8, 7: 2, 8: 2}[self]


class Op(enum.IntEnum):
    """How two elements become one."""

    SUM = 1
    MIN = 2
    MAX = 3
    PROD = 4
    AND = 5
    OR = 6
    XOR = 7


# All that there are: of floating-point numbers no operation on bits.
REDUCTIONS = [(op, kind) for kind in Datatype for op in Op if kind <= Datatype.I64 or op <= Op.PROD]


def reduced(op: Op, datatype: Datatype, left: bytes, right: bytes) -> bytes:
    """The elements of both, which are as long, reduced."""
    assert len(left) == len(right)
    return golden._bytes("reduce", op, datatype, left, right, len(left))


def reduce(op: Op, datatype: Datatype, source: int, to: int, count: int) -> bytes:
    """Reduces elements in the card's memory: those at `to`, and then those at `source`, to `to`."""
    return golden._bytes("link_command", 5, op, datatype, count, to, source)


class Kind(enum.IntEnum):
    """Operations of a group that reduce."""

    REDUCE = 1
    ALLREDUCE = 2
    REDUCE_SCATTER = 3


@dataclass(frozen=True)
class Operation:
    """An operation of a group, whose ranks all have their buffers there."""

    kind: Kind
    op: Op
    datatype: Datatype
    count: int  # Elements of a rank, or of a block.
    root: int = 0

    def plan(self, links: list[list[int]], source: int, to: int, scratch: int) -> tuple[list[list[bytes]], int]:
        """Each rank's commands, and how many bytes of scratch they use. `links` has each rank's ports to each, 0 for
        none."""
        ports = bytes(port for row in links for port in row)
        asked = golden._struct(_Planned, **vars(self), from_=source, to=to, scratch=scratch, rank=0, room=0)
        programs = []
        for asked.rank in range(len(links)):
            program = golden._bytes("plan", ports, len(ports), byref(asked))
            programs.append([program[at : at + 32] for at in range(0, len(program), 32)])
        return programs, asked.room


@dataclass(frozen=True)
class Report:
    """How a program has ended: see the struct Ended. Cause 0: it went well."""

    cause: int
    port: int
    command: int
    takes: int
    puts: int


class Sequencer:
    """A card's sequencer with links at ports from 1 on, for which time passes as `time` says. Law: after each call that
    changes it, send what `says` gives."""

    def __init__(self, mac: int, epoch: int, longest: int, memory: int, links: int = 1) -> None:
        self._at = c_void_p()
        golden._call("sequencer_new", mac, links, epoch, longest, memory, byref(self._at))
        weakref.finalize(self, golden._call, "sequencer_free", self._at)

    def start(self, commands: list[bytes], group: int, number: int, limit_ns: int) -> int:
        """Starts a program: its number."""
        program = b"".join(commands)
        return golden._call("sequencer_start", self._at, program, len(program), group, number, limit_ns)

    def handle(self, data: bytes, port: int = 1) -> None:
        """A frame has come."""
        golden._call("sequencer_handle", self._at, port, data, len(data))

    def says(self) -> list[tuple[int, bytes]]:
        """The frames that go out now, each with its port."""
        sent, port = [], c_uint8()
        while said := golden._bytes("sequencer_poll", self._at, byref(port)):
            sent.append((port.value, said))
        return sent

    def time(self, now_ns: int) -> None:
        """It is so late."""
        golden._call("sequencer_time", self._at, now_ns)

    def ended(self) -> dict[int, Report]:
        """The programs that have ended since, by their numbers."""
        over, it = {}, _Ended()
        while golden._call("sequencer_ended", self._at, byref(it)):
            over[it.id] = Report(it.cause, it.port, it.command, it.takes, it.puts)
        return over

    def write(self, addr: int, data: bytes) -> None:
        """Writes to its memory."""
        golden._call("sequencer_write", self._at, addr, data, len(data))

    def read(self, addr: int, length: int) -> bytes:
        """What its memory holds."""
        out = ctypes.create_string_buffer(length)
        golden._call("sequencer_read", self._at, addr, out, length)
        return out.raw

    def counts(self) -> dict[str, int]:
        """What it has counted."""
        counts = _Counts()
        golden._call("sequencer_counts", self._at, byref(counts))
        return {name: getattr(counts, name) for name, _ in _Counts._fields_}
