"""Drives the receive stream as rl_analyzer does: packed structs as numbers, frames word by word, and the rule about room."""

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field

from cocotb.triggers import FallingEdge
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


@dataclass
class RxFrame:
    """A frame as the analyzer shows it."""

    route: str
    payload: bytes = b""
    abort: bool = False
    # Words of padding, which take their time and are not shown; None: up to Ethernet's shortest frame.
    padding: int | None = None
    fields: dict[str, int] = field(default_factory=dict)

    def words(self) -> list[tuple[bool, bytes]]:
        """The words of the header and of the payload, which of the two they are, and the padding as None."""
        header = [(False, b"\xee" * 8)] * HEADER_WORDS
        payload = [(True, self.payload[at : at + 8].ljust(8, b"\xaa")) for at in range(0, len(self.payload), 8)]
        words = header + payload
        padding = max(0, FRAME_WORDS_MIN - len(words)) if self.padding is None else self.padding
        return words + [None] * padding


class RxStream:
    """Shows frames on the receive stream; what it shows changes in the middle of a cycle. A unit may be without `room`."""

    def __init__(self, clock, port, room):
        self.clock, self.port, self.room = clock, port, room
        self.rooms = deque([True] * (ROOM_AHEAD + 1), maxlen=ROOM_AHEAD + 1)
        # Cycles since the receive stream was made, those that waited for room, and that of the last frame's end.
        self.cycles = self.waits = self.ended = 0

    async def show(self, **values: int) -> None:
        """One cycle."""
        self.port.value = packed(RX_BEAT, **values)
        await FallingEdge(self.clock)
        self.cycles += 1
        if self.room is not None:
            self.rooms.append(bool(self.room.value))

    async def idle(self, cycles: int = 1) -> None:
        for _ in range(cycles):
            await self.show()

    async def send(self, frames: list[RxFrame], pause: Iterator[bool] | None = None) -> None:
        """Shows the frames one after the other, back to back where nothing pauses."""
        pause = pause or never()
        for frame in frames:
            head = packed(HEAD, **{"length": len(frame.payload)} | frame.fields)
            words = frame.words()
            for at, word in enumerate(words):
                while next(pause):
                    await self.idle()
                while at == HEADER_WORDS and not self.rooms[0]:
                    self.waits += 1
                    await self.idle()
                ends = at == len(words) - 1
                judged = at >= HEADER_WORDS or ends
                is_payload, data = word or (False, b"")
                if ends:
                    self.ended = self.cycles
                await self.show(
                    word=word is not None,
                    first=at == 0,
                    payload=is_payload,
                    data=int.from_bytes(data, "little"),
                    done=ends and not frame.abort,
                    abort=ends and frame.abort,
                    route=ROUTES[frame.route] if judged else 0,
                    head=head if judged else 0,
                )
        self.port.value = 0
