"""Launches from the receive stream to the role and back: rl_launch, rl_role_port and rl_guard with the role `probe`."""

import random
from pathlib import Path
from types import SimpleNamespace

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Lock, RisingEdge, Timer, with_timeout
from cocotbext.axi import AxiBus, AxiRam

import golden
from runner import bench
from streams import bursts, sometimes
from wire import ENUM, frame

STATUS = ENUM["ErrorCode"]
MEMORY = 0x20_0000  # Bytes. The host's begin at 0x10_0000.
CELL = 0x10_0040
CARD = golden.Card(mac=1, owner=2, memory=MEMORY, epoch=3, claim_group=0, load_group=0)
FUEL_MAX = 1 << 12
# Arguments that each kernel of the role takes here; two it has not.
TAKES = [2, 0, 0, 0, 0, 1, 1, 0, 4, 32, 0]
BUMP, TRAP, SPIN, HANG, FLOOD, WILD, BROKEN, GREEDY, FOUR, MOST, FAR = range(len(TAKES))
ROUTE_CONTROL, ROUTE_WRITE, ROUTE_LAUNCH = 1, 2, 5
PLACES = 32
SEQ_WORD, GO_WORD = 5, 14  # Of a slot.


class Bench:
    """Drives the receive stream and plays the firmware."""

    def __init__(self, dut):
        self.dut = dut
        self.gaps = sometimes(0.0)
        self.starts = 0
        # What the firmware knows of the ring.
        self.order = list(range(PLACES))
        self.cancelled, self.released = set(), set()  # Places; slots.
        self.popped = self.kept = 0
        self.ring, self.slots = Lock(), Lock()
        self.ram = AxiRam(
            AxiBus.from_prefix(dut, "m_axi"), dut.clk_role_i, dut.rst_role_ni, reset_active_level=False, size=1 << 32
        )

    async def begin(self, net_ps=6400, role_ps=6400, ragged=False):
        dut = self.dut
        for pin in dut:
            if pin._name.endswith(("_i", "_ni")) and not pin._name.startswith("clk"):
                pin.value = 0
        dut.memory_i.value = MEMORY
        dut.role_i.value = 1
        Clock(dut.clk_net_i, net_ps, "ps").start()
        Clock(dut.clk_role_i, role_ps, "ps").start()
        if ragged:
            self.gaps = bursts(6, 3)
            # AxiRam answers at once otherwise.
            for channel in (
                self.ram.write_if.aw_channel,
                self.ram.write_if.w_channel,
                self.ram.write_if.b_channel,
                self.ram.read_if.ar_channel,
                self.ram.read_if.r_channel,
            ):
                channel.set_pause_generator(sometimes(0.5))
        await Timer(100, "ns")
        await RisingEdge(dut.clk_net_i)
        dut.rst_net_ni.value = 1
        await RisingEdge(dut.clk_role_i)
        dut.rst_role_ni.value = 1
        await ClockCycles(dut.clk_net_i, 60)
        for kernel, takes in enumerate(TAKES):
            await self.pulse("args_we_i", args_kernel_i=kernel, args_takes_i=takes, args_words_i=4 + takes)
        for kernel in range(len(TAKES), 64):
            await self.pulse("args_we_i", args_kernel_i=kernel, args_takes_i=0, args_words_i=0)
        for place in range(PLACES):
            await self.put(place, place)
        self.bound()
        dut.enable_i.value = 1
        await ClockCycles(dut.clk_net_i, 4)
        cocotb.start_soon(self.count_starts())
        cocotb.start_soon(self.tell_time())

    async def tell_time(self):
        while True:
            await Timer(1, "us")
            self.dut.time_us_i.value = int(self.dut.time_us_i.value) + 1

    async def count_starts(self):
        while True:
            await RisingEdge(self.dut.clk_role_i)
            self.starts += int(self.dut.start_write_o.value) if self.dut.start_write_o.value.is_resolvable else 0

    async def pulse(self, name, **values):
        for field, value in values.items():
            getattr(self.dut, field).value = value
        getattr(self.dut, name).value = 1
        await RisingEdge(self.dut.clk_net_i)
        getattr(self.dut, name).value = 0

    # ---- the firmware's part of the queue
    def queued(self):
        """Places of those that have not ended, oldest first."""
        head, tail = int(self.dut.head_o.value), int(self.dut.tail_o.value)
        return [at % PLACES for at in range(head, head + (tail - head) % PLACES)]

    def bound(self):
        self.dut.popped_i.value = self.popped
        self.dut.bound_i.value = (self.popped + min(16, 32 - self.kept)) % PLACES

    async def put(self, place, slot):
        self.order[place] = slot
        held = bool(await self.slot_word(slot, GO_WORD)) and slot not in self.released
        await self.pulse("order_we_i", order_at_i=place, order_slot_i=slot, order_held_i=held)

    async def freeze(self):
        await self.ring.acquire()
        self.dut.freeze_i.value = 1
        await ClockCycles(self.dut.clk_net_i, 2)
        while not self.dut.frozen_o.value:
            await RisingEdge(self.dut.clk_net_i)

    async def thaw(self):
        await RisingEdge(self.dut.clk_net_i)
        self.dut.freeze_i.value = 0
        await ClockCycles(self.dut.clk_net_i, 2)
        self.ring.release()

    async def with_word(self, word, value):
        """Places whose launch has this number, or waits for this Go."""
        return [place for place in self.queued() if await self.slot_word(self.order[place], word) == value]

    async def find(self, seq):
        return bool(await self.with_word(SEQ_WORD, seq))

    async def go(self, number):
        await self.freeze()
        for place in await self.with_word(GO_WORD, number):
            self.released.add(self.order[place])
            await self.put(place, self.order[place])
        await self.thaw()

    async def end(self, place):
        """Puts the launch in front and drops it, or stops the one that runs."""
        head = self.queued()[0]
        if place == head and self.dut.running_o.value:
            await self.pulse("stop_i")
            return
        slot = self.order[place]
        while place != head:
            await self.put(place, self.order[(place - 1) % PLACES])
            place = (place - 1) % PLACES
        await self.put(head, slot)
        self.cancelled.add(head)
        await self.pulse("drop_i")

    async def cancel(self, seq):
        await self.freeze()
        found = await self.with_word(SEQ_WORD, seq)
        for place in found:
            await self.end(place)
        await self.thaw()
        return bool(found)

    async def cancel_all(self):
        await self.freeze()
        for _ in self.queued():
            await self.end(self.queued()[0])
            await ClockCycles(self.dut.clk_net_i, 2)
        await self.thaw()

    async def frame(self, data, route=ROUTE_LAUNCH, good=True, late=False, wait_room=True):
        """Puts a frame on the receive stream. What came of a launch: `note`, or the reason why it was diverted.

        Its head comes whether there is room or not, its payload when there is.
        """
        dut = self.dut
        length = int.from_bytes(data[16:18], "big")
        words = [data[at : at + 8].ljust(8, b"\0") for at in range(0, len(data), 8)]
        for index, word in enumerate(words):
            while next(self.gaps):
                dut.rx_beat_word_i.value = 0
                await RisingEdge(dut.clk_net_i)
            while index == 4 and wait_room and not dut.room_o.value:
                dut.rx_beat_word_i.value = 0
                await RisingEdge(dut.clk_net_i)
            last = index == len(words) - 1
            dut.rx_beat_word_i.value = 1
            dut.rx_beat_first_i.value = index == 0
            dut.rx_beat_data_i.value = int.from_bytes(word, "little")
            payload = index >= 4 and index < 4 + (length + 7) // 8
            dut.rx_beat_payload_i.value = payload
            if index == 4 or last:
                dut.rx_beat_route_i.value = route
                dut.head_length_i.value = length
                dut.head_seq_i.value = int.from_bytes(data[20:24], "big")
                dut.head_addr_i.value = int.from_bytes(data[24:32], "big")
            if last and not late:
                (dut.rx_beat_done_i if good else dut.rx_beat_abort_i).value = 1
            await RisingEdge(dut.clk_net_i)
        dut.rx_beat_word_i.value = 0
        if late:
            (dut.rx_beat_done_i if good else dut.rx_beat_abort_i).value = 1
            await RisingEdge(dut.clk_net_i)
        dut.rx_beat_done_i.value = 0
        dut.rx_beat_abort_i.value = 0
        # What was shown with done.
        return self.verdict()

    def verdict(self):
        if self.dut.note_o.value:
            return "note"
        return int(self.dut.divert_reason_o.value) if self.dut.divert_o.value else None

    async def ended(self):
        """Waits for the oldest launch that has ended, and pops it."""
        dut = self.dut
        while not dut.ended_o.value:
            await RisingEdge(dut.clk_net_i)
        place = self.popped
        slot, code = self.order[place], int(dut.end_status_o.value)
        end = SimpleNamespace(ran=place not in self.cancelled, status=STATUS["Cancelled"])
        if end.ran:
            end.status = STATUS["KernelTrap"] - 1 + code if code else STATUS["Ok"]
            end.value, end.cycles = int(dut.value_o.value), int(dut.cycles_o.value)
            end.started, end.ended = int(dut.started_us_o.value), int(dut.ended_us_o.value)
        words = [await self.slot_word(slot, word) for word in range(16)]
        end.seq, end.kernel, end.credit = words[5], words[7], words[15] >> 16
        end.out_addr, end.out_length = words[10] << 32 | words[11], words[12] << 32 | words[13]
        self.cancelled.discard(place)
        self.released.discard(slot)
        self.popped = (place + 1) % PLACES
        self.bound()
        await ClockCycles(dut.clk_net_i, 2)
        return end

    async def slot_word(self, slot, word):
        async with self.slots:
            await self.pulse("slot_re_i", slot_addr_i=128 * slot + word)
            await RisingEdge(self.dut.clk_net_i)
            return int(self.dut.slot_data_o.value)

    def cell(self):
        return int.from_bytes(self.ram.read(CELL, 8), "little")


def launch(seq, kernel=BUMP, args=(CELL, 0), **fields):
    """A launch's frame. Fields are the wire's; `count` may lie."""
    count = fields.pop("count", len(args))
    payload = b"".join((arg & (2**64 - 1)).to_bytes(8, "big") for arg in args)
    return frame("Exec.Launch", dst=CARD.mac, src=CARD.owner, epoch=CARD.epoch, seq=seq, addr=kernel, payload=payload, args=count, **fields)


async def bumps(tb, seq, times=1):
    """Launches that must work."""
    for _ in range(times):
        before = tb.cell()
        assert await tb.frame(launch(seq)) == "note"
        end = await with_timeout(tb.ended(), 100, "us")
        assert (end.seq, end.status, end.value, tb.cell()) == (seq, STATUS["Ok"], before + 1, before + 1)
        seq += 1
    return seq


@cocotb.test()
async def starts_in_time(dut):
    """From a frame's first word on the receive stream to the write that starts the kernel: at most 20 cycles."""
    tb = Bench(dut)
    await tb.begin()
    for seq in range(1, 5):
        data = launch(seq, FOUR, (CELL, 0, 1, 2))
        assert len(data) == 96
        task = cocotb.start_soon(tb.frame(data, late=seq % 2 == 0))
        await RisingEdge(dut.clk_net_i)  # Word 0 shows from here on.
        cycles = 0
        while not dut.start_write_o.value:
            await RisingEdge(dut.clk_role_i)
            cycles += 1
        dut._log.info("word 0 to start: %d cycles", cycles)
        assert cycles <= 20
        assert await task == "note"
        # The kernel is none of the role's.
        assert (await tb.ended()).status == STATUS["KernelTrap"]


@cocotb.test()
@cocotb.parametrize(clocks=[(6400, 6402), (10000, 3138), (3138, 10000)])
async def each_once_in_order(dut, clocks):
    """Random launches, good ones and bad, repeated and out of turn; Go, cancel and find among them."""
    tb = Bench(dut)
    await tb.begin(*clocks, ragged=True)
    start = random.choice([0, 2**32 - 20])
    await tb.pulse("last_we_i", last_i=start)
    newest = start
    dut.enable_i.value = 0 if random.random() < 0.5 else 1
    accepted, ended, cancelled, held = {}, [], set(), {}

    async def collect():
        while True:
            ended.append(await tb.ended())

    cocotb.start_soon(collect())
    tb.ram.write(CELL, bytes(8))
    runs = 0
    for step in range(150):
        dut.enable_i.value = int(random.random() < 0.8)
        action = random.random()
        if action < 0.1:
            number = random.choice([1, 2])
            await tb.go(number)
            held = {seq: go for seq, go in held.items() if go != number}
        elif action < 0.2 and accepted:
            seq = random.choice(list(accepted))
            found = await tb.find(seq)
            gone = seq in [end.seq for end in ended] or seq in cancelled
            assert not (found and gone), "found what was gone"
            assert found or not (seq in held), "a held launch is in the queue"
        elif action < 0.25 and accepted:
            seq = random.choice(list(accepted)[-8:])
            if await tb.cancel(seq):
                cancelled.add(seq)
            held.pop(seq, None)
        elif action < 0.3:
            await tb.frame(launch((newest + 1) % 2**32), good=False)
        elif action < 0.35:
            await tb.frame(launch((newest + 1) % 2**32), route=ROUTE_WRITE)
        else:
            seq = (newest + random.choice([1, 1, 1, 1, 0, 2, -3, 2**31])) % 2**32
            kernel = random.choice([BUMP] * 10 + [len(TAKES), 2**40])
            args = (CELL, random.randrange(60)) if random.random() < 0.9 else (CELL,)
            go = random.choice([0, 0, 0, 0, 1, 2])
            region = random.choice(
                [(0, 0), (2**64 - 1, 0), (CELL, 64), (MEMORY - 64, 64), (MEMORY - 63, 64), (CELL - 65, 8), (2**63, 8),
                 (CELL, 2**40 + 1), (CELL, 2**64 - CELL)]
                if random.random() < 0.3 else [(CELL, 8)]
            )  # fmt: skip
            count = len(args) if random.random() < 0.95 else random.choice([0, 3, 33, 0x8002])
            fields = dict(out_addr=region[0], out_length=region[1], go=go, credit=seq & 0xFFFF, count=count)
            if random.random() < 0.05:
                args, fields["count"] = args + (7,), len(args)
            data = launch(seq, kernel, args, **fields)
            queued = (int(dut.tail_o.value) - tb.popped) % PLACES
            good = golden.admit(CARD, data, last=newest, takes=TAKES) == golden.Reason.ACCEPTED
            got = await tb.frame(data, late=random.random() < 0.5)
            if queued < 15:  # A full queue: its own test.
                assert (got == "note") == good, f"{got} for {seq:#x} {kernel} {args} {fields}"
            if got == "note":
                newest = seq
                accepted[seq] = go
                if go:
                    held[seq] = go
            if len(accepted) - len(ended) > 14:
                await tb.go(1)
                await tb.go(2)
                held = {}
        await ClockCycles(dut.clk_net_i, random.choice([0, 1, 5, 100]))
    dut.enable_i.value = 1
    await tb.go(1)
    await tb.go(2)
    for _ in range(20000):
        await RisingEdge(dut.clk_net_i)
        if len(ended) == len(accepted):
            break
    assert sorted(end.seq for end in ended) == sorted(accepted), "each ends once"
    ran = [end for end in ended if end.ran]
    order = [list(accepted).index(end.seq) for end in ran]
    assert order == sorted(order), "in order"
    done = [end for end in ran if end.status == STATUS["Ok"]]
    assert all(end.status == STATUS["Ok"] or end.seq in cancelled for end in ran)
    assert all(end.status == STATUS["Cancelled"] and end.seq in cancelled for end in ended if not end.ran)
    assert all(end.credit == end.seq & 0xFFFF for end in ended)
    # A stopped one may or may not have added its 1.
    stopped = len(ran) - len(done)
    assert len(done) <= tb.cell() <= len(done) + stopped
    assert tb.starts == len(ran)
    values = [end.value for end in done]
    assert values == sorted(set(values)), "each sees the one before"
    assert len(done) > 10


@cocotb.test()
async def queue_is_bounded(dut):
    """Sixteen may wait; the next is diverted as busy. 32 with the results that are kept."""
    tb = Bench(dut)
    await tb.begin()
    for seq in range(1, 17):
        assert await tb.frame(launch(seq, go=9)) == "note"
    assert await tb.frame(launch(17, go=9)) == 7
    assert len(tb.queued()) == 16
    # One from the middle makes room, though its slot is free only when it was popped.
    assert await tb.cancel(5)
    assert len(tb.queued()) == 15
    await ClockCycles(dut.clk_net_i, 3)
    assert not dut.room_o.value
    end = await tb.ended()
    assert (end.seq, end.status, end.ran) == (5, STATUS["Cancelled"], False)
    assert not await tb.find(5)
    assert await tb.frame(launch(17, go=9)) == "note"
    await tb.cancel_all()
    for seq in [s for s in range(1, 18) if s != 5]:
        assert (await tb.ended()).seq == seq
    assert len(tb.queued()) == 0
    await tb.pulse("last_we_i", last_i=0)
    await RisingEdge(dut.clk_net_i)
    assert int(dut.last_o.value) == 0
    tb.kept = 30
    tb.bound()
    await ClockCycles(dut.clk_net_i, 3)
    assert await tb.frame(launch(1, go=9)) == "note"
    assert await tb.frame(launch(2, go=9)) == "note"
    assert await tb.frame(launch(3, go=9)) == 7
    tb.kept = 0
    tb.bound()
    await tb.go(9)
    await tb.ended()
    assert (await tb.ended()).seq == 2
    dut.role_i.value = 0
    await ClockCycles(dut.clk_net_i, 3)
    assert await tb.frame(launch(3)) == 7


@cocotb.test()
async def a_head_that_came_without_room_is_kept(dut):
    """All slots that may be used are, and one of them is given back between a launch's head and its payload."""
    tb = Bench(dut)
    await tb.begin()
    for seq in range(1, 17):
        assert await tb.frame(launch(seq, go=9)) == "note"
    assert await tb.cancel(16)
    task = cocotb.start_soon(tb.frame(launch(17, FOUR, (CELL, 0, 1, 2), go=9, credit=77)))
    await ClockCycles(dut.clk_net_i, 30)
    assert not task.done()
    assert (await tb.ended()).seq == 16
    assert await task == "note"
    await RisingEdge(dut.clk_net_i)
    assert await tb.find(17)
    await tb.cancel_all()
    ends = [await tb.ended() for _ in range(16)]
    assert [end.seq for end in ends] == [*range(1, 16), 17]
    assert (ends[-1].kernel, ends[-1].credit) == (FOUR, 77)


@cocotb.test()
async def cancelled_ones_come_out_at_once(dut):
    """While the oldest runs, those behind it are cancelled in any order, and as many come in again; the ring goes round."""
    tb = Bench(dut)
    await tb.begin()
    tb.ram.write(CELL, bytes(8))
    assert await tb.frame(launch(1, BUMP, (CELL, 3500))) == "note"
    waiting, last = [], 1
    for _ in range(3):
        while len(waiting) < 15:
            last += 1
            assert await tb.frame(launch(last, go=3)) == "note"
            waiting.append(last)
        assert not dut.ended_o.value
        gone = random.sample(waiting, 13)
        for seq in gone:
            assert await tb.cancel(seq)
        for seq in gone:
            end = await tb.ended()
            assert (end.seq, end.ran, end.status) == (seq, False, STATUS["Cancelled"])
        waiting = [seq for seq in waiting if seq not in gone]
    await tb.go(3)
    ends = [await tb.ended() for _ in range(1 + len(waiting))]
    assert [(end.seq, end.status) for end in ends] == [(seq, STATUS["Ok"]) for seq in [1, *waiting]]
    assert tb.cell() == len(ends) == tb.starts


@cocotb.test()
@cocotb.parametrize(clocks=[(6400, 6402), (10000, 3138), (3138, 10000)])
async def all_arguments_arrive(dut, clocks):
    """32 arguments, more than the command queue holds; and what is sent early for a launch that is not accepted."""
    tb = Bench(dut)
    await tb.begin(*clocks)
    args = [random.getrandbits(64) for _ in range(32)]
    assert await tb.frame(launch(2, MOST, [0] * 32)) == 5
    assert await tb.frame(launch(1, MOST, args)) == "note"
    assert (await tb.ended()).status == STATUS["KernelTrap"]
    got = int(dut.u_role.u_ctrl.args_o.value)
    assert [got & (2**64 - 1), got >> 64] == args[:2]
    # Held, so that it is loaded from its slot behind another.
    tb.ram.write(CELL, bytes(8))
    assert await tb.frame(launch(2, BUMP, (CELL, 3000))) == "note"
    assert await tb.frame(launch(3, MOST, args[::-1])) == "note"
    assert await tb.frame(launch(4)) == "note"
    ends = [await tb.ended() for _ in range(3)]
    assert [end.status for end in ends] == [STATUS["Ok"], STATUS["KernelTrap"], STATUS["Ok"]]
    assert ends[0].cycles in range(3000, 3100)
    assert ends[0].ended - ends[0].started in range(3000 * clocks[1] // 10**6 - 1, 3300 * clocks[1] // 10**6 + 3)
    assert tb.cell() == 2


@cocotb.test()
async def cancelled_arguments_are_not_used(dut):
    """The arguments of a held launch are in the role already when it is cancelled; the next one brings its own."""
    tb = Bench(dut)
    await tb.begin()
    tb.ram.write(CELL, bytes(128))
    for all_of_them in (False, True):
        first = int(dut.last_o.value) + 1
        assert await tb.frame(launch(first, BUMP, (CELL + 64, 0), go=4)) == "note"
        if not all_of_them:
            assert await tb.frame(launch(first + 1, go=4)) == "note"
        await ClockCycles(dut.clk_net_i, 60)
        await (tb.cancel_all() if all_of_them else tb.cancel(first))
        assert (await tb.ended()).status == STATUS["Cancelled"]
        if all_of_them:
            assert await tb.frame(launch(first + 1, go=4)) == "note"
        await tb.go(4)
        end = await with_timeout(tb.ended(), 20, "us")
        assert (end.seq, end.status) == (first + 1, STATUS["Ok"])
    assert tb.cell() == 2
    assert not any(tb.ram.read(CELL + 64, 8))


@cocotb.test()
async def writes_come_first(dut):
    """A launch waits for the writes stored before it, not for those that keep coming."""
    tb = Bench(dut)
    await tb.begin()
    dut.stored_i.value = 3
    dut.mem_written_i.value = 255
    await ClockCycles(dut.clk_net_i, 10)
    assert await tb.frame(launch(1)) == "note"
    await ClockCycles(dut.clk_net_i, 100)
    assert tb.starts == 0
    for more in range(20):
        dut.stored_i.value = 4 + more
        dut.mem_written_i.value = (255 + more) % 256
        await ClockCycles(dut.clk_net_i, 20)
        assert tb.starts == (more >= 4), f"{more}"
    await tb.ended()


@cocotb.test()
async def a_write_that_is_judged_late_comes_first(dut):
    """A launch waits for a write before it that is not counted yet, and then for its bytes."""
    tb = Bench(dut)
    await tb.begin()
    dut.mem_write_busy_i.value = 1
    await ClockCycles(dut.clk_net_i, 10)
    assert await tb.frame(launch(1)) == "note"
    await ClockCycles(dut.clk_net_i, 100)
    assert tb.starts == 0
    dut.stored_i.value = 1
    dut.mem_write_busy_i.value = 0
    await ClockCycles(dut.clk_net_i, 100)
    assert tb.starts == 0
    dut.mem_written_i.value = 1
    await tb.ended()
    assert tb.starts == 1


@cocotb.test()
@cocotb.parametrize(ragged=[False, True])
async def bad_roles_are_stopped(dut, ragged):
    """Whatever a kernel does, its launch ends and the next one works."""
    tb = Bench(dut)
    await tb.begin(role_ps=8200, ragged=ragged)
    tb.ram.write(CELL, bytes(8))
    image = tb.ram.read(0, MEMORY + 4096)
    seq = await bumps(tb, 1)
    trap, fuel = STATUS["KernelTrap"], STATUS["KernelFuel"]
    # Kernel, arguments, fuel, status, fault: (AXI4-Lite, response|protocol|address).
    cases = [
        (TRAP, (), 0, trap, (0, 0)),
        (FAR, (), 0, STATUS["KernelRemote"], (0, 0)),
        (SPIN, (), 700, fuel, (0, 0)),
        (SPIN, (), 2**60, fuel, (0, 0)),
        (BUMP, (CELL + 4, 0), 0, trap, (0, 0)),
        (BUMP, (0x10_0000 - 8, 0), 0, trap, (0, 0)),
        (BUMP, (MEMORY, 0), 0, trap, (0, 1)),
        (BUMP, (CELL, 2000), 1000, fuel, (0, 0)),
        (HANG, (), 0, trap, (1, 0)),
        (FLOOD, (), 0, trap, (0, 4)),
        (GREEDY, (), 700, fuel, (0, 0)),
        (WILD, (MEMORY,), 0, trap, (0, 1)),
        (WILD, (2**39,), 0, trap, (0, 1)),
        (BROKEN, (0,), 0, trap, None),  # With an open port there is nothing to take back.
        (BROKEN, (1,), 0, trap, (0, 2)),
        (BROKEN, (2,), 0, trap, (0, 4)),
        (BROKEN, (3,), 0, trap, (0, 1)),
    ]
    for kernel, args, bound, status, fault in cases:
        before = tb.cell()
        assert await tb.frame(launch(seq, kernel, args, fuel=bound)) == "note"
        end = await with_timeout(tb.ended(), 200, "us")
        assert (end.seq, end.status, end.value) == (seq, status, 0), (kernel, args, hex(end.status))
        if status == fuel:
            assert end.cycles == min(bound, FUEL_MAX)
        if fault is not None:
            assert (int(dut.fault_axil_o.value), int(dut.fault_guard_o.value)) == fault, (kernel, args)
        assert tb.cell() == before
        seq = await bumps(tb, seq + 1)
    # A cancel.
    for kernel, args in [(SPIN, ()), (BUMP, (CELL, 10**9)), (FLOOD, ())]:
        assert await tb.frame(launch(seq, kernel, args)) == "note"
        assert await tb.frame(launch(seq + 1)) == "note"
        await ClockCycles(dut.clk_net_i, 200)
        assert await tb.cancel(seq)
        end = await with_timeout(tb.ended(), 100, "us")
        assert (end.seq, end.status, end.ran) == (seq, STATUS["Cancelled"], True)
        assert end.cycles in range(50, 400)
        assert (await tb.ended()).status == STATUS["Ok"]
        seq += 2
    # Nothing else was touched, but what flood writes without strobes and wild's cells in memory.
    cell = slice(CELL, CELL + 8)
    after = bytearray(tb.ram.read(0, MEMORY + 4096))
    after[cell] = image[cell]
    assert after == image


@cocotb.test()
async def isolated_for_configuration(dut):
    """The role is cut off, held in reset and let go again; arguments sent before do not count."""
    tb = Bench(dut)
    await tb.begin(role_ps=5000)
    tb.ram.write(CELL, bytes(8))
    seq = await bumps(tb, 1)
    # Held: its arguments are in the role already.
    assert await tb.frame(launch(seq, go=4)) == "note"
    assert await tb.frame(launch(seq + 1, SPIN, ())) == "note"
    await ClockCycles(dut.clk_net_i, 40)
    dut.isolate_i.value = 1
    dut.hold_i.value = 1
    while not dut.isolated_o.value:
        await RisingEdge(dut.clk_role_i)
    await ClockCycles(dut.clk_role_i, 3)
    assert not dut.role_rst_no.value
    dut.isolate_i.value = 0
    dut.hold_i.value = 0
    await ClockCycles(dut.clk_role_i, 40)
    assert dut.role_rst_no.value
    await tb.go(4)
    assert (await tb.ended()).status == STATUS["KernelTrap"]
    assert tb.cell() == 1, "it was not started with arguments that are gone"
    # The next spins, until the role is taken from it.
    await ClockCycles(dut.clk_net_i, 200)
    assert dut.running_o.value
    dut.isolate_i.value = 1
    end = await tb.ended()
    assert (end.seq, end.status) == (seq + 1, STATUS["Cancelled"])
    while not dut.isolated_o.value:
        await RisingEdge(dut.clk_role_i)
    # A start while it is held ends at once.
    assert await tb.frame(launch(seq + 2)) == "note"
    assert (await with_timeout(tb.ended(), 10, "us")).status == STATUS["Cancelled"]
    dut.isolate_i.value = 0
    await ClockCycles(dut.clk_net_i, 100)
    await bumps(tb, seq + 3, 2)


def test_rl_launch():
    tb = Path(__file__).parent
    bench("rl_launch_tb", [tb / "rl_launch_tb.sv"], __name__, visible=["rl_role_ctrl.args_o"])
