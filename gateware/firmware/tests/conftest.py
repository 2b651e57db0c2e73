"""The firmware, built once for this machine."""

from collections.abc import Callable
from pathlib import Path

import pytest
from bench import Bench
from board import Config, build


@pytest.fixture(scope="session")
def library(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(tmp_path_factory.mktemp("firmware"))


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
