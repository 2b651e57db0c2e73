"""The card in the conformance suite, which says what time it is: crates/check/conformance/src/python.rs.

Requests come on stdin: a letter, the time in nanoseconds (u64) and a length (u32), big-endian, then so many bytes. Each
is answered on stdout by a length (u32) and as many bytes.

    F  a frame has come in               answer: the deadline
    T  time has passed                   answer: the deadline
    P  what is there to send?            answer: the deadline, and a frame if there is one
    U  the card is pulled out            answer: the deadline
    R  addr:u64 length:u64 of memory     answer: those bytes
    W  addr:u64 and bytes for memory     answer: nothing

A deadline is a u64; its largest number: none.
"""

import struct
import sys

from card import Card

REQUEST = struct.Struct(">cQI")


def play(config: dict) -> None:
    card = Card(**config, hash_turn=1 << 30)
    take, give = sys.stdin.buffer, sys.stdout.buffer
    while head := take.read(REQUEST.size):
        what, now, length = REQUEST.unpack(head)
        body = take.read(length)
        answer = b""
        match what:
            case b"F":
                card.frame(now, body)
            case b"T":
                card.timeout(now)
            case b"P":
                answer = card.poll(now) or b""
            case b"U":
                card.unplug()
            case b"R":
                addr, size = struct.unpack(">QQ", body)
                answer = bytes(card.memory[addr : addr + size])
            case b"W":
                addr = struct.unpack_from(">Q", body)[0]
                card.memory[addr : addr + len(body) - 8] = body[8:]
        if what not in b"RW":
            due = card.deadline()
            answer = struct.pack(">Q", (1 << 64) - 1 if due is None else due) + answer
        give.write(struct.pack(">I", len(answer)) + answer)
        give.flush()
