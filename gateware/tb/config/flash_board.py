"""The board of the flash's benches: a device that boots what is in its flash, and power that comes and goes."""

import random
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, First, RisingEdge, SimTimeoutError, Timer, with_timeout

import golden
from flash_contents import GOLDEN_IMAGE, application, device, layout, part
from runner import bench

PLACES = 8  # Records in a sector: rl_flash_tb's PlacesW.
CODES = layout.CODES


class Board:
    """The device with its flash. What it runs is what the flash says."""

    def __init__(self, dut):
        self.dut = dut
        self.mem = dut.u_chip.mem
        self.image = None
        self.history = []
        self.dead = set()  # Names of images that never come up.
        self.touched = set()

    async def begin(self, *contents):
        """Power is off, and the flash as it comes from the factory, with these pairs of address and bytes."""
        dut = self.dut
        for pin in dut:
            if pin._name.endswith("_i") and pin._name != "clk_i":
                pin.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 3)
        # What the tests before have left there.
        blank = b"\xff" * 1024
        for where in (layout.POINTER, *layout.SLOTS, layout.RECORDS, layout.RECORDS + layout.UNIT):
            self.write(where, blank)
        self.write(layout.GOLDEN, GOLDEN_IMAGE)
        self.write(layout.SECOND_GOLDEN, GOLDEN_IMAGE)
        self.write(layout.JUMP, layout.jump(layout.SECOND_GOLDEN))
        for where, data in contents:
            self.write(where, data)
        await ClockCycles(dut.clk_i, 1)

    def write(self, where, data):
        """Puts bytes into the flash, past all of its rules."""
        for at, byte in enumerate(data):
            self.mem[where + at].value = byte

    def read(self, where, count):
        """What is in the flash."""
        return bytes(int(self.mem[where + at].value) for at in range(min(count, (1 << 24) - where)))

    def reader(self, where, count):
        """As `read`, but an image's padding is not longer than it is here."""
        return self.read(where, min(count, 512) if count == device.SEARCH else count)

    def state(self):
        """What the records say."""
        sectors = [self.read(layout.RECORDS + n * layout.UNIT, PLACES * layout.RECORD_BYTES) for n in range(2)]
        return layout.newest(sectors) or layout.Record()

    async def start(self, where):
        """The device boots from this address."""
        dut = self.dut
        dut.rst_ni.value = 0
        dut.valid_i.value = 0
        dut.healthy_i.value = 0
        self.image = device.boot(self.reader, where)
        assert self.image is not None, f"nothing boots from {where:06x}"
        self.history.append(self.image.name)
        dut.golden_i.value = self.image.name == "golden"
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1

    async def power_up(self):
        """Power comes, and the board boots until something stays."""
        self.dut.power_i.value = 1
        await ClockCycles(self.dut.clk_i, 4)
        await self.start(0)
        return await self.settle()

    async def power_down(self):
        self.dut.power_i.value = 0
        self.dut.rst_ni.value = 0
        self.dut.valid_i.value = 0
        self.dut.start_i.value = 0
        await ClockCycles(self.dut.clk_i, 4)

    async def settle(self):
        """Follows the device until an image stays: the golden one serves, or an application is confirmed."""
        dut = self.dut
        for _ in range(12):
            golden_runs = self.image.name == "golden"
            if not dut.ready_o.value and not dut.leave_o.value:
                await First(RisingEdge(dut.ready_o), RisingEdge(dut.leave_o))
            if not dut.leave_o.value and golden_runs:
                return self.image.name
            if not dut.leave_o.value:
                if self.image.name not in self.dead:
                    await ClockCycles(dut.clk_i, random.randrange(1, 300))
                    dut.healthy_i.value = 1
                await ClockCycles(dut.clk_i, 2)
                if not dut.confirmed_o.value:
                    await First(RisingEdge(dut.confirmed_o), RisingEdge(dut.leave_o))
                if not dut.leave_o.value:
                    return self.image.name
            await self.start(self.image.boot_address)
        raise AssertionError(f"it never settles: {self.history}")

    async def name(self, digest):
        """Names an image by its digest; True if the device has booted it."""
        for at in range(0, len(digest), 4):
            self.dut.name_i.value = 1
            self.dut.name_at_i.value = at // 4
            self.dut.name_word_i.value = int.from_bytes(digest[at : at + 4], "big")
            await RisingEdge(self.dut.clk_i)
        self.dut.name_i.value = 0
        await ClockCycles(self.dut.clk_i, 2)
        return bool(self.dut.runs_o.value)

    async def send(self, data):
        """Names a part and gives it to the configuration port. 0, or the code of the error."""
        dut = self.dut
        await self.name(golden.digest(data))
        dut.start_i.value = 1
        await RisingEdge(dut.clk_i)
        dut.start_i.value = 0
        await RisingEdge(dut.clk_i)
        over = First(RisingEdge(dut.done_o), RisingEdge(dut.error_o))
        for at in range(0, len(data), 4):
            dut.config_data_i.value = int.from_bytes(data[at : at + 4], "big")
            dut.valid_i.value = 1
            await Timer(1, "ns")
            while not dut.config_ready_o.value and not dut.error_o.value:
                await First(RisingEdge(dut.config_ready_o), RisingEdge(dut.error_o))
            if dut.error_o.value:
                break
            await RisingEdge(dut.clk_i)
            dut.valid_i.value = 0
            await Timer(1, "ns")
        dut.valid_i.value = 0
        if not dut.done_o.value and not dut.error_o.value:
            await over
        return int(dut.error_code_o.value) if dut.error_o.value else 0

    async def load(self, name, size=420, more=b""):
        """Loads an application, with more behind it, and follows the device until it or another one stays."""
        code = await self.send(part(application(name, size) + more))
        assert code == 0, code
        await RisingEdge(self.dut.leave_o)
        await self.start(self.image.boot_address)
        return await self.settle()


async def until(doing, ns):
    """Does this, but no longer than that."""
    try:
        await with_timeout(doing, ns, "ns")
    except SimTimeoutError:
        pass


def flash_bench(module, tests=None, **parameters):
    """Builds chip and blocks, with times that fit a bench."""
    tb = Path(__file__).parent
    sources = [tb / "rl_flash_tb.sv", tb / "flash_chip.sv"]
    parameters = {"EraseTime": 500, "ProgramTime": 100, **parameters}
    bench("rl_flash_tb", sources, module, parameters, tests, visible=["flash_chip.mem"])
