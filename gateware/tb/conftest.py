"""What all benches need: the tools of the Python environment on the path, one module to each name, and the choice of
those of which something has changed (see `passed`).

Every folder of benches is on Python's path, so that a bench may import its neighbours by name. Of two modules of one
name the first on the path would answer for both, and which one that is depends on what else runs.
"""

import os
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import passed
import pytest

os.environ["PATH"] = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"

counted = Counter(module.name for module in Path(__file__).parent.rglob("*.py"))
if twice := sorted(name for name, times in counted.items() if times > 1):
    raise pytest.UsageError(f"two modules of benches have one name, rename one of each: {', '.join(twice)}")

WITHOUT_CHANGE, PASSED, TOPS = pytest.StashKey[int](), pytest.StashKey[dict[str, list[str]]](), "tops"


def pytest_addoption(parser: pytest.Parser) -> None:
    """The options of `passed`."""
    parser.addoption("--changed", action="store_true", help="only benches of which something has changed since they passed")
    parser.addoption("--bless", action="store_true", help="write those that pass to passed.json")


def pytest_configure(config: pytest.Config) -> None:
    """Nothing has run yet."""
    config.stash[WITHOUT_CHANGE] = 0
    config.stash[PASSED] = {}


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out benches that are as they were when they passed."""
    if not config.getoption("changed"):
        return
    noted = passed.ledger()
    same = [item for item in items if passed.is_unchanged(item.nodeid, noted)]
    config.hook.pytest_deselected(items=same)
    config.stash[WITHOUT_CHANGE] = len(same)
    items[:] = [item for item in items if item not in same]


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Notes which tops a bench simulates."""
    from runner import used

    used.clear()
    try:
        return (yield)
    finally:
        item.user_properties.append((TOPS, list(used)))


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Remembers what has passed, in the process that all reports come to."""
    if report.when == "call" and report.passed and logging is not None:
        logging.stash[PASSED][report.nodeid] = dict(report.user_properties).get(TOPS, [])


logging: pytest.Config | None = None


def pytest_sessionstart(session: pytest.Session) -> None:
    """Reports come to this process, if it is no worker."""
    global logging
    logging = None if hasattr(session.config, "workerinput") else session.config


def pytest_sessionfinish(session: pytest.Session) -> None:
    """A worker tells how many it has left out; who collects reports writes those that have passed."""
    config = session.config
    if hasattr(config, "workeroutput"):
        config.workeroutput["without_change"] = config.stash[WITHOUT_CHANGE]
    elif config.getoption("bless"):
        passed.note(config.stash[PASSED])


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any) -> None:
    """All workers leave out the same."""
    config: pytest.Config = node.config
    config.stash[WITHOUT_CHANGE] = getattr(node, "workeroutput", {}).get("without_change", 0)


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Says why some did not run."""
    if count := config.stash[WITHOUT_CHANGE]:
        terminalreporter.write_line(f"{count} benches did not run: they are as they were when they passed (passed.json)")
