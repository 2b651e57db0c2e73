"""rl_control: every register and region of registers.toml reaches its block and comes back, events wake the processor.

A small firmware reads and writes what a script in the control ring says; the script is the test's.
"""

import random
import sys
import tomllib

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, ReadOnly, RisingEdge
from runner import ROOT, bench
from structs import LAYOUTS, field, pack

sys.path.insert(0, str(ROOT / "gateware/firmware"))
import build as firmware  # noqa: E402

MAP = tomllib.loads((ROOT / "protocol/registers.toml").read_text())
BASE = {region["name"]: region["base"] for region in MAP["region"]}
REGISTERS = {register["name"]: register for register in MAP["register"]}
CARD = [register["name"] for register in MAP["register"] if register["block"] == "Card"]
EVENTS = {f["name"]: int(f["bits"]) for f in REGISTERS["EVENTS"]["fields"]}
LATCHED = ["DIGEST_IDLE", "SCRUB_DONE", "FETCH_DONE", "CONFIG_DONE", "ROLE_FAULT"]
INPUTS = {
    "ring_i": "ring_head_t",
    "mem_write_i": "mem_write_status_t",
    "image_write_i": "image_write_status_t",
    "digest_i": "digest_status_t",
    "config_i": "config_status_t",
    "role_i": "role_status_t",
    "launch_i": "launch_status_t",
}
# Regions that are read, the bits of a word's number that the memory behind looks at, and its port.
MEMORIES = {
    "RING": (11, "ring_data_i"),
    "TX": (11, "tx_data_i"),
    "HAVE": (11, "have_data_i"),
    "REPORTED": (11, "reported_data_i"),
    "LAUNCH": (11, "slot_data_i"),
    "COUNTER": (9, "counter_data_i"),
}


def address(name: str, index: int = 0) -> int:
    return BASE["CSR"] + REGISTERS[name]["offset"] + 4 * index


def write(name: str, value: int) -> list[int]:
    return [1, address(name), value]


def read(name: str, index: int = 0) -> list[int]:
    return [2, address(name, index)]


class Board:
    """The blocks around the processor: their memories, and what they say."""

    def __init__(self, dut):
        self.dut = dut
        self.memories = {
            name: [random.getrandbits(32) for _ in range(1 << bits)] for name, (bits, _) in MEMORIES.items()
        }
        self.straps = [random.getrandbits(32) for _ in CARD]
        self.bridge = [random.getrandbits(32) for _ in range(32)]  # Its registers,
        self.keys = [random.getrandbits(32) for _ in range(32)]  # and those of a card with keys.
        self.time = random.getrandbits(40)

    async def start(self, script: list[int]) -> None:
        """Resets the processor, which then follows the script."""
        dut = self.dut
        self.memories["RING"][: len(script) + 1] = [*script, 0]
        dut.rst_net_ni.value = 0
        dut.memory_i.value = self.straps[CARD.index("MEMORY")] << 16 & (1 << 40) - 1
        for port in (*INPUTS, "heard_i", "slot_busy_i", "answer_busy_i", "cpu_fetched_i"):
            getattr(dut, port).value = 0
        for port in ("job_ready_i", "scrub_done_i", "mem_read_ready_i", "mem_read_idle_i"):
            getattr(dut, port).value = 0
        for _, port in MEMORIES.values():
            getattr(dut, port).value = 0
        Clock(dut.clk_net_i, 10, "ns").start()
        cocotb.start_soon(self.serve())
        cocotb.start_soon(self.tell())
        cocotb.start_soon(self.tell_of_bridge())
        cocotb.start_soon(self.tell_of_keys())
        await ClockCycles(dut.clk_net_i, 3)
        dut.rst_net_ni.value = 1

    async def serve(self) -> None:
        """Memories answer a cycle after; time goes on by a microsecond a cycle."""
        dut = self.dut
        while True:
            await RisingEdge(dut.clk_net_i)
            word = dut.mem_addr_o.value.to_unsigned()
            for name, (bits, port) in MEMORIES.items():
                at = word % (1 << bits)
                # It shows what was asked for in this cycle only; the others show something always.
                asked = {"LAUNCH": dut.slot_re_o}.get(name)
                shown = self.memories[name][at] if asked is None or asked.value else random.getrandbits(32)
                # And these in the cycle after that, and else 0.
                last = {"RING": dut.ring_asked_o, "COUNTER": dut.counter_asked_o}.get(name)
                if last is not None and not last.value:
                    shown = 0
                if name == "TX" and dut.tx_we_o.value or name == "REPORTED" and dut.reported_we_o.value:
                    self.memories[name][at] = dut.mem_wdata_o.value.to_unsigned()
                getattr(dut, port).value = shown
            self.time += 1
            dut.time_us_i.value = self.time

    async def tell(self) -> None:
        """What the card is, in the cycle in which it is asked."""
        straps = self.straps + [0] * (32 - len(self.straps))
        while True:
            self.dut.strap_i.value = straps[self.dut.strap_index_o.value.to_unsigned()]
            await self.dut.strap_index_o.value_change

    async def tell_of_bridge(self) -> None:
        """What a register of the bridge holds, in the cycle in which it is asked."""
        while True:
            self.dut.bridge_i.value = self.bridge[field(self.dut.bridge_o, "bridge_ctl_t", "read_at")]
            await self.dut.bridge_o.value_change

    async def tell_of_keys(self) -> None:
        """The same for what a card with keys has."""
        while True:
            self.dut.keys_i.value = self.keys[field(self.dut.keys_o, "keys_ctl_t", "read_at")]
            await self.dut.keys_o.value_change

    async def follow(self, script: list[int], results: int = 0) -> list[int]:
        """Follows the script to its end; the values it has read."""
        await self.start(script)
        await self.asleep()
        return self.memories["TX"][:results]

    async def asleep(self, limit: int = 100_000) -> None:
        for _ in range(limit // 10):
            await ClockCycles(self.dut.clk_net_i, 10)
            assert not self.dut.fault_o.value
            if self.dut.sleeping_o.value:
                return
        raise AssertionError("the script does not end")


@cocotb.test()
async def memories_are_read_and_written(dut):
    board = Board(dut)
    script, wanted, written = [], [], []
    for name, (bits, _) in MEMORIES.items():
        # Not where the script and its results are.
        words = random.sample(range(1 << bits - 1, 1 << bits), 12)
        if name in ("TX", "REPORTED"):
            for word in words[:6]:
                written.append((name, word, random.getrandbits(32)))
                script += [1, BASE[name] + 4 * word, written[-1][2]]
        for word in words:
            # The ring goes on after its end.
            beyond = 4 << bits if name == "RING" and random.random() < 0.5 else 0
            script += [2, BASE[name] + 4 * word + beyond]
            wanted.append((name, word))
    before = {name: list(memory) for name, memory in board.memories.items()}
    got = await board.follow(script, len(wanted))
    for name, word, value in written:
        before[name][word] = value
    assert got == [before[name][word] for name, word in wanted]
    # Nothing else was written.
    assert board.memories["REPORTED"] == before["REPORTED"]
    assert board.memories["TX"][len(wanted) :] == before["TX"][len(wanted) :]


# What registers hold goes to these fields: port, struct, field, the register's lowest bit of it, and how many.
HELD = [
    ("ALARM", "alarm_us_o", None, None, 0, 32),
    ("EPOCH", "session_o", "session_t", "epoch", 0, 16),
    ("LOAD_GROUP", "session_o", "session_t", "load_group", 0, 16),
    ("STG_BASE", "image_write_o", "image_write_ctl_t", "base", 0, 32),
    ("STG_LAST", "image_write_o", "image_write_ctl_t", "last", 0, 16),
    ("STG_EMPTY", "image_write_o", "image_write_ctl_t", "empty", 0, 14),
    ("DIG_SOURCE", "job_o", "digest_job_t", "source", 0, 32),
    ("DIG_TARGET", "job_o", "digest_job_t", "target", 0, 32),
    ("DIG_LENGTH", "job_o", "digest_job_t", "length", 0, 29),
    ("DIG_CHUNK", "job_o", "digest_job_t", "chunk", 0, 32),
    ("CFG_SOURCE", "config_o", "config_ctl_t", "source", 0, 32),
    ("LCH_POPPED", "launch_o", "launch_ctl_t", "popped", 0, 5),
    ("LCH_FREEZE", "launch_o", "launch_ctl_t", "freeze", 0, 1),
    ("LCH_ENABLE", "launch_o", "launch_ctl_t", "enable", 0, 1),
    ("MEM_SCRUB_FIRST", "scrub_o", "scrub_ctl_t", "scrub_first", 0, 32),
    ("MEM_SCRUB_LAST", "scrub_o", "scrub_ctl_t", "scrub_last", 0, 32),
]
# Registers of several fields.
SPLIT = {
    "SESSION": ("session_o", "session_t"),
    "STG_CHUNK": ("image_write_o", "image_write_ctl_t"),
    "CFG_LAST": ("config_o", "config_ctl_t"),
    "ROLE_CTRL": ("role_o", "role_ctl_t"),
}
FIELD_NAMES = {"reset": "hold", "length": "chunk", "words": "last_words", "beat": "last"}


@cocotb.test()
async def what_is_written_holds(dut):
    board = Board(dut)
    values = {name: random.getrandbits(32) for name in [*(row[0] for row in HELD), *SPLIT]}
    order = random.sample([*values], len(values))
    # Twice, so that each is seen to keep its value while the others are written, and to change.
    script = [word for name in order for word in write(name, 0xFFFFFFFF ^ values[name])]
    script += [word for name in order for word in write(name, values[name])]
    script += [word for name in REGISTERS if REGISTERS[name]["access"] == "rw" for word in read(name)]
    script += [word for name in values if REGISTERS[name]["access"] == "set" for word in read(name)]
    kept = [name for name in REGISTERS if REGISTERS[name]["access"] == "rw"]
    results = len(kept) + sum(REGISTERS[name]["access"] == "set" for name in values)
    got = await board.follow(script, results)
    await ReadOnly()
    for name, port, struct, part, low, width in HELD:
        value = field(getattr(dut, port), struct, part) if struct else getattr(dut, port).value.to_unsigned()
        assert value >> low & (1 << width) - 1 == values[name] & (1 << width) - 1, name
    assert field(dut.launch_o, "launch_ctl_t", "bound") == values["LCH_POPPED"] >> 8 & 31
    masks = dict.fromkeys(kept, 0)
    for name, (port, struct) in SPLIT.items():
        for part in REGISTERS[name]["fields"]:
            if part.get("on") == "read":
                continue
            high, _, low = part["bits"].partition("-")
            width = int(high) - int(low or high) + 1
            bits = values[name] >> int(low or high) & (1 << width) - 1
            target = part["name"].lower()
            where = ("board_o", "board_t") if target == "claimed" else (port, struct)
            assert field(getattr(dut, where[0]), where[1], FIELD_NAMES.get(target, target)) == bits, f"{name}.{target}"
            if name in masks:
                masks[name] |= (1 << width) - 1 << int(low or high)
    masks["LCH_ENABLE"] = 1
    assert got[: len(kept)] == [values[name] & masks[name] for name in kept]
    assert not any(got[len(kept) :])
    assert field(dut.session_o, "session_t", "memory") == board.straps[CARD.index("MEMORY")] << 16 & (1 << 40) - 1


@cocotb.test()
async def what_blocks_say_is_read(dut):
    board = Board(dut)
    readable = [name for name, r in REGISTERS.items() if r["access"] in ("ro", "act") and name not in ("TIME_LO", "TIME_HI", "EVENTS")]
    places = [(name, i) for name in readable for i in range(REGISTERS[name].get("count", 1))]
    nowhere = [BASE["CSR"] + offset for offset in (0x0C0, 0x118, 0x120, 0x218, 0x29C, 0x2B0)]
    script = [word for name, i in places for word in read(name, i)] + [word for at in nowhere for word in [2, at]]
    await board.start(script)
    say = {port: random.getrandbits(sum(w for _, w in LAYOUTS[struct].values())) for port, struct in INPUTS.items()}
    for port, value in say.items():
        getattr(dut, port).value = value
    busy = random.getrandbits(3)
    dut.slot_busy_i.value, dut.answer_busy_i.value = busy & 3, busy >> 2
    dut.mem_read_idle_i.value = 1
    dut.heard_i.value = 1
    await RisingEdge(dut.clk_net_i)
    dut.heard_i.value = 0
    heard = board.time
    await board.asleep()
    got = dict(zip(places, board.memories["TX"]))
    assert board.memories["TX"][len(places) : len(places) + len(nowhere)] == [0] * len(nowhere)

    def said(port: str, name: str) -> int:
        low, width = LAYOUTS[INPUTS[port]][name]
        return say[port] >> low & (1 << width) - 1

    def fields(register: str, **values: int) -> int:
        bits = {part["name"].lower(): part["bits"] for part in REGISTERS[register]["fields"] if part.get("on") != "write"}
        assert bits.keys() == values.keys(), register
        return sum(value << int(bits[name].rpartition("-")[2]) for name, value in values.items())

    wanted = {
        "CTL_HEAD": fields("CTL_HEAD", **{n: said("ring_i", n) for n in ("valid", "reason", "offset")}),
        "TX_BUSY": busy,
        "HEARD": heard & 0xFFFFFFFF,
        "WIN_NEXT": said("mem_write_i", "next"),
        "WIN_INSERT": fields("WIN_INSERT", busy=said("mem_write_i", "insert_busy"), result=said("mem_write_i", "insert_result")),
        "WIN_WRITTEN": fields(
            "WIN_WRITTEN", stored=said("mem_write_i", "stored"), written=said("mem_write_i", "written")
        ),
        "WIN_BITS": said("mem_write_i", "bits"),
        "STG_START": said("image_write_i", "busy"),
        "STG_STAGED": said("image_write_i", "staged"),
        "STG_BLOCK": fields("STG_BLOCK", valid=said("image_write_i", "block_valid"), number=said("image_write_i", "block")),
        "DIG_GO": fields("DIG_GO", room=1, idle=said("digest_i", "idle")),
        "CFG_STATUS": fields(
            "CFG_STATUS",
            local=said("config_i", "local_port"),
            **{n: said("config_i", n) for n in ("code", "failed", "done", "busy")},
        ),
        "ROLE_CTRL": fields("ROLE_CTRL", drained=said("role_i", "drained")),
        "ROLE_FAULT": said("role_i", "fault"),
        "LCH_LAST": said("launch_i", "last"),
        "LCH_QUEUE": fields(
            "LCH_QUEUE",
            end=said("launch_i", "end_status"),
            **{n: said("launch_i", n) for n in ("frozen", "running", "head", "tail")},
        ),
        "LCH_VALUE_LO": said("launch_i", "value") & 0xFFFFFFFF,
        "LCH_VALUE_HI": said("launch_i", "value") >> 32,
        "LCH_CYCLES_LO": said("launch_i", "cycles") & 0xFFFFFFFF,
        "LCH_CYCLES_HI": said("launch_i", "cycles") >> 32,
        "LCH_STARTED_US": said("launch_i", "started_us"),
        "LCH_ENDED_US": said("launch_i", "ended_us"),
        "FET_GO": fields("FET_GO", room=1, idle=1),
        "BRG_STATUS": board.bridge[0],
        "BRG_LOST": board.bridge[9],
        "LNK_STATUS": board.bridge[10],  # Links are a neighbour of the bridge.
        "BRG_COUNT": board.bridge[16:],
        **dict(zip(CARD, board.straps)),
    }
    for name in readable:
        if name.startswith(("KEY_", "SIGN_")):
            at = REGISTERS[name]["offset"] - REGISTERS["KEY_OWNER_HI"]["offset"] >> 2
            wanted[name] = [word * int(dut.Keys.value) for word in board.keys[at : at + REGISTERS[name].get("count", 1)]]
    assert wanted.keys() == set(readable)
    for (name, i), value in got.items():
        right = wanted[name][i] if isinstance(wanted[name], list) else wanted[name]
        assert value == right, f"{name}[{i}]: {value:08x}, and not {right:08x}"


# What acts: the port, its struct and field, and what else must be right in that cycle.
ACTS = {
    "FILTER": (
        "filter_o",
        "filter_t",
        "we",
        lambda d, v: field(d.filter_o, "filter_t", "places") == v >> 16 & 0xFFF
        and field(d.filter_o, "filter_t", "value") == v >> 8 & 15
        and field(d.filter_o, "filter_t", "belongs") == v & 63,
    ),
    "CTL_POP": ("ring_pop_o", None, None, lambda d, v: True),
    "TX_SEND": (
        "tx_o",
        "tx_ctl_t",
        "send",
        lambda d, v: field(d.tx_o, "tx_ctl_t", "send_slot") == v >> 16 & 1
        and field(d.tx_o, "tx_ctl_t", "send_bytes") == v & 0x7FF,
    ),
    "WIN_NEXT": ("mem_write_o", "mem_write_ctl_t", "reset", lambda d, v: True),
    "WIN_ACKED": ("mem_write_o", "mem_write_ctl_t", "acked", lambda d, v: True),
    "WIN_INSERT": (
        "mem_write_o",
        "mem_write_ctl_t",
        "insert",
        lambda d, v: field(d.mem_write_o, "mem_write_ctl_t", "insert_seq") == v & 0xFFF
        and not field(d.mem_write_o, "mem_write_ctl_t", "insert_ack_now"),
    ),
    "WIN_INSERT_NOW": (
        "mem_write_o",
        "mem_write_ctl_t",
        "insert",
        lambda d, v: field(d.mem_write_o, "mem_write_ctl_t", "insert_seq") == v & 0xFFF
        and field(d.mem_write_o, "mem_write_ctl_t", "insert_ack_now"),
    ),
    "STG_START": ("image_write_o", "image_write_ctl_t", "start", lambda d, v: True),
    "STG_BLOCK_POP": ("image_write_o", "image_write_ctl_t", "block_pop", lambda d, v: True),
    "LCH_LAST": ("launch_o", "launch_ctl_t", "last_we", lambda d, v: field(d.launch_o, "launch_ctl_t", "last") == v),
    "LCH_ARGS": (
        "launch_o",
        "launch_ctl_t",
        "args_we",
        lambda d, v: field(d.launch_o, "launch_ctl_t", "args_kernel") == v >> 8 & 63
        and field(d.launch_o, "launch_ctl_t", "args_takes") == v & 63
        and field(d.launch_o, "launch_ctl_t", "args_words") == v >> 16 & 63,
    ),
    "LCH_ORDER": (
        "launch_o",
        "launch_ctl_t",
        "order_we",
        lambda d, v: field(d.launch_o, "launch_ctl_t", "order_at") == v >> 8 & 31
        and field(d.launch_o, "launch_ctl_t", "order_slot") == v & 31
        and field(d.launch_o, "launch_ctl_t", "order_held") == v >> 16 & 1,
    ),
    "CFG_NAME": (
        "board_o",
        "board_t",
        "name",
        lambda d, v: (field(d.board_o, "board_t", "name_word"), field(d.board_o, "board_t", "name_at")) == (v, 0),
    ),
    "LCH_DROP": ("launch_o", "launch_ctl_t", "drop", lambda d, v: True),
    "LCH_STOP": ("launch_o", "launch_ctl_t", "stop", lambda d, v: True),
    "FET_FLUSH": ("mem_read_flush_o", None, None, lambda d, v: True),
}


@cocotb.test()
async def what_acts_does_so_once(dut):
    board = Board(dut)
    writes = [(name, random.getrandbits(32)) for name in random.sample([*ACTS], len(ACTS))]
    writes += [("CFG_GO", 1), ("CFG_GO", 2), ("CFG_GO", 0)]
    await board.start([word for name, value in writes for word in write(name, value)])
    signals = {(port, struct, part) for port, struct, part, _ in ACTS.values()}
    signals |= {("config_o", "config_ctl_t", "start"), ("config_o", "config_ctl_t", "stop")}
    seen = []
    while not dut.sleeping_o.value:
        await RisingEdge(dut.clk_net_i)
        await ReadOnly()
        for port, struct, part in signals:
            if field(getattr(dut, port), struct, part) if struct else getattr(dut, port).value:
                seen.append((port, struct, part))
                pending = [name for name, *_ in writes[len(seen) - 1 : len(seen)]]
                if pending and pending[0] in ACTS:
                    name, value = writes[len(seen) - 1]
                    assert ACTS[name][3](dut, value), name
    config = [("config_o", "config_ctl_t", part) for part in ("start", "stop")]
    assert seen == [ACTS[name][:3] for name, _ in writes if name in ACTS] + config


@cocotb.test()
async def what_is_written_for_keys_goes_to_them_alone(dut):
    """Each word beside the bridge's; without keys it goes nowhere."""
    board = Board(dut)
    base = address("KEY_OWNER_HI")
    words = [(at, random.getrandbits(32)) for at in random.sample(range(32), 32)]
    others = write("BRG_SET", 1) + write("EPOCH", 1) + write("BRG_WHAT", 1)
    await board.start([word for at, value in words for word in (1, base + 4 * at, value)] + others)
    seen, bridge = [], 0
    while not dut.sleeping_o.value:
        await RisingEdge(dut.clk_net_i)
        await ReadOnly()
        bridge += field(dut.bridge_o, "bridge_ctl_t", "write")
        if field(dut.keys_o, "keys_ctl_t", "write"):
            seen.append((field(dut.keys_o, "keys_ctl_t", "at"), field(dut.keys_o, "keys_ctl_t", "word")))
    assert seen == (words if dut.Keys.value else [])
    assert bridge == 2


@cocotb.test()
async def a_name_has_eight_words(dut):
    board = Board(dut)
    words = [random.getrandbits(32) for _ in range(8)]
    base = address("CFG_NAME")
    await board.start([word for at, value in enumerate(words) for word in (1, base + 4 * at, value)])
    seen = []
    while not dut.sleeping_o.value:
        await RisingEdge(dut.clk_net_i)
        await ReadOnly()
        if field(dut.board_o, "board_t", "name"):
            seen.append((field(dut.board_o, "board_t", "name_at"), field(dut.board_o, "board_t", "name_word")))
    assert seen == [*enumerate(words)]


@cocotb.test()
async def requests_wait_until_they_are_taken(dut):
    board = Board(dut)
    script = []
    for name, value in (("DIG_GO", 2), ("FET_GO", 1)):
        script += read(name) + write(name, value) + read(name)
    script += write("MEM_SCRUB_GO", 0)
    # Until the test has taken them all, and looked.
    script += write("SLEEP", 1 << EVENTS["CONTROL"])
    script += [word for name in ("DIG_GO", "FET_GO") for word in read(name)]
    await board.start(script)
    dut.digest_i.value = pack("digest_status_t", idle=1)
    dut.mem_read_idle_i.value = 1
    await board.asleep()
    assert dut.job_valid_o.value and dut.mem_read_valid_o.value
    assert field(dut.job_o, "digest_job_t", "root") and not field(dut.job_o, "digest_job_t", "parents")
    for valid, ready in (
        (dut.job_valid_o, dut.job_ready_i),
        (dut.mem_read_valid_o, dut.mem_read_ready_i),
    ):
        ready.value = 1
        await RisingEdge(dut.clk_net_i)
        ready.value = 0
        await ReadOnly()
        assert not valid.value
        await RisingEdge(dut.clk_net_i)
    # A scrub lasts until done has come.
    assert field(dut.scrub_o, "scrub_ctl_t", "scrub")
    dut.scrub_done_i.value = 1
    await ClockCycles(dut.clk_net_i, 3)
    assert not field(dut.scrub_o, "scrub_ctl_t", "scrub")
    dut.ring_i.value = pack("ring_head_t", valid=1)
    await ClockCycles(dut.clk_net_i, 600)
    await board.asleep()
    # Room and idle; the same. Then taken in the same order.
    assert board.memories["TX"][:4] == [3, 0, 3, 0]
    assert board.memories["TX"][4:6] == [3, 3]


CAUSES = {
    "CONTROL": ("ring_i", pack("ring_head_t", valid=1)),
    "ACK_DUE": ("mem_write_i", pack("mem_write_status_t", ack_due=1)),
    "LAUNCH_ENDED": ("launch_i", pack("launch_status_t", ended=1)),
    "BLOCK_WHOLE": ("image_write_i", pack("image_write_status_t", block_valid=1)),
    "DIGEST_IDLE": ("digest_i", pack("digest_status_t", idle=1)),
    "SCRUB_DONE": ("scrub_done_i", 1),
    "FETCH_DONE": ("cpu_fetched_i", 1),
    "CONFIG_DONE": ("config_i", pack("config_status_t", failed=1)),
    "ROLE_FAULT": ("role_i", pack("role_status_t", fault=4)),
    "TX_FREE": ("slot_busy_i", 1),
}


@cocotb.test()
@cocotb.parametrize(lasting=[False, True])
async def events_wake_it(dut, lasting):
    for name, (port, value) in CAUSES.items():
        bit = 1 << EVENTS[name]
        board = Board(dut)
        # Far away, so that the alarm is not there.
        script = write("ALARM", board.time + 10_000_000 & 0xFFFFFFFF) + read("EVENTS") + write("SLEEP", bit)
        script += read("EVENTS") + write("CLEAR", bit) + read("EVENTS")
        await board.start(script)
        dut.slot_busy_i.value = 3
        await board.asleep()
        # Other events do not.
        for other, (its_port, its_value) in CAUSES.items():
            if its_port != port:
                getattr(dut, its_port).value = its_value
                await ClockCycles(dut.clk_net_i, 2)
                getattr(dut, its_port).value = 3 if other == "TX_FREE" else 0
        await ClockCycles(dut.clk_net_i, 10)
        assert dut.sleeping_o.value and not dut.alarm_valid_o.value, name
        getattr(dut, port).value = value
        if name in LATCHED and not lasting:
            await RisingEdge(dut.clk_net_i)
            getattr(dut, port).value = 0
        await ClockCycles(dut.clk_net_i, 8)
        assert not dut.sleeping_o.value, name
        await board.asleep()
        before, then, after = board.memories["TX"][:3]
        assert not before & bit and then & bit, name
        assert bool(after & bit) == (name not in LATCHED), name
        others = sum(1 << EVENTS[other] for other in LATCHED if other != name)
        assert then & others == after & others == others, name


@cocotb.test()
async def the_alarm_wakes_it(dut):
    board = Board(dut)
    # The high half changes between the two reads of it.
    board.time = (5 << 32) - 200
    alarm = board.time + 1500
    script = read("TIME_LO") + [2, 0x1000_0000] * 12 + read("TIME_HI") + read("TIME_LO") + read("TIME_HI")
    script += write("ALARM", alarm & 0xFFFFFFFF) + read("EVENTS") + write("SLEEP", 1 << EVENTS["ALARM"])
    script += read("EVENTS") + read("TIME_LO")
    await board.start(script)
    await board.asleep()
    assert dut.alarm_valid_o.value and dut.alarm_us_o.value == alarm & 0xFFFFFFFF
    while dut.sleeping_o.value:
        await RisingEdge(dut.clk_net_i)
    assert 0 < board.time - alarm < 10
    await board.asleep()
    got = board.memories["TX"]
    low, high, low_then, high_then, before, then, at = got[0], *got[13:19]
    assert low > 0xFFFFFF00 and high == 4, "the high half is that of the low half"
    assert low_then < 1000 and high_then == 5
    bit = 1 << EVENTS["ALARM"]
    assert not before & bit and then & bit
    assert at - (alarm & 0xFFFFFFFF) < 100


@cocotb.test()
async def reset_cuts_all_off(dut):
    board = Board(dut)
    names = ["SESSION", "ROLE_CTRL", "LCH_ENABLE", "DIG_GO", "FET_GO", "MEM_SCRUB_GO"]
    await board.follow([word for name in names for word in write(name, 0xFFFFFFFF)])
    dut.rst_net_ni.value = 0
    await ClockCycles(dut.clk_net_i, 2)
    await ReadOnly()
    for name in ("listening", "loading", "receiving", "role", "configuring", "solicit_fast"):
        assert not field(dut.session_o, "session_t", name)
    assert dut.role_o.value == 0
    assert not field(dut.launch_o, "launch_ctl_t", "enable")
    for valid in (dut.job_valid_o, dut.mem_read_valid_o):
        assert not valid.value
    assert not field(dut.scrub_o, "scrub_ctl_t", "scrub")


@cocotb.test()
async def an_access_outside_stops_it(dut):
    for script in ([2, 0x0800_0000], [1, 0x8000_0000, 1], [2, BASE["RING"] + 2]):
        board = Board(dut)
        await board.start(script)
        await ClockCycles(dut.clk_net_i, 400)
        assert dut.fault_o.value


SOURCES = ["common/rl_wire_pkg.sv", "common/rl_csr_pkg.sv", "shell/rl_shell_pkg.sv", "config/rl_config_pkg.sv", "control/rl_control_pkg.sv"]
MODULES = ["rl_firmware_ram", "rl_cpu", "rl_csr_write", "rl_csr_read", "rl_events", "rl_control"]


@pytest.mark.parametrize("keys", [0, 1])
def test_rl_control(keys):
    out = ROOT / "out/tb/programs/script"
    packages = []
    for variant in (firmware.PLAIN, firmware.KEYS):
        sources = [firmware.HERE / "start.S", ROOT / "gateware/tb/control/c/script.c"]
        script = firmware.build(sources, out / variant.package, variant=variant)
        packages.append(out / f"{variant.package}.sv")
        packages[-1].write_text(firmware.package(script, "for a bench", variant.package))
    modules = [f"control/{name}.sv" for name in MODULES]
    bench("rl_control", [*SOURCES, *packages, "common/rl_lutram.sv", *modules], __name__, {"Keys": keys})
