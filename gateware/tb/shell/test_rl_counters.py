"""rl_counters: every event once, at the highest rates, across the 32-bit border, and from 0 after a reset."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from runner import bench, rtl
from wire import CONST, COUNTER

RX_EVENTS = "word bytes frame check foreign truncated version kind auth epoch".split()
DROPS = RX_EVENTS[3:]
PORT_EVENTS = "frame bytes check truncated foreign full".split()
# Of a frame, at most every 5 cycles; but each may come together with the others.
PER_FRAME = {
    "write": "writes",
    "write_beyond": "drop_window",
    "chunk": "image_chunks",
    "chunk_malformed": "drop_malformed",
    "read": "reads",
    "answered": "announces",
    "tx_frame": "tx_frames",
    "read_full": "drop_queue",
}
SWEEP = 84
MEMORIES = ("u_sweep", "u_read")


def port_event(**fields) -> int:
    """port_event_t."""
    value = 0
    for name in PORT_EVENTS:
        value = value << (14 if name == "bytes" else 1) | fields.get(name, 0)
    return value


def rx_event(**fields) -> int:
    """rx_event_t."""
    value = 0
    for name in RX_EVENTS:
        value = value << (7 if name == "bytes" else 1) | fields.get(name, 0)
    return value


def silence(dut):
    dut.rx_i.value = 0
    dut.port_rx_i.value = dut.port_tx_valid_i.value = dut.port_tx_bytes_i.value = 0
    for name in (*PER_FRAME, "rx_overflow", "tx_word", "write_duplicate", "chunk_duplicate"):
        getattr(dut, f"{name}_i").value = 0
    for name in ("tx_bytes", "write_bytes", "read_bytes"):
        getattr(dut, f"{name}_i").value = 0


async def start(dut):
    silence(dut)
    dut.index_i.value = 0
    dut.asked_i.value = 0
    for memory in MEMORIES:
        for word in getattr(dut, memory).mem:
            word.value = random.getrandbits(32)
    dut.rst_net_ni.value = 0
    Clock(dut.clk_net_i, 10, "ns").start()
    for _ in range(3):
        await RisingEdge(dut.clk_net_i)
    dut.rst_net_ni.value = 1
    await RisingEdge(dut.clk_net_i)


async def pass_cycles(dut, count):
    for _ in range(count):
        await RisingEdge(dut.clk_net_i)


async def read(dut, counter: str) -> int:
    value = 0
    for high in (1, 0):
        dut.index_i.value = 2 * COUNTER[counter] + high
        await pass_cycles(dut, 1)
        dut.asked_i.value = 1
        await pass_cycles(dut, 1)
        dut.asked_i.value = 0
        await pass_cycles(dut, 1)
        value = value << 32 | int(dut.data_o.value)
        await pass_cycles(dut, 1)
        assert dut.data_o.value == 0, "it shows what it is asked for, once"
    return value


async def check(dut, expected: dict[str, int]):
    silence(dut)
    await pass_cycles(dut, 2 * SWEEP)
    for counter in COUNTER:
        assert await read(dut, counter) == expected.get(counter, 0), counter


def one_cycle(dut, number: int, count: dict[str, int], rate: float, busy: bool):
    """Sets all events of a cycle and adds them up."""
    silence(dut)
    frame = number % 5 == 0 and random.random() < rate
    word = random.random() < rate
    drop = random.choice(DROPS) if frame and random.random() < 0.7 else None
    fields = {"word": word, "bytes": random.randint(1, 8) if word else 0, "frame": frame}
    if drop:
        fields[drop] = 1
    dut.rx_i.value = rx_event(**{name: int(value) for name, value in fields.items()})
    count["rx_words"] += word
    count["rx_bytes"] += fields["bytes"]
    count["rx_frames"] += frame
    if drop:
        count[f"drop_{drop}"] += 1
    if random.random() < rate:
        dut.tx_word_i.value = 1
        count["tx_words"] += 1
    if random.random() < rate * 0.8:
        dut.rx_overflow_i.value = 1
        count["drop_queue"] += 1
    if number % 5 == 3 and random.random() < rate:
        for name in ("write_duplicate", "chunk_duplicate"):
            getattr(dut, f"{name}_i").value = 1
            count["drop_duplicate"] += 1
    if number % 8 == 1:
        for name, counter in PER_FRAME.items():
            if random.random() < rate:
                getattr(dut, f"{name}_i").value = 1
                count[counter] += 1
                if name in ("write", "read", "tx_frame"):
                    # As many long frames as a sweep has time for, but reads may all ask for the most.
                    bound = CONST.BULK_JUMBO if name == "read" else 64
                    amount = bound if busy else random.randint(1, bound)
                    sum_of = "tx_bytes" if name == "tx_frame" else f"{name}_bytes"
                    getattr(dut, f"{sum_of}_i").value = amount
                    count[sum_of] += amount


@cocotb.test()
@cocotb.parametrize(rate=[1.0, 0.4])
async def each_event_counts_once(dut, rate):
    await start(dut)
    count = dict.fromkeys(COUNTER, 0)
    for number in range(3000):
        one_cycle(dut, number, count, rate, busy=rate == 1.0)
        await RisingEdge(dut.clk_net_i)
    await check(dut, count)


@cocotb.test()
async def sums_take_the_longest_frames(dut):
    await start(dut)
    count = dict.fromkeys(COUNTER, 0)
    for amount in (9018, 16383, 1, 8960):
        for name, counter in (("write", "writes"), ("read", "reads"), ("tx_frame", "tx_frames")):
            sum_of = "tx_bytes" if name == "tx_frame" else f"{name}_bytes"
            getattr(dut, f"{name}_i").value = 1
            getattr(dut, f"{sum_of}_i").value = amount
            count[counter] += 1
            count[sum_of] += amount
        await RisingEdge(dut.clk_net_i)
        silence(dut)
        await pass_cycles(dut, amount // 8)
    await check(dut, count)


@cocotb.test()
async def the_carry_goes_to_the_high_half(dut):
    """From just below 2^32 on, and across the whole 64 bits."""
    # The registers are at 0, and so must the counters' low bits be: as many as the counter's register has.
    cycles = 5000
    starts = dict.fromkeys(COUNTER, (1 << 32) - (1 << 17))
    starts |= dict.fromkeys(("rx_frames", "drop_kind", "reads"), (1 << 32) - (1 << 9))
    starts |= {"rx_words": (1 << 32) - (1 << 12), "rx_bytes": (1 << 32) - (1 << 15)}
    await start(dut)
    await pass_cycles(dut, SWEEP)
    for memory in MEMORIES:
        mem = getattr(dut, memory).mem
        for name, number in COUNTER.items():
            mem[2 * number].value = starts[name]
            mem[2 * number + 1].value = 0xFFFFFFFF if number % 2 else 7
    await pass_cycles(dut, SWEEP)
    counted = {"rx_frames": 0, "drop_kind": 0, "rx_bytes": 0, "rx_words": 0, "read_bytes": 0, "reads": 0, "tx_bytes": 0}
    before = {name: await read(dut, name) for name in counted}
    assert before["rx_frames"] == 7 << 32 | starts["rx_frames"]
    for number in range(cycles):
        frame = number % 5 == 0
        dut.rx_i.value = rx_event(word=1, bytes=8, frame=int(frame), kind=int(frame))
        dut.read_i.value = int(frame)
        dut.read_bytes_i.value = 1472
        counted["rx_words"] += 1
        counted["rx_bytes"] += 8
        for name in ("rx_frames", "drop_kind", "reads"):
            counted[name] += frame
        counted["read_bytes"] += 1472 * frame
        await RisingEdge(dut.clk_net_i)
    silence(dut)
    await pass_cycles(dut, 2 * SWEEP)
    for name, amount in counted.items():
        assert not amount or starts[name] + amount >= 1 << 32, f"{name} does not come to the border"
        assert await read(dut, name) == (before[name] + amount) % (1 << 64), name


@cocotb.test()
async def reading_never_sees_half_a_write(dut):
    """A counter that is read all the time, while the sweep writes it, only ever goes up."""
    await start(dut)
    await pass_cycles(dut, 2 * SWEEP)
    dut.rx_i.value = rx_event(word=1, bytes=8)
    dut.index_i.value = 2 * COUNTER["rx_words"]
    dut.asked_i.value = 1
    await pass_cycles(dut, 3)
    last = int(dut.data_o.value)
    for _ in range(500):
        await RisingEdge(dut.clk_net_i)
        value = int(dut.data_o.value)
        assert last <= value <= last + SWEEP
        last = value


@cocotb.test()
async def other_ports_count_with_port_0(dut):
    """A frame of another port waits while one of port 0 is counted, and is counted once. A card with one port has none."""
    await start(dut)
    ports = int(dut.Ports.value) > 1
    count = dict.fromkeys(COUNTER, 0)
    counters = {"foreign": "drop_foreign", "truncated": "drop_truncated", "check": "drop_check", "full": "drop_queue"}
    received = sent = None  # What waits to be counted: bytes, and an event.
    for number in range(4000):
        silence(dut)
        if received is None and random.random() < 0.2:
            received = random.randint(64, 1518), random.choice([None, *counters])
        if sent is None and random.random() < 0.2:
            sent = random.randint(64, 1518)
        busy = number % 5 == 0, number % 6 == 0  # Port 0's frames.
        if busy[0]:
            dut.rx_i.value = rx_event(frame=1)
            count["rx_frames"] += 1
        if busy[1]:
            dut.tx_frame_i.value = 1
            dut.tx_bytes_i.value = 60
            count["tx_frames"] += 1
            count["tx_bytes"] += 60
        if received:
            bytes_, event = received
            dut.port_rx_i.value = port_event(frame=1, bytes=bytes_, **({event: 1} if event else {}))
            if not busy[0]:
                received = None
                count["rx_frames"] += ports
                count["rx_words"] += -(-bytes_ // 8) * ports
                count["rx_bytes"] += bytes_ * ports
                if event:
                    count[counters[event]] += ports
        if sent:
            dut.port_tx_valid_i.value = 1
            dut.port_tx_bytes_i.value = sent
            if not busy[1]:
                count["tx_frames"] += ports
                count["tx_words"] += -(-sent // 8) * ports
                count["tx_bytes"] += sent * ports
                sent = None
        await RisingEdge(dut.clk_net_i)
        # Frames of the wire are longer apart.
        silence(dut)
        await pass_cycles(dut, 9)
    await check(dut, count)


@pytest.mark.parametrize("ports", [1, 3])
def test_rl_counters(ports):
    bench("rl_counters", rtl("common", "shell"), __name__, {"Ports": ports}, visible=["rl_ram.mem"])
