"""Agreement and derivation against the RFCs; channels that only the other end can use."""

import pytest
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

from exactdp.mechanisms.aggregation.masked.keys import (
    Channel,
    agree,
    derive,
    new_key,
    public_half,
    secret_half,
)
from exactdp.mechanisms.samplers.bits import SeededBits, SystemBits

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


def test_both_sides_agree_and_contexts_differ():
    one, other = new_key(SystemBits()), new_key(SystemBits())
    assert agree(one, public_half(other), b"a") == agree(other, public_half(one), b"a")
    assert agree(one, public_half(other), b"a") != agree(one, public_half(other), b"b")
    assert public_half(new_key(SeededBits(1))) == public_half(new_key(SeededBits(1)))


def test_the_secret_half_makes_the_key_again():
    key = new_key(SeededBits(3))
    again = X25519PrivateKey.from_private_bytes(secret_half(key).to_bytes(32, "little"))
    assert public_half(again) == public_half(key)


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
