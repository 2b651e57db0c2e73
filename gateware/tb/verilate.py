"""Builds the program that simulates a module: Verilator's C++, cocotb's main loop and Verilator's own sources.

This replaces the makefiles that Verilator writes, which compile Verilator's own sources again for each module:
these take ten times as long as the C++ of most modules. Here they are compiled once, with a precompiled header,
and each module is one compilation. Only the top's signals are visible to a bench, so that Verilator optimizes the rest.
"""

import fcntl
import hashlib
import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from cocotb_tools import config
from sources import ROOT

# Programs that count which lines run and which bits change, for gateware/coverage, are others.
COVERAGE = os.environ.get("RACKLOOM_COVERAGE", "0") not in ("", "0")
OUT = ROOT / "out" / ("coverage" if COVERAGE else "tb")
COMPILER = "clang++"  # Compiles a model in two thirds of the time that g++ takes.
TOOLS = ("verilator", COMPILER)
MAIN = config.share_dir / "lib" / "verilator" / "verilator.cpp"

# Models run for seconds: more than -O1 takes longer to compile than it saves.
FLAGS = ("-std=gnu++20", "-O1", "-pthread")
DEFINES = ("VERILATOR=1", f"VM_COVERAGE={int(COVERAGE)}", "VM_SC=0", "VM_TIMING=0", "VM_TRACE_SAIF=0", "VM_TRACE_VCD=0")
# What all models and cocotb's main loop include.
HEADERS = ("memory", "string", "verilated.h", "verilated_dpi.h", "verilated_sym_props.h", "verilated_vpi.h")
RUNTIME = ("verilated", "verilated_dpi", "verilated_threads", "verilated_vpi") + COVERAGE * ("verilated_cov",)
# Warnings are the lint's business. Delays have no place in sources, so that one clock model fits all.
VERILATOR = ("--assert", "--no-timing", "-Wno-fatal", "--timescale", "1ns/1ps", "--vpi")
VERILATOR += COVERAGE * ("--coverage-line", "--coverage-toggle", "--coverage-max-width", "512")


def build(
    toplevel: str,
    sources: Sequence[Path],
    parameters: Mapping[str, int],
    visible: Sequence[str],
    *,
    waves: bool,
) -> Path:
    """Builds `toplevel` if that has not been done with what its sources hold now, and returns the program's folder.

    `visible` are signals below the top that the bench reads or writes, as `module.signal`. The program has the top's
    name. Programs side by side may build the same: one does, and the others wait.
    """
    arguments = [f"-G{name}={value}" for name, value in sorted(parameters.items())]
    recipe = [toplevel, arguments, [str(path) for path in sources], sorted(visible), waves]
    folder = OUT / f"{toplevel}-{digest(recipe)[:10]}"
    content = digest([recipe, [path.read_text() for path in sources], tools(waves)])
    with being_made(folder, content) as stale:
        if stale:
            verilate(folder, toplevel, sources, arguments, visible, waves)
            compile_model(folder, toplevel, waves)
    return folder


def verilate(
    folder: Path, toplevel: str, sources: Sequence[Path], arguments: list[str], visible: Sequence[str], waves: bool
) -> None:
    """SystemVerilog to C++."""
    control = folder / "visible.vlt"
    signals = [name.split(".") for name in visible]
    lines = [f'public_flat_rw -module "{module}" -var "{signal}"\n' for module, signal in signals]
    control.write_text("`verilator_config\n" + "".join(lines))
    # A trace is to show everything.
    view = ["--trace-fst", "--public-flat-rw"] if waves else ["--public-depth", "1"]
    names = ["--prefix", "Vtop", "--top-module", toplevel]
    call(["verilator", "-cc", "-Mdir", folder, *names, *VERILATOR, *arguments, *view, control, *sources])


def compile_model(folder: Path, toplevel: str, waves: bool) -> None:
    """C++ to the program."""
    library = runtime(waves)
    whole = folder / "model.cc"
    # A third of the C++ runs once, as the model is made: Verilator puts that into files of their own.
    slow = sorted(folder.glob("Vtop*__Slow.cpp"))
    fast = [*sorted(set(folder.glob("Vtop*.cpp")) - set(slow)), MAIN]
    included = ["".join(f'#include "{part}"\n' for part in parts) for parts in (fast, slow)]
    whole.write_text("#pragma clang optimize off\n".join(included))
    command = [COMPILER, *flags(waves), "-include-pch", library / "all.h.pch", f"-I{folder}", whole]
    command += sorted(library.glob("*.o"))
    libraries = [f"-L{config.libs_dir}", f"-Wl,-rpath,{config.libs_dir}", "-lcocotbvpi_verilator", "-latomic"]
    libraries += ["-llz4", "-lz"] if waves else []
    call([*command, *libraries, "-o", folder / toplevel])


def runtime(waves: bool) -> Path:
    """The folder of Verilator's own sources as objects, and of the precompiled header, all.h."""
    folder = OUT / ("verilated-waves" if waves else "verilated")
    with being_made(folder, digest(tools(waves))) as stale:
        if stale:
            header = folder / "all.h"
            header.write_text("".join(f"#include <{name}>\n" for name in HEADERS))
            names = [*RUNTIME, "verilated_fst_c"] if waves else RUNTIME
            compile_one = [COMPILER, *flags(waves), "-c"]
            jobs = [[*compile_one, include() / f"{name}.cpp", "-o", folder / f"{name}.o"] for name in names]
            jobs.append([COMPILER, *flags(waves), "-x", "c++-header", header, "-o", folder / "all.h.pch"])
            with ThreadPoolExecutor() as pool:
                list(pool.map(call, jobs))
    return folder


def flags(waves: bool) -> list[str]:
    """The compiler's arguments; a precompiled header is of use only where they are the same."""
    defines = [*DEFINES, f"VM_TRACE={int(waves)}", f"VM_TRACE_FST={int(waves)}"]
    return [*FLAGS, f"-I{include()}", f"-I{include() / 'vltstd'}", *(f"-D{define}" for define in defines)]


@cache
def include() -> Path:
    """Verilator's own sources."""
    got = subprocess.run(["verilator", "--getenv", "VERILATOR_ROOT"], check=True, capture_output=True, text=True)
    return Path(got.stdout.strip()) / "include"


@cache
def tools(waves: bool) -> list[str]:
    """What a program depends on besides its sources."""
    asked = [subprocess.run([tool, "--version"], check=True, capture_output=True, text=True) for tool in TOOLS]
    versions = [answer.stdout for answer in asked]
    return [*versions, *flags(waves), *VERILATOR, MAIN.read_text(), Path(__file__).read_text()]


@contextmanager
def being_made(folder: Path, content: str) -> Iterator[bool]:
    """Holds `folder` for one program; true, and empty, if it is not of this content. Afterwards it is."""
    OUT.mkdir(parents=True, exist_ok=True)
    stamp = folder / "made"
    with open(OUT / f".{folder.name}", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        stale = not stamp.exists() or stamp.read_text() != content
        if stale:
            # Nobody makes or removes it without the lock: between a program's two steps it is not there.
            shutil.rmtree(folder, ignore_errors=True)
            folder.mkdir()
        yield stale
        # Last, so that what a failure leaves behind is made anew.
        if stale:
            stamp.write_text(content)


def digest(value: object) -> str:
    """A name for a value."""
    return hashlib.sha256(json.dumps(value).encode()).hexdigest()


def call(command: Sequence[str | Path]) -> None:
    """Runs a program, and fails with what it said if it fails."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
