"""gateware/flash/provision.py: a board's store is made of the files that racks have, and nobody else reads it."""

import json
import os
import random
import stat
import subprocess
import sys

import pytest
from card_keys import store_words

from runner import ROOT

sys.path.insert(0, str(ROOT / "gateware/flash"))
import layout
import provision
import store

CARD = "02:52:4c:ec:05:01"
MAC = bytes.fromhex(CARD.replace(":", ""))
NEW, FORMER = "00112233445566778899aabbccddeeff", "ff" * 16
LAB, OTHER = "aa" * 32, "11" * 32
POLICY = f"""
[[signer]]
name = "lab"
key = "{LAB}"
cards = ["all"]
[[signer]]
name = "other"
key = "{OTHER}"
cards = ["card3", "02:00:00:00:00:09"]
"""


class Files:
    """The files of a rack, and the tool."""

    def __init__(self, folder):
        self.folder = folder
        self.keys = {"kind": "rackloom.card-keys/1", "generation": 2, "hosts": {"1": 3, "2": 0}, "revoked": {"7": 1},
                     "cards": {CARD: NEW}, "former": {CARD: FORMER}}
        self.put("cards.keys", self.keys)
        (folder / "policy.toml").write_text(POLICY)

    def put(self, name: str, content: dict, mode: int = 0o600):
        (self.folder / name).write_text(json.dumps(content))
        (self.folder / name).chmod(mode)

    def run(self, *arguments: str) -> subprocess.CompletedProcess:
        command = [sys.executable, ROOT / "gateware/flash/provision.py", *arguments]
        return subprocess.run(command, cwd=self.folder, capture_output=True, text=True, check=False)

    def make(self, name: str, *more: str) -> bytes:
        done = self.run(name, "--card", CARD, "--keys", "cards.keys", *more)
        assert done.returncode == 0, done.stderr
        return (self.folder / name).read_bytes()


@pytest.fixture
def files(tmp_path):
    return Files(tmp_path)


def test_what_is_made_is_what_the_gateware_is_given_elsewhere(files):
    """The words of the simulated board's key store, and both copies; nobody else may read the file."""
    data = files.make("store.bin", "--signers", "policy.toml", "--unit", "3")
    assert len(data) == store.REGION and stat.S_IMODE(os.stat(files.folder / "store.bin").st_mode) == 0o600
    size = store.Size()
    copies = [data[at : at + size.keys_bytes] for at in store.COPIES]
    words = store.words_of(copies[0])
    assert copies[0] == copies[1] and words[:4] == [layout.KEYS_MAGIC, 0x0252, 0x4CEC0501, 2 << 16 | 3]
    first = 4 + 16 * 32
    keys = [(bytes.fromhex(NEW), 2), (bytes.fromhex(FORMER), 1)]
    for at, word in store_words(keys, [(1, 3, 2), (2, 0, None), (7, None, 1)]):
        if at < 272:
            assert words[first + at] == word, at
    # Signers in the order of their keys.
    assert words[4:20] == store.Signer(bytes.fromhex(OTHER), "other").words()
    assert words[20:36] == store.Signer(bytes.fromhex(LAB), "lab").words()
    assert store.newest([data[at : at + layout.UNIT // 2] for at in store.LOGS]).generation == 1
    assert "no key of this card" in files.run("x", "--card", "02:00:00:00:00:01", "--keys", "cards.keys").stderr
    assert "exists" in files.run("store.bin", "--card", CARD, "--keys", "cards.keys").stderr


@pytest.mark.parametrize(
    ("own", "revoked", "counts", "lost"),
    [(0, None, 0, None), (None, 0, None, 0), (0, 0, None, 0), (1, 3, None, 3), (1, 0, 1, 0), (3, 0, 3, 2),
     (3, None, 3, 2)],
)
def test_hosts_are_as_a_model_has_them(own, revoked, counts, lost):
    """The cases of crates/core/card/src/keys.rs."""
    file = {name: {"5": n} for name, n in (("hosts", own), ("revoked", revoked)) if n is not None}
    assert provision.hosts_of(file) == (store.Host(5, counts, lost),)


def test_versions_stay_with_their_signers(files):
    """Whatever the policy's order is now, and the newer one of two; of who is not in it nothing is kept."""
    files.put("boards.json", {"kind": "rackloom.board-versions/1", "cards": {CARD: {LAB: {"vadd": 5, "gemm": 2**64 - 1}, OTHER: {"vadd": 9}},
                              "02:00:00:00:00:09": {LAB: {"vadd": 99}}}})
    policy = ("--signers", "policy.toml", "--unit", "1")
    files.make("first.bin", *policy, "--versions", "boards.json")
    said = files.run("--show", "first.bin").stdout
    for line in (f"card {CARD}, keys of generation 2, 1", "host 1: key 3, 2 revoked", "host 7: no key that counts, 1 revoked",
                 "signer other, 1111111111111111, not on this card", "vadd 5 by lab has run", "vadd 9 by other has run",
                 f"gemm {2**64 - 1} by lab has run"):
        assert line in said, said
    assert NEW not in said and FORMER not in said
    (files.folder / "policy.toml").write_text(POLICY.replace(OTHER, "ee" * 32))
    files.put("boards.json", {"kind": "rackloom.board-versions/1", "cards": {CARD: {LAB: {"vadd": 4, "gemm": 7}}}})
    files.make("second.bin", *policy, "--keep", "first.bin", "--versions", "boards.json")
    said = files.run("--show", "second.bin").stdout
    assert "vadd 5 by lab" in said and "vadd 9" not in said and f"gemm {2**64 - 1}" in said
    assert "log of versions 2," in said


def test_what_cannot_be_used_is_refused(files):
    keys = ("x", "--card", CARD, "--keys", "cards.keys")
    assert "say --unit" in files.run(*keys, "--signers", "policy.toml").stderr
    files.put("open.keys", files.keys, 0o644)
    assert "others can read it" in files.run("y", "--card", CARD, "--keys", "open.keys").stderr
    assert "is not an address" in files.run("y", "--card", "card1", "--keys", "cards.keys").stderr
    files.put("host.keys", files.keys | {"kind": "rackloom.host-keys/1"})
    assert "is no file of" in files.run("y", "--card", CARD, "--keys", "host.keys").stderr
    files.put("crowd.keys", files.keys | {"hosts": {str(n): 0 for n in range(65)}})
    assert "65 hosts, of which a board keeps 64" in files.run("y", "--card", CARD, "--keys", "crowd.keys").stderr
    data = bytearray(files.make("store.bin"))
    data[store.LOGS[0] : store.LOGS[0] + 64] = bytes(64)
    (files.folder / "torn.bin").write_bytes(data)
    assert "no log of versions" in files.run("y", "--card", CARD, "--keys", "cards.keys", "--keep", "torn.bin").stderr
    assert "not whole" in files.run("--show", "torn.bin").stdout
    (files.folder / "short.bin").write_bytes(data[:-1])
    assert "a store has" in files.run("--show", "short.bin").stderr
    assert not (files.folder / "y").exists()


def test_one_bit_of_a_log_does_not_change_what_it_says():
    size = store.Size(signers=2, hosts=2, roles=2)
    versions = {(0, "vadd"): 5, (1, "gemm"): 2**40}
    data = store.region(store.Keys(MAC, (), (), ()), versions, 3, size)
    log = data[store.LOGS[0] :][: store.PAIR * (size.base + 1)]
    for _ in range(200):
        bit = random.randrange(8 * len(log))
        other = bytearray(log.ljust(4096, b"\xff"))
        other[bit // 8] ^= 1 << bit % 8
        found = store.newest([bytes(other), b"\xff" * 4096], size)
        assert found and store.versions_of(found.table) == versions and found.generation == 3
