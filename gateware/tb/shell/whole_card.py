"""A whole card of gateware on a bench, with its firmware: rl_card_sim, its memory, the time and the wire of its port."""

from collections import deque

import cocotb
from card_keys import store_words
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from streams import keep, words
from wire import CONST

PERIOD_NS = 10
US_CYCLES = 20  # A microsecond of the card's time is so many cycles: nobody waits long for what is due.
BEAT = 64
STRAPS = ["MAC_HI", "MAC_LO", "CARD", "PRODUCT", "BOOT", "SEED", "MEMORY", "CLOCK_KHZ", "PORT_RATE", "STAGE_RATE",
          "CONFIG_RATE", "STAGING_MAX", "LIMITS", "ACK_DELAY", "RESEND", "ANNOUNCE_INTERVAL", "MAC1_HI", "MAC1_LO"]


class WholeCard:
    """The card. What it sends is in `sent`."""

    def __init__(self, dut, mac: int, boot: int, keys: list[tuple[bytes, int]], hosts: list[tuple],
                 memory: int = 8 << 20):
        self.dut = dut
        self.mac, self.boot, self.keys, self.hosts, self.bytes = mac, boot, keys, hosts, memory
        self.memory: dict[int, bytes] = {}
        self.sent: deque[bytes] = deque()
        self.said_at: list[int] = []  # The cycle in which each frame has begun to leave.
        self.starts = 0  # Kernels.
        self.started_at = self.cycle = 0
        self.rx: deque[tuple[int, int, bool]] = deque()  # Words on their way in: data, keep, last.

    async def start(self) -> None:
        dut = self.dut
        for pin in ("clk_net", "clk_ddr", "clk_role", "clk_cfg", "drive", "rst_n", "rx_valid", "rx_data", "rx_keep",
                    "rx_last", "rx_bad", "tx_ready", "port", "time_us", "strap", "key_write", "key_at", "key_word", "planted", "cfg_hold", "share",
                    "event_ready"):
            name = "rst_ni" if pin == "rst_n" else f"{pin}_i"
            getattr(dut, name).value = 0
        for pin in ("awready", "wready", "bvalid", "bresp", "bid", "arready", "rvalid", "rdata", "rresp", "rlast", "rid"):
            getattr(dut, f"m_memory_{pin}").value = 0
        straps = {"MAC_HI": self.mac >> 32, "MAC_LO": self.mac & 0xFFFFFFFF, "CARD": 7 << 16 | 2 << 8 | 1,
                  "PRODUCT": 0x524C0001, "BOOT": self.boot, "SEED": 3, "MEMORY": self.bytes >> 16, "CLOCK_KHZ": 100_000,
                  "PORT_RATE": 10_000, "STAGING_MAX": 1 << 20, "LIMITS": 16 << 16 | 1472, "ACK_DELAY": 20,
                  "RESEND": 100_000, "ANNOUNCE_INTERVAL": 800_000}
        dut.strap_i.value = sum(straps.get(name, 0) << 32 * n for n, name in enumerate(STRAPS))
        dut.share_i.value = 0x11
        for clock in ("clk_net_i", "clk_ddr_i", "clk_role_i", "clk_cfg_i"):
            Clock(getattr(dut, clock), PERIOD_NS, "ns").start()
        # What comes from outside is taken in the middle of a cycle.
        Clock(dut.drive_i, PERIOD_NS, "ns").start(start_high=False)
        for _ in range(16):
            await RisingEdge(dut.clk_net_i)
        dut.rst_ni.value = 1
        for task in (self.pass_time(), self.bring(), self.take(), self.store(), self.read()):
            cocotb.start_soon(task)
        await self.give(self.keys, self.hosts)

    async def give(self, keys: list[tuple[bytes, int]], hosts: list[tuple]) -> None:
        """Writes other keys and hosts into the key store, as store_words has them."""
        dut = self.dut
        for at, word in store_words(keys, hosts):
            dut.key_write_i.value, dut.key_at_i.value, dut.key_word_i.value = 1, at, word
            await RisingEdge(dut.clk_net_i)
            while not dut.key_ready_o.value:
                await RisingEdge(dut.clk_net_i)
        dut.key_write_i.value = 0

    async def until_keys_taken(self, limit: int) -> None:
        """Until the firmware goes by what the key store holds, within so many cycles."""
        for _ in range(limit):
            await RisingEdge(self.dut.clk_net_i)
            if self.dut.key_ready_o.value and not self.dut.key_news_o.value:
                return
        raise AssertionError(f"its keys are not taken within {limit} cycles")

    async def pass_time(self) -> None:
        while True:
            await RisingEdge(self.dut.clk_net_i)
            self.cycle += 1
            if self.cycle % US_CYCLES == 0:
                self.dut.time_us_i.value = self.cycle // US_CYCLES
            if self.dut.start_o.value:
                self.starts += 1
                self.started_at = self.cycle

    # -- the wire
    def send(self, frame: bytes) -> None:
        frame = frame.ljust(CONST.FRAME_MIN, b"\0")
        beats = list(zip(words(frame), keep(frame), strict=True))
        self.rx += [(data, mask, n == len(beats) - 1) for n, (data, mask) in enumerate(beats)]

    async def bring(self) -> None:
        dut, gap, is_valid = self.dut, 0, False
        while True:
            await RisingEdge(dut.clk_net_i)
            if gap or not self.rx:
                if is_valid:
                    dut.rx_valid_i.value = is_valid = False
                gap = max(0, gap - 1)
                continue
            data, mask, last = self.rx.popleft()
            dut.rx_valid_i.value, dut.rx_data_i.value = 1, data
            is_valid = True
            dut.rx_keep_i.value, dut.rx_last_i.value = mask, last
            gap = 3 * last

    async def take(self) -> None:
        dut, frame = self.dut, b""
        dut.tx_ready_i.value = 7
        while True:
            await RisingEdge(dut.clk_net_i)
            if not int(dut.tx_valid_o.value) & 1:
                continue
            if not frame:
                self.said_at.append(self.cycle)
            last = int(dut.tx_last_o.value) & 1
            count = (int(dut.tx_keep_o.value) & 0xFF).bit_count() if last else 8
            frame += (int(dut.tx_data_o.value) & (1 << 64) - 1).to_bytes(8, "little")[:count]
            if last:
                self.sent.append(frame)
                frame = b""

    async def settle(self, limit: int = 400_000) -> None:
        """Until all has come in, and the card has nothing to do but wait."""
        still = 0
        for _ in range(limit):
            await RisingEdge(self.dut.clk_net_i)
            still = still + 1 if self.dut.idle_o.value and not self.rx else 0
            if still == 3 * US_CYCLES:
                return
        raise AssertionError("the card is never idle")

    # -- the memory
    def write_bytes(self, at: int, data: bytes, mask: int = -1) -> None:
        beat = bytearray(self.memory.get(at // BEAT, bytes(BEAT)))
        for n, byte in enumerate(data):
            if mask >> n & 1:
                beat[at % BEAT + n] = byte
        self.memory[at // BEAT] = bytes(beat)

    def read_bytes(self, at: int, length: int) -> bytes:
        first, end = at // BEAT, -(-(at + length) // BEAT)
        data = b"".join(self.memory.get(beat, bytes(BEAT)) for beat in range(first, end))
        return data[at % BEAT :][:length]

    async def store(self) -> None:
        dut = self.dut
        addresses, data, answers, shown = deque(), deque(), deque(), None
        dut.m_memory_awready.value = dut.m_memory_wready.value = 1
        for _ in range(2):
            await RisingEdge(dut.clk_ddr_i)
        while True:
            await RisingEdge(dut.clk_ddr_i)
            if dut.m_memory_awvalid.value:
                addresses.append([int(dut.m_memory_awaddr.value), int(dut.m_memory_awid.value)])
            if dut.m_memory_wvalid.value:
                pins = (dut.m_memory_wdata, dut.m_memory_wstrb, dut.m_memory_wlast)
                data.append(tuple(int(pin.value) for pin in pins))
            while addresses and data:
                word, mask, last = data.popleft()
                at, of = addresses[0]
                self.write_bytes(at // BEAT * BEAT, word.to_bytes(BEAT, "little"), mask)
                addresses[0][0] = at // BEAT * BEAT + BEAT
                if last:
                    answers.append(of)
                    addresses.popleft()
            if answers and dut.m_memory_bvalid.value and dut.m_memory_bready.value:
                answers.popleft()
            # To drive what is driven already takes longer than the cycle.
            answer = answers[0] if answers else None
            if answer != shown:
                dut.m_memory_bvalid.value, dut.m_memory_bid.value = answer is not None, answer or 0
                shown = answer

    async def read(self) -> None:
        dut, beats, is_valid = self.dut, deque(), False
        dut.m_memory_arready.value = 1
        for _ in range(2):
            await RisingEdge(dut.clk_ddr_i)
        while True:
            await RisingEdge(dut.clk_ddr_i)
            if beats and dut.m_memory_rvalid.value and dut.m_memory_rready.value:
                beats.popleft()
            if dut.m_memory_arvalid.value:
                first, count = int(dut.m_memory_araddr.value) // BEAT, int(dut.m_memory_arlen.value) + 1
                of = int(dut.m_memory_arid.value)
                beats += [(first + n, of, n == count - 1) for n in range(count)]
            if is_valid != bool(beats):
                dut.m_memory_rvalid.value = is_valid = bool(beats)
            if beats:
                at, of, last = beats[0]
                dut.m_memory_rdata.value = int.from_bytes(self.memory.get(at, bytes(BEAT)), "little")
                dut.m_memory_rid.value, dut.m_memory_rlast.value = of, last
