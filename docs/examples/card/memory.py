"""Writes and reads of memory: docs/src/reference/wire.md, "Writes and reads"."""

import struct

from wire import *


class Memory:
    """Part of a Card: the host's window into its memory."""

    def in_reach(self, addr: int, length: int) -> bool:
        return ROLE_PRIVATE <= addr and addr + length <= len(self.memory)

    def check_access(self, addr: int, length: int) -> tuple[int, int] | None:
        if length > self.config["bulk"]:
            return BAD_REQUEST, self.config["bulk"]
        return None if self.in_reach(addr, length) else (BAD_ADDRESS, len(self.memory))

    def on_write(self, now: int, asked: dict, payload: bytes) -> None:
        self.need_claim(now, asked, NAK)
        ahead = asked["seq"] - self.first & 0xFFFFFFFF
        if WRITE_WINDOW < ahead < 1 << 31:
            self.ack_at = now
            raise Dropped("drop_window")
        is_new = ahead < 1 << 31 and asked["seq"] not in self.beyond
        if is_new:
            self.beyond.add(asked["seq"])
            while self.first in self.beyond:
                self.beyond.remove(self.first)
                self.first = self.first + 1 & 0xFFFFFFFF
        self.unacked += 1
        # In order it waits for company; whatever is odd, and whatever the host waits for, is acknowledged at once.
        at_once = ahead or asked["flags"] & ACK_NOW or self.unacked >= self.config["ack_every"]
        due = now if at_once else now + self.config["ack_delay"]
        self.ack_at = due if self.ack_at is None else min(self.ack_at, due)
        if not is_new:
            raise Dropped("drop_duplicate")
        if no := self.check_access(asked["addr"], len(payload)):
            return self.refuse(asked, NAK, *no)  # It counts as received all the same.
        self.memory[asked["addr"] : asked["addr"] + len(payload)] = payload
        self.count(writes=1, write_bytes=len(payload))

    def on_read(self, now: int, asked: dict, payload: bytes) -> None:
        length, _ = exactly(">II", payload)
        self.need_claim(now, asked, NAK)
        no = (BAD_REQUEST, self.config["bulk"]) if length == 0 else self.check_access(asked["addr"], length)
        if no:
            return self.refuse(asked, NAK, *no)
        if len(self.reads) == 1024:
            raise Dropped("drop_queue")
        self.reads.append((asked, length))

    def transmit_memory(self, now: int) -> bool:
        """Sends an acknowledgement or the data of one read, if one is due."""
        if self.ack_at is not None and self.ack_at <= now:
            self.ack_at, self.unacked = None, 0
            self.send(self.owner, WRITE_ACK, self.epoch, self.first, bits(self.first, self.beyond))
            return True
        if self.reads:
            asked, length = self.reads.popleft()
            self.count(reads=1, read_bytes=length)
            self.answer(asked, READ_DATA, bytes(self.memory[asked["addr"] : asked["addr"] + length]), asked["addr"])
            return True
        return False
