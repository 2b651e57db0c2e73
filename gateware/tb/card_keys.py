"""rl_auth_card as the firmware sees it: its registers, and what the firmware has the vault do for a claim."""

import struct
import tomllib

from cocotb.triggers import RisingEdge
from runner import ROOT

MAP = tomllib.loads((ROOT / "protocol/registers.toml").read_text())
FIRST = next(r["offset"] for r in MAP["register"] if r["name"] == "KEY_OWNER_HI")
AT = {r["name"]: r["offset"] - FIRST >> 2 for r in MAP["register"] if r["block"] == "Keys"}
FIELDS = {
    (r["name"], f["name"]): int(f["bits"].rpartition("-")[2])
    for r in MAP["register"]
    if r["block"] == "Keys"
    for f in r.get("fields", [])
}
FIELDS_OF = {name: 1 << FIELDS["KEY_HOSTS", name] for name in ("COUNTS", "REVOKED")}
BEGIN, END, FORGET, FORGET_SESSION = range(4)
SHOW, TAGS, DERIVES, SESSION = range(4)
CARD, FORMER, PAIR, CLAIMS = range(4)
CAUSES = ("untagged", "unknown", "wrong", "replay")


def store_words(keys: list[tuple[bytes, int] | None], hosts: list[tuple[int, int | None, int | None]]):
    """What is written to rl_key_store: the card's keys, the newest first, and hosts, each by its number with the generation
    of its key that counts and of the one that was revoked. Yields places and words."""
    for n, (host, counts, revoked) in enumerate(hosts):
        has = sum(FIELDS_OF[name] for name, one in (("COUNTS", counts), ("REVOKED", revoked)) if one is not None)
        yield from enumerate((host | has, counts or 0, revoked or 0), 4 * n)
    for slot, key in enumerate([*keys, None, None][:2]):
        first = 256 + 8 * slot
        if key is not None:
            yield from enumerate([*struct.unpack("<4I", key[0]), key[1]], first)
        yield first + 5, int(key is not None)
    yield 272, len(hosts)


def place(register: str, **fields: int) -> int:
    """What is written to a register that has these fields."""
    return sum(value << FIELDS[register, name.upper()] for name, value in fields.items())


def bound(frame: bytes, boot: int, to_host: bool, counter: int) -> bytes:
    """What the tag of a frame is made of behind the frame itself."""
    return bytes(-len(frame) % 8) + struct.pack("<IBxHQ", boot, to_host, len(frame), counter)


class Registers:
    """The processor's accesses, one in four cycles as they come."""

    def __init__(self, ctl, data, clock):
        self.ctl, self.data, self.clock = ctl, data, clock
        self.newer = 0

    def drive(self, write: int, at: int, word: int, read_at: int):
        self.ctl.value = ((write << 5 | at) << 32 | word) << 5 | read_at

    async def wait(self, cycles: int):
        for _ in range(cycles):
            await RisingEdge(self.clock)

    async def write(self, name: str, word: int):
        self.drive(1, AT[name], word, AT[name])
        await self.wait(1)
        self.drive(0, AT[name], ~word & 0xFFFFFFFF, AT[name])
        await self.wait(3)

    async def read(self, name: str, index: int = 0) -> int:
        self.drive(0, 0, 0, AT[name] + index)
        await self.wait(1)
        word = int(self.data.value)
        await self.wait(3)
        return word

    async def has(self, register: str, name: str) -> bool:
        return bool(await self.read(register) >> FIELDS[register, name] & 1)

    async def take_keys(self):
        """What the key store holds; it is not let go."""
        while not await self.has("KEY_STORE", "NEWS"):
            pass
        await self.write("KEY_STORE", place("KEY_STORE", take=1))
        while not await self.has("KEY_STORE", "READ"):
            pass

    async def hosts(self) -> list[tuple[int, ...]]:
        """Three words of each host that it names."""
        count = await self.read("KEY_STORE") >> FIELDS["KEY_STORE", "HOSTS"] & 0x7F
        words = []
        for at in range(4 * count):
            await self.write("KEY_HOSTS_AT", at)
            words.append(await self.read("KEY_HOSTS"))
        return [tuple(words[at : at + 3]) for at in range(0, len(words), 4)]

    # -- the vault
    async def order(self, op: int, **fields: int) -> bool:
        """Whether it was done."""
        await self.write("KEY_ORDER", place("KEY_ORDER", op=op, **fields))
        while await self.has("KEY_ORDER", "BUSY"):
            pass
        return await self.has("KEY_ORDER", "DONE")

    async def put(self, register: str, message: bytes, rest: int = 0xA5):
        order = "big" if register == "KEY_FRAME" else "little"
        for at in range(0, len(message), 4):
            word = message[at : at + 4].ljust(4, bytes([rest]))
            await self.write(register, int.from_bytes(word, order))

    async def make(self, slot: int, message: bytes, to: int, target: int = 0, frame: bytes = b"") -> bool:
        """A message of a frame in the ring's order, if there is one, and of this."""
        assert len(frame) % 4 == 0
        await self.order(BEGIN, slot=slot)
        await self.put("KEY_FRAME", frame)
        await self.put("KEY_DATA", message)
        count = (len(message) - 1) % 4 + 1 if message else 0
        return await self.order(END, bytes=count, to=to, target=target)

    async def tag(self) -> bytes:
        return b"".join([(await self.read("KEY_TAG", i)).to_bytes(4, "big") for i in range(4)])

    async def frame_tag(self, frame: bytes, boot: int, to_host: bool, counter: int) -> bytes:
        """Of a claim or of its answer."""
        padded = frame + bytes(-len(frame) % 4)
        rest = bound(frame, boot, to_host, counter)[len(padded) - len(frame) :]
        assert await self.make(CLAIMS, rest, SHOW, frame=padded), "there is no key of claims"
        return await self.tag()

    async def pair(self, slot: int, host: int) -> bool:
        """Makes the pair's keys from the card's in this slot."""
        if not await self.make(slot, struct.pack("<BQI", 2, host, 0), DERIVES, PAIR):
            return False
        return await self.make(PAIR, b"\3", TAGS, CLAIMS)

    # -- sessions
    async def tell(self, slot: int, owner: int, epoch: int, valid: bool):
        await self.write("KEY_OWNER_HI", owner >> 32)
        await self.write("KEY_OWNER_LO", owner & 0xFFFFFFFF)
        await self.write("KEY_SESSION", place("KEY_SESSION", slot=slot, epoch=epoch, valid=valid))

    async def begin(self, owner: int, epoch: int, boot: int, theirs: int, ours: int):
        """A claim is granted: in the place of the older session."""
        slot = 1 - self.newer
        await self.tell(slot, 0, 0, False)
        assert await self.make(PAIR, struct.pack("<BQQIH", 4, theirs, ours, boot, epoch), SESSION, slot)
        await self.tell(slot, owner, epoch, True)
        self.newer = slot

    async def end(self):
        """A claim has ended: of two sessions the older one is forgotten."""
        slot = 1 - self.newer
        await self.tell(slot, 0, 0, False)
        assert await self.order(FORGET_SESSION, target=slot)

    # -- counters
    async def count(self, cause: str) -> int:
        at = 2 * CAUSES.index(cause)
        return await self.read("KEY_COUNT", at + 1) << 32 | await self.read("KEY_COUNT", at)
