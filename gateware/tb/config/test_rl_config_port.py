"""rl_config_port: the network and the local channel share the port, and every configuration has an end."""

import random
from collections import deque
from pathlib import Path

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, RisingEdge, with_timeout

from runner import bench
from streams import PAUSES

PATIENCE_W = 9
MEMORY, STOPPED, TIMEOUT, BROKEN = 0xFD, 0xFE, 0xFF, 3
BEAT, BEAT_WORDS = 64, 16
UNDER_WAY = 4  # Beats that memory may still owe when it has to stop.

# Periods of net, ddr and cfg in picoseconds.
CLOCKS = [(6400, 3334, 10000), (10000, 6402, 3138), (3138, 10000, 6400)]


class Bench:
    """The firmware, the memory, the local channel, and what is configured."""

    def __init__(self, dut, pause="never"):
        self.dut = dut
        self.pause = pause
        # What is configured.
        self.taken = []  # Since the last start.
        self.starts = self.stops = 0
        self.expected = None  # Words until done; None: it never says.
        self.fail_after = None  # Words until an error.
        self.answer_after = 0  # Cycles that an answer takes.
        self.holds = False  # Answers stay until the next start.
        self.deaf = False
        self.deaf_after = None  # Words until it is.
        self.idle = 0  # Cycles since the last word or start, and what that was at the last stop.
        self.idle_at_stop = None
        # The memory.
        self.image = {}  # Its beats, by their addresses.
        self.beats = 0  # Asked for, since the last start.
        self.short = None  # It gives only so many.
        self.stuck = False  # It owes what it was asked for.

    async def begin(self, clocks):
        dut = self.dut
        for pin in dut:
            if pin._name.endswith(("_i", "_ni")) and not pin._name.startswith("clk"):
                pin.value = 0
        domains = [(dut.clk_net_i, dut.rst_net_ni), (dut.clk_ddr_i, dut.rst_ddr_ni), (dut.clk_cfg_i, dut.rst_cfg_ni)]
        for (clock, _), period in zip(domains, clocks, strict=True):
            Clock(clock, period, "ps").start()
        for clock, _ in domains:
            await ClockCycles(clock, 4)
        for clock, reset in domains:
            await RisingEdge(clock)
            reset.value = 1
        for clock, _ in domains:
            await ClockCycles(clock, 4)
        cocotb.start_soon(self.target())
        cocotb.start_soon(self.memory())

    async def target(self):
        """What is configured: takes words after a start, and says how it went."""
        dut, pauses = self.dut, PAUSES[self.pause]()
        answer = None  # Cycles until it comes, and whether it is good.
        while True:
            dut.cfg_ready_i.value = ready = not self.deaf and not next(pauses)
            await RisingEdge(dut.clk_cfg_i)
            self.idle += 1
            if not self.holds:
                dut.cfg_done_i.value = 0
                dut.cfg_error_i.value = 0
            if ready and dut.cfg_valid_o.value:
                self.idle = 0
                self.taken.append(int(dut.cfg_data_o.value))
                self.deaf = self.deaf or len(self.taken) == self.deaf_after
                if len(self.taken) in (self.expected, self.fail_after):
                    answer = (self.answer_after, len(self.taken) != self.fail_after)
            if answer and answer[0] == 0:
                if answer[1]:
                    dut.cfg_done_i.value = 1
                    dut.cfg_role_i.value = self.taken[0] & 0xFFFF
                else:
                    dut.cfg_error_i.value = 1
                    dut.cfg_code_i.value = BROKEN
                answer = None
            elif answer:
                answer = (answer[0] - 1, answer[1])
            if dut.cfg_start_o.value:
                dut.cfg_done_i.value = 0
                dut.cfg_error_i.value = 0
                answer = None
                self.taken = []
                self.idle = 0
                self.starts += 1
            if dut.cfg_stop_o.value:
                answer = None
                self.stops += 1
                self.idle_at_stop = self.idle

    async def memory(self):
        """What rl_ddr_read does for the port: asks for the beats of the job, and puts what comes into the queue."""
        dut, pauses = self.dut, PAUSES[self.pause]()
        while True:
            await RisingEdge(dut.clk_ddr_i)
            if not dut.stream_o.value:
                continue
            next_beat, last = int(dut.stream_first_o.value), int(dut.stream_last_o.value)
            asking, owed, words = True, deque(), deque()
            while asking or owed or words:
                if dut.stream_stop_o.value:
                    asking = False
                dut.word_i.value = dut.commit_i.value = 0
                if words and not self.stuck and not next(pauses):
                    dut.word_i.value = 1
                    dut.data_i.value = words.popleft()
                    dut.commit_i.value = not words
                    dut.last_beat_i.value = number & 0x3FFFFF == last
                elif owed and not words:
                    number = owed.popleft()
                    beat = self.image[number]
                    words.extend(int.from_bytes(beat[at : at + 8], "little") for at in range(0, BEAT, 8))
                if asking and dut.room_o.value and len(owed) + bool(words) < UNDER_WAY and self.beats != self.short:
                    owed.append(next_beat)
                    self.beats += 1
                    asking = next_beat & 0x3FFFFF != last
                    next_beat += 1
                if self.beats == self.short:
                    asking = False
                await RisingEdge(dut.clk_ddr_i)
                assert dut.stream_o.value, "the job holds until all of it has come"
            dut.word_i.value = dut.commit_i.value = 0
            await ClockCycles(dut.clk_ddr_i, 1)
            dut.stream_done_i.value = 1
            while dut.stream_o.value:
                await RisingEdge(dut.clk_ddr_i)
            dut.stream_done_i.value = 0

    def place(self, words, source=None):
        """Puts words into memory, and other bytes after the last of them."""
        if source is None:
            source = random.getrandbits(33)
        data = b"".join(word.to_bytes(4, "big") for word in words)
        data += random.randbytes(-len(data) % BEAT)
        self.image = {source + at // BEAT: data[at : at + BEAT] for at in range(0, len(data), BEAT)}
        return source

    async def configure_begin(self, words, source=None):
        dut = self.dut
        self.beats = 0
        dut.source_i.value = first = self.place(words, source)
        last = len(words) - 1
        dut.last_i.value = (first + last // BEAT_WORDS) % (1 << 22)
        dut.last_words_i.value = last % BEAT_WORDS
        await self.pulse(dut.clk_net_i, dut.start_i)
        await RisingEdge(dut.clk_net_i)
        assert dut.busy_o.value
        assert not dut.done_o.value
        assert not dut.failed_o.value

    async def pulse(self, clock, port):
        port.value = 1
        await RisingEdge(clock)
        port.value = 0

    async def end(self, limit_us=400):
        """Waits until the firmware sees an end: the role, or the negative code."""
        dut = self.dut

        async def wait():
            while dut.busy_o.value:
                await RisingEdge(dut.clk_net_i)

        await with_timeout(wait(), limit_us, "us")
        assert dut.done_o.value != dut.failed_o.value
        assert not dut.frame_valid_o.value, "words of this image are left for the next"
        return int(dut.role_id_o.value) if dut.done_o.value else -int(dut.error_o.value)

    async def configure(self, count, source=None):
        """A configuration as it should be."""
        words = some_words(count)
        self.expected, self.fail_after = count, None
        await self.configure_begin(words, source)
        assert await self.end() == words[0] & 0xFFFF
        assert self.taken == words
        assert self.beats == len(self.image)

    # -- the local channel
    async def local_begin(self):
        """Asks for the port, and has it in the first cycle in which it is granted."""
        dut = self.dut
        dut.local_busy_i.value = 1
        await RisingEdge(dut.clk_cfg_i)
        while not dut.local_granted_o.value:
            await RisingEdge(dut.clk_cfg_i)
        await self.pulse(dut.clk_cfg_i, dut.local_start_i)

    async def local_send(self, words):
        dut = self.dut
        for word in words:
            dut.local_valid_i.value = 1
            dut.local_data_i.value = word
            await RisingEdge(dut.clk_cfg_i)
            while not dut.local_ready_o.value:
                await RisingEdge(dut.clk_cfg_i)
        dut.local_valid_i.value = 0

    async def local_configure(self, words):
        """All of it. What was taken."""
        dut = self.dut
        await self.local_begin()
        self.expected, self.fail_after = len(words), None
        await self.local_send(words)
        while not dut.cfg_done_i.value:
            assert dut.local_granted_o.value
            await RisingEdge(dut.clk_cfg_i)
        taken = self.taken
        dut.local_busy_i.value = 0
        return taken


def some_words(count):
    return [random.getrandbits(32) for _ in range(count)]


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(pause=list(PAUSES), clocks=CLOCKS)
async def words_reach_the_port_in_order(dut, pause, clocks):
    it = Bench(dut, pause)
    await it.begin(clocks)
    counts = [1, 2, 3, 15, 16, 17, 24, 32, random.randint(33, 120)]
    for number, count in enumerate(counts):
        it.holds = bool(number % 2)
        it.answer_after = random.choice([0, 0, 1, 7])
        await it.configure(count)
    assert (it.starts, it.stops) == (len(counts), 0)


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(ddr_ps=[1334, 40000])
async def one_follows_the_other_at_once(dut, ddr_ps):
    """Even where memory's clock is far from the others, none takes what another has left."""
    it = Bench(dut)
    await it.begin((3138, ddr_ps, 3334))
    for count in range(1, 40, 3):
        await it.configure(count)
        # An early end leaves the most.
        it.fail_after = 1
        await it.configure_begin(some_words(count))
        assert await it.end() == -BROKEN


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def an_image_may_lie_anywhere(dut):
    """The last beat's number is compared in part only."""
    it = Bench(dut)
    await it.begin(CLOCKS[0])
    for source in [0, (1 << 22) - 2, (3 << 22) - 1, (1 << 34) - 4]:
        await it.configure(60, source)


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(clocks=CLOCKS[:2])
async def a_word_goes_out_every_cycle(dut, clocks):
    """If memory gives a word of 64 bits in the time of two: more of its cycles than 8 for each beat are not needed."""
    it = Bench(dut)
    await it.begin((clocks[0], 3138, clocks[2]))
    words = some_words(400)
    it.expected = len(words)
    await it.configure_begin(words)
    while not it.taken:
        await RisingEdge(dut.clk_cfg_i)
    await ClockCycles(dut.clk_cfg_i, 300)
    assert 299 <= len(it.taken) <= 302
    await it.end()
    assert it.taken == words


@cocotb.test(timeout_time=8, timeout_unit="ms")
@cocotb.parametrize(pause=["never", "ragged"])
async def every_failure_is_told_and_forgotten(dut, pause):
    it = Bench(dut, pause)
    await it.begin(CLOCKS[0])
    for count in [2, 24, 101]:
        # It says no at the first word, in the middle, or at the end, at once or later.
        for it.fail_after in [1, count // 2, count]:
            it.expected = None
            it.answer_after = random.randrange(4) if it.fail_after == count else 0
            await it.configure_begin(some_words(count))
            assert await it.end() == -BROKEN
        it.answer_after = 0
        await it.configure(count)
        stops = it.stops
        # It never says.
        it.expected = None
        words = some_words(count)
        await it.configure_begin(words)
        assert await it.end() == -TIMEOUT
        assert it.taken == words
        assert abs(it.idle_at_stop - (1 << PATIENCE_W)) <= 2
        # It takes nothing any more.
        it.deaf = True
        await it.configure_begin(some_words(count))
        assert await it.end() == -TIMEOUT
        assert not it.taken
        assert abs(it.idle_at_stop - (1 << PATIENCE_W)) <= 2
        it.deaf = False
        # It is content with fewer, for a cycle: an answer before the last word is none.
        it.expected = count - 1
        it.deaf_after = count - 1
        words = some_words(count)
        await it.configure_begin(words)
        assert await it.end() == -TIMEOUT
        assert it.taken == words[:-1]
        it.deaf, it.deaf_after = False, None
        await it.configure(count)
        assert it.stops == stops + 3


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def slow_words_are_no_failure(dut):
    """What counts is the time since the last word, not since the start."""
    it = Bench(dut)
    await it.begin(CLOCKS[0])
    words = some_words(9)
    it.expected, it.answer_after = len(words), (1 << PATIENCE_W) - 10
    it.deaf = True
    await it.configure_begin(words)
    for it.deaf_after in range(1, len(words) + 1):
        await ClockCycles(dut.clk_cfg_i, (1 << PATIENCE_W) - 30)
        it.deaf = False
        while not it.deaf:
            await RisingEdge(dut.clk_cfg_i)
    assert await it.end() == words[0] & 0xFFFF
    assert it.taken == words
    assert it.stops == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def memory_that_ends_early_is_a_failure(dut):
    it = Bench(dut)
    await it.begin(CLOCKS[0])
    for it.short in [1, 2]:
        it.expected = None
        words = some_words(40)
        await it.configure_begin(words)
        assert await it.end() == -TIMEOUT
        assert it.taken == words[: it.short * BEAT_WORDS]
    it.short = None
    await it.configure(8)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def an_answer_before_the_last_word_is_none(dut):
    it = Bench(dut)
    await it.begin(CLOCKS[0])
    it.short, it.answer_after = 1, 20
    it.expected = BEAT_WORDS
    await it.configure_begin(some_words(40))
    assert await it.end() == -TIMEOUT


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(clocks=CLOCKS)
async def the_firmware_can_stop_at_any_time(dut, clocks):
    it = Bench(dut)
    await it.begin(clocks)
    results = set()
    for wait in [*range(6), *range(6, 200, 7)]:
        words = some_words(60)
        it.expected = len(words)
        starts, stops = it.starts, it.stops
        await it.configure_begin(words)
        await ClockCycles(dut.clk_net_i, wait)
        await it.pulse(dut.clk_net_i, dut.stop_i)
        result = await it.end()
        assert result in (-STOPPED, words[0] & 0xFFFF), wait
        assert it.stops - stops <= it.starts - starts == 1
        results.add(result == -STOPPED)
        if result == -STOPPED:
            assert it.taken == words[: len(it.taken)]
        else:
            assert it.taken == words
    assert results == {False, True}
    # A stop when nothing runs means nothing, also to what comes next.
    await it.pulse(dut.clk_net_i, dut.stop_i)
    await it.configure(12)


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(clocks=CLOCKS)
async def a_stop_asks_memory_for_no_more(dut, clocks):
    it = Bench(dut)
    await it.begin(clocks)
    it.expected = None
    await it.configure_begin(some_words(2000))
    while len(it.taken) < 100:
        await RisingEdge(dut.clk_cfg_i)
    await it.pulse(dut.clk_net_i, dut.stop_i)
    assert await it.end() == -STOPPED
    assert it.beats < 60
    # What memory owes is waited for, and goes nowhere.
    it.stuck = True
    await it.configure_begin(some_words(100))
    while not it.beats:
        await RisingEdge(dut.clk_ddr_i)
    await it.pulse(dut.clk_net_i, dut.stop_i)
    await ClockCycles(dut.clk_net_i, (1 << PATIENCE_W) // 2)
    assert dut.busy_o.value
    assert 1 <= it.beats <= UNDER_WAY
    it.stuck = False
    assert await it.end() == -STOPPED
    assert not it.taken
    await it.configure(40)


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(clocks=CLOCKS)
async def dead_memory_is_not_waited_for_for_ever(dut, clocks):
    """A configuration, the local channel and the next start have an end, and what comes late begins nothing."""
    it = Bench(dut)
    await it.begin(clocks)
    for stops in (True, False):
        it.stuck = True
        starts, owed = it.starts, some_words(100)
        await it.configure_begin(owed)
        while not it.beats:
            await RisingEdge(dut.clk_ddr_i)
        if stops:
            await it.pulse(dut.clk_net_i, dut.stop_i)
        assert await it.end() == -(STOPPED if stops else TIMEOUT)
        # The next one fails at once.
        await it.pulse(dut.clk_net_i, dut.start_i)
        await ClockCycles(dut.clk_net_i, 3)
        assert (dut.busy_o.value, dut.failed_o.value, dut.error_o.value) == (0, 1, MEMORY)
        # The local channel has the port, also while what is late comes.
        local = some_words(30)
        assert await it.local_configure(local) == local
        await it.local_begin()
        it.stuck = False
        it.expected = len(local)
        await it.local_send(local)
        while not dut.cfg_done_i.value:
            await RisingEdge(dut.clk_cfg_i)
        assert it.taken == local
        dut.local_busy_i.value = 0
        while dut.stream_o.value:
            await RisingEdge(dut.clk_ddr_i)
        await ClockCycles(dut.clk_net_i, 20)
        assert not dut.busy_o.value and not dut.frame_valid_o.value
        assert it.starts - starts <= 3
        await it.configure(40)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def a_second_start_means_nothing(dut):
    it = Bench(dut, "ragged")
    await it.begin(CLOCKS[0])
    words = some_words(50)
    it.expected = len(words)
    await it.configure_begin(words)
    while dut.busy_o.value:
        await it.pulse(dut.clk_net_i, dut.start_i)
        await ClockCycles(dut.clk_net_i, 7)
        if it.beats == len(it.image) and len(it.taken) > 40:
            break
    assert await it.end() == words[0] & 0xFFFF
    assert it.taken == words
    assert it.starts == 1


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_network_waits_for_the_local_channel(dut):
    it = Bench(dut)
    await it.begin(CLOCKS[0])
    local, words = some_words(50), some_words(30)
    it.expected = len(local)
    await it.local_begin()
    await it.configure_begin(words)
    await it.local_send(local[:20])
    # However long it takes: the network's time does not run meanwhile.
    await ClockCycles(dut.clk_cfg_i, 3 << PATIENCE_W)
    assert dut.local_o.value
    assert dut.busy_o.value
    await it.local_send(local[20:])
    while not dut.cfg_done_i.value:
        await RisingEdge(dut.clk_cfg_i)
    assert it.taken == local
    assert it.starts == 1
    it.expected = len(words)
    dut.local_busy_i.value = 0
    assert await it.end() == words[0] & 0xFFFF
    assert it.taken == words
    assert not dut.local_o.value
    assert (it.starts, it.stops) == (2, 0)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_local_channel_waits_for_the_network(dut):
    it = Bench(dut, "ragged")
    await it.begin(CLOCKS[0])
    words, local = some_words(120), some_words(40)
    it.expected = len(words)
    await it.configure_begin(words)
    while len(it.taken) < 10:
        await RisingEdge(dut.clk_cfg_i)
    channel = cocotb.start_soon(it.local_configure(local))
    while not dut.done_o.value:
        assert it.starts == 1 or it.taken == local[: len(it.taken)]
        # It asks, but it is not programming.
        assert not dut.local_o.value or it.starts == 2
        await RisingEdge(dut.clk_cfg_i)
    assert int(dut.role_id_o.value) == words[0] & 0xFFFF
    assert await channel == local
    await it.end()
    assert (it.starts, it.stops) == (2, 0)


@cocotb.test(timeout_time=2, timeout_unit="ms")
@cocotb.parametrize(pause=["never", "ragged"])
async def the_local_channel_cannot_disturb(dut, pause):
    """Whatever it does without being asked: as long as the network has the port, nothing of it gets through."""
    it = Bench(dut, pause)
    await it.begin(CLOCKS[1])
    rude = True

    async def disturb():
        pins = [dut.local_busy_i, dut.local_start_i, dut.local_stop_i, dut.local_valid_i]
        while True:
            # While it has the port it keeps quiet, as it must when it does not ask for it.
            quiet = not rude or bool(dut.local_granted_o.value)
            for pin in pins:
                pin.value = not quiet and random.random() < 0.5
            dut.local_data_i.value = 0xDEADBEEF
            await RisingEdge(dut.clk_cfg_i)
            assert not (dut.local_ready_o.value and not dut.local_granted_o.value)

    for count in [20, 70]:
        words = some_words(count)
        it.expected, it.answer_after = count, 20
        await it.configure_begin(words)
        while not it.taken:
            await RisingEdge(dut.clk_cfg_i)
        rude = True
        task = cocotb.start_soon(disturb())
        while not dut.cfg_done_i.value:
            await RisingEdge(dut.clk_cfg_i)
        rude = False
        assert await it.end() == words[0] & 0xFFFF
        assert it.taken == words
        task.cancel()
    assert (it.starts, it.stops) == (2, 0)


@cocotb.test(timeout_time=4, timeout_unit="ms")
@cocotb.parametrize(clocks=CLOCKS)
async def both_at_once_take_turns(dut, clocks):
    """Both ask at all distances of a few cycles: nobody's words go to the other's configuration."""
    it = Bench(dut)
    await it.begin(clocks)
    it.expected = 24
    first = set()
    for wait in range(24):
        words, local = some_words(24), some_words(24)
        starts = it.starts
        order = []

        async def channel():
            await ClockCycles(dut.clk_cfg_i, wait)
            taken = await it.local_configure(local)
            order.append("local")
            return taken

        task = cocotb.start_soon(channel())
        await it.configure_begin(words)
        while not dut.done_o.value:
            await RisingEdge(dut.clk_net_i)
        order.append("network")
        assert await it.end() == words[0] & 0xFFFF
        assert await task == local, wait
        assert it.taken == (words if order[0] == "local" else local), wait
        assert it.starts == starts + 2
        first.add(order[0])
        await ClockCycles(dut.clk_cfg_i, 4)
    assert first == {"local", "network"}
    assert it.stops == 0


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def the_local_channel_may_give_up(dut):
    """Its stop is passed on; and without one the next start begins anew."""
    it = Bench(dut)
    await it.begin(CLOCKS[0])
    for stop in [True, False]:
        it.expected = 100
        stops = it.stops
        await it.local_begin()
        words = some_words(20)
        await it.local_send(words)
        await RisingEdge(dut.clk_cfg_i)
        assert it.taken == words
        if stop:
            await it.pulse(dut.clk_cfg_i, dut.local_stop_i)
            await ClockCycles(dut.clk_cfg_i, 2)
        dut.local_busy_i.value = 0
        assert it.stops == stops + stop
        await it.configure(16)


@cocotb.test(timeout_time=2, timeout_unit="ms")
async def what_is_stopped_before_it_has_the_port_never_begins(dut):
    """What the local channel has configured meanwhile stays."""
    it = Bench(dut)
    await it.begin(CLOCKS[0])
    local = some_words(20)
    await it.local_begin()
    await it.configure_begin(some_words(30))
    await ClockCycles(dut.clk_cfg_i, 20)
    await it.pulse(dut.clk_net_i, dut.stop_i)
    # It does not wait for the local channel, which may hold the port for ever.
    assert await it.end() == -STOPPED
    assert dut.local_granted_o.value
    it.expected = len(local)
    await it.local_send(local)
    while not dut.cfg_done_i.value:
        await RisingEdge(dut.clk_cfg_i)
    dut.local_busy_i.value = 0
    assert it.taken == local
    assert (it.starts, it.stops) == (1, 0)
    await it.configure(16)


def test_rl_config_port():
    tb = Path(__file__).parent
    bench("rl_config_port_tb", [tb / "rl_config_port_tb.sv"], __name__, {"PatienceW": PATIENCE_W})
