"""The board with a store of keys, signers and versions in its flash: who has a key claims it, and what it has run it
remembers.

A signature takes 33 million cycles to check, which is more than a minute here, so two are all that is checked.
"""

import struct

import golden
import golden_sign
import pytest
from flash_contents import application, layout, part, with_slots
from host import CARD, HOST, Refused
from keyed_host import KEYS, SECRET, SIZE, KeyedHost, provisioned
from wire import ENUM, frame, unpack

import store

RED_FLASH = 1 << 2  # Its lamp; 0 is lit.


def image_of(name: str, version: int = 0) -> tuple[bytes, bytes]:
    """The file with which a host loads this application, signed if it has a version, and its digest."""
    manifest = b'{"name": "test", "version": "1", "kernels": [{"name": "g", "args": []}]}'
    file = golden.image({"rtl": part(application(name), kernels=(4,))}, manifest)
    if version:
        file = golden_sign.signed(file, SECRET, version)
    return file, golden.digest(file)


def kept(host: KeyedHost) -> store.Versions:
    """The versions that lie in the flash, by the tool's reader."""
    # Not as many bytes as the device looks through for an image, of which `read` gives fewer.
    units = [host.read(layout.KEYS + at, 100 * store.PAIR) for at in store.LOGS]
    return store.versions_of(store.newest(units, SIZE).table)


def test_who_has_a_key_claims_it_and_nobody_else(keyed):
    """After a cold boot with a store; and what nobody has signed is refused by the signers of that store."""
    host = KeyedHost(keyed, *provisioned(), *with_slots(a=("good",)))
    assert host.power_up() == "good"
    host.meets()
    # Without a tag, and under another card's key.
    super(KeyedHost, host).send(frame("Session.Claim", dst=CARD, src=HOST, seq=1, nonce=7, lease_ms=60000, group=5))
    assert unpack("Refusal", host.hears("Session.Refuse", "Session.Grant").payload).code == ENUM["ErrorCode"]["KeyNeeded"]
    right = host.pair
    host.pair = golden.mac(bytes(16), struct.pack("<BQI", 2, 0x0102, 0), derive=True)
    stranger = host.tagged(frame("Session.Claim", dst=CARD, src=host.address, seq=2, nonce=8, lease_ms=60000, group=5, beats=22))
    host.pair = right
    super(KeyedHost, host).send(stranger)
    assert host.hears("Session.Refuse", "Session.Grant").name == "Session.Refuse"
    host.claim()
    host.until(lambda: host.confirmed)
    with pytest.raises(Refused, match="signed by nobody"):
        host.stage(*image_of("new"))
    assert host.lamps[0] & RED_FLASH and kept(host) == {}
    host.close()


@pytest.mark.parametrize("lost", ["blank", "keys", "log"])
def test_a_board_whose_store_is_not_whole_says_nothing(keyed, lost):
    """No claim is answered, and a lamp tells of it. What was blank for ever is no other."""
    contents = provisioned()
    if lost == "log":
        where, log = contents.pop()
        contents.append((where, log[: -store.PAIR]))
    elif lost == "keys":
        contents = [(where, data if where >= layout.VERSIONS else data[:-1] + b"\0") for where, data in contents]
    host = KeyedHost(keyed, *([] if lost == "blank" else contents), *with_slots(a=("good",)))
    assert host.power_up() == "good"
    host.send(frame("Session.Claim", dst=CARD, src=host.address, seq=1, nonce=7, lease_ms=60000, group=5, beats=22))
    host.run(8000)
    assert not host.heard and not host.lamps[0] & RED_FLASH
    host.close()


def test_what_has_run_makes_older_ones_old_also_after_power_has_gone(keyed):
    host = KeyedHost(keyed, *provisioned(KEYS, {(0, "other"): 3}), *with_slots(a=("good",)))
    host.us_max = 4_000_000
    assert host.power_up() == "good"
    host.meets()
    host.claim()
    host.until(lambda: host.confirmed)
    host.stage(*image_of("new", 6))
    host.commit()
    assert host.hears("ImageConfirm.Written", "ImageConfirm.Failed").name == "ImageConfirm.Written"
    assert kept(host) == {(0, "other"): 3, (0, "test"): 6}
    host.until(lambda: host.leaves)
    host.start(host.image.boot_address)
    assert host.follow() == "new"
    host.power_down()
    # The image has two tries left.
    assert host.power_up() == "new"
    host.meets()
    host.claim()
    with pytest.raises(Refused, match="version 5 is older than 6"):
        host.stage(*image_of("older", 5))
    host.close()
