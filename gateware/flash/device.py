"""What an ECP5 does with its flash when it starts: a model of the configuration logic, as far as booting depends on it.

After power-up it reads from address 0, after PROGRAMN from the address that the running image names (BOOTADDR). Ones
are passed over until the preamble; commands follow. A JUMP goes on elsewhere. An image is accepted when its device
and the CRC over its commands are right and PROGRAM_DONE comes; otherwise the jump record in the last page has its
turn.

Where a real image has its frames, stand-ins have one of their own: a name that says which design it is, and the byte of
BOOTADDR (address bits 23 to 16).
"""

from collections.abc import Callable
from dataclasses import dataclass

import layout

PREAMBLE = b"\xff\xff\xbd\xb3"
IDCODE = 0x81113043  # LFE5UM5G-85F.
SEARCH = 4096  # Bytes of ones, at most, before a preamble.
PADDING = 256
NAME_BYTES = 12
JUMPS = 4
RESET_CRC, VERIFY_ID, PROG_CNTRL0, INIT_ADDRESS = 0x3B, 0xE2, 0x22, 0x46
PROG_INCR, PROGRAM_DONE, JUMP = 0x82, 0x5E, 0x7E
NOTHING = 0xFF

Reader = Callable[[int, int], bytes]  # So many bytes from an address on.


@dataclass(frozen=True)
class Image:
    """An image that the device has accepted."""

    name: str
    boot_address: int
    where: int


def crc16(data: bytes) -> int:
    """The CRC of a bitstream's commands: polynomial 8005, most significant bit first."""
    crc = 0
    for byte in data:
        crc ^= byte << 8
        for _ in range(8):
            crc = (crc << 1 ^ 0x8005) & 0xFFFF if crc & 0x8000 else crc << 1
    return crc


def stand_in(name: str, boot_address: int, size: int = 0) -> bytes:
    """An image with the structure of a real one, of at least `size` bytes."""
    header = b"\xff" * PADDING + b"\xff\x00Part: LFE5UM5G-85F-8CABGA554\x00\xff" + PREAMBLE + b"\xff" * 4
    commands = bytes([RESET_CRC, 0, 0, 0])
    checked = bytes([VERIFY_ID, 0, 0, 0]) + IDCODE.to_bytes(4, "big")
    checked += bytes([PROG_CNTRL0, 0, 0, 0, 0x40, 0, 0, 0]) + bytes([INIT_ADDRESS, 0, 0, 0])
    frame = name.encode().ljust(NAME_BYTES, b"\0") + bytes([boot_address >> 16])
    room = size - len(header) - len(commands) - len(checked) - len(frame) - 12
    frame += bytes(at * 37 & 0x7F for at in range(max(room, 0)))
    checked += bytes([PROG_INCR, 0]) + len(frame).to_bytes(2, "big") + frame
    return header + commands + checked + crc16(checked).to_bytes(2, "big") + bytes([PROGRAM_DONE, 0, 0, 0])


def read_image(read: Reader, where: int, jumps: int = JUMPS) -> Image | None:
    """The image at this address, or where it sends the device; None if there is none."""
    start = read(where, SEARCH).find(PREAMBLE)
    if start < 0:
        return None
    at = where + start + len(PREAMBLE)
    covered = b""
    name, boot_address = "", 0
    identified = False
    for _ in range(64):
        (command,) = read(at, 1)
        if command == NOTHING:
            at += 1
            continue
        head = read(at, 4)
        extra = 0
        match command:
            case 0x3B:  # RESET_CRC
                covered = b""
                at += 4
                continue
            case 0xE2:  # VERIFY_ID
                extra = 4
                if int.from_bytes(read(at + 4, 4), "big") != IDCODE:
                    return None
                identified = True
            case 0x22:  # PROG_CNTRL0
                extra = 4
            case 0x46:  # INIT_ADDRESS
                pass
            case 0x82:  # PROG_INCR
                extra = int.from_bytes(head[2:], "big")
                frame = read(at + 4, extra)
                covered += head + frame
                if crc16(covered).to_bytes(2, "big") != read(at + 4 + extra, 2):
                    return None
                name = frame[:NAME_BYTES].rstrip(b"\0").decode("ascii", "replace")
                boot_address = frame[NAME_BYTES] << 16
                at += 4 + extra + 2
                continue
            case 0x7E:  # JUMP
                target = int.from_bytes(read(at + 5, 3), "big")
                return read_image(read, target, jumps - 1) if jumps and read(at + 4, 1) == b"\x03" else None
            case 0x5E:  # PROGRAM_DONE
                return Image(name, boot_address, where) if identified and name else None
            case _:
                return None
        covered += read(at, 4 + extra)
        at += 4 + extra
    return None


def boot(read: Reader, where: int = 0) -> Image | None:
    """What runs after the device has begun at this address; None if nothing does."""
    return read_image(read, where) or read_image(read, layout.JUMP)
