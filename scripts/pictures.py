#!/usr/bin/env python3
"""The pictures of the front page and the book, as SVG.

    scripts/pictures.py            writes docs/src/images/*.svg
    scripts/pictures.py --check    fails if one of them is stale

Each picture has a background of its own, so it reads the same on light and dark pages. Files named in a picture must
exist, and the plot takes its figures from bench/results: a picture cannot drift from the repository in silence.
"""

import json
import sys
from html import escape
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / "docs/src/images"

PAPER, INK, SOFT, LINE = "#fbfaf7", "#1d2733", "#5a6672", "#8793a0"
# Colours that people with any kind of colour blindness can tell apart (Okabe and Ito), and a tint of each.
BLUE, ORANGE, GREEN, GREY = "#0072b2", "#d55e00", "#009e73", "#646464"
TINT = {BLUE: "#e3eff7", ORANGE: "#fbeadf", GREEN: "#e0f3ed", GREY: "#efefec"}
SANS = "font-family=\"'DejaVu Sans', Verdana, sans-serif\""


class Picture:
    """Shapes on a sheet of paper, collected in the order in which they are drawn."""

    def __init__(self, width, height, title):
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" '
            f'height="{height}" role="img" {SANS}>',
            f"<title>{escape(title)}</title>",
            '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" '
            f'orient="auto-start-reverse"><path d="M0 0 L8 4 L0 8 Z" fill="{SOFT}"/></marker></defs>',
            f'<rect x="0.5" y="0.5" width="{width - 1}" height="{height - 1}" rx="10" fill="{PAPER}" '
            f'stroke="{LINE}"/>',
        ]

    def text(self, x, y, text, size=13, fill=INK, anchor="start", bold=False):
        """One line of text; `y` is its baseline."""
        weight = ' font-weight="bold"' if bold else ""
        self.parts.append(
            f'<text x="{x}" y="{y}" font-size="{size}" fill="{fill}" text-anchor="{anchor}"{weight}>'
            f"{escape(text)}</text>"
        )

    def rect(self, x, y, width, height, color, dashed=False):
        """A frame in a colour, filled with the colour's tint."""
        dash = ' stroke-dasharray="5 4"' if dashed else ""
        self.parts.append(
            f'<rect x="{x}" y="{y}" width="{width}" height="{height}" rx="6" fill="{TINT[color]}" '
            f'stroke="{color}"{dash}/>'
        )

    def box(self, x, y, width, height, color, title, *lines, dashed=False):
        """A frame with a bold title and smaller lines below it, centred."""
        self.rect(x, y, width, height, color, dashed)
        top = y + (height - 17 * len(lines)) / 2 + 5
        self.text(x + width / 2, top, title, 13, INK, "middle", bold=True)
        for number, line in enumerate(lines, 1):
            self.text(x + width / 2, top + 17 * number, line, 11, SOFT, "middle")

    def arrow(self, *points, both=False):
        """A line through points with a tip at its end, or at both."""
        path = " ".join(f"{x},{y}" for x, y in points)
        start = ' marker-start="url(#tip)"' if both else ""
        self.parts.append(
            f'<polyline points="{path}" fill="none" stroke="{SOFT}" stroke-width="1.5"{start} '
            'marker-end="url(#tip)"/>'
        )

    def svg(self):
        """The document."""
        return "\n".join([*self.parts, "</svg>", ""])


def existing(path):
    """A short name for a path, once the file is known to exist: its last part, or the crate's for a `lib.rs`."""
    if not (ROOT / path).exists():
        sys.exit(f"pictures.py: {path} does not exist: correct the picture that names it")
    name = path.rsplit("/", 1)[-1]
    return path.split("/src/")[0].rsplit("/", 1)[-1] + "/src" if name == "lib.rs" else name


def architecture():
    """What there is, from programs to cards."""
    p = Picture(900, 520, "Programs, host, manager and registry above one Ethernet, cards below it")
    p.text(24, 34, "Rackloom", 17, INK, bold=True)
    p.text(876, 34, "blue: run a rack · orange: share a board · green: build a card", 11, SOFT, "end")

    p.box(24, 54, 250, 58, BLUE, "your program, or the CLI", "rackloom run gemm A.npy B.npy")
    p.box(324, 54, 250, 58, ORANGE, "OpenCL programs", "unmodified, several at a time")
    p.box(626, 54, 250, 58, ORANGE, "orchestrator", "starts programs, asks for boards")

    p.box(24, 158, 250, 76, BLUE, "host", "finds, claims, loads, launches,", "spreads jobs over all cards")
    p.box(324, 158, 250, 76, ORANGE, "manager", "fair queue for each board,", "a process for each CPU client")
    p.box(626, 158, 250, 76, ORANGE, "registry (Go)", "which instance has which board;", "agrees to reconfiguration")
    p.arrow((149, 112), (149, 156))
    p.arrow((449, 112), (449, 156))
    p.text(459, 139, "OpenCL library, shared memory or TCP", 11, SOFT)
    p.arrow((751, 112), (751, 156))
    p.arrow((576, 196), (624, 196), both=True)
    p.text(600, 188, "gRPC", 11, SOFT, "middle")

    p.rect(24, 288, 600, 46, GREY)
    p.text(324, 308, "Ethernet, 8 EtherTypes", 13, INK, "middle", bold=True)
    p.text(324, 325, "in-process switch, virtual segment, network interface, or the deterministic simulator", 11, SOFT,
           "middle")
    p.arrow((149, 234), (149, 286), both=True)
    p.arrow((449, 234), (449, 286), both=True)
    p.text(459, 266, "a host of its own", 11, SOFT)
    p.arrow((520, 234), (520, 248), (751, 248), (751, 374))

    p.box(24, 376, 180, 76, GREEN, "model card", "the shell in Rust,", "roles in a sandbox")
    p.box(234, 376, 180, 76, GREEN, "gateware card", "the shell in SystemVerilog,", "run by Verilator")
    p.box(444, 376, 180, 76, GREEN, "board", "ECPIX-5: a bitstream,", "not yet tried", dashed=True)
    p.box(666, 376, 210, 76, ORANGE, "OpenCL devices", "CPUs with PoCL,", "GPUs with their runtime")
    for x in (114, 324, 534):
        p.arrow((x, 334), (x, 374), both=True)

    p.text(24, 484, "One conformance suite holds model and gateware to the same behaviour, frame by frame;", 12, SOFT)
    p.text(24, 503, "seeded racks full of faults, fuzzing, proofs and killed processes look for what it does not say.",
           12, SOFT)
    return p.svg()


def frame():
    """The way of a written frame, from a job to memory, through the model card and through the gateware."""
    p = Picture(900, 506, "The path of a frame from a job on the host to memory on a card")
    p.text(24, 34, "The path of a frame: a job's input on its way to a card's memory", 15, INK, bold=True)

    def row(y, color, label, boxes):
        p.text(24, y - 12, label, 12, SOFT)
        width = (852 - 16 * (len(boxes) - 1)) / len(boxes)
        for number, (title, does, path) in enumerate(boxes):
            x = 24 + number * (width + 16)
            p.box(x, y, width, 76, color, title, does, existing(path))
            if number:
                p.arrow((x - 16, y + 38), (x - 1, y + 38))

    row(82, BLUE, "Host (crates/api/rackloom, crates/core/host) and what carries its frames (crates/run/live)", [
        ("job", "cuts arrays into tiles", "crates/core/host/src/job.rs"),
        ("writer", "numbers, window, resend", "crates/core/host/src/writer.rs"),
        ("host", "turns, rate, liveness", "crates/core/host/src/host.rs"),
        ("driver", "real time, a thread", "crates/run/live/src/driver.rs"),
        ("switch", "or segment, or interface", "crates/run/live/src/switch/fabric.rs"),
    ])
    p.arrow((800, 158), (800, 186), (12, 186), (12, 258), (23, 258))
    header = "one Ethernet frame: 14 bytes of Ethernet, 18 of header (kind, epoch, seq, addr), payload"
    p.text(450, 180, header, 11, SOFT, "middle")
    row(220, GREEN, "Model card (crates/core/card, memory in crates/run/ddr)", [
        ("analyzer", "for this card? counted drop", "crates/core/card/src/analyzer.rs"),
        ("dispatch", "owner and epoch right?", "crates/core/card/src/card/dispatch.rs"),
        ("memory", "each number once", "crates/core/card/src/memory.rs"),
        ("DDR", "the role's memory, too", "crates/run/ddr/src/lib.rs"),
        ("role", "a kernel reads it", "crates/run/sandbox/src/run.rs"),
    ])
    p.arrow((12, 258), (12, 376), (23, 376))
    row(338, GREEN, "The same card as gateware (gateware/rtl), one word of 64 bits a cycle", [
        ("rx FIFO", "holds what has to wait", "gateware/rtl/shell/rx/rl_rx_fifo.sv"),
        ("analyzer", "route, known by word 4", "gateware/rtl/shell/rx/rl_analyzer.sv"),
        ("store", "each number once", "gateware/rtl/shell/memory/rl_mem_write.sv"),
        ("frame queue", "commit or roll back", "gateware/rtl/common/rl_frame_queue.sv"),
        ("DDR write", "64-byte beats, AXI4", "gateware/rtl/shell/memory/rl_ddr_write.sv"),
    ])
    notes = [
        "The acknowledgement comes back as a bitmap of what has arrived: from the model's memory block, or from the",
        "gateware's processor, whose firmware handles the rare cases of every service. A frame that the analyzer drops",
        "raises the counter of the reason, which `rackloom info CARD` shows.",
    ]
    for number, note in enumerate(notes):
        p.text(24, 450 + 19 * number, note, 12, SOFT)
    return p.svg()


def sharing():
    """How long requests of a light program take beside a greedy one, from a published run."""
    source = "bench/results/blastfunction-sharing-h100.json"
    existing(source)
    light = {row["case"]: row for row in json.loads((ROOT / source).read_text())["light"]}
    p = Picture(900, 330, "Latency of a light tenant: alone, beside a greedy one by fair queueing, and by FIFO")
    p.text(24, 34, "A light program shares a board with a greedy one", 15, INK, bold=True)
    p.text(24, 54, "Tasks of 2 ms beside a neighbour that always has ten tasks of 10 ms under way.", 12, SOFT)
    p.text(24, 71, "Bars: mean latency of a request. Thin lines: up to the 99th percentile.", 12, SOFT)
    left, right, top, bottom = 210, 690, 100, 272
    scale = (right - left) / 120
    for ms in range(0, 121, 20):
        x = left + ms * scale
        p.parts.append(f'<line x1="{x}" y1="{top - 8}" x2="{x}" y2="{bottom}" stroke="#d8d6cf"/>')
        p.text(x, bottom + 18, f"{ms} ms" if ms else "0", 11, SOFT, "middle")
    cases = [
        ("alone", "alone on the board", BLUE),
        ("fair", "fair queueing (default)", GREEN),
        ("fifo", "--policy fifo", GREY),
    ]
    for number, (case, label, color) in enumerate(cases):
        y = top + number * 58
        row, latency = light[case], light[case]["latency"]
        mean, p99 = left + latency["mean_ms"] * scale, left + latency["p99_ms"] * scale
        p.text(left - 12, y + 25, label, 13, INK, "end")
        p.parts.append(f'<rect x="{left}" y="{y + 4}" width="{mean - left:.1f}" height="32" fill="{color}"/>')
        whisker = f"M{mean:.1f} {y + 20} H{p99:.1f} M{p99:.1f} {y + 12} V{y + 28}"
        p.parts.append(f'<path d="{whisker}" stroke="{INK}" stroke-width="1.5"/>')
        p.text(right + 14, y + 17, f"{latency['mean_ms']:.1f} ms", 13, INK, bold=True)
        p.text(right + 14, y + 34, f"{row['answered']} of {row['asked']} answered", 11, SOFT)
    p.text(24, 314, f"rackloom study blastfunction-sharing; figures of {source}", 11, SOFT)
    return p.svg()


def main():
    """Writes the pictures, or compares them with those that are there."""
    check = sys.argv[1:] == ["--check"]
    if sys.argv[1:] and not check:
        sys.exit(__doc__)
    stale = []
    for draw in (architecture, frame, sharing):
        path, text = FOLDER / f"{draw.__name__}.svg", draw()
        if check and (not path.exists() or path.read_text() != text):
            stale.append(str(path.relative_to(ROOT)))
        elif not check:
            path.write_text(text)
    if stale:
        sys.exit(f"{', '.join(stale)}: stale; run scripts/pictures.py")


if __name__ == "__main__":
    main()
