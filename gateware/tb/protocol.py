"""Families of frames and their kinds, for the benches."""
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
    """A kind of frame. `number` is its EtherType times 2^16 and the kind; `payload` is a struct's name, `*` for bytes, or
    empty."""

    number: int
    to: str
    payload: str


@dataclass(frozen=True)
class Family:
    """A family of frames. Kinds are called as `Input.Write`, or `ReadRequest` where they have no EtherTypes. Counters have
    their numbers; every card counts the first `common_counters` of them."""

    consts: dict[str, int]
    addresses: dict[str, int]
    flags: dict[str, int]
    enums: dict[str, dict[str, int]]
    counters: dict[str, int]
    common_counters: int
    structs: dict[str, tuple[Field, ...]]
    kinds: dict[str, Kind]


BRIDGE = Family(
    consts={
        "HEADER_END": 96,
        "MESSAGE_STANDARD": 1408,
        "MESSAGE_JUMBO": 8832,
        "WINDOWS": 16,
        "TRANSACTIONS": 64,
        "CHANNELS": 2,
        "CREDIT": 16,
        "CHANNEL_MEMORY": 0,
        "CHANNEL_STREAMS": 1,
        "STREAMS": 16,
        "SACK_BITS": 256,
        "ETHER_TYPE": 0x86DD,
        "NEXT_HEADER": 253,
        "HOP_LIMIT": 255,
        "SUBNET": 0xFD524C0000000000,
    },
    addresses={
    },
    flags={
        "ASKS": 1,
        "LAST": 2,
        "AUTH": 4,
        "SELECTIVE": 8,
    },
    enums={
        "BridgeStatus": {"Ok": 0, "NoWindow": 1, "Denied": 2, "Malformed": 3, "MemoryFailed": 4, "Busy": 5},
        "BridgeOperation": {"FetchAdd": 1, "CompareSwap": 2},
    },
    counters={
    },
    common_counters=0,
    structs={
        "Sack": (
            Field("bitmap", 32, False),
        ),
        "Atomic": (
            Field("operand", 8, True),
            Field("compare", 8, True),
        ),
        "BatchRecord": (
            Field("addr", 8, True),
            Field("length", 2, True),
            Field("reserved", 6, False),
        ),
    },
    kinds={
        "ReadRequest": Kind(number=0x86DD0001, to="both", payload=""),
        "WriteRequest": Kind(number=0x86DD0002, to="both", payload="*"),
        "ReadResponse": Kind(number=0x86DD0003, to="both", payload="*"),
        "WriteResponse": Kind(number=0x86DD0004, to="both", payload=""),
        "Stream": Kind(number=0x86DD0005, to="both", payload="*"),
        "Ack": Kind(number=0x86DD0006, to="both", payload="Sack"),
        "Nack": Kind(number=0x86DD0007, to="both", payload="Sack"),
        "Unack": Kind(number=0x86DD0008, to="both", payload=""),
        "AtomicRequest": Kind(number=0x86DD0009, to="both", payload="Atomic"),
        "WriteBatch": Kind(number=0x86DD000A, to="both", payload="*"),
    },
)

CONTROL = Family(
    consts={
        "HEADER_END": 32,
        "FRAME_MIN": 60,
        "ASKS_KEY": 1,
        "ASKS_SIGNATURE": 2,
        "ASKS_ENCRYPTION": 4,
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
        "IMAGE_CHUNKS_MAX": 65536,
        "ROLE_PRIVATE": 1048576,
        "LEASE_MS_MAX": 60000,
        "WINDOW_US_MAX": 1000000,
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
        "CardState": {"Empty": 0, "Active": 1, "Running": 2, "Loading": 3, "Configuring": 4, "Written": 5, "Faulty": 6},
        "Restart": {"Itself": 1, "Refresh": 2},
        "AnnounceReason": {"LinkUp": 1, "Solicited": 2, "Periodic": 3, "Changed": 4, "Restarted": 5, "MemoryFailed": 6, "RoleFailed": 7},
        "Scrub": {"Keep": 0, "Zero": 1},
        "ErrorCode": {"Ok": 0, "Claimed": 1, "StaleEpoch": 2, "BadRequest": 3, "BadAddress": 4, "Busy": 5, "NoRole": 6, "UnknownKernel": 7, "BadArguments": 8, "UnknownLaunch": 9, "MemoryFault": 10, "Unsupported": 11, "KeyNeeded": 12, "StaleBoot": 13, "KeyRevoked": 14, "ImageTooLarge": 16, "ImageDigest": 17, "ImageFormat": 18, "ImageVersion": 19, "ImageTarget": 20, "ImagePart": 21, "ImageMemory": 22, "ImageSignature": 23, "KernelTrap": 32, "KernelFuel": 33, "Cancelled": 34, "KernelRemote": 35},
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
        "bridge_rx": 36,
        "bridge_tx": 37,
        "bridge_drop_foreign": 38,
        "bridge_drop_malformed": 39,
        "bridge_drop_epoch": 40,
        "bridge_drop_duplicate": 41,
        "bridge_denied": 42,
        "bridge_resent": 43,
        "passed_frames": 44,
        "auth_untagged": 45,
        "auth_unknown": 46,
        "auth_wrong": 47,
        "auth_replay": 48,
    },
    common_counters=36,
    structs={
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
            Field("asks", 1, True),
            Field("kernels", 1, True),
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
            Field("beats", 1, True),
        ),
        "Grant": (
            Field("nonce", 8, True),
            Field("lease_ms", 4, True),
            Field("boot", 4, True),
        ),
        "Proof": (
            Field("card_nonce", 8, True),
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
        "Window": (
            Field("base", 8, True),
            Field("length", 8, True),
            Field("peer", 6, True),
            Field("rights", 1, True),
            Field("reserved", 1, True),
        ),
        "Route": (
            Field("peer", 6, True),
            Field("stream", 2, True),
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
        "BeginKey": (
            Field("key", 16, False),
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
        "Written": (
            Field("digest", 32, False),
            Field("write_ns", 8, True),
            Field("restart", 1, True),
            Field("reserved", 7, False),
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
        "Discovery.Announce": Kind(number=0x80EF0001, to="host", payload="Announce"),
        "Discovery.Solicit": Kind(number=0x80EF0002, to="card", payload="Solicit"),
        "Discovery.Goodbye": Kind(number=0x80EF0003, to="host", payload=""),
        "Session.Claim": Kind(number=0x80EC0001, to="card", payload="Claim"),
        "Session.Grant": Kind(number=0x80EC0002, to="host", payload="Grant"),
        "Session.Refuse": Kind(number=0x80EC0003, to="host", payload="Refusal"),
        "Session.Release": Kind(number=0x80EC0004, to="card", payload="Release"),
        "Session.Released": Kind(number=0x80EC0005, to="host", payload=""),
        "Session.Ping": Kind(number=0x80EC0006, to="card", payload=""),
        "Session.Pong": Kind(number=0x80EC0007, to="host", payload="Pong"),
        "Session.CountersGet": Kind(number=0x80EC0008, to="card", payload=""),
        "Session.Counters": Kind(number=0x80EC0009, to="host", payload="*"),
        "Session.ManifestGet": Kind(number=0x80EC000A, to="card", payload=""),
        "Session.Manifest": Kind(number=0x80EC000B, to="host", payload="*"),
        "Session.WindowSet": Kind(number=0x80EC000C, to="card", payload="Window"),
        "Session.WindowDone": Kind(number=0x80EC000D, to="host", payload=""),
        "Session.RouteSet": Kind(number=0x80EC000E, to="card", payload="Route"),
        "Session.RouteDone": Kind(number=0x80EC000F, to="host", payload=""),
        "Image.Begin": Kind(number=0x80AA0001, to="card", payload="ImageBegin"),
        "Image.Data": Kind(number=0x80AA0002, to="card", payload="*"),
        "Image.Poll": Kind(number=0x80AA0003, to="card", payload="Poll"),
        "Image.Commit": Kind(number=0x80AA0004, to="card", payload=""),
        "Image.Abort": Kind(number=0x80AA0005, to="card", payload=""),
        "ImageConfirm.Ready": Kind(number=0x80AB0001, to="host", payload=""),
        "ImageConfirm.Missing": Kind(number=0x80AB0002, to="both", payload="Missing"),
        "ImageConfirm.Staged": Kind(number=0x80AB0003, to="host", payload=""),
        "ImageConfirm.Active": Kind(number=0x80AB0004, to="host", payload="Active"),
        "ImageConfirm.Committed": Kind(number=0x80AB0006, to="host", payload=""),
        "ImageConfirm.Written": Kind(number=0x80AB0007, to="host", payload="Written"),
        "ImageConfirm.Failed": Kind(number=0x80AB0005, to="host", payload="Failure"),
        "Input.Write": Kind(number=0x80DD0001, to="card", payload="*"),
        "Input.Read": Kind(number=0x80DD0002, to="card", payload="Read"),
        "InputConfirm.WriteAck": Kind(number=0x80DB0001, to="host", payload="Ack"),
        "InputConfirm.ReadData": Kind(number=0x80DB0002, to="host", payload="*"),
        "InputConfirm.Nak": Kind(number=0x80DB0003, to="host", payload="Refusal"),
        "Exec.Launch": Kind(number=0x80CC0001, to="card", payload="Launch"),
        "Exec.Go": Kind(number=0x80CC0002, to="card", payload=""),
        "Exec.Cancel": Kind(number=0x80CC0003, to="card", payload=""),
        "Exec.Query": Kind(number=0x80CC0004, to="card", payload=""),
        "Exec.ResultAck": Kind(number=0x80CC0005, to="card", payload="ResultAck"),
        "Result.Accepted": Kind(number=0x80CB0001, to="host", payload=""),
        "Result.Done": Kind(number=0x80CB0002, to="host", payload="Done"),
        "Result.Data": Kind(number=0x80CB0003, to="host", payload="*"),
        "Result.Refused": Kind(number=0x80CB0004, to="host", payload="Refusal"),
    },
)
