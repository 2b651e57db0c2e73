"""rl_region_receiver: takes the part of an image, and no other bytes."""

import random
from zlib import crc32

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

import golden
from runner import bench
from streams import PAUSES

ROLES = [1, 2, 7, 15]
MAGIC, ROLE, LENGTH, CHECK = 1, 2, 3, 4
WORDS_MIN = 12  # 64-bit words of a part without data.


def rtl_part(role: int, args: list[int], ballast: int = 0) -> bytes:
    """A part for this role, with ballast of this many words."""
    return golden.rtl_part(role, args, clock_khz=250_000, size=8 * (WORDS_MIN + ballast))


def edited(part: bytes, at: int, value: bytes) -> bytes:
    """The part with other bytes at this place, and the check sequence that goes with them."""
    body = part[:at] + value + part[at + len(value) : -4]
    return body + crc32(body).to_bytes(4, "big")


def port_words(part: bytes) -> list[int]:
    """The part on the 32-bit port."""
    return [int.from_bytes(part[at : at + 4], "big") for at in range(0, len(part), 4)]


class Port:
    def __init__(self, dut):
        self.dut = dut

    async def begin(self):
        dut = self.dut
        for port in (dut.start_i, dut.stop_i, dut.valid_i, dut.data_i, dut.rst_cfg_ni):
            port.value = 0
        Clock(dut.clk_cfg_i, 10, "ns").start()
        await ClockCycles(dut.clk_cfg_i, 3)
        dut.rst_cfg_ni.value = 1
        await ClockCycles(dut.clk_cfg_i, 2)
        assert self.state() == (0, 0, 0, 0)

    def state(self):
        """What it says: done, error, code, role."""
        dut = self.dut
        return tuple(int(pin.value) for pin in (dut.done_o, dut.error_o, dut.code_o, dut.role_id_o))

    async def pulse(self, port):
        port.value = 1
        await RisingEdge(self.dut.clk_cfg_i)
        port.value = 0
        await RisingEdge(self.dut.clk_cfg_i)

    async def send(self, words, pause="never"):
        """Sends words as long as they are taken. How many were."""
        dut, pauses = self.dut, PAUSES[pause]()
        for number, word in enumerate(words):
            while next(pauses):
                dut.valid_i.value = 0
                await RisingEdge(dut.clk_cfg_i)
            dut.valid_i.value = 1
            dut.data_i.value = word
            await RisingEdge(dut.clk_cfg_i)
            if not dut.ready_o.value:
                dut.valid_i.value = 0
                return number
        dut.valid_i.value = 0
        return len(words)

    async def configure(self, words, pause="never"):
        """Sends words until the receiver says how it went: the role, or the negative code; None if it says nothing."""
        dut = self.dut
        await self.pulse(dut.start_i)
        assert self.state() == (0, 0, 0, 0), "a start takes everything back"
        # A word more than there are: it takes none after its answer.
        taken = await self.send([*words, 0], pause)
        await RisingEdge(dut.clk_cfg_i)
        done, error, code, role = self.state()
        if not done and not error:
            assert taken == len(words) + 1
            return None
        assert not dut.ready_o.value
        assert (code != 0, role != 0, done) == (error, not error, not error)
        if done:
            assert taken == len(words)
        # It goes on saying it.
        await ClockCycles(dut.clk_cfg_i, random.randrange(8))
        assert self.state() == (done, error, code, role)
        return role if done else -code


@cocotb.test()
@cocotb.parametrize(pause=list(PAUSES))
async def it_takes_what_is_right(dut, pause):
    port = Port(dut)
    await port.begin()
    for role in ROLES:
        for ballast in [0, 1, random.randint(2, 100)]:
            assert await port.configure(port_words(rtl_part(role, [4], ballast=ballast)), pause) == role


@cocotb.test()
async def it_notices_every_changed_bit(dut):
    """All of the head and of the check sequence, one of each other byte; what it said before does not matter."""
    port = Port(dut)
    await port.begin()
    part = rtl_part(2, [5, 3], ballast=3)
    head, end = 8 * 24, 8 * (len(part) - 4)
    bits = [*range(head), *(at + random.randrange(8) for at in range(head, end, 8)), *range(end, 8 * len(part))]
    for bit in bits:
        at = bit // 8
        bad = bytearray(part)
        bad[at] ^= 1 << bit % 8
        result = await port.configure(port_words(bytes(bad)))
        if at < 8:
            want = [-MAGIC]
        elif at < 12:
            want = [-ROLE, -CHECK]
        elif 20 <= at < 24:
            # A length that is too large says nothing until the port's patience ends.
            want = [None, -LENGTH, -CHECK]
        else:
            want = [-CHECK]
        assert result in want, (at, result)
        if bit % 32 == 0:
            assert await port.configure(port_words(part)) == 2


@cocotb.test()
async def it_says_no_as_soon_as_it_knows(dut):
    """With the word that is wrong, so that a port is not kept busy with what is no configuration."""
    port = Port(dut)
    await port.begin()
    part = rtl_part(1, [])
    for at, bad_at in [(0, 0), (1, 4), (2, 9), (5, 20)]:
        bad = bytearray(part)
        bad[bad_at] ^= 0x80
        await port.pulse(dut.start_i)
        assert await port.send(port_words(bytes(bad))) == at + 1


@cocotb.test()
async def it_wants_a_role_that_it_has(dut):
    port = Port(dut)
    await port.begin()
    for role in [*range(18), 31, 32, 33, 0x8001, 1 << 16 | 1, 1 << 31 | 1]:
        result = await port.configure(port_words(edited(rtl_part(1, []), 8, role.to_bytes(4, "big"))))
        assert result == (role if role in ROLES else -ROLE), role


@cocotb.test()
async def it_wants_a_possible_length(dut):
    port = Port(dut)
    await port.begin()
    part = rtl_part(1, [])
    for words in [0, 1, WORDS_MIN - 1, 1 << 28, 1 << 31, 1 << 28 | WORDS_MIN]:
        bad = edited(part, 20, words.to_bytes(4, "big"))
        assert await port.configure(port_words(bad)) == -LENGTH, words
    # One that ends early, or goes on.
    for words in [WORDS_MIN + 1, (1 << 28) - 1]:
        bad = edited(part, 20, words.to_bytes(4, "big"))
        assert await port.configure(port_words(bad)) is None, words
    assert await port.configure(port_words(rtl_part(1, []))) == 1


@cocotb.test()
async def a_stop_ends_it_and_a_start_begins_anew(dut):
    port = Port(dut)
    await port.begin()
    part = port_words(rtl_part(1, [4]))
    # Nothing is taken without a start.
    assert await port.send(part) == 0
    for taken in [0, 1, 3, 6, len(part) // 2, len(part) - 1]:
        assert await port.configure(part) == 1
        await port.pulse(dut.start_i)
        assert await port.send(part[:taken]) == taken
        await port.pulse(dut.stop_i)
        assert await port.send(part[taken:]) == 0
        # What was there is gone, and nothing else has come.
        assert port.state() == (0, 0, 0, 0)
    # A start in the middle: nothing of what came before counts.
    await port.pulse(dut.start_i)
    assert await port.send(part[:9]) == 9
    assert await port.configure(port_words(rtl_part(7, [], ballast=2))) == 7
    # A stop of what is done changes nothing.
    await port.pulse(dut.stop_i)
    assert port.state() == (1, 0, 0, 7)


def test_rl_region_receiver():
    roles = sum(1 << role for role in ROLES)
    bench("rl_region_receiver", ["config/rl_region_receiver.sv"], __name__, {"Roles": roles})
