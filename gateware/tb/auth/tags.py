"""What the benches of tags share: the published vectors, keys, and messages word by word."""

from collections.abc import Iterable, Iterator

from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from sources import ROOT
from streams import keep, words

VECTORS = ROOT / "crates" / "core" / "auth" / "tests" / "vectors"
VECTOR_KEY = bytes(range(16))


def vectors(name: str) -> list[tuple[bytes, bytes]]:
    """The messages of a file of vectors and what the function makes of them."""
    lines = (VECTORS / f"{name}.txt").read_text().splitlines()
    results = [bytes.fromhex(line) for line in lines if not line.startswith("#")]
    return [(bytes((16 + i) % 256 for i in range(length)), result) for length, result in enumerate(results)]


def blocks(length: int) -> int:
    """How many permutations a message of so many bytes takes."""
    return length // 32 + 1


async def start(dut):
    """Resets a block; nothing is offered to it, and its verdicts are not taken."""
    for port in (dut.key_valid_i, dut.key_forget_i, dut.valid_i, dut.ready_i):
        port.value = 0
    dut.rst_ni.value = 0
    Clock(dut.clk_i, 10, "ns").start()
    for _ in range(3):
        await RisingEdge(dut.clk_i)
    dut.rst_ni.value = 1
    await RisingEdge(dut.clk_i)


async def put_key(dut, slot: int, key: bytes | None, derive: bool = False):
    """Puts a key into a slot, or with None forgets what is there."""
    dut.key_slot_i.value = slot
    dut.key_forget_i.value = key is None
    dut.key_i.value = int.from_bytes(key or bytes(16), "little")
    if hasattr(dut, "key_prf_i"):
        dut.key_prf_i.value = derive
    dut.key_valid_i.value = 1
    await RisingEdge(dut.clk_i)
    while not dut.key_ready_o.value:
        await RisingEdge(dut.clk_i)
    dut.key_valid_i.value = 0


async def send(dut, messages: Iterable[tuple[bytes, dict[str, int]]], pause: Iterator[bool]):
    """Offers messages word by word. What comes with a message's last word is wrong with all others."""
    edge = RisingEdge(dut.clk_i)
    for message, with_it in messages:
        beats = list(zip(words(message), keep(message), strict=True)) or [(0x5A5A5A5A5A5A5A5A, 0)]
        for number, (data, mask) in enumerate(beats):
            while next(pause):
                dut.valid_i.value = 0
                await edge
            last = number == len(beats) - 1
            dut.valid_i.value = 1
            # What does not count is not zero.
            dut.data_i.value = data | (0xA5A5A5A5A5A5A5A5 & ~sum(0xFF << 8 * n for n in range(8) if mask >> n & 1))
            if number == 0 or last:
                dut.keep_i.value = mask
                dut.last_i.value = last
                for name, value in with_it.items():
                    port = getattr(dut, name)
                    early = name == "slot_i" or last
                    port.value = value if early else value ^ 1
            await edge
            while not dut.ready_o.value:
                await edge
    dut.valid_i.value = 0


async def receive(dut, count: int, pause: Iterator[bool], names: tuple[str, ...]) -> list[tuple[int, ...]]:
    """Takes so many results: what these ports say of each."""
    edge, results = RisingEdge(dut.clk_i), []
    ports = [getattr(dut, name) for name in names]
    while len(results) < count:
        taking = not next(pause)
        dut.ready_i.value = taking
        await edge
        if taking and dut.valid_o.value:
            results.append(tuple(int(port.value) for port in ports))
    dut.ready_i.value = 0
    return results
