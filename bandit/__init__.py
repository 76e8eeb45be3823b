"""What it is for: private multi-armed bandits on mechanisms that are verified first.

    from exactdp.bandit.algorithms import DIST_DP_SE
    from exactdp.bandit.instances import easy
    from exactdp.bandit.run import Config, run
    from exactdp.bandit.setting import Setting

    config = Config(DIST_DP_SE, Setting(arms=10, horizon="1e5", epsilon="0.5"), easy())
    results = run(config, runs=20, seed=0, workers=2)
    results.total_regret(), results.time_average(), results.eliminated

`prepare` proves every batch of an algorithm before anything runs, `play` runs them, decided by a
`Policy`, `privacy` says what users spend, `transcript` keeps every release, and `transcript_check`
verifies them again, by the same policy. docs/policies.md: a policy of one's own.
"""

from .policy import Decision, Policy, ReleasedSums, State

__all__ = ["Decision", "Policy", "ReleasedSums", "State"]
