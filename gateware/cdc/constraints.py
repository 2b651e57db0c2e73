"""Constraints for the crossings of a netlist: Vivado's (XDC) and Quartus' (SDC).

nextpnr needs none: it leaves out what lies between two clocks, and takes no bounds for it either.

A bit through rl_sync may take any time. Those of a Gray code must not overtake one another: all arrive within a period
of the writer's clock. What lies in a memory or is held was there before the bit that says so, which takes two edges of
the reader: it arrives within one of its periods.
"""

from crossings import Crossing, word


def xdc(crossings: list[Crossing], periods: dict[str, float]) -> list[str]:
    """Lines for Vivado. `periods` of the clocks, in ns, by the names of their ports.

    Raises SystemExit if a clock has no period.
    """
    lines = [f"create_clock -period {ns} [get_ports {name}]" for name, ns in periods.items()]
    for into, sources, ns, way in bounds(crossings, periods):
        target = f"[get_cells -hier -filter {{NAME =~ {cells(into, '/')}_reg*}}]"
        if way == "sync":
            lines.append(f"set_false_path -to {target}")
            continue
        origin = " ".join(f"[get_cells -hier -filter {{NAME =~ {cells(source, '/')}*}}]" for source in sources)
        origin = origin if len(sources) == 1 else f"[list {origin}]"
        lines.append(f"set_max_delay -datapath_only {ns} -from {origin} -to {target}")
        if way == "gray":
            lines.append(f"set_bus_skew {ns} -from {origin} -to {target}")
    return lines


def sdc(crossings: list[Crossing], periods: dict[str, float]) -> list[str]:
    """The same for Quartus."""
    lines = [f"create_clock -period {ns} [get_ports {name}]" for name, ns in periods.items()]
    for into, sources, ns, way in bounds(crossings, periods):
        target = f"[get_registers {{{cells(into, '|')}*}}]"
        if way == "sync":
            lines.append(f"set_false_path -to {target}")
            continue
        for source in sources:
            origin = f"[get_registers {{{cells(source, '|')}*}}]"
            # Quartus counts the clocks' phase in; the net's delay alone is what matters.
            lines.append(f"set_false_path -from {origin} -to {target}")
            lines.append(f"set_net_delay -max {ns} -from {origin} -to {target}")
            if way == "gray":
                lines.append(f"set_max_skew {ns} -from {origin} -to {target}")
    return lines


def bounds(crossings: list[Crossing], periods: dict[str, float]) -> list[tuple[str, list[str], float, str]]:
    """For each register into which bits cross: its path, those of its sources, the most they may take, and the way."""
    found: dict[tuple[str, str], tuple[set[str], float]] = {}
    for crossing in crossings:
        clocks = {source.clock for source in crossing.sources} if crossing.way == "gray" else {crossing.clock}
        for clock in clocks - periods.keys():
            raise SystemExit(f"error: the clock {clock} has no period: add {clock}=NS")
        ns = min(periods[clock] for clock in clocks)
        sources, least = found.setdefault((word(crossing.into), crossing.way), (set(), ns))
        sources |= {word(source.name) for source in crossing.sources}
        found[word(crossing.into), crossing.way] = sources, min(ns, least)
    return [(into, sorted(sources), ns, way) for (into, way), (sources, ns) in sorted(found.items())]


def cells(path: str, separator: str) -> str:
    return path.replace(".", separator)
