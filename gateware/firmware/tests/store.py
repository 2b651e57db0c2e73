"""rl_key_store as the firmware sees it: the card's keys, and hosts that may claim it."""

from dataclasses import dataclass, field

from headers import C


@dataclass(frozen=True)
class Named:
    """A host, by its number; the generation of its key that counts, and of the one that was revoked."""

    number: int
    counts: int | None = 0
    revoked: int | None = None

    def words(self) -> tuple[int, int, int]:
        has = (C.KEY_HOSTS_COUNTS if self.counts is not None else 0)
        has |= C.KEY_HOSTS_REVOKED if self.revoked is not None else 0
        # What nobody has is anything.
        counts, revoked = (0xDEADBEEF if of is None else of for of in (self.counts, self.revoked))
        return self.number | has, counts, revoked


@dataclass
class Store:
    keys: tuple[bytes | None, ...]  # Of the newest generation and the one before.
    generation: int
    hosts: tuple[Named, ...]
    news: bool = True
    held: bool = False
    handed: bool = False
    reads: int = 0  # How often the firmware asks until there is something.
    at: int = 0
    shown: list[tuple[bytes | None, int]] = field(default_factory=lambda: [(None, 0)] * 2)  # Of the vault's keys.

    def write(self, keys: tuple[bytes | None, ...], generation: int, hosts: tuple[Named, ...]) -> None:
        """Somebody gives the card other keys."""
        assert not self.held
        self.keys, self.generation, self.hosts, self.news = keys, generation, hosts, True

    def order(self, word: int) -> None:
        if word & C.KEY_STORE_TAKE:
            assert self.news and not self.held and not self.reads
            self.news, self.held, self.handed = False, True, True
            self.shown = [(key, self.generation - n if key else 0) for n, key in enumerate(self.keys)]
        else:
            assert self.held
            self.held = False

    def status(self) -> int:
        self.reads -= self.reads > 0
        has = (C.KEY_STORE_CARD if self.shown[0][0] else 0) | (C.KEY_STORE_FORMER if self.shown[1][0] else 0)
        has |= C.KEY_STORE_NEWS if self.has_news() else 0
        has |= C.KEY_STORE_READ if self.handed else 0
        return C.KEY_STORE_THERE | has | len(self.hosts) << C.KEY_STORE_HOSTS_SHIFT

    def has_news(self) -> bool:
        return self.news and not self.held and self.reads == 0

    def word(self) -> int:
        assert self.held, "hosts are read while somebody may write them"
        words = (*self.hosts[self.at // 4].words(), 0)
        return words[self.at % 4]
