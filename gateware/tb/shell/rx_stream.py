"""Drives the receive stream as rl_analyzer does: packed structs as numbers, frames word by word, and the rule about room."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from streams import never

# Fields of rl_shell_pkg's structs, the most significant first.
HEAD = [
    ("dst", 48),
    ("src", 48),
    ("ether_type", 16),
    ("flags", 4),
    ("kind", 8),
    ("length", 16),
    ("epoch", 16),
    ("seq", 32),
    ("addr", 64),
]
HEAD_BITS = sum(width for _, width in HEAD)
RX_BEAT = [
    ("word", 1),
    ("first", 1),
    ("payload", 1),
    ("data", 64),
    ("done", 1),
    ("abort", 1),
    ("route", 3),
    ("head", HEAD_BITS),
]
STORE = [("addr", 40), ("length", 14)]
SESSION = [
    ("listening", 1),
    ("epoch", 16),
    ("loading", 1),
    ("load_group", 16),
    ("receiving", 1),
    ("role", 1),
    ("configuring", 1),
    ("solicit_fast", 1),
    ("memory", 40),
]
ROUTES = {"drop": 0, "control": 1, "write": 2, "read": 3, "image": 4, "launch": 5}
HEADER_WORDS = 4
FRAME_WORDS_MIN = 8
# The analyzer decides on a payload's first word so many cycles before the receive stream has it.
ROOM_AHEAD = 2


def packed(struct: list[tuple[str, int]], **values: int) -> int:
    """A packed struct's bits; fields that are not named are zero."""
    out = 0
    for name, width in struct:
        value = int(values.pop(name, 0))
        assert 0 <= value < 1 << width, f"{name} = {value:#x} in {width} bits"
        out = out << width | value
    assert not values, f"no field {', '.join(values)}"
    return out


# The lowest bit of each field.
LOW = {name: sum(width for _, width in RX_BEAT[at + 1 :]) for at, (name, _) in enumerate(RX_BEAT)}


def bit(name: str) -> int:
    """rx_beat_t with this flag only."""
    return 1 << LOW[name]


@dataclass
class RxFrame:
    """A frame as the analyzer shows it."""

    route: str
    payload: bytes = b""
    abort: bool = False
    fields: dict[str, int] = field(default_factory=dict)

    def beats(self) -> list[int]:
        """rx_beat_t for each word of the header, of the payload and of the padding up to Ethernet's shortest frame,
        which takes its time and is not shown. The last ends the frame."""
        header = [b"\xee" * 8] * HEADER_WORDS
        payload = [self.payload[at : at + 8].ljust(8, b"\xaa") for at in range(0, len(self.payload), 8)]
        beats = [bit("word") | int.from_bytes(word, "little") << LOW["data"] for word in header + payload]
        shown = len(beats)
        beats += [0] * (FRAME_WORDS_MIN - shown)
        head = packed(HEAD, **{"length": len(self.payload)} | self.fields)
        judged = ROUTES[self.route] << LOW["route"] | head << LOW["head"]
        for at in range(HEADER_WORDS, len(beats)):
            beats[at] |= judged
        for at in range(HEADER_WORDS, shown):
            beats[at] |= bit("payload")
        beats[0] |= bit("first")
        beats[-1] |= bit("abort" if self.abort else "done")
        return beats


class RxStream:
    """Shows frames on the receive stream, which changes in the middle of a cycle. A unit may be without `room`."""

    def __init__(self, clock, port, room):
        self.edge, self.port, self.room = clock.falling_edge, port, room
        self.beat = None  # What the port has.
        self.ending = False  # Whether a good frame ends with it.
        self.rooms = deque([True] * (ROOM_AHEAD + 1), maxlen=ROOM_AHEAD + 1)
        # Cycles since the receive stream was made, and those that waited for room.
        self.cycles = self.waits = 0

    async def show(self, beat: int) -> None:
        """One cycle."""
        if beat != self.beat:
            self.port.value = self.beat = beat
            self.ending = bool(beat & bit("done"))
        await self.edge
        self.cycles += 1

    async def watch(self, beat: int) -> None:
        """One cycle, and whether there was room."""
        await self.show(beat)
        if self.room is not None:
            self.rooms.append(bool(self.room.value))

    async def idle(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            await self.show(0)

    async def send(self, frames: list[RxFrame], pause: Iterator[bool] | None = None) -> None:
        """Shows the frames one after the other, back to back where nothing pauses."""
        pause = pause or never()
        for frame in frames:
            for at, beat in enumerate(frame.beats()):
                # Only the room in the cycles before a payload matters.
                show = self.watch if at <= HEADER_WORDS else self.show
                while next(pause):
                    await show(0)
                while at == HEADER_WORDS and not self.rooms[0]:
                    self.waits += 1
                    await show(0)
                await show(beat)
        self.port.value = self.beat = 0
        self.ending = False
