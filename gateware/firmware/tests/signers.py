"""rl_sign_store as the firmware sees it, and a bench of a card with signers."""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import golden_sign
from addresses import GROUPS
from bench import CHUNK, GROUP
from headers import C, W
from images import image, part
from keys import OWNER, Keyed, KeysBench, KeysBoard
from wire import Frame, number

MANIFEST = b'{"name": "test", "version": "1", "kernels": [{"name": "g", "args": []}]}'
ROLES, ROLES_MAX, PLACE = 512, 96, 16
WHICH = 15  # Of a role: which of its versions counts.


def secret(n: int) -> bytes:
    """A signer's secret key."""
    return bytes([n]) * 32


@dataclass(frozen=True)
class Known:
    """A signer whom the card knows."""

    n: int
    name: str
    may: bool = True

    def words(self) -> list[int]:
        key = golden_sign.signer(secret(self.n))
        return [int(self.may), *words(key), *words(self.name.encode().ljust(24, b"\0")), 0]


def words(data: bytes) -> list[int]:
    return [number(data[at : at + 4]) for at in range(0, len(data), 4)]


@dataclass
class Signed(Keyed):
    signers: tuple[Known, ...] = (Known(1, "lab"), Known(2, "other", may=False))
    kept: dict[int, int] = field(default_factory=dict)  # Words of versions.


class SignedBoard(KeysBoard):
    def __init__(self, library, config: Signed) -> None:
        table = [word for known in config.signers for word in known.words()]
        self.table = dict(enumerate(table)) | {ROLES + PLACE * n: 0 for n in range(ROLES_MAX)} | config.kept
        self.sign_at = 0
        self.writes: list[int] = []  # Where the firmware has written.
        self.keeping = 0  # So often the board says yet that it keeps what was written last,
        self.keeps_after = 0  # of this many times,
        self.fails = False  # and whether it will not,
        self.fails_next = False  # from the next one on that is written.
        super().__init__(library, config)

    def read_register(self, address: int) -> int:
        if address == C.CSR_SIGN_COUNT:
            self.keeping = max(self.keeping - 1, 0)
            state = C.SIGN_COUNT_KEEPS if self.keeping else C.SIGN_COUNT_FAILS if self.fails else 0
            return len(self.config.signers) | state
        if address == C.CSR_SIGN_WORD:
            return self.table[self.sign_at]
        return super().read_register(address)

    def write_register(self, address: int, value: int) -> None:
        if address == C.CSR_SIGN_AT:
            self.sign_at = value
        elif address == C.CSR_SIGN_WORD:
            assert ROLES <= self.sign_at < ROLES + PLACE * ROLES_MAX, "it changes no signer"
            self.table[self.sign_at] = value
            self.writes.append(self.sign_at)
            self.keeping = self.keeps_after
            self.fails |= self.fails_next
        else:
            super().write_register(address, value)

    def transmit(self, raw: bytes) -> None:
        assert not self.keeping, "the host hears of something that the board has not kept"
        super().transmit(raw)

    def kept(self) -> dict[int, int]:
        """The words that the board keeps."""
        return {at: word for at, word in self.table.items() if at >= ROLES}

    def versions(self) -> dict[tuple[int, str], int]:
        """The newest version by signer's number and role."""
        found = {}
        for at in range(ROLES, ROLES + PLACE * ROLES_MAX, PLACE):
            if self.table[at]:
                name = b"".join(self.table[at + 3 + i].to_bytes(4, "big") for i in range(8))
                newest = at + (11 if self.table[at + WHICH] == 2 else 1)
                version = self.table[newest] << 32 | self.table[newest + 1]
                found[self.table[at] - 1, name.rstrip(b"\0").decode()] = version
        return found


class SignedBench(KeysBench):
    """A card with signers and keys, claimed."""

    def __init__(self, library, config: Signed | None = None) -> None:
        super().__init__(library, config or Signed())
        self.board = SignedBoard(library, config or Signed())
        self.claim()
        self.clear()

    def stage(self, seq: int, data: bytes) -> bytes | None:
        """Loads as far as the commit. None, or the payload of the refusal."""
        self.clear()
        self.in_session(W.KIND_IMAGE_BEGIN, self.begin_body(data), seq)
        self.chunks(data)
        self.board.run_for(1000)
        failed = self.take(W.KIND_IMAGE_CONFIRM_FAILED)
        assert bool(failed) != bool(self.take(W.KIND_IMAGE_CONFIRM_STAGED))
        return failed[-1].frame.payload if failed else None

    def turns(self, count: int) -> None:
        for _ in range(count):
            self.board.turn()
            self.board.step()

    def await_one(self, kind: int) -> Frame | None:
        """The next frame of this kind, as long as the check is under way for much longer."""
        for _ in range(50):
            self.turns(1)
            if found := self.take(kind):
                return found[-1].frame
        return None

    @contextmanager
    def halfway(self, seq: int, data: bytes) -> Iterator[None]:
        """While the signature of this image is checked. What comes waits until there are turns."""
        run, self.board.run = self.board.run, lambda: None
        self.in_session(W.KIND_IMAGE_BEGIN, self.begin_body(data), seq)
        self.turns(3)
        self.chunks(data)
        self.turns(60)
        self.clear()
        yield
        self.board.run = run

    def run(self, seq: int, data: bytes) -> None:
        assert self.stage(seq, data) is None
        self.commit(1000 + seq)
        self.board.run_for(1000)
        assert self.take(W.KIND_IMAGE_CONFIRM_ACTIVE)

    def commit(self, seq: int) -> None:
        self.in_session(W.KIND_IMAGE_COMMIT, seq=seq, **self.to_group())

    def abort(self, seq: int) -> None:
        self.in_session(W.KIND_IMAGE_ABORT, seq=seq, **self.to_group())

    def refuses(self, seq: int, data: bytes, says: str) -> None:
        """The card refuses the image before its port is touched, with this text."""
        before, kept = len(self.board.configured), self.board.kept()
        payload = self.stage(seq, data)
        assert payload is not None and payload[8:].rstrip(b"\0").decode() == says
        assert number(payload[:2]) == W.ERROR_CODE_IMAGE_SIGNATURE
        self.commit(2000 + seq)
        self.board.run_for(1000)
        assert self.take(W.KIND_IMAGE_CONFIRM_FAILED)
        assert (len(self.board.configured), self.board.kept()) == (before, kept)

    def chunk(self, data: bytes, index: int, chunk: int = CHUNK) -> None:
        at = index * chunk
        self.send_group(W.KIND_IMAGE_DATA, data[at : at + chunk], addr=at, src=OWNER)

    @staticmethod
    def to_group() -> dict[str, int]:
        return {"dst": GROUPS | GROUP, "epoch": GROUP}


def unsigned(manifest: bytes = MANIFEST, filler: int = 0, parts: int = 0) -> bytes:
    """An image with as many further parts, of which the first has so many bytes."""
    more = {f"p{n}": bytes(filler + 1 if n == 0 else 1) for n in range(parts)}
    return image({"rtl": part(), **more}, manifest)


def signed(n: int = 1, version: int = 5, **of) -> bytes:
    """An image with this signer's signature."""
    return golden_sign.signed(unsigned(**of), secret(n), version)
