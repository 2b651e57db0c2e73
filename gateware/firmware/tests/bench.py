"""A card on a bench: one host's cable, and what the host would do."""

import struct
from pathlib import Path

from addresses import CARD_MAC, GROUPS, HOST
from board import Board, Config, Sent
from golden import digest
from headers import W
from images import image
from wire import COUNTER, Frame, number

BASE = W.ROLE_PRIVATE
CLAIM_GROUP = 0x77
GROUP = 0x1234
CHUNK = 1472


class Bench:
    def __init__(self, library: Path, config: Config | None = None) -> None:
        self.board = Board(library, config)
        self.epoch = 0

    @property
    def sent(self) -> list[Sent]:
        return list(self.board.sent)

    def clear(self) -> None:
        self.board.sent.clear()

    def head(self, kind: int, seq: int = 0, addr: int = 0, **change: int) -> Frame:
        head = Frame(CARD_MAC, HOST, kind, 0, self.epoch, seq, addr)
        for name, value in change.items():
            setattr(head, name, value)
        return head

    def send(self, kind: int, payload: bytes = b"", seq: int = 0, addr: int = 0, **change: int) -> None:
        """A unicast frame of the owner in the present epoch."""
        self.board.receive(self.head(kind, seq, addr, **change).raw(payload))

    def send_group(self, kind: int, payload: bytes = b"", seq: int = 0, addr: int = 0, **change: int) -> None:
        """A frame of the owner to the load's group."""
        self.send(kind, payload, seq, addr, **{"dst": GROUPS | GROUP, "epoch": GROUP, **change})

    def expect(self, kind: int) -> Sent:
        """The next frame, which must be of this kind; announcements are passed over."""
        while self.board.sent:
            sent = self.board.sent.popleft()
            if sent.frame.kind != W.KIND_DISCOVERY_ANNOUNCE or kind == W.KIND_DISCOVERY_ANNOUNCE:
                assert sent.frame.kind == kind, sent.frame.name
                return sent
        raise AssertionError("nothing came")

    def frame(self, kind: int) -> Frame:
        return self.expect(kind).frame

    def expect_nothing(self) -> None:
        left = [s.frame.name for s in self.sent if s.frame.kind != W.KIND_DISCOVERY_ANNOUNCE]
        assert not left

    def take(self, kind: int) -> list[Sent]:
        """All frames of a kind that have come; the others stay."""
        taken = [s for s in self.board.sent if s.frame.kind == kind]
        self.board.sent = type(self.board.sent)(s for s in self.board.sent if s.frame.kind != kind)
        return taken

    def count(self, name: str) -> int:
        """A counter, as the card tells it."""
        before = self.board.sent.copy()
        self.send(W.KIND_SESSION_COUNTERS_GET, seq=1, addr=COUNTER[name], src=0x020000007777)
        told = self.take(W.KIND_SESSION_COUNTERS)[-1].frame
        self.board.sent = before
        return number(told.payload[:8])

    def claim_frame(
        self, host: int = HOST, nonce: int = 1, lease: int = 5000, scrub: int = 0, epoch: int = 0, beats: int = 140
    ) -> bytes:
        body = struct.pack(">QIHBB", nonce, lease, CLAIM_GROUP, scrub, beats)
        return Frame(CARD_MAC, host, W.KIND_SESSION_CLAIM, 0, epoch, nonce & 0xFFFF).raw(body)

    def claim(self, host: int = HOST, nonce: int = 1, **change: int) -> int:
        self.board.receive(self.claim_frame(host, nonce, **change))
        grant = self.take(W.KIND_SESSION_GRANT)[-1].frame
        assert number(grant.payload[:8]) == nonce
        self.epoch = grant.epoch
        return grant.epoch

    # ---- loads
    def begin_body(self, data: bytes, chunk: int = CHUNK, group: int = GROUP, members: int = 1) -> bytes:
        return struct.pack(">QHHI", len(data), chunk, group, members) + digest(data)

    def begin(self, seq: int, data: bytes, chunk: int = CHUNK) -> None:
        self.send(W.KIND_IMAGE_BEGIN, self.begin_body(data, chunk), seq)

    def chunks(self, data: bytes, chunk: int = CHUNK, but: tuple[int, ...] = ()) -> None:
        for i in range(-(-len(data) // chunk)):
            if i not in but:
                self.chunk(data, i, chunk)

    def chunk(self, data: bytes, index: int, chunk: int = CHUNK) -> None:
        at = index * chunk
        self.send_group(W.KIND_IMAGE_DATA, data[at : at + chunk], addr=at)

    def poll(self, seq: int, window: int = 0) -> None:
        self.send_group(W.KIND_IMAGE_POLL, struct.pack(">II", window, 0), seq)

    def commit(self, seq: int) -> None:
        self.send_group(W.KIND_IMAGE_COMMIT, seq=seq)

    def load(self, seq: int = 1, data: bytes | None = None) -> bytes:
        """Loads and activates an image."""
        data = image() if data is None else data
        self.begin(seq, data)
        self.chunks(data)
        self.board.run_for(1000)
        self.commit(1000 + seq)
        self.board.run_for(1000)
        assert self.take(W.KIND_IMAGE_CONFIRM_ACTIVE)
        return data

    # ---- launches
    def launch(self, seq: int, kernel: int = 0, args: tuple[int, ...] = (BASE,), **out: int) -> None:
        self.send(W.KIND_EXEC_LAUNCH, launch_body(args, **out), seq, kernel)

    def ack(self, seq: int, next_chunk: int, limit: int, done: int = 1, beyond: tuple[int, ...] = ()) -> None:
        bits = sum(1 << n - next_chunk - 1 for n in beyond).to_bytes(32, "little")
        self.send(W.KIND_EXEC_RESULT_ACK, struct.pack(">IIB7x", next_chunk, limit, done) + bits, seq)

    def ranges(self, frame: Frame) -> tuple[int, list[tuple[int, int]]]:
        """What a report says: chunks missing, and ranges."""
        missing, ranges = struct.unpack(">IH", frame.payload[:6])
        assert len(frame.payload) == 16 + 8 * ranges
        return missing, [struct.unpack(">II", frame.payload[16 + 8 * i : 24 + 8 * i]) for i in range(ranges)]


def launch_body(
    args: tuple[int, ...], addr: int = 0, length: int = 0, credit: int = 0, go: int = 0, fuel: int = 0
) -> bytes:
    head = struct.pack(">QQQIHH", fuel, addr, length, go, credit, len(args))
    return head + b"".join(arg.to_bytes(8, "big") for arg in args)


def missing_report(missing: int, ranges: list[tuple[int, int]], more: int = 0) -> bytes:
    head = struct.pack(">IHHQ", missing, len(ranges), more, 0)
    return head + b"".join(struct.pack(">II", first, chunks) for first, chunks in ranges)
