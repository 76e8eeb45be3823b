"""Arrays under masks: the same sums as integers one by one, and the same refusals."""

import numpy as np
import pytest
from attrs import evolve

from exactdp import ParameterError
from exactdp.mechanisms.samplers import SeededBits
from exactdp.protocols.aggregation.masked import MaskedSum, RefusedError, Stage, Terms
from exactdp.protocols.aggregation.masked.keys import mask, mask_array
from exactdp.protocols.aggregation.masked.messages import MaskedInput, bits_of, from_json, to_json
from exactdp.protocols.aggregation.masked.vectors import VectorServer, VectorUser, pack, unpack

USERS, LENGTH = 12, 37


def values(bits, seed=1):
    drawn = np.random.default_rng(seed).integers(0, 2**bits, (USERS, LENGTH), dtype=np.uint64)
    return dict(enumerate(drawn))


def masked(bits, **given):
    return MaskedSum(2**bits, bits=SeededBits(3), failure=1, neighbours=6, **given)


@pytest.mark.parametrize("bits", [1, 5, 8, 12, 16, 17, 24, 32, 40, 63])
def test_the_sum_is_that_of_those_present(bits):
    drawn = values(bits)
    gone = {1: Stage.KEYS, 4: Stage.INPUT, 6: Stage.UNMASKING}
    played = masked(bits, dropout=2).play_vectors(
        {user: (lambda each=each: each) for user, each in drawn.items()}, LENGTH, gone
    )
    expected = [
        sum(int(drawn[user][place]) for user in played.summed) % 2**bits for place in range(LENGTH)
    ]
    assert played.sums.tolist() == expected and played.summed == drawn.keys() - {1, 4}


def test_it_is_the_same_protocol_as_for_integers():
    """The same random bits give the same terms, keys and messages."""
    drawn = values(16)
    whole = masked(16).play({user: each.tolist() for user, each in drawn.items()})
    arrays = masked(16).play_vectors(
        {user: (lambda each=each: each) for user, each in drawn.items()}, LENGTH
    )
    assert whole.terms == arrays.terms and list(whole.sums) == arrays.sums.tolist()
    assert whole.bits == arrays.bits


@pytest.mark.parametrize("bits", [1, 7, 8, 9, 16, 20, 24, 33, 56, 64])
def test_masks_and_packing(bits):
    key = bytes(range(32))
    drawn = mask_array(key, bits, LENGTH)
    assert drawn.tolist() == list(mask(key, 2**bits, LENGTH))
    packed = pack(drawn, bits)
    assert len(packed) == -(-LENGTH * bits // 8)
    assert unpack(packed, bits, LENGTH).tolist() == drawn.tolist()


def opened(bits=16):
    """A server that waits for masked inputs, and what user 0 would send."""
    terms = Terms.drawn(2**bits, range(6), SeededBits(1), neighbours=4, threshold=3, failure=1,
                        corrupt=0, length=LENGTH)  # fmt: skip
    server = VectorServer(terms)
    drawn = values(bits)
    users = [VectorUser(n, lambda n=n: drawn[n], terms, SeededBits(n)) for n in range(6)]
    for user in users:
        server.receive(user.advertise())
    for number, message in server.keys().items():
        server.receive(users[number].share_keys(message))
    shares = server.shares()
    return server, users[0].mask(shares[0])


def test_what_is_no_vector_of_the_round_is_refused():
    server, message = opened()
    wrong = [
        evolve(message, packed=message.packed[:-1]),
        evolve(message, packed=message.packed + b"\0"),
        evolve(message, modulus=2**15),
        MaskedInput(message.round_id, 0, 2**16, (0,) * LENGTH),
    ]
    for each in wrong:
        with pytest.raises(RefusedError, match="user 0 refused"):
            server.receive(each)
    server.receive(message)
    with pytest.raises(RefusedError, match="repeated"):
        server.receive(message)


def test_the_wire_carries_them():
    server, message = opened()
    assert from_json(to_json(message)) == message
    assert bits_of(message, server.terms) == 16 * LENGTH


@pytest.mark.parametrize("modulus", [3, 2**16 - 1, 1, 2**65])
def test_moduli_that_are_no_power_of_two_of_64_bits(modulus):
    given = dict.fromkeys(range(6), lambda: np.zeros(3, dtype=np.uint64))
    with pytest.raises(ParameterError, match="modulus"):
        MaskedSum(modulus, 4, bits=SeededBits(1), failure=1).play_vectors(given, 3)


@pytest.mark.parametrize(
    "message", [np.zeros(3, dtype=np.int64), np.zeros(2, dtype=np.uint64), np.full(3, 9, np.uint64)]
)
def test_messages_out_of_range(message):
    given = dict.fromkeys(range(6), lambda: message)
    with pytest.raises(ParameterError, match="the message of user"):
        MaskedSum(8, 4, bits=SeededBits(1), failure=1).play_vectors(given, 3)
