"""The programs compute what plain C computes, and see it when they do not."""

import json

import pytest
from conftest import run


def results(done):
    return [json.loads(line) for line in done.stdout.splitlines()]


@pytest.mark.parametrize("size", ["10x10", "127x9", "128x8", "129x1080", "1920x1080"])
def test_sobel_is_right(size):
    if size in ("127x9", "128x8"):
        # Below the smallest image: refused, not computed.
        assert run("sobel", "--size", size).returncode == 2
        return
    done = run("sobel", "--size", size, "--iterations", 3, "--json")
    assert done.returncode == 0, done.stderr
    width, height = map(int, size.split("x"))
    assert [r["iteration"] for r in results(done)] == [0, 1, 2]
    assert all(r["correct"] is True and (r["width"], r["height"]) == (width, height) for r in results(done))


@pytest.mark.parametrize("n", [16, 48, 272])
def test_matmul_is_right(n):
    done = run("matmul", "--size", n, "--iterations", 2, "--json")
    assert done.returncode == 0, done.stderr
    assert [r["correct"] for r in results(done)] == [True, True]


def test_alexnet_is_right():
    done = run("alexnet", "--scale", 8, "--iterations", 2, "--json")
    assert done.returncode == 0, done.stderr
    assert [r["correct"] for r in results(done)] == [True, True]


@pytest.mark.parametrize("options", [(), ("--launches", 7), ("--launches", 2, "--depth", 5)])
def test_bursts_are_right(options):
    done = run("burst", *options, "--iterations", 12, "--json")
    assert done.returncode == 0, done.stderr
    assert [r["correct"] for r in results(done)] == [True] * 12


def test_an_answer_belongs_to_its_line_whatever_the_depth():
    done = run("burst", "--depth", 4, "--serve", text="\n\n")
    ready, *answers = results(done)
    assert done.returncode == 0, done.stderr
    assert [(a["iteration"], a["depth"], a["correct"]) for a in answers] == [(0, 1, True), (1, 1, True)]


@pytest.mark.parametrize(
    "command",
    [
        ("sobel", "--size", "10x10"),
        ("matmul", "--size", 16),
        ("alexnet", "--scale", 8),
        ("burst",),
        ("burst", "--depth", 3),
    ],
)
def test_a_stale_result_is_seen(command):
    # The fourth read brings half of what it should.
    iterations = 8 if command[0] == "sobel" else 4
    done = run(*command, "--iterations", iterations, "--json", fault="stale_read")
    assert done.returncode == 1, done.stdout
    verdicts = [r["correct"] for r in results(done)]
    assert verdicts[:3] == [True] * 3
    assert False in verdicts[3:]


def test_times_are_of_parts_and_sum_up():
    (result,) = results(run("sobel", "--size", "64x64", "--json"))
    parts = sum(result[part] for part in ("write_us", "kernel_us", "read_us"))
    # Each is rounded to a tenth.
    assert abs(result["total_us"] - parts) < 0.5
    assert min(result["write_us"], result["kernel_us"], result["read_us"]) > 0


def test_only_what_is_asked_for_is_checked():
    options = ("sobel", "--size", "10x10", "--iterations", 3, "--json", "--check")
    assert [r["correct"] for r in results(run(*options, "first"))] == [True, None, None]
    assert [r["correct"] for r in results(run(*options, "none"))] == [None, None, None]


def test_a_gap_is_kept():
    text = run("sobel", "--size", "10x10", "--iterations", 3, "--gap-ms", 1, "--check", "none").stdout
    assert text.splitlines()[-1].startswith("median")


def test_requests_are_answered_line_by_line():
    done = run("sobel", "--size", "10x10", "--serve", text="\nanything\n")
    ready, *answers = results(done)
    assert done.returncode == 0, done.stderr
    assert ready == {"workload": "sobel", "ready": True}
    assert [(a["iteration"], a["correct"]) for a in answers] == [(0, True), (1, True)]


@pytest.mark.parametrize(
    "options",
    [
        ("--size", "9x10"),
        ("--size", "10x1081"),
        ("--size", "10"),
        ("--size", "10x10x10"),
        ("--size", "x10"),
        ("--iterations", "0"),
        ("--iterations", "-1"),
        ("--iterations", "1x"),
        ("--check", "some"),
        ("--rubbish",),
        ("rubbish",),
        ("--seed",),
    ],
)
def test_wrong_options_are_refused(options):
    done = run("sobel", *options)
    assert done.returncode == 2
    assert done.stdout == ""
    assert done.stderr


def test_a_device_that_is_not_there_is_named():
    done = run("sobel", "--device", 77)
    assert done.returncode == 1
    assert "no OpenCL device 77" in done.stderr
