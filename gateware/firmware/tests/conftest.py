"""The firmware, built once for this machine and once for the processor: each test runs with both."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

# Models and frames are those of the gateware's benches.
sys.path.append(str(Path(__file__).resolve().parents[2] / "tb"))
from bench import Bench  # noqa: E402
from board import Config  # noqa: E402
from build_tests import build_native, build_rv32, firmware  # noqa: E402
from keys import Keyed, KeysBench  # noqa: E402


@pytest.fixture(scope="session", params=[build_native, build_rv32], ids=["native", "rv32"])
def library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return request.param(tmp_path_factory.mktemp("firmware"))


@pytest.fixture
def new(library: Path) -> Callable[..., Bench]:
    """Makes a card that has just been switched on."""

    def make(**config: int) -> Bench:
        return Bench(library, Config(**config))

    return make


@pytest.fixture
def claimed(new: Callable[..., Bench]) -> Callable[..., Bench]:
    """Makes one that is claimed by HOST."""

    def make(**config: int) -> Bench:
        bench = new(**config)
        bench.claim()
        bench.clear()
        return bench

    return make


@pytest.fixture
def with_role(claimed: Callable[..., Bench]) -> Callable[..., Bench]:
    """Makes one that is claimed and has a role active."""

    def make(**config: int) -> Bench:
        bench = claimed(**config)
        bench.load()
        bench.clear()
        return bench

    return make


@pytest.fixture(scope="session", params=[build_native, build_rv32], ids=["native", "rv32"])
def keys_library(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return request.param(tmp_path_factory.mktemp("firmware-keys"), firmware.KEYS)


@pytest.fixture
def keyed(keys_library: Path) -> Callable[..., KeysBench]:
    """Makes a card with keys that has just been switched on."""

    def make(**config) -> KeysBench:
        return KeysBench(keys_library, Keyed(**config))

    return make
