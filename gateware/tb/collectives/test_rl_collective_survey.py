"""rl_collective_survey: the table names who was heard since the survey began and is there when it ends, and nobody
else; it ends when all have answered, or half of the patience is over, whatever neighbours and memory do."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, ReadOnly, RisingEdge
from runner import bench, rtl

TABLE, ROW = 1024, 16
SLVERR = 2


class Neighbour:
    """Who is at the other end of a link: answers soon, late or never, comes and goes, and says what it likes."""

    def __init__(self, rng, port):
        self.rng, self.port = rng, port
        self.kind = rng.choice(["here", "here", "here", "slow", "silent", "flaps", "was here"]) if port else "no link"
        self.up = self.kind in ("here", "was here")
        self.answers_at = rng.randrange(1, 40) if self.kind == "here" else rng.randrange(40, 400)
        self.say()

    def say(self):
        """Its own address, or one that is anybody's; any port."""
        self.mac, self.far = self.rng.getrandbits(48), self.rng.getrandbits(8)

    def cycle(self, at):
        """Whether something of it is heard in this cycle."""
        rng = self.rng
        if self.kind in ("silent", "was here", "no link"):
            return False
        if self.kind == "flaps":
            if rng.random() < 0.1:
                self.up = not self.up
                self.say()
            return rng.random() < 0.02
        if at == self.answers_at:
            self.up = True
            self.say()
        return at >= self.answers_at and rng.random() < 0.2 or at == self.answers_at

    def row(self):
        return self.mac.to_bytes(6, "big") + bytes([self.far, 1]) + bytes(8)


class Bench:
    """The survey between links and memory."""

    def __init__(self, dut, rng):
        self.dut, self.rng = dut, rng
        self.links, self.burst = dut.Links.value.to_unsigned(), dut.Burst.value.to_unsigned()
        self.bytes = dut.DataW.value.to_unsigned() // 8

    async def start(self):
        dut = self.dut
        Clock(dut.clk_i, 10, "ns").start()
        inputs = ("rst_n", "tick_", "patience_", "ports_", "begin_", "to_", "heard_", "up_", "macs_")
        for name in (*inputs, "neighbour_ports_", "aw_ready_", "w_ready_", "b_valid_", "b_resp_"):
            getattr(dut, f"{name}i").value = 0
        await ClockCycles(dut.clk_i, 3)
        await FallingEdge(dut.clk_i)
        dut.rst_ni.value = 1

    def show(self, neighbours, at):
        """What links say in this cycle: the ones that are heard."""
        dut, bits = self.dut, lambda values, width: sum(int(v) << width * l for l, v in enumerate(values))
        heard = [one.cycle(at) for one in neighbours]
        dut.heard_i.value, dut.up_i.value = bits(heard, 1), bits([one.up for one in neighbours], 1)
        dut.macs_i.value = bits([one.mac for one in neighbours], 48)
        dut.neighbour_ports_i.value = bits([one.far for one in neighbours], 8)
        return {l for l, one in enumerate(heard) if one}

    async def survey(self, neighbours, patience, breaks):
        """One survey from its beginning to its end. How many of its bursts memory has refused, and how it came out."""
        dut, rng = self.dut, self.rng
        to = TABLE * rng.randrange(1 << 30)
        dut.ports_i.value = sum(one.port << 8 * l for l, one in enumerate(neighbours))
        dut.patience_i.value, dut.to_i.value, dut.begin_i.value = patience, to, 1
        # What is heard now was under way before anybody asked.
        self.show(neighbours, -1)
        dut.heard_i.value = rng.getrandbits(self.links)
        await FallingEdge(dut.clk_i)
        dut.begin_i.value, dut.to_i.value = 0, rng.getrandbits(40)
        heard, ticks, answers, beat, answer_at, refused = set(), 0, None, 0, None, 0
        for at in range(20_000):
            now = self.show(neighbours, at)
            tick = rng.random() < 0.2
            ready = [rng.random() < 0.5, rng.random() < 0.5]
            answered = answer_at is not None and at >= answer_at
            resp = SLVERR if answered and rng.random() < breaks else 0
            dut.tick_i.value, dut.aw_ready_i.value, dut.w_ready_i.value = tick, *ready
            dut.b_valid_i.value, dut.b_resp_i.value = answered, resp
            await ReadOnly()
            assert dut.busy_o.value and not dut.end_o.value
            if answers is None:
                here = {l for l in heard if neighbours[l].up}
                wanted = {l for l, one in enumerate(neighbours) if one.port}
                if wanted <= here or ticks >= patience // 2:
                    answers = here
                assert not dut.aw_valid_o.value and not dut.w_valid_o.value, "it does not know yet"
            else:
                assert not (dut.aw_valid_o.value and dut.w_valid_o.value)
                if dut.aw_valid_o.value:
                    assert answer_at is None and beat % self.burst == 0
                    assert dut.aw_addr_o.value == to + beat * self.bytes and dut.aw_len_o.value == self.burst - 1
                if dut.w_valid_o.value:
                    table = self.table(neighbours, answers)
                    seen = dut.w_data_o.value.to_unsigned().to_bytes(self.bytes, "little")
                    assert seen == table[beat * self.bytes :][: self.bytes], f"beat {beat}"
                    assert dut.w_last_o.value == (beat % self.burst == self.burst - 1)
                    if ready[1]:
                        beat += 1
                        if beat % self.burst == 0:
                            answer_at = at + rng.randint(1, 20)
            refused += resp != 0
            last = answered and beat == TABLE // self.bytes
            await RisingEdge(dut.clk_i)
            if answered:
                answer_at = None
            heard |= now
            ticks += tick
            await FallingEdge(dut.clk_i)
            if last:
                break
        dut.b_valid_i.value = 0
        await ReadOnly()
        assert dut.end_o.value and not dut.busy_o.value and dut.failed_o.value == (refused > 0)
        await FallingEdge(dut.clk_i)
        await ReadOnly()
        assert not dut.end_o.value, "for one cycle"
        await FallingEdge(dut.clk_i)
        return refused, answers, ticks

    def table(self, neighbours, answers):
        rows = {neighbours[link].port: neighbours[link].row() for link in answers}
        return b"".join(rows.get(port, bytes(ROW)) for port in range(TABLE // ROW))


@cocotb.test()
async def the_table_has_who_was_heard_and_is_there(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    tb = Bench(dut, rng)
    await tb.start()
    whole = partly = nobody = failures = 0
    for _ in range(120):
        ports = rng.sample([1, 2, 31, 62, 63, *range(3, 31)], tb.links)
        neighbours = [Neighbour(rng, port if rng.random() < 0.9 else 0) for port in ports]
        patience = rng.choice([4, 20, 100])
        refused, answers, ticks = await tb.survey(neighbours, patience, rng.choice([0, 0, 0.2]))
        # Writing takes its time, too; asking does not take longer than half of the patience.
        there = {l for l, one in enumerate(neighbours) if one.port}
        whole, partly = whole + (answers == there != set()), partly + (set() < answers < there)
        nobody, failures = nobody + (not answers), failures + (refused > 0)
        assert not any(neighbours[link].kind in ("silent", "was here", "no link") for link in answers)
    assert min(whole, nobody, failures) >= 5 and (tb.links == 1 or partly >= 5), (whole, partly, nobody, failures)


@cocotb.test()
async def between_surveys_nothing_happens(dut):
    rng = random.Random(cocotb.RANDOM_SEED)
    tb = Bench(dut, rng)
    await tb.start()
    neighbours = [Neighbour(rng, port + 1) for port in range(tb.links)]
    for at in range(300):
        tb.show(neighbours, at)
        dut.tick_i.value, dut.b_valid_i.value = rng.getrandbits(1), rng.getrandbits(1)
        dut.b_resp_i.value, dut.to_i.value = rng.getrandbits(2), rng.getrandbits(40)
        await ReadOnly()
        quiet = (dut.busy_o, dut.end_o, dut.aw_valid_o, dut.w_valid_o)
        assert not any(signal.value for signal in quiet)
        await FallingEdge(dut.clk_i)


@pytest.mark.parametrize("links,width,burst", [(3, 64, 16), (1, 64, 4), (4, 512, 16)])
def test_rl_collective_survey(links, width, burst):
    parameters = {"Links": links, "DataW": width, "Burst": burst}
    bench("rl_collective_survey", rtl("common", "link", "collectives"), __name__, parameters)
