"""What cells mean in each family, the table of areas, and what differs from a committed one."""

import re

# Growth or shrinking that needs no blessing: a share, or for the smallest blocks a few cells.
SHARE = 0.03
CELLS = 4


def summary(family: str, cells: dict[str, int]) -> dict[str, int]:
    """Logic, registers and memories of a netlist, in the family's own units."""
    def count(pattern: str) -> int:
        return sum(number for cell, number in cells.items() if re.fullmatch(pattern, cell))

    if family == "ecp5":
        return {
            "lut4": count("LUT4"),
            # Two bits of carry logic, which take two LUTs' places.
            "ccu2c": count("CCU2C"),
            "ff": count("TRELLIS_FF"),
            "dpr16x4": count("TRELLIS_DPR16X4"),
            "dp16kd": count("DP16KD"),
            "mult18": count("MULT18X18D"),
        }
    if family == "xcup":
        # LUTs that a distributed RAM takes, by its name: RAM64M8 is 8 of them.
        memory = 8 * count("RAM(32M16|64M8)") + 4 * count("RAM(32M|64M|128X1D)") + 2 * count("RAM(32|64)X1D")
        return {
            "lut": count("LUT[1-6]") + memory,
            "ff": count("FD[RSCP]E"),
            "ramb18": count("RAMB18E2") + 2 * count("RAMB36E2"),
            "dsp": count("DSP48E2"),
        }
    # An ALM is two small look-up tables or adder bits, or two bits of memory, or one table of 5 or 6 inputs. Fitters
    # pack closer than that.
    small = count("MISTRAL_(ALUT[234]|ALUT_ARITH|MLAB)")
    return {
        "alm": (small + 1) // 2 + count("MISTRAL_ALUT[56]"),
        "ff": count("MISTRAL_FF"),
        "m10k": count("MISTRAL_M10K"),
        "bits": 10240 * count("MISTRAL_M10K") + 32 * count("MISTRAL_MLAB"),
    }


COLUMNS = [
    ("ecp5", [("lut4", "LUT4", 6), ("ccu2c", "CCU2", 5), ("ff", "FF", 6), ("dpr16x4", "DPR", 5), ("dp16kd", "BRAM", 5)]),
    ("xcup", [("lut", "LUT", 7), ("ff", "FF", 6), ("ramb18", "RB18", 5)]),
    ("cyclonev", [("alm", "ALM", 7), ("ff", "FF", 6), ("m10k", "M10K", 5)]),
]
TITLES = {"ecp5": "ECP5", "xcup": "UltraScale+", "cyclonev": "Cyclone V"}


def table(results: dict[str, dict], without: dict[str, list[str]], paper: dict[str, int]) -> str:
    """The areas in 80 columns, and the rates of what was routed."""
    families = "".join(f"{TITLES[family]:>{sum(width for *_, width in columns)}}" for family, columns in COLUMNS)
    heads = "".join(f"{title:>{width}}" for _, columns in COLUMNS for _, title, width in columns)
    lines = [f"{'':16}{families}", f"{'block':16}{heads}"]
    lines += [row(name, result) for name, result in results.items()]
    for name, others in without.items():
        lines.append(row(f"without {', '.join(others)}", less(results[name], [results[other] for other in others])))
    lines += [
        "",
        f"{'the paper added':68}{paper['alm']:>6}{paper['ff']:>6}{-(-paper['bits'] // 10240):>5}",
        f"  Table IV, on an Arria 10: {paper['alm']:,} ALMs, {paper['ff']:,} registers,"
        f" {paper['bits'] / 1e6:.2f} Mbit of RAM",
    ]
    if any("routed" in result for result in results.values()):
        lines += ["", rates(results)]
    return "\n".join(lines)


def rates(results: dict[str, dict]) -> str:
    """What was placed and routed: the worst rate of each clock, that with each seed, and the places taken."""
    lines = ["ECP5-85F, speed grade 8, placed and routed: the worst seed, and each, MHz"]
    for name, result in results.items():
        if "routed" not in result:
            continue
        places = ", ".join(f"{number} {place}" for place, number in result["routed"]["places"].items())
        lines.append(f"  {name}: {places}")
        for clock, found in result["routed"]["mhz"].items():
            lines.append(f"    {clock:14}{min(found):>7.1f}  ({', '.join(f'{rate:.1f}' for rate in found)})")
    return "\n".join(lines)


def row(name: str, result: dict) -> str:
    """A line of the table."""
    columns = [(family, key, width) for family, columns in COLUMNS for key, _, width in columns]
    cells = (f"{result[family][key] if family in result else '-':>{width}}" for family, key, width in columns)
    return f"{name[:16]:16}{''.join(cells)}"


def less(result: dict, others: list[dict]) -> dict:
    """What is left of an area without others."""
    families = [family for family, _ in COLUMNS if family in result]
    return {
        family: {key: number - sum(other[family][key] for other in others) for key, number in result[family].items()}
        for family in families
    }


def differences(blessed: dict[str, dict], results: dict[str, dict]) -> list[str]:
    """What is not as in the committed table, a line each: logic and registers beyond the share, memories at all."""
    found = []
    for name, result in results.items():
        if name not in blessed:
            found.append(f"{name}: not in the table; gateware/synth/synth.py {name} --bless enters it")
            continue
        old, new = blessed[name]["ecp5"], result["ecp5"]
        for key in new:
            change = new[key] - old[key]
            exact = key not in ("lut4", "ccu2c", "ff")
            if change and (exact or (abs(change) > SHARE * old[key] and abs(change) > CELLS)):
                share = f", {100 * change / old[key]:+.1f} %" if old[key] else ""
                found.append(f"{name}: {key} was {old[key]}, is {new[key]} ({change:+}{share})")
    if found:
        found.append("If that is as it should be: gateware/synth/synth.py --bless, and commit area.json.")
    return found


def strangers(blessed: dict[str, dict], listed: set[str]) -> list[str]:
    """What the committed table has and blocks.toml has not, a line each."""
    return [f"{name}: in area.json, not in blocks.toml" for name in sorted(blessed.keys() - listed)]
