#!/usr/bin/env python3
"""Makes what a programmer puts into a board's flash: its keys, the signers that it knows, and the versions that have run.

    gateware/flash/provision.py store.bin --card 02:52:4c:ec:05:01 --keys cards.keys
    gateware/flash/provision.py store.bin --card 02:52:4c:ec:05:01 --keys cards.keys --signers policy.toml --unit 1
    gateware/flash/provision.py store.bin --card ... --keys ... --signers ... --keep dump.bin
    gateware/flash/provision.py --show dump.bin

The files are those of `rackloom key cards`, of `rackloom up --signers` and of its `--versions`. What is written is
secret, and goes to address 0x9c0000 of the flash, all of it: the rest of it is erased. A board that has run images
before keeps their versions only with `--keep`: name what a programmer has read from there. `--show` says what is there,
but no key.
"""

import argparse
import json
import os
import re
import sys
import tomllib
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
import layout
import store

MAC = re.compile(r"[0-9a-f]{2}(:[0-9a-f]{2}){5}")


class Unusable(Exception):
    """A file, or what is asked for, that does not do."""


def address(text: str) -> bytes:
    """A card's address."""
    if not MAC.fullmatch(text.lower()):
        raise Unusable(f"{text} is not an address such as 02:52:4c:ec:05:01")
    return bytes.fromhex(text.replace(":", ""))


def secret(path: Path, kind: str) -> dict:
    """A file of keys, which nobody else may read."""
    if path.stat().st_mode & 0o077:
        raise Unusable(f"{path}: others can read it; chmod 600 it")
    return of_kind(path, kind)


def of_kind(path: Path, kind: str) -> dict:
    """A file of JSON."""
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise Unusable(f"{path}: {error}") from error
    if not isinstance(found, dict) or found.get("kind") != kind:
        raise Unusable(f"{path} is no file of {kind}")
    return found


def hosts_of(file: dict) -> tuple[store.Host, ...]:
    """Who may claim a card, as crates/core/card/src/keys.rs has it."""
    own, revoked = ({int(n): generation for n, generation in file.get(name, {}).items()} for name in ("hosts", "revoked"))
    found = []
    for number in sorted(own | revoked):
        counts, lost = own.get(number), revoked.get(number)
        if counts:
            # A host's later key is there because the one before was revoked.
            lost = max(counts - 1, -1 if lost is None else lost)
        if counts is not None and lost is not None and counts <= lost:
            counts = None
        found.append(store.Host(number, counts, lost))
    return tuple(found)


def own_keys(file: dict, mac: bytes) -> tuple[tuple[bytes, int], ...]:
    """The card's keys, the newest first."""
    generation = file.get("generation", 0)
    found = []
    for name, number in (("cards", generation), ("former", generation - 1)):
        keys = {address(card): key for card, key in file.get(name, {}).items()}
        if mac in keys:
            if not re.fullmatch(r"[0-9a-fA-F]{32}", keys[mac]):
                raise Unusable("a key in the file is not 32 hexadecimal digits")
            found.append((bytes.fromhex(keys[mac]), number))
    if not found:
        raise Unusable("the file has no key of this card")
    return tuple(found)


def signers_of(path: Path, mac: bytes, unit: int | None) -> tuple[store.Signer, ...]:
    """The signers of a policy, and which of them count on this card. In the order of their keys, as everywhere."""
    found = []
    for line in tomllib.loads(path.read_text(encoding="utf-8")).get("signer", []):
        may = False
        for card in line["cards"]:
            by_unit = re.fullmatch(r"card(\d+)", card)
            if by_unit and unit is None:
                raise Unusable(f"{path} names cards by their numbers: say --unit")
            may |= card == "all" or (int(by_unit[1]) == unit if by_unit else address(card) == mac)
        if not re.fullmatch(r"[0-9a-f]{64}", line["key"]) or not re.fullmatch(r"[a-z][a-z0-9._-]{0,23}", line["name"]):
            raise Unusable(f"{path}: the key or the name of signer {line['name']} is none")
        found.append(store.Signer(bytes.fromhex(line["key"]), line["name"], may))
    if not found:
        raise Unusable(f"{path} names no signer")
    return tuple(sorted(found, key=lambda signer: signer.key))


# By the signer's key and the role: a place in the table is of a number that another policy may give to somebody else.
ByKey = dict[tuple[bytes, str], int]


def kept_by(path: Path) -> tuple[ByKey, int]:
    """The versions in what a programmer has read from a board, and the generation of its log."""
    keys, log = read(path)
    if log is None:
        raise Unusable(f"{path}: no log of versions in it is whole")
    if keys is None:
        raise Unusable(f"{path}: no copy of the keys is those that its log is with")
    found = {(keys.signers[n].key, role): version for (n, role), version in store.versions_of(log.table).items()}
    return found, log.generation


def read(path: Path) -> tuple[store.Keys | None, store.Log | None]:
    """The keys and the log that count in what was read from a board."""
    data = path.read_bytes()
    if len(data) != store.REGION:
        raise Unusable(f"{path} has {len(data)} bytes; a store has {store.REGION}, from {layout.KEYS:#x} on")
    log = store.newest([data[at : at + layout.UNIT // 2] for at in store.LOGS])
    size = store.Size()
    copies = [data[at : at + size.keys_bytes] for at in store.COPIES]
    whole = [copy for copy in copies if log and copy[-4:] == log.check.to_bytes(4, "big") and store.unpack(copy)]
    return store.unpack(whole[0]) if whole else None, log


def versions_in(path: Path, mac: bytes) -> ByKey:
    """Those that `rackloom up --versions` has kept for this card."""
    cards = of_kind(path, "rackloom.board-versions/1")["cards"]
    found = {address(card): signers for card, signers in cards.items()}.get(mac, {})
    return {(bytes.fromhex(key), role): version for key, roles in found.items() for role, version in roles.items()}


def made(options: argparse.Namespace) -> bytes:
    """All of the store."""
    mac = address(options.card)
    file = secret(options.keys, "rackloom.card-keys/1")
    signers = signers_of(options.signers, mac, options.unit) if options.signers else ()
    keys = store.Keys(mac, own_keys(file, mac), hosts_of(file), signers)
    numbers = {signer.key: n for n, signer in enumerate(signers)}
    versions: ByKey = versions_in(options.versions, mac) if options.versions else {}
    generation = 0
    if options.keep:
        kept, generation = kept_by(options.keep)
        for release, version in kept.items():
            versions[release] = max(version, versions.get(release, 0))
    # Of a signer whom the card does not know any more nothing can run.
    known = {(numbers[key], role): version for (key, role), version in versions.items() if key in numbers}
    return store.region(keys, known, generation + 1)


def write(path: Path, data: bytes) -> None:
    """A new file that nobody else can read."""
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)


def show(path: Path) -> str:
    """What is in a store, but no key."""
    keys, log = read(path)
    if keys is None or log is None:
        return "this store is not whole: its card would have no key"
    lines = [f"card {keys.mac.hex(':')}, keys of generation {', '.join(str(number) for _, number in keys.own)}"]
    for host in keys.hosts:
        counts = "no key that counts" if host.counts is None else f"key {host.counts}"
        lines.append(f"host {host.number}: {counts}" + ("" if host.revoked is None else f", {host.revoked} revoked"))
    lines += [f"signer {one.name}, {one.key.hex()[:16]}" + ("" if one.may else ", not on this card") for one in keys.signers]
    for (signer, role), version in store.versions_of(log.table).items():
        lines.append(f"{role} {version} by {keys.signers[signer].name} has run")
    return "\n".join([*lines, f"log of versions {log.generation}, {log.entries} entries"])


def main() -> int:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("store", type=Path, nargs="?", help="the file to write")
    parser.add_argument("--card", help="the card's address")
    parser.add_argument("--keys", type=Path, help="the cards' keys, by `rackloom key cards`")
    parser.add_argument("--signers", type=Path, help="a policy; without, the card asks for no signatures")
    parser.add_argument("--unit", type=int, help="the card's number, if the policy names cards by theirs")
    parser.add_argument("--versions", type=Path, help="versions that have run, by `rackloom up --versions`")
    parser.add_argument("--keep", type=Path, help="what was read from the board: its versions are kept")
    parser.add_argument("--show", type=Path, help="say what is in this store")
    options = parser.parse_args()
    try:
        if options.show:
            print(show(options.show))
        elif options.store and options.card and options.keys:
            write(options.store, made(options))
        else:
            parser.error("a file to write, --card and --keys are needed, or --show")
    except (OSError, Unusable, store.Unfit, ValueError, KeyError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
