"""A DDR that is always ready: third-party models take some cycles for each burst, so that they cannot show full rate."""

from collections import deque

import cocotb
from cocotb.utils import get_sim_time

BEAT = 64
PAGE = 4096
ALL = (1 << BEAT) - 1  # Of a beat's strobes.
SLAVE_ERROR = 2


class ReadySlave:
    """AXI4: writes are answered, and reads have their data, `latency` cycles later. Beats whose addresses are in
    `failing` are answered with an error."""

    def __init__(self, dut, size=1 << 24, latency=30):
        self.dut, self.latency = dut, latency
        self.memory = bytearray(size)
        self.failing = set()
        self.writes = []  # When each beat was taken, in picoseconds.
        self.reads = []
        self.bursts = []  # Beats of each that was read.
        self.under_way = 0  # Beats that were asked for and not given, at most.
        if hasattr(dut, "axi_awvalid"):
            cocotb.start_soon(self.write_side())
        if hasattr(dut, "axi_arvalid"):
            cocotb.start_soon(self.read_side())

    def read(self, addr, length):
        return bytes(self.memory[addr : addr + length])

    async def write_side(self):
        dut = self.dut
        edge, awvalid, wvalid, bvalid = dut.clk_ddr.falling_edge, dut.axi_awvalid, dut.axi_wvalid, dut.axi_bvalid
        addrs, data, answers, burst = deque(), deque(), deque(), []
        cycle, answering = 0, None
        await edge
        # Always ready: what is valid now is taken at the next edge.
        dut.axi_awready.value = dut.axi_wready.value = 1
        while True:
            cycle += 1
            if awvalid.value:
                addr, beats = int(dut.axi_awaddr.value), int(dut.axi_awlen.value) + 1
                assert addr % PAGE + BEAT * (beats - 1) < PAGE, "no burst crosses 4 KiB"
                addrs.extend((addr + BEAT * i, i == beats - 1) for i in range(beats))
            if wvalid.value:
                data.append((int(dut.axi_wdata.value), int(dut.axi_wstrb.value), bool(dut.axi_wlast.value)))
                self.writes.append(get_sim_time("ps"))
            while addrs and data:
                (addr, ends), (word, strobe, last) = addrs.popleft(), data.popleft()
                assert ends == last, "a burst's last beat is marked, and no other"
                burst.append(addr)
                self.store(addr, word, strobe)
                if last:
                    answers.append((cycle + self.latency, next((at for at in burst if at in self.failing), addr)))
                    burst.clear()
            due = bool(answers) and answers[0][0] <= cycle
            if due:
                self.respond(dut.axi_bresp, answers.popleft()[1])
            if answering != due:
                bvalid.value = answering = due
            await edge

    def respond(self, resp, addr):
        # Most benches never see an error, and a value that is set costs time.
        if self.failing:
            resp.value = SLAVE_ERROR if addr in self.failing else 0

    def store(self, addr, data, strobe):
        assert addr % BEAT == 0 and strobe, "each beat is aligned and writes something"
        new = data.to_bytes(BEAT, "little")
        if strobe == ALL:
            self.memory[addr : addr + BEAT] = new
            return
        for at, byte in enumerate(new):
            if strobe >> at & 1:
                self.memory[addr + at] = byte

    async def read_side(self):
        dut = self.dut
        edge, arvalid, rvalid = dut.clk_ddr.falling_edge, dut.axi_arvalid, dut.axi_rvalid
        asked = deque()
        cycle, answering, last = 0, None, None
        await edge
        dut.axi_arready.value = 1
        while True:
            cycle += 1
            if arvalid.value:
                addr, beats = int(dut.axi_araddr.value), int(dut.axi_arlen.value) + 1
                assert addr % PAGE + BEAT * (beats - 1) < PAGE, "no burst crosses 4 KiB"
                self.bursts.append(beats)
                asked.extend((cycle + self.latency, addr + BEAT * i, i == beats - 1) for i in range(beats))
                self.under_way = max(self.under_way, len(asked))
            due = bool(asked) and asked[0][0] <= cycle
            if answering != due:
                rvalid.value = answering = due
            if due:
                self.respond(dut.axi_rresp, asked[0][1])
                if asked[0][2] != last:
                    dut.axi_rlast.value = last = asked[0][2]
                dut.axi_rdata.value = int.from_bytes(self.read(asked[0][1], BEAT), "little")
                if dut.axi_rready.value:  # A register: it does not change before the edge that takes the beat.
                    self.reads.append(get_sim_time("ps"))
                    asked.popleft()
            await edge
