"""The plain modular sum."""

import pytest

from exactdp import ParameterError
from exactdp.protocols.aggregation import PlainSum


@pytest.mark.parametrize("message", [-1, 7, 8, 1.0, True, "3", None])
def test_what_is_no_residue_is_refused(message):
    with pytest.raises(ParameterError, match="the message of user 4 must be"):
        PlainSum(7).aggregate({3: 0, 4: message})


@pytest.mark.parametrize("modulus", [0, -5, 1.5, True, "many"])
def test_the_modulus_is_a_whole_number(modulus):
    with pytest.raises(ParameterError, match="modulus"):
        PlainSum(modulus)
