"""Programs of two ranks over some cables between them, drawn at random: what one puts the other takes, in an order that
both keep to link by link, with copies and reductions between; and sometimes with a fault."""

import random
from dataclasses import dataclass, field

import golden_link
from card_bench import Program, neighbour
from golden_link import REDUCTIONS, Datatype, Op

FAULTS = ["code", "pad", "long", "addr", "far", "port", "copy", "take", "put", "op", "type", "bits", "reduce", "many",
          "overlap", "wait"]
END = (1 << 19) - 3  # Three bytes before the end of what programs may touch.
SIZES = [0, 1, 8, 63, 64, 65, 200, 1407, 1408, 1409, 3000]


@dataclass
class Pair:
    """Both programs, and what is to be looked at afterwards."""

    programs: list[Program]
    areas: list[tuple[int, int]] = field(default_factory=list)  # Where they write: addresses and lengths.
    fault: str = ""


class Draw:
    """Draws pairs; each has its own part of memory."""

    def __init__(self, first: int, end: int) -> None:
        self.at, self.end = first, end

    def area(self, length: int) -> int:
        """A place that no other touches: a word at least is between two."""
        at = self.at + 8 + random.randrange(8)
        self.at = (at + length + 23) // 8 * 8
        assert self.at <= self.end, "a run needs more memory"
        return at

    def pair(self, ports: list[int], number: int, long: int = 0) -> Pair:
        """Programs of a rank that has these ports, and of one that has those at their other ends."""
        group = random.getrandbits(64)
        sides: list[list[bytes]] = [[], []]
        pair = Pair([])
        for _ in range(random.randrange(1, 4)):
            moves: list[list[bytes]] = [[], []]
            for port in ports:
                for source in random.sample([0, 1], random.randrange(3)):
                    length = long or random.choice(SIZES)
                    frm, to, tag = self.area(length), self.area(length), random.getrandbits(16)
                    pair.areas.append((to, length))
                    own = [port, neighbour(port)]
                    moves[source].append(golden_link.put(tag, frm, length, own[source]))
                    moves[1 - source].append(golden_link.take(tag, to, length, own[1 - source]))
            for side, some in zip(sides, moves):
                random.shuffle(some)
                # Nothing uses a place twice, so nothing has to wait for what is sent.
                side += [*some, random.choice([golden_link.wait(), golden_link.wait_takes()])]
                if random.random() < 0.4:
                    length = random.choice([1, 64, 777, 2500])
                    frm, to = self.area(length), self.area(length)
                    pair.areas.append((to, length))
                    side.append(golden_link.copy(frm, to, length))
                if random.random() < 0.6:
                    (op, kind), count = random.choice(REDUCTIONS), random.choice([0, 1, 7, 64, 129, 300])
                    frm, to = self.area(count * kind.size), self.area(count * kind.size)
                    pair.areas.append((to, count * kind.size))
                    side.append(golden_link.reduce(op, kind, random.choice([frm, to]), to, count))
            if random.random() < 0.6:
                self.signals(sides, ports)
        pair.programs = [Program(side, group, number) for side in sides]
        return pair

    @staticmethod
    def signals(sides: list[list[bytes]], ports: list[int]) -> None:
        """Signals one after the other over each cable, one way or both ways: as many as may be are under way, since who
        gives them waits for none of its own."""
        ways = [(port, random.choice([[0], [1], [0, 1]])) for port in ports]
        for _ in range(random.randrange(2, 7)):
            moves: list[list[bytes]] = [[], []]
            for port, sources in ways:
                own, tag = [port, neighbour(port)], random.getrandbits(16)
                for source in sources:
                    moves[1 - source].insert(0, golden_link.take(tag, 0, 0, own[1 - source]))
                    moves[source].append(golden_link.put(tag, 0, 0, own[source]))
            for side, some in zip(sides, moves):
                side += [*some, golden_link.wait_takes()] if random.random() < 0.7 else some

    def apart(self, number: int) -> Pair:
        """A program that copies or reduces once, between ranges that lie anyhow: they are the same, share some bytes,
        touch, or are apart."""
        (op, kind), copies = random.choice(REDUCTIONS), random.random() < 0.5
        size = 1 if copies else kind.size
        count = random.choice([1, 2, 9, 64, 300])
        length = count * size
        by = random.choice([0, 1, size, length - 1, length, length + 1, random.randrange(length + 1)])
        first = self.area(length + by)
        frm, to = random.sample([first, first + by], 2)
        command = golden_link.copy(frm, to, count) if copies else golden_link.reduce(op, kind, frm, to, count)
        return Pair([Program([command], random.getrandbits(64), number)], fault="overlap" if 0 < by < length else "")

    def spoilt(self, ports: list[int], number: int, fault: str) -> Pair:
        """A pair of which the first program has a fault, or gets none of what it waits for."""
        pair = self.pair(ports, number)
        first, second = pair.programs
        # All before the fault has ended, so that its report names nothing of it.
        commands = [*first.commands, golden_link.wait()]
        at = random.choice([0, len(commands)])
        pair.fault = fault
        length, place = random.choice([64, 20000]), self.area(20000)
        pair.areas.append((place, 20000))
        put = golden_link.put(7, place, length, ports[0])
        reduction = golden_link.reduce(Op.SUM, Datatype.I32, place, place, 8)
        commands[at:at] = {
            "code": [bytes([7]) + bytes(31)],
            # An operation and elements that there are not, bits of floating-point numbers, memory that is not the
            # program's, and more bytes than may be.
            "op": [reduction[:1] + bytes([random.choice([0, 8, 9, 129])]) + reduction[2:]],
            "type": [reduction[:2] + random.choice([b"\0\0", b"\0\x09", b"\1\1", b"\0\x11"]) + reduction[4:]],
            "bits": [reduction[:1] + bytes([random.choice([5, 6, 7])]) + b"\0" + bytes([random.choice([5, 6, 7, 8])])
                     + reduction[4:]],
            "reduce": [golden_link.reduce(Op.MAX, Datatype.F16, *random.choice([(place, END), (END, place)]), 2)],
            "overlap": [golden_link.copy(place + 9, place + 9 + random.choice([-8, -1, 1, 8, 63]), 64)],
            "many": [reduction[:4] + (1 << 26 | 1).to_bytes(4, "big") + reduction[8:]],
            "wait": [bytes([3, 2]) + bytes(30)],
            "pad": [put[:31] + b"\1"],
            "long": [put[:4] + (1 << 30).to_bytes(4, "big") + put[8:]],
            "addr": [golden_link.put(7, (1 << 19) - length + 1, length, ports[0])],
            "far": [put[:8] + b"\1" + put[9:]],
            "port": [golden_link.take(7, place, length, 9)],
            "copy": [golden_link.copy(place, (1 << 19) - 1, 2)],
            # Nobody takes what it puts, and nobody puts what it takes.
            "take": [golden_link.take(7, place, length, ports[0]), golden_link.wait()],
            "put": [put, golden_link.wait()],
        }[pair.fault]
        # It ends first, and the other one hears of it.
        limits = [(commands, 300), (second.commands, 900)]
        pair.programs = [Program(some, first.group, number, limit_us) for some, limit_us in limits]
        if at:
            more = [golden_link.take(9, self.area(64), 64, neighbour(ports[0])), golden_link.wait()]
            pair.programs[1].commands.extend(more)
        return pair
