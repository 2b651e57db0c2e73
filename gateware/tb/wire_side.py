"""The wire side of a family of frames, as its benches drive it: segments in and frames out, and frames in and heads and
words out. A family says what its ports are called, what it makes of a segment, and what becomes of a frame."""

import random

from cocotb.clock import Clock
from cocotb.triggers import ClockCycles
from streams import never


def pack(fields, values):
    """A packed struct's bits."""
    bits = at = 0
    for name, width in fields:
        assert 0 <= values[name] < 1 << width, name
        bits |= values[name] << at
        at += width
    return bits


def unpack(fields, bits):
    """A packed struct's fields."""
    values = {}
    for name, width in fields:
        values[name] = bits & (1 << width) - 1
        bits >>= width
    return values


# ---- frames that are nearly right
def put(frame, at, value):
    """The frame with other bytes at a place."""
    return frame[:at] + value + frame[at + len(value) :]


def near(value):
    """A number of 16 bits that is nearly this one, or any."""
    other = random.choice([value + random.choice([-1, 1, 8, -8, 64, -64, 256]), random.getrandbits(16)])
    return (other & 0xFFFF).to_bytes(2, "big")


def flipped(frame, first, end):
    """One bit is another."""
    at = random.randrange(first, end)
    return put(frame, at, bytes([frame[at] ^ 1 << random.randrange(8)]))


class WireSide:
    """The gateware, cycle by cycle."""

    HEAD: tuple[str, ...]  # What comes beside a head: names of ports.
    VERDICT: type  # What becomes of a frame.

    def __init__(self, dut):
        self.dut, self.size, self.cycle = dut, len(dut.out_keep_o), 0
        self.edge = dut.clk_i.rising_edge
        self.frames, self.begun, self.ended, self.offered = [], [], [], []  # Out; and the cycles of words and segments.
        self.verdicts, self.heads, self.payloads = [], [], []  # In.
        self.ends, self.head_at, self.word_at = [], [], []  # When frames ended, and when of each something was offered.

    def begins(self, message):
        """Drives what is beside the words of a segment."""
        raise NotImplementedError

    async def start(self, own):
        """Resets it; its address is this one."""
        dut = self.dut
        for port in (dut.rst_ni, dut.tx_valid_i, dut.out_ready_i, dut.in_valid_i, dut.rx_head_ready_i, dut.rx_ready_i):
            port.value = 0
        dut.mac_i.value = own
        Clock(dut.clk_i, 10, "ns").start()
        await ClockCycles(dut.clk_i, 4)
        dut.rst_ni.value = 1
        await ClockCycles(dut.clk_i, 20)  # The counts are cleared.

    def words(self, data):
        """The words of bytes; of nothing there is one that means nothing."""
        pieces = [data[at : at + self.size] for at in range(0, len(data), self.size)]
        return [int.from_bytes(piece, "little") for piece in pieces] or [random.getrandbits(8 * self.size)]

    async def send(self, messages, pause, stall):
        """Sends these, until they have left and for some cycles more."""
        dut, rest, words, frame, idle, valid = self.dut, list(messages), [], b"", 0, False
        # Long pauses are no end.
        while idle < (20 if not words and not rest else 500):
            dut.out_ready_i.value = ready = not next(stall)
            if not words and rest:
                message = rest.pop(0)
                words = self.words(message.payload)
                self.begins(message)
                self.offered.append(None)
            if words and not valid and not next(pause):
                valid = True
                dut.tx_valid_i.value = 1
                dut.tx_data_i.value = words[0]
                dut.tx_last_i.value = len(words) == 1
                self.offered[-1] = self.offered[-1] or self.cycle + 1
            await self.edge
            self.cycle += 1
            idle += ready
            if valid and dut.tx_ready_o.value:
                valid, words, idle = False, words[1:], 0
                dut.tx_valid_i.value = 0
            if dut.out_valid_o.value and ready:
                idle = 0
                keep = dut.out_keep_o.value.to_unsigned()
                size = keep.bit_length()
                assert size and keep == (1 << size) - 1, f"keep {keep:b}"
                assert dut.out_last_o.value or size == self.size, "a word in the middle has all its bytes"
                if not frame:
                    self.begun.append(self.cycle)
                frame += dut.out_data_o.value.to_unsigned().to_bytes(self.size, "little")[:size]
                if dut.out_last_o.value:
                    self.frames.append(frame)
                    self.ended.append(self.cycle)
                    frame = b""
        assert not words and not rest and not frame, "something is stuck"

    async def receive(self, arrivals, pause=None, head_stall=None, stall=None):
        """Takes these frames in, and what comes out of it, until nothing does."""
        dut, size = self.dut, self.size
        pause, head_stall, stall = pause or never(), head_stall or never(), stall or never()
        rest, words, payload, idle = list(arrivals), [], [], 0
        head_seen = word_seen = False
        while rest or words or idle < 100:
            if not words and rest:
                arrival = rest.pop(0)
                pieces = [arrival.data[at : at + size] for at in range(0, len(arrival.data), size)]
                words = [(int.from_bytes(piece, "little"), (1 << len(piece)) - 1) for piece in pieces]
            driven = bool(words) and not next(pause)
            dut.in_valid_i.value = driven
            if driven:
                data, keep = words.pop(0)
                last = not words
                dut.in_data_i.value = data
                # Before the last word, neither is looked at.
                dut.in_keep_i.value = keep if last else random.getrandbits(size)
                dut.in_last_i.value = last
                dut.in_bad_i.value = arrival.bad if last else random.getrandbits(1)
            dut.rx_head_ready_i.value = head_ready = not next(head_stall)
            dut.rx_ready_i.value = ready = not next(stall)
            await self.edge
            self.cycle += 1
            idle = 0 if driven else idle + 1
            if driven and last:
                self.ends.append(self.cycle)
            if dut.judged_o.value:
                self.verdicts.append(self.VERDICT(dut.verdict_o.value.to_unsigned()))
            if dut.rx_head_valid_o.value:
                if not head_seen:
                    self.head_at.append(self.cycle)
                head_seen = not head_ready
                if head_ready:
                    self.heads.append(tuple(getattr(dut, name).value.to_unsigned() for name in self.HEAD))
                    idle = 0
            if dut.rx_valid_o.value:
                if not payload and not word_seen:
                    self.word_at.append(self.cycle)
                word_seen = not ready
                if ready:
                    payload.append(dut.rx_data_o.value.to_unsigned())
                    idle = 0
                    if dut.rx_last_o.value:
                        self.payloads.append(payload)
                        payload = []
        assert not payload, "a frame has no end"

    def passed(self, arrivals, *known, lossy=False):
        """All became what they had to; but some that had to pass may have found no room. Of those that passed: what the
        parser finds, what came beside the head, and its words."""
        assert len(self.verdicts) == len(arrivals)
        passed = []
        for at, (arrival, verdict) in enumerate(zip(arrivals, self.verdicts, strict=True)):
            expected, parsed = arrival.judged(*known)
            if lossy and verdict.name == "NO_ROOM" and expected.name == "PASSED":
                continue
            assert verdict == expected, f"frame {at} is {verdict.name}, not {expected.name}: {arrival.data.hex()}"
            if expected.name == "PASSED":
                passed.append(parsed)
        return zip(passed, self.heads, self.payloads, strict=True)

    def compare(self, words, payload):
        """These words are those of this payload, of which there is one at least."""
        data = b"".join(word.to_bytes(self.size, "little") for word in words)
        assert len(words) == max(1, -(-len(payload) // self.size)) and data[: len(payload)] == payload

    async def counts(self, of, count, kinds):
        """The counts of so many kinds."""
        out = []
        for kind in range(kinds):
            of.value = kind
            await self.edge
            await self.edge
            out.append(count.value.to_unsigned())
        return out
