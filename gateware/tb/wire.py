"""Frames of the control family by their names, from its description by way of the generated `protocol`."""

from dataclasses import dataclass
from types import SimpleNamespace

import golden
from protocol import CONTROL

# Constants and flags by their names there: `CONST.HEADER_END`, `FLAG.ACK_NOW` (a mask).
CONST = SimpleNamespace(**CONTROL.consts)
FLAG = SimpleNamespace(**CONTROL.flags)
# Group addresses by their names there; GROUP is the base of the groups.
ADDRESS = SimpleNamespace(**CONTROL.addresses)
# Values of an enum by name: ENUM["ErrorCode"]["Busy"].
ENUM = CONTROL.enums
# Numbers by name of the counters that every card has.
COUNTER = dict(list(CONTROL.counters.items())[: CONTROL.common_counters])
STRUCTS = CONTROL.structs
# Kinds by name, as in KINDS["Input.Write"], and names by number.
KINDS = CONTROL.kinds
NAMES = {kind.number: name for name, kind in KINDS.items()}


def mac(text: str) -> int:
    """An address as a number."""
    return int(text.replace(":", ""), 16)


def number(data: bytes) -> int:
    """A field as a number."""
    return int.from_bytes(data, "big")


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
        setattr(fields, field.name, number(value) if field.number else value)
    fields.rest = data
    return fields


@dataclass
class Frame:
    """A frame. `kind` is the number of its kind, as in `KINDS` and in the firmware's wire.h."""

    dst: int
    src: int
    kind: int
    flags: int = 0
    epoch: int = 0
    seq: int = 0
    addr: int = 0
    payload: bytes = b""

    def raw(self, payload: bytes | None = None) -> bytes:
        """Its bytes without check sequence, padded to the shortest frame there is; with another payload, if given."""
        head = dict(vars(self), kind=self.kind & 0xFF, ether_type=self.kind >> 16)
        own = head.pop("payload")
        return golden.build(own if payload is None else payload, **head)

    @classmethod
    def parse(cls, data: bytes) -> "Frame":
        """The frame that these bytes are; the payload is without padding."""
        head, payload = golden.parse(data)
        kind = head.pop("ether_type") << 16 | head.pop("kind")
        return cls(kind=kind, payload=payload, **head)

    @property
    def name(self) -> str:
        """The name of its kind."""
        return NAMES[self.kind]

    @property
    def code(self) -> int:
        """The code of a refusal, a failure or a launch's end."""
        return number(self.payload[:2])

    @property
    def detail(self) -> int:
        """The detail of a refusal."""
        return unpack("Refusal", self.payload).detail


def frame(kind: str, *, payload: bytes = b"", dst: int, src: int, **fields: int) -> bytes:
    """A frame's bytes. `kind` is a name such as `Input.Write`.

    Fields of the head are those of `Frame`; the others make the kind's struct, which `payload` follows.
    """
    head = {name: fields.pop(name) for name in ("flags", "epoch", "seq", "addr") if name in fields}
    about = KINDS[kind]
    if about.payload in STRUCTS:
        payload = pack(about.payload, **fields) + payload
    elif fields:
        raise TypeError(f"{kind} has no field {', '.join(fields)}")
    return Frame(dst, src, about.number, **head).raw(payload)
