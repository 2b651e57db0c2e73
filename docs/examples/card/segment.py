"""One port of a virtual segment: docs/src/reference/segment.md."""

import os
import select
import socket
import struct

GREETING = b"rackloom" + struct.pack(">H", 1)


class Segment:
    """A plug in the segment that a process of this user serves."""

    def __init__(self, name: str) -> None:
        runtime = os.environ.get("XDG_RUNTIME_DIR")
        of_user = f"{runtime}/rackloom" if runtime else f"/tmp/rackloom-{os.getuid()}"
        directory = os.environ.get("RACKLOOM_RUN") or of_user
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        self.socket.connect(f"{directory}/{name}.sock")
        self.socket.send(GREETING)
        answer = self.socket.recv(64)
        if answer[:10] != GREETING or struct.unpack(">HH", answer[10:])[0] != 0:
            raise SystemExit(f"segment {name} does not let this card in: {answer!r}")

    def __enter__(self):
        return self

    def __exit__(self, *_) -> None:
        self.socket.close()

    def send(self, frame: bytes) -> None:
        self.socket.send(struct.pack(">H", len(frame)) + frame)

    def receive(self, seconds: float) -> list[bytes]:
        """What has come within this time: all frames of the records that wait."""
        frames = []
        wait = seconds
        while select.select([self.socket], [], [], wait)[0]:
            wait = 0
            record = self.socket.recv(1 << 16)
            if not record:
                raise SystemExit("the segment is gone")
            while record:
                length = struct.unpack_from(">H", record)[0]
                frames.append(record[2 : 2 + length])
                record = record[2 + length :]
        return frames
