"""Frames of a link, good and hostile, what the transport's side of each is, and what has to become of it."""

import dataclasses
import enum
import random
from dataclasses import dataclass

import golden_link
from golden_link import Fault
from wire_side import flipped, near, put

OWN, OTHER = 0x02524C000107, 0x02524C000209
# segment_t and message_t from the lowest bit on.
SEGMENT = [("limit", 32), ("ack", 32), ("dst", 32), ("src", 32), ("seq", 32), ("asks", 1), ("kind", 2)]
MESSAGE = [("length", 16), ("total", 32), ("offset", 32), ("tag", 16), ("number", 32), ("group", 64), ("slot", 16),
           ("kind", 4)]
DATA, ACK, NACK, UNACK = range(4)
BARE = {ACK: 5, NACK: 6, UNACK: 7}  # Their kinds on the wire.
NUMBERED = [1, 2, 3, 4, 8]
ASKS, SELECTIVE = 1, 8
HEAD_END, ETHERNET_END = 64, 14
LENGTH_MAX = 1408
SACK = 32


def a_length():
    """Lengths around what fills words, and some long ones."""
    ends = [0, 0, 1, 7, 8, 9, 16, 63, 64, 65]
    return random.choice([*ends, random.randrange(256), random.choice([512, LENGTH_MAX])])


# ---- out
@dataclass(frozen=True)
class Sent:
    """What the transport gives: a segment, a message and its bytes."""

    segment: dict
    message: dict
    payload: bytes = b""

    def frame(self):
        """What the Rust writer makes of it."""
        s, m = self.segment, self.message
        common = {"src_epoch": s["src"], "dst_epoch": s["dst"], "flags": ASKS * s["asks"]}
        if s["dst"]:
            common |= {"ack": s["ack"], "limit": s["limit"]}
        if s["kind"] != DATA:
            return golden_link.Head(OWN, BARE[s["kind"]], **common).frame()
        of_data = {name: m[name] for name in ("slot", "tag", "number", "offset", "total", "group")}
        return golden_link.Head(OWN, m["kind"], seq=s["seq"], **of_data, **common).frame(self.payload)


def a_sent(length=None):
    """One whose unused fields are noise."""
    segment = {name: random.getrandbits(width) for name, width in SEGMENT}
    segment["src"] = segment["src"] or 1
    segment["dst"] = random.choice([0, segment["dst"]])
    if length is not None:
        segment["kind"] = DATA
    if segment["kind"] != DATA:
        segment["asks"] = int(segment["kind"] == UNACK)
    message = {name: random.getrandbits(width) for name, width in MESSAGE}
    message["kind"] = random.choice(NUMBERED)
    payload = b""
    if segment["kind"] == DATA:
        payload = random.randbytes(a_length() if length is None else length)
        message["length"] = len(payload)
    return Sent(segment, message, payload)


# ---- in
class Verdict(enum.IntEnum):
    """What becomes of a frame, as verdict_e."""

    PASSED = 0
    DAMAGED = 1
    TRUNCATED = 2
    FOREIGN = 3
    OTHER_VERSION = 4
    UNKNOWN_KIND = 5
    AUTH = 6
    LOOPED = 7
    MALFORMED = 8
    TOO_LONG = 9
    NO_ROOM = 10


OF_FAULT = {
    Fault.TRUNCATED: Verdict.TRUNCATED,
    Fault.FOREIGN: Verdict.FOREIGN,
    Fault.VERSION: Verdict.OTHER_VERSION,
    Fault.KIND: Verdict.UNKNOWN_KIND,
    Fault.AUTH: Verdict.AUTH,
}


@dataclass(frozen=True)
class Arrival:
    """A frame as it comes, and whether its check sequence is wrong."""

    data: bytes
    bad: bool = False

    def judged(self):
        """What becomes of it, and if it passes, its head and payload."""
        if self.bad:
            return Verdict.DAMAGED, None
        parsed = golden_link.parse(self.data)
        if isinstance(parsed, Fault):
            return OF_FAULT[parsed], None
        head, payload = parsed
        # These are the rules of `handle_frame` and `decode` in crates/core/collective.
        if head.src >> 40 & 1 or head.src == OWN:
            return Verdict.LOOPED, None
        bare = head.kind in BARE.values()
        lengths = {0} if head.kind == BARE[UNACK] else {0, SACK}
        if head.src_epoch == 0 or (bare and len(payload) not in lengths):
            return Verdict.MALFORMED, None
        if len(payload) > LENGTH_MAX:
            return Verdict.TOO_LONG, None
        return Verdict.PASSED, (head, payload)


def taken_of(head, payload):
    """What the transport gets of a head: a segment, and a message if it is of data."""
    kinds = {number: kind for kind, number in BARE.items()}
    kind = kinds.get(head.kind, DATA)
    segment = {
        "kind": kind,
        "asks": int(bool(head.flags & ASKS) or kind == UNACK),
        "seq": head.seq,
        "src": head.src_epoch,
        "dst": head.dst_epoch,
        "ack": head.ack,
        "limit": head.limit,
    }
    message = {name: getattr(head, name) for name in ("kind", "slot", "tag", "number", "group", "offset", "total")}
    return segment, message | {"length": len(payload)} if kind == DATA else None


def a_head(**fields):
    """A head that passes, but for these fields."""
    bits = random.getrandbits
    head = golden_link.Head(
        src=random.choice([OTHER, OWN ^ 1, OWN ^ 1 << 47, OWN ^ 1 << 16]),
        kind=random.choice(NUMBERED + list(BARE.values())),
        flags=random.choice([0, ASKS, SELECTIVE, ASKS | SELECTIVE, 2]),
        slot=bits(16),
        tag=bits(16),
        src_epoch=bits(32) or 1,
        **{name: bits(32) for name in ("dst_epoch", "seq", "ack", "limit", "number", "offset", "total")},
        group=bits(64),
    )
    return dataclasses.replace(head, **fields)


def good():
    """A frame that passes."""
    head = a_head()
    length = a_length()
    if head.kind in BARE.values():
        length = random.choice([0, SACK]) if head.kind != BARE[UNACK] else 0
    return Arrival(head.frame(random.randbytes(length)) + random.randbytes(random.choice([0, 0, 0, 1, 7, 64, 200])))


def cut(frame):
    """An end that comes too early, often where something ends."""
    ends = [ETHERNET_END, HEAD_END, len(frame), 8, 16, 128]
    end = random.choice([random.choice(ends) + random.choice([-1, 0, 1]), random.randrange(1, len(frame) + 1)])
    return frame[: max(1, end)]


# What a hostile neighbour, or chance, does to a good frame.
ATTACKS = [
    lambda f: flipped(f, 0, min(len(f), HEAD_END)),
    cut,
    lambda f: put(f, 16, near(int.from_bytes(f[16:18], "big"))),
    lambda f: put(f, 12, random.choice([b"\x08\x00", b"\x88\xb4", b"\x80\xef", b"\xb5\x88"])),
    lambda f: put(f, 0, random.choice([b"\xff" * 6, OWN.to_bytes(6, "big")])),  # Whom it is for is not asked.
    lambda f: put(f, 6, random.choice([OWN, OWN | 1 << 40, OTHER | 1 << 40]).to_bytes(6, "big")),
    lambda f: put(f, 14, bytes([random.getrandbits(8)])),
    lambda f: put(f, 14, bytes([0x14 | f[14] & 11])),
    lambda f: put(f, 15, bytes([random.choice([0, 9, 10, 0x81, 5, 6, 7, 8])])),
    lambda f: put(f, 24, bytes(4)),
    lambda f: a_head(kind=random.choice([*BARE.values()])).frame(bytes(random.choice([1, 31, 32, 33, 64]))),
    lambda f: a_head(kind=random.choice(NUMBERED)).frame(bytes(LENGTH_MAX + random.choice([1, 8, 500]))),
    lambda f: random.randbytes(random.choice([1, 13, 14, 60, 64, 96, 200])),
]


def hostile():
    """A frame to which something was done, or two things, or whose check sequence is wrong."""
    frame = good().data
    for _ in range(random.choice([1, 1, 1, 2])):
        # What was cut off is zeros for the next one.
        frame = random.choice(ATTACKS)(frame.ljust(HEAD_END, b"\0"))
    return Arrival(frame, bad=random.random() < 0.05)


def any_arrival():
    """Every second one passes."""
    return good() if random.random() < 0.5 else hostile()
