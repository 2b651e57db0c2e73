"""What lies where in the configuration flash: the numbers of rl_flash_pkg, and what a card writes there."""

import re
import zlib
from dataclasses import dataclass, field
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1] / "rtl/config/flash/rl_flash_pkg.sv"


def constants(package: Path) -> dict[str, int]:
    """A package's numbers, by name."""
    text = package.read_text(encoding="utf-8")
    found = re.findall(r"localparam [^;=]*?(\w+) = (?:\d+'([hd])([0-9a-f_]+)|(\d+));", text)
    return {name: int(digits or plain, 16 if base == "h" else 10) for name, base, digits, plain in found}


_ALL = constants(PACKAGE)
GOLDEN = _ALL["GoldenAddr"]
SECOND_GOLDEN = _ALL["SecondGoldenAddr"]
POINTER = _ALL["PointerAddr"]
SLOTS = (_ALL["SlotAAddr"], _ALL["SlotBAddr"])
RECORDS = _ALL["RecordsAddr"]
WRITABLE_END = _ALL["WritableEnd"]
KEYS = _ALL["KeysAddr"]
VERSIONS = _ALL["VersionsAddr"]
STORE_LIMIT = _ALL["StoreLimit"]
JUMP = _ALL["JumpAddr"]
SLOT_BYTES = _ALL["SlotBytes"]
IMAGE_BYTES = _ALL["ImageBytes"]
PAGE = 256
KEYS_MAGIC = _ALL["KeysMagic"]
ENTRY_MAGIC = _ALL["EntryMagic"]
ENTRY_BYTES = _ALL["EntryBytes"]
ENTRY_BEGIN = _ALL["EntryBegin"]
ENTRY_SEAL = _ALL["EntrySeal"]
UNIT = 1 << _ALL["UnitW"]
SECTOR = 1 << _ALL["SectorW"]
RECORD_BYTES = _ALL["RecordBytes"]
RECORD_MAGIC = _ALL["RecordMagic"]
EMPTY, TRIES, SPENT, CONFIRMED = (_ALL[f"State{name}"] for name in ("Empty", "Tries", "Spent", "Confirmed"))
_PART = constants(PACKAGE.parents[1] / "rl_part_pkg.sv")
CODES = {name.removeprefix("Code"): value for name, value in (_PART | _ALL).items() if name.startswith("Code")}


def jump(target: int) -> bytes:
    """A bitstream that only sends the device on: LSC_PROG_CNTRL0, then JUMP with the flash's command for reading."""
    where = target.to_bytes(3, "big")
    preamble = b"\xff" * 18 + b"\xbd\xb3" + b"\xff" * 4
    return preamble + b"\x22" + bytes(7) + b"\x7e" + bytes(3) + b"\x03" + where + b"\xff" * 18


def name_page(digest: bytes) -> bytes:
    """The page behind an image: which one it is."""
    return digest + zlib.crc32(digest).to_bytes(4, "big")


def name_offset(length: int) -> int:
    """Where it is, from the slot's beginning."""
    return -(-length // PAGE) * PAGE


@dataclass(frozen=True)
class Slot:
    """What a record says of a slot."""

    state: int = EMPTY
    length: int = 0
    check: int = 0

    @property
    def bootable(self) -> bool:
        """Whether the golden image boots it."""
        return self.state == CONFIRMED or EMPTY < self.state <= TRIES


@dataclass(frozen=True)
class Record:
    """The state of the flash."""

    sequence: int = 0
    slots: tuple[Slot, Slot] = field(default=(Slot(), Slot()))
    newest: int = 0
    role: int = 0

    def pack(self) -> bytes:
        """As it is in the flash."""
        body = RECORD_MAGIC.to_bytes(4, "big") + self.sequence.to_bytes(4, "big")
        for slot in reversed(self.slots):
            body += bytes([slot.state]) + slot.length.to_bytes(3, "big") + slot.check.to_bytes(4, "big")
        body += (self.newest << 15).to_bytes(2, "big") + self.role.to_bytes(2, "big")
        return body + zlib.crc32(body).to_bytes(4, "big")

    @classmethod
    def unpack(cls, data: bytes) -> "Record | None":
        """Of a record's bytes; None if they are not whole."""
        body, check = data[:-4], data[-4:]
        if len(data) != RECORD_BYTES or zlib.crc32(body).to_bytes(4, "big") != check:
            return None
        word = [int.from_bytes(body[at : at + 4], "big") for at in range(0, len(body), 4)]
        if word[0] != RECORD_MAGIC:
            return None
        slots = [Slot(word[at] >> 24, word[at] & 0xFFFFFF, word[at + 1]) for at in (4, 2)]
        return cls(word[1], (slots[0], slots[1]), word[6] >> 31, word[6] & 0xFFFF)


def newest(sectors: list[bytes]) -> Record | None:
    """The state that these sectors' records tell."""
    places = [data[at : at + RECORD_BYTES] for data in sectors for at in range(0, len(data), RECORD_BYTES)]
    whole = [record for record in map(Record.unpack, places) if record]
    return max(whole, key=lambda record: record.sequence, default=None)
