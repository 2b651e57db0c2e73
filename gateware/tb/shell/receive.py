"""Drives receive_bench: sends frames, plays the firmware, and holds the receive stream, the ring and the counters against what
the model says, frame by frame, in order."""

import random
from dataclasses import dataclass, field, replace

import cocotb
from cocotb.clock import Clock
from cocotb.triggers import RisingEdge
from cocotb.utils import get_sim_time
from frames import BROADCAST, CARD, MEMORY, MINE, group
from golden import Card, Judgement, Reason, Route, judge
from streams import keep, words
from wire import ADDRESS, CONST, COUNTER, NAMES

PERIOD_NS = 10
RING_FRAME_WORDS = 192
# Frames wait in the receive FIFO while the firmware works; the bench sends no more than fit.
UNDER_WAY_WORDS = 1500
# What is not for writes or image data comes in faster than it goes on: no longest frame more than fits.
UNDER_WAY_WORDS_WIDE = 800
ROOMS = {Route.WRITE: "write", Route.IMAGE: "image", Route.READ: "read", Route.LAUNCH: "launch"}


@dataclass
class Expected:
    """A frame and what must become of it."""

    data: bytes
    bad: bool
    judgement: Judgement
    barriers_before: int
    to_ring: bool = False
    barrier: bool = False
    may_be_taken: bool = False
    sent_at: list[int] = field(default_factory=list)
    wire: bytes | None = None  # As it comes in, if the receive stream shows it otherwise.

    def shows(self, word: int, got: bytes) -> bool:
        """Whether the receive stream's word of this number is the frame's."""
        valid = self.data[8 * word : 8 * word + 8]
        return got[: len(valid)] == valid

    def number(self, at: int, length: int) -> int:
        return int.from_bytes(self.data[at : at + length], "big")

    @property
    def name(self) -> str | None:
        return NAMES.get(self.number(12, 2) << 16 | self.data[15]) if len(self.data) > 15 else None

    @property
    def diverted(self) -> bool:
        return self.judgement.route in (Route.READ, Route.LAUNCH) and bool(self.data[23] & 1)

    @property
    def is_bulk(self) -> bool:
        """A good write or good image data."""
        return self.judgement.drop is None and self.judgement.route in (Route.WRITE, Route.IMAGE)

    @property
    def reason(self) -> Reason:
        """What the ring says of it: the bench's blocks behind the analyzer divert each second read and launch."""
        if self.diverted:
            return Reason.TURN
        return Reason.ACCEPTED if self.judgement.route == Route.LAUNCH else self.judgement.reason

    @property
    def shown(self) -> int:
        """Words that the receive stream shows: the header and the payload, as far as they came."""
        came = (len(self.data) + 7) // 8
        return min(came, 4 + (self.number(16, 2) + 7) // 8) if came > 4 else came


def plan(frames: list[tuple[bytes, bool]], sessions: list[Card]) -> list[Expected]:
    """What must become of these frames when each barrier, once finished, makes the next session the present one."""
    expected, barriers = [], 0
    for data, bad in frames:
        judgement = Judgement("drop_check") if bad else judge(sessions[barriers], data)
        one = Expected(data, bad, judgement, barriers)
        if judgement.drop is None:
            one.to_ring = judgement.route in (Route.CONTROL, Route.LAUNCH) or one.diverted
            one.barrier = judgement.barrier or (judgement.route == Route.LAUNCH and one.diverted)
            one.may_be_taken = (
                one.name == "Discovery.Solicit" and one.number(16, 2) == 8 and one.number(CONST.HEADER_END, 4) == 0
            )
        barriers += one.barrier
        expected.append(one)
    return expected


class Receive:
    """The bench."""

    renews = tuple(ROOMS)  # What renews the lease if its unit takes it.

    def __init__(self, dut, expected: list[Expected], sessions: list[Card], *, ragged_rooms=False, firmware_delay=0):
        self.dut, self.expected, self.sessions = dut, expected, sessions
        self.ragged_rooms, self.firmware_delay = ragged_rooms, firmware_delay
        self.firmware_least = 0  # Cycles that the firmware waits with each frame, as firmware_delay is the most.
        self.size = len(dut.rx_data_i) // 8  # Bytes of a word.
        self.ended = 0
        self.finished: set[int] = set()  # Frames of the ring that the firmware has finished, by position.
        self.barriers_finished = 0
        self.announced: list[tuple[int, int]] = []
        self.announcing = True
        self.max_latency = 0
        self.rx_busy: list[int] = []  # Cycles in which the receive stream had a word.

    async def start(self, solicit_fast=False, listens_first=False) -> None:
        dut = self.dut
        for name in ("rx_valid", "rx_data", "rx_keep", "rx_last", "rx_bad", "pop", "ring_addr", "counter"):
            getattr(dut, f"{name}_i").value = 0
        dut.announce_ready_i.value = 0
        dut.solicit_fast_i.value = int(solicit_fast)
        dut.filter_we_i.value = dut.listening_i.value = 0
        dut.memory_i.value = MEMORY
        for room in ROOMS.values():
            getattr(dut, f"room_{room}_i").value = 1
        self.tell(self.sessions[0])
        self.belongs: list[list[int]] = [[0] * 16 for _ in range(12)]
        dut.rst_net_ni.value = 0
        Clock(dut.clk_net_i, PERIOD_NS, "ns").start()
        for _ in range(3):
            await RisingEdge(dut.clk_net_i)
        dut.rst_net_ni.value = 1
        for _ in range(4):
            await RisingEdge(dut.clk_net_i)
        listens = cocotb.start_soon(self.listen())
        if listens_first:
            await listens
        if self.size == 8:
            cocotb.start_soon(self.watch_rx_beat())
        else:
            cocotb.start_soon(self.watch_wide())
        cocotb.start_soon(self.firmware())
        cocotb.start_soon(self.take_announcements())

    def tell(self, session: Card) -> None:
        """The state in registers."""
        for name in ("epoch", "loading", "load_group"):
            getattr(self.dut, f"{name}_i").value = int(getattr(session, name))

    async def listen(self) -> None:
        """Fills the filter's tables, of which nothing is known: until then frames wait."""
        for value in range(16):
            await self.tell_place(0xFFF, value, 0)
        for write in self.filter_writes(self.sessions[0]):
            await self.tell_place(*write)
        self.dut.filter_we_i.value = 0
        self.dut.listening_i.value = 1

    async def tell_place(self, places: int, value: int, belongs: int) -> None:
        dut = self.dut
        dut.filter_we_i.value = 1
        dut.filter_places_i.value, dut.filter_value_i.value, dut.filter_belongs_i.value = places, value, belongs
        await RisingEdge(dut.clk_net_i)
        dut.filter_we_i.value = 0

    def filter_writes(self, session: Card) -> list[tuple[int, int, int]]:
        """What is to be told of the filter's tables: first what is no longer so, then what is new."""
        owner = session.owner if session.claimed else None
        load = group(session.load_group) if session.loading else None
        claim = group(session.claim_group) if session.claimed and session.claim_group else None
        table = [[0] * 16 for _ in range(12)]
        for bit, address in enumerate((MINE, owner, ADDRESS.CARDS, BROADCAST, load, claim)):
            # The half bytes that all groups have in common are always told.
            places = range(12) if address is not None else range(8 if bit >= 4 else 0)
            for place in places:
                table[place][(address or ADDRESS.GROUP) >> 4 * (11 - place) & 15] |= 1 << bit
        fewer, more = [], []
        for place in range(12):
            for value in range(16):
                before, after = self.belongs[place][value], table[place][value]
                if before & ~after:
                    fewer.append((1 << place, value, before & after))
                if after & ~before:
                    more.append((1 << place, value, after))
        self.belongs = table
        return fewer + more

    async def send(self, pause) -> None:
        """Sends all frames, with pauses within and between them, and waits until the last has ended."""
        dut, clock, edge = self.dut, self.dut.clk_net_i, self.dut.clk_net_i.rising_edge
        rx_valid, rx_data, rx_keep = dut.rx_valid_i, dut.rx_data_i, dut.rx_keep_i
        rx_last, rx_bad = dut.rx_last_i, dut.rx_bad_i
        sent = ended = 0  # Words: of all frames sent, and of those that have ended.
        oldest = 0  # The first frame that has not ended.
        for one in self.expected:
            while True:
                while oldest < self.ended:
                    ended += len(self.expected[oldest].sent_at) * self.size // 8
                    oldest += 1
                if sent - ended <= (UNDER_WAY_WORDS if self.size == 8 else UNDER_WAY_WORDS_WIDE):
                    break
                await edge
            wire = one.data if one.wire is None else one.wire
            data, valid = words(wire, self.size), keep(wire, self.size)[-1]
            sent += len(data) * self.size // 8
            # What is not kept may be anything.
            data[-1] |= random.getrandbits(8 * self.size) << 8 * valid.bit_count() & (1 << 8 * self.size) - 1
            for word in data[:-1]:
                while next(pause):
                    rx_valid.value = 0
                    await edge
                rx_valid.value = 1
                rx_data.value = word
                noise = random.getrandbits(self.size + 1)
                rx_keep.value = noise >> 1
                rx_last.value = 0
                rx_bad.value = noise & 1
                one.sent_at.append(cycle())
                await edge
            while next(pause):
                rx_valid.value = 0
                await edge
            rx_valid.value = 1
            rx_data.value = data[-1]
            rx_keep.value = valid
            rx_last.value = 1
            rx_bad.value = int(one.bad)
            one.sent_at.append(cycle())
            await edge
            rx_valid.value = 0
        for _ in range(200_000):
            if self.ended == len(self.expected):
                break
            await RisingEdge(clock)
        assert self.ended == len(self.expected), f"frame {self.ended} never ended"
        for _ in range(20):
            await RisingEdge(clock)

    async def ignore_rx_beat(self) -> None:
        """Instead of `watch_rx_beat`, for tests that look by themselves."""

    async def watch_rx_beat(self) -> None:
        """Holds the receive stream against what is expected."""
        dut, edge = self.dut, self.dut.clk_net_i.rising_edge
        heard_pin, word_pin, done_pin, abort_pin = dut.heard_o, dut.word_o, dut.done_o, dut.abort_o
        shown, judged, heard_due = 0, False, False
        # Whether there is room now, and whether there was: bit 0 is this cycle.
        room = dict.fromkeys(ROOMS, 1)
        rooms = dict.fromkeys(ROOMS, 0b1111)
        close_at, open_at = {}, {}
        while True:
            await edge
            now = cycle() - 1
            assert bool(heard_pin.value) == heard_due, f"heard, frame {self.ended}"
            heard_due = False
            for route in ROOMS if self.ragged_rooms else ():
                rooms[route] = rooms[route] << 1 & 0b1111 | room[route]
                if close_at.get(route) == now:
                    room[route] = 0
                    open_at[route] = now + random.randint(1, 60)
                elif open_at.get(route) == now:
                    room[route] = 1
                else:
                    continue
                getattr(dut, f"room_{ROOMS[route]}_i").value = room[route]
            word, done, abort = bool(word_pin.value), bool(done_pin.value), bool(abort_pin.value)
            if not (word or done or abort):
                continue
            one = self.expected[self.ended]
            about = f"frame {self.ended}, {len(one.data)} bytes, {one.name}, {one.judgement}"
            if word:
                assert bool(dut.first_o.value) == (shown == 0), about
                assert bool(dut.payload_o.value) == (shown >= 4), about
                assert one.shows(shown, int(dut.data_o.value).to_bytes(8, "little")), f"{about}: word {shown}"
                self.max_latency = max(self.max_latency, now - one.sent_at[shown])
                self.rx_busy.append(now)
                shown += 1
            if not judged and ((word and shown > 4) or done):
                judged = True
                late = 2 if shown > 4 and word else 3
                self.check_judgement(one, about, {route: past >> late & 1 for route, past in rooms.items()})
            if done or abort:
                assert done == (one.judgement.drop is None), about
                assert shown == one.shown, f"{about}: {shown} words of {one.shown}"
                if done:
                    assert dut.route_o.value == one.judgement.route, about
                    heard_due = one.judgement.route in self.renews and not one.diverted
                    if self.ragged_rooms and one.judgement.route in ROOMS and random.random() < 0.5:
                        close_at[one.judgement.route] = now + 2
                shown, judged = 0, False
                self.ended += 1

    async def watch_wide(self) -> None:
        """With words of more than 64 bits: holds both streams against what is expected. All frames end on the wide one, in
        their order; those for neither writes nor image data come out of the other as well."""
        dut, edge = self.dut, self.dut.clk_net_i.rising_edge
        narrow = [n for n, one in enumerate(self.expected) if one.judgement.drop is None and not one.is_bulk]
        shown, shown_narrow = 0, 0
        heard_due = False
        room = dict.fromkeys(ROOMS, 1)
        rooms = dict.fromkeys(ROOMS, 0b1111)
        close_at, open_at = {}, {}
        while True:
            await edge
            now = cycle() - 1
            assert bool(dut.heard_o.value) == heard_due, f"heard, frame {self.ended}"
            heard_due = False
            for route in ROOMS if self.ragged_rooms else ():
                rooms[route] = rooms[route] << 1 & 0b1111 | room[route]
                if close_at.get(route) == now:
                    room[route] = 0
                    open_at[route] = now + random.randint(1, 60)
                elif open_at.get(route) == now:
                    room[route] = 1
                else:
                    continue
                getattr(dut, f"room_{ROOMS[route]}_i").value = room[route]
            payload, done, abort = (bool(getattr(dut, f"bulk_{name}_o").value) for name in ("payload", "done", "abort"))
            if payload or done or abort:
                one = self.expected[self.ended]
                about = f"frame {self.ended}, {len(one.data)} bytes, {one.name}, {one.judgement}"
                if shown == 0:
                    # When a frame without payload began, its padding does not show.
                    room_then = {route: past >> 1 & 1 or not payload for route, past in rooms.items()}
                    self.check_turn(one, about, room_then)
                if payload:
                    at = CONST.HEADER_END + self.size * shown
                    valid = one.data[at : at + self.size]
                    got = int(dut.bulk_data_o.value).to_bytes(self.size, "little")
                    assert valid and got[: len(valid)] == valid, f"{about}: word {shown}"
                    self.rx_busy.append(now)
                    shown += 1
                if done or abort:
                    assert done == (one.judgement.drop is None), about
                    payload_bytes = min(len(one.data) - CONST.HEADER_END, one.number(16, 2))
                    assert shown == max(0, -(-payload_bytes // self.size)), f"{about}: {shown} words"
                    if done:
                        for port, place in {"length": (16, 2), "seq": (20, 4), "addr": (24, 8)}.items():
                            assert getattr(dut, f"bulk_{port}_o").value == one.number(*place), f"{about}: {port}"
                        assert dut.bulk_route_o.value == one.judgement.route, about
                        heard_due = one.is_bulk
                        if self.ragged_rooms and one.judgement.route in ROOMS and random.random() < 0.5:
                            close_at[one.judgement.route] = now + 2
                    shown = 0
                    self.max_latency = max(self.max_latency, now - one.sent_at[-1])
                    self.ended += 1
            assert not dut.abort_o.value, "a frame that has ended well"
            if dut.word_o.value:
                assert narrow and narrow[0] < self.ended, "a frame that nobody sent, or that has not ended"
                one = self.expected[narrow[0]]
                about = f"frame {narrow[0]}, {len(one.data)} bytes, {one.name}, on the narrow stream"
                assert bool(dut.first_o.value) == (shown_narrow == 0), about
                assert bool(dut.payload_o.value) == (shown_narrow >= 4), about
                if shown_narrow == 0 and one.judgement.route == Route.LAUNCH:
                    assert rooms[Route.LAUNCH] >> 2 & 1, f"{about}: there is no room"
                if shown_narrow == 4:
                    self.check_judgement(one, about, dict.fromkeys(ROOMS, 1), narrow[0])
                if shown_narrow < RING_FRAME_WORDS:
                    valid = one.data[8 * shown_narrow : 8 * shown_narrow + 8]
                    got = int(dut.data_o.value).to_bytes(8, "little")
                    assert got[: len(valid)] == valid, f"{about}: word {shown_narrow}"
                shown_narrow += 1
            if dut.done_o.value:
                one = self.expected[narrow.pop(0)]
                assert shown_narrow == one.shown, f"{about}: {shown_narrow} words of {one.shown}"
                assert dut.route_o.value == one.judgement.route, about
                heard_due |= one.judgement.route in ROOMS and not one.diverted
                shown_narrow = 0

    def check_turn(self, one: Expected, about: str, room: dict[Route, int]) -> None:
        """The frame has begun on the wide stream."""
        if one.bad or one.judgement.drop == "drop_truncated":
            return
        if one.judgement.waits:
            assert self.barriers_finished >= one.barriers_before, f"{about}: it did not wait for the barrier"
        if one.is_bulk:
            assert room[one.judgement.route], f"{about}: there is no room"

    def check_judgement(self, one: Expected, about: str, room: dict[Route, int], number: int | None = None) -> None:
        """The frame, of this number or the next to end, has begun to show its payload, or has ended."""
        dut = self.dut
        if one.bad or one.judgement.drop == "drop_truncated":
            return
        assert dut.route_o.value == one.judgement.route, f"{about}: {Route(int(dut.route_o.value))!r}"
        if one.judgement.waits:
            assert self.barriers_finished >= one.barriers_before, f"{about}: it did not wait for the barrier"
        if one.judgement.drop:
            return
        if one.judgement.route == Route.CONTROL:
            assert dut.reason_o.value == one.judgement.reason, f"{about}: {Reason(int(dut.reason_o.value))!r}"
        if one.judgement.route in ROOMS:
            assert room[one.judgement.route], f"{about}: there is no room"
        if one.judgement.route == Route.LAUNCH:
            known = enumerate(self.expected[: self.ended if number is None else number])
            before = [n for n, other in known if other.to_ring and not other.may_be_taken]
            assert self.finished.issuperset(before), f"{about}: control frames before it are unfinished"
        ports = {"dst": (0, 6), "src": (6, 6), "ether_type": (12, 2), "kind": (15, 1), "length": (16, 2)}
        ports |= {"epoch": (18, 2), "seq": (20, 4), "addr": (24, 8)}
        for port, place in ports.items():
            assert getattr(dut, f"{port}_o").value == one.number(*place), f"{about}: {port}"
        assert dut.flags_o.value == one.data[14] & 15, f"{about}: flags"

    async def firmware(self) -> None:
        """Reads the ring, and makes the next session the present one with each barrier it finishes."""
        dut, clock = self.dut, self.dut.clk_net_i
        coming = [(n, one) for n, one in enumerate(self.expected) if one.to_ring]
        while True:
            await RisingEdge(clock)
            if not dut.head_valid_o.value:
                continue
            for _ in range(random.randint(self.firmware_least, self.firmware_delay)):
                await RisingEdge(clock)
            offset, reason = int(dut.head_offset_o.value), int(dut.head_reason_o.value)
            start = await self.read_ring(offset, 0, 8)
            # A solicitation that discovery has taken does not come.
            while coming and coming[0][1].may_be_taken and coming[0][1].data[:32] != start:
                self.finished.add(coming.pop(0)[0])
            assert coming, "a frame in the ring that nobody sent"
            number, one = coming.pop(0)
            about = f"frame {number} in the ring, {one.name}, {len(one.data)} bytes"
            assert start == one.data[:32], about
            total = min(4 * RING_FRAME_WORDS * 2, CONST.HEADER_END + one.number(16, 2))
            rest = await self.read_ring(offset, 8, min(total, 160) // 4)
            rest_end = await self.read_ring(offset, max(8, total // 4 - 4), total // 4)
            assert one.data[32:].startswith(rest), about
            assert one.data[max(32, (total // 4 - 4) * 4) : total // 4 * 4] == rest_end, about
            assert reason == one.reason, about
            changes_late = bool(random.getrandbits(1))
            next_session = self.sessions[self.barriers_finished + 1] if one.barrier else None
            if next_session and not changes_late:
                self.tell(next_session)
            # The last of it at the latest when the barrier ends.
            writes = self.filter_writes(next_session) if next_session else []
            for write in writes[:-1] if changes_late else writes:
                await self.tell_place(*write)
                for _ in range(random.choice([0, 0, 1, 2, 5])):
                    await RisingEdge(clock)
            dut.pop_i.value = 1
            if writes and changes_late:
                await self.tell_place(*writes[-1])
            else:
                await RisingEdge(clock)
            dut.pop_i.value = 0
            if next_session and changes_late:
                self.tell(next_session)
            self.finished.add(number)
            self.barriers_finished += one.barrier
            await RisingEdge(clock)

    async def read_ring(self, offset: int, first: int, end: int) -> bytes:
        """Words of 32 bits from `first` to before `end`, of the frame at this offset."""
        dut, clock = self.dut, self.dut.clk_net_i
        limit = 2 ** len(dut.ring_addr_i)
        out = b""
        for number in range(first, end):
            dut.ring_addr_i.value = (offset // 4 + number) % limit
            for _ in range(3):
                await RisingEdge(clock)
            out += int(dut.ring_data_o.value).to_bytes(4, "big")
        return out

    async def take_announcements(self) -> None:
        dut, edge, valid = self.dut, self.dut.clk_net_i.rising_edge, self.dut.announce_valid_o
        ready = 0
        while True:
            before, ready = ready, int(self.announcing and random.random() < 0.2)
            if ready != before:
                dut.announce_ready_i.value = ready
            await edge
            if ready and valid.value:
                self.announced.append((int(dut.announce_dst_o.value), int(dut.announce_seq_o.value)))

    async def finish(self) -> None:
        """Waits until the firmware has seen all, and compares announcements and counters."""
        dut, clock = self.dut, self.dut.clk_net_i
        for _ in range(100_000):
            must = {n for n, one in enumerate(self.expected) if one.to_ring and not one.may_be_taken}
            if self.finished >= must and not dut.control_busy_o.value and not dut.announce_valid_o.value:
                break
            await RisingEdge(clock)
        assert self.finished >= must, "control frames are missing in the ring"
        for _ in range(150):
            await RisingEdge(clock)
        for counter, value in self.counters().items():
            if counter != "announces":
                assert await self.count(counter) == value, counter
        assert await self.count("announces") == len(self.announced)

    def counters(self) -> dict[str, int]:
        """What the counters must be."""
        out = {name: 0 for name in COUNTER}
        for one in self.expected:
            out["rx_frames"] += 1
            out["rx_bytes"] += len(one.data)
            out["rx_words"] += (len(one.data) + 7) // 8
            if one.judgement.drop:
                out[one.judgement.drop] += 1
        return out

    async def count(self, counter: str) -> int:
        dut, clock = self.dut, self.dut.clk_net_i
        value = 0
        for half in (1, 0):
            dut.counter_i.value = 2 * COUNTER[counter] + half
            for _ in range(3):
                await RisingEdge(clock)
            value = value << 32 | int(dut.count_o.value)
        return value


def cycle() -> int:
    """The cycle that begins now."""
    return int(get_sim_time("ns")) // PERIOD_NS


def some_sessions(count: int) -> list[Card]:
    """The first is plain; the others differ from it here and there in all that the analyzer asks."""
    out = [CARD]
    for _ in range(count):
        other = {
            "claimed": False,
            "owner": CARD.owner ^ 1 << random.choice([0, 15, 16, 31, 32, 41]),
            "epoch": 6,
            "claim_group": random.choice([0, 0x1112]),
            "loading": False,
            "load_group": random.choice([0x2223, 0x1111]),
        }
        out.append(replace(CARD, **{name: value for name, value in other.items() if random.random() < 0.12}))
    return out
