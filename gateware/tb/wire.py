"""Frames of the Rackloom wire, from its one description in protocol/protocol.toml."""

import random
import tomllib
from pathlib import Path
from types import SimpleNamespace

DESCRIPTION = tomllib.loads((Path(__file__).resolve().parents[2] / "protocol" / "protocol.toml").read_text())

# Constants and flags by their names there: `CONST.HEADER_END`, `FLAG.ACK_NOW` (a mask).
CONST = SimpleNamespace(**{const["name"]: const["value"] for const in DESCRIPTION["const"]})
FLAG = SimpleNamespace(**{flag["name"]: 1 << flag["bit"] for flag in DESCRIPTION["flag"]})
VERSION = DESCRIPTION["protocol"]["version"]


def mac(text: str) -> int:
    """An address as a number."""
    return int(text.replace(":", ""), 16)


# Group addresses by their names there; GROUP is the base of the groups.
ADDRESS = SimpleNamespace(**{address["name"]: mac(address["value"]) for address in DESCRIPTION["address"]})

# Values of an enum by name: ENUM["ErrorCode"]["Busy"].
ENUM = {enum["name"]: {value["name"]: value["value"] for value in enum["values"]} for enum in DESCRIPTION["enum"]}
# Counter numbers by name.
COUNTER = {counter["name"]: number for number, counter in enumerate(DESCRIPTION["counter"])}

STRUCTS = {struct["name"]: struct for struct in DESCRIPTION["struct"]}
# By EtherType and kind, as in KINDS["Input.Write"]: their numbers, who sends it, and the payload's struct.
KINDS = {
    f"{ether['name']}.{kind['name']}": SimpleNamespace(
        ether_type=ether["value"], kind=kind["value"], sender=kind["from"], payload=kind["payload"]
    )
    for ether in DESCRIPTION["ethertype"]
    for kind in ether["kinds"]
}
NAMES = {(kind.ether_type, kind.kind): name for name, kind in KINDS.items()}


def size(field_type: str) -> int:
    """Bytes of a field."""
    if field_type == "mac":
        return 6
    prefix, unit = ("bytes", 1) if field_type.startswith("bytes") else ("u", 8)
    return int(field_type.removeprefix(prefix)) // unit


def pack(struct: str, **values: int) -> bytes:
    """A struct's bytes. Fields that are not named are zero; bytesN fields may be given as bytes."""
    out = b""
    for field in STRUCTS[struct]["fields"]:
        value = values.pop(field["name"], 0)
        out += value if isinstance(value, bytes) else value.to_bytes(size(field["type"]), "big")
    if values:
        raise TypeError(f"{struct} has no field {', '.join(values)}")
    return out


def unpack(struct: str, data: bytes) -> SimpleNamespace:
    """A struct's fields as numbers, bytesN fields as bytes; `rest` is what follows it."""
    fields = SimpleNamespace()
    for field in STRUCTS[struct]["fields"]:
        length = size(field["type"])
        if len(data) < length:
            raise ValueError(f"{struct} ends before {field['name']}")
        value, data = data[:length], data[length:]
        setattr(fields, field["name"], value if field["type"].startswith("bytes") else int.from_bytes(value, "big"))
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
        "Header",
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
    head = unpack("Header", data[14:])
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
