#!/usr/bin/env python3
"""Puts a flash's content together, for the programmer that writes it the first time.

    gateware/flash/assemble.py flash.bin --golden golden.bit                    a card that waits for its first load
    gateware/flash/assemble.py flash.bin --golden golden.bit --slot-a app.bit   one that boots this application

The golden image has to be packed with BOOTADDR 0x400000 (the pointer), an application with 0. Both copies of the
golden image, the jump record, the pointer and the first record are written; the rest stays erased, and is left out
where it ends the file. The first 4 MiB are what the chip's block protection has to cover afterwards.
"""

import argparse
import sys
import zlib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import layout

PADDING = b"\xff" * 256  # Before each image: what the device reads first is not reliable.
PREAMBLE = b"\xff\xff\xbd\xb3"
GOLDEN_BYTES = layout.SECOND_GOLDEN - layout.GOLDEN


class Unfit(Exception):
    """A file that cannot be put there."""


def padded(image: bytes, room: int, what: str) -> bytes:
    """An image as it goes into the flash, if it is one and fits."""
    if PREAMBLE not in image[:4096]:
        raise Unfit(f"{what} is no bitstream of an ECP5: it has no preamble")
    image = image if image.startswith(PADDING) else PADDING + image
    image += b"\xff" * (-len(image) % 4)
    if len(image) > room:
        raise Unfit(f"{what} has {len(image)} bytes, of which {room} fit; pack it with --compress")
    return image


def assemble(golden: bytes, application: bytes | None = None, role: int = 0) -> bytes:
    """The flash's content, up to and with the jump record."""
    flash = bytearray(b"\xff" * (layout.JUMP + 256))

    def put(where: int, data: bytes) -> None:
        flash[where : where + len(data)] = data

    golden = padded(golden, GOLDEN_BYTES, "the golden image")
    for where in (layout.GOLDEN, layout.SECOND_GOLDEN):
        put(where, golden)
    put(layout.JUMP, layout.jump(layout.SECOND_GOLDEN))
    slot = layout.Slot()
    if application is not None:
        application = padded(application, layout.IMAGE_BYTES, "the application")
        slot = layout.Slot(layout.TRIES, len(application), zlib.crc32(application))
        put(layout.SLOTS[0], application)
        put(layout.POINTER, layout.jump(layout.SLOTS[0]))
    put(layout.RECORDS, layout.Record(1, (slot, layout.Slot()), 0, role).pack())
    return bytes(flash)


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("flash", type=Path, help="the file to write")
    parser.add_argument("--golden", type=Path, required=True, help="the golden image")
    parser.add_argument("--slot-a", type=Path, help="an application")
    parser.add_argument("--role", type=int, default=0, help="its role's id (%(default)s)")
    options = parser.parse_args()
    try:
        application = options.slot_a.read_bytes() if options.slot_a else None
        options.flash.write_bytes(assemble(options.golden.read_bytes(), application, options.role))
    except (OSError, Unfit) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
