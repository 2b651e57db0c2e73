"""The table of what opencl-programs.sh has run: outcomes on PoCL alone and through Rackloom, and what got worse.

    opencl-programs.py FOLDER PROGRAM...
"""

import re
import sys
from collections import Counter
from pathlib import Path

PASS, SKIP, FAIL = "pass", "skip", "fail"

PYTEST = {"PASSED": PASS, "XPASS": PASS, "SKIPPED": SKIP, "XFAIL": SKIP, "FAILED": FAIL, "ERROR": FAIL}
# CLBlast's marks: right, the right error; wrong, the wrong error; not compiled, not supported, not in the reference.
MARKS = {":": PASS, ".": PASS, "X": FAIL, "/": FAIL, "\\": FAIL, "o": SKIP, "-": SKIP}

# What cannot pass: at its end it asks for an attribute that pyopencl's images have not, on all devices with images but
# PoCL's.
KNOWN = {"test_wrapper: test_wrapper.py::test_get_info[]"}


def pytest(text):
    """The outcome of each test; of one that was under way when the time was over as well."""
    outcomes = {}
    for line in text.splitlines():
        if found := re.match(r"(test_\w+\.py::.*?)(?: (PASSED|XPASS|SKIPPED|XFAIL|FAILED|ERROR)\b.*)?$", line):
            name = re.sub(r"<context factory.*?>>|<pyopencl\.Platform.*?>", "", found[1])
            outcomes[name] = PYTEST.get(found[2], FAIL)
    return outcomes


def example(text):
    """One outcome; an example for which a package is missing is skipped."""
    missing = re.search(r"ModuleNotFoundError: No module named '(?!pyopencl)", text)
    return {"": SKIP if missing else ended(text)}


def clinfo(text):
    """Each value that is reported."""
    values = (re.match(r"(?:\[.*?\])?\s*([#A-Z]\w+)\s+(.*)", line) for line in text.splitlines())
    return {found[1]: FAIL if "rror" in found[2] else PASS for found in values if found}


def clpeak(text):
    """Each figure of each section. It counts whole microseconds: what takes less has an infinite bandwidth."""
    outcomes, section = {}, ""
    for line in text.splitlines():
        name, colon, value = (part.strip() for part in line.partition(" : "))
        if colon:
            outcomes[f"{section} {name}"] = PASS if re.match(r"[\d.]+|inf$", value) else FAIL
        else:
            section = name
    return {name: outcome for name, outcome in outcomes.items() if "version" not in name}


def clblast(text):
    """Each mark of each routine; else each test that is counted."""
    outcomes, routine = {}, ""
    text = re.sub(r"\x1b\[\d+m", "", text)
    for line in text.splitlines():
        if found := re.search(r"Starting tests for the '(\w+)'", line):
            routine = found[1]
        elif routine and (marks := re.fullmatch(r" *([:.X/\\o-]+)", line)):
            for mark in marks[1]:
                outcomes[f"{routine} {len(outcomes)}"] = MARKS[mark]
    if not routine:
        for count, outcome in re.findall(r"(\d+) test\(s\) (pass|fail)ed", text):
            outcomes |= {f"{len(outcomes) + n}": outcome for n in range(int(count))}
    return outcomes


def ended(text):
    return PASS if text.rstrip().endswith("\nended with 0") else FAIL


READERS = {
    "clinfo": clinfo, "clpeak": clpeak, "pyopencl": pytest, "quick": pytest, "examples": example, "clblast": clblast,
}  # fmt: skip


def outcomes(file, reader):
    if not file.exists():
        return {}
    text = file.read_text(errors="replace")
    found = reader(text)
    # A program that ends badly with no test to show for it has failed; one whose time was over, too.
    if not found or ended(text) == FAIL and FAIL not in found.values():
        found["how it ended"] = ended(text)
    return found


def main():
    folder, programs = Path(sys.argv[1]), sys.argv[2:]
    worse, total = [], 0
    print(f"{'':32}{'PoCL alone':>20}{'through Rackloom':>22}")
    print(f"{'':32}" + "  ".join(2 * [f"{'pass':>8}{'skip':>6}{'fail':>6}"]))
    for program in programs:
        names = sorted({file.name for way in ("native", "rackloom") for file in (folder / way / program).glob("*")})
        for name in names:
            files = (folder / way / program / name for way in ("native", "rackloom"))
            native, rackloom = (outcomes(file, READERS[program]) for file in files)
            counts = [Counter(found.values()) for found in (native, rackloom)]
            row = "  ".join(f"{c[PASS]:8}{c[SKIP]:6}{c[FAIL]:6}" if c else f"{'-':>20}" for c in counts)
            print(f"{program + ' ' + name if name != program else name:32}{row}")
            total += len(rackloom)
            for test, outcome in rackloom.items():
                # Without a run on PoCL alone, all has to pass.
                known = KNOWN & {f"{program} {name}", f"{name}: {test}"}
                if outcome == FAIL and native.get(test, PASS) == PASS and not known:
                    worse.append(f"{program} {name}: {test} fails")
            missing = [test for test, outcome in native.items() if outcome == PASS and test not in rackloom]
            # A device does not tell of what it has not.
            if missing and program != "clinfo":
                worse.append(f"{program} {name}: {len(missing)} tests did not run, the first {missing[0]}")
    print("\n".join(worse), end="\n" if worse else "")
    sys.exit(bool(worse) or not total)


if __name__ == "__main__":
    main()
