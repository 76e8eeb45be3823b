from exactdp.bandit.radius.plan import RadiusPlan


def plan(**changed):
    told = {
        "arms": 3,
        "horizon": 100,
        "confidence": "0.1",
        "batches": (2, 4, 8),
        "noises": (None,) * 3,
        "precisions": (1, 1, 2),
    }
    return RadiusPlan(**(told | changed))


def test_the_horizon_limits_how_many_arms_complete_a_batch():
    # 3 arms need 3 (2 + 4 + 8) = 42 users
    for horizon, expected in ((42, 3), (41, 2), (28, 2), (27, 1), (13, 0)):
        assert plan(horizon=horizon).most_active(3) == expected
    assert plan(horizon=24, cumulative=True).most_active(3) == 3
    assert plan(horizon=23, cumulative=True).most_active(3) == 2
