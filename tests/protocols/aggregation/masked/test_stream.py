"""The mask stream: RFC 8439's keystream, and no bias for any modulus."""

import math
from collections import Counter

import pytest
from scipy.stats import chi2

from exactdp.protocols.aggregation.masked.keys import mask

SIGNIFICANCE = 1e-6
# RFC 8439, appendix A.1, test vector 1: key, nonce and counter all zero.
KEYSTREAM = bytes.fromhex(
    "76b8e0ada0f13d90405d6ae55386bd28bdd219b8a08ded1aa836efcc8b770dc7"
    "da41597c5157488d7724e03fb8d84a376a43b8f41518a11cc387b669b2ee6586"
)


def uniform(counts, cells):
    """Is a G-test at 1e-6 content with equal chances for these cells?"""
    total = sum(counts.values())
    g = 2 * sum(n * math.log(n * cells / total) for n in counts.values())
    return g <= chi2.isf(SIGNIFICANCE, cells - 1)


def test_bytes_are_the_keystream():
    assert bytes(mask(bytes(32), 256, 64)) == KEYSTREAM
    assert mask(bytes(32), 2**64, 2) == tuple(
        int.from_bytes(KEYSTREAM[i : i + 8], "little") for i in (0, 8)
    )


def test_what_is_not_below_the_modulus_is_skipped():
    assert mask(bytes(32), 0x9F, 10) == tuple(b for b in KEYSTREAM if b < 0x9F)[:10]
    # 65537 takes 17 bits: three bytes each, the top seven bits dropped
    three = (int.from_bytes(KEYSTREAM[i : i + 3], "little") % 2**17 for i in range(0, 63, 3))
    assert mask(bytes(32), 65537, 5) == tuple(x for x in three if x < 65537)[:5]


@pytest.mark.parametrize("length", [1, 7, 64, 1000])
@pytest.mark.parametrize("modulus", [3, 255, 257, 3 * 2**40, 2**521 - 1])
def test_a_longer_mask_only_goes_on(modulus, length):
    found = mask(b"k" * 32, modulus, length)
    assert len(found) == length
    assert found == mask(b"k" * 32, modulus, 1500)[:length]
    assert all(0 <= each < modulus for each in found)


@pytest.mark.parametrize("modulus", [3, 6, 96, 192])
def test_no_bias(modulus):
    assert uniform(Counter(mask(b"u" * 32, modulus, 60_000)), modulus)


def test_no_bias_beyond_64_bits():
    modulus = 3 * 2**70
    found = Counter(each * 12 // modulus for each in mask(b"v" * 32, modulus, 30_000))
    assert uniform(found, 12)


def test_reducing_instead_would_be_seen():
    # 256 = 192 + 64: the residues below 64 would come twice as often
    reduced = Counter(each % 192 for each in mask(b"u" * 32, 256, 60_000))
    assert not uniform(reduced, 192)
