"""gateware/flash: the layout is sound, and the device's model boots what is assembled, whatever is damaged."""

import random
import sys

import pytest

from runner import ROOT

sys.path.insert(0, str(ROOT / "gateware/flash"))
import assemble
import device
import layout

GOLDEN = device.stand_in("golden", layout.POINTER, 3000)
APPLICATION = device.stand_in("app", layout.GOLDEN, 5000)


def reader(flash):
    """Reads from these bytes; behind their end the flash is erased."""
    return lambda where, count: bytes(flash[where : where + count]).ljust(count, b"\xff")


def test_nothing_overlaps_and_all_begins_with_an_erasable_unit():
    units = [(layout.POINTER, layout.UNIT), *((slot, layout.SLOT_BYTES) for slot in layout.SLOTS)]
    units += [(layout.RECORDS + n * layout.UNIT, layout.UNIT) for n in range(2)]
    at = layout.POINTER
    for where, size in units:
        assert where == at and where % layout.UNIT == 0 and size % layout.UNIT == 0
        at += size
    assert at == layout.WRITABLE_END < layout.JUMP
    # An eighth of 32 MiB is what the chip can protect.
    assert layout.POINTER == 4 << 20 and layout.SECOND_GOLDEN == 2 << 20


def test_the_device_boots_what_is_assembled():
    flash = assemble.assemble(GOLDEN, APPLICATION, role=3)
    image = device.boot(reader(flash))
    assert image == device.Image("golden", layout.POINTER, layout.GOLDEN)
    image = device.boot(reader(flash), image.boot_address)
    assert image == device.Image("app", layout.GOLDEN, layout.SLOTS[0])
    record = layout.newest([flash[layout.RECORDS : layout.RECORDS + layout.SECTOR]])
    assert record.slots[0].bootable and not record.slots[1].bootable and record.role == 3


def test_a_damaged_golden_image_has_a_second_copy():
    """Each bit of the first copy's commands; and a pointer that is torn leads back to the second copy as well."""
    flash = bytearray(assemble.assemble(GOLDEN, APPLICATION))
    first = 256 + GOLDEN[256:].index(device.PREAMBLE)
    for _ in range(300):
        bit = random.randrange(8 * first, 8 * len(GOLDEN.rstrip(b"\0")))
        flash[bit // 8] ^= 1 << bit % 8
        image = device.boot(reader(flash))
        assert image and image.name == "golden", bit
        flash[bit // 8] ^= 1 << bit % 8
    flash[layout.POINTER : layout.POINTER + 58] = bytes(58)
    assert device.boot(reader(flash), layout.POINTER).where == layout.SECOND_GOLDEN


def test_records_that_are_torn_count_as_none():
    old = layout.Record(7, (layout.Slot(layout.CONFIRMED, 400, 1), layout.Slot()), 0, 1)
    new = layout.Record(8, (layout.Slot(layout.CONFIRMED, 400, 1), layout.Slot(layout.TRIES, 800, 2)), 1, 2)
    assert layout.Record.unpack(new.pack()) == new
    assert layout.newest([new.pack() + old.pack(), b"\xff" * 64]) == new
    for _ in range(300):
        kept = bytes(byte | random.getrandbits(8) for byte in new.pack())
        assert layout.newest([old.pack() + kept]) in (old, new if kept == new.pack() else old)
    assert layout.newest([b"\xff" * 64, bytes(64)]) is None


@pytest.mark.parametrize(
    ("golden", "application", "said"),
    [(b"\xff" * 5000, None, "no preamble"), (GOLDEN, b"", "no preamble"), (GOLDEN + bytes(2 << 20), None, "--compress")],
)
def test_what_does_not_fit_is_refused(golden, application, said):
    with pytest.raises(assemble.Unfit, match=said):
        assemble.assemble(golden, application)
