"""Agreement and derivation against the RFCs; channels that only the other end can use."""

from fractions import Fraction

import pytest
from attrs import evolve, fields
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from exactdp.mechanisms.samplers.bits import SeededBits
from exactdp.protocols.aggregation.masked import Terms, keys
from exactdp.protocols.aggregation.masked.keys import Channel, agree, derive, new_key

KEY = b"k" * 32


def test_derive_is_hkdf():
    # RFC 5869, appendix A.3: no salt, no info; the first 32 of its 42 bytes
    expected = "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"
    assert derive(b"\x0b" * 22, b"").hex() == expected


def test_agree_is_x25519_and_then_hkdf():
    # RFC 7748, section 5.2, first vector
    scalar = "a546e36bf0527c9d3b16154b82465edd62144c0ac1fc5a18506a2244ba449ac4"
    point = "e6db6867583030db3594c1a424b15f7c726624ec26b3353b10a903a6d0ab1c4c"
    product = "c3da55379de9c6908e94ea4df28d084f32eccf03491c71f754b4075577a28552"
    own = X25519PrivateKey.from_private_bytes(bytes.fromhex(scalar))
    assert agree(own, bytes.fromhex(point), b"x") == derive(bytes.fromhex(product), b"x")


@pytest.mark.parametrize("small", [bytes(32), (1).to_bytes(32, "little")])
def test_points_of_small_order_are_refused(small):
    with pytest.raises(ValueError):
        agree(new_key(SeededBits(1)), small, b"")


def test_only_the_other_end_opens_what_was_sealed():
    one, other = Channel(KEY, 3, 8), Channel(KEY, 8, 3)
    assert other.open(one.seal(b"shares")) == b"shares"
    assert one.open(one.seal(b"shares")) is None  # sent back to its sender
    assert Channel(KEY, 8, 4).open(one.seal(b"shares")) is None
    assert Channel(b"K" * 32, 8, 3).open(one.seal(b"shares")) is None
    assert one.seal(b"shares") != other.seal(b"shares")


@pytest.mark.parametrize("place", [0, 5, -1])
def test_a_changed_byte_is_seen(place):
    sealed = bytearray(Channel(KEY, 3, 8).seal(b"shares"))
    sealed[place] ^= 1
    assert Channel(KEY, 8, 3).open(bytes(sealed)) is None


def test_tags_confirm_one_list_of_the_other_end():
    one, other = Channel(KEY, 3, 8), Channel(KEY, 8, 3)
    assert other.confirms(one.confirm(b"list"), b"list")
    assert not other.confirms(one.confirm(b"list"), b"lost")
    assert not one.confirms(one.confirm(b"list"), b"list")
    assert not other.confirms(one.seal(b""), b"shares")


def test_no_nonce_serves_twice(monkeypatch):
    used = []

    class Recorder:
        def __init__(self, key):
            self.key = key

        def encrypt(self, nonce, content, data):
            used.append((self.key, nonce))
            return content

    monkeypatch.setattr(keys, "ChaCha20Poly1305", Recorder)
    for own, other in ((3, 5), (5, 3)):
        channel = keys.Channel(bytes(32), own, other)
        channel.seal(b"shares")
        channel.confirm(b"digest")
    assert len(set(used)) == len(used) == 4


@pytest.mark.parametrize("change", [field.name for field in fields(Terms)])
def test_keys_are_bound_to_every_term(change):
    shape = {"neighbours": 6, "threshold": 5, "corrupt": 0, "failure": 1}
    terms = Terms.drawn(101, range(8), SeededBits(1), **shape)
    other = {"modulus": 102, "round_id": bytes(16), "threshold": 6, "beacon": bytes(32)}
    other |= {"length": 2, "users": (*range(7), 9), "neighbours": 7, "dropout": 1, "corrupt": 1}
    other |= {"failure": Fraction(1, 10)}
    changed = evolve(terms, **{change: other[change]})
    assert changed != terms
    for purpose in (b"seal", b"pair", b"self"):
        assert terms.context(purpose, 1, 2) != changed.context(purpose, 1, 2)
    contexts = {terms.context(p, *ends) for p in (b"seal", b"pair") for ends in ((1, 2), (1, 3))}
    assert len(contexts) == 4 and terms.context(b"pair", 2, 1) in contexts
