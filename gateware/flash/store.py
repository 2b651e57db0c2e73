"""What lies in the store of a board: its keys and signers, and the log of versions, as rl_flash_store has them."""

import struct
import sys
import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import layout

REGION = layout.STORE_LIMIT - layout.KEYS
LOGS = (layout.VERSIONS - layout.KEYS, layout.VERSIONS - layout.KEYS + layout.UNIT)  # In the region.
COPIES = (0, layout.UNIT)
PAIR = 2 * layout.ENTRY_BYTES
# Of the tables of rl_sign_store and rl_key_store.
PLACE = 16
ROLES_AT = 512
COUNTS, REVOKED = 1 << 16, 1 << 17
OTHER = 2  # Of a role's two versions the second counts.


@dataclass(frozen=True)
class Size:
    """What a store has room for."""

    signers: int = 32
    hosts: int = 64
    roles: int = 96

    @property
    def base(self) -> int:
        """Entries of a log before its seal."""
        return 1 + PLACE * self.roles

    @property
    def keys_bytes(self) -> int:
        """Of the keys and signers, with their check."""
        return 4 * (4 + PLACE * self.signers + 4 * self.hosts + PLACE + 1)


class Unfit(Exception):
    """More than there is room for."""


@dataclass(frozen=True)
class Signer:
    """Whose images a card knows."""

    key: bytes
    name: str
    may: bool = True  # Its signature counts on this card.

    def words(self) -> list[int]:
        """Its place in the table."""
        return [int(self.may), *words_of(self.key), *words_of(self.name.encode().ljust(24, b"\0")), 0]


@dataclass(frozen=True)
class Host:
    """Who may claim a card: its number, the generation of its key that counts, and of the one that was revoked."""

    number: int
    counts: int | None = 0
    revoked: int | None = None

    def words(self) -> list[int]:
        """Its place in the table."""
        has = (COUNTS if self.counts is not None else 0) | (REVOKED if self.revoked is not None else 0)
        return [self.number | has, self.counts or 0, self.revoked or 0, 0]


@dataclass(frozen=True)
class Keys:
    """What a programmer puts there: the card, its keys (newest first, with their generations), hosts, and signers."""

    mac: bytes
    own: tuple[tuple[bytes, int], ...] = ()
    hosts: tuple[Host, ...] = ()
    signers: tuple[Signer, ...] = ()

    def pack(self, size: Size = Size()) -> bytes:
        """One copy."""
        for what, count, most in (("signers", len(self.signers), size.signers), ("hosts", len(self.hosts), size.hosts)):
            if count > most:
                raise Unfit(f"{count} {what}, of which a board keeps {most}")
        mac = int.from_bytes(self.mac, "big")
        words = [layout.KEYS_MAGIC, mac >> 32, mac & 0xFFFFFFFF, len(self.signers) << 16 | len(self.hosts)]
        words += padded([word for signer in self.signers for word in signer.words()], PLACE * size.signers)
        words += padded([word for host in self.hosts for word in host.words()], 4 * size.hosts)
        for key, generation in self.own:
            words += [*struct.unpack("<4I", key), generation, 1, 0, 0]
        words += [0] * (8 * (2 - len(self.own)))
        body = bytes_of(words)
        return body + zlib.crc32(body).to_bytes(4, "big")


# By the signer's number, and the role's name: the newest version.
Versions = dict[tuple[int, str], int]


def words_of(data: bytes) -> list[int]:
    """Words, the first byte in the upper bits."""
    return [int.from_bytes(data[at : at + 4], "big") for at in range(0, len(data), 4)]


def bytes_of(words: list[int]) -> bytes:
    """The same back."""
    return b"".join(word.to_bytes(4, "big") for word in words)


def padded(words: list[int], count: int) -> list[int]:
    """With zeros behind them."""
    return words + [0] * (count - len(words))


def table_of(versions: Versions, size: Size = Size()) -> list[int]:
    """The table of roles that has these versions."""
    if len(versions) > size.roles:
        raise Unfit(f"{len(versions)} roles, of which a board keeps {size.roles}")
    words = []
    for (signer, role), version in versions.items():
        words += [signer + 1, version >> 32, version & 0xFFFFFFFF, *words_of(role.encode().ljust(32, b"\0")), 0, 0, 0, 0, 1]
    return padded(words, PLACE * size.roles)


def versions_of(table: list[int]) -> Versions:
    """The versions that a table of roles has."""
    found = {}
    for at in range(0, len(table), PLACE):
        place = table[at : at + PLACE]
        if place[0]:
            newest = 11 if place[15] == OTHER else 1
            found[place[0] - 1, bytes_of(place[3:11]).rstrip(b"\0").decode()] = place[newest] << 32 | place[newest + 1]
    return found


def pair(generation: int, at: int, word: int, place: int) -> bytes:
    """An entry of the log, twice."""
    body = bytes_of([generation << 12 | at, word, layout.ENTRY_MAGIC << 16 | place])
    return 2 * (body + zlib.crc32(body).to_bytes(4, "big"))


def places(size: Size) -> Iterator[int]:
    """Which words of the table the entries behind the first one have."""
    for role in range(size.roles):
        first = ROLES_AT + PLACE * role
        yield from (first, first + 15, *range(first + 1, first + 15))


def log(keys: bytes, table: list[int], generation: int = 1, size: Size = Size()) -> bytes:
    """A log that is sealed, with the table, beside this copy of the keys."""
    entries = [pair(generation, layout.ENTRY_BEGIN, int.from_bytes(keys[-4:], "big"), 0)]
    entries += [pair(generation, at, table[at - ROLES_AT], place) for place, at in enumerate(places(size), 1)]
    return b"".join([*entries, pair(generation, layout.ENTRY_SEAL, 0, size.base)])


def region(keys: Keys, versions: Versions, generation: int = 1, size: Size = Size()) -> bytes:
    """All of the store, from layout.KEYS on, as a programmer writes it."""
    data = bytearray(b"\xff" * REGION)
    copy = keys.pack(size)
    for where in COPIES:
        data[where : where + len(copy)] = copy
    begun = log(copy, table_of(versions, size), generation, size)
    data[LOGS[0] : LOGS[0] + len(begun)] = begun
    return bytes(data)


# -- reading it


def entry(data: bytes, place: int) -> tuple[int, int, int] | None:
    """Generation, place in the table and word of the entry of which these are both copies; None if neither is right."""
    for copy in (data[: layout.ENTRY_BYTES], data[layout.ENTRY_BYTES :]):
        head, word, tail, check = words_of(copy)
        if zlib.crc32(copy[:12]) == check and tail == layout.ENTRY_MAGIC << 16 | place:
            return head >> 12, head & 0xFFF, word
    return None


@dataclass
class Log:
    """What one unit says."""

    generation: int = 0
    check: int = 0
    begun: bool = False
    sealed: bool = False
    damaged: bool = False
    entries: int = 0
    table: list[int] = field(default_factory=list)

    @classmethod
    def read(cls, unit: bytes, size: Size = Size()) -> "Log":
        """Of a unit's bytes."""
        found, ended = cls(table=[0] * PLACE * size.roles), False
        for place in range(len(unit) // PAIR):
            data = unit[PAIR * place : PAIR * (place + 1)]
            said = None if ended else entry(data, place)
            if said is None or (place and said[0] != found.generation):
                found.damaged |= ended and data.strip(b"\xff") != b""
                ended = True
                continue
            generation, at, word = said
            if place == 0:
                found.begun = at == layout.ENTRY_BEGIN
                found.generation, found.check = generation, word
            elif at == layout.ENTRY_SEAL:
                found.sealed = found.begun
            else:
                found.table[at - ROLES_AT] = word
            found.entries = place + 1
        return found


def newest(units: list[bytes], size: Size = Size()) -> Log | None:
    """The log that counts; None if none does."""
    logs = [one for one in (Log.read(unit, size) for unit in units) if one.sealed]
    found = max(logs, key=lambda one: one.generation, default=None)
    return None if found is None or found.damaged else found


def unpack(copy: bytes, size: Size = Size()) -> Keys | None:
    """Keys and signers of one copy; None if it is not whole."""
    copy = copy[: size.keys_bytes]
    if zlib.crc32(copy[:-4]).to_bytes(4, "big") != copy[-4:]:
        return None
    words = words_of(copy)
    if words[0] != layout.KEYS_MAGIC:
        return None
    signers, hosts = words[3] >> 16, words[3] & 0xFFFF
    at = 4

    def signer(words: list[int]) -> Signer:
        return Signer(bytes_of(words[1:9]), bytes_of(words[9:15]).rstrip(b"\0").decode(), bool(words[0]))

    def host(words: list[int]) -> Host:
        who, counts, revoked, _ = words
        return Host(who & 0xFFFF, counts if who & COUNTS else None, revoked if who & REVOKED else None)

    known = tuple(signer(words[at + PLACE * n : at + PLACE * (n + 1)]) for n in range(signers))
    at += PLACE * size.signers
    named = tuple(host(words[at + 4 * n : at + 4 * (n + 1)]) for n in range(hosts))
    at += 4 * size.hosts
    there = [words[place : place + 5] for place in (at, at + 8) if words[place + 5]]
    own = tuple((struct.pack("<4I", *key), generation) for *key, generation in there)
    mac = (words[1] << 32 | words[2]).to_bytes(6, "big")
    return Keys(mac, own, named, known)
