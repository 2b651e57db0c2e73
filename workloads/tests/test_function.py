"""The HTTP function hands requests to one process at a time, survives its death, and ends gracefully."""

import contextlib
import http.client
import json
import os
import re
import signal
import subprocess
import time
from concurrent.futures import ThreadPoolExecutor

from conftest import BIN, WORKLOADS


@contextlib.contextmanager
def function(*command, options=()):
    """Runs the function around a workload; yields its process and address."""
    args = [str(BIN / "function"), "--listen", "127.0.0.1:0", *options, str(BIN / command[0]), *map(str, command[1:])]
    with subprocess.Popen(args, stderr=subprocess.PIPE, text=True) as process:
        try:
            line = process.stderr.readline()
            while line and "listening on" not in line:
                line = process.stderr.readline()
            yield process, re.search(r"http://(\S+)", line).group(1)
        finally:
            process.kill()


def get(address, path="/"):
    connection = http.client.HTTPConnection(address, timeout=40)
    connection.request("POST" if path == "/" else "GET", path)
    response = connection.getresponse()
    return response.status, json.loads(response.read())


def workload_of(process):
    children = subprocess.run(["pgrep", "-P", str(process.pid)], capture_output=True, text=True, check=True)
    return int(children.stdout)


def test_requests_are_answered_in_turn():
    with function("sobel", "--size", "100x100") as (_, address):
        assert get(address, "/healthz") == (200, {"ready": True})
        with ThreadPoolExecutor(8) as pool:
            answers = list(pool.map(lambda _: get(address), range(24)))
        assert all(status == 200 and answer["correct"] for status, answer in answers)
        # One process answered all of them.
        assert sorted(answer["iteration"] for _, answer in answers) == list(range(24))


def test_a_process_that_dies_is_replaced():
    with function("sobel", "--size", "10x10") as (process, address):
        assert get(address)[1]["iteration"] == 0
        first = workload_of(process)
        os.kill(first, signal.SIGKILL)
        # The request that finds out may fail; none after it does.
        get(address)
        status, answer = get(address)
        assert status == 200
        assert answer["correct"]
        assert get(address, "/healthz")[0] == 200
        assert workload_of(process) != first


def test_a_request_that_is_stuck_is_given_up():
    with function("sobel", "--size", "10x10", options=("--timeout", "2s")) as (process, address):
        assert get(address)[0] == 200
        os.kill(workload_of(process), signal.SIGSTOP)
        status, answer = get(address)
        assert status == 502
        assert "does not answer" in answer["error"]
        assert get(address, "/healthz")[0] == 503
        # The next one gets a new process.
        assert get(address)[0] == 200
        assert get(address, "/healthz")[0] == 200


def test_more_than_may_wait_are_refused():
    with function("matmul", "--size", 1024, "--check", "none", options=("--queue", "1")) as (_, address):
        with ThreadPoolExecutor(12) as pool:
            statuses = [status for status, _ in pool.map(lambda _: get(address), range(12))]
        assert set(statuses) == {200, 503}
        assert statuses.count(200) >= 2


def test_a_stopped_function_finishes_what_it_has_begun():
    with function("matmul", "--size", 2048, "--check", "none") as (process, address):
        workload = workload_of(process)
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(get, address)
            # 17 billion operations take longer than this, and a request comes in sooner.
            time.sleep(0.1)
            process.send_signal(signal.SIGTERM)
            assert process.wait(timeout=40) == 0
            # Stopped before the request came in it would have been refused; it was not.
            assert answer.result()[0] == 200
        assert not os.path.exists(f"/proc/{workload}")


def test_a_workload_that_cannot_start_is_said():
    args = [str(BIN / "function"), str(BIN / "sobel"), "--device", "77"]
    done = subprocess.run(args, capture_output=True, text=True, timeout=40, check=False)
    assert done.returncode == 1
    assert "there is no OpenCL device 77" in done.stderr.splitlines()[-1]


def test_paths_that_are_not_there():
    with function("sobel", "--size", "10x10") as (_, address):
        connection = http.client.HTTPConnection(address, timeout=40)
        connection.request("GET", "/nothing")
        assert connection.getresponse().status == 404


def test_its_source_is_formatted_and_vetted():
    folder = WORKLOADS / "function"
    formatted = subprocess.run(["gofmt", "-l", "."], cwd=folder, capture_output=True, text=True, check=True)
    assert formatted.stdout == ""
    vetted = subprocess.run(["go", "vet", "."], cwd=folder, capture_output=True, text=True, check=False)
    assert vetted.returncode == 0, vetted.stderr
