"""Whether a signature is right, as crates/core/sign says: random ones, and those that are made to get through."""

import random

import golden_sign
import pytest
import signer
from signer import BASE, ORDER, P, Signer, add, encoded, small_points, stated, times
from verifier import RIGHT, WEAK, WRONG, Verifier, build_native, build_rv32

# Of the golden model's verdicts, in their order.
VERDICTS = (RIGHT, WEAK, WRONG)
# RFC 8032, section 7.1: keys, signatures and messages of TEST 1 and TEST SHA(abc).
RFC = [
    (
        "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
        "e5564300c360ac729086e2cc806e828a84877f1eb8e5d974d873e06522490155"
        "5fb8821590a33bacc61e39701cf9b46bd25bf5f0595bbe24655141438e7a100b",
        "",
    ),
    (
        "ec172b93ad5e563bf4932c70e1245034c35467ef2efd4d64ebf819683467e2bf",
        "dc2a4459e7369633a52b1bf277839a00201009a3efbf3ecb69bea2186c26b589"
        "09351fc9ac90b3ecfdfbc7c66431e0303dca179c138ac17ad9bef1177331a704",
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f",
    ),
]


@pytest.fixture(scope="module", params=[build_native], ids=["native"])
def native(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    return Verifier(request.param(tmp_path_factory.mktemp("verify")))


@pytest.fixture(scope="module")
def rv32(tmp_path_factory: pytest.TempPathFactory) -> Verifier:
    return Verifier(build_rv32(tmp_path_factory.mktemp("verify")))


def agree(verifier: Verifier, part: bytes, digest: bytes) -> int:
    """The verdict, which is the library's."""
    verdict = verifier.part(part, digest)
    assert verdict == VERDICTS[golden_sign.verdict(part, digest)], (part.hex(), digest.hex())
    return verdict


def one(rng: random.Random, twist: signer.Point = signer.ZERO, **wrong) -> tuple[bytes, bytes]:
    """A signature's part and the digest of what it covers."""
    digest = rng.randbytes(32)
    return Signer(rng.randrange(1, ORDER), twist).sign(digest, rng.randrange(1, ORDER), **wrong), digest


@pytest.mark.parametrize("key, signature, message", RFC)
def test_the_published_ones_are_right(native, key, signature, message):
    key, signature, message = (bytes.fromhex(text) for text in (key, signature, message))
    assert native.check(key, signature, message) == RIGHT
    assert native.check(key, signature, message + bytes(4)) == WRONG


def test_any_changed_byte_makes_it_wrong(native):
    rng = random.Random(1)
    part, digest = one(rng)
    assert agree(native, part, digest) == RIGHT
    for at in range(32, 128):
        changed = bytearray(part)
        changed[at] ^= 1 << rng.randrange(8)
        assert agree(native, bytes(changed), digest) != RIGHT, at
    for at in range(32):
        changed = bytearray(digest)
        changed[at] ^= 1 << rng.randrange(8)
        assert agree(native, part, bytes(changed)) == WRONG, at


def test_random_ones_are_judged_as_the_library_does(native):
    rng = random.Random(2)
    for _ in range(100):
        part, digest = one(rng)
        assert agree(native, part, digest) == RIGHT
        assert agree(native, part, rng.randbytes(32)) == WRONG


def test_s_has_one_form(native):
    rng = random.Random(3)
    for more in (1, 2, 7):
        assert agree(native, *one(rng, more=more)) == WRONG
    part, digest = one(rng)
    for s in (0, ORDER - 1, ORDER, ORDER + 1, 2**252, 2**253 - 1, 2**256 - 1):
        assert agree(native, part[:96] + s.to_bytes(32, "little"), digest) == WRONG


def test_who_has_a_key_of_small_order_signs_nothing(native):
    rng = random.Random(4)
    digest = rng.randbytes(32)
    for point in small_points():
        for more in (0, 1) if point[1] < 19 else (0,):
            key = encoded(point, more)
            nonce = rng.randrange(ORDER)
            # Right without the check of the key, wherever the challenge is a multiple of its order.
            for r in (encoded(times(BASE, nonce)), encoded(point, more), encoded(signer.ZERO)):
                part = stated(key) + r + nonce.to_bytes(32, "little")
                assert agree(native, part, digest) == WEAK
            # The sign of an x that is 0 says nothing.
            flipped = bytes([*key[:31], key[31] ^ 0x80])
            assert agree(native, stated(flipped) + encoded(BASE) + bytes(32), digest) == WEAK


def test_r_of_small_order_is_refused_and_the_equation_holds_without_the_cofactor(native):
    rng = random.Random(5)
    for point in small_points():
        digest = rng.randbytes(32)
        # S is right for an R that is such a point alone, and with one beside the right R or the right key.
        assert agree(native, Signer(rng.randrange(1, ORDER)).sign(digest, 0, point), digest) == WRONG
        expected = RIGHT if point == signer.ZERO else WRONG
        assert agree(native, *one(rng, **{"twist": point})) in (RIGHT, WRONG)
        part = Signer(rng.randrange(1, ORDER)).sign(digest, rng.randrange(1, ORDER), point)
        assert agree(native, part, digest) == expected


def test_bytes_that_are_no_point_are_refused_and_those_of_a_point_have_more_forms(native):
    rng = random.Random(6)
    part, digest = one(rng)
    for y in [*range(20), *range(P - 20, 2**255)]:
        for sign in (0, 1):
            point = (y | sign << 255).to_bytes(32, "little")
            agree(native, stated(point) + part[64:], digest)
            agree(native, part[:64] + point + part[96:], digest)


def test_the_highest_and_lowest_numbers_are_multiplied(native):
    digest = bytes(32)
    for secret in (1, 2, 8, ORDER - 1, 2**252, 2**128 - 1):
        for nonce in (1, ORDER - 1, 2**251):
            assert agree(native, Signer(secret).sign(digest, nonce), digest) == RIGHT
    assert add(BASE, signer.ZERO) == BASE


def test_the_processor_comes_to_the_same_in_the_time_that_the_documents_say(rv32):
    rng = random.Random(7)
    part, digest = one(rng)
    before = rv32.cycles()
    assert agree(rv32, part, digest) == RIGHT
    assert 30e6 < rv32.cycles() - before < 37e6
    assert agree(rv32, part, rng.randbytes(32)) == WRONG
    assert agree(rv32, *one(rng, more=1)) == WRONG
    key, signature, message = (bytes.fromhex(text) for text in RFC[1])
    assert rv32.check(key, signature, message) == RIGHT
