"""Streams in benches: when to pause, how to send and receive, and frames as words, of 64 bits if nothing else is said."""

import random
from collections.abc import Callable, Iterable, Iterator

from cocotb.triggers import RisingEdge

WORD_BYTES = 8


def never() -> Iterator[bool]:
    """No pause at all."""
    while True:
        yield False


def always() -> Iterator[bool]:
    """Never ready."""
    while True:
        yield True


def sometimes(share: float) -> Iterator[bool]:
    """A pause in this share of the cycles, each by itself."""
    while True:
        yield random.random() < share


def bursts(busy: int, idle: int) -> Iterator[bool]:
    """Stretches of up to `busy` cycles without a pause, and then of up to `idle` cycles of pause."""
    while True:
        yield from [False] * random.randint(1, busy)
        yield from [True] * random.randint(1, idle)


# Pauses that find different faults: full rate, ragged, long stretches. For parametrized tests and cocotb factories.
PAUSES: dict[str, Callable[[], Iterator[bool]]] = {
    "never": never,
    "ragged": lambda: sometimes(0.5),
    "rare": lambda: sometimes(0.9),
    "bursts": lambda: bursts(40, 40),
}

# What meets what, writer's and reader's: enough for most benches.
PAUSE_PAIRS = [("never", "never"), ("never", "rare"), ("rare", "never"), ("ragged", "bursts"), ("bursts", "ragged")]

# Periods in picoseconds of two clocks that know nothing of each other: nearly the same, far apart either way, and the
# network's beside a faster memory's. cocotb's clocks take even numbers.
CLOCK_PAIRS = [(6400, 6402), (10000, 3138), (3138, 10000), (6400, 3334)]


async def send(clock, valid, ready, data, items: Iterable[int], pause: Iterator[bool]) -> None:
    """Offers the items on a ready/valid port; once offered, one stays until it is taken."""
    for item in items:
        while next(pause):
            valid.value = 0
            await RisingEdge(clock)
        valid.value = 1
        data.value = item
        await RisingEdge(clock)
        while not ready.value:
            await RisingEdge(clock)
    valid.value = 0


async def receive(clock, valid, ready, data, count: int, pause: Iterator[bool]) -> list[int]:
    """Takes so many items from a ready/valid port."""
    items: list[int] = []
    while len(items) < count:
        taking = not next(pause)
        ready.value = taking
        await RisingEdge(clock)
        if taking and valid.value:
            items.append(int(data.value))
    ready.value = 0
    return items


async def pause_channels(clock, channels: Iterable, share: float) -> None:
    """Pauses channels of cocotbext-axi in this share of the cycles, each by itself.

    One task for all of them: with a pause generator each channel has its own, which wakes in every cycle.
    """
    edge = clock.rising_edge
    while share:
        for channel in channels:
            channel.pause = random.random() < share
        await edge


def words(frame: bytes, size: int = WORD_BYTES) -> list[int]:
    """A frame as words of the datapath: byte 0 of the frame is bits 7:0 of the first."""
    return [int.from_bytes(frame[at : at + size], "little") for at in range(0, len(frame), size)]


def keep(frame: bytes, size: int = WORD_BYTES) -> list[int]:
    """The byte enables that go with `words`."""
    lengths = [min(size, len(frame) - at) for at in range(0, len(frame), size)]
    return [(1 << length) - 1 for length in lengths]


def unwords(values: Iterable[int], length: int) -> bytes:
    """The frame of so many bytes that these words hold."""
    return b"".join(value.to_bytes(WORD_BYTES, "little") for value in values)[:length]
