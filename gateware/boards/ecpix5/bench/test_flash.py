"""The board with its flash: images come over Ethernet, are booted, and run their role, whenever power fails."""

import random
import struct

import golden
import pytest
from flash_contents import application, layout, part, with_slots
from host import Host
from wire import CONST, ENUM, frame, unpack

VADD = (4,)  # Arguments of its kernels.
COUNT = 100
CUTS = 100


def image_of(name: str) -> tuple[bytes, bytes]:
    """The file with which a host loads this application, and its digest."""
    file = golden.image({"rtl": part(application(name), kernels=VADD)}, b'{"name":"test"}')
    return file, golden.digest(file)


def load(host: Host, name: str) -> bytes:
    """Claims the card, loads an application into its flash, and gives the digest."""
    image, digest = image_of(name)
    host.claim()
    host.stage(image, digest)
    host.commit()
    said = host.hears("ImageConfirm.Written", "ImageConfirm.Failed")
    assert said.name == "ImageConfirm.Written", said.payload
    body = unpack("Written", said.payload)
    assert body.digest == digest
    return digest


def activate(host: Host, name: str) -> None:
    """Loads what the device has booted: its role is there at once, and adds two vectors."""
    image, digest = image_of(name)
    host.claim()
    host.stage(image, digest)
    host.commit()
    said = host.hears("ImageConfirm.Active", "ImageConfirm.Written", "ImageConfirm.Failed")
    assert said.name == "ImageConfirm.Active" and said.payload[:32] == digest
    a, b = ([random.randrange(1 << 20) for _ in range(COUNT)] for _ in range(2))
    base = CONST.ROLE_PRIVATE
    place = [base + n * 4096 for n in range(3)]
    vectors = [struct.pack(f"<{COUNT}f", *values) for values in (a, b)]
    host.write(list(zip(place, vectors)))
    launch = {"fuel": 0, "out_addr": place[2], "out_length": 0}
    args = b"".join(value.to_bytes(8, "big") for value in (*place, COUNT))
    host.send(frame("Exec.Launch", **host.about(seq=1, addr=0), payload=args, args=4, **launch))
    done = unpack("Done", host.hears("Result.Done").payload)
    assert done.status == ENUM["ErrorCode"]["Ok"]
    assert struct.unpack(f"<{COUNT}f", host.fetch(place[2], 4 * COUNT, 1)) == tuple(map(sum, zip(a, b)))


def test_an_image_comes_over_ethernet_is_booted_and_runs_its_role(wired):
    """A card as it leaves the factory; then a second image beside the first, and power that goes in between."""
    host = Host(wired)
    assert host.power_up() == "golden"
    hello = unpack("Announce", host.meets().payload)
    assert hello.state == ENUM["CardState"]["Empty"]
    boots = {hello.boot}
    for name in ("first", "second", "third"):
        load(host, name)
        host.until(lambda: host.leaves)
        host.start(host.image.boot_address)
        assert host.follow() == name
        boots.add(unpack("Announce", host.meets().payload).boot)
        activate(host, name)
        host.until(lambda: host.confirmed)
        record = host.state()
        assert record.slots[record.newest].state == layout.CONFIRMED
        host.power_down()
        assert host.power_up() == name
        host.meets()
    host.close()


def test_an_image_that_nobody_claims_is_left_again(wired):
    host = Host(wired, *with_slots(a=("good",)))
    assert host.power_up() == "good"
    host.meets()
    load(host, "lonely")
    host.until(lambda: host.leaves)
    for _ in range(layout.TRIES):
        host.start(host.image.boot_address)
        assert host.follow() == "lonely"
        host.until(lambda: host.leaves)
    host.start(host.image.boot_address)
    assert host.follow() == "good"
    host.meets()
    host.claim()
    host.close()


def test_without_programn_the_card_says_that_it_awaits_a_refresh(not_wired):
    host = Host(not_wired)
    assert host.power_up() == "golden"
    host.meets()
    image, digest = image_of("first")
    host.claim()
    host.stage(image, digest)
    host.commit()
    written = unpack("Written", host.hears("ImageConfirm.Written").payload)
    assert written.restart == ENUM["Restart"]["Refresh"]
    host.until(lambda: host.awaits)
    host.send(frame("Session.Ping", **host.about(seq=5)))
    assert unpack("Pong", host.hears("Session.Pong").payload).state == ENUM["CardState"]["Written"]
    # A cable gives it.
    host.start(host.image.boot_address)
    assert host.follow() == "first"
    host.meets()
    activate(host, "first")
    host.close()


@pytest.mark.parametrize("part_of", range(4))
def test_power_may_fail_at_any_moment_of_a_load(wired, part_of):
    """Whenever: what comes up is the image from before, or the new one, and it is there for its host."""
    random.seed(part_of)
    host = Host(wired, *with_slots(a=("app0",)))
    runs, came, kept = host.power_up(), 0, 0
    host.meets()
    for n in range(CUTS // 4):
        name = f"app{part_of}.{n}"
        image, digest = image_of(name)
        host.claim()
        host.until(lambda: host.confirmed)
        host.stage(image, digest)
        host.commit()
        # Half a millisecond of writing, one in which the card lingers, and then the restart.
        for _ in range(random.choice([random.randrange(1, 600), random.randrange(600, 2500)])):
            host.run(1)
            if host.leaves:
                host.start(host.image.boot_address)
        host.power_down()
        before, runs = runs, host.power_up()
        assert runs in (before, name), f"{name}: {runs} instead of {before}"
        came, kept = came + (runs == name), kept + (runs == before)
        host.meets()
    assert came > 3 and kept > 3, (came, kept)
    host.close()
