"""What becomes of a frame: the rules of crates/core/card/src/analyzer.rs and of the routes after it, on bytes.

The rules of each kind come from its description, by way of `KINDS`.
"""

import enum
from dataclasses import dataclass

from wire import ADDRESS, CONST, FLAG, KINDS, NAMES, VERSION, mac

BROADCAST = (1 << 48) - 1
MINE = mac("02:00:00:00:00:07")
OWNER = mac("02:00:00:00:08:08")
MEMORY = 1 << 30
ETHER_TYPES = {kind.ether_type for kind in KINDS.values()}
# The kinds that a card takes, and where.
REACH_OF = {name: kind.reach for name, kind in KINDS.items() if kind.to != "host"}
BARRIERS = {name for name, kind in KINDS.items() if kind.order == "barrier"}
WAITING = {name for name, kind in KINDS.items() if kind.order in ("after-barrier", "after-control")}


class Route(enum.IntEnum):
    """As route_e."""

    DROP = 0
    CONTROL = 1
    WRITE = 2
    READ = 3
    IMAGE = 4
    LAUNCH = 5


class Why(enum.IntEnum):
    """As divert_reason_e."""

    KIND = 0
    EPOCH = 1
    LENGTH = 3
    ADDRESS = 4
    TURN = 5
    ACCEPTED = 8


@dataclass(frozen=True)
class Session:
    """What the firmware tells the analyzer."""

    claimed: bool = True
    owner: int = OWNER
    epoch: int = 5
    claim_group: int = 0x1111
    loading: bool = True
    load_group: int = 0x2222


@dataclass(frozen=True)
class Judgement:
    """The counter of the drop, or the route."""

    drop: str | None
    route: Route = Route.DROP
    why: Why = Why.KIND


def group(number: int) -> int:
    """A group's address."""
    return ADDRESS.GROUP | number


def is_group(address: int) -> bool:
    """Whether it is the address of a group of Rackloom."""
    return address >> 16 == ADDRESS.GROUP >> 16


def judge(frame: bytes, session: Session, bulk: int = CONST.BULK_STANDARD) -> Judgement:
    """What the analyzer must do with these bytes, check sequence being right."""
    number = lambda at, length: int.from_bytes(frame[at : at + length], "big")  # noqa: E731
    if len(frame) < 12:
        return Judgement("drop_truncated")
    dst, src = number(0, 6), number(6, 6)
    joined = {MINE, ADDRESS.CARDS, BROADCAST}
    if session.loading:
        joined.add(group(session.load_group))
    if session.claimed and session.claim_group:
        joined.add(group(session.claim_group))
    if dst not in joined or src == MINE or frame[6] & 1:
        return Judgement("drop_foreign")
    if len(frame) < 14:
        return Judgement("drop_truncated")
    ether_type = number(12, 2)
    if ether_type not in ETHER_TYPES:
        return Judgement("drop_foreign")
    if len(frame) < CONST.HEADER_END:
        return Judgement("drop_truncated")
    flags, length, epoch, addr = frame[14] & 15, number(16, 2), number(18, 2), number(24, 8)
    if frame[14] >> 4 != VERSION:
        return Judgement("drop_version")
    name = NAMES.get((ether_type, frame[15]))
    if name is None:
        return Judgement("drop_kind")
    if flags & FLAG.AUTH:
        return Judgement("drop_auth")
    if len(frame) < CONST.HEADER_END + length:
        return Judgement("drop_truncated")
    reach = REACH_OF.get(name)
    if reach is None or (reach == "group" and not is_group(dst)):
        return Judgement("drop_kind")
    if reach == "unicast" and dst != MINE:
        return Judgement("drop_foreign")
    owner = session.claimed and src == session.owner
    path = KINDS[name].taken_by
    if path == "firmware":
        return Judgement(None, Route.CONTROL)
    admitted = {
        "epoch": owner and epoch == session.epoch,
        "load": owner and session.loading and epoch == session.load_group,
    }[KINDS[name].claim]
    if path == "image":
        return Judgement(None, Route.IMAGE) if admitted else Judgement("drop_epoch")
    if not admitted:
        return Judgement(None, Route.CONTROL, Why.EPOCH)
    if path != "write":
        return Judgement(None, Route.READ if path == "read" else Route.LAUNCH)
    if length > bulk:
        return Judgement(None, Route.CONTROL, Why.LENGTH)
    if not (CONST.ROLE_PRIVATE <= addr and addr + length <= MEMORY):
        return Judgement(None, Route.CONTROL, Why.ADDRESS)
    return Judgement(None, Route.WRITE)


def awaits_barrier(frame: bytes) -> bool:
    """Whether what the firmware is still to do may change what becomes of this frame."""
    ether_type, kind = int.from_bytes(frame[12:14], "big"), frame[15] if len(frame) > 15 else 0
    by_kind = len(frame) >= CONST.HEADER_END and NAMES.get((ether_type, kind)) in WAITING
    return by_kind or (len(frame) >= 12 and is_group(int.from_bytes(frame[:6], "big")))
