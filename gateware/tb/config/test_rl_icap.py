"""rl_icap against a model of ICAPE3: what is configured is what was sent, and a region in doubt stays cut off.

The model, after UG570: a word is taken with each rising edge at which CSIB and RDWRB are 0, and its bits are turned
round within each byte; words count after the sync word; packets of type 1 and 2 write registers; RDWRB that changes
while CSIB is 0 aborts, and the port wants a sync word again. PRDONE falls with the first command and rises with
DESYNC (UG909).
"""

import random
from pathlib import Path
from zlib import crc32

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge

import golden
from runner import bench
from streams import PAUSES

HEAD = 22 * 4
SYNC, NOOP, FDRI, CMD, WBSTAR, CRC = 0xAA995566, 0x20000000, 2, 4, 16, 0
DESYNC, IPROG = 13, 15
CODES = {"Magic": 1, "Role": 2, "Length": 3, "Check": 4, "Region": 32, "Port": 33, "Nothing": 34}


def turned(word: int) -> int:
    """Bits turned round within each byte."""
    return int.from_bytes(bytes(int(f"{byte:08b}"[::-1], 2) for byte in word.to_bytes(4, "big")), "big")


def bitstream(frames: list[int]) -> list[int]:
    """A partial bitstream with this frame data; where a real one has its CRC, the CRC-32 of the data stands."""
    check = crc32(b"".join(word.to_bytes(4, "big") for word in frames))
    write = [1 << 29 | 2 << 27 | FDRI << 13, 2 << 29 | 2 << 27 | len(frames), *frames]
    head = [0xFFFFFFFF] * 4 + [SYNC, NOOP]
    return head + write + [1 << 29 | 2 << 27 | CRC << 13 | 1, check, 1 << 29 | 2 << 27 | CMD << 13 | 1, DESYNC, NOOP]


def part(words: list[int], role: int = 1) -> list[int]:
    """The part with this data, in words of the port."""
    data = b"".join(word.to_bytes(4, "big") for word in words)
    data += NOOP.to_bytes(4, "big") * ((-(HEAD + len(data) + 4) % 8) // 4)
    body = golden.rtl_part(role, [], clock_khz=1000, size=HEAD + len(data) + 4)[:HEAD] + data
    body += crc32(body).to_bytes(4, "big")
    return [int.from_bytes(body[at : at + 4], "big") for at in range(0, len(body), 4)]


class Icap:
    """The port, and the region that it configures."""

    def __init__(self, dut):
        self.dut = dut
        self.synced, self.left, self.register = False, 0, None
        self.frames, self.configured, self.rebooted, self.address = [], None, None, None
        self.aborts = 0
        self.obeys = True  # The region lets itself be cut off.

    async def begin(self):
        dut = self.dut
        for pin in dut:
            if pin._name.endswith("_i") and pin._name != "clk_i":
                pin.value = 0
        dut.avail_i.value = 1
        dut.prdone_i.value = 1
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 3)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 2)
        cocotb.start_soon(self.run())

    async def run(self):
        dut, reads = self.dut, 0
        while True:
            await RisingEdge(dut.clk_i)
            dut.decoupled_i.value = bool(dut.decouple_o.value) and self.obeys
            if dut.csi_no.value:
                reads = 0
                continue
            if dut.rdwr_no.value:
                self.aborts += reads == 0
                reads = 1
                self.synced, self.left, self.frames = False, 0, []
                dut.prdone_i.value = 1
                dut.prerror_i.value = 0
            elif not reads:
                self.take(turned(int(dut.data_o.value)))

    def take(self, word):
        """A word at the port."""
        if not self.synced:
            self.synced = word == SYNC
            return
        if self.left:
            self.left -= 1
            self.write(word)
        elif word >> 29 == 1 and word >> 27 & 3 == 2:
            self.register, self.left = word >> 13 & 0x3FFF, word & 0x7FF
            if self.register == FDRI:
                assert self.dut.decouple_o.value, "the region is configured while it is not cut off"
                self.dut.prdone_i.value = 0
                self.configured = None
        elif word >> 29 == 2:
            self.left = word & 0x7FFFFFF

    def write(self, word):
        """A word for a register."""
        match self.register:
            case 2:
                self.frames.append(word)
            case 0:
                if crc32(b"".join(frame.to_bytes(4, "big") for frame in self.frames)) != word:
                    self.dut.prerror_i.value = 1
                    self.synced = False
            case 16:
                self.address = word
            case 4 if word == DESYNC:
                self.configured, self.frames = self.frames, []
                self.synced = False
                self.dut.prdone_i.value = 1
            case 4 if word == IPROG:
                self.rebooted = self.address

    async def send(self, words, pause="never", stop_after=None):
        """Gives a part to the backend: the role, or the negative code; None after a stop."""
        dut, pauses = self.dut, PAUSES[pause]()
        dut.start_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.start_i.value = 0
        await ClockCycles(dut.clk_i, 1)
        for number, word in enumerate(words):
            if number == stop_after:
                dut.stop_i.value = 1
                await RisingEdge(dut.clk_i)
                dut.stop_i.value = 0
                return None
            while next(pauses):
                await RisingEdge(dut.clk_i)
            dut.valid_i.value = 1
            dut.config_data_i.value = word
            await RisingEdge(dut.clk_i)
            while not dut.config_ready_o.value and not dut.error_o.value:
                await RisingEdge(dut.clk_i)
            dut.valid_i.value = 0
            if dut.error_o.value:
                break
        for _ in range(600):
            if dut.done_o.value or dut.error_o.value:
                break
            await RisingEdge(dut.clk_i)
        assert bool(dut.done_o.value) != bool(dut.error_o.value)
        return int(dut.role_o.value) if dut.done_o.value else -int(dut.code_o.value)


def some_frames():
    return [random.getrandbits(32) for _ in range(random.randrange(1, 60))]


@cocotb.test(timeout_time=1, timeout_unit="ms")
@cocotb.parametrize(pause=list(PAUSES))
async def what_is_sent_is_configured(dut, pause):
    icap = Icap(dut)
    await icap.begin()
    for role in (1, 2, 1):
        frames = some_frames()
        assert await icap.send(part(bitstream(frames), role), pause) == role
        assert icap.configured == frames and not dut.decouple_o.value
    assert icap.aborts == 0


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def a_region_in_doubt_stays_cut_off(dut):
    """After each error, and stops at any word, until a load goes well."""
    icap = Icap(dut)
    await icap.begin()
    good = part(bitstream(some_frames()))
    bad_crc = bitstream([1, 2, 3])
    bad_crc[8] ^= 1
    wrong_end = [*good[:-1], good[-1] ^ 1]
    for words, code in [(part(bad_crc), "Port"), (wrong_end, "Check"), (part([NOOP] * 20), "Nothing")]:
        assert await icap.send(words) == -CODES[code], code
        await ClockCycles(dut.clk_i, 20)
        assert dut.decouple_o.value, code
        frames = some_frames()
        assert await icap.send(part(bitstream(frames))) == 1
        assert icap.configured == frames and not dut.decouple_o.value
    for stop in range(len(good)):
        assert await icap.send(good, stop_after=stop) is None
        await ClockCycles(dut.clk_i, random.randrange(0, 8))
        # In the data nobody knows what is there.
        if stop > HEAD // 4 + 1:
            assert dut.decouple_o.value
        frames = some_frames()
        assert await icap.send(part(bitstream(frames))) == 1, stop
        assert icap.configured == frames and not dut.decouple_o.value


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def what_is_no_part_never_reaches_the_port(dut):
    icap = Icap(dut)
    await icap.begin()
    good = part(bitstream([1, 2, 3]))
    for at, flip, code in [(0, 1, "Magic"), (1, 1, "Magic"), (2, 3 ^ 8, "Role"), (5, 1 << 30, "Length")]:
        bad = list(good)
        bad[at] ^= flip
        assert await icap.send(bad) == -CODES[code]
        assert not dut.decouple_o.value and not icap.synced
    icap.obeys = False
    assert await icap.send(good) == -CODES["Region"]
    assert not icap.synced


@cocotb.test(timeout_time=1, timeout_unit="ms")
async def it_starts_the_device_again(dut):
    icap = Icap(dut)
    await icap.begin()
    dut.reboot_addr_i.value = 0x01234500
    dut.reboot_i.value = 1
    await ClockCycles(dut.clk_i, 20)
    assert icap.rebooted == 0x01234500


def test_rl_icap():
    bench("rl_icap_tb", [Path(__file__).parent / "rl_icap_tb.sv"], __name__)
