"""The numbers of a run: exact, refused by name, and read back from text."""

from fractions import Fraction

from exactdp.bandit.algorithms import DIST_DP_KLUCB_DOUBLING, DIST_DP_LUCB, DIST_DP_SE
from exactdp.bandit.environments.environment import Environment
from exactdp.bandit.environments.rewards import Bernoulli
from exactdp.bandit.instances import Fixed
from exactdp.bandit.plan import admissible, prepare
from exactdp.bandit.run import Config
from exactdp.bandit.setting import Setting


def test_p_is_the_algorithm_s_where_none_is_given():
    """As the command line has it: 1/T for indices, 0.01 for identification, else 0.1."""
    setting, place = Setting(3, 1000, 1), Fixed(Environment("x", (Bernoulli("0.5"),) * 3))
    usual = {DIST_DP_SE: "1/10", DIST_DP_KLUCB_DOUBLING: "1/1000", DIST_DP_LUCB: "1/100"}
    for algorithm, p in usual.items():
        config = Config(algorithm, setting, place)
        assert config.setting.confidence == Fraction(p)
        assert config.setting == Setting(3, 1000, 1, confidence=p)
        assert admissible(algorithm, config.setting)
        given = Setting(3, 1000, 1, confidence="0.1")
        assert Config(algorithm, given, place).setting.confidence == Fraction(1, 10)
    plan = prepare(DIST_DP_KLUCB_DOUBLING, setting)
    assert plan.setting.confidence == Fraction(1, 1000)
