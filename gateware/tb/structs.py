"""Packed structs of the packages, as layouts: a simulator shows a port of such a type as one number."""

import re
from pathlib import Path

from runner import RTL

WIDTHS = {"logic": 1, "mac_addr_t": 48, "addr_t": 40, "beat_t": 34, "node_t": 8, "count_t": 9,
          "remote_addr_t": 48, "remote_e": 3, "reg_addr_t": 10}
PACKAGES = [
    RTL / "shell/rl_shell_pkg.sv",
    RTL / "control/rl_control_pkg.sv",
    RTL / "role/rl_role_pkg.sv",
    RTL / "config/rl_config_pkg.sv",
    RTL / "bridge/rl_bridge_node_pkg.sv",
    RTL / "transport/rl_transport_pkg.sv",
]


def layouts(files: list[Path] = PACKAGES) -> dict[str, dict[str, tuple[int, int]]]:
    """For each struct its fields: lowest bit and width. A struct with a field of unknown width is left out."""
    found: dict[str, dict[str, tuple[int, int]]] = {}
    for file in files:
        for body, name in re.findall(r"typedef struct packed \{(.*?)\} (\w+);", file.read_text(), re.DOTALL):
            fields = []
            for kind, high, field in re.findall(r"^\s*(\w+)\s*(?:\[(.+):0\])?\s+(\w+);", body, re.MULTILINE):
                width = WIDTHS.get(kind) or total(found.get(kind, {}))
                if high:
                    width = int(high) + 1 if high.isdigit() else 0
                fields.append((field, width))
            if not all(width for _, width in fields):
                continue
            low, layout = 0, {}
            for field, width in reversed(fields):
                layout[field] = (low, width)
                low += width
            found[name] = layout
    return found


def total(layout: dict[str, tuple[int, int]]) -> int:
    return sum(width for _, width in layout.values())


LAYOUTS = layouts()


def field(port, struct: str, name: str) -> int:
    """A field of a port of this struct."""
    low, width = LAYOUTS[struct][name]
    return port.value.to_unsigned() >> low & (1 << width) - 1


def fields(port, struct: str) -> dict[str, int]:
    """All fields of a port of this struct."""
    return {name: field(port, struct, name) for name in LAYOUTS[struct]}


def pack(struct: str, **values: int) -> int:
    """The number that a port of this struct shows when its fields have these values, and the others 0."""
    number = 0
    for name, value in values.items():
        low, width = LAYOUTS[struct][name]
        assert 0 <= value < 1 << width, f"{name}: {value} does not fit"
        number |= value << low
    return number
