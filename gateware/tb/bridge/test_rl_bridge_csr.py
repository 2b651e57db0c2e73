"""rl_bridge_csr: what is written is the window or the route that is set, and what happens is counted under its name."""

import itertools
import random
import tomllib

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from protocol import CONTROL
from runner import ROOT, bench, rtl
from structs import fields, pack

MAP = tomllib.loads((ROOT / "protocol/registers.toml").read_text())
REGISTERS = {register["name"]: register for register in MAP["register"] if register["block"] == "Bridge"}
FIRST = min(register["offset"] for register in REGISTERS.values())
ANYBODY = 255
OWN = 0x02524C000007
WORDS = REGISTERS["BRG_WHAT"]["count"]
# The numbers of rl_bridge_wire's verdicts, by the counter that a frame counts in beside bridge_rx.
VERDICTS = {
    "foreign": [4, 5, 6, 7],
    "malformed": [2, 8, 9, 10, 11, 13, 14],
    "denied": [12, 15],
}
NOT_SEEN = [1, 3]  # Damaged, and of no node.


def number(name, index=0):
    """A register's, from the bridge's first one on."""
    return (REGISTERS[name]["offset"] - FIRST) // 4 + index


def bits(register, field):
    """Lowest bit and width of a field."""
    text = next(one["bits"] for one in REGISTERS[register]["fields"] if one["name"] == field)
    high, low = (text.split("-") * 2)[:2]
    return int(low), int(high) - int(low) + 1


def word_of(register, **values):
    """A register's word, whose other bits are noise."""
    word = random.getrandbits(32)
    for name, value in values.items():
        low, width = bits(register, name)
        word = word & ~(((1 << width) - 1) << low) | value << low
    return word


class Bench:
    """The gateware, with the shell's side of the registers."""

    def __init__(self, dut):
        self.dut, self.edge = dut, dut.clk_i.rising_edge

    async def start(self):
        dut = self.dut
        ports = [dut.rst_ni, dut.ctl_i, dut.full_i, dut.sets_i, dut.moves_i, dut.judged_i, dut.event_i]
        for port in [*ports, dut.transport_event_i, dut.sent_i]:
            port.value = 0
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 3)
        dut.mac_i.value = OWN
        dut.rst_ni.value = 1
        await self.edge

    async def status(self):
        word = await self.read("BRG_STATUS")
        return {one["name"]: word >> int(one["bits"]) & 1 for one in REGISTERS["BRG_STATUS"]["fields"]}

    async def write(self, name, word, index=0):
        self.dut.ctl_i.value = pack("bridge_ctl_t", write=1, at=number(name, index), word=word)
        await self.edge
        self.dut.ctl_i.value = pack("bridge_ctl_t", at=random.getrandbits(5), word=random.getrandbits(32))

    async def read(self, name, index=0):
        self.dut.ctl_i.value = pack("bridge_ctl_t", read_at=number(name, index))
        await self.edge
        return self.dut.data_o.value.to_unsigned()


@cocotb.test()
async def what_is_written_is_the_window_or_route_that_is_set(dut):
    tb = Bench(dut)
    await tb.start()
    words = [0] * WORDS
    for at in range(WORDS):
        await tb.write("BRG_WHAT", 0, at)
    for _ in range(300):
        # Each keeps its value until it is written again.
        for at in random.sample(range(WORDS), random.randint(0, WORDS)):
            words[at] = random.getrandbits(32)
            await tb.write("BRG_WHAT", words[at], at)
            await tb.edge
            assert not dut.set_o.value and not dut.end_o.value
        opens, routes, index = random.getrandbits(1), random.getrandbits(1), random.getrandbits(4)
        await tb.write("BRG_SET", word_of("BRG_SET", OPEN=opens, ROUTE=routes, INDEX=index))
        await tb.edge
        assert dut.set_o.value and not dut.end_o.value and dut.set_index_o.value == index
        assert dut.set_route_o.value == routes
        base, length = words[0] << 32 | words[1], words[2] << 32 | words[3]
        window = fields(dut.set_window_o, "window_t")
        if routes:
            assert (window["valid"], window["base"]) == (opens, words[5] & 0xFFFF)
        else:
            rights = words[5] >> 8 & 15
            wanted = {"valid": opens, "base": base, "length": length, "at": base, "peer": ANYBODY, "rights": rights}
            assert window == wanted
        assert dut.set_peer_o.value == words[4] << 16 | words[5] >> 16
        await tb.edge
        assert not dut.set_o.value, "for one cycle"
    await tb.write("BRG_END", random.getrandbits(32))
    await tb.edge
    assert dut.end_o.value and not dut.set_o.value
    await tb.edge
    assert not dut.end_o.value


@cocotb.test()
async def its_status_is_what_it_does(dut):
    tb = Bench(dut)
    await tb.start()
    for moves, full, sets in itertools.product(range(2), repeat=3):
        dut.moves_i.value, dut.full_i.value, dut.sets_i.value = moves, full, sets
        wanted = {"THERE": 1, "MOVES": moves, "FULL": full, "SETS": sets}
        status = await tb.status()
        assert {name: status[name] for name in wanted} == wanted


@cocotb.test()
async def its_status_is_what_the_firmware_asks_of_a_window_or_route(dut):
    tb = Bench(dut)
    await tb.start()
    numbers = [0, 1, 15, 16, 17, 1 << 32, 1 << 63, (1 << 64) - 1]
    seen = set()
    for _ in range(400):
        base, length = random.choice(numbers), random.choice([*numbers, 16 - random.randrange(17)])
        peer = random.choice([0, 1, 1 << 47, 1 << 40, OWN, OWN ^ 1, OWN ^ 1 << 47, random.getrandbits(48)])
        there = random.choice([0, 15, 16, 1 << 15])
        payload = [base >> 32, base, length >> 32, length, peer >> 16, (peer & 0xFFFF) << 16 | there]
        for at, word in enumerate(payload):
            await tb.write("BRG_WHAT", word & 0xFFFFFFFF, at)
        wanted = {
            "EMPTY": length == 0,
            "NOBODY": peer == 0,
            "STREAMS": base + length <= 16,
            "ASTRAY": bool(peer >> 40 & 1) or peer == OWN or there >= 16,
        }
        status = await tb.status()
        assert {name: status[name] for name in wanted} == wanted, (base, length, hex(peer), there)
        seen.update(wanted.items())
    assert len(seen) == 8


@cocotb.test()
async def what_happens_is_counted(dut):
    """Everything may happen in one cycle."""
    tb = Bench(dut)
    await tb.start()
    first = CONTROL.counters["bridge_rx"]
    names = sorted((name for name in CONTROL.counters if name.startswith("bridge_")), key=CONTROL.counters.get)
    assert CONTROL.counters[names[-1]] == first + len(names) - 1 and 2 * len(names) == REGISTERS["BRG_COUNT"]["count"]
    counts, lost = dict.fromkeys(names, 0), 0
    for _ in range(2000):
        verdict, judged, sent = random.randrange(16), random.getrandbits(1), random.getrandbits(1)
        own = {name: random.getrandbits(1) for name in ("served", "malformed", "denied", "lost")}
        others = ("restarted", "broken", "repeated", "missed", "resent", "expired", "stale", "heard", "unanswered")
        of = {name: random.getrandbits(1) for name in others}
        dut.judged_i.value, dut.verdict_i.value, dut.sent_i.value = judged, verdict, sent
        dut.event_i.value = pack("bridge_event_t", **own)
        dut.transport_event_i.value = pack("transport_event_t", **of)
        await tb.edge
        said = {name: judged and verdict in verdicts for name, verdicts in VERDICTS.items()}
        counts["bridge_rx"] += judged and verdict not in NOT_SEEN
        counts["bridge_tx"] += sent
        counts["bridge_drop_foreign"] += said["foreign"]
        counts["bridge_drop_malformed"] += said["malformed"] + own["malformed"] + of["broken"]
        counts["bridge_drop_epoch"] += of["stale"]
        counts["bridge_drop_duplicate"] += of["repeated"]
        counts["bridge_denied"] += said["denied"] + own["denied"]
        counts["bridge_resent"] += of["resent"]
        lost += own["lost"]
    dut.judged_i.value = dut.sent_i.value = dut.event_i.value = dut.transport_event_i.value = 0
    await tb.edge
    for index, name in enumerate(names):
        low, high = await tb.read("BRG_COUNT", 2 * index), await tb.read("BRG_COUNT", 2 * index + 1)
        assert high << 32 | low == counts[name] > 0, name
    assert await tb.read("BRG_LOST") == lost > 0


def test_rl_bridge_csr():
    bench("rl_bridge_csr", rtl("bridge"), __name__)
