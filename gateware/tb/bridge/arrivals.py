"""Frames that come to a node of the bridge: good ones, hostile ones, and what has to become of each."""

import dataclasses
import enum
import random
from dataclasses import dataclass

import golden
from golden import BridgeFault
from node import (
    ASKS,
    BARE,
    DATA,
    ETHERNET_END,
    HEAD_END,
    LAST,
    LENGTH_MAX,
    NODES,
    NUMBERED,
    OWN,
    PACKET_END,
    SELECTIVE,
    STRANGERS,
    UNACK,
    a_length,
    eui64,
)
from wire_side import flipped, near, put

CHANNELS = 2
SACK = 32


class Verdict(enum.IntEnum):
    """What becomes of a frame, as verdict_e."""

    PASSED = 0
    DAMAGED = 1
    TRUNCATED = 2
    FOREIGN = 3
    ROUTED = 4
    OTHER_SUBNET = 5
    SPOOFED = 6
    MISDIRECTED = 7
    LENGTH = 8
    OTHER_VERSION = 9
    UNKNOWN_KIND = 10
    AUTH = 11
    UNKNOWN_PEER = 12
    MALFORMED = 13
    TOO_LONG = 14
    NO_ROOM = 15


# The parser's errors under the names that the gateware counts them by.
OF_FAULT = {
    BridgeFault.TRUNCATED: Verdict.TRUNCATED,
    BridgeFault.FOREIGN: Verdict.FOREIGN,
    BridgeFault.HOP_LIMIT: Verdict.ROUTED,
    BridgeFault.SUBNET: Verdict.OTHER_SUBNET,
    BridgeFault.SPOOFED: Verdict.SPOOFED,
    BridgeFault.MISDIRECTED: Verdict.MISDIRECTED,
    BridgeFault.LENGTH: Verdict.LENGTH,
    BridgeFault.VERSION: Verdict.OTHER_VERSION,
    BridgeFault.KIND: Verdict.UNKNOWN_KIND,
    BridgeFault.AUTH: Verdict.AUTH,
}
# Those that are looked at before the destination.
FIRST = {BridgeFault.FOREIGN, BridgeFault.HOP_LIMIT, BridgeFault.SUBNET, BridgeFault.SPOOFED}


@dataclass(frozen=True)
class Arrival:
    """A frame as it comes, and whether its check sequence is wrong."""

    data: bytes
    bad: bool = False

    def judged(self, nodes=NODES):
        """What becomes of it, and if it passes, its head and payload."""
        if self.bad:
            return Verdict.DAMAGED, None
        parsed = golden.bridge_parse(self.data)
        fault = parsed if isinstance(parsed, BridgeFault) else None
        if fault in FIRST or (fault == BridgeFault.TRUNCATED and len(self.data) < PACKET_END):
            return OF_FAULT[fault], None
        # The parser does not know whose frame it is; nobody else's has any other fault.
        if self.data[:6] != OWN.to_bytes(6, "big") or self.data[46:54] != eui64(OWN):
            return Verdict.MISDIRECTED, None
        if fault:
            return OF_FAULT[fault], None
        head, payload = parsed
        if head.src not in nodes:
            return Verdict.UNKNOWN_PEER, None
        # These are the rules of `decode` in crates/core/bridge.
        bare = head.kind in BARE.values()
        lengths = {0} if head.kind == BARE[UNACK] else {0, SACK}
        if head.channel >= CHANNELS or head.src_epoch == 0 or (bare and len(payload) not in lengths):
            return Verdict.MALFORMED, None
        if len(payload) > LENGTH_MAX:
            return Verdict.TOO_LONG, None
        return Verdict.PASSED, (head, payload)


def segment_of(head, nodes=NODES):
    """What the transport gets of a head: peer, segment and descriptor; of a segment without payload no descriptor."""
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
    desc = {name: getattr(head, name) for name in ("kind", "id", "addr", "count", "tag")}
    desc["last"] = int(bool(head.flags & LAST))
    return nodes.index(head.src) << 1 | head.channel, segment, desc if kind == DATA else None


def a_head(**fields):
    """A head that passes, but for these fields."""
    any32 = random.getrandbits
    head = golden.BridgeHead(
        dst=OWN,
        src=random.choice(NODES),
        kind=random.choice(NUMBERED + list(BARE.values())),
        flags=random.choice([0, ASKS, LAST, SELECTIVE, ASKS | LAST | SELECTIVE]),
        id=any32(16),
        seq=any32(32),
        src_epoch=any32(32) or 1,
        dst_epoch=any32(32),
        ack=any32(32),
        limit=any32(32),
        addr=any32(64),
        count=any32(32),
        tag=any32(16),
        channel=any32(1),
    )
    return dataclasses.replace(head, **fields)


def a_payload(head):
    """One that its kind may have."""
    if head.kind in BARE.values():
        return random.randbytes(random.choice([0, SACK]) if head.kind != BARE[UNACK] else 0)
    return random.randbytes(a_length())


def padding():
    """Bytes behind the packet."""
    return random.randbytes(random.choice([0, 0, 0, 1, 7, 30, 64, 200]))


def good():
    """A frame that passes."""
    head = a_head()
    return Arrival(head.frame(a_payload(head)) + padding())


def headed(**fields):
    """A frame whose head is sound in itself."""
    head = a_head(**fields)
    return head.frame(a_payload(head)) + padding()


def cut(frame):
    """An end that comes too early, often where something ends."""
    ends = [ETHERNET_END, PACKET_END, HEAD_END, len(frame), 8, 16, 64, 128]
    end = random.choice([random.choice(ends) + random.choice([-1, 0, 1]), random.randrange(1, len(frame) + 1)])
    return frame[: max(1, end)]


def packet_length(frame):
    """Another length of the packet, often with the header's made to agree."""
    value = near(int.from_bytes(frame[18:20], "big"))
    agrees = put(frame, 56, ((int.from_bytes(value, "big") - 42) & 0xFFFF).to_bytes(2, "big"))
    return put(random.choice([frame, agrees]), 18, value)


# What a hostile neighbour, or chance, does to a good frame.
ATTACKS = [
    lambda f: flipped(f, 0, min(len(f), HEAD_END)),
    lambda f: flipped(f, 0, min(len(f), 12)),
    cut,
    packet_length,
    lambda f: put(f, 56, near(int.from_bytes(f[56:58], "big"))),
    lambda f: put(f, 12, random.choice([b"\x08\x00", b"\x86\xdc", b"\x80\xef", b"\xdd\x86"])),
    lambda f: put(f, 14, bytes([random.getrandbits(8)])),
    lambda f: put(f, 15, random.randbytes(3)),  # Class and flow: not looked at.
    lambda f: put(f, 20, bytes([random.choice([6, 17, 58, 252, 254])])),
    lambda f: put(f, 21, bytes([random.choice([0, 1, 64, 254])])),
    lambda f: flipped(f, 22, 30),  # Another subnet,
    lambda f: flipped(f, 38, 46),
    lambda f: put(put(f, 22, b"\xfe\x80" + bytes(6)), 38, b"\xfe\x80" + bytes(6)),
    lambda f: put(f, 22, bytes(8)),
    lambda f: put(f, 6, random.choice(NODES + STRANGERS).to_bytes(6, "big")),  # another's name,
    lambda f: put(f, 30, eui64(random.choice(NODES + STRANGERS))),
    lambda f: flipped(f, 30, 38),
    lambda f: flipped(f, 46, 54),
    lambda f: put(f, 0, random.choice([b"\xff" * 6, NODES[0].to_bytes(6, "big"), b"\x33\x33\0\0\0\1"])),
    lambda f: put(f, 46, eui64(NODES[0])),
    lambda f: put(f, 54, bytes([random.getrandbits(8)])),
    lambda f: put(f, 54, bytes([0x14 | f[54] & 11])),
    lambda f: put(f, 55, bytes([random.getrandbits(8)])),
    lambda f: put(f, 55, bytes([random.choice([0, 11, 12, 0x82, 6, 7, 8])])),
    lambda f: put(f, 64, bytes(4)),
    lambda f: put(f, 94, random.choice([b"\0\2", b"\1\0", b"\x80\1", b"\0\3"])),
    # And heads that are sound, but not for here.
    lambda f: headed(dst=random.choice(NODES + STRANGERS)),
    lambda f: headed(src=random.choice(STRANGERS + [OWN, OWN | 1 << 40, NODES[1] | 1 << 40])),
    lambda f: headed(src_epoch=0),
    lambda f: headed(channel=random.choice([2, 3, 256, 0x8001])),
    lambda f: a_head(kind=random.choice([*BARE.values()])).frame(bytes(random.choice([1, 31, 32, 33, 64]))),
    lambda f: a_head(kind=random.choice(NUMBERED)).frame(bytes(LENGTH_MAX + random.choice([1, 8, 500]))),
    lambda f: random.randbytes(random.choice([1, 13, 14, 53, 54, 60, 96, 200])),
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
