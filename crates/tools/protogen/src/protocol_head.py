"""Families of frames and their kinds, for the benches."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """A field of a struct: its bytes on the wire, and whether they are a number."""

    name: str
    size: int
    number: bool


@dataclass(frozen=True)
class Kind:
    """A kind of frame. `number` is its EtherType times 2^16 and the kind; `payload` is a struct's name, `*` for bytes, or
    empty."""

    number: int
    to: str
    payload: str


@dataclass(frozen=True)
class Family:
    """A family of frames. Kinds are called as `Input.Write`, or `ReadRequest` where they have no EtherTypes. Counters have
    their numbers; every card counts the first `common_counters` of them."""

    consts: dict[str, int]
    addresses: dict[str, int]
    flags: dict[str, int]
    enums: dict[str, dict[str, int]]
    counters: dict[str, int]
    common_counters: int
    structs: dict[str, tuple[Field, ...]]
    kinds: dict[str, Kind]

