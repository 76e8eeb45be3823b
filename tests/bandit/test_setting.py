"""The numbers of a run: exact, refused by name, and read back from text."""

from fractions import Fraction

import pytest

from exactdp.bandit.setting import Setting
from exactdp.exact.number import ParameterError


def test_numbers_are_exact():
    setting = Setting("10", "1e6", 0.1, growth="1.5", confidence="1/3")
    assert setting.epsilon == Fraction(1, 10)
    assert setting.confidence == Fraction(1, 3)
    assert Setting(**setting.to_json()) == setting


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("arms", value) for value in (1, "2.5", 10**5, True)),
        *(("horizon", value) for value in (0, "1e13", float("nan"))),
        *(("epsilon", value) for value in (0, -1, "inf", 1001, "1e-7")),
        *(("delta", value) for value in (0, 1)),
        *(("scaling", value) for value in ("0.99", "1e7")),
        *(("confidence", value) for value in (0, 1)),
        *(("growth", value) for value in (1, "1.009", "1e7")),
    ],
)
def test_what_is_out_of_range_is_named(name, value):
    given = {"arms": 2, "horizon": 10, name: value}
    with pytest.raises(ParameterError, match=name):
        Setting(**given)
