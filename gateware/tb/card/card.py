"""The whole Verilated card on a bench: MAC, two DDR ports on one memory, time."""

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import FallingEdge, ReadOnly, RisingEdge
from streams import keep, words
from wire import ADDRESS, CONST, frame, parse

CARD = 0x020000000001
HOST = 0x020000000909
MEMORY = 4 << 20
STAGING = 1 << 20
BASE = CONST.ROLE_PRIVATE
GROUP = 0x1234
CLAIM_GROUP = 0x77
PERIOD_NS = 6.4


def straps(**more):
    """Registers STRAP, as brief a card as can be: small, standard frames."""
    values = [
        CARD >> 32, CARD & 0xFFFFFFFF, 7 << 16 | 2 << 8 | 1, 0x524C << 16 | 1, 0xB007, 12345, MEMORY >> 16, 156_250, 10_000, 0, 0,
        STAGING, 1472 | 16 << 16, 20, 2000, 10_000,
    ]
    for at, value in more.items():
        values[int(at[1:])] = value
    return sum(value << 32 * k for k, value in enumerate(values))


class Memory:
    """One DDR behind both ports: beats of 64 bytes, with a latency."""

    def __init__(self, dut, latency=30):
        self.dut, self.latency, self.beats = dut, latency, {}
        for port in ("m_shell", "m_role"):
            cocotb.start_soon(self.serve(port))

    def read(self, addr, length):
        out = bytearray()
        while len(out) < length:
            beat, at = divmod(addr + len(out), 64)
            out += self.beats.get(beat, bytes(64))[at : at + length - len(out)]
        return bytes(out)

    def write(self, addr, data):
        for i, byte in enumerate(data):
            beat, at = divmod(addr + i, 64)
            self.beats.setdefault(beat, bytearray(64))[at] = byte

    async def serve(self, port):
        """Writes and reads of one port, in order, each after the latency."""
        pin = lambda name: getattr(self.dut, f"{port}_{name}")
        aws, ws, reads, answers = [], [], [], []
        pin("awready").value = pin("wready").value = pin("arready").value = 1
        pin("bvalid").value = pin("rvalid").value = 0
        pin("bresp").value = pin("rresp").value = pin("bid").value = pin("rid").value = 0
        now = 0
        while True:
            await ReadOnly()
            took_b = pin("bvalid").value and pin("bready").value
            took_r = pin("rvalid").value and pin("rready").value
            if pin("awvalid").value:
                aws.append((int(pin("awaddr").value) >> 6, int(pin("awlen").value) + 1, int(pin("awid").value)))
            if pin("wvalid").value:
                ws.append((int(pin("wdata").value), int(pin("wstrb").value), bool(pin("wlast").value)))
            if pin("arvalid").value:
                beat, count, ident = int(pin("araddr").value) >> 6, int(pin("arlen").value) + 1, int(pin("arid").value)
                reads += [(now + self.latency, beat + i, ident, i == count - 1) for i in range(count)]
            while aws and len(ws) >= aws[0][1]:
                beat, count, ident = aws.pop(0)
                for i in range(count):
                    data, strobes, last = ws.pop(0)
                    assert last == (i == count - 1)
                    stored = self.beats.setdefault(beat + i, bytearray(64))
                    for byte in range(64):
                        if strobes >> byte & 1:
                            stored[byte] = data >> 8 * byte & 0xFF
                answers.append((now + self.latency, ident))
            await RisingEdge(self.dut.clk_ddr_i)
            await FallingEdge(self.dut.clk_ddr_i)
            now += 1
            if took_b:
                answers.pop(0)
            if took_r:
                reads.pop(0)
            show = bool(answers) and answers[0][0] <= now
            pin("bvalid").value = show
            if show:
                pin("bid").value = answers[0][1]
            show = bool(reads) and reads[0][0] <= now
            pin("rvalid").value = show
            if show:
                pin("rdata").value = int.from_bytes(self.beats.get(reads[0][1], bytes(64)), "little")
                pin("rid").value, pin("rlast").value = reads[0][2], reads[0][3]


class Card:
    """A card, its wire and a host's view of it."""

    def __init__(self, dut):
        self.dut, self.sent, self.cycle, self.epoch = dut, [], 0, 0

    async def start(self, **more):
        dut = self.dut
        for clock in ("net", "ddr", "role", "cfg"):
            Clock(getattr(dut, f"clk_{clock}_i"), PERIOD_NS, "ns").start()
        for pin in ("rx_valid_i", "rx_last_i", "rx_bad_i", "planted_i", "cfg_hold_i", "time_us_i", "rst_ni"):
            getattr(dut, pin).value = 0
        dut.tx_ready_i.value = 1
        dut.strap_i.value = straps(**more)
        self.memory = Memory(dut)
        for _ in range(8):
            await FallingEdge(dut.clk_net_i)
        dut.rst_ni.value = 1
        cocotb.start_soon(self.watch())
        await self.settle()

    async def watch(self):
        """Takes frames, and has time go by."""
        dut, out = self.dut, bytearray()
        first = 0
        while True:
            await FallingEdge(dut.clk_net_i)
            self.cycle += 1
            dut.time_us_i.value = int(self.cycle * PERIOD_NS / 1000)
            await ReadOnly()
            assert not dut.firmware_fault_o.value, "the firmware has stopped"
            if dut.tx_valid_o.value:
                first = first or self.cycle
                size = int(dut.tx_keep_o.value).bit_length()
                out += int(dut.tx_data_o.value).to_bytes(8, "little")[:size]
                if dut.tx_last_o.value:
                    got = parse(bytes(out))
                    got.cycle = first
                    self.sent.append(got)
                    out, first = bytearray(), 0

    async def settle(self, cycles=100_000):
        """Until nothing is under way."""
        for _ in range(cycles):
            await FallingEdge(self.dut.clk_net_i)
            if self.dut.idle_o.value:
                return
        raise AssertionError(f"the card is not idle after {cycles} cycles")

    async def put(self, data):
        """One frame onto the wire; the cycle of its first word."""
        dut, pieces = self.dut, list(zip(words(data), keep(data)))
        begun = 0
        for i, (word, enables) in enumerate(pieces):
            await FallingEdge(dut.clk_net_i)
            begun = begun or self.cycle
            dut.rx_valid_i.value, dut.rx_data_i.value, dut.rx_keep_i.value = 1, word, enables
            dut.rx_last_i.value = i == len(pieces) - 1
        self.last_word = self.cycle
        await FallingEdge(dut.clk_net_i)
        dut.rx_valid_i.value = dut.rx_last_i.value = 0
        return begun

    async def send(self, kind, payload=b"", settle=True, **fields):
        fields = {"dst": CARD, "src": HOST, "epoch": self.epoch, **fields}
        begun = await self.put(frame(kind, payload=payload, **fields))
        if settle:
            await self.settle()
        return begun

    async def send_group(self, kind, payload=b"", **fields):
        return await self.send(kind, payload, dst=ADDRESS.GROUP + GROUP, epoch=GROUP, **fields)

    def take(self, kind):
        """All frames of a kind that came; the others stay."""
        taken = [got for got in self.sent if got.name == kind]
        self.sent = [got for got in self.sent if got.name != kind]
        return taken

    async def claim(self, nonce=1):
        await self.send("Session.Claim", epoch=0, seq=nonce, nonce=nonce, lease_ms=5000, group=CLAIM_GROUP)
        (grant,) = self.take("Session.Grant")
        self.epoch = grant.epoch
        return grant
