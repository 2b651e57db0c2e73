"""The rules of a card's ports, as bits and as the reference that the gateware has to agree with."""

from dataclasses import dataclass

from packets import OURS, Packet

OWN, GROUP, OTHER = 4, 2, 1  # To whom.
FAMILY, SUBNET, REST = 4, 2, 1  # What.


@dataclass
class Port:
    """port_config_t."""

    mac: bytes
    subnet: bytes | None = None

    def pack(self) -> int:
        subnet = int.from_bytes(self.subnet or bytes(8), "big")
        return int.from_bytes(self.mac, "big") << 65 | (self.subnet is not None) << 64 | subnet


@dataclass
class Rule:
    """port_rule_t; sets are masks."""

    ports: int
    whom: int = OWN | GROUP | OTHER
    what: int = FAMILY | SUBNET | REST
    ether_type: int | None = None
    passes: int = 0
    consume: int = 0
    hook: bool = False
    early: bool = False
    level: int = 0

    def pack(self) -> int:
        value = 0
        for field, width in [
            (self.ports, 8),
            (self.whom, 3),
            (self.what, 3),
            (self.ether_type is not None, 1),
            (self.ether_type or 0, 16),
            (self.passes, 8),
            (self.consume, 8),
            (self.hook, 1),
            (self.early, 1),
            (self.level, 2),
        ]:
            value = value << width | int(field)
        return value


RULE_BITS = 51
PORT_BITS = 113


@dataclass
class Verdict:
    """What becomes of a frame, and what is counted if nothing does."""

    passes: int = 0
    consume: int = 0
    level: int = 0
    early: bool = False
    reason: str | None = None


def judge(rules: list[Rule], number: int, port: Port, packet: Packet, listens: int, frame_max: int) -> Verdict:
    """The first rule that a frame of this port meets."""
    frame = packet.frame
    if not any(rule.ports >> number & 1 for rule in rules):
        return Verdict(reason="foreign")
    if packet.bad:
        return Verdict(reason="check")
    if len(frame) < 14:
        return Verdict(reason="truncated")
    dst, src, ether_type = frame[:6], frame[6:12], int.from_bytes(frame[12:14], "big")
    whom = OWN if dst == port.mac else GROUP if dst[0] & 1 else OTHER
    routed = port.subnet is not None and ether_type == 0x86DD and frame[38:46] == port.subnet
    what = FAMILY if ether_type in OURS else SUBNET if routed else REST
    if src == port.mac or src[0] & 1:
        return Verdict(reason="foreign")
    for rule in rules:
        if not (rule.ports >> number & 1 and rule.whom & whom and rule.what & what):
            continue
        if rule.ether_type not in (None, ether_type):
            continue
        consume = rule.consume & listens
        passes = 0 if rule.hook and consume else rule.passes & ~(1 << number)
        if not passes and not consume:
            break
        full = "full" if len(frame) > frame_max else None
        return Verdict(passes, consume, rule.level, rule.early, full)
    return Verdict(reason="foreign")
