"""What a bench's digest depends on."""

from pathlib import Path

import passed
import pytest
from sources import ROOT

CONTROL = ("control/test_rl_control.py::test_rl_control[0]", ["rl_control"])
MESH = ("collectives/test_rl_collective_mesh.py::test_rl_collective_mesh", ["rl_collective_mesh_tb"])
TAGS = ("shell/test_rl_auth_rx.py::test_rl_auth_rx", ["rl_auth_rx"])
Bench = tuple[str, list[str]]


def with_change(bench: Bench, changed: Path) -> str:
    """The digest if one file were another."""
    return passed.digest(*bench, lambda path: b"changed" if path == changed else path.read_bytes())


@pytest.mark.parametrize(
    ("bench", "path"),
    [
        (CONTROL, "gateware/rtl/control/rl_control.sv"),
        (CONTROL, "gateware/rtl/control/rl_cpu.sv"),
        (CONTROL, "gateware/tb/control/test_rl_control.py"),
        (CONTROL, "gateware/tb/runner.py"),
        (CONTROL, "gateware/firmware/build.py"),
        (CONTROL, "protocol/registers.toml"),
        (MESH, "crates/check/study-optweb/gateware/programs.txt"),
        (MESH, "crates/check/study-optweb/gateware/cycles.txt"),
        (TAGS, "gateware/rtl/auth/rl_auth.sv"),
        (TAGS, "gateware/tb/golden.py"),
        (TAGS, "crates/check/golden/src/lib.rs"),
        (TAGS, "crates/core/wire/src/lib.rs"),
    ],
)
def test_what_a_bench_is_made_of_changes_its_digest(bench: Bench, path: str) -> None:
    """Its gateware, its Python, the models and the protocol."""
    assert (ROOT / path).exists()
    assert with_change(bench, ROOT / path) != passed.digest(*bench)


@pytest.mark.parametrize("path", ["gateware/rtl/link/rl_link.sv", "gateware/tb/flash/test_flash_image.py", "README.md"])
def test_what_it_is_not_made_of_does_not(path: str) -> None:
    """Another block, another bench."""
    assert (ROOT / path).exists()
    assert with_change(CONTROL, ROOT / path) == passed.digest(*CONTROL)


def test_names_and_tops_count() -> None:
    """Two benches of one file are two; a top that is gone is a change."""
    name, tops = CONTROL
    assert passed.digest(name, tops) != passed.digest(name.replace("[0]", "[1]"), tops)
    assert passed.digest(name, ["rl_no_more"]) != passed.digest(name, tops)
    noted = {name: {"tops": tops, "digest": passed.digest(name, tops)}}
    assert passed.is_unchanged(name, noted)
    assert not passed.is_unchanged(name, {name: noted[name] | {"digest": "0"}})
    assert not passed.is_unchanged(TAGS[0], noted)
