import pytest

from exactdp import ParameterError
from exactdp.bandit.radius.plan import ContinuousLaplace, Decoding, Plan


def plan(**changed):
    told = {
        "arms": 3,
        "horizon": 100,
        "confidence": "0.1",
        "batches": (2, 4, 8),
        "noises": (None,) * 3,
        "precisions": (1, 1, 2),
    }
    return Plan(**(told | changed))


def test_the_horizon_limits_how_many_arms_complete_a_batch():
    # 3 arms need 3 (2 + 4 + 8) = 42 users
    for horizon, expected in ((42, 3), (41, 2), (28, 2), (27, 1), (13, 0)):
        assert plan(horizon=horizon).most_active(3) == expected
    assert plan(horizon=24, cumulative=True).most_active(3) == 3
    assert plan(horizon=23, cumulative=True).most_active(3) == 2


@pytest.mark.parametrize(
    ("changed", "named"),
    [
        ({"arms": 1}, "arms"),
        ({"confidence": 0}, "confidence"),
        ({"confidence": 1}, "confidence"),
        ({"batches": (2, 0, 8)}, "batches"),
        ({"noises": (None,)}, "noises"),
        ({"precisions": (1, 1)}, "precisions"),
        ({"decodings": (None,)}, "decodings"),
        ({"batches": (2, 2, 2), "cumulative": True}, "batches"),
    ],
)
def test_bad_plans_are_refused_by_name(changed, named):
    with pytest.raises(ParameterError, match=named):
        plan(**changed)


def test_bad_noise_and_decoding_are_refused():
    with pytest.raises(ParameterError, match="scale"):
        ContinuousLaplace(0)
    with pytest.raises(ParameterError, match="modulus"):
        Decoding(5, 5)
