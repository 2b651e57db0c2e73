"""rl_role_chase: lists of its own memory and of others', by the same rules as device/roles/chase; and what goes wrong."""

import random

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge
from runner import bench, rtl
from structs import LAYOUTS, fields, pack

CONTROL, STATUS, VALUE, ARGS = 0x000, 0x008, 0x010, 0x100
DONE, TRAP, REMOTE = 2, 4, 8
CHASE, RAISE, FAULT, WALK = range(4)
OKAY, GONE, NOWHERE, REFUSED = 0, 2, 3, 6
MASK = (1 << 64) - 1
LOWEST, HIGHEST = 0x10_0000, 1 << 44
# Of axi_req_t and axi_rsp_t, as far as a read of a beat needs them.
ARVALID, ARADDR = 1, 10
RVALID, RLAST, RRESP, RDATA, ARREADY = 0, 1, 2, 4, 522


class Bench:
    """The role, the memory of other nodes by stream, and its own (stream None); both in words of eight bytes."""

    def __init__(self, dut):
        self.dut = dut
        self.memory, self.fates = {}, {}  # Fates are of accesses, by kind, stream and address.
        self.pause, self.asked, self.said = 0.5, [], []

    async def start(self):
        dut = self.dut
        for port in (dut.rst_ni, dut.role_i, dut.axi_i, dut.remote_i):
            port.value = 0
        Clock(dut.clk_i, 4, "ns").start()
        await ClockCycles(dut.clk_i, 20)
        dut.rst_ni.value = 1
        for task in (self.remote(), self.own()):
            cocotb.start_soon(task)

    async def remote(self):
        dut, beats, burst, answer = self.dut, [], None, None
        while True:
            await FallingEdge(dut.clk_i)
            may = [random.random() >= self.pause for _ in range(5)]
            values = {"arready": int(may[0] and not beats), "awready": int(may[1] and burst is None and answer is None),
                      "wready": int(may[2] and burst is not None)}
            if beats and may[3]:
                data, resp = beats[0]
                values |= {"rvalid": 1, "rdata": data, "rresp": resp, "rlast": int(len(beats) == 1)}
            if answer is not None and may[4]:
                values |= {"bvalid": 1, "bresp": answer}
            dut.remote_i.value = pack("remote_rsp_t", **values)
            await ReadOnly()
            req = fields(dut.remote_o, "remote_req_t")
            await RisingEdge(dut.clk_i)
            stream, addr = divmod(req["araddr"], HIGHEST)
            if req["arvalid"] and values["arready"]:
                assert req["arsize"] == 3 and addr % 8 == 0 and addr % 4096 + 8 * (req["arlen"] + 1) <= 4096
                places = [(stream, addr + 8 * i) for i in range(req["arlen"] + 1)]
                self.asked.append((stream, addr, len(places)))
                beats = [(self.memory.get(place, 0), self.fates.get(("read", *place), OKAY)) for place in places]
            elif "rvalid" in values and req["rready"]:
                beats.pop(0)
            if "bvalid" in values and req["bready"]:
                answer = None
            if req["awvalid"] and values["awready"]:
                assert (req["awlen"], req["awsize"]) == (0, 3)
                burst = divmod(req["awaddr"], HIGHEST)
            elif req["wvalid"] and values["wready"]:
                assert (req["wlast"], req["wstrb"]) == (1, 255)
                answer = self.fates.get(("write", *burst), OKAY)
                self.said.append((*burst, req["wdata"]))
                if answer == OKAY:
                    self.memory[burst] = req["wdata"]
                burst = None

    async def own(self):
        dut, owed = self.dut, None
        while True:
            await FallingEdge(dut.clk_i)
            moves = random.random() >= self.pause
            ready, says = owed is None and moves, owed is not None and moves
            value = int(ready) << ARREADY
            if says:
                words = [self.memory.get((None, owed + 8 * i), 0) for i in range(8)]
                value |= 1 << RVALID | 1 << RLAST | self.fates.get(("read", None, owed), 0) << RRESP
                value |= sum(word << 64 * i for i, word in enumerate(words)) << RDATA
            dut.axi_i.value = value
            await ReadOnly()
            req = dut.axi_o.value.to_unsigned()
            await RisingEdge(dut.clk_i)
            if ready and req >> ARVALID & 1:
                owed = (req >> ARADDR & (1 << 40) - 1) // 64 * 64
            elif says:
                owed = None

    async def axil(self, **values):
        await FallingEdge(self.dut.clk_i)
        axil = pack("axil_req_t", bready=1, rready=1, **values)
        self.dut.role_i.value = pack("role_in_t", axil=axil)

    async def write(self, addr, data):
        await self.axil(awvalid=1, wvalid=1, awaddr=addr, wdata=data, wstrb=255)
        await RisingEdge(self.dut.clk_i)
        await self.axil()

    async def read(self, addr):
        dut = self.dut
        await self.axil(arvalid=1, araddr=addr)
        await RisingEdge(dut.clk_i)
        await self.axil()
        while True:
            rsp = fields(dut.role_o, "role_out_t")["axil"]
            low, width = LAYOUTS["axil_rsp_t"]["rdata"]
            if rsp >> LAYOUTS["axil_rsp_t"]["rvalid"][0] & 1:
                return rsp >> low & (1 << width) - 1
            await RisingEdge(dut.clk_i)

    async def run(self, kernel, *args):
        """Status without what means nothing, and value."""
        dut = self.dut
        self.asked, self.said = [], []
        for k, arg in enumerate(args):
            await self.write(ARGS + 8 * k, arg)
        await self.write(CONTROL, kernel << 8 | 1)
        for _ in range(100_000):
            await RisingEdge(dut.clk_i)
            if fields(dut.role_o, "role_out_t")["irq"]:
                break
        else:
            raise AssertionError("it hangs")
        status, value = await self.read(STATUS), await self.read(VALUE)
        await self.write(STATUS, DONE)
        await ClockCycles(dut.clk_i, 2)
        assert not fields(dut.role_o, "role_out_t")["irq"]
        return status, value

    def build(self, stream, count):
        """A list: its places and values."""
        top = 1 << 32 if stream is None else HIGHEST
        low = LOWEST if stream is None else 16
        places = [place * 16 for place in random.sample(range(low // 16, top // 16), count)]
        if stream is not None and count:
            places[-1] = random.choice([places[-1], HIGHEST - 16])
        values = [random.getrandbits(64) for _ in places]
        for i, (place, value) in enumerate(zip(places, values, strict=True)):
            self.memory[stream, place] = places[i + 1] if i + 1 < count else 0
            self.memory[stream, place + 8] = value
        return places, values


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def lists_are_followed_and_changed(dut):
    tb = Bench(dut)
    await tb.start()
    for turn in range(60):
        tb.pause, tb.memory = random.choice([0, 0.5, 0.9]), {}
        stream, count = random.choice([None, *range(16)]), random.choice([0, 1, 2, 12])
        places, values = tb.build(stream, count)
        most = random.choice([0, 1, count, MASK])
        head, seen = places[0] if places else 0, min(count, most)
        if stream is None:
            assert await tb.run(WALK, head, most) == (DONE, sum(values[:seen]) & MASK)
            continue
        assert await tb.run(CHASE, stream, head, most) == (DONE, sum(values[:seen]) & MASK)
        assert tb.asked == [(stream, place, 2) for place in places[:seen]]
        by = random.getrandbits(64)
        assert await tb.run(RAISE, stream, head, most, by) == (DONE, seen)
        assert tb.said == [(stream, place + 8, value + by & MASK) for place, value in zip(places[:seen], values)]


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def what_another_node_does_wrong_ends_the_kernel_as_its_fault(dut):
    tb = Bench(dut)
    await tb.start()
    for turn in range(60):
        tb.memory, tb.fates = {}, {}
        stream = random.randrange(16)
        places, values = tb.build(stream, 8)
        at, kind = random.randrange(8), random.choice(["next", "value", "write"])
        place = (stream, places[at] + 8 * (kind != "next"))
        tb.fates = {("write" if kind == "write" else "read", *place): random.choice([GONE, NOWHERE, REFUSED])}
        status, _ = await tb.run(RAISE, stream, places[0], MASK, 5)
        assert status == DONE | TRAP | REMOTE
        assert len(tb.said) == at + (kind == "write"), "nothing is written that was not read"
        if kind != "write":
            assert (await tb.run(CHASE, stream, places[0], MASK))[0] == DONE | TRAP | REMOTE
            assert len(tb.asked) == at + 1
            assert await tb.run(CHASE, stream, places[0], at) == (DONE, sum(values[:at]) + 5 * at & MASK)
        # Who asks about it gets its number.
        for fate, number in ((OKAY, 0), (NOWHERE, 1), (REFUSED, 2), (GONE, 3)):
            tb.fates = {("read", *place): fate}
            assert await tb.run(FAULT, *place) == (DONE, number)
            assert tb.asked == [(*place, 1)]
    tb.memory, tb.fates = {}, {}
    places, _ = tb.build(None, 3)
    tb.fates = {("read", None, places[1] // 64 * 64): GONE}
    assert (await tb.run(WALK, places[0], MASK))[0] == DONE | TRAP, "its own memory is no other node's"


@cocotb.test(timeout_time=5, timeout_unit="ms")
async def mistakes_are_traps(dut):
    tb = Bench(dut)
    await tb.start()
    places, values = tb.build(3, 2)
    wrong = [(CHASE, 16, 16, 1), (CHASE, 1 << 63, 16, 1), (CHASE, 3, 8, 1), (CHASE, 3, 17, 1), (CHASE, 3, HIGHEST, 1),
             (CHASE, 3, 1 << 63, 1), (RAISE, 16, 16, 1, 1), (RAISE, 3, 24, 1, 1), (FAULT, 16, 16), (FAULT, 3, 12),
             (FAULT, 3, HIGHEST), (WALK, LOWEST - 16, 1), (WALK, 1 << 32, 1), (WALK, LOWEST + 8, 1), (4, 0), (255, 0)]
    for kernel, *args in wrong:
        assert (await tb.run(kernel, *args))[0] == DONE | TRAP, (kernel, args)
        assert not tb.asked and not tb.said
    # Nobody looks at what is not there.
    for kernel, *args in ((CHASE, 16, 16, 0), (CHASE, 16, 0, 1), (WALK, 8, 0), (FAULT, 3, 8)):
        assert (await tb.run(kernel, *args))[0] == DONE, (kernel, args)
    # A node that says of the next one what cannot be is a mistake of whoever made the list.
    tb.memory[3, places[0]] = 7
    assert (await tb.run(CHASE, 3, places[0], MASK))[0] == DONE | TRAP
    assert await tb.run(CHASE, 3, places[1], MASK) == (DONE, values[1])


def test_rl_role_chase():
    bench("rl_role_chase", rtl("roles"), __name__)
