"""Where bits cross from one clock domain into another, and whether they may.

A bit may cross in four ways:

- `sync`: into the first flip-flop of rl_sync, straight from one register's bit; an inverter may stand between. Logic in
  front of it would glitch, and no synchronizer helps against that.
- `gray`: the same with rl_gray_sync, all bits from one register.
- `memory`: out of the memory of an rl_fifo_async or rl_frame_queue, whose pointers see to it that it lies still.
- `held`: a register that rl_held names, while another bit says that it holds.
"""

import re
from collections import defaultdict
from dataclasses import dataclass

from netlist import Netlist, Register, Source

QUEUES = {"rl_fifo_async", "rl_frame_queue"}
SYNCHRONIZERS = {"rl_sync": "sync", "rl_gray_sync": "gray"}


@dataclass(frozen=True)
class Crossing:
    """Bits that cross into a register."""

    way: str  # "sync", "gray", "memory", "held".
    into: str  # Path of the register,
    clock: str  # and its clock.
    sources: tuple[Source, ...]


def find(netlist: Netlist) -> tuple[list[Crossing], list[str]]:
    """All crossings that may be, and what is wrong with the others."""
    crossings: list[Crossing] = []
    problems: list[str] = []
    for register in netlist.registers:
        foreign = {bit: strangers(netlist, register, bit) for bit in register.inputs}
        if not any(foreign.values()):
            continue
        way = SYNCHRONIZERS.get(netlist.module(register.name))
        if way and register.name.rpartition(".")[2].startswith("meta_q"):
            problems += judge_synchronizer(netlist, register, way)
            crossings.append(Crossing(way, register.name, register.clock, union(foreign.values())))
            continue
        by_way = defaultdict(set)
        for source in union(foreign.values()):
            by_way[way_of(netlist, source)].add(source)
        for name, clock in sorted({(word(source.name), source.clock) for source in by_way.pop("", set())}):
            problems.append(f"{name} ({clock}) goes unguarded to {word(register.name)} ({register.clock})")
        crossings += [
            Crossing(way, register.name, register.clock, tuple(sorted(found, key=lambda source: source.name)))
            for way, found in by_way.items()
        ]
    return crossings, problems


def word(name: str) -> str:
    """The register of a bit."""
    return re.sub(r"\[\d+\]$", "", name)


def strangers(netlist: Netlist, register: Register, bit) -> frozenset[Source]:
    """What comes from other domains into this input. Memories without a writer are constants, ports have no domain."""
    return frozenset(
        source for source in netlist.sources(bit) if source.clock not in ("", register.clock)
    )


def union(sets) -> tuple[Source, ...]:
    return tuple(sorted(frozenset().union(*sets), key=lambda source: source.name))


def way_of(netlist: Netlist, source: Source) -> str:
    """How a source may cross without a synchronizer; "" if it may not."""
    if source.kind == "memory":
        scope = source.name
        while scope:
            scope = scope.rpartition(".")[0]
            if netlist.files.get(scope) in QUEUES:
                return "memory"
    return "held" if source.name in netlist.held else ""


def judge_synchronizer(netlist: Netlist, register: Register, way: str) -> list[str]:
    problems = []
    words = set()
    for at, bit in enumerate(register.data):
        sources = netlist.sources(bit)
        foreign = [source for source in sources if source.clock not in ("", register.clock)]
        if len(foreign) > 1:
            names = ", ".join(sorted(source.name for source in foreign))
            problems.append(f"bit {at} of {register.name} ({register.clock}) has logic in front of it: of {names}")
        words |= {word(source.name) for source in foreign}
    if way == "gray" and len(words) > 1:
        problems.append(f"{register.name} ({register.clock}) is not one word in Gray code: {', '.join(sorted(words))}")
    if way == "sync" and any("gray" in word for word in words):
        problems.append(f"{', '.join(sorted(words))} is in Gray code and crosses with rl_sync, not rl_gray_sync")
    return problems
