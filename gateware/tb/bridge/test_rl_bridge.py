"""rl_bridge: nodes read and write each other's memory, and send each other streams."""

from pathlib import Path

import cocotb
import pytest
from bridge_bench import READ, WRITE, ATOMIC, Bench
from runner import bench

HERE = Path(__file__).parent


@cocotb.test()
async def a_node_writes_and_reads_anothers_memory(dut):
    b = Bench(dut)
    await b.start()
    await b.window(1, 3, base=0x1000, length=0x4000, rights=READ | WRITE)
    await b.region(0, 2, base=0x10_0000, size=0x8000, node=1, remote=0)
    mirror = await b.fill(1)
    a = b.ports[0]
    for _ in range(30):
        at = b.draw.randrange(0x1000, 0x5000 - 1)
        length = b.draw.choice([1, 8, b.bytes, b.draw.randrange(1, min(3000, 0x5000 - at) + 1)])
        length = min(length, 0x5000 - at)
        data = b.draw.randbytes(length)
        done = await a.write(0x10_0000 + at, data)
        assert done.resp == 0
        mirror[at : at + length] = data
        at = b.draw.randrange(0x1000, 0x5000 - 1)
        length = min(b.draw.choice([1, 8, b.bytes, 700, 2500]), 0x5000 - at)
        got = await a.read(0x10_0000 + at, length)
        assert got.resp == 0 and got.data == mirror[at : at + length], (hex(at), length)
    assert await b.peek(1, 0, b.memory) == mirror
    b.check()


@pytest.mark.parametrize("width,longest", [(64, 1024), (512, 4096)])
def test_rl_bridge(width, longest):
    bench("rl_bridge_tb", HERE.glob("*.sv"), __name__, {"DataW": width, "Longest": longest, "MemoryWords": (32 << 10) * 8 // width, "TakeWords": 64 * longest * 8 // width})
