"""rl_transport: payloads arrive once and in order, whatever a network loses, repeats and reorders, whoever is reset.

Two of them face each other (rl_transport_tb). Each seed draws how they are set, how bad the network is and who is
reset when; then the network heals, and everything that was given after the last reset must arrive.
`TRANSPORT_SEEDS` says how many seeds run, and `COCOTB_RANDOM_SEED` with which the first begins.
"""

import os
import random
from pathlib import Path

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import Timer
from runner import bench

HERE = Path(__file__).parent
SEEDS = int(os.environ.get("TRANSPORT_SEEDS", "50"))
FIRST_SEED = int(os.environ.get("COCOTB_RANDOM_SEED", "1"))
CYCLES = 1500  # Of a stretch with one set of rates.
EVENTS = ["broken", "repeated", "missed", "resent", "expired", "restarted"]


class Pair:
    """Two ends, their users, and the network between them."""

    def __init__(self, dut, seed):
        self.dut, self.draw = dut, random.Random(seed)
        self.peers = dut.Peers.value.to_unsigned()
        self.epoch = [self.draw.choice([1, 1 << 31, (1 << 32) - 3]), self.draw.randrange(1, 1 << 30)]
        slots = dut.Slots.value.to_unsigned()
        for name, value in {
            "seed_i": seed,
            "tick_cycles_i": self.draw.choice([5, 20, 60]),
            "first_i": self.draw.choice([1, 0, (1 << 32) - self.draw.randrange(1, 60), 1 << 31]),
            "window_i": self.draw.choice([1, 2, slots, slots]),
            "credit_i": self.draw.choice([1, 3, 2 * slots, 1000]),
            "consumes_i": self.draw.random() < 0.5,
            "ack_every_i": self.draw.choice([1, 2, 4]),
            "ack_delay_i": self.draw.choice([0, 1, 4]),
            "rto_i": self.draw.choice([4, 8, 30]),
            "asks_seldom_i": seed % 2,
        }.items():
            getattr(dut, name).value = value
        # A link so slow that what is sent again is acknowledged meanwhile.
        self.crawls = self.draw.random() < 0.2
        if self.crawls:
            dut.tick_cycles_i.value, dut.rto_i.value = 5, 4
        self.resets = 0
        self.cut_off = [0, 0]  # Frames that an end had taken, and not given to its sink, when it was reset.

    def set_rates(self, bad):
        """Draws what users and network do; a network that is not bad loses nothing."""
        draw = self.draw
        some = lambda most: draw.choice([0, draw.randrange(most)])  # noqa: E731
        for name, value in {
            "idle_i": some(250),
            "pause_i": some(200),
            "keep_i": some(200),
            "long_i": draw.choice([0, 40, 255]),
            "loss_i": some(77) if bad else 0,
            "repeat_i": some(60) if bad else 0,
            "stop_i": some(200),
            "delay_i": draw.choice([0, 10, 60, 200]) if bad else 0,
        }.items():
            getattr(self.dut, name).value = value
        if self.crawls:
            self.dut.idle_i.value, self.dut.long_i.value, self.dut.stop_i.value, self.dut.delay_i.value = 0, 255, 200, 0

    def next_epoch(self, end):
        """A later life of an end; 0 is none."""
        self.epoch[end] = (self.epoch[end] + 1) % (1 << 32) or 1
        return self.epoch[end]

    async def cycles(self, count):
        await Timer(2 * count or 2, "ns")

    async def start(self):
        dut = self.dut
        dut.rst_ni.value = dut.feeds_i.value = dut.full_i.value = dut.reset_i.value = 0
        dut.reset_peer_i.value = dut.mute_i.value = dut.times_i.value = dut.quick_i.value = 0
        dut.peers_i.value = self.peers - 1
        dut.live_i.value = 3
        dut.epoch_i.value = self.epoch[0] | self.epoch[1] << 32
        dut.reset_epoch_i.value = 0
        self.set_rates(bad=False)
        await self.cycles(4)
        dut.rst_ni.value = 1

    async def reset_link(self):
        """One end gives up one connection."""
        end = self.draw.randrange(2)
        self.dut.reset_peer_i.value = self.draw.randrange(self.peers)
        self.dut.reset_epoch_i.value = self.next_epoch(end) << 32 * end
        self.resets ^= 1 << end
        self.dut.reset_i.value = self.resets
        await self.cycles(50)

    async def restart_end(self):
        """One end forgets all."""
        end = self.draw.randrange(2)
        self.next_epoch(end)
        self.dut.epoch_i.value = self.epoch[0] | self.epoch[1] << 32
        self.dut.live_i.value = 3 ^ 1 << end
        self.cut_off[end] += 2
        await self.cycles(self.draw.randrange(1, 100))
        self.dut.live_i.value = 3

    def numbers(self, name):
        """Of each end, of each peer."""
        value = getattr(self.dut, name).value.to_unsigned()
        words = [value >> 32 * i & 0xFFFF_FFFF for i in range(2 * self.peers)]
        return words[: self.peers], words[self.peers :]

    def check(self):
        """Nothing came twice, out of order or damaged, and no more is missing than was reported lost."""
        assert self.dut.wrong_o.value == 0, "a frame that must not come"
        assert self.dut.events_o.value.to_unsigned() & 0xFFFF_FFFF == 0, "ends that say what cannot be"
        pushed, lost = self.numbers("pushed_o"), self.numbers("lost_o")
        skipped, expected = self.numbers("skipped_o"), self.numbers("expected_o")
        for end in range(2):
            for peer in range(self.peers):
                missing = skipped[1 - end][peer] - self.cut_off[1 - end]
                assert missing <= lost[end][peer], "left out, and not reported"
                assert expected[1 - end][peer] <= pushed[end][peer] + 1

    def is_drained(self):
        """Everything that was given has arrived, as far as frames tell that come last."""
        pushed, expected = self.numbers("pushed_o"), self.numbers("expected_o")
        return pushed[0] == expected[1] and pushed[1] == expected[0]

    async def feed(self, stretches, bad, resets=0.0):
        self.dut.feeds_i.value = 3
        for _ in range(stretches):
            self.set_rates(bad)
            await self.cycles(self.draw.randrange(CYCLES))
            if self.draw.random() < resets:
                await self.draw.choice([self.reset_link, self.restart_end])()
            self.check()
        self.dut.feeds_i.value = 0

    async def meet(self):
        """Frames to all peers, as fast as they go."""
        dut = self.dut
        dut.idle_i.value = dut.long_i.value = dut.pause_i.value = dut.keep_i.value = dut.stop_i.value = 0
        dut.feeds_i.value = 3
        await self.cycles(400 * self.peers)
        dut.feeds_i.value = 0

    async def drain(self, must):
        """Waits for everything in a network that has healed."""
        self.set_rates(bad=False)
        self.dut.idle_i.value = self.dut.pause_i.value = self.dut.keep_i.value = self.dut.stop_i.value = 0
        for _ in range(100 if must else 20):
            await self.cycles(1000)
            self.check()
            if self.is_drained():
                return
        assert not must, "what was given has not arrived"


@cocotb.test()
async def everything_arrives_once_and_in_order(dut):
    Clock(dut.clk_i, 2, "ns").start()
    seen, delivered = dict.fromkeys(EVENTS, 0), 0
    for seed in range(FIRST_SEED, FIRST_SEED + SEEDS):
        pair = Pair(dut, seed)
        await pair.start()
        try:
            await pair.feed(6, bad=True, resets=pair.draw.choice([0, 0, 0.5]))
            await pair.drain(must=False)
            # Each end learns of the other's last life with the first frames that it sends.
            pair.set_rates(bad=False)
            await pair.meet()
            await pair.drain(must=False)
            before = pair.numbers("lost_o")
            await pair.feed(2, bad=False)
            await pair.drain(must=True)
            assert pair.numbers("lost_o") == before, "a life ended without a reason"
        except AssertionError as wrong:
            raise AssertionError(f"seed {seed}: {wrong}") from wrong
        values = dut.events_o.value.to_unsigned()
        for i, name in enumerate(EVENTS):
            seen[name] += values >> 32 * i & 0xFFFF_FFFF
        delivered += sum(dut.delivered_o.value.to_unsigned() >> 32 * end & 0xFFFF_FFFF for end in range(2))
    dut._log.info(f"{SEEDS} seeds: {delivered} frames delivered, {seen}")
    # Whatever can go wrong has gone wrong.
    if SEEDS >= 20:
        assert all(count > SEEDS for name, count in seen.items() if name != "broken"), seen


@cocotb.test()
async def who_does_not_answer_costs_the_others_nothing(dut):
    """Peers whose frames all are lost hold what memory they may; each of the others goes on, and then they as well."""
    Clock(dut.clk_i, 2, "ns").start()
    for seed in range(FIRST_SEED, FIRST_SEED + 10):
        pair = Pair(dut, seed)
        await pair.start()
        await pair.feed(1, bad=False)
        await pair.drain(must=True)
        blocks, frame = (-(-getattr(dut, name).value.to_unsigned() // dut.BlockWords.value.to_unsigned())
                         for name in ("Words", "FrameWords"))
        most = min(pair.peers, blocks // (4 * frame)) - 1
        if most < 1:
            return
        silent = sum(1 << peer for peer in pair.draw.sample(range(pair.peers), pair.draw.randrange(1, most + 1)))
        one_by_one = seed % 2
        if one_by_one:
            # Each takes its share of what those before it have left, which is less and less.
            silent = (1 << most) - 1
        dut.mute_i.value = silent
        dut.long_i.value, dut.full_i.value, dut.feeds_i.value = 255, one_by_one, 3
        for bits in range((pair.peers - 1).bit_length() if one_by_one else 0):
            dut.peers_i.value = (1 << bits) - 1
            await pair.cycles(2 * CYCLES)
        dut.peers_i.value = pair.peers - 1
        await pair.cycles(20 * CYCLES)
        before = pair.numbers("expected_o")
        await pair.cycles(20 * CYCLES)
        after = pair.numbers("expected_o")
        for end in range(2):
            for peer in range(pair.peers):
                moves = after[end][peer] > before[end][peer]
                assert moves == (not silent >> peer & 1), f"seed {seed}: peer {peer} of {silent:b}"
        pair.check()
        dut.feeds_i.value = dut.mute_i.value = dut.full_i.value = 0
        await pair.drain(must=True)


@cocotb.test()
async def how_fast_it_is(dut):
    """Cycles to the link and to the sink, and how many frames and words go by, without a network between the ends."""
    Clock(dut.clk_i, 2, "ns").start()
    pair = Pair(dut, seed=1)
    for name, value in {"credit_i": 1000, "consumes_i": 1, "ack_every_i": 4, "ack_delay_i": 1, "rto_i": 64,
                        "asks_seldom_i": 0}.items():
        getattr(dut, name).value = value
    dut.window_i.value, dut.tick_cycles_i.value = dut.Slots.value.to_unsigned(), 500
    await pair.start()
    dut.pause_i.value = dut.keep_i.value = dut.long_i.value = 0
    dut.quick_i.value = 1
    log, words = dut._log.info, dut.FrameWords.value.to_unsigned()

    async def rate(name, idle, full, ends, cycles=4000):
        """Frames that are delivered in a cycle."""
        dut.idle_i.value, dut.full_i.value, dut.feeds_i.value = idle, full, ends
        await pair.cycles(2000)
        before = dut.delivered_o.value.to_unsigned()
        await pair.cycles(cycles)
        after = dut.delivered_o.value.to_unsigned()
        rates = [((after >> 32 * end) - (before >> 32 * end) & 0xFFFF_FFFF) / cycles for end in range(2)]
        log(f"{name}: frames a cycle to each end {rates}, words {[rate * (words if full else 1) for rate in rates]}")
        return rates

    await rate("of one word, until all peers have met", 100, 0, 3)
    dut.idle_i.value = 254
    await pair.cycles(2000)
    dut.times_i.value = 1
    await rate("now and then", 254, 0, 1, cycles=40000)
    cycles = [tuple(getattr(dut, name).value.to_bytes(byteorder="little")) for name in ("out_cycles_o", "in_cycles_o")]
    log(f"cycles to the link, least and most: {cycles[0]}, from there to the sink: {cycles[1]}")
    # One less if the last frame was for the same peer. Another event of it may be under way, a timer or an
    # acknowledgement.
    assert cycles[0][0] == 6 and cycles[1][0] == 7 and max(cycles[0][1], cycles[1][1]) <= 14
    rates = {}
    for used in (1, pair.peers):
        dut.peers_i.value = used - 1
        for length, full in ((1, 0), (words, 1)):
            for ends in (1, 3):
                name = f"{length} words, {'both ways' if ends == 3 else 'one way'}, peers {used}"
                found = await rate(name, 0, full, ends, cycles=32000 if full else 4000)
                rates[used, length, ends] = min(found) if ends == 3 else found[1]
    pair.check()
    heads = dut.Heads.value.to_unsigned()
    for used in (1, pair.peers):
        assert rates[used, words, 1] * words >= (0.995 if heads else 0.83), rates
        assert rates[used, words, 3] * words >= (0.96 if heads else 0.75), rates
        assert rates[used, 1, 1] > (0.1 if used > 1 else 0.05) and rates[used, 1, 3] > 0.02, rates
    assert dut.events_o.value.to_unsigned() >> 96 & 0xFFFF_FFFF_FFFF_FFFF == 0, "nothing was sent again"


FUNCTION = ["everything_arrives_once_and_in_order", "who_does_not_answer_costs_the_others_nothing"]
SOURCES = [
    HERE / f"{name}.sv"
    for name in ("transport_words_pkg", "lossy_channel", "wire_ahead", "transport_user", "rl_transport_tb")
]


@pytest.mark.parametrize(
    "parameters",
    [
        {"Peers": 4, "Words": 128},
        {"Peers": 4, "Words": 128, "Heads": 1},
        {"Peers": 2, "Slots": 2, "FrameWords": 1, "Words": 16, "Heads": 1},
        {"Peers": 4, "Words": 16},  # Two of the longest frames: blocks are used again at once.
        {"Peers": 16, "Slots": 32, "DataW": 128, "Words": 256, "BlockWords": 4, "FrameWords": 22, "Heads": 1},
    ],
)
def test_rl_transport(parameters):
    bench("rl_transport_tb", SOURCES, __name__, parameters, testcase=FUNCTION)


def test_rl_transport_shares():
    """Many frames are spared for peers that hold nothing, and many peers are silent."""
    parameters = {"Peers": 8, "Slots": 16, "FrameWords": 4, "BlockWords": 2, "Words": 128, "Heads": 1}
    bench("rl_transport_tb", SOURCES, __name__, parameters, testcase=FUNCTION[1])


@pytest.mark.parametrize("heads", [0, 1])
def test_rl_transport_rate(heads):
    parameters = {"Peers": 16, "Slots": 32, "DataW": 512, "Words": 4096, "BlockWords": 4, "FrameWords": 64}
    bench("rl_transport_tb", SOURCES, __name__, parameters | {"Direct": 1, "Heads": heads}, testcase="how_fast_it_is")
