"""Frames of the control family, from its description by way of the generated `protocol`."""

import random
from types import SimpleNamespace

from protocol import CONTROL

# Constants and flags by their names there: `CONST.HEADER_END`, `FLAG.ACK_NOW` (a mask).
CONST = SimpleNamespace(**CONTROL.consts)
FLAG = SimpleNamespace(**CONTROL.flags)
VERSION = CONTROL.version
# Group addresses by their names there; GROUP is the base of the groups.
ADDRESS = SimpleNamespace(**CONTROL.addresses)
# Values of an enum by name: ENUM["ErrorCode"]["Busy"].
ENUM = CONTROL.enums
# Counter numbers by name.
COUNTER = CONTROL.counters
STRUCTS = CONTROL.structs
# Kinds and their rules by EtherType and kind, as in KINDS["Input.Write"].
KINDS = CONTROL.kinds
NAMES = {(kind.ether_type, kind.kind): name for name, kind in KINDS.items()}


def mac(text: str) -> int:
    """An address as a number."""
    return int(text.replace(":", ""), 16)


def pack(struct: str, **values: int) -> bytes:
    """A struct's bytes. Fields that are not named are zero; bytesN fields may be given as bytes."""
    out = b""
    for field in STRUCTS[struct]:
        value = values.pop(field.name, 0)
        out += value if isinstance(value, bytes) else value.to_bytes(field.size, "big")
    if values:
        raise TypeError(f"{struct} has no field {', '.join(values)}")
    return out


def unpack(struct: str, data: bytes) -> SimpleNamespace:
    """A struct's fields as numbers, bytesN fields as bytes; `rest` is what follows it."""
    fields = SimpleNamespace()
    for field in STRUCTS[struct]:
        if len(data) < field.size:
            raise ValueError(f"{struct} ends before {field.name}")
        value, data = data[: field.size], data[field.size :]
        setattr(fields, field.name, int.from_bytes(value, "big") if field.number else value)
    fields.rest = data
    return fields


def frame(
    kind: str,
    *,
    dst: int,
    src: int,
    epoch: int = 0,
    seq: int = 0,
    addr: int = 0,
    flags: int = 0,
    payload: bytes = b"",
    length: int | None = None,
    version: int = VERSION,
    **fields: int,
) -> bytes:
    """A frame without check sequence, padded to the shortest there is.

    `kind` is a name such as `Input.Write`. The payload is the kind's struct made of `fields`, followed by `payload`.
    `length` and `version` may lie, for frames that a card has to drop.
    """
    about = KINDS[kind]
    if about.payload in STRUCTS:
        payload = pack(about.payload, **fields) + payload
    elif fields:
        raise TypeError(f"{kind} has no field {', '.join(fields)}")
    head = pack(
        CONTROL.header,
        version_flags=version << 4 | flags,
        kind=about.kind,
        length=len(payload) if length is None else length,
        epoch=epoch,
        seq=seq,
        addr=addr,
    )
    ethernet = dst.to_bytes(6, "big") + src.to_bytes(6, "big") + about.ether_type.to_bytes(2, "big")
    return (ethernet + head + payload).ljust(CONST.FRAME_MIN, b"\0")


def parse(data: bytes) -> SimpleNamespace:
    """A frame's head as numbers, `name` (`Input.Write`; None if unknown), and its payload without padding."""
    ether_type = int.from_bytes(data[12:14], "big")
    head = unpack(CONTROL.header, data[14:])
    return SimpleNamespace(
        dst=int.from_bytes(data[0:6], "big"),
        src=int.from_bytes(data[6:12], "big"),
        ether_type=ether_type,
        name=NAMES.get((ether_type, head.kind)),
        version=head.version_flags >> 4,
        flags=head.version_flags & 15,
        kind=head.kind,
        length=head.length,
        epoch=head.epoch,
        seq=head.seq,
        addr=head.addr,
        payload=head.rest[: head.length],
    )


def random_bytes(length: int) -> bytes:
    """Bytes from the test's seed."""
    return random.randbytes(length)
