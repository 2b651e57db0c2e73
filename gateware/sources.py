#!/usr/bin/env python3
"""Which files a module of the gateware is made of, in the order in which tools want them.

    gateware/sources.py rl_mem_write     prints the files: packages, each after those it uses, and then modules
    gateware/sources.py              prints the tops: modules that no other names
"""

import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
# Another folder with the same files: gateware/mutation has one.
RTL = Path(os.environ.get("RACKLOOM_RTL", ROOT / "gateware" / "rtl"))


def files() -> dict[str, Path]:
    """All files of gateware/rtl by the names of what they hold."""
    return {path.stem: path for path in sorted(RTL.rglob("*.sv"))}


def named(path: Path, known: dict[str, Path]) -> list[str]:
    """The modules and packages that a file names outside of its comments."""
    code = re.sub(r"//.*", "", path.read_text())
    return sorted(set(re.findall(r"\w+", code)) & known.keys() - {path.stem})


def closure(names: list[str], known: dict[str, Path] | None = None) -> list[Path]:
    """The files of these modules and of all that they name."""
    known = known or files()
    order: dict[str, Path] = {}

    def visit(name: str, path: Path) -> None:
        if name not in order:
            for used in named(path, known):
                visit(used, known[used])
            order[name] = path

    for name in names:
        if name not in known:
            raise SystemExit(f"error: no module {name} in gateware/rtl")
        visit(name, known[name])
    # Stable: what a package uses stays before it.
    return sorted(order.values(), key=lambda path: not path.stem.endswith("_pkg"))


def synthesis_tools() -> list[str]:
    """The pinned versions of Yosys, its solver and the router: the same ones give the same results."""
    lines = (ROOT / "scripts" / "requirements.txt").read_text().splitlines()
    return [line for line in lines if re.match("yowasp|yices", line)]


def tops() -> list[str]:
    """Modules that no other names."""
    known = files()
    used = {name for path in known.values() for name in named(path, known)}
    return [name for name in known if name not in used and not name.endswith("_pkg")]


if __name__ == "__main__":
    if sys.argv[1:]:
        print("\n".join(str(path.relative_to(ROOT)) for path in closure(sys.argv[1:])))
    else:
        print("\n".join(tops()))
