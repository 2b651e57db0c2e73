"""A node of the bridge as a bench sees its wire side: `rl_bridge_wire` with a table of peers, segments and frames.
`BRIDGE_WIDTHS` says at which widths it runs, "64 512" by default; there are 128 and 256 as well."""

import os
import random
from dataclasses import dataclass

import golden
from wire_side import WireSide, pack

OWN = 0x02524C000007
WIDTHS = [int(width) for width in os.environ.get("BRIDGE_WIDTHS", "64 512").split()]
# Peers by node. The last two nodes are nobody's; first bytes that EUI-64 changes in both ways.
NODES = [0x02524C000109, 0x00524C000109, 0xFE0102030405, 0x10E2D5000000, 0x02524C010009, 0x02FFFEFFFEFE]
STRANGERS = [0x02524C000108, 0x02524C000007 ^ 0x80, 0x000000000000]
# segment_t and head_t from the lowest bit on.
SEGMENT = [("limit", 32), ("ack", 32), ("dst", 32), ("src", 32), ("seq", 32), ("asks", 1), ("kind", 2)]
DESC = [("tag", 16), ("count", 32), ("addr", 64), ("id", 16), ("length", 16), ("last", 1), ("kind", 4)]
DATA, ACK, NACK, UNACK = range(4)
BARE = {ACK: 6, NACK: 7, UNACK: 8}  # Their kinds on the wire.
NUMBERED = [1, 2, 3, 4, 5, 9, 10]
ASKS, LAST, SELECTIVE = 1, 2, 8
HEAD_END, ETHERNET_END, PACKET_END = 96, 14, 54
LENGTH_MAX = 1408


def eui64(mac):
    """The modified EUI-64 of RFC 4291, appendix A."""
    data = mac.to_bytes(6, "big")
    return bytes([data[0] ^ 2]) + data[1:3] + b"\xff\xfe" + data[3:]


@dataclass(frozen=True)
class Message:
    """What goes between the transport and the wire side: a peer, a segment, a descriptor and a payload."""

    node: int
    channel: int
    segment: dict
    desc: dict
    payload: bytes = b""

    @property
    def peer(self):
        return self.node << 1 | self.channel

    def head(self, dst, src):
        """What its frame has to be between two nodes."""
        s, d = self.segment, self.desc
        common = {"src_epoch": s["src"], "dst_epoch": s["dst"], "channel": self.channel}
        if s["dst"]:
            common |= {"ack": s["ack"], "limit": s["limit"]}
        flags = ASKS * s["asks"]
        if s["kind"] != DATA:
            return golden.BridgeHead(dst, src, BARE[s["kind"]], flags, **common)
        flags |= LAST * d["last"]
        of_data = {name: d[name] for name in ("id", "addr", "count", "tag")}
        return golden.BridgeHead(dst, src, d["kind"], flags, seq=s["seq"], **of_data, **common)


def a_message(length=None, node=None):
    """One of the transport's, whose unused fields are noise."""
    segment = {name: random.getrandbits(width) for name, width in SEGMENT}
    segment["src"] = segment["src"] or 1
    segment["dst"] = random.choice([0, segment["dst"]])
    if length is not None:
        segment["kind"] = DATA
    if segment["kind"] != DATA:
        segment["asks"] = int(segment["kind"] == UNACK)
    desc = {name: random.getrandbits(width) for name, width in DESC}
    desc["kind"] = random.choice(NUMBERED)
    payload = b""
    if segment["kind"] == DATA:
        payload = random.randbytes(a_length() if length is None else length)
        desc["length"] = len(payload)
    node = random.randrange(len(NODES)) if node is None else node
    return Message(node, random.getrandbits(1), segment, desc, payload)


def a_length():
    """Lengths around what fills words, and some long ones."""
    ends = [0, 0, 1, 8, 16, 31, 32, 33, 63, 64, 65]
    return random.choice([*ends, random.randrange(256), random.choice([512, LENGTH_MAX])])


class Node(WireSide):
    """The gateware, reset and with its peers."""

    async def start(self):
        await super().start(OWN)
        self.dut.peer_write_i.value = 0
        for node, mac in enumerate(NODES):
            await self.set_peer(node, mac)

    def begins(self, message):
        self.dut.tx_peer_i.value = message.peer
        self.dut.tx_segment_i.value = pack(SEGMENT, message.segment)
        self.dut.tx_desc_i.value = pack(DESC, message.desc)

    async def set_peer(self, node, mac):
        """The owner writes an entry; None is nobody."""
        dut = self.dut
        dut.peer_write_i.value = 1
        dut.peer_node_i.value = node
        dut.peer_valid_i.value = mac is not None
        dut.peer_mac_i.value = mac or 0
        await self.edge
        dut.peer_write_i.value = 0
