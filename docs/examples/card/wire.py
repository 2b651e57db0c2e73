"""Numbers and frames of docs/src/reference/wire.md."""

import struct

HEAD = struct.Struct(">6s6sHBBHHIQ")  # dst src type version_flags kind length epoch seq addr
CARDS, HOSTS, NOBODY = bytes.fromhex("03524c000001"), bytes.fromhex("03524c000002"), bytes(6)
BROADCAST, GROUPS = b"\xff" * 6, bytes.fromhex("03524c01")
RESEND, ACK_NOW, AUTH, ENCRYPTED = 1, 2, 4, 8
ASKS_KEY = 1  # In an announcement: claims need a tag.
DISCOVERY, SESSION, IMAGE, IMAGE_CONFIRM = 0x80EF, 0x80EC, 0x80AA, 0x80AB
INPUT, INPUT_CONFIRM, EXEC, RESULT = 0x80DD, 0x80DB, 0x80CC, 0x80CB
# The kinds that each family has.
KINDS = {DISCOVERY: 3, SESSION: 15, IMAGE: 5, IMAGE_CONFIRM: 7, INPUT: 2, INPUT_CONFIRM: 3, EXEC: 5, RESULT: 4}
# What a card takes: its name, and the addresses at which it is taken.
TAKEN = {
    (DISCOVERY, 2): ("solicit", "any"),
    (SESSION, 1): ("claim", "unicast"),
    (SESSION, 4): ("release", "unicast"),
    (SESSION, 6): ("ping", "unicast"),
    (SESSION, 8): ("counters_get", "unicast"),
    (SESSION, 10): ("manifest_get", "unicast"),
    (SESSION, 12): ("window_set", "unicast"),
    (SESSION, 14): ("route_set", "unicast"),
    (IMAGE, 1): ("begin", "unicast"),
    (IMAGE, 2): ("data", "any"),
    (IMAGE, 3): ("poll", "any"),
    (IMAGE, 4): ("commit", "any"),
    (IMAGE, 5): ("abort", "any"),
    (IMAGE_CONFIRM, 2): ("missing", "group"),
    (INPUT, 1): ("write", "unicast"),
    (INPUT, 2): ("read", "unicast"),
    (EXEC, 1): ("launch", "unicast"),
    (EXEC, 2): ("go", "any"),
    (EXEC, 3): ("cancel", "unicast"),
    (EXEC, 4): ("query", "unicast"),
    (EXEC, 5): ("result_ack", "unicast"),
}
ANNOUNCE, GOODBYE = (DISCOVERY, 1), (DISCOVERY, 3)
GRANT, REFUSE, RELEASED = (SESSION, 2), (SESSION, 3), (SESSION, 5)
PING, PONG = (SESSION, 6), (SESSION, 7)
COUNTERS_OF, MANIFEST = (SESSION, 9), (SESSION, 11)
READY, MISSING, STAGED, ACTIVE_NOW = (IMAGE_CONFIRM, 1), (IMAGE_CONFIRM, 2), (IMAGE_CONFIRM, 3), (IMAGE_CONFIRM, 4)
FAILED, COMMITTED = (IMAGE_CONFIRM, 5), (IMAGE_CONFIRM, 6)
WRITE_ACK, READ_DATA, NAK = (INPUT_CONFIRM, 1), (INPUT_CONFIRM, 2), (INPUT_CONFIRM, 3)
ACCEPTED, DONE, DATA, NOT_TAKEN = (RESULT, 1), (RESULT, 2), (RESULT, 3), (RESULT, 4)

COUNTERS = """rx_frames rx_bytes tx_frames tx_bytes drop_foreign drop_truncated drop_version drop_kind drop_auth
drop_epoch drop_malformed drop_duplicate drop_window announces claims leases_expired image_chunks image_reports
image_suppressed images_activated images_failed writes write_bytes reads read_bytes launches kernels_done
kernels_failed kernel_cycles result_chunks result_resends refusals drop_queue rx_words tx_words drop_check bridge_rx
bridge_tx bridge_drop_foreign bridge_drop_malformed bridge_drop_epoch bridge_drop_duplicate bridge_denied
bridge_resent passed_frames auth_untagged auth_unknown auth_wrong auth_replay""".split()

# ErrorCode.
OK, CLAIMED, STALE_EPOCH, BAD_REQUEST, BAD_ADDRESS, BUSY, NO_ROLE, UNKNOWN_KERNEL = range(8)
BAD_ARGUMENTS, UNKNOWN_LAUNCH, UNSUPPORTED, KEY_NEEDED, STALE_BOOT, KEY_REVOKED = 8, 9, 11, 12, 13, 14
IMAGE_TOO_LARGE, IMAGE_DIGEST, IMAGE_FORMAT, IMAGE_VERSION, IMAGE_TARGET, IMAGE_PART = range(16, 22)
KERNEL_TRAP, KERNEL_FUEL, CANCELLED = 32, 33, 34
# CardState.
EMPTY, ACTIVE, RUNNING, LOADING, CONFIGURING = range(5)
# AnnounceReason.
LINK_UP, SOLICITED, PERIODIC, CHANGED = range(1, 5)

ROLE_PRIVATE, WRITE_WINDOW, LAUNCH_QUEUE, RESULTS_KEPT, LAUNCH_ARGS = 1 << 20, 256, 16, 32, 32
MISSING_RANGES, MISSING_FRAMES, IMAGE_CHUNKS_MAX, BULK_STANDARD, WINDOW_US_MAX = 182, 16, 65536, 1472, 1_000_000
US, MS = 1000, 1_000_000  # Times are nanoseconds.


class Dropped(Exception):
    """A frame that has no effect but on this counter."""


class Refused(Exception):
    """A request that is answered with a code, and a detail or text."""


def exactly(form: str, payload: bytes) -> tuple:
    """The fields of a payload, which has to be exactly as long as they are."""
    if len(payload) != struct.calcsize(form):
        raise Dropped("drop_malformed")
    return struct.unpack(form, payload)


def bits(first: int, there) -> bytes:
    """A bitmap of 32 bytes: bit i stands for number first + 1 + i."""
    word = sum(1 << n - first - 1 & 0xFFFFFFFF for n in there if (n - first - 1) & 0xFFFFFFFF < 256)
    return word.to_bytes(32, "little")
