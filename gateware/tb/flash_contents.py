"""Contents of a configuration flash for benches: stand-ins for images, and what is said of them."""

import sys
from pathlib import Path
from zlib import crc32

import golden

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "flash"))
import device
import layout

ROLE = 1
HEAD = 22 * 4  # Bytes of a part before its data.
GOLDEN_IMAGE = device.stand_in("golden", layout.POINTER)


def application(name: str, size: int = 420) -> bytes:
    """An application's image, with which the device goes back to the golden image."""
    image = device.stand_in(name, layout.GOLDEN, size)
    # With 22 words of head and the check, a part has a whole number of 64-bit words.
    return image + b"\xff" * (-(HEAD + len(image) + 4) % 8)


def part(image: bytes, role: int = ROLE, kernels: tuple[int, ...] = ()) -> bytes:
    """The part with which a host loads an image, whose kernels take these numbers of arguments."""
    data = image + b"\xff" * (-(HEAD + len(image) + 4) % 8)
    model = golden.rtl_part(role, kernels, clock_khz=1000, size=HEAD + len(data) + 4)
    body = model[:HEAD] + data
    return body + crc32(body).to_bytes(4, "big")


def in_slot(number, name, state=layout.CONFIRMED):
    """Contents of a flash: this application in a slot, and what a record says of it."""
    image = application(name)
    return layout.SLOTS[number], image, layout.Slot(state, len(image), crc32(image))


def with_slots(a=None, b=None, newest=0, sequence=1):
    """Contents of a flash with these applications: names, or names and states."""
    contents, slots = [], [layout.Slot(), layout.Slot()]
    for number, said in enumerate((a, b)):
        if said:
            where, image, slots[number] = in_slot(number, *said)
            contents.append((where, image))
    record = layout.Record(sequence, (slots[0], slots[1]), newest, ROLE)
    return [*contents, (layout.RECORDS, record.pack())]
