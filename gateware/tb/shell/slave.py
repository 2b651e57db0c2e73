"""A DDR that is always ready: third-party models take some cycles for each burst, so that they cannot show full rate."""

from collections import deque

import cocotb
from cocotb.triggers import FallingEdge
from cocotb.utils import get_sim_time

BEAT = 64


class ReadySlave:
    """AXI4 of single beats: writes are answered, and reads have their data, `latency` cycles later."""

    def __init__(self, dut, size=1 << 24, latency=30):
        self.dut, self.latency = dut, latency
        self.memory = bytearray(size)
        self.writes = []  # When each beat was taken, in picoseconds.
        self.reads = []
        cocotb.start_soon(self.write_side())
        if hasattr(dut, "axi_arvalid"):
            cocotb.start_soon(self.read_side())

    def read(self, addr, length):
        return bytes(self.memory[addr : addr + length])

    async def write_side(self):
        dut = self.dut
        addrs, data, answers = deque(), deque(), deque()
        cycle = 0
        while True:
            await FallingEdge(dut.clk_ddr)
            cycle += 1
            # Always ready: what is valid now is taken at the next edge.
            dut.axi_awready.value = dut.axi_wready.value = 1
            if dut.axi_awvalid.value:
                addrs.append(int(dut.axi_awaddr.value))
            if dut.axi_wvalid.value:
                data.append((int(dut.axi_wdata.value), int(dut.axi_wstrb.value)))
                self.writes.append(get_sim_time("ps"))
            while addrs and data:
                self.store(addrs.popleft(), *data.popleft())
                answers.append(cycle + self.latency)
            due = bool(answers) and answers[0] <= cycle
            if due:
                answers.popleft()
            dut.axi_bvalid.value = due

    def store(self, addr, data, strobe):
        assert addr % BEAT == 0 and strobe, "each beat is aligned and writes something"
        for at, byte in enumerate(data.to_bytes(BEAT, "little")):
            if strobe >> at & 1:
                self.memory[addr + at] = byte

    async def read_side(self):
        dut = self.dut
        asked = deque()
        cycle = 0
        while True:
            await FallingEdge(dut.clk_ddr)
            cycle += 1
            dut.axi_arready.value = 1
            if dut.axi_arvalid.value:
                asked.append((cycle + self.latency, int(dut.axi_araddr.value)))
            due = bool(asked) and asked[0][0] <= cycle
            dut.axi_rvalid.value = due
            if due:
                dut.axi_rdata.value = int.from_bytes(self.read(asked[0][1], BEAT), "little")
                if dut.axi_rready.value:  # A register: it does not change before the edge that takes the beat.
                    self.reads.append(get_sim_time("ps"))
                    asked.popleft()
