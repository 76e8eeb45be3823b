"""Linear contextual bandits, in batches whose noisy sums are vectors, with a radius that is proved.

    from exactdp.bandit.linear.contexts import linear_environment
    from exactdp.bandit.linear.run import linear_ready, run_linear
    from exactdp.bandit.linear.setting import LinearSetting

    place = linear_environment("unit:dimension=5,arms=20")
    ready = linear_ready(LinearSetting(place.dimension, "1e5", epsilon=1))
    found = run_linear(place, ready, runs=10, seed=0)
    found.total_regret(), found.plain_regret(), ready.release.certificate.check().valid

`release` says what is private, `radius` what is proved.
"""
