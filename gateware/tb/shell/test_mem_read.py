"""rl_mem_read, rl_ddr_read and rl_tx: the owner's reads and the firmware's fetches leave as frames with DDR's bytes, in
order, at full rate; and the other things that are read from DDR or sent."""

import random
from collections import Counter
from pathlib import Path

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, FallingEdge, Lock, ReadOnly
from cocotb.utils import get_sim_time
from cocotbext.axi import AxiBus, AxiRamRead
from rx_stream import RxStream, RxFrame
from runner import bench, rtl
from slave import ReadySlave
from streams import CLOCK_PAIRS, bursts, never, pause_channels, sometimes
from wire import CONST, Frame, frame

TB = Path(__file__).parent
PERIOD = 6400
MEMORY = 1 << 22
HOSTS = CONST.ROLE_PRIVATE  # Where the hosts' memory starts.
MAC = 0x02_11_22_33_44_55
OWNER = 0x02_AA_BB_CC_DD_EE
EPOCH = 0x1234
REASON = {"malformed": 2, "length": 3, "address": 4}


class Bench:
    def __init__(self, dut):
        self.dut = dut
        self.frames = []  # That were sent: time of the first word, of the last, and bytes.
        self.cpu = Lock()  # Of the processor's writes.

    async def start(self, periods=(PERIOD, PERIOD), tx_pause=never):
        dut = self.dut
        for handle in (
            *(dut.rx_beat, dut.flush, dut.fw_valid, dut.mem_write_busy, dut.stored, dut.written_gray, dut.tx_ready),
            *(dut.cpu_write, dut.cpu_addr, dut.cpu_wdata, dut.send, dut.send_slot, dut.send_bytes, dut.stream),
            *(dut.announce_valid, dut.announce, dut.stream_job, dut.halt),
            *(dut.stream_stop, dut.words_ready, dut.digest_req_valid, dut.digest_req_beat, dut.rst_net_n),
            *(dut.rst_ddr_n, dut.rst_cfg_n, dut.axi_arready, dut.axi_rvalid, dut.axi_rdata, dut.axi_rresp),
        ):
            handle.value = 0
        dut.memory.value = MEMORY
        Clock(dut.clk_net, periods[0], "ps").start()
        Clock(dut.clk_ddr, periods[1], "ps").start()
        Clock(dut.clk_cfg, 10000, "ps").start()
        await ClockCycles(dut.clk_net, 4)
        await ClockCycles(dut.clk_ddr, 4)
        await FallingEdge(dut.clk_net)
        for reset in (dut.rst_net_n, dut.rst_ddr_n, dut.rst_cfg_n):
            reset.value = 1
        self.rx_beat = RxStream(dut.clk_net, dut.rx_beat, None)
        cocotb.start_soon(self.receive(tx_pause()))
        await self.rx_beat.idle(20)
        await self.template(0, bytes(8), frame("InputConfirm.ReadData", dst=OWNER, src=MAC, epoch=EPOCH))

    async def template(self, which, command, head):
        """The firmware writes a template: a word for the memory's side, and a frame's head."""
        await self.cpu_write(3 * 2048 + 64 * which, command + head[:32])

    async def receive(self, pause):
        """Takes the frames that are sent."""
        dut = self.dut
        valid, ready, edge = dut.tx_valid, dut.tx_ready, dut.clk_net.rising_edge
        data, began, taking = b"", None, None
        while True:
            before, taking = taking, not next(pause)
            if taking != before:
                ready.value = taking
            await edge
            if taking and valid.value:
                began = began or get_sim_time("ps")
                keep = int(dut.tx_keep.value)
                size = len(dut.tx_keep)
                data += int(dut.tx_data.value).to_bytes(size, "little")[: keep.bit_count()]
                assert keep and keep + 1 & keep == 0, "ones from bit 0 on"
                assert keep.bit_count() == size or dut.tx_last.value
                if dut.tx_last.value:
                    self.frames.append((began, get_sim_time("ps"), data))
                    data, began = b"", None

    @property
    def counts(self):
        """Events since the reset."""
        dut = self.dut
        ports = {
            **{"frames": dut.frame_count, "bytes": dut.frame_bytes, "reads": dut.read_count},
            **{"read_bytes": dut.read_bytes_sum, "drops": dut.drop_count, "kept": dut.kept_count},
        }
        return Counter({name: int(port.value) for name, port in ports.items()})

    async def sent(self, count):
        """The frames sent, when there are so many."""
        for _ in range(60_000):
            if len(self.frames) >= count:
                break
            await FallingEdge(self.dut.clk_net)
        await ClockCycles(self.dut.clk_net, 20)
        assert len(self.frames) == count
        return [data for _, _, data in self.frames]

    def ram(self, share):
        """A DDR behind cocotbext-axi's model, with random contents, whose channels pause."""
        bus = AxiBus.from_prefix(self.dut, "axi")
        ram = AxiRamRead(bus.read, self.dut.clk_ddr, self.dut.rst_ddr_n, reset_active_level=False, size=MEMORY)
        cocotb.start_soon(pause_channels(self.dut.clk_ddr, (ram.ar_channel, ram.r_channel), share))
        ram.write(0, random.randbytes(MEMORY))
        return ram

    async def fetch(self, addr, length, head=bytes(32), to_cpu=0, slot=0):
        """The firmware has something fetched."""
        dut = self.dut
        await FallingEdge(dut.clk_net)
        await self.template(1, (length << 48 | to_cpu << 47 | slot << 46 | addr).to_bytes(8, "big"), head)
        dut.fw_valid.value = 1
        await ReadOnly()
        while not dut.fw_ready.value:
            await FallingEdge(dut.clk_net)
            await ReadOnly()
        await FallingEdge(dut.clk_net)
        dut.fw_valid.value = 0

    async def cpu_write(self, at, data):
        """The processor writes bytes into the transmit buffer; both are multiples of 4."""
        async with self.cpu:
            for i in range(0, len(data), 4):
                self.dut.cpu_write.value = 1
                self.dut.cpu_addr.value = (at + i) // 4
                self.dut.cpu_wdata.value = int.from_bytes(data[i : i + 4], "big")
                await FallingEdge(self.dut.clk_net)
            self.dut.cpu_write.value = 0

    async def cpu_read(self, at, length):
        out = b""
        for i in range(0, length + 3, 4):
            self.dut.cpu_addr.value = (at + i) // 4
            await FallingEdge(self.dut.clk_net)
            out += int(self.dut.cpu_rdata.value).to_bytes(4, "big")
        return out[:length]

    async def send(self, slot, data):
        """The firmware sends a frame, which it pads, when its slot is free."""
        dut = self.dut
        while int(dut.slot_busy.value) >> slot & 1:
            await FallingEdge(dut.clk_net)
        data = data.ljust(60, b"\0")
        await self.cpu_write(2048 * slot, data + bytes(-len(data) % 4))
        dut.send.value, dut.send_slot.value, dut.send_bytes.value = 1, slot, len(data)
        await FallingEdge(dut.clk_net)
        dut.send.value = 0

    async def announce(self, dst, seq):
        dut = self.dut
        dut.announce.value = dst << 32 | seq
        dut.announce_valid.value = 1
        await ReadOnly()
        while not dut.announce_ready.value:
            await FallingEdge(dut.clk_net)
            await ReadOnly()
        await FallingEdge(dut.clk_net)
        dut.announce_valid.value = 0


def read(seq, addr, length, payload=None):
    payload = length.to_bytes(4, "big") + bytes(4) if payload is None else payload
    return RxFrame("read", payload, fields={"seq": seq, "addr": addr, "src": OWNER, "epoch": EPOCH})


def answer(seq, addr, data):
    return frame("InputConfirm.ReadData", dst=OWNER, src=MAC, epoch=EPOCH, seq=seq, addr=addr, payload=data)


def compare(got, expected):
    """Fails with the first frame that differs, in words."""
    for at, (one, other) in enumerate(zip(got, expected, strict=True)):
        if one != other:
            where = next((i for i, (a, b) in enumerate(zip(one, other)) if a != b), min(len(one), len(other)))
            raise AssertionError(f"frame {at} differs in byte {where}: {one.hex(' ')} for {other.hex(' ')}")


def some_length(bulk):
    return min(bulk, random.choice([1, 7, 8, 9, 28, 63, 64, 65, bulk - 1, bulk, random.randint(1, bulk)]))


@cocotb.test(timeout_time=500, timeout_unit="us")
@cocotb.parametrize(periods=CLOCK_PAIRS, stall=[0.1, 0.6])
async def reads_are_answered_with_the_bytes(dut, periods, stall):
    tb = Bench(dut)
    ram = tb.ram(stall)
    await tb.start(periods, lambda: sometimes(stall / 2))
    bulk = dut.Bulk.value.to_unsigned()
    frames, answers = [], []
    for seq in range(60):
        length = some_length(bulk)
        addr = random.choice([HOSTS, MEMORY - length, random.randint(HOSTS, MEMORY - length)])
        frames.append(read(seq, addr, length))
        answers.append(answer(seq, addr, ram.read(addr, length)))
        if random.random() < 0.3:
            frames.append(RxFrame(random.choice(["control", "write", "image", "drop"]), random.randbytes(24)))
        if random.random() < 0.1:
            frames.append(RxFrame("read", bytes(8), abort=True))
    await tb.rx_beat.send(frames, bursts(100, 100))
    compare(await tb.sent(len(answers)), answers)
    assert dut.idle.value and not dut.failed.value
    total = sum(len(data) for data in answers)
    payload = sum(len(Frame.parse(data).payload) for data in answers)
    assert tb.counts == Counter(frames=60, bytes=total, reads=60, read_bytes=payload, drops=0, kept=0)


@cocotb.test(timeout_time=500, timeout_unit="us")
async def control_gets_what_is_to_be_refused(dut):
    tb = Bench(dut)
    tb.ram(0)
    await tb.start()
    bulk = dut.Bulk.value.to_unsigned()
    memory = MEMORY
    cases = [
        (HOSTS, 0, None, "length"),
        (HOSTS, bulk + 1, None, "length"),
        (HOSTS, (1 << 32) - 1, None, "length"),
        (HOSTS, 1 << 16, None, "length"),
        (0, 0, None, "length"),
        (HOSTS - 1, 1, None, "address"),
        (0, 8, None, "address"),
        (memory - bulk + 1, bulk, None, "address"),
        (memory, 1, None, "address"),
        (memory - 1, 2, None, "address"),
        (1 << 40 | HOSTS, 8, None, "address"),
        ((1 << 64) - 1, 8, None, "address"),
        (HOSTS, 8, b"", "malformed"),
        (HOSTS, 8, bytes(7), "malformed"),
        (HOSTS, 8, bytes(9), "malformed"),
        (0, 8, bytes(16), "malformed"),
        (HOSTS, 1, None, None),
        (HOSTS, bulk, None, None),
        (memory - bulk, bulk, None, None),
        (memory - 1, 1, None, None),
    ]
    random.shuffle(cases)
    seen = []

    async def watch():
        while True:
            await ReadOnly()
            if tb.rx_beat.ending:
                seen.append(int(dut.divert_reason.value) if dut.divert.value else None)
            await FallingEdge(dut.clk_net)

    cocotb.start_soon(watch())
    for seq, (addr, length, payload, _) in enumerate(cases):
        await tb.rx_beat.send([read(seq, addr, length, payload)])
        await tb.rx_beat.idle(random.randint(0, 5))
    assert seen == [REASON.get(why) for *_, why in cases]
    good = [seq for seq, (*_, why) in enumerate(cases) if why is None]
    assert [Frame.parse(data).seq for data in await tb.sent(len(good))] == good


@cocotb.test(timeout_time=500, timeout_unit="us")
async def a_read_waits_for_the_writes_before_it(dut):
    tb = Bench(dut)
    ram = tb.ram(0)
    await tb.start()

    def count(stored, written):
        dut.stored.value, dut.written_gray.value = stored % 256, written % 256 ^ written % 256 >> 1

    for stored in (1, 80, 200, 256, 300):
        count(stored - 1, stored - 1)
        await tb.rx_beat.idle(10)
        # A write whose number is being looked up is not counted yet.
        dut.mem_write_busy.value = 1
        await tb.rx_beat.send([read(stored, HOSTS, 8)])
        await tb.rx_beat.idle(40)
        count(stored, stored - 1)
        dut.mem_write_busy.value = 0
        await tb.rx_beat.idle(10)
        # Writes that come later are none of its business.
        count(stored + 5, stored - 1)
        await tb.rx_beat.idle(100)
        before = len(tb.frames)
        ram.write(HOSTS, stored.to_bytes(8, "little"))
        count(stored + 5, stored)
        assert (await tb.sent(before + 1))[-1] == answer(stored, HOSTS, stored.to_bytes(8, "little"))


@cocotb.test(timeout_time=500, timeout_unit="us")
async def reads_without_room_are_dropped_and_flushed_ones_forgotten(dut):
    tb = Bench(dut)
    ram = tb.ram(0)
    await tb.start()
    room = dut.Reads.value.to_unsigned()
    dut.mem_write_busy.value = 1
    await tb.rx_beat.send([read(seq, HOSTS + seq, 1) for seq in range(room + 40)])
    await tb.rx_beat.idle(10)
    dropped = tb.counts["drops"]
    assert 38 <= dropped <= 40 and not dut.idle.value
    dut.mem_write_busy.value = 0
    kept = room + 40 - dropped
    got = await tb.sent(kept)
    compare(got, [answer(seq, HOSTS + seq, ram.read(HOSTS + seq, 1)) for seq in range(kept)])
    dut.mem_write_busy.value = 1
    await tb.rx_beat.send([read(seq, HOSTS, 1) for seq in range(50)])
    dut.flush.value = 1
    await tb.rx_beat.idle()
    dut.flush.value = 0
    dut.mem_write_busy.value = 0
    await tb.rx_beat.idle(5)
    assert dut.idle.value
    await tb.rx_beat.send([read(99, HOSTS, 3)])
    assert (await tb.sent(kept + 1))[-1] == answer(99, HOSTS, ram.read(HOSTS, 3))


@cocotb.test(timeout_time=500, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.5])
async def all_that_is_sent_takes_turns(dut, stall):
    """The firmware's frames, its fetches, announcements and the owner's reads at the same time: each kind in order, each
    frame whole, none starves."""
    tb = Bench(dut)
    ram = tb.ram(stall)
    await tb.start(tx_pause=lambda: sometimes(stall))
    bulk = dut.Bulk.value.to_unsigned()
    template = frame("Discovery.Announce", dst=1, src=MAC, seq=2, reason=3, unit=77, payload=b"", digest=bytes(range(32)))
    await tb.cpu_write(2 * 2048, template)
    expected = {"fw": [], "fetch": [], "announce": [], "read": []}
    count = 25

    async def firmware():
        for at in range(count):
            data = random.randbytes(random.choice([32, 40, 59, 60, 61, 64, 100, 1504]))
            data = data[:12] + b"\x80\xec" + data[14:]
            expected["fw"].append(data.ljust(60, b"\0"))
            await tb.send(at % 2, data)

    async def fetches():
        for at in range(count):
            length = some_length(bulk)
            addr = random.randint(0, MEMORY - length)
            offset, seq, flags = random.getrandbits(64), random.getrandbits(32), random.choice([0, 1])
            data = frame(
                "Result.Data",
                **{"dst": OWNER + at, "src": MAC, "epoch": at, "seq": seq, "addr": offset, "flags": flags},
                payload=ram.read(addr, length),
            )
            expected["fetch"].append(data)
            await tb.fetch(addr, length, data)

    async def announcements():
        for at in range(count):
            dst = random.getrandbits(48)
            expected["announce"].append(
                frame("Discovery.Announce", dst=dst, src=MAC, seq=at, reason=3, unit=77, digest=bytes(range(32)))
            )
            await tb.announce(dst, at)

    tasks = [cocotb.start_soon(task()) for task in (firmware, fetches, announcements)]
    reads = []
    for seq in range(count):
        length = some_length(bulk)
        addr = random.randint(HOSTS, MEMORY - length)
        reads.append(read(seq, addr, length))
        expected["read"].append(answer(seq, addr, ram.read(addr, length)))
    await tb.rx_beat.send(reads)
    for task in tasks:
        await task
    got = await tb.sent(4 * count)
    of = {0x80EC: "fw", 0x80CB: "fetch", 0x80EF: "announce", 0x80DB: "read"}
    # The firmware's are random but for their EtherType.
    kinds = [of[int.from_bytes(data[12:14], "big")] for data in got]
    for kind, frames in expected.items():
        compare([data for at, data in zip(kinds, got, strict=True) if at == kind], frames)
    # While all have something to send, each gets its turn, though the processor takes up to 400 cycles for a frame.
    assert set(kinds[: 2 * count]) == set(expected)
    assert tb.counts["bytes"] == sum(map(len, got))
    assert tb.counts["reads"] == count, "what the firmware fetches is no read"


@cocotb.test(timeout_time=500, timeout_unit="us")
async def the_firmware_reads_what_it_has_fetched(dut):
    tb = Bench(dut)
    ram = tb.ram(0.3)
    await tb.start(tx_pause=lambda: sometimes(0.3))
    bulk = dut.Bulk.value.to_unsigned()
    reads = [read(seq, HOSTS + 64 * seq, 64) for seq in range(20)]
    task = cocotb.start_soon(tb.rx_beat.send(reads, bursts(20, 40)))
    for at in range(12):
        slot, length = at % 2, some_length(bulk)
        addr = random.randint(0, MEMORY - length)
        done = int(dut.kept_count.value)
        await tb.fetch(addr, length, to_cpu=1, slot=slot)
        while dut.kept_count.value == done:
            # It may write meanwhile, elsewhere; but no processor does that in each cycle.
            await tb.cpu_write(2048 * (1 - slot), random.randbytes(4))
            await FallingEdge(dut.clk_net)
        await FallingEdge(dut.clk_net)
        assert await tb.cpu_read(2048 * slot + 32, length) == ram.read(addr, length)
    await task
    assert len(await tb.sent(20)) == 20
    assert dut.idle.value


@cocotb.test(timeout_time=500, timeout_unit="us")
@cocotb.parametrize(length=[8960, 1472, 64])
async def reads_stream_at_full_rate(dut, length):
    """From a memory that answers 30 cycles later, or 40 with wide words, into a port that is always ready."""
    if length > dut.Bulk.value.to_unsigned():
        return
    size = len(dut.tx_keep)
    tb = Bench(dut)
    slave = ReadySlave(dut, latency=30 if size == 8 else 40)
    slave.memory[:MEMORY] = random.randbytes(MEMORY)
    await tb.start()
    count = 40
    # At any address and, where a lane less is read, at the start of a beat.
    addrs = [random.randint(HOSTS, MEMORY - length) & (-64 if at % 4 == 0 else -1) for at in range(count)]
    await tb.rx_beat.send([read(seq, addr, length) for seq, addr in enumerate(addrs)])
    got = await tb.sent(count)
    compare(got, [answer(seq, addr, slave.read(addr, length)) for seq, addr in enumerate(addrs)])
    # From the end of the first frame to that of the last.
    cycles = (tb.frames[-1][1] - tb.frames[0][1]) // PERIOD
    words = (count - 1) * -(-(CONST.HEADER_END + length) // size)
    dut._log.info(
        f"{8 * size} bits: {count} x {length} bytes: {words / cycles:.3f} words a cycle, "
        f"{cycles / (count - 1):.2f} cycles each, bursts of up to {max(slave.bursts)} beats, {slave.under_way} under way"
    )
    if size == 8:
        assert words / cycles >= (0.95 if length == 1472 else 0.5)
    elif length == 64:
        # A read has eight cycles for its head.
        assert cycles <= 10 * (count - 1)
    else:
        # Of narrower words a cycle is left between two frames, where the wire leaves 24 bytes.
        assert (words + (count - 1) * (size < 64)) / cycles >= 0.99
        assert size < 64 or slave.under_way >= 64


@cocotb.test(timeout_time=500, timeout_unit="us")
@cocotb.parametrize(stall=[0.0, 0.5])
async def a_stream_and_the_digest_read_beside_fetches(dut, stall):
    tb = Bench(dut)
    ram = tb.ram(stall)
    await tb.start(CLOCK_PAIRS[3])
    clock = dut.clk_ddr

    async def words(count, ready):
        out = b""
        while len(out) < 8 * count:
            taking = random.random() < ready
            dut.words_ready.value = taking
            await ReadOnly()
            if taking and dut.words_valid.value:
                assert bool(dut.words_last.value) == (len(out) // 64 == count // 8 - 1)
                out += int(dut.words_data.value).to_bytes(8, "little")
            await FallingEdge(dut.clk_cfg)
        dut.words_ready.value = 0
        for _ in range(20):
            await FallingEdge(dut.clk_cfg)
            assert not dut.words_valid.value
        return out

    async def streams():
        for count in (1, 2, 3, 17, 60):
            first = random.randrange(MEMORY // 64 - 100)
            await FallingEdge(clock)
            dut.stream_job.value = first << 22 | first + count - 1
            dut.stream.value = 1
            task = cocotb.start_soon(words(8 * count, random.choice([0.2, 1])))
            while not dut.stream_done.value:
                await FallingEdge(clock)
            dut.stream.value = 0
            assert await task == ram.read(64 * first, 64 * count), count

    asked, digested = [], []

    async def digest():
        for _ in range(200):
            beat = random.randrange(MEMORY // 64)
            asked.append(ram.read(64 * beat, 64))
            dut.digest_req_beat.value = beat
            dut.digest_req_valid.value = 1
            await ReadOnly()
            while not dut.digest_req_ready.value:
                await FallingEdge(clock)
                await ReadOnly()
            await FallingEdge(clock)
            dut.digest_req_valid.value = 0
            for _ in range(random.choice([0, 0, 10])):
                await FallingEdge(clock)

    async def take_beats():
        while True:
            await FallingEdge(clock)
            if dut.digest_data_valid.value:
                digested.append(int(dut.digest_data.value).to_bytes(64, "little"))

    await FallingEdge(clock)
    cocotb.start_soon(take_beats())
    tasks = [cocotb.start_soon(streams()), cocotb.start_soon(digest())]
    frames = [(seq, random.randint(HOSTS, MEMORY - 64), random.randint(1, 64)) for seq in range(60)]
    await tb.rx_beat.send([read(*fields) for fields in frames], bursts(100, 200))
    got = await tb.sent(len(frames))
    compare(got, [answer(seq, addr, ram.read(addr, length)) for seq, addr, length in frames])
    for task in tasks:
        await task
    await ClockCycles(clock, 200)
    assert digested == asked


@cocotb.test(timeout_time=500, timeout_unit="us")
async def a_stream_stops(dut):
    tb = Bench(dut)
    tb.ram(0)
    await tb.start()
    dut.words_ready.value = 1
    await FallingEdge(dut.clk_ddr)
    dut.stream_job.value = 1000
    dut.stream.value = 1
    await ClockCycles(dut.clk_ddr, 300)
    await FallingEdge(dut.clk_ddr)
    dut.stream_stop.value = 1
    for _ in range(100):
        await FallingEdge(dut.clk_ddr)
        assert not dut.axi_arvalid.value or not dut.stream_done.value
    assert dut.stream_done.value
    dut.stream.value = dut.stream_stop.value = 0
    await ClockCycles(dut.clk_cfg, 300)  # What was on its way still comes.
    assert not dut.words_valid.value


@cocotb.test(timeout_time=500, timeout_unit="us")
async def after_an_error_nothing_is_sent(dut):
    tb = Bench(dut)
    memory = ReadySlave(dut)
    await tb.start()
    await tb.rx_beat.send([read(1, HOSTS, 50)])
    await tb.sent(1)
    assert not dut.failed.value
    memory.failing.add(HOSTS + 0x140)
    # The frame's first beat is good, as is the frame behind it.
    await tb.rx_beat.send([read(2, HOSTS + 0x13F, 64), read(3, HOSTS, 50)])
    words = 0
    for _ in range(600):
        await FallingEdge(dut.clk_net)
        words += int(dut.tx_valid.value)
    assert dut.failed.value and words == 0


@cocotb.test(timeout_time=500, timeout_unit="us")
async def after_an_error_digest_and_port_get_nothing(dut):
    tb = Bench(dut)
    memory = ReadySlave(dut)
    await tb.start()
    memory.failing.add(64 * 1000)
    dut.words_ready.value = 1
    await FallingEdge(dut.clk_ddr)
    # The digest's beat is good, and comes behind the bad one.
    dut.digest_req_beat.value = 2000
    dut.digest_req_valid.value = 1
    dut.stream_job.value = 1000 << 22 | 1010
    dut.stream.value = 1
    words = beats = 0
    for _ in range(600):
        await FallingEdge(dut.clk_ddr)
        if dut.failed.value:
            beats += int(dut.digest_data_valid.value)
        words += int(dut.words_valid.value)
    assert dut.failed.value and (words, beats) == (0, 0)


@cocotb.test(timeout_time=500, timeout_unit="us")
async def halted_it_ends_its_frame_and_begins_no_other(dut):
    tb = Bench(dut)
    ReadySlave(dut)
    await tb.start()
    await tb.rx_beat.send([read(seq, HOSTS, 60) for seq in range(1, 5)])
    while not dut.tx_valid.value:
        await FallingEdge(dut.clk_net)
    dut.halt.value = 1
    lasts = 0
    for _ in range(600):
        await FallingEdge(dut.clk_net)
        lasts += int(dut.tx_valid.value and dut.tx_last.value and dut.tx_ready.value)
    assert lasts <= 1 and not dut.tx_valid.value
    dut.halt.value = 0
    await tb.sent(4)


# What the processor fetches is never so long, and a model in Python takes long for it.
JUMBO = ["reads_stream_at_full_rate/length=8960", "reads_are_answered_with_the_bytes/periods=1/stall=0.1"]


SIZES = [(64, 1472, 512), (64, 64, 128), (128, 1472, 512), (256, 1472, 128), (512, 1472, 512)]


@pytest.mark.parametrize("width,bulk,reads", SIZES)
def test_mem_read(width, bulk, reads):
    parameters = {"DataW": width, "Bulk": bulk, "Reads": reads}
    bench("mem_read_bench", [*rtl("common", "shell"), TB / "mem_read_bench.sv"], __name__, parameters)


def test_jumbo_reads():
    parameters = {"DataW": 512, "Bulk": 8960, "Reads": 128}
    bench("mem_read_bench", [*rtl("common", "shell"), TB / "mem_read_bench.sv"], __name__, parameters, JUMBO)
