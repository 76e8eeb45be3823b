"""Which arm is best, with an error that is proved: best-arm identification at fixed confidence.

    from exactdp.bandit.environments.instance import instance
    from exactdp.bandit.algorithms import DIST_DP_LUCB
    from exactdp.bandit.identification.identify import identify
    from exactdp.bandit.instances import Fixed
    from exactdp.bandit.run import Config
    from exactdp.bandit.setting import Setting

    setting = Setting(3, "1e7", "0.5", confidence="0.01", growth="1.5")
    config = Config(DIST_DP_LUCB, setting, Fixed(instance("coins:0.9,0.5,0.3")))
    found = identify(config, runs=100, seed=0)
    found.chosen, found.wrong, found.undecided, found.time(), found.ratio()

The horizon of the setting is where a run gives up.
"""
