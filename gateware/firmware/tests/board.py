"""The shell's blocks as the firmware sees them, without their timing: what they do, they do at once. Digests, the window
and the routes of frames are the models'.

`Board` runs the firmware, built for this machine, turn by turn until it sleeps. Frames come in with `receive`, what is
sent is in `sent`; time passes with `run_for`.
"""

import ctypes
import itertools
import shutil
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

import golden
from addresses import CARD_MAC
from golden import Arrival, Reason, Route, Sack
from headers import C, W
from wire import COUNTER, FLAG, Frame, number

HERE = Path(__file__).resolve().parent
REGIONS, REGION_WORDS = 8, 0x4000
READER = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_uint32)
WRITER = ctypes.CFUNCTYPE(None, ctypes.c_uint32, ctypes.c_uint32)
M32 = 0xFFFFFFFF
SLEEPS_MAX = 100_000
LATCHED = C.EVENTS_DIGEST_IDLE | C.EVENTS_SCRUB_DONE | C.EVENTS_FETCH_DONE | C.EVENTS_CONFIG_DONE | C.EVENTS_ROLE_FAULT


@dataclass
class Config:
    mac: int = CARD_MAC
    unit: int = 0
    boot: int = 1
    seed: int = 1
    memory: int = 8 << 20
    clock_khz: int = 250_000
    bulk: int = 1472
    ack_every: int = 16
    ack_delay: int = 20
    resend: int = 2000
    announce_ms: int = 10_000
    staging_max: int = 1 << 20
    config_us: int = 0
    scrub_us: int = 0
    restart: int = 0  # What the card awaits once the port has written the flash: Restart, or 0 for a region.
    restarts: int = 0  # The register.
    link: int = C.LINK_UP  # As well.
    port_mbps: int = 10_000
    drain_us: int = 0  # What the role's transfers take to end once it is cut off.


@dataclass
class Launch:
    seq: int
    words: list[int]  # Of the frame, 32 bits each.
    started: int | None = None
    ends: int | None = None


@dataclass
class Sent:
    at: int
    frame: Frame


@dataclass
class Load:
    base: int = 0
    length: int = 0
    chunk: int = 0
    have: set = field(default_factory=set)
    blocks: dict = field(default_factory=dict)
    whole: deque = field(default_factory=deque)


class Board:
    _copies = itertools.count()

    def __init__(self, library: Path, config: Config | None = None) -> None:
        # The firmware for this machine, or the interpreter of the processor's, with its code beside it.
        # A library's variables live as long as it: each board has a copy of its own.
        own = library.with_name(f"{library.stem}-{next(self._copies)}.so")
        shutil.copy(library, own)
        self.lib = ctypes.CDLL(str(own))
        self.memory = ((ctypes.c_uint32 * REGION_WORDS) * REGIONS).in_dll(self.lib, "board_memory")
        self.config = config or Config()
        self.time = 0
        self.sent: deque[Sent] = deque()
        self.ddr = bytearray(self.config.memory + 2 * self.config.staging_max + (1 << 16))
        self.registers: dict[int, int] = {}
        # What a half byte of an address can belong to; until that is written, anything.
        self.filter = [[C.FILTER_OWNER | C.FILTER_CARD] * 16 for _ in range(12)]
        self.latched = 0
        self.asleep = False
        self.last_read = 0
        self.control: deque[tuple[int, int]] = deque()  # Offset and why.
        self.ring_at = 0
        self.heard = self.answered = 0
        self.window, self.unacked, self.ack_at, self.insert = Sack(1), 0, None, 0
        self.load = Load()
        self.staged = 0
        self.digest_jobs: list[tuple[int, int, int, int, int]] = []
        self.digest_value = bytes(32)
        self.digest_held = False  # The engine takes jobs and does not do them.
        self.config_done_at: int | None = None
        self.config_fails = self.local = False
        self.config_sticks = False  # The controller does not let go of what is stopped,
        self.config_stopping = False  # and has not yet.
        self.config_status = 0
        self.config_code = 0
        self.scrub_done_at: int | None = None
        self.booted: bytes | None = None  # Digest of the image that the device has booted.
        self.configured: list[bytes] = []  # Digest that was named for each configuration.
        self.role_ctrl = 0
        self.isolations = 0  # How often the role has been cut off.
        self.drained_at = 0
        self.configured_drained: list[bool] = []  # Of each configuration: whether the role had drained when it began.
        self.order = [(0, False)] * 32  # What is in each place of the ring: a slot, and whether it is held.
        self.launches: dict[int, Launch] = {}  # By their slot: those that are queued.
        self.head = self.tail = self.popped = self.bound = 0
        self.frozen = False
        self.ran: tuple[int, int, int, int, int] = (0, 0, 0, 0, 0)  # Status, value, cycles, from, to.
        self.lch_last = 0
        self.stops_in = 0
        self.kernels = lambda kernel, args: (0, 0, 0, 0)  # Status, value, cycles, microseconds.
        self.args: dict[int, int] = {}
        self.fetches_left: int | None = None  # None: room for any number.
        # ctypes keeps no reference.
        self._callbacks = (READER(self.read), WRITER(self.write))
        self.lib.board_attach(*self._callbacks)
        self.failure: BaseException | None = None
        self.stack_max: int | None = None
        if (image := library.with_suffix(".image")).exists():
            code = image.read_bytes()
            self.stack_max, ram = map(int, library.with_suffix(".stack").read_text().split())
            self.lib.rv32_load(code, len(code), ram)
        self.lib.firmware_start()
        self.run()

    # ---- time
    def turn(self) -> None:
        self.asleep = False
        self.lib.firmware_turn()
        if self.failure:
            raise self.failure
        if self.stack_max is not None:
            # Which is what the build leaves room for.
            stack = ctypes.c_uint32.in_dll(self.lib, "rv32_stack").value
            assert stack <= self.stack_max, f"{stack} bytes of stack, and {self.stack_max} were found"

    def run(self) -> None:
        """Until the firmware sleeps and nothing that it waits for has happened."""
        for _ in range(SLEEPS_MAX):
            self.turn()
            self.step()
            if self.asleep and not self.stops_in and not self.events() & self.registers[C.CSR_SLEEP]:
                return
        raise AssertionError("the firmware never sleeps")

    def step(self) -> None:
        """What the blocks do by themselves."""
        self.stop_running()
        self.work_digest()
        if self.config_stopping and not self.config_sticks:
            self.config_stopping = False
            self.config_status = C.CFG_STATUS_FAILED
            self.latched |= C.EVENTS_CONFIG_DONE
        if self.config_done_at is not None and self.config_done_at <= self.time:
            self.config_done_at = None
            failed = C.CFG_STATUS_FAILED | self.config_code << C.CFG_STATUS_CODE_SHIFT
            self.config_status = failed if self.config_fails else C.CFG_STATUS_DONE
            self.latched |= C.EVENTS_CONFIG_DONE
        if self.scrub_done_at is not None and self.scrub_done_at <= self.time:
            self.scrub_done_at = None
            first, end = self.registers[C.CSR_MEM_SCRUB_FIRST], self.registers[C.CSR_MEM_SCRUB_LAST] + 1
            self.ddr[first * 64 : end * 64] = bytes((end - first) * 64)
            self.latched |= C.EVENTS_SCRUB_DONE
        self.step_kernels()

    def deadlines(self) -> list[int]:
        alarm, awaited = self.registers.get(C.CSR_ALARM, 0), self.registers[C.CSR_SLEEP] & C.EVENTS_ALARM
        due = [self.time + ((alarm - self.time) & M32)] if (alarm - self.time) & M32 < 1 << 31 else [self.time]
        due = due if awaited else []
        due += [launch.ends for launch in self.queue() if launch.ends is not None]
        return due + [at for at in (self.ack_at, self.config_done_at, self.scrub_done_at) if at is not None]

    def run_for(self, us: int) -> None:
        """Lets time pass, waking the firmware when it wants."""
        end = self.time + us
        self.run()
        while (at := min(self.deadlines(), default=end + 1)) <= end:
            self.time = max(self.time, at)
            self.run()
        self.time = end
        self.run()

    def events(self) -> int:
        events = self.latched | C.EVENTS_TX_FREE
        events |= C.EVENTS_CONTROL if self.control else 0
        events |= C.EVENTS_ACK_DUE if self.ack_at is not None and self.ack_at <= self.time else 0
        events |= C.EVENTS_LAUNCH_ENDED if self.head != self.popped else 0
        events |= C.EVENTS_BLOCK_WHOLE if self.load.whole else 0
        alarm = self.registers.get(C.CSR_ALARM, 0)
        return events | (C.EVENTS_ALARM if (self.time - alarm) & M32 < 1 << 31 else 0)

    # ---- frames in
    def count(self, name: str, n: int = 1) -> None:
        at = 2 * COUNTER[name]
        memory = self.memory[C.COUNTER_BASE >> 28]
        value = (memory[at + 1] << 32 | memory[at]) + n
        memory[at], memory[at + 1] = value & M32, value >> 32

    def field(self, register: int, bit: int) -> bool:
        return bool(self.registers.get(register, 0) & bit)

    def belongs(self, address: int) -> int:
        """Whose an address is: bits of FILTER."""
        out = C.FILTER_CARD | C.FILTER_OWNER | C.FILTER_CARDS | C.FILTER_ALL | C.FILTER_LOAD | C.FILTER_CLAIM
        for place in range(12):
            out &= self.filter[place][address >> 4 * (11 - place) & 15]
        return out

    def owner(self) -> int:
        """The one address that is the owner's, or 0."""
        halves = [[value for value in range(16) if place[value] & C.FILTER_OWNER] for place in self.filter]
        assert all(len(values) == len(halves[0]) <= 1 for values in halves), halves
        return sum(values[0] << 4 * (11 - place) for place, values in enumerate(halves)) if halves[0] else 0

    def receive(self, raw: bytes) -> None:
        """A frame that passed the analyzer's first checks, which the firmware has no part in."""
        self.count("rx_frames")
        self.count("rx_bytes", len(raw))
        self.run()
        f = Frame.parse(raw)
        session = lambda bit: self.field(C.CSR_SESSION, bit)  # noqa: E731
        assert session(C.SESSION_LISTENING)
        card = self.judged_by(f.src)
        judged = golden.route(card, raw)
        quick = f.kind == W.KIND_DISCOVERY_SOLICIT and session(C.SESSION_SOLICIT_FAST) and f.payload == bytes(8)
        match judged.route:
            case Route.DROP:
                self.count(judged.drop)
            case Route.CONTROL if quick:
                self.answered += 1
                self.count("announces")
                self.announce(f.src, f.seq)
            case Route.CONTROL:
                self.push_control(raw, judged.reason)
            case Route.IMAGE:
                self.heard = self.time
                self.stage(f, session(C.SESSION_RECEIVING))
            case Route.WRITE:
                self.heard = self.time
                self.store(f)
            case Route.READ:
                reason = golden.admit(card, raw)
                if reason == Reason.ACCEPTED:
                    self.heard = self.time
                    self.read_ddr(f)
                else:
                    self.push_control(raw, reason)
            case Route.LAUNCH:
                reason = self.judge_launch(f)
                if reason == Reason.ACCEPTED:
                    self.heard = self.time
                self.push_control(raw, reason)
        self.run()

    def queue_control(self, raw: bytes) -> None:
        """A control frame comes while the firmware is busy, and waits in the ring."""
        judged = golden.route(self.judged_by(Frame.parse(raw).src), raw)
        assert judged.route == Route.CONTROL
        self.push_control(raw, judged.reason)

    def judged_by(self, src: int) -> golden.Card:
        """What the firmware has said that a frame from there is judged by."""
        low = lambda register: self.registers.get(register, 0) & 0xFFFF  # noqa: E731
        return golden.Card(
            mac=self.config.mac,
            # The filter knows addresses half a byte at a time: it is asked, as hardware does, and not read out.
            owner=src,
            claimed=bool(self.belongs(src) & C.FILTER_OWNER),
            epoch=low(C.CSR_EPOCH),
            claim_group=0,
            loading=self.field(C.CSR_SESSION, C.SESSION_LOADING),
            load_group=low(C.CSR_LOAD_GROUP),
            memory=self.config.memory,
            bulk=self.config.bulk,
        )

    def push_control(self, raw: bytes, why: int) -> None:
        ring = self.memory[C.RING_BASE >> 28]
        padded = raw[: 192 * 8]
        padded += bytes(-len(padded) % 8)
        for at in range(0, len(padded), 4):
            ring[(self.ring_at + at) // 4 % (C.RING_BYTES // 8)] = int.from_bytes(padded[at : at + 4], "big")
        self.control.append((self.ring_at, why))
        self.ring_at = (self.ring_at + len(padded)) % (C.RING_BYTES // 2)

    # ---- writes and reads
    def store(self, f: Frame) -> None:
        result, in_order = self.note(f.seq)
        if result == Arrival.NEW:
            self.ddr[f.addr : f.addr + len(f.payload)] = f.payload
            self.count("writes")
            self.count("write_bytes", len(f.payload))
        else:
            self.count("drop_duplicate" if result == Arrival.DUPLICATE else "drop_window")
        self.arrive(result, in_order, f.flags & FLAG.ACK_NOW != 0)

    def note(self, seq: int) -> tuple[Arrival, bool]:
        in_order = seq == self.window.next
        return self.window.insert(seq), in_order

    def arrive(self, result: Arrival, in_order: bool, now: bool) -> None:
        if result != Arrival.BEYOND:
            self.unacked += 1
        at_once = now or not in_order or self.unacked >= self.config.ack_every
        due = self.time if at_once else self.time + self.config.ack_delay
        self.ack_at = due if self.ack_at is None else min(due, self.ack_at)

    def read_ddr(self, f: Frame) -> None:
        length = number(f.payload[:4])
        self.count("reads")
        self.count("read_bytes", length)
        high, low, *words = self.template(0)
        assert high == low == 0
        words[W.HEADER_LENGTH_WORD] |= length << 16
        words[W.HEADER_SEQ_WORD] |= f.seq
        words[W.HEADER_ADDR_WORD] |= f.addr >> 32
        words[W.HEADER_ADDR_WORD + 1] |= f.addr & M32
        head = b"".join(word.to_bytes(4, "big") for word in words)
        self.transmit(head + bytes(self.ddr[f.addr : f.addr + length]))

    # ---- image data and digest
    def stage(self, f: Frame, receiving: bool) -> None:
        load = self.load
        index = f.addr // load.chunk
        if not receiving:
            return self.count("drop_duplicate")
        right = f.addr % load.chunk == 0 and f.addr < load.length
        if not right or len(f.payload) != min(load.chunk, load.length - f.addr):
            return self.count("drop_malformed")
        if index in load.have:
            return self.count("drop_duplicate")
        self.count("image_chunks")
        load.have.add(index)
        self.staged += 1
        word = C.HAVE_BASE >> 28, index // 32
        self.memory[word[0]][word[1]] |= 1 << index % 32
        self.ddr[load.base + f.addr : load.base + f.addr + len(f.payload)] = f.payload
        at = f.addr
        while at < f.addr + len(f.payload):
            block = at >> 16
            end = min((block + 1) << 16, f.addr + len(f.payload))
            load.blocks[block] -= end - at
            if load.blocks[block] == 0:
                load.whole.append(block)
            at = end
        return None

    def start_load(self) -> None:
        last, lengths = self.registers[C.CSR_STG_LAST], self.registers[C.CSR_STG_CHUNK]
        chunk, last_length = lengths & C.STG_CHUNK_LENGTH_MASK, lengths >> C.STG_CHUNK_LAST_LENGTH_SHIFT
        assert 0 < last_length <= chunk
        length = last * chunk + last_length
        assert self.registers[C.CSR_STG_EMPTY] == max(last // 4, (length - 1) >> 16)
        load = Load(self.registers[C.CSR_STG_BASE] * 64, length, chunk)
        load.blocks = {b: min(65536, length - (b << 16)) for b in range((length + 65535) >> 16)}
        self.load = load
        have = self.memory[C.HAVE_BASE >> 28]
        for i in range(C.HAVE_BYTES // 4):
            have[i] = 0

    def work_digest(self) -> None:
        if self.digest_held or not self.digest_jobs:
            return
        for go, source, target, length, chunk in self.digest_jobs:
            data = bytes(self.ddr[source * 64 : source * 64 + length])
            root = bool(go & C.DIG_GO_ROOT)
            parents = go & C.DIG_GO_PARENTS
            values = golden.parent_values(data, root) if parents else golden.chunk_values(data, chunk, root)
            assert not root or len(values) == 32
            self.ddr[target * 64 : target * 64 + len(values)] = values
            self.digest_value = values[-32:]
        self.digest_jobs.clear()
        self.latched |= C.EVENTS_DIGEST_IDLE

    # ---- launches
    def judge_launch(self, f: Frame) -> Reason:
        """Queues a launch, or says why the firmware gets it."""
        has_role = self.field(C.CSR_SESSION, C.SESSION_ROLE)
        takes = self.takes() if has_role else b""
        reason = golden.admit(self.judged_by(f.src), f.raw(), last=self.lch_last, takes=takes)
        if reason != Reason.ACCEPTED:
            return reason
        if self.tail == self.bound:
            return Reason.BUSY
        words = [number(f.payload[at : at + 4]) for at in range(0, len(f.payload), 4)]
        slot = self.order[self.tail][0]
        self.order[self.tail] = slot, words[6] != 0
        self.tail = (self.tail + 1) % 32
        self.lch_last = f.seq
        self.launches[slot] = Launch(f.seq, words)
        content = {
            C.LAUNCH_SLOT_SEQ: f.seq,
            C.LAUNCH_SLOT_KERNEL: f.addr,
            C.LAUNCH_SLOT_OUT_ADDR: words[2],
            C.LAUNCH_SLOT_OUT_ADDR + 1: words[3],
            C.LAUNCH_SLOT_OUT_LENGTH: words[4],
            C.LAUNCH_SLOT_OUT_LENGTH + 1: words[5],
            C.LAUNCH_SLOT_GO: words[6],
            C.LAUNCH_SLOT_CREDIT_ARGS: words[7],
        }
        for word, value in content.items():
            self.memory[C.LAUNCH_BASE >> 28][(slot * C.LAUNCH_SLOT_BYTES) // 4 + word] = value
        self.step_kernels()
        return Reason.ACCEPTED

    def takes(self) -> bytes:
        """How many arguments each kernel takes, as the firmware has said."""
        said = itertools.takewhile(bool, (self.args.get(kernel, 0) for kernel in range(64)))
        return bytes(value & 0xFF for value in said)

    def queue(self) -> list[Launch]:
        """Those that have not ended, oldest first."""
        places = range(self.head, self.head + (self.tail - self.head) % 32)
        return [self.launches[self.order[at % 32][0]] for at in places]

    def running(self) -> bool:
        return any(launch.started is not None for launch in self.queue())

    def step_kernels(self) -> None:
        while (queue := self.queue()) and not self.stops_in and self.field(C.CSR_LCH_ENABLE, C.LCH_ENABLE_ENABLE):
            launch = queue[0]
            slot, held = self.order[self.head]
            if launch.started is None:
                # What ended is still to be read.
                if held or self.head != self.popped:
                    return
                args = [h << 32 | low for h, low in zip(launch.words[8::2], launch.words[9::2], strict=True)]
                kernel = self.memory[C.LAUNCH_BASE >> 28][(slot * C.LAUNCH_SLOT_BYTES) // 4 + C.LAUNCH_SLOT_KERNEL]
                launch.started = self.time
                launch.outcome = self.kernels(kernel, args)
                launch.ends = self.time + launch.outcome[3]
            if launch.ends > self.time:
                return
            self.end(*launch.outcome[:3])

    def stop_running(self) -> None:
        """A kernel that was cancelled takes some time to end."""
        self.stops_in -= self.stops_in > 0
        if self.stops_in == 1:
            self.stops_in = 0
            self.end(W.ERROR_CODE_CANCELLED, 0, 5)

    def end(self, status: int, value: int, cycles: int) -> None:
        """The launch that runs ends."""
        launch = self.queue()[0]
        assert not self.frozen
        self.ran = (status, value, cycles, launch.started, self.time)
        self.drop()

    def drop(self) -> None:
        del self.launches[self.order[self.head][0]]
        self.head = (self.head + 1) % 32

    def ring(self) -> int:
        if not self.frozen:
            self.stop_running()
        end = self.ran[0] - W.ERROR_CODE_KERNEL_TRAP + 1 if self.ran[0] else 0
        running = C.LCH_QUEUE_RUNNING if self.running() else 0
        bits = running | end << C.LCH_QUEUE_END_SHIFT | self.head << C.LCH_QUEUE_HEAD_SHIFT | self.tail
        return bits | (C.LCH_QUEUE_FROZEN if self.frozen else 0)

    # ---- frames out
    def slot_bytes(self, slot: int, length: int) -> bytearray:
        words = self.memory[C.TX_BASE >> 28][slot * 512 : slot * 512 + (length + 3) // 4]
        return bytearray(b"".join(word.to_bytes(4, "big") for word in words)[:length])

    def announce(self, dst: int, seq: int) -> None:
        raw = self.slot_bytes(2, W.HEADER_END + 4 * W.ANNOUNCE_WORDS)
        raw[0:6] = dst.to_bytes(6, "big")
        raw[20:24] = seq.to_bytes(4, "big")
        self.transmit(bytes(raw))

    def transmit(self, raw: bytes) -> None:
        raw = raw.ljust(W.FRAME_MIN, b"\0")
        self.count("tx_frames")
        self.count("tx_bytes", len(raw))
        frame = Frame.parse(raw)
        assert len(raw) == max(W.FRAME_MIN, W.HEADER_END + len(frame.payload)), (len(raw), frame.name)
        self.sent.append(Sent(self.time, frame))

    def template(self, which: int) -> list[int]:
        """A template of what is fetched: two words for the memory, and a head."""
        at = 3 * 512 + 16 * which
        return self.memory[C.TX_BASE >> 28][at : at + 10]

    def fetch(self) -> None:
        high, low, *head = self.template(1)
        addr, length = (high & 0xFF) << 32 | low, high >> 16
        data = bytes(self.ddr[addr : addr + length])
        assert 0 < length <= self.config.bulk and len(data) == length
        if high >> 15 & 1:
            at = (high >> 14 & 1) * 512 + W.PAYLOAD_WORD
            padded = data + bytes(-len(data) % 4)
            for i in range(0, len(padded), 4):
                self.memory[C.TX_BASE >> 28][at + i // 4] = int.from_bytes(padded[i : i + 4], "big")
            self.latched |= C.EVENTS_FETCH_DONE
            return
        assert head[W.HEADER_LENGTH_WORD] >> 16 == length
        self.transmit(b"".join(word.to_bytes(4, "big") for word in head) + data)

    # ---- registers
    def read(self, address: int) -> int:
        try:
            value = self.read_register(address)
            self.last_read = address
            return value & M32
        except BaseException as error:  # noqa: BLE001 - ctypes would print and forget it.
            self.failure = error
            return 0

    def write(self, address: int, value: int) -> None:
        try:
            self.last_read = 0
            self.write_register(address, value)
        except BaseException as error:  # noqa: BLE001
            self.failure = error

    def read_register(self, address: int) -> int:
        c = self.config
        if address == C.CSR_TIME_LO and self.last_read in (C.CSR_TIME_LO, C.CSR_ROLE_CTRL):
            self.time += 1  # The firmware waits for time to pass.
        if C.CSR_WIN_BITS <= address < C.CSR_WIN_BITS + 32:
            return self.window.ring() >> (address - C.CSR_WIN_BITS) * 8
        status = {
            C.CSR_TIME_LO: lambda: self.time,
            C.CSR_TIME_HI: lambda: self.time >> 32,
            C.CSR_EVENTS: self.events,
            C.CSR_MAC_HI: lambda: c.mac >> 32,
            C.CSR_MAC_LO: lambda: c.mac,
            C.CSR_CARD: lambda: c.unit << 16 | W.CARD_KIND_RTL << 8 | 1,
            C.CSR_PRODUCT: lambda: 0x524C0001,
            C.CSR_BOOT: lambda: c.boot,
            C.CSR_SEED: lambda: c.seed,
            C.CSR_MEMORY: lambda: c.memory >> 16,
            C.CSR_CLOCK_KHZ: lambda: c.clock_khz,
            C.CSR_PORT_RATE: lambda: c.port_mbps,
            C.CSR_STAGE_RATE: lambda: 0,
            C.CSR_CONFIG_RATE: lambda: 400_000,
            C.CSR_STAGING_MAX: lambda: c.staging_max,
            C.CSR_LIMITS: lambda: c.ack_every << 16 | c.bulk,
            C.CSR_ACK_DELAY: lambda: c.ack_delay,
            C.CSR_RESEND: lambda: c.resend,
            C.CSR_ANNOUNCE_INTERVAL: lambda: c.announce_ms,
            C.CSR_RESTARTS: lambda: c.restarts,
            C.CSR_LINK: lambda: c.link,
            C.CSR_CTL_HEAD: self.control_head,
            C.CSR_TX_BUSY: lambda: 0,
            C.CSR_HEARD: lambda: self.heard,
            C.CSR_WIN_NEXT: lambda: self.window.next,
            C.CSR_WIN_INSERT: lambda: self.insert,
            C.CSR_STG_START: lambda: 0,
            C.CSR_STG_STAGED: lambda: self.staged & 0x1FFFF,
            C.CSR_STG_BLOCK: lambda: C.STG_BLOCK_VALID | self.load.whole[0] if self.load.whole else 0,
            C.CSR_DIG_GO: lambda: (C.DIG_GO_ROOM if len(self.digest_jobs) < 2 else 0)
            | (0 if self.digest_jobs else C.DIG_GO_IDLE),
            C.CSR_CFG_STATUS: lambda: self.config_status
            | (C.CFG_STATUS_LOCAL if self.local else 0)
            | (C.CFG_STATUS_BUSY if self.config_busy() else 0),
            C.CSR_IMAGE_BOOT: lambda: c.restart | (C.IMAGE_BOOT_RUNS if self.named() == self.booted else 0),
            C.CSR_ROLE_CTRL: lambda: self.role_ctrl | (C.ROLE_CTRL_DRAINED if self.drained() else 0),
            C.CSR_LCH_LAST: lambda: self.lch_last,
            C.CSR_LCH_QUEUE: self.ring,
            C.CSR_LCH_VALUE_LO: lambda: self.ran[1],
            C.CSR_LCH_VALUE_HI: lambda: self.ran[1] >> 32,
            C.CSR_LCH_CYCLES_LO: lambda: self.ran[2],
            C.CSR_LCH_CYCLES_HI: lambda: self.ran[2] >> 32,
            C.CSR_LCH_STARTED_US: lambda: self.ran[3],
            C.CSR_LCH_ENDED_US: lambda: self.ran[4],
            C.CSR_FET_GO: lambda: 0 if self.fetches_left == 0 else C.FET_GO_ROOM | C.FET_GO_IDLE,
        }
        return status[address]() if address in status else self.registers.get(address, 0)

    def named(self) -> bytes:
        """The digest that the firmware has named last."""
        return b"".join(self.registers.get(C.CSR_CFG_NAME + 4 * i, 0).to_bytes(4, "big") for i in range(8))

    def config_busy(self) -> bool:
        return self.config_stopping or self.config_done_at is not None

    def drained(self) -> bool:
        return bool(self.role_ctrl & C.ROLE_CTRL_ISOLATE) and self.time >= self.drained_at

    def config_go(self, go: int) -> None:
        if go & C.CFG_GO_STOP:
            self.config_stopping = self.config_busy()
            self.config_done_at = None
        elif not self.config_busy():  # A start that comes while it is busy is lost.
            self.config_status = 0
            self.config_done_at = self.time + self.config.config_us
            self.configured_drained.append(self.drained())
            self.configured.append(self.named())

    def control_head(self) -> int:
        if not self.control:
            return 0
        offset, why = self.control[0]
        return C.CTL_HEAD_VALID | why << C.CTL_HEAD_REASON_SHIFT | offset

    def write_register(self, address: int, value: int) -> None:
        self.registers[address] = value
        if address == C.CSR_SLEEP:
            self.asleep = True
        elif address == C.CSR_CLEAR:
            assert value & ~LATCHED == 0
            self.latched &= ~value
        elif address == C.CSR_FILTER:
            for place in range(12):
                if value >> C.FILTER_PLACES_SHIFT + place & 1:
                    self.filter[place][value >> C.FILTER_VALUE_SHIFT & 15] = value & 0xFF
        elif address == C.CSR_CTL_POP:
            self.control.popleft()
        elif address == C.CSR_TX_SEND:
            assert value & 0xFFF >= W.FRAME_MIN
            self.transmit(bytes(self.slot_bytes(value >> 16, value & 0xFFF)))
        elif address == C.CSR_WIN_NEXT:
            self.window, self.unacked, self.ack_at = Sack(value), 0, None
        elif address == C.CSR_WIN_ACKED:
            self.unacked, self.ack_at = 0, None
        elif address in (C.CSR_WIN_INSERT, C.CSR_WIN_INSERT_NOW):
            # Its lower bits alone are looked at.
            ahead = ((value - self.window.next + 2048) & 0xFFF) - 2048
            self.insert, in_order = self.note((self.window.next + ahead) & M32)
            self.arrive(self.insert, in_order, address == C.CSR_WIN_INSERT_NOW)
        elif address == C.CSR_STG_START:
            self.start_load()
        elif address == C.CSR_STG_BLOCK_POP:
            self.load.whole.popleft()
        elif address == C.CSR_DIG_GO:
            assert len(self.digest_jobs) < 2
            job = (C.CSR_DIG_SOURCE, C.CSR_DIG_TARGET, C.CSR_DIG_LENGTH, C.CSR_DIG_CHUNK)
            self.digest_jobs.append((value, *(self.registers.get(register, 0) for register in job)))
        elif address == C.CSR_CFG_GO:
            self.config_go(value)
        elif address == C.CSR_ROLE_CTRL:
            if value & ~self.role_ctrl & C.ROLE_CTRL_ISOLATE:
                self.isolations += 1
                self.drained_at = self.time + self.config.drain_us
            self.role_ctrl = value
        elif address == C.CSR_LCH_LAST:
            self.lch_last = value
        elif address == C.CSR_LCH_ARGS:
            kernel = value >> C.LCH_ARGS_KERNEL_SHIFT & C.LCH_ARGS_KERNEL_MASK
            takes = value & ~(C.LCH_ARGS_KERNEL_MASK << C.LCH_ARGS_KERNEL_SHIFT)
            # A kernel that takes n arguments has launches of 4 + n words.
            assert takes == 0 or takes >> C.LCH_ARGS_WORDS_SHIFT == 4 + (takes & 0xFF)
            self.args[kernel] = takes
        elif address == C.CSR_LCH_FREEZE:
            self.frozen = bool(value)
        elif address == C.CSR_LCH_ORDER:
            assert self.frozen or self.tail == self.popped
            at = value >> C.LCH_ORDER_PLACE_SHIFT & C.LCH_ORDER_PLACE_MASK
            self.order[at] = value & C.LCH_ORDER_SLOT_MASK, bool(value & C.LCH_ORDER_HELD)
        elif address == C.CSR_LCH_DROP:
            assert self.frozen and self.queue()[0].started is None
            self.drop()
        elif address == C.CSR_LCH_STOP:
            assert self.frozen
            self.stops_in = 3 if self.running() else 0
        elif address == C.CSR_LCH_POPPED:
            self.popped, self.bound = value & 31, value >> C.LCH_POPPED_BOUND_SHIFT & 31
            assert (self.bound - self.popped) % 32 <= 16
            assert (self.head - self.popped) % 32 <= (self.tail - self.popped) % 32 <= (self.bound - self.popped) % 32
        elif address == C.CSR_MEM_SCRUB_GO:
            assert self.scrub_done_at is None
            self.scrub_done_at = self.time + self.config.scrub_us
        elif address == C.CSR_FET_GO:
            if self.fetches_left is not None:
                self.fetches_left -= 1
            self.fetch()
