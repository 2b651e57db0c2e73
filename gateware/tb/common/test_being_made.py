"""Programs that build the same at the same time, as two benches of a fresh clone do with Verilator's own sources."""

import multiprocessing
from multiprocessing.synchronize import Barrier
from pathlib import Path

import pytest
import verilate

FOLDERS = 300  # Of two that did not hold the lock to make one, one failed in ten tries.


def make_all(out: Path, both: Barrier) -> None:
    """Makes each folder at the moment when the other program does."""
    verilate.OUT = out
    for number in range(FOLDERS):
        both.wait(20)
        with verilate.being_made(out / str(number), "its content") as stale:
            if stale:
                (out / str(number) / "result").touch(exist_ok=False)


def test_programs_side_by_side_make_a_folder_once(tmp_path: Path) -> None:
    """One of them makes it, and none fails."""
    own = multiprocessing.get_context("fork")
    both = own.Barrier(2)
    programs = [own.Process(target=make_all, args=(tmp_path / "out", both)) for _ in range(2)]
    for program in programs:
        program.start()
    for program in programs:
        program.join(30)
    assert [program.exitcode for program in programs] == [0, 0]
    assert all((tmp_path / "out" / str(number) / "result").exists() for number in range(FOLDERS))


def test_what_a_failure_leaves_behind_is_made_anew(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The folder is empty then, and it is as it was if nothing changes."""
    monkeypatch.setattr(verilate, "OUT", tmp_path)
    folder = tmp_path / "model"
    with pytest.raises(RuntimeError), verilate.being_made(folder, "its content"):
        (folder / "half").touch()
        raise RuntimeError("the compiler fails")
    with verilate.being_made(folder, "its content") as stale:
        assert stale and not list(folder.iterdir())
        (folder / "whole").touch()
    with verilate.being_made(folder, "its content") as stale:
        assert not stale and (folder / "whole").exists()
