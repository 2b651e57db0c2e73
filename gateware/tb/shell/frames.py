"""A card and the frames that it may meet: good ones of each kind, and every way to be wrong."""

import random

from golden import Card
from wire import ADDRESS, CONST, FLAG, KINDS, STRUCTS, Frame, mac, pack

BROADCAST = (1 << 48) - 1
MINE = mac("02:00:00:00:00:07")
OWNER = mac("02:00:00:00:08:08")
RIVAL = mac("02:00:00:00:09:09")
MEMORY = 1 << 30
CARD = Card(mac=MINE, owner=OWNER, memory=MEMORY, epoch=5, claim_group=0x1111, load_group=0x2222)
ADDRESSES = [
    CONST.ROLE_PRIVATE,
    CONST.ROLE_PRIVATE - 1,
    CONST.ROLE_PRIVATE + 0xFFFF,
    MEMORY - 64,
    MEMORY - 0x10000,
    MEMORY - 0x10001,
    MEMORY - 1,
    MEMORY,
    MEMORY + 1,
    MEMORY + 0x10000,
    0,
    1 << 40,
    (1 << 40) + CONST.ROLE_PRIVATE,
    (1 << 63) + CONST.ROLE_PRIVATE,
    (1 << 64) - 1,
    (1 << 64) - 32,
]
LENGTHS = [0, 1, 7, 8, 9, 27, 28, 29, 32, 63, 64, 65]


def group(number: int) -> int:
    """A group's address."""
    return ADDRESS.GROUP | number


def good(kind: str, seq: int, payload: bytes | None = None, **fields) -> bytes:
    """A frame of this kind as the owner would send it to this card."""
    if payload is None:
        struct = KINDS[kind].payload
        payload = pack(struct) if struct in STRUCTS else random.randbytes(random.choice(LENGTHS)) if struct else b""
    in_group = kind.startswith("Image.") and kind != "Image.Begin" or kind == "ImageConfirm.Missing"
    head = {"dst": MINE, "src": OWNER, "epoch": 5, "addr": CONST.ROLE_PRIVATE}
    if in_group:
        head |= {"dst": group(0x2222), "epoch": 0x2222}
    if kind == "Exec.Go":
        head |= {"dst": group(0x1111), "epoch": 0x1111}
    if kind == "Discovery.Solicit":
        head |= {"dst": ADDRESS.CARDS}
    return build(kind, seq, payload, **(head | fields))


def build(kind: str, seq: int, payload: bytes, **head) -> bytes:
    """A frame whose payload may not be what its kind says."""
    return Frame(kind=KINDS[kind].number, seq=seq, **head).raw(payload)


def hostile(seq: int) -> bytes:
    """Any frame, wrong in few or many ways."""
    kind = random.choice(list(KINDS))
    data = bytearray(
        build(
            kind,
            seq,
            random.randbytes(random.choice([*LENGTHS, 200])),
            dst=random.choice(
                [MINE] * 4
                + [ADDRESS.CARDS, ADDRESS.HOSTS, BROADCAST, RIVAL, MINE ^ 1 << random.randrange(48)]
                + [group(number) for number in (0x1111, 0x1112, 0x2222, 0x2223, 0, 0x3333)]
            ),
            src=random.choice(
                [OWNER] * 4 + [RIVAL, MINE, OWNER | 1 << 40, OWNER ^ 1, OWNER ^ 1 << random.randrange(48)]
            ),
            epoch=random.choice([5, 5, 6, 0x1111, 0x2222, 0x2223, 0]),
            addr=random.choice(ADDRESSES) + random.choice([0, 0, 1, -1]) & (1 << 64) - 1,
            flags=random.choice([0, 0, 0, FLAG.RESEND, FLAG.AUTH, 15, 8]),
        )
    )
    match random.randrange(12):
        case 0:
            data[12:14] = random.choice([0x0800, 0x80EE, 0x81EF, 0x00EF, 0x80DC]).to_bytes(2, "big")
        case 1:
            data[14] = random.getrandbits(8)
        case 2:
            data[15] = random.choice([0, 3, 4, 5, 6, 7, 11, 12, 16 + data[15], 128 + data[15], 255])
        case 3:
            data[16:18] = random.choice([0, 1, 8, 28, 29, 64, 65, 255, 256, 4096, 1472, 1473, 65535]).to_bytes(2, "big")
        case 4:
            data = data[: random.randint(1, len(data))]
        case 5:
            data += random.randbytes(random.randint(1, 40))
        case 6:
            data[random.randrange(len(data))] ^= 1 << random.randrange(8)
    return bytes(data)


def mixed(seq: int) -> bytes:
    """One or the other, with as much for the blocks of their own as for the firmware."""
    fast = random.choice(["Input.Write", "Input.Read", "Image.Data", "Exec.Launch", "Discovery.Solicit"])
    of_any_kind = lambda n: good(random.choice(list(KINDS)), n)
    return random.choice([hostile, hostile, at_the_edges, lambda n: good(fast, n), of_any_kind])(seq)


def at_the_edges(seq: int) -> bytes:
    """A write whose range ends near where it must."""
    length = random.choice([0, 1, 8, 28, 64])
    near = random.choice([MEMORY, MEMORY + 0x10000, CONST.ROLE_PRIVATE + length, MEMORY - 0x10000])
    addr = max(0, near - length + random.choice([-1, 0, 0, 1]))
    if random.random() < 0.2:
        # A good address but for one bit that no memory has.
        addr = CONST.ROLE_PRIVATE | 1 << random.randrange(30, 64)
    return good("Input.Write", seq, random.randbytes(length), addr=addr)
