"""Which images a card with signers runs: cases of crates/check/conformance/tests/model/signed.rs, and of the firmware."""

import golden_sign
import pytest
from headers import W
from images import edited, image, part
from signers import MANIFEST, ROLES, Known, Signed, SignedBench, SignedBoard, secret, signed, unsigned
from wire import number

SHORT = golden_sign.signer(secret(3))[:8].hex()


@pytest.fixture
def bench(keys_library):
    return SignedBench(keys_library)


def laid_out(data: bytes, at: int, value: bytes) -> bytes:
    """The image with other bytes in its signature's part, which is the last one; head and digests fit."""
    return edited(data, len(data) - 128 + at, value)


def cases() -> list[tuple[bytes, str]]:
    right = signed(version=6)
    malformed = "its signature is malformed: "
    return [
        (unsigned(), "signed by nobody"),
        (signed(3, 6), f"signed by {SHORT}, whom nobody knows here"),
        (signed(2, 6), "signed by other, who may not sign for it"),
        (signed(1, 4), "version 4 is older than 5"),
        (edited(right, len(right) - 1, bytes([right[-1] ^ 1])), "its signature is not of this image"),
        (edited(right, right.index(b"\x6e\x61me"), b"nbme"), "its signature is not of this image"),
        (laid_out(right, 0, b"X"), malformed + "it is of no form known here"),
        (laid_out(right, 9, b"\2"), malformed + "it is of no form known here"),
        (laid_out(right, 15, b"\1"), malformed + "a reserved byte is not zero"),
        (laid_out(right, 24, b"\1"), malformed + "a reserved byte is not zero"),
        (laid_out(right, 16, bytes(8)), malformed + "version 0"),
        (laid_out(right, 23, b"\7"), "its signature is not of this image"),
    ]


def test_a_card_with_signers_runs_what_they_signed_and_refuses_all_else_before_its_port(bench):
    bench.run(1, signed(version=5))
    for seq, (data, says) in enumerate(cases(), 10):
        bench.refuses(seq, data, says)
    bench.run(30, signed(version=6))
    bench.refuses(31, signed(version=5), "version 5 is older than 6")
    bench.run(32, signed(version=6))
    assert bench.board.versions() == {(0, "test"): 6}


def test_the_parts_of_a_signature_are_where_they_belong(bench):
    swapped = edited(signed(parts=1), 64 + 64, b"signature".ljust(16, b"\0"))
    bench.refuses(1, edited(swapped, 64 + 128, b"p0".ljust(16, b"\0")), "another part follows its signature")
    short = image({"rtl": part(), "signature": signed()[-127:]}, MANIFEST)
    bench.refuses(2, short, "its signature is malformed: it has not 128 bytes")


@pytest.mark.parametrize(
    "filler, parts",
    [(0, 0), (600, 1), (900, 1), (1500, 1), (1700, 1), (1, 14), (3000, 2), (63_000, 1), (64_500, 2), (131_000, 1)],
)
def test_what_is_covered_is_found_at_any_length(bench, filler, parts):
    data = signed(filler=filler, parts=parts)
    bench.run(1, data)
    # The last byte of the part before the signature.
    entry = 64 + 64 * parts
    at = number(data[entry + 16 : entry + 24]) + number(data[entry + 24 : entry + 32]) - 1
    bench.refuses(2, edited(data, at, bytes([data[at] ^ 1])), "its signature is not of this image")


def test_versions_are_of_a_signer_and_a_role(keys_library):
    bench = SignedBench(keys_library, Signed(signers=(Known(1, "lab"), Known(2, "other"))))
    other = MANIFEST.replace(b'"test"', b'"test_2"')
    bench.run(1, signed(version=5))
    bench.run(2, signed(2, version=3))
    bench.run(3, signed(version=1, manifest=other))
    bench.refuses(4, signed(version=4), "version 4 is older than 5")
    bench.refuses(5, signed(2, version=2), "version 2 is older than 3")
    top = 2**64 - 1
    bench.run(6, signed(version=top, manifest=other))
    bench.refuses(7, signed(version=top - 1, manifest=other), f"version {top - 1} is older than {top}")
    assert bench.board.versions() == {(0, "test"): 5, (1, "test"): 3, (0, "test_2"): top}


def test_the_board_keeps_versions_over_a_restart(keys_library, bench):
    bench.run(1, signed(version=5))
    again = SignedBench(keys_library, Signed(kept=bench.board.kept()))
    again.refuses(1, signed(version=4), "version 4 is older than 5")
    again.run(2, signed(version=5))
    assert again.board.writes == [], "nothing is newer"


@pytest.mark.parametrize("before, after", [(None, 5), (5, 6), (2**32 - 1, 2**32), (2**32, 2**33 + 7)])
def test_power_that_fails_between_two_words_leaves_the_old_version_or_the_new_one(keys_library, before, after):
    bench = SignedBench(keys_library)
    if before:
        bench.run(1, signed(version=before))
    old, first = bench.board.kept(), len(bench.board.writes)
    bench.run(2, signed(version=after))
    new, writes = bench.board.kept(), bench.board.writes[first:]
    assert len(writes) == (3 if before else 12) and len(set(writes)) == len(writes)
    known = [{(0, "test"): before} if before else {}, {(0, "test"): after}]
    for cut in range(len(writes) + 1):
        again = SignedBoard(keys_library, Signed(kept=old | {at: new[at] for at in writes[:cut]}))
        assert again.versions() == known[cut == len(writes)]
    # What was written before the last cut is in nobody's way.
    again = SignedBench(keys_library, Signed(kept=old | {at: new[at] for at in writes[:-1]}))
    if before:
        again.run(1, signed(version=before))
    again.run(2, signed(version=after))
    assert again.board.versions() == known[1]
    again.refuses(3, signed(version=after - 1), f"version {after - 1} is older than {after}")


def test_nothing_counts_as_running_before_the_board_has_kept_it(bench):
    bench.board.keeps_after = 50
    bench.run(1, signed(version=5))
    bench.run(2, signed(version=6))
    assert bench.board.keeping == 0 and bench.board.versions() == {(0, "test"): 6}


def test_a_version_that_the_board_does_not_keep_does_not_run(bench):
    def fails(seq: int, says: str) -> None:
        bench.commit(seq)
        bench.board.run_for(1000)
        (failed,) = bench.take(W.KIND_IMAGE_CONFIRM_FAILED)
        assert failed.frame.payload[8:].rstrip(b"\0").decode() == says
        assert number(failed.frame.payload[:2]) == W.ERROR_CODE_IMAGE_SIGNATURE
        assert not bench.take(W.KIND_IMAGE_CONFIRM_ACTIVE)

    bench.run(1, signed(version=5))
    assert bench.stage(2, signed(version=6)) is None
    bench.board.fails_next = True
    fails(1002, "the board does not keep its version")
    # Now the table has the version, and nothing else has.
    bench.board.fails = False
    assert bench.stage(3, signed(version=6)) is None
    bench.board.fails = True
    fails(1003, "the board does not keep its version")
    bench.refuses(4, signed(version=7), "the board keeps no versions any more")


def test_a_staged_image_that_is_never_committed_makes_nothing_old(bench):
    bench.run(1, signed(version=5))
    assert bench.stage(2, signed(version=9)) is None
    bench.abort(3)
    bench.run(4, signed(version=5))


def test_a_card_remembers_as_many_roles_as_it_can(keys_library):
    def role(n: int) -> bytes:
        return MANIFEST.replace(b'"test"', b'"r%d"' % n)

    def kept(signers: list[int]) -> dict[int, int]:
        words = {}
        for n, signer in enumerate(signers):
            name = b"r%d" % n
            at = ROLES + 16 * n
            words |= {at + i: 0 for i in range(16)}
            words |= {at: signer + 1, at + 2: 7, at + 3: int.from_bytes(name.ljust(4, b"\0"), "big"), at + 15: 1}
        return words

    both = (Known(1, "lab"), Known(2, "other"))
    bench = SignedBench(keys_library, Signed(signers=both, kept=kept([0] * 64)))
    bench.refuses(1, signed(manifest=role(64)), "it has run 64 roles of this signer, and keeps no more")
    bench.refuses(2, signed(manifest=role(63)), "version 5 is older than 7")
    bench.run(3, signed(version=8, manifest=role(63)))
    bench.run(4, signed(2, manifest=role(64)))
    bench = SignedBench(keys_library, Signed(signers=both, kept=kept([0] * 50 + [1] * 46)))
    bench.refuses(1, signed(manifest=role(96)), "it has run 96 roles, and keeps no more")


def test_a_load_that_is_over_meanwhile_is_not_judged_any_more(bench):
    bench.run(1, signed(version=5))
    with bench.halfway(2, signed(version=6)):
        bench.abort(3)
    bench.board.run_for(1000)
    assert not bench.take(W.KIND_IMAGE_CONFIRM_STAGED) and not bench.take(W.KIND_IMAGE_CONFIRM_FAILED)
    bench.run(4, signed(version=5))


def test_another_load_may_begin_meanwhile(bench):
    with bench.halfway(1, signed(version=6)):
        pass
    with bench.halfway(2, signed(version=7, filler=3000, parts=1)):
        pass
    bench.run(3, signed(version=5))
    assert bench.board.versions() == {(0, "test"): 5}


def test_a_card_serves_while_it_checks(bench):
    with bench.halfway(1, signed()):
        bench.in_session(W.KIND_SESSION_PING, seq=9)
        assert bench.await_one(W.KIND_SESSION_PONG), "it answers before it knows"
        bench.in_session(W.KIND_IMAGE_POLL, bytes(8), 5, **bench.to_group())
        missing = bench.await_one(W.KIND_IMAGE_CONFIRM_MISSING)
        assert bench.ranges(missing) == (0, []), "it lacks nothing"
        assert not bench.take(W.KIND_IMAGE_CONFIRM_STAGED)
    bench.board.run_for(1000)
    assert bench.take(W.KIND_IMAGE_CONFIRM_STAGED)


def test_the_roles_name_is_the_one_of_the_outermost_object(bench):
    for seq, (manifest, name) in enumerate(
        [
            (MANIFEST, "test"),
            (b'{"kernels": [{"name": "g", "args": []}], "version": "name", "name" :\n"inner"}', "inner"),
            (b'{"version": "\\"name\\": {", "name": "a_2", "kernels": [{"name": "g", "args": []}]}', "a_2"),
            (b'{"version":"1","description":"' + b"d" * 1000 + b'","name":"' + b"n" * 32
             + b'","kernels":[{"name":"g","args":[]}]}', "n" * 32),
        ],
        1,
    ):
        bench.run(seq, signed(version=seq, manifest=manifest))
        assert bench.board.versions()[0, name] == seq


def test_a_card_without_signers_passes_over_signatures(keys_library):
    bench = SignedBench(keys_library, Signed(signers=()))
    bench.run(1, signed(3, version=5))
    bench.run(2, signed(3, version=4))
    bench.run(3, unsigned())
    assert bench.board.versions() == {}


def test_frames_go_first_and_do_not_keep_a_check_from_its_end(bench):
    def turns(seq: int, *, is_flooded: bool) -> int:
        with bench.halfway(seq, signed(version=5 + seq)):
            for count in range(10_000):
                # As many as are taken at most, and one that waits.
                while is_flooded and len(bench.board.control) < 16:
                    bench.in_session(W.KIND_SESSION_PING, seq=9)
                bench.turns(1)
                if bench.take(W.KIND_IMAGE_CONFIRM_STAGED):
                    return count
        raise AssertionError("it has no end")

    alone, flooded = turns(1, is_flooded=False), turns(2, is_flooded=True)
    assert 1.5 * alone < flooded < 9 * alone
