"""Families of frames and the rules of their kinds, for the benches."""
# Made from protocol/ by `cargo run -p protogen`. Change that file, not this one.

from dataclasses import dataclass


@dataclass(frozen=True)
class Field:
    """A field of a struct: its bytes on the wire, and whether they are a number."""

    name: str
    size: int
    number: bool


@dataclass(frozen=True)
class Kind:
    """A kind of frame and its rules. `payload` is a struct's name, `*` for bytes, or empty."""

    ether_type: int
    kind: int
    sender: str
    to: str
    reach: str
    claim: str
    taken_by: str
    order: str
    payload: str


@dataclass(frozen=True)
class Family:
    """A family of frames. Kinds are called as `Input.Write`, and counters have their numbers."""

    version: int
    header: str
    trailer: str
    consts: dict[str, int]
    addresses: dict[str, int]
    flags: dict[str, int]
    enums: dict[str, dict[str, int]]
    counters: dict[str, int]
    structs: dict[str, tuple[Field, ...]]
    kinds: dict[str, Kind]


CONTROL = Family(
    version=1,
    header="Header",
    trailer="AuthTrailer",
    consts={
        "HEADER_END": 32,
        "FRAME_MIN": 60,
        "BULK_STANDARD": 1472,
        "BULK_JUMBO": 8960,
        "BEAT": 64,
        "WRITE_WINDOW": 256,
        "SACK_BITS": 256,
        "LAUNCH_QUEUE": 16,
        "RESULTS_KEPT": 32,
        "LAUNCH_ARGS": 32,
        "MISSING_RANGES": 182,
        "MISSING_FRAMES": 16,
        "IMAGE_BYTES_MAX": 268435456,
        "ROLE_PRIVATE": 1048576,
        "LEASE_MS_MAX": 60000,
    },
    addresses={
        "CARDS": 0x03524c000001,
        "HOSTS": 0x03524c000002,
        "GROUP": 0x03524c010000,
    },
    flags={
        "RESEND": 1,
        "ACK_NOW": 2,
        "AUTH": 4,
    },
    enums={
        "CardKind": {"Model": 1, "Rtl": 2, "Board": 3},
        "CardState": {"Empty": 0, "Active": 1, "Running": 2, "Loading": 3, "Configuring": 4},
        "AnnounceReason": {"LinkUp": 1, "Solicited": 2, "Periodic": 3, "Changed": 4},
        "Scrub": {"Keep": 0, "Zero": 1},
        "ErrorCode": {"Ok": 0, "Claimed": 1, "StaleEpoch": 2, "BadRequest": 3, "BadAddress": 4, "Busy": 5, "NoRole": 6, "UnknownKernel": 7, "BadArguments": 8, "UnknownLaunch": 9, "ImageTooLarge": 16, "ImageDigest": 17, "ImageFormat": 18, "ImageVersion": 19, "ImageTarget": 20, "ImagePart": 21, "ImageMemory": 22, "KernelTrap": 32, "KernelFuel": 33, "Cancelled": 34},
    },
    counters={
        "rx_frames": 0,
        "rx_bytes": 1,
        "tx_frames": 2,
        "tx_bytes": 3,
        "drop_foreign": 4,
        "drop_truncated": 5,
        "drop_version": 6,
        "drop_kind": 7,
        "drop_auth": 8,
        "drop_epoch": 9,
        "drop_malformed": 10,
        "drop_duplicate": 11,
        "drop_window": 12,
        "announces": 13,
        "claims": 14,
        "leases_expired": 15,
        "image_chunks": 16,
        "image_reports": 17,
        "image_suppressed": 18,
        "images_activated": 19,
        "images_failed": 20,
        "writes": 21,
        "write_bytes": 22,
        "reads": 23,
        "read_bytes": 24,
        "launches": 25,
        "kernels_done": 26,
        "kernels_failed": 27,
        "kernel_cycles": 28,
        "result_chunks": 29,
        "result_resends": 30,
        "refusals": 31,
        "drop_queue": 32,
        "rx_words": 33,
        "tx_words": 34,
        "drop_check": 35,
    },
    structs={
        "Header": (
            Field("version_flags", 1, True),
            Field("kind", 1, True),
            Field("length", 2, True),
            Field("epoch", 2, True),
            Field("seq", 4, True),
            Field("addr", 8, True),
        ),
        "AuthTrailer": (
            Field("key", 4, True),
            Field("counter", 8, True),
            Field("tag", 16, False),
        ),
        "Announce": (
            Field("mac0", 6, True),
            Field("mac1", 6, True),
            Field("vendor", 2, True),
            Field("product", 2, True),
            Field("unit", 2, True),
            Field("card_kind", 1, True),
            Field("state", 1, True),
            Field("reason", 1, True),
            Field("ports", 1, True),
            Field("bulk", 2, True),
            Field("boot", 4, True),
            Field("clock_khz", 4, True),
            Field("memory", 8, True),
            Field("port_rate", 8, True),
            Field("stage_rate", 8, True),
            Field("config_rate", 8, True),
            Field("owner", 6, True),
            Field("kernels", 2, True),
            Field("digest", 32, False),
        ),
        "Solicit": (
            Field("window_us", 4, True),
            Field("reserved", 4, True),
        ),
        "Claim": (
            Field("nonce", 8, True),
            Field("lease_ms", 4, True),
            Field("group", 2, True),
            Field("scrub", 1, True),
            Field("reserved", 1, True),
        ),
        "Grant": (
            Field("nonce", 8, True),
            Field("lease_ms", 4, True),
            Field("boot", 4, True),
        ),
        "Release": (
            Field("scrub", 1, True),
            Field("reserved", 7, False),
        ),
        "Refusal": (
            Field("code", 2, True),
            Field("holder", 6, True),
            Field("detail", 8, True),
        ),
        "Pong": (
            Field("boot", 4, True),
            Field("state", 1, True),
            Field("queued", 1, True),
            Field("reserved", 2, True),
            Field("uptime_ns", 8, True),
        ),
        "ImageBegin": (
            Field("length", 8, True),
            Field("chunk", 2, True),
            Field("group", 2, True),
            Field("members", 4, True),
            Field("digest", 32, False),
        ),
        "Poll": (
            Field("window_us", 4, True),
            Field("reserved", 4, True),
        ),
        "Missing": (
            Field("missing", 4, True),
            Field("ranges", 2, True),
            Field("more", 2, True),
            Field("reserved", 8, True),
        ),
        "ChunkRange": (
            Field("first", 4, True),
            Field("chunks", 4, True),
        ),
        "Active": (
            Field("digest", 32, False),
            Field("configure_ns", 8, True),
        ),
        "Failure": (
            Field("code", 2, True),
            Field("reserved", 6, False),
        ),
        "Read": (
            Field("length", 4, True),
            Field("reserved", 4, True),
        ),
        "Ack": (
            Field("bitmap", 32, False),
        ),
        "Launch": (
            Field("fuel", 8, True),
            Field("out_addr", 8, True),
            Field("out_length", 8, True),
            Field("go", 4, True),
            Field("credit", 2, True),
            Field("args", 2, True),
        ),
        "Done": (
            Field("status", 2, True),
            Field("chunk", 2, True),
            Field("chunks", 4, True),
            Field("value", 8, True),
            Field("cycles", 8, True),
            Field("started_ns", 8, True),
            Field("finished_ns", 8, True),
        ),
        "ResultAck": (
            Field("next", 4, True),
            Field("limit", 4, True),
            Field("done", 1, True),
            Field("reserved", 7, False),
            Field("bitmap", 32, False),
        ),
    },
    kinds={
        "Discovery.Announce": Kind(
            ether_type=0x80EF, kind=1, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="Announce",
        ),
        "Discovery.Solicit": Kind(
            ether_type=0x80EF, kind=2, sender="host", to="card",
            reach="any", claim="none", taken_by="firmware", order="none",
            payload="Solicit",
        ),
        "Discovery.Goodbye": Kind(
            ether_type=0x80EF, kind=3, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="",
        ),
        "Session.Claim": Kind(
            ether_type=0x80EC, kind=1, sender="host", to="card",
            reach="unicast", claim="none", taken_by="firmware", order="barrier",
            payload="Claim",
        ),
        "Session.Grant": Kind(
            ether_type=0x80EC, kind=2, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="Grant",
        ),
        "Session.Refuse": Kind(
            ether_type=0x80EC, kind=3, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="Refusal",
        ),
        "Session.Release": Kind(
            ether_type=0x80EC, kind=4, sender="host", to="card",
            reach="unicast", claim="none", taken_by="firmware", order="barrier",
            payload="Release",
        ),
        "Session.Released": Kind(
            ether_type=0x80EC, kind=5, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="",
        ),
        "Session.Ping": Kind(
            ether_type=0x80EC, kind=6, sender="host", to="card",
            reach="unicast", claim="none", taken_by="firmware", order="none",
            payload="",
        ),
        "Session.Pong": Kind(
            ether_type=0x80EC, kind=7, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="Pong",
        ),
        "Session.CountersGet": Kind(
            ether_type=0x80EC, kind=8, sender="host", to="card",
            reach="unicast", claim="none", taken_by="firmware", order="none",
            payload="",
        ),
        "Session.Counters": Kind(
            ether_type=0x80EC, kind=9, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="*",
        ),
        "Session.ManifestGet": Kind(
            ether_type=0x80EC, kind=10, sender="host", to="card",
            reach="unicast", claim="none", taken_by="firmware", order="none",
            payload="",
        ),
        "Session.Manifest": Kind(
            ether_type=0x80EC, kind=11, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="*",
        ),
        "Image.Begin": Kind(
            ether_type=0x80AA, kind=1, sender="host", to="card",
            reach="unicast", claim="epoch", taken_by="firmware", order="barrier",
            payload="ImageBegin",
        ),
        "Image.Data": Kind(
            ether_type=0x80AA, kind=2, sender="host", to="card",
            reach="any", claim="load", taken_by="image", order="after-barrier",
            payload="*",
        ),
        "Image.Poll": Kind(
            ether_type=0x80AA, kind=3, sender="host", to="card",
            reach="any", claim="load", taken_by="firmware", order="none",
            payload="Poll",
        ),
        "Image.Commit": Kind(
            ether_type=0x80AA, kind=4, sender="host", to="card",
            reach="any", claim="load", taken_by="firmware", order="barrier",
            payload="",
        ),
        "Image.Abort": Kind(
            ether_type=0x80AA, kind=5, sender="host", to="card",
            reach="any", claim="load", taken_by="firmware", order="barrier",
            payload="",
        ),
        "ImageConfirm.Ready": Kind(
            ether_type=0x80AB, kind=1, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="",
        ),
        "ImageConfirm.Missing": Kind(
            ether_type=0x80AB, kind=2, sender="card", to="both",
            reach="group", claim="member", taken_by="firmware", order="none",
            payload="Missing",
        ),
        "ImageConfirm.Staged": Kind(
            ether_type=0x80AB, kind=3, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="",
        ),
        "ImageConfirm.Active": Kind(
            ether_type=0x80AB, kind=4, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="Active",
        ),
        "ImageConfirm.Committed": Kind(
            ether_type=0x80AB, kind=6, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="",
        ),
        "ImageConfirm.Failed": Kind(
            ether_type=0x80AB, kind=5, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="Failure",
        ),
        "Input.Write": Kind(
            ether_type=0x80DD, kind=1, sender="host", to="card",
            reach="unicast", claim="epoch", taken_by="write", order="after-barrier",
            payload="*",
        ),
        "Input.Read": Kind(
            ether_type=0x80DD, kind=2, sender="host", to="card",
            reach="unicast", claim="epoch", taken_by="read", order="after-barrier",
            payload="Read",
        ),
        "InputConfirm.WriteAck": Kind(
            ether_type=0x80DB, kind=1, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="Ack",
        ),
        "InputConfirm.ReadData": Kind(
            ether_type=0x80DB, kind=2, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="*",
        ),
        "InputConfirm.Nak": Kind(
            ether_type=0x80DB, kind=3, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="Refusal",
        ),
        "Exec.Launch": Kind(
            ether_type=0x80CC, kind=1, sender="host", to="card",
            reach="unicast", claim="epoch", taken_by="launch", order="after-control",
            payload="Launch",
        ),
        "Exec.Go": Kind(
            ether_type=0x80CC, kind=2, sender="host", to="card",
            reach="any", claim="group", taken_by="firmware", order="after-barrier",
            payload="",
        ),
        "Exec.Cancel": Kind(
            ether_type=0x80CC, kind=3, sender="host", to="card",
            reach="unicast", claim="epoch", taken_by="firmware", order="after-barrier",
            payload="",
        ),
        "Exec.Query": Kind(
            ether_type=0x80CC, kind=4, sender="host", to="card",
            reach="unicast", claim="epoch", taken_by="firmware", order="after-barrier",
            payload="",
        ),
        "Exec.ResultAck": Kind(
            ether_type=0x80CC, kind=5, sender="host", to="card",
            reach="unicast", claim="epoch", taken_by="firmware", order="after-barrier",
            payload="ResultAck",
        ),
        "Result.Accepted": Kind(
            ether_type=0x80CB, kind=1, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="",
        ),
        "Result.Done": Kind(
            ether_type=0x80CB, kind=2, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="Done",
        ),
        "Result.Data": Kind(
            ether_type=0x80CB, kind=3, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="*",
        ),
        "Result.Refused": Kind(
            ether_type=0x80CB, kind=4, sender="card", to="host",
            reach="any", claim="none", taken_by="host", order="none",
            payload="Refusal",
        ),
    },
)
