"""rl_flash_store: a board has its keys, signers and versions again, whatever has happened to its flash."""

import random

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge
from cocotb.utils import get_sim_time

from flash_contents import application, layout, part
from store_board import CODES, KEYS, PLACES, ROLES, SIZE, START, Board, store, store_bench

BITS = 40


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def the_stores_get_what_was_provisioned(dut):
    board = Board(dut)
    await board.begin()
    assert await board.power_up() and int(dut.store_code_o.value) == 0
    keys, hosts = await board.take_keys()
    assert keys == list(KEYS.own) and hosts == [host.words() for host in KEYS.hosts]
    for n, signer in enumerate(KEYS.signers):
        assert [await board.word(16 * n + at) for at in range(16)] == signer.words()
    assert int(dut.sign_o.value) >> 32 == len(KEYS.signers)
    assert await board.versions() == START
    # Nothing was written, and a restart of the shell finds it all again.
    assert await board.settled()
    assert (int(dut.erases_o.value), int(dut.programs_o.value), int(dut.ignored_o.value)) == (0, 0, 0)


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_version_is_there_again_after_power_has_gone(dut):
    board = Board(dut)
    await board.begin()
    assert await board.power_up()
    kept = dict(START)
    for version in (6, 7, 1 << 40, (1 << 64) - 1):
        for signer, role in ROLES:
            assert await board.raised(signer, role, version)
            kept[signer, role] = version
            assert await board.versions() == kept
        assert await board.again() and await board.versions() == kept
        assert board.log().table == await board.table()
    assert int(dut.ignored_o.value) == 0


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def a_full_log_has_a_next_one(dut):
    """Again and again, in the other unit each time, and what counts is never where something is erased."""
    board = Board(dut)
    await board.begin()
    assert await board.power_up()
    generations, kept, erased = set(), dict(START), int(dut.erases_o.value)
    for version in range(6, 46):
        kept[0, "vadd"] = version
        assert await board.raised(0, "vadd", version)
        log = board.log()
        generations.add(log.generation)
        assert store.versions_of(log.table) == kept and log.entries <= PLACES
    assert len(generations) > 3 and generations == set(range(1, max(generations) + 1))
    # 30 words fit behind a new log: so often and no more often is a unit erased, of which the log has one sector.
    assert int(dut.erases_o.value) - erased == max(generations) - 1
    assert await board.again() and await board.versions() == kept
    # The log before does not count any more, whatever becomes of this one.
    assert sum(store.Log.read(board.read(layout.KEYS + at, PLACES * store.PAIR), SIZE).begun for at in store.LOGS) == 1


@cocotb.test(timeout_time=400, timeout_unit="ms")
async def one_bit_that_has_changed_takes_nothing_away(dut):
    """In keys, signers or log: the card comes up with all of it. What is in the log is whole again afterwards."""
    board = Board(dut)
    await board.begin()
    assert await board.power_up()
    kept = START | {(1, "ptrans"): 9}
    assert await board.raised(1, "ptrans", 9)
    for _ in range(BITS):
        part_of = random.randrange(3)
        log_at = next(at for at in store.LOGS if store.Log.read(board.read(layout.KEYS + at, 2048), SIZE).begun)
        where = (store.COPIES[0], store.COPIES[1], log_at)[part_of]
        size = SIZE.keys_bytes if part_of < 2 else board.log().entries * store.PAIR
        bit = 8 * (layout.KEYS + where) + random.randrange(8 * size)
        await board.power_down()
        board.flip(bit)
        assert await board.power_up(), bit
        # The second copy of the keys is not looked at while the first is whole.
        assert int(dut.store_code_o.value) == (0 if part_of else CODES["StoreDamaged"])
        keys, hosts = await board.take_keys()
        assert keys == list(KEYS.own) and hosts == [host.words() for host in KEYS.hosts]
        assert await board.versions() == kept and await board.settled()
        log = board.log()
        assert store.versions_of(log.table) == kept
        if part_of < 2:
            board.flip(bit)
        else:
            # In the other unit.
            next_at = store.LOGS[1 - store.LOGS.index(log_at)]
            data = board.read(layout.KEYS + next_at, log.entries * store.PAIR)
            assert store.Log.read(data, SIZE).sealed
            copies = [data[at : at + 16] for at in range(0, len(data), 16)]
            assert copies[::2] == copies[1::2]


async def stays_shut(dut, board, code: str, *, fails: str = ""):
    """The card has no key, and the block says why."""
    programs = int(dut.programs_o.value), int(dut.erases_o.value)
    assert not await board.power_up(), fails
    assert int(dut.store_code_o.value) == CODES[code], (fails, int(dut.store_code_o.value))
    await ClockCycles(dut.clk_i, 2000)
    assert not board.news and not dut.open_o.value and dut.fails_o.value and not dut.works_o.value
    assert (int(dut.programs_o.value), int(dut.erases_o.value)) == programs
    await board.power_down()


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def what_is_not_all_there_leaves_the_card_shut(dut):
    """Each by itself: never is there a card without keys, nor one that has forgotten versions."""
    board = Board(dut)
    await board.begin(None)
    await stays_shut(dut, board, "StoreBlank")
    begin, second = layout.KEYS, layout.KEYS + layout.UNIT
    log_at, next_log = (layout.KEYS + at for at in store.LOGS)
    other = store.Keys(bytes(6), KEYS.own, KEYS.hosts, KEYS.signers).pack(SIZE)
    fewer = store.Keys(KEYS.mac, KEYS.own, KEYS.hosts[:1], KEYS.signers).pack(SIZE)
    table = store.table_of(START, SIZE)
    pair = store.PAIR

    def log(keys: bytes, *without: int, more: bytes = b"") -> bytes:
        made = bytearray(store.log(keys, table, 1, SIZE) + more)
        for place in without:
            made[pair * place : pair * (place + 1)] = bytes(pair)
        return bytes(made)

    own = KEYS.pack(SIZE)
    raised = store.pair(1, store.ROLES_AT + 1, 0, 34) + store.pair(1, store.ROLES_AT + 2, 6, 35)
    for fails, code, keys, twin, logged in [
        ("keys without a log", "StoreDamaged", own, own, b""),
        ("a log without keys", "StoreDamaged", b"", b"", log(own)),
        ("keys that are torn, twice", "StoreDamaged", own[:-9], own[:-9], log(own)),
        ("another card's", "StoreForeign", other, other, log(other)),
        ("keys of before, twice", "StoreDamaged", fewer, fewer, log(own)),
        ("keys of now beside a log of before", "StoreDamaged", own, own, log(fewer)),
        ("a log without its beginning", "StoreDamaged", own, own, log(own, 0)),
        ("a log without an entry", "StoreDamaged", own, own, log(own, 3)),
        ("a log without its seal", "StoreDamaged", own, own, log(own, SIZE.base)),
        ("a log without an entry that was raised", "StoreDamaged", own, own, log(own, 34, more=raised)),
    ]:
        for where, content in ((begin, keys), (second, twin), (log_at, logged), (next_log, b"")):
            board.write(where, content.ljust(PLACES * pair, b"\xff"))
        await stays_shut(dut, board, code, fails=fails)
    # And with all of it:
    for where, content in ((begin, own), (second, own), (log_at, log(own, more=raised))):
        board.write(where, content.ljust(PLACES * pair, b"\xff"))
    assert await board.power_up() and await board.versions() == {(0, "vadd"): 6}


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def keys_of_before_do_not_count(dut):
    """The programmer has given it others, and one copy of the old ones is left: a revoked host stays revoked."""
    board = Board(dut)
    await board.begin()
    old = store.Keys(KEYS.mac, KEYS.own, (store.Host(1, 3),), KEYS.signers).pack(SIZE)
    board.write(layout.KEYS, old)
    assert await board.power_up() and int(dut.store_code_o.value) == CODES["StoreDamaged"]
    assert (await board.take_keys())[1] == [host.words() for host in KEYS.hosts]


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def the_newer_of_two_logs_counts(dut):
    """Power has failed between the seal and the stroke, or before the seal. In either unit."""
    own = KEYS.pack(SIZE)
    for newer, older in (store.LOGS, store.LOGS[::-1]):
        for sealed in (True, False):
            board = Board(dut)
            await board.begin()
            logs = [store.log(own, store.table_of({(0, "vadd"): version}, SIZE), version, SIZE) for version in (8, 9)]
            if not sealed:
                logs[1] = logs[1][: -store.PAIR]
            for where, content in zip((older, newer), logs):
                board.write(layout.KEYS + where, content.ljust(PLACES * store.PAIR, b"\xff"))
            assert await board.power_up() and await board.versions() == {(0, "vadd"): 9 if sealed else 8}
            assert await board.raised(0, "vadd", 10) and board.log().generation == (10 if sealed else 9)
            assert await board.again() and await board.versions() == {(0, "vadd"): 10}


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def a_chip_that_takes_nothing_is_not_believed(dut):
    """Nothing is kept that was not read back, and the block says so, until the chip is well again after a start."""
    for pin, codes in [
        (dut.mute_i, ("Busy",)),
        (dut.deaf_i, ("Protected",)),
        (dut.stuck_i, ("Busy",)),
        (dut.fails_i, ("EraseFailed", "ProgramFailed")),
        (dut.weak_i, ("Differs",)),
    ]:
        board = Board(dut)
        await board.begin()
        assert await board.power_up()
        pin.value = 1
        tries = 0
        while await board.raised(0, "vadd", 6 + tries):
            tries += 1  # The weak bit is not in every entry.
            assert tries < 8, pin._name
        assert int(dut.store_code_o.value) in [CODES[name] for name in codes], (pin._name, int(dut.store_code_o.value))
        # It says so of all that follows, also once the chip is well.
        pin.value = 0
        assert not await board.raised(0, "vadd", 20)
        await ClockCycles(dut.clk_i, 4000)
        assert await board.again()
        # What it called kept is; the last one may be.
        assert (await board.versions())[0, "vadd"] in (5 + tries, 6 + tries)
        assert await board.raised(0, "vadd", 21)
        await board.power_down()


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_chip_that_is_not_there_leaves_the_card_shut(dut):
    board = Board(dut)
    await board.begin()
    for pin, code in ((dut.mute_i, "Busy"), (dut.other_i, "Chip")):
        pin.value = 1
        await stays_shut(dut, board, code)
        pin.value = 0
    assert await board.power_up()


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def a_version_is_kept_while_an_image_is_written(dut):
    """They take turns, and neither sees anything of the other's place."""
    board = Board(dut)
    await board.begin()
    assert await board.power_up()
    await board.loads()
    before = board.read(layout.KEYS, SIZE.keys_bytes)
    load = cocotb.start_soon(board.send(part(application("new", size=6000))))
    kept, count = dict(START), 0
    while not load.done():
        version = 6 + count
        assert await board.raised(0, "vadd", version)
        kept[0, "vadd"] = version
        count += 1
    assert load.result() == 0 and count > 3
    records = [board.read(layout.RECORDS + n * layout.UNIT, 8 * layout.RECORD_BYTES) for n in range(2)]
    assert layout.newest(records).slots[0].bootable
    assert board.read(layout.KEYS, SIZE.keys_bytes) == before
    assert await board.again() and await board.versions() == kept


@cocotb.test(timeout_time=200, timeout_unit="ms")
async def an_image_is_not_left_before_its_version_is_kept(dut):
    board = Board(dut)
    await board.begin()
    assert await board.power_up()
    await board.loads()
    assert await board.send(part(application("new"))) == 0
    # Twelve words: the card lingers for less, and so long neither the slot nor the pointer keeps it.
    await board.begin_raise(1, "ptrans", 6)
    assert dut.works_o.value and not dut.leave_o.value
    await RisingEdge(dut.leave_o)
    assert not dut.works_o.value and not dut.fails_o.value
    assert await board.again() and await board.versions() == START | {(1, "ptrans"): 6}


@cocotb.test(timeout_time=100, timeout_unit="ms")
async def a_firmware_that_does_not_wait_is_told(dut):
    """More words than the block has room for: what it says then is that nothing is kept."""
    board = Board(dut)
    await board.begin()
    assert await board.power_up()
    for n in range(40):
        await board.set(store.ROLES_AT + 16 + n % 12 + 1, n)
    assert not await board.settled() and int(dut.store_code_o.value) == CODES["StoreFull"]


@cocotb.test(timeout_time=1000, timeout_unit="ms")
async def a_store_of_a_boards_size(dut):
    """How long a start takes, a version, and the next log; in cycles without the chip's own time."""
    size = store.Size(int(dut.Signers.value), int(dut.Hosts.value), int(dut.Roles.value))
    board = Board(dut, size)
    await board.begin()

    async def cycles(doing) -> int:
        began = get_sim_time("ns")
        assert await doing
        return int(get_sim_time("ns") - began) // 10

    told = {"start": await cycles(board.power_up())}
    await board.loads()
    told |= {f"version {version}": await cycles(board.raised(0, "vadd", version)) for version in (6, 7)}
    told["first version"] = await cycles(board.raised(1, "ptrans", 1))
    # A copy that has changed has the next start write a new log.
    board.flip(8 * (layout.KEYS + store.LOGS[0] + store.PAIR * (size.base + 3) + 7))
    await board.power_down()
    told["another start"] = await cycles(board.power_up())
    told["next log"] = await cycles(board.settled())
    dut._log.info("%d roles: %s", size.roles, told)
    assert await board.versions() == {(0, "vadd"): 7, (1, "ptrans"): 1} and board.log().generation == 2
    # Bytes take 35 cycles each way.
    keys, log = size.keys_bytes, store.PAIR * (size.base + 1)
    assert told["start"] < 40 * (keys + log) + 40_000


def test_rl_flash_store():
    store_bench(__name__)


def test_at_a_boards_size():
    store_bench(__name__, ["a_store_of_a_boards_size"], PlacesW=12, Roles=96, Signers=32, Hosts=64)


def test_on_larger_sectors():
    store_bench(__name__, ["a_full_log_has_a_next_one"], ChipSectorW=18)
