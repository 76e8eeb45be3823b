"""Settings for all tests: one hypothesis profile, the same examples on every machine."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "exactdp",
    deadline=None,
    derandomize=True,
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("exactdp")
