"""rl_flash_store when power fails, or a reset comes: the card has its keys, and no version that it kept is lost."""

import random

import cocotb
from cocotb.triggers import ClockCycles

from flash_board import until
from store_board import KEYS, ROLES, START, Board, store_bench

CUTS = 150
RESETS = 40


async def raise_on(board: Board, kept: dict, begun: list) -> None:
    """Versions are raised one after the other; `kept` has those that it called so, `begun` the one under way."""
    while True:
        signer, role = random.choice(ROLES)
        version = max(kept.values()) + 1
        begun[:] = [(signer, role), version]
        assert await board.raised(signer, role, version)
        kept[signer, role] = version
        begun.clear()


async def interrupted(board: Board, kept: dict, ns: int) -> set:
    """Raises versions for so long; gives all that may be there now."""
    begun: list = []
    await until(raise_on(board, kept, begun), ns)
    either = [dict(kept)]
    if begun:
        either.append(kept | {begun[0]: begun[1]})
    return either


@cocotb.test(timeout_time=4000, timeout_unit="ms")
async def power_may_fail_at_any_moment(dut):
    """While versions are raised and logs renewed: always the old version or the new one, and never no keys."""
    board = Board(dut)
    await board.begin()
    assert await board.power_up()
    kept, ends = dict(START), {"old": 0, "new": 0, "renewed": 0}
    for n in range(CUTS):
        # A word takes some 60 us here, and a log is full after ten versions.
        either = await interrupted(board, kept, random.randrange(10, random.choice([2_000, 100_000, 3_000_000])))
        await board.power_down()
        if n % 3 == 0:
            # Once more while it comes up, and mends what was cut.
            await until(board.power_up(), random.randrange(10, 900_000))
            await until(board.settled(), random.randrange(10, 1_500_000))
            await board.power_down()
        assert await board.power_up(), n
        found = await board.versions()
        assert found in either, (n, found, either)
        ends["old" if found == either[0] else "new"] += 1
        kept = found
        if n % 10 == 0:
            keys, hosts = await board.take_keys()
            assert keys == list(KEYS.own) and hosts == [host.words() for host in KEYS.hosts]
        ends["renewed"] = board.log().generation
    dut._log.info("power cuts: %s", ends)
    assert min(ends.values()) > CUTS // 20, ends
    assert await board.settled() and await board.again() and await board.versions() == kept


@cocotb.test(timeout_time=4000, timeout_unit="ms")
async def a_reset_may_come_at_any_moment(dut):
    """Of all but the chip, which goes on with what it does."""
    board = Board(dut)
    await board.begin()
    assert await board.power_up()
    kept = dict(START)
    for n in range(RESETS):
        either = await interrupted(board, kept, random.randrange(10, 1_000_000))
        dut.rst_ni.value = 0
        dut.sign_ask_i.value = 0
        await ClockCycles(dut.clk_i, random.randrange(2, 10))
        assert await board.power_up(), n
        kept = await board.versions()
        assert kept in either, (n, kept, either)
    assert await board.raised(0, "vadd", 1000)


def test_rl_flash_store_power():
    store_bench(__name__)
