"""Launches and their results: docs/src/concepts/launching.md."""

import struct

from kernels import Trap
from wire import *

RESEND_AFTER_MAX = 500 * MS


class Launches:
    """Part of a Card: kernels run one after the other, and what they gave is sent until it is acknowledged."""

    def on_launch(self, now: int, asked: dict, payload: bytes) -> None:
        if len(payload) < 32:
            raise Dropped("drop_malformed")
        fuel, out_addr, out_length, go, credit, count = struct.unpack_from(">QQQIHH", payload)
        if count > LAUNCH_ARGS or len(payload) != 32 + 8 * count:
            raise Dropped("drop_malformed")
        args = struct.unpack_from(f">{count}Q", payload, 32)
        self.need_claim(now, asked, NOT_TAKEN)
        seq, ahead = asked["seq"], asked["seq"] - self.last_launch & 0xFFFFFFFF
        if 1 < ahead < 1 << 31:
            raise Dropped("drop_window")
        if ahead != 1:  # It has come before: the answer is what became of it.
            self.recall(asked)
            raise Dropped("drop_duplicate")
        kernels = self.role["kernels"] if self.role else ()
        code, detail = OK, 0
        if len(self.queue) + len(self.results) >= RESULTS_KEPT:
            code, detail = BUSY, RESULTS_KEPT
        elif self.role is None:
            code = BUSY if self.port else NO_ROLE
        elif asked["addr"] >= len(kernels):
            code = UNKNOWN_KERNEL
        elif kernels[asked["addr"]][1] != count:
            code = BAD_ARGUMENTS
        elif out_length and not self.in_reach(out_addr, out_length):
            code = BAD_ADDRESS
        elif len(self.queue) >= LAUNCH_QUEUE:
            code, detail = BUSY, LAUNCH_QUEUE
        if code == BUSY:  # Its time may come: the number stays free.
            return self.refuse(asked, NOT_TAKEN, code, detail)
        self.last_launch = seq
        launch = dict(seq=seq, kernel=asked["addr"], args=args, fuel=fuel, go=go, credit=credit)
        launch |= dict(addr=out_addr, length=out_length)
        if code == OK:
            self.count(launches=1)
            self.queue.append(launch)
        else:  # A fault of the launch itself uses its number up.
            self.count(refusals=1)
            self.keep(now, launch, code, 0, 0, now)
        self.recall(asked)

    def recall(self, asked: dict) -> None:
        """Tells what became of a launch."""
        if any(launch["seq"] == asked["seq"] for launch in self.queue):
            return self.answer(asked, ACCEPTED)
        for result in self.results:
            if result["seq"] == asked["seq"]:
                result["done_due"] = True
                return
        self.refuse(asked, NOT_TAKEN, UNKNOWN_LAUNCH)

    def on_go(self, now: int, asked: dict, payload: bytes) -> None:
        exactly("", payload)
        if self.group == 0 or (asked["src"], asked["epoch"]) != (self.owner, self.group):
            raise Dropped("drop_epoch")
        self.expires = now + self.lease
        for launch in self.queue:
            if launch["go"] == asked["seq"]:
                launch["go"] = 0

    def on_cancel(self, now: int, asked: dict, payload: bytes) -> None:
        exactly("", payload)
        self.need_claim(now, asked, NOT_TAKEN)
        for launch in self.queue:
            if launch["seq"] == asked["seq"]:
                return self.cancel(now, launch)
        self.recall(asked)

    def on_query(self, now: int, asked: dict, payload: bytes) -> None:
        exactly("", payload)
        self.need_claim(now, asked, NOT_TAKEN)
        self.recall(asked)

    # ---- execution
    def start_launch(self, now: int) -> None:
        if self.running or not self.queue or self.queue[0]["go"] or self.role is None:
            return
        launch = self.queue[0]
        bound = min(launch["fuel"] or self.config["fuel_max"], self.config["fuel_max"])
        try:
            apply, value, cycles = self.role["kernels"][launch["kernel"]][0](self.memory, *launch["args"])
            if cycles is None or cycles > bound:
                end = (KERNEL_FUEL, 0, bound)
            else:
                apply()
                end = (OK, value, cycles)
        except Trap:
            end = (KERNEL_TRAP, 0, 1)
        until = now + -(-end[2] * MS // self.role["clock"])
        self.running = dict(began=now, until=until, end=end)

    def end_launch(self, now: int, launch: dict, code: int, value: int, cycles: int) -> None:
        began = now
        if self.running and launch is self.queue[0]:
            began, self.running = self.running["began"], None
        self.queue.remove(launch)
        self.count(**{"kernels_done" if code == OK else "kernels_failed": 1}, kernel_cycles=cycles)
        self.keep(now, launch, code, value, cycles, began)

    def cancel(self, now: int, launch: dict) -> None:
        runs = self.running and launch is self.queue[0]
        self.end_launch(now, launch, CANCELLED, 0, self.running["end"][2] if runs else 0)

    def cancel_all(self, now: int) -> None:
        while self.queue:
            self.cancel(now, self.queue[0])

    # ---- results
    def keep(self, now: int, launch: dict, code: int, value: int, cycles: int, began: int) -> None:
        length, bulk = launch["length"] if code == OK else 0, self.chunk
        chunks = -(-length // bulk)
        done = struct.pack(">HHIQQQQ", code, bulk, chunks, value, cycles, began - self.booted, now - self.booted)
        wait = self.config["resend_after"]
        result = dict(seq=launch["seq"], addr=launch["addr"], length=length, chunks=chunks, done=done, done_due=True)
        result |= dict(done_sent=False, done_acked=False, credit=min(launch["credit"], chunks), sent=0, next=0)
        result |= dict(chunk=bulk, beyond=0, again=range(0), mended=0, wait=wait, due=now + wait)
        self.results.append(result)

    def on_result_ack(self, now: int, asked: dict, payload: bytes) -> None:
        first, limit, done, bitmap = exactly(">IIB7x32s", payload)
        if not self.holds(asked):
            raise Dropped("drop_epoch")
        self.expires = now + self.lease
        r = next((r for r in self.results if r["seq"] == asked["seq"]), None)
        if r is None:
            raise Dropped("drop_duplicate")
        if done > 1 or first > r["chunks"]:
            raise Dropped("drop_malformed")
        progress = first > r["next"] or done > r["done_acked"]
        r["done_acked"] |= done == 1
        r["credit"] = max(r["credit"], min(limit, r["chunks"]))
        if first >= r["next"]:  # Else it was overtaken by a newer one.
            r["next"], r["beyond"] = first, int.from_bytes(bitmap, "little")
            r["sent"] = max(r["sent"], first)
            highest = next((n for n in range(r["sent"] - 1, first, -1) if has(r, n)), first)
            start = max(first, r["mended"])
            if highest > start:  # What lies below the highest that has come was lost: it goes out again, once.
                again = r["again"]
                r["again"] = range(min(start, again.start) if again else start, max(again.stop, highest))
                r["mended"] = highest
        if progress:
            r["wait"] = self.config["resend_after"]
            r["due"] = now + r["wait"]
        if r["done_acked"] and r["next"] == r["chunks"]:
            at = self.results.index(r)
            self.results.remove(r)
            self.turn -= self.turn > at

    def resend(self, now: int, r: dict) -> None:
        """Nothing was heard for long: all that is not acknowledged goes out again, ever more slowly."""
        if r["due"] > now:
            return
        r["again"], r["mended"] = range(r["next"], r["sent"]), r["sent"]
        r["wait"] = min(2 * r["wait"], RESEND_AFTER_MAX)
        r["due"] = now + r["wait"]
        r["done_due"] |= not r["again"] or not r["done_acked"]

    def transmit_result(self, now: int) -> bool:
        """Sends one end of a launch, or one chunk of an output in turn."""
        for r in self.results:
            if r["done_due"]:
                self.count(result_resends=int(r["done_sent"]))
                self.send(self.owner, DONE, self.epoch, r["seq"], r["done"], flags=RESEND * r["done_sent"])
                r["done_due"], r["done_sent"], r["due"] = False, True, now + r["wait"]
                return True
        for i in range(len(self.results)):
            at = (self.turn + i) % len(self.results)
            r = self.results[at]
            n, again = next_chunk(r)
            if n is not None:
                self.turn = (at + 1) % len(self.results)
                r["due"] = now + r["wait"]
                self.count(**{"result_resends" if again else "result_chunks": 1})
                offset = n * r["chunk"]
                start, end = r["addr"] + offset, r["addr"] + min(r["length"], offset + r["chunk"])
                body = bytes(self.memory[start:end])
                self.send(self.owner, DATA, self.epoch, r["seq"], body, offset, RESEND * again)
                return True
        return False


def has(r: dict, n: int) -> bool:
    return n < r["next"] or n > r["next"] and bool(r["beyond"] >> (n - r["next"] - 1) & 1)


def next_chunk(r: dict) -> tuple[int | None, bool]:
    """The chunk to send now, and whether it was sent before: as far as the credit and the bitmap reach."""
    for n in r["again"]:
        if not has(r, n):
            r["again"] = range(n + 1, r["again"].stop)
            return n, True
    r["again"] = range(0)
    end = min(r["credit"], r["next"] + 256)
    while r["sent"] < end:
        r["sent"] += 1
        if not has(r, r["sent"] - 1):
            return r["sent"] - 1, False
    return None, False
