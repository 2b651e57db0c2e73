"""rl_flash: what is loaded is booted, and what is not good changes nothing."""

import random
from zlib import crc32

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

import golden
from flash_board import CODES, Board, flash_bench
from flash_contents import GOLDEN_IMAGE, HEAD, ROLE, application, device, layout, part, with_slots


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def an_empty_flash_leaves_the_golden_image(dut):
    board = Board(dut)
    await board.begin()
    assert await board.power_up() == "golden"
    assert (int(dut.erases_o.value), int(dut.programs_o.value), int(dut.ignored_o.value)) == (0, 0, 0)
    assert int(dut.code_o.value) == 0


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def what_is_loaded_is_booted(dut):
    """Time after time, each into the other slot; and what was loaded first is still there until the next but one."""
    board = Board(dut)
    await board.begin()
    assert await board.power_up() == "golden"
    names = [f"app{n}" for n in range(8)]
    for n, name in enumerate(names):
        assert await board.load(name, size=300 + 80 * n) == name
        state = board.state()
        slot = state.slots[state.newest]
        assert slot.state == layout.CONFIRMED and state.role == ROLE
        written = board.read(layout.SLOTS[state.newest], slot.length)
        assert crc32(written) == slot.check and written.startswith(device.stand_in(name, 0, 300 + 80 * n))
        if n:
            assert state.slots[1 - state.newest].state == layout.CONFIRMED
        await board.power_down()
        assert await board.power_up() == name
    # Both sectors have had records.
    assert all(board.read(layout.RECORDS + n * layout.UNIT, 1) != b"\xff" for n in range(2))
    assert int(dut.ignored_o.value) == 0
    assert board.read(layout.GOLDEN, len(GOLDEN_IMAGE)) == GOLDEN_IMAGE


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def an_image_may_be_longer_than_a_sector(dut):
    """What a later erase takes away would not read back."""
    board = Board(dut)
    await board.begin()
    assert await board.power_up() == "golden"
    assert await board.load("long", more=bytes(layout.SECTOR)) == "long"


@cocotb.test(timeout_time=400, timeout_unit="ms")
async def the_page_behind_an_image_is_erased_with_it(dut):
    """The image ends with a unit, and in the next one there is something."""
    board = Board(dut)
    await board.begin((layout.SLOTS[0] + layout.UNIT, bytes(64)))
    assert await board.power_up() == "golden"
    image = application("whole")
    more = bytes(layout.UNIT - len(image))
    assert await board.load("whole", more=more) == "whole"
    assert await board.name(golden.digest(part(image + more)))


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_device_knows_what_it_has_booted(dut):
    board = Board(dut)
    await board.begin()
    assert await board.power_up() == "golden"
    first, second = (golden.digest(part(application(name))) for name in ("first", "second"))
    assert not await board.name(first)
    assert await board.load("first") == "first"
    for _ in range(2):
        assert await board.name(first) and not await board.name(second)
        # A digest that differs in one word, or of which a word is missing, is another one.
        for at in range(0, 32, 4):
            other = bytearray(first)
            other[at + random.randrange(4)] ^= 1 << random.randrange(8)
            assert not await board.name(bytes(other))
        assert await board.name(first) and not await board.name(first[:28])
        await board.power_down()
        assert await board.power_up() == "first"
    # While another one is written, and until it is booted, this one runs.
    assert await board.send(part(application("second"))) == 0
    assert not dut.runs_o.value and await board.name(first)
    await RisingEdge(dut.leave_o)
    await board.start(board.image.boot_address)
    assert await board.settle() == "second"
    assert await board.name(second) and not await board.name(first)
    newest = board.state().newest
    where = layout.SLOTS[newest] + layout.name_offset(board.state().slots[newest].length)
    assert board.read(where, 36) == layout.name_page(second)


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def an_image_without_its_page_runs_and_is_not_known(dut):
    """As one that a programmer has put there, or whose page has rotted."""
    board = Board(dut)
    await board.begin(*with_slots(a=("old",)))
    assert await board.power_up() == "old"
    nothing = b"\xff" * 32
    assert not await board.name(nothing)
    assert await board.load("new") == "new"
    digest = golden.digest(part(application("new")))
    assert await board.name(digest)
    await board.power_down()
    newest = board.state().newest
    where = layout.SLOTS[newest] + layout.name_offset(board.state().slots[newest].length)
    rotten = bytes([layout.name_page(digest)[0] ^ 1])
    board.write(where, rotten)
    assert await board.power_up() == "new"
    assert not await board.name(digest) and not await board.name(rotten + digest[1:])


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def what_is_no_image_changes_nothing(dut):
    board = Board(dut)
    await board.begin(*with_slots(a=("old",)))
    assert await board.power_up() == "old"
    before = int(dut.erases_o.value), int(dut.programs_o.value)
    good = part(application("new"))
    for at, code in [(0, "Magic"), (7, "Magic"), (9, "Role"), (20, "Length")]:
        bad = bytearray(good)
        bad[at] ^= 0x40
        assert await board.send(bytes(bad)) == CODES[code], at
    for words, code in [(11, "Length"), ((layout.IMAGE_BYTES + 96) // 8, "Large"), ((1 << 28) - 1, "Large")]:
        assert await board.send(good[:20] + words.to_bytes(4, "big") + good[24:]) == CODES[code], words
    assert (int(dut.erases_o.value), int(dut.programs_o.value)) == before


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_wrong_check_leaves_the_slot_empty(dut):
    board = Board(dut)
    await board.begin(*with_slots(a=("old",), b=("older",)))
    assert await board.power_up() == "old"
    good = part(application("new"))
    for bit in (8 * HEAD + 3, 8 * (len(good) - 20), 8 * len(good) - 1):
        bad = bytearray(good)
        bad[bit // 8] ^= 1 << bit % 8
        assert await board.send(bytes(bad)) == CODES["Check"]
        assert [slot.state for slot in board.state().slots] == [layout.CONFIRMED, layout.EMPTY]
    await board.power_down()
    assert await board.power_up() == "old"
    assert await board.load("new") == "new"


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def an_image_that_does_not_come_up_is_left(dut):
    """Three tries, and then the old one again, for good."""
    board = Board(dut)
    await board.begin(*with_slots(a=("old",)))
    board.dead = {"dead"}
    assert await board.power_up() == "old"
    board.history.clear()
    assert await board.load("dead") == "old"
    assert board.history == ["golden", "dead"] * 3 + ["golden", "old"]
    await board.power_down()
    board.history.clear()
    assert await board.power_up() == "old"
    assert board.history == ["golden", "old"]
    # Without another one the golden image serves.
    await board.power_down()
    board.write(layout.SLOTS[0], b"\0" * 4)
    assert await board.power_up() == "golden"


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_trial_is_not_loaded_over_the_good_image(dut):
    """Before the running image is confirmed, nothing is written over the other one."""
    board = Board(dut)
    await board.begin(*with_slots(a=("old",), b=("trial", layout.TRIES), newest=1))
    await board.power_down()
    dut.power_i.value = 1
    await board.start(0)
    await RisingEdge(dut.leave_o)
    await board.start(board.image.boot_address)
    assert board.image.name == "trial"
    await RisingEdge(dut.ready_o)
    assert await board.send(part(application("new"))) == CODES["Trial"]
    assert board.state().slots[0].state == layout.CONFIRMED
    dut.healthy_i.value = 1
    await RisingEdge(dut.confirmed_o)
    assert await board.load("new") == "new"


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_slot_that_has_rotted_is_not_booted(dut):
    board = Board(dut)
    await board.begin(*with_slots(a=("old",), b=("new",), newest=1))
    where = layout.SLOTS[1] + 300
    board.write(where, bytes([board.read(where, 1)[0] ^ 1]))
    assert await board.power_up() == "old"
    assert board.state().slots[1] == layout.Slot()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def each_fault_has_its_code(dut):
    board = Board(dut)
    await board.begin(*with_slots(a=("old",)))
    assert await board.power_up() == "old"
    data = part(application("new"))
    for pin, codes in [
        (dut.mute_i, ("Busy",)),
        (dut.deaf_i, ("Protected",)),
        (dut.stuck_i, ("EraseTimeout", "ProgramTimeout")),
        (dut.fails_i, ("EraseFailed", "ProgramFailed")),
        (dut.weak_i, ("Differs", "Records")),
    ]:
        pin.value = 1
        code = await board.send(data)
        assert code in [CODES[name] for name in codes], (pin._name, code)
        pin.value = 0
        # What hangs comes to its end meanwhile.
        await ClockCycles(dut.clk_i, 5000)
    dut.protect_i.value = 7
    assert await board.send(data) in (CODES["EraseFailed"], CODES["ProgramFailed"])
    # The golden image's protection is in nobody's way.
    dut.protect_i.value = 4
    assert await board.load("new") == "new"


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def without_a_flash_nothing_is_loaded(dut):
    board = Board(dut)
    await board.begin()
    for missing in (dut.mute_i, dut.other_i):
        missing.value = 1
        assert await board.power_up() == "golden"
        assert await board.send(part(application("new"))) == CODES["Chip"]
        await board.power_down()
        missing.value = 0


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_load_may_be_stopped_at_any_moment(dut):
    """Nothing of it is booted, and the next load goes well."""
    board = Board(dut)
    await board.begin(*with_slots(a=("old",)))
    assert await board.power_up() == "old"
    data = part(application("new"))
    for n in range(16):
        sending = cocotb.start_soon(board.send(data))
        await ClockCycles(dut.clk_i, random.randrange(1, 25000))
        assert not dut.done_o.value
        sending.cancel()
        dut.valid_i.value = 0
        dut.start_i.value = 0
        # A stop; or nothing, and the next start is in the midst of it.
        dut.stop_i.value = n % 3 != 0
        await RisingEdge(dut.clk_i)
        dut.stop_i.value = 0
        if n % 3 == 1:
            await ClockCycles(dut.clk_i, 20000)
            assert not dut.error_o.value and not dut.done_o.value
            assert board.state().slots[1].state == layout.EMPTY
    assert await board.send(data) == 0
    await RisingEdge(dut.leave_o)
    await board.start(board.image.boot_address)
    assert await board.settle() == "new"


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def without_programn_it_says_that_it_waits(dut):
    """Nothing leaves by itself: it takes a REFRESH. Power-ups without one use no tries up."""
    board = Board(dut)
    await board.begin(*with_slots(a=("old",), b=("new", layout.TRIES), newest=1))
    dut.power_i.value = 1
    for _ in range(layout.TRIES + 2):
        await board.start(0)
        await RisingEdge(dut.awaits_o)
        assert dut.ready_o.value and not dut.leave_o.value
    await board.start(board.image.boot_address)
    assert board.image.name == "new"
    await RisingEdge(dut.ready_o)
    assert board.state().slots[1].state == layout.TRIES - 1
    dut.healthy_i.value = 1
    await RisingEdge(dut.confirmed_o)
    assert await board.send(part(application("newer"))) == 0
    await RisingEdge(dut.awaits_o)
    await board.start(board.image.boot_address)
    assert board.image.name == "golden"
    await RisingEdge(dut.awaits_o)
    await board.start(board.image.boot_address)
    assert board.image.name == "newer"


UNWIRED = "without_programn_it_says_that_it_waits"


def test_rl_flash():
    flash_bench(__name__, [
        "an_empty_flash_leaves_the_golden_image",
        "what_is_loaded_is_booted",
        "an_image_may_be_longer_than_a_sector",
        "what_is_no_image_changes_nothing",
        "a_wrong_check_leaves_the_slot_empty",
        "an_image_that_does_not_come_up_is_left",
        "a_trial_is_not_loaded_over_the_good_image",
        "a_slot_that_has_rotted_is_not_booted",
        "each_fault_has_its_code",
        "without_a_flash_nothing_is_loaded",
        "a_load_may_be_stopped_at_any_moment",
    ])


def test_rl_flash_of_large_sectors():
    """The chip is sold with sectors of 256 KiB, too."""
    flash_bench(__name__, ["what_is_loaded_is_booted", "an_image_may_be_longer_than_a_sector"], ChipSectorW=18)


def test_rl_flash_without_programn():
    flash_bench(__name__, [UNWIRED], Wired=0)
