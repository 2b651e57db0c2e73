"""Frames that neither a role nor a host behind a card may send, and their neighbours."""

import random

from golden import BridgeHead, Nic, Side
from packets import Packet

MAC_CONTROL = 0x8808
NOBODY = 0x02FF_FFFF_FFFE  # A card's address that no frame of a bench has.


def number(mac: bytes) -> int:
    return int.from_bytes(mac, "big")


def bridge_like(dst: bytes, src: bytes) -> Packet:
    """A packet of the bridge's family, whole, cut off, or with a bit changed of what the family is known by."""
    frame = bytearray(BridgeHead(dst=number(dst), src=number(src), kind=1, count=64).frame())
    if random.random() < 0.5:
        frame[random.choice([12, 13, 14, 20, 38])] ^= 1 << random.randrange(8)
    length = random.choice([len(frame), random.randint(14, 60), 38, 39])
    # What lies behind the end would make it one.
    return Packet(bytes(frame[:length]), rest=bytes(frame[length:]))


def may_send(mac: bytes, frame: bytes) -> bool:
    """Whether whoever has this address may send a frame to somebody else: the model's rule for hosts, as for roles."""
    model = Nic(NOBODY, number(mac))
    model.handle(Side.HOST, frame)
    return model.poll(0, Side.WIRE) == frame
