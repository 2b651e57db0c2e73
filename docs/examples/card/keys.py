"""Keys and tags of a card: docs/src/reference/keys.md."""

import struct

from ascon import decrypt, encrypt, mac, prf
from wire import *

TRAILER, WINDOW = struct.Struct(">IQ16s"), 1024
TO_CARD, TO_HOST = 0, 1
# Kinds that a card takes without a tag; those under the key of claims; and what it says without one.
OPEN = {"solicit", "counters_get", "manifest_get", "data"}
CLAIMS = {"claim", "release"}
UNTAGGED = {COUNTERS_OF, MANIFEST}
# What can be read in a session that is encrypted.
HINTS = {ANNOUNCE, GOODBYE, PING, PONG}
# Kinds that have a group's number or a load's in the place of the epoch.
OF_GROUPS = {"poll", "commit", "abort", "go"}


def tag(key: bytes, frame: bytes, boot: int, direction: int, counter: int) -> bytes:
    """What binds a frame, from its first address to the end of its payload."""
    end = struct.pack("<IBxHQ", boot, direction, len(frame), counter)
    return mac(key, frame + bytes(-len(frame) % 8) + end)


class Window:
    """The counters of a key that were taken lately."""

    def __init__(self) -> None:
        self.newest, self.taken = 0, set()

    def is_new(self, counter: int) -> bool:
        return counter > self.newest or (0 < counter and self.newest - counter < WINDOW and counter not in self.taken)

    def take(self, counter: int) -> None:
        self.newest = max(self.newest, counter)
        self.taken = {c for c in self.taken if self.newest - c < WINDOW} | {counter}


class Pair:
    """What the card shares with a host, of one generation of the rack's keys."""

    def __init__(self, card: bytes, generation: int, host: int, own: int, is_revoked: bool) -> None:
        self.generation, self.is_revoked = generation, is_revoked
        self.key = prf(card, struct.pack("<BQI", 2, host, own))
        self.claims, self.window, self.sent = prf(self.key, b"\3"), Window(), 0


class Session:
    """The keys of one claim."""

    def __init__(self, pair: Pair, owner: bytes, theirs: int, ours: int, boot: int, epoch: int, encrypts: bool) -> None:
        self.owner, self.epoch, self.nonce, self.window, self.sent = owner, epoch, ours, Window(), 0
        self.boot, self.encrypts = boot, encrypts
        self.key = prf(pair.key, struct.pack("<BQQIH", 5 if encrypts else 4, theirs, ours, boot, epoch))

    def turn(self, kind: tuple, message: bytes, direction: int, counter: int) -> tuple[bytes, int]:
        """A frame's nonce, and how many bytes of it can be read."""
        open_bytes = len(message) if kind in HINTS else HEAD.size
        return struct.pack("<IB3xQ", self.boot, direction, counter), open_bytes

    def open(self, kind: tuple, message: bytes, counter: int, theirs: bytes) -> bytes | None:
        """The payload of a frame of the owner; None: its tag is wrong."""
        if not self.encrypts:
            is_right = tag(self.key, message, self.boot, TO_CARD, counter) == theirs
            return message[HEAD.size :] if is_right else None
        nonce, end = self.turn(kind, message, TO_CARD, counter)
        plain = decrypt(self.key, nonce, message[:end], message[end:], theirs)
        return None if plain is None else message[HEAD.size : end] + plain

    def seal(self, kind: tuple, message: bytes) -> tuple[bytes, bytes]:
        """The frame as it leaves, and its tag."""
        if not self.encrypts:
            return message, tag(self.key, message, self.boot, TO_HOST, self.sent)
        if kind not in HINTS:
            message = message[:14] + bytes([message[14] | ENCRYPTED]) + message[15:]
        nonce, end = self.turn(kind, message, TO_HOST, self.sent)
        secret, made = encrypt(self.key, nonce, message[:end], message[end:])
        return message[:end] + secret, made


class Guard:
    """Which frames a card with keys takes, and the tags of what it says."""

    def __init__(self, boot: int, mac: str, file: dict) -> None:
        self.boot, self.session, self.former = boot, None, None
        self.opened = b""  # The payload of the last frame that was proven by a session's key.
        # Of each host, by its number: the newest generation first, and the key that counts before one that was revoked.
        self.pairs: dict[int, list[Pair]] = {}
        self.asked: dict[int, Pair] = {}
        self.proven: dict[int, Pair] = {}
        hosts = {int(n): own for n, own in file["hosts"].items()}
        revoked = {n: own - 1 for n, own in hosts.items() if own} | {int(n): o for n, o in file.get("revoked", {}).items()}
        generation = file.get("generation", 0)
        for n, keys in ((generation, file["cards"]), (generation - 1, file.get("former", {}))):
            for who, is_revoked in ((hosts, False), (revoked, True)) if mac in keys else ():
                for host, own in who.items():
                    pair = Pair(bytes.fromhex(keys[mac]), n, host, own, is_revoked)
                    self.pairs.setdefault(host, []).append(pair)

    def judge(self, name: str, head: bytes, message: bytes, trailer: bytes | None) -> str:
        """What becomes of a frame: "proven", "taken", "ignored", or the name of what refuses its claim."""
        if name == "missing":
            return "ignored"  # It is from another card, and this one has no key to check it.
        if name in OPEN or (name == "ping" and trailer is None):
            return "taken"
        if trailer is None:
            if name == "claim":
                return "key-needed"
            raise Dropped("auth_untagged")
        src = head[6:12]
        generation, counter, theirs = TRAILER.unpack(trailer)
        if name in CLAIMS:
            return self.judge_claim(name, src, message, generation, counter, theirs)
        session = self.session_of(name, src, struct.unpack_from(">H", head, 18)[0])
        if session is None:
            raise Dropped("auth_unknown")
        if not session.window.is_new(counter):
            raise Dropped("auth_replay")
        payload = session.open((struct.unpack_from(">H", head, 12)[0], head[15]), message, counter, theirs)
        if payload is None:
            raise Dropped("auth_wrong")
        session.window.take(counter)
        self.opened = payload
        return "proven"

    def session_of(self, name: str, src: bytes, epoch: int) -> Session | None:
        """By whose key a frame is: who owns the present claim and the one before says by the epoch which is meant."""
        present, former = (s if s and s.owner == src else None for s in (self.session, self.former))
        if former and name not in OF_GROUPS and former.epoch == epoch:
            return former
        return present or former

    def judge_claim(self, name: str, src: bytes, message: bytes, generation: int, counter: int, theirs: bytes) -> str:
        host = struct.unpack(">H", src[1:3])[0]
        pairs = self.pairs.get(host) if src[0] == 6 else None
        if not pairs:
            raise Dropped("auth_unknown")
        named = [pair for pair in pairs if pair.generation == generation]
        self.asked[host] = (named or pairs)[0]
        for pair in named:
            if not pair.window.is_new(counter) or tag(pair.claims, message, self.boot, TO_CARD, counter) != theirs:
                continue
            pair.window.take(counter)
            self.asked[host] = pair
            if not pair.is_revoked:
                self.proven[host] = pair
                return "proven"
            if name == "claim":
                return "key-revoked"
            raise Dropped("auth_unknown")
        if named and not named[0].window.is_new(counter):
            raise Dropped("auth_replay")
        if name == "claim":
            return "stale-boot"
        raise Dropped("auth_wrong")

    def begin(self, owner: bytes, theirs: int, ours: int, epoch: int, encrypts: bool) -> None:
        pair = self.proven[struct.unpack(">H", owner[1:3])[0]]
        self.session = Session(pair, owner, theirs, ours, self.boot, epoch, encrypts)

    def end(self) -> None:
        if self.session:
            self.session, self.former = None, self.session

    def seal(self, frame: bytes) -> bytes:
        """A frame as it leaves."""
        dst, _, family, flags, kind, length = struct.unpack_from(">6s6sHBBH", frame)
        code = frame[HEAD.size : HEAD.size + 2]
        if (family, kind) in UNTAGGED or ((family, kind) == REFUSE and code == struct.pack(">H", KEY_NEEDED)):
            return frame
        if (family, kind) in (GRANT, RELEASED, REFUSE):
            which = self.asked if (family, kind) == REFUSE else self.proven
            key = which.get(struct.unpack(">H", dst[1:3])[0]) if dst[0] == 6 else None
        else:
            is_groups = dst[0] & 1 and dst != HOSTS
            key = next((s for s in (self.session, self.former) if s and (s.owner == dst or is_groups)), None)
        if key is None:
            return frame
        key.sent += 1
        message = frame[:14] + bytes([flags | AUTH]) + frame[15 : HEAD.size + length]
        if isinstance(key, Session):
            message, made = key.seal((family, kind), message)
            return message + TRAILER.pack(0, key.sent, made)
        return message + TRAILER.pack(key.generation, key.sent, tag(key.claims, message, self.boot, TO_HOST, key.sent))
