"""rl_flash_store: a board has its keys, signers and versions again, whatever has happened to its flash."""

import random

import cocotb
from cocotb.triggers import ClockCycles, RisingEdge

from flash_contents import application, layout, part
from store_board import CODES, KEYS, PLACES, ROLES, SIZE, START, Board, store, store_bench


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


def test_rl_flash_store():
    store_bench(__name__)
