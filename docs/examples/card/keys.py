"""Keys and tags of a card: docs/src/reference/keys.md."""

import struct

from wire import *

WORD = (1 << 64) - 1
IV_MAC, IV_PRF = 0x0010200080CC0005, 0x0010200000CC0006
# How far each word of the state is turned, twice.
TURNS = (19, 28), (61, 39), (1, 6), (10, 17), (7, 41)
TRAILER, WINDOW = struct.Struct(">IQ16s"), 1024
TO_CARD, TO_HOST = 0, 1
# Kinds that a card takes without a tag; those under the key of claims; and what it says without one.
OPEN = {"solicit", "counters_get", "manifest_get", "data"}
CLAIMS = {"claim", "release"}
UNTAGGED = {COUNTERS_OF, MANIFEST}
# Kinds that have a group's number or a load's in the place of the epoch.
OF_GROUPS = {"poll", "commit", "abort", "go"}


def permute(s: list[int]) -> None:
    """Ascon's permutation of 12 rounds."""
    for round in range(12):
        a, b, c, d, e = s
        c ^= (15 - round) << 4 | round
        a, c, e = a ^ e, c ^ b, e ^ d
        t = [~x & WORD & y for x, y in ((b, c), (c, d), (d, e), (e, a), (a, b))]
        a, b, c, d, e = a ^ t[0], b ^ t[1], c ^ t[2], d ^ t[3], e ^ t[4]
        b, d, a, c = b ^ a, d ^ c, a ^ e, ~c & WORD
        for i, (x, (m, n)) in enumerate(zip((a, b, c, d, e), TURNS)):
            s[i] = x ^ (x >> m | x << 64 - m & WORD) ^ (x >> n | x << 64 - n & WORD)


def ascon(iv: int, key: bytes, message: bytes) -> bytes:
    """16 bytes of Ascon-MAC or Ascon-PRF."""
    state = [iv, *struct.unpack("<2Q", key), 0, 0]
    permute(state)
    message += b"\1"
    words = struct.unpack(f"<{-(-len(message) // 8)}Q", message.ljust(-(-len(message) // 8) * 8, b"\0"))
    for i, word in enumerate(words):
        if i and i % 4 == 0:
            permute(state)
        state[i % 4] ^= word
    state[4] ^= 1 << 63
    permute(state)
    return struct.pack("<2Q", *state[:2])


def mac(key: bytes, message: bytes) -> bytes:
    return ascon(IV_MAC, key, message)


def prf(key: bytes, message: bytes) -> bytes:
    return ascon(IV_PRF, key, message)


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

    def __init__(self, pair: Pair, owner: bytes, theirs: int, ours: int, boot: int, epoch: int) -> None:
        self.owner, self.epoch, self.nonce, self.window, self.sent = owner, epoch, ours, Window(), 0
        self.key = prf(pair.key, struct.pack("<BQQIH", 4, theirs, ours, boot, epoch))


class Guard:
    """Which frames a card with keys takes, and the tags of what it says."""

    def __init__(self, boot: int, mac: str, file: dict) -> None:
        self.boot, self.session, self.former = boot, None, None
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
        if tag(session.key, message, self.boot, TO_CARD, counter) != theirs:
            raise Dropped("auth_wrong")
        session.window.take(counter)
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

    def begin(self, owner: bytes, theirs: int, ours: int, epoch: int) -> None:
        pair = self.proven[struct.unpack(">H", owner[1:3])[0]]
        self.session = Session(pair, owner, theirs, ours, self.boot, epoch)

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
        is_pair = isinstance(key, Pair)
        made = tag(key.claims if is_pair else key.key, message, self.boot, TO_HOST, key.sent)
        return message + TRAILER.pack(key.generation if is_pair else 0, key.sent, made)
