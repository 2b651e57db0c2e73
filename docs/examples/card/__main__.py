"""A Rackloom card in Python, by the rules of docs/src/reference/card.md.

It is found, claimed, written, read, loaded and launched:

    python3 docs/examples/card --unit 9

attaches it to the segment of `rackloom up` until Ctrl-C. It runs no WebAssembly: of the images for model cards it takes
those of roles that it knows by the manifest's name (kernels.py), and computes those in Python. It refuses windows,
routes and other roles by the code that says so. With `--keys` it takes claims of hosts that share a key with it, and
nobody else's (keys.py). `--bench` plays it in the conformance suite: see bench.py.
"""

import argparse
import json
import os
import random
import time
from pathlib import Path

import bench
from card import Card
from segment import Segment


def run(card: Card, segment: Segment) -> None:
    """The card in real time."""
    while True:
        now = time.monotonic_ns()
        card.timeout(now)
        while (frame := card.poll(time.monotonic_ns())) is not None:
            segment.send(frame)
        due = card.deadline()
        for frame in segment.receive(max(0, due - time.monotonic_ns()) / 1e9):
            card.frame(time.monotonic_ns(), frame)


def main() -> None:
    parser = argparse.ArgumentParser(description="A Rackloom card in Python.")
    parser.add_argument("--segment", default="default", help="name of the virtual segment")
    parser.add_argument("--mac", help="the card's address; a random one if it is not given")
    parser.add_argument("--unit", type=int, default=99, help="its number in the rack")
    parser.add_argument("--keys", metavar="FILE", help="the cards' keys, from `rackloom key cards`; names --mac")
    parser.add_argument("--bench", metavar="JSON", help="play in the conformance suite, with this configuration")
    args = parser.parse_args()
    if args.bench:
        return bench.play(json.loads(args.bench))
    mac = (args.mac or "02:" + os.urandom(5).hex(":")).lower()  # Locally administered, unicast.
    keys = json.loads(Path(args.keys).read_text()) if args.keys else None
    if keys and mac not in keys["cards"]:
        parser.error(f"{args.keys} has no key for {mac}: name one of its cards with --mac")
    card = Card(keys, mac=mac, unit=args.unit, boot=random.getrandbits(32))
    with Segment(args.segment) as segment:
        try:
            print(f"card {mac} is up", flush=True)
            run(card, segment)
        except KeyboardInterrupt:
            card.unplug()
            while (frame := card.poll(time.monotonic_ns())) is not None:
                segment.send(frame)


main()
