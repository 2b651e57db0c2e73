"""rl_frame_queue: whole frames in order between two clocks, only those that were committed, and none before that."""

import random

import cocotb
import pytest
from cocotb.clock import Clock
from cocotb.triggers import ClockCycles, Event, FallingEdge, RisingEdge
from runner import bench, common
from streams import CLOCK_PAIRS, PAUSE_PAIRS, PAUSES

# Words in all, so that long frames take no longer than short ones.
WORDS = 2000


class Queue:
    """Both ends of the queue, and the frames committed that the reader has not taken."""

    def __init__(self, dut):
        self.dut = dut
        self.frame_words = dut.FrameWords.value.to_unsigned()
        self.desc_max = (1 << dut.DescW.value.to_unsigned()) - 1
        self.frames = min(100, WORDS // self.frame_words)
        self.committed = []
        self.finished = Event()

    async def start(self, periods):
        dut = self.dut
        for port in (dut.word_i, dut.commit_i, dut.rollback_i, dut.done_i, dut.take_i, dut.rst_wr_ni, dut.rst_rd_ni):
            port.value = 0
        Clock(dut.clk_wr_i, periods[0], "ps").start()
        Clock(dut.clk_rd_i, periods[1], "ps").start()
        await ClockCycles(dut.clk_wr_i, 4)
        await ClockCycles(dut.clk_rd_i, 4)
        dut.rst_wr_ni.value = 1
        dut.rst_rd_ni.value = 1
        await ClockCycles(dut.clk_wr_i, 4)

    async def write(self, frames, pause, commits):
        """Writes frames; each is committed with this probability, or else rolled back.

        The number of a frame's words goes into the low 8 bits of its descriptor, as the reader must learn it somehow.
        Like the reader it decides in the middle of a cycle.
        """
        dut, middle = self.dut, FallingEdge(self.dut.clk_wr_i)
        for _ in range(frames):
            words = [random.getrandbits(64) for _ in range(self.length())]
            desc = (random.getrandbits(64) << 8 | len(words)) & self.desc_max
            commit = random.random() < commits
            # The end may come with the last word or later.
            later = not words or random.random() < 0.5
            await middle
            while not dut.room_o.value or next(pause):
                await middle
            for left, word in reversed(list(enumerate(reversed(words)))):
                dut.word_i.value = 1
                dut.data_i.value = word
                if left == 0 and not later:
                    self.end(commit, desc, words)
                await RisingEdge(dut.clk_wr_i)
                self.rest()
                while left and next(pause):
                    await middle
                    await RisingEdge(dut.clk_wr_i)
            if later:
                while words and next(pause):
                    await middle
                    await RisingEdge(dut.clk_wr_i)
                self.end(commit, desc, words)
                await RisingEdge(dut.clk_wr_i)
                self.rest()
        self.finished.set()

    def rest(self):
        self.dut.word_i.value = 0
        self.dut.commit_i.value = 0
        self.dut.rollback_i.value = 0
        self.dut.data_i.value = random.getrandbits(64)

    def length(self):
        return random.choice([0, 1, 2, self.frame_words, random.randint(0, self.frame_words)])

    def end(self, commit, desc, words):
        self.dut.commit_i.value = commit
        self.dut.rollback_i.value = not commit
        self.dut.desc_i.value = desc
        if commit:
            self.committed.append((desc, words))

    async def read(self, pause):
        """Takes frames until the writer has finished and all are there. A frame that shows was committed before.

        It decides in the middle of a cycle, from what shows in that cycle, as logic would.
        """
        dut, middle = self.dut, FallingEdge(self.dut.clk_rd_i)
        idle = 0  # Since the writer has finished.
        while idle < 100:
            await middle
            if not dut.valid_o.value:
                idle = idle + 1 if self.finished.is_set() else 0
                continue
            idle = 0
            while next(pause):
                await middle
            assert self.committed, "a frame that was not committed"
            desc, words = self.committed.pop(0)
            assert dut.desc_o.value == desc
            for word in words:
                while not dut.ready_o.value or next(pause):
                    dut.take_i.value = 0
                    await middle
                assert dut.data_o.value == word
                dut.take_i.value = 1
                # The last word may be taken together with the descriptor.
                if word is words[-1] and random.random() < 0.5:
                    break
                await middle
                dut.take_i.value = 0
            dut.done_i.value = 1
            await RisingEdge(dut.clk_rd_i)
            dut.take_i.value = 0
            dut.done_i.value = 0
        assert not self.committed, "a frame was lost"


@cocotb.test()
@cocotb.parametrize(periods=CLOCK_PAIRS, pauses=PAUSE_PAIRS)
async def committed_frames_arrive_whole_and_in_order(dut, periods, pauses):
    queue = Queue(dut)
    await queue.start(periods)
    cocotb.start_soon(queue.write(queue.frames, PAUSES[pauses[0]](), 0.7))
    await queue.read(PAUSES[pauses[1]]())


@cocotb.test()
@cocotb.parametrize(periods=CLOCK_PAIRS)
async def it_holds_what_its_size_says(dut, periods):
    """Without a reader, frames go in until the words or the descriptors are used up, and then come out."""
    queue = Queue(dut)
    await queue.start(periods)
    writer = cocotb.start_soon(queue.write(2 * dut.Frames.value.to_unsigned(), PAUSES["never"](), 1.0))
    await ClockCycles(dut.clk_wr_i, 12 * dut.Words.value.to_unsigned())
    assert not writer.done()
    held = sum(len(words) for _, words in queue.committed)
    full = held + queue.frame_words > dut.Words.value.to_unsigned()
    # One more is kept for a frame that has begun when the one before was not committed yet.
    assert full or len(queue.committed) >= dut.Frames.value.to_unsigned() - 1
    await queue.read(PAUSES["never"]())


@cocotb.test()
async def what_is_rolled_back_never_shows(dut):
    queue = Queue(dut)
    await queue.start(CLOCK_PAIRS[0])
    await queue.write(queue.frames, PAUSES["never"](), 0.0)
    await queue.read(PAUSES["never"]())


@pytest.mark.parametrize("late", [0, 3])
@pytest.mark.parametrize("words,frame_words,desc_w,frames", [(16, 16, 8, 4), (64, 9, 40, 8), (512, 184, 54, 64)])
def test_rl_frame_queue(words, frame_words, desc_w, frames, late):
    parameters = {"Words": words, "FrameWords": frame_words, "DescW": desc_w, "Frames": frames}
    bench("rl_frame_queue", common(), __name__, parameters, late=late)
