"""The board, built once, and a card that has booted an application."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from flash_contents import with_slots
from host import Host, build


@pytest.fixture(scope="session")
def wired() -> Path:
    """The board as a program, if PROGRAMN were wired."""
    return build(wired=True)


@pytest.fixture(scope="session")
def not_wired() -> Path:
    """The board as it is."""
    return build(wired=False)


@pytest.fixture
def application(wired: Path) -> Iterator[Host]:
    """A host, and a card that runs a confirmed application and has announced itself."""
    host = Host(wired, *with_slots(a=("first",)))
    assert host.power_up() == "first"
    host.meets()
    yield host
    host.close()


@pytest.fixture(scope="session")
def keyed() -> Path:
    """The board whose keys, signers and versions are in its flash, if PROGRAMN were wired."""
    return build(wired=True, keys=True)
