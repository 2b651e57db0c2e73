"""Both sides of rl_guard, watched in each cycle: what passes, what is reported, and what DDR may see. And the bench around."""

import random
from collections import deque

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge
from cocotbext.axi import AxiBus, AxiMaster, AxiRam
from streams import bursts, sometimes

MEMORY = 0x13_0000  # Bytes of the role's memory.
BEAT, PAGE, BURST_MAX = 64, 4096, 16
ADDRESS, PROTOCOL, RESPONSE = 1, 2, 4

STALLS = {"never": None, "ragged": lambda: sometimes(0.5), "bursts": lambda: bursts(40, 40)}
CHANNELS = {
    "aw": ("awid", "awaddr", "awlen"),
    "w": ("wdata", "wstrb", "wlast"),
    "b": ("bid", "bresp"),
    "ar": ("arid", "araddr", "arlen"),
    "r": ("rid", "rdata", "rresp", "rlast"),
}


def legal(addr, axlen):
    """What the contract says of a burst."""
    first = addr // BEAT * BEAT
    last = first + BEAT * axlen
    return axlen < BURST_MAX and first // PAGE == last // PAGE and last < MEMORY


class Channel:
    """One channel of one side, as it is in this cycle."""

    def __init__(self, dut, side, name):
        pin = lambda signal: getattr(dut, f"{side}_{signal}")  # noqa: E731
        self.pins = [pin(signal) for signal in CHANNELS[name]]
        self.valid_pin, self.ready_pin = pin(f"{name}valid"), pin(f"{name}ready")
        self.valid = self.ready = self.taken = False
        self.payload = None

    def sample(self):
        self.valid, self.ready = bool(self.valid_pin.value), bool(self.ready_pin.value)
        self.taken = self.valid and self.ready
        self.payload = tuple(int(pin.value) for pin in self.pins) if self.valid else None


class Watch:
    """Looks at both sides in every cycle: all rules of AXI4 towards DDR, and that DDR gets what the role gave, and the
    role what DDR answered; when the role is cut off, that it gets nothing and DDR no bytes."""

    def __init__(self, dut):
        self.dut = dut
        self.outstanding, self.patience = int(dut.Outstanding.value), 1 << int(dut.PatienceW.value)
        self.role = {name: Channel(dut, "s_axi", name) for name in CHANNELS}
        self.ddr = {name: Channel(dut, "m_axi", name) for name in CHANNELS}
        self.faults = []  # All that were reported.
        self.filled = 0  # Beats that the guard made up.
        # DDR's side: what was offered and waits; bursts and beats under way.
        self.waiting = {"aw": None, "w": None, "ar": None}
        self.bursts, self.left = deque(), 0
        self.writes = self.reads = self.most_writes = self.most_reads = 0
        # The role's side: what was taken and has not come out yet.
        self.given = {"aw": deque(), "w": deque(), "ar": deque()}
        self.role_left = 0  # Beats to come of the bursts that were taken.
        self.dropped = self.bad_last = self.bad_burst = False  # As seen in the cycle before.
        self.asked = {"aw": False, "w": False, "ar": False}
        self.waits = {"w": 0, "b": 0, "r": 0}  # Cycles that the role keeps the port waiting.
        self.waited = 0
        self.fault = self.idle = 0
        cocotb.start_soon(self.run())

    async def run(self):
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_i)
            if not dut.rst_ni.value:
                continue
            for channel in (*self.role.values(), *self.ddr.values()):
                channel.sample()
            fault, isolated = int(dut.fault_o.value), bool(dut.isolate_i.value)
            cut = isolated or fault != 0
            self.to_ddr(cut)
            self.to_role(cut)
            self.reports(fault, isolated)
            self.from_role(cut)

    def to_ddr(self, cut):
        """The requests that DDR sees."""
        for name, before in self.waiting.items():
            channel = self.ddr[name]
            if before is not None:
                assert channel.valid, f"{name}valid falls"
                assert channel.payload == before, f"{name} changes while it waits"
            elif channel.valid:
                getattr(self, f"new_{name}")(*channel.payload, cut)
            self.waiting[name] = channel.payload if channel.valid and not channel.ready else None
        if self.ddr["b"].taken:
            self.writes -= 1
        if self.ddr["r"].taken and self.ddr["r"].payload[-1]:
            self.reads -= 1
        assert 0 <= self.writes <= self.outstanding
        assert 0 <= self.reads <= self.outstanding
        self.most_writes = max(self.most_writes, self.writes)
        self.most_reads = max(self.most_reads, self.reads)

    def new_aw(self, *payload):
        self.burst("aw", *payload)
        self.bursts.append(payload[2] + 1)
        self.writes += 1

    def new_ar(self, *payload):
        self.burst("ar", *payload)
        self.reads += 1

    def burst(self, name, axid, addr, axlen, _cut):
        assert legal(addr, axlen), f"{name} {addr:#x} of {axlen + 1}"
        assert (axid, addr, axlen) == self.given[name].popleft()

    def new_w(self, data, strobe, last, cut):
        if self.left == 0:
            self.left = self.bursts.popleft()
        self.left -= 1
        assert last == (self.left == 0), "wlast is at a wrong place"
        if self.given["w"]:
            assert (data, strobe) == self.given["w"].popleft()
        else:
            assert cut, "a beat that the role did not give"
            assert strobe == 0
            self.filled += 1

    def to_role(self, cut):
        """The responses that the role sees."""
        role, ddr = self.role, self.ddr
        if cut:
            assert not any(role[name].ready for name in ("aw", "w", "ar")), "taken from a role that is cut off"
            assert not role["b"].valid and not role["r"].valid, "an answer to a role that is cut off"
            assert ddr["b"].ready and ddr["r"].ready, "answers to a role that is cut off wait"
            return
        for name in ("b", "r"):
            assert (role[name].valid, role[name].payload) == (ddr[name].valid, ddr[name].payload)
            assert role[name].ready == ddr[name].ready

    def reports(self, fault, isolated):
        """What is reported, from what was seen before this cycle."""
        if fault and not self.fault:
            self.faults.append(fault)
            assert bool(fault & PROTOCOL) == (self.dropped or self.bad_last)
            assert not fault & ADDRESS or self.bad_burst
            assert not fault & RESPONSE or self.waited > self.patience
        elif self.fault and not isolated:
            assert fault == self.fault, "the first fault is kept"
        if not fault and not isolated and not self.fault:
            assert not self.dropped and not self.bad_last, "not reported"
            # The role's time is counted in halves of the patience.
            assert self.waited <= self.patience * 3 // 2 + 1, "kept waiting for too long"
        self.fault = fault
        # Drained is what owes nothing and is owed nothing.
        nothing = self.writes == 0 and self.reads == 0
        if self.dut.drained_o.value:
            assert nothing and self.left == 0 and not self.bursts and not any(self.given.values())
            assert not any(self.ddr[name].valid for name in self.ddr)
        self.idle = self.idle + 1 if nothing and isolated else 0
        assert self.idle < 4 or self.dut.drained_o.value

    def from_role(self, cut):
        """What the role does, for the next cycle."""
        role, ddr = self.role, self.ddr
        room = self.role_left > 0 and (not ddr["w"].valid or ddr["w"].ready)  # For a beat.
        self.dropped = not cut and any(self.asked[name] and not role[name].valid for name in self.asked)
        self.asked = {name: not cut and role[name].valid and not role[name].ready for name in self.asked}
        self.bad_last = not cut and room and role["w"].valid and role["w"].payload[2] != (self.role_left == 1)
        bad = [name for name in ("aw", "ar") if role[name].valid and not legal(*role[name].payload[1:])]
        self.bad_burst = not cut and bool(bad)
        assert not any(role[name].taken for name in bad), "an illegal burst is taken"
        waits = {
            "w": room and not role["w"].valid,
            "b": ddr["b"].valid and not role["b"].ready,
            "r": ddr["r"].valid and not role["r"].ready,
        }
        before = self.waits
        self.waits = {name: before[name] + 1 if waits[name] and not cut else 0 for name in waits}
        # What ended in this cycle may be reported yet.
        self.waited = max(*before.values(), *self.waits.values())

        if role["w"].taken:
            assert self.role_left > 0, "data is taken before its address"
            assert not self.bad_last
            self.given["w"].append(role["w"].payload[:2])
            self.role_left -= 1
        for name in ("aw", "ar"):
            if role[name].taken:
                axid, addr, axlen = role[name].payload
                self.given[name].append((axid, addr // BEAT * BEAT, axlen))
                if name == "aw":
                    self.role_left += axlen + 1
        if cut:
            self.role_left = 0


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.role = {name: Channel(dut, "s_axi", name) for name in CHANNELS}
        self.factor = 1

    async def begin(self, stall="never", ram=True):
        dut = self.dut
        for pin in dut:
            if pin._name.startswith("s_axi") and pin._name.endswith(("valid", "bready", "rready")):
                pin.value = 0
        for pin in (dut.rst_ni, dut.role_rst_ni, dut.isolate_i):
            pin.value = 0
        dut.memory_i.value = MEMORY
        Clock(dut.clk_i, 4, "ns").start()
        if ram:
            self.ram = AxiRam(AxiBus.from_prefix(dut, "m_axi"), dut.clk_i, dut.rst_ni, False, size=MEMORY)
            self.quiet(self.ram)
            # It takes more than may be under way, though answers wait.
            for channel in (
                self.ram.write_if.aw_channel,
                self.ram.write_if.w_channel,
                self.ram.write_if.b_channel,
                self.ram.read_if.ar_channel,
            ):
                channel.queue_occupancy_limit = 64
        await ClockCycles(dut.clk_i, 4)
        # The master looks at edges of its reset only.
        dut.role_rst_ni.value = 1
        await ClockCycles(dut.clk_i, 1)
        self.watch = Watch(dut)
        if ram:
            bus = AxiBus.from_prefix(dut, "s_axi")
            self.master = AxiMaster(bus, dut.clk_i, dut.role_rst_ni, False, max_burst_len=BURST_MAX)
            self.quiet(self.master)
        if stall != "never":
            self.factor = 6
            for part in (self.ram, self.master):
                for side in (part.write_if, part.read_if):
                    for name in CHANNELS:
                        if channel := getattr(side, f"{name}_channel", None):
                            channel.set_pause_generator(STALLS[stall]())
        await ClockCycles(dut.clk_i, 1)
        dut.role_rst_ni.value = 0
        await ClockCycles(dut.clk_i, 1)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 2)

    def quiet(self, part):
        for side in (part.write_if, part.read_if):
            side.log.setLevel("ERROR")

    async def let_go(self):
        """Resets the role and lets it go again."""
        dut = self.dut
        for channel in ("aw", "w", "ar"):
            self.role[channel].valid_pin.value = 0
        dut.s_axi_bready.value = dut.s_axi_rready.value = 0
        dut.role_rst_ni.value = 0
        await ClockCycles(dut.clk_i, 3)
        dut.isolate_i.value = 0
        await ClockCycles(dut.clk_i, 2)
        assert int(dut.fault_o.value) == 0

    async def drain(self):
        """Cuts the role off, and waits until all is finished."""
        dut = self.dut
        dut.isolate_i.value = 1
        limit = self.factor * (60 + self.watch.outstanding * (2 * BURST_MAX + 10))
        await ClockCycles(dut.clk_i, 1)
        while not dut.drained_o.value:
            await RisingEdge(dut.clk_i)
            limit -= 1
            assert limit, "it does not drain"
        # It stays so, whatever the role does.
        await ClockCycles(dut.clk_i, 5)
        assert dut.drained_o.value

    async def good(self, many=3):
        """A good role: what it writes is what it reads."""
        dut = self.dut
        dut.role_rst_ni.value = 1
        await ClockCycles(dut.clk_i, 2)
        for _ in range(many):
            length = random.randint(1, 1500)
            addr = random.choice([0, MEMORY - length, random.randrange(MEMORY - length)])
            data = random.randbytes(length)
            await self.master.write(addr, data)
            assert self.ram.read(addr, length) == data
            assert (await self.master.read(addr, length)).data == data
        await ClockCycles(dut.clk_i, 2)
        dut.role_rst_ni.value = 0
        await ClockCycles(dut.clk_i, 2)
        assert int(dut.fault_o.value) == 0

    # -- a role by hand; each ends early when the role is cut off
    def cut(self):
        return bool(self.dut.fault_o.value)

    async def offer(self, name, *payload):
        """Offers it until it is taken. Whether it was."""
        channel = self.role[name]
        for pin, value in zip(channel.pins, payload, strict=True):
            pin.value = value
        channel.valid_pin.value = 1
        await RisingEdge(self.dut.clk_i)
        while not channel.ready_pin.value and not self.cut():
            await RisingEdge(self.dut.clk_i)
        taken = bool(channel.ready_pin.value)
        channel.valid_pin.value = 0
        return taken

    async def beats(self, lasts):
        for last in lasts:
            if not await self.offer("w", random.getrandbits(512), random.getrandbits(64), last):
                return

    async def write(self, addr, axlen):
        """A write and its answer. Whether it was taken."""
        if not await self.offer("aw", random.randrange(4), addr, axlen):
            return False
        await self.beats(n == axlen for n in range(axlen + 1))
        await self.answer("b")
        return True

    async def read(self, addr, axlen):
        if not await self.offer("ar", random.randrange(4), addr, axlen):
            return False
        for _ in range(axlen + 1):
            await self.answer("r")
        return True

    async def answer(self, name):
        channel = self.role[name]
        channel.ready_pin.value = 1
        await RisingEdge(self.dut.clk_i)
        while not channel.valid_pin.value and not self.cut():
            await RisingEdge(self.dut.clk_i)
        channel.ready_pin.value = 0

    async def flicker(self, name):
        """Offers what is not taken, and takes it back."""
        self.role[name].valid_pin.value = 1
        await RisingEdge(self.dut.clk_i)
        self.role[name].valid_pin.value = 0
        assert not self.role[name].ready_pin.value

    async def noise(self):
        """Anything on all signals."""
        while True:
            for name, channel in self.role.items():
                if name in ("b", "r"):
                    channel.ready_pin.value = random.getrandbits(1)
                    continue
                channel.valid_pin.value = random.getrandbits(1)
                for pin in channel.pins:
                    pin.value = random.getrandbits(len(pin))
                if name != "w" and random.random() < 0.7:
                    axlen = random.randrange(16)
                    channel.pins[1].value, channel.pins[2].value = place(axlen), axlen
            await RisingEdge(self.dut.clk_i)

    async def nearly(self, mute):
        """A good role but for rare faults; with this share of the cycles it stops to take answers and to give data."""
        dut = self.dut
        offered = {name: False for name in ("aw", "w", "ar")}
        lengths = deque()
        quiet = 0
        while True:
            quiet = quiet - 1 if quiet else 2 * self.watch.patience * (random.random() < mute)
            for name in ("b", "r"):
                self.role[name].ready_pin.value = not quiet and random.random() < 0.6
            for name in offered:
                channel = self.role[name]
                if offered[name]:
                    # Taken back, once in a while.
                    offered[name] = random.random() > 0.003
                elif name == "w":
                    if lengths and not quiet and random.random() < 0.8:
                        offered[name] = True
                        last = (lengths[0] == 1) != (random.random() < 0.005)
                        for pin, value in zip(
                            channel.pins, (random.getrandbits(512), random.getrandbits(64), last), strict=True
                        ):
                            pin.value = value
                elif random.random() < 0.4:
                    offered[name] = True
                    axlen = random.choice([0, 0, 1, 15, random.randrange(16)])
                    addr = place(axlen)
                    if random.random() < 0.01:
                        axlen, addr = random.choice([(axlen + 16, addr), (axlen, addr + MEMORY), (15, addr | 0xFC0)])
                    for pin, value in zip(channel.pins, (random.randrange(4), addr, axlen), strict=True):
                        pin.value = value
                channel.valid_pin.value = offered[name]
            await RisingEdge(dut.clk_i)
            for name in offered:
                if offered[name] and self.role[name].ready_pin.value:
                    offered[name] = False
                    if name == "aw":
                        lengths.append(int(dut.s_axi_awlen.value) + 1)
                    if name == "w":
                        lengths[0] -= 1
                        if not lengths[0]:
                            lengths.popleft()

    async def until_fault(self, limit):
        while not self.cut():
            await RisingEdge(self.dut.clk_i)
            limit -= 1
            assert limit, "no fault is reported"
        return int(self.dut.fault_o.value)


def place(axlen):
    """An address at which a burst of this length may be."""
    beat = random.randrange(PAGE // BEAT - axlen)
    return random.randrange(MEMORY // PAGE) * PAGE + beat * BEAT + random.randrange(BEAT)
