"""Frames of the wire, and who sends them in these tests."""

from dataclasses import dataclass, field

from headers import KIND_NAMES, W

CARD_MAC = 0x02_00_00_00_00_01
HOST = 0x02_00_00_00_09_09
RIVAL = 0x02_00_00_00_08_08
PEER = 0x02_00_00_00_00_02
HOSTS = W.HOSTS_HI << 32 | W.HOSTS_LO
CARDS = W.CARDS_HI << 32 | W.CARDS_LO
GROUPS = W.GROUP_HI << 32 | W.GROUP_LO


def number(data: bytes) -> int:
    return int.from_bytes(data, "big")


@dataclass
class Frame:
    dst: int
    src: int
    kind: int  # KIND_...
    flags: int = 0  # Bit 0 is RESEND.
    epoch: int = 0
    seq: int = 0
    addr: int = 0
    payload: bytes = field(default=b"")

    def raw(self, payload: bytes | None = None) -> bytes:
        payload = self.payload if payload is None else payload
        out = self.dst.to_bytes(6, "big") + self.src.to_bytes(6, "big")
        out += (self.kind | W.VERSION << 12 | self.flags << 8).to_bytes(4, "big")
        out += len(payload).to_bytes(2, "big") + self.epoch.to_bytes(2, "big") + self.seq.to_bytes(4, "big")
        return (out + self.addr.to_bytes(8, "big") + payload).ljust(W.FRAME_MIN, b"\0")

    @classmethod
    def parse(cls, raw: bytes) -> "Frame":
        kind = number(raw[12:16])
        assert kind >> 12 & 0xF == W.VERSION
        length = number(raw[16:18])
        assert len(raw) == max(W.FRAME_MIN, W.HEADER_END + length), (len(raw), length)
        return cls(
            dst=number(raw[0:6]),
            src=number(raw[6:12]),
            kind=kind & W.KIND_MASK,
            flags=kind >> 8 & 0xF,
            epoch=number(raw[18:20]),
            seq=number(raw[20:24]),
            addr=number(raw[24:32]),
            payload=raw[32 : 32 + length],
        )

    @property
    def name(self) -> str:
        return KIND_NAMES[self.kind]

    @property
    def code(self) -> int:
        """Of a refusal, a failure or an end."""
        return number(self.payload[:2])

    @property
    def detail(self) -> int:
        """Of a refusal."""
        return number(self.payload[8:16])
