"""The encoding: rounding errors by their moment generating function, the modulus by counting."""

import math

from exactdp.verify.claims.encoding import CLAIMS, decoded
from exactdp.verify.claims.finding import Scope, Truth


def test_the_rounding_error_is_sub_gaussian_with_variance_a_quarter():
    for i in range(1, 100):
        f = i / 100
        for x in (-5, -1, -0.01, 0.01, 1, 5):
            assert math.log(1 - f + f * math.exp(x)) - f * x <= x * x / 8 + 1e-15
    x = 1e-2  # and with no less
    assert 2 * math.log(math.cosh(x / 2)) / x**2 > 0.2499


def test_every_sum_is_decoded_and_a_smaller_modulus_confuses_two():
    for encoded in (1, 2, 9):
        for accuracy in (1, 4):
            modulus = encoded + 2 * accuracy + 1
            sums = range(-accuracy, encoded + accuracy + 1)
            assert [decoded(x % modulus, encoded, accuracy, modulus) for x in sums] == list(sums)
            assert len({x % (modulus - 1) for x in sums}) < len(sums)


def test_the_findings():
    for claim in CLAIMS:
        finding = claim.check()
        assert (finding.truth, finding.scope) == (Truth.HOLDS, Scope.PROVED)
