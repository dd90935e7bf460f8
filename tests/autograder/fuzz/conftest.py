"""How many inputs are tried: a few and always the same ones, or with `--hypothesis-profile nightly` very many."""

from hypothesis import HealthCheck, Phase, settings

NIGHTLY = 100_000  # of each property

quick = {"deadline": None, "database": None, "suppress_health_check": list(HealthCheck)}
settings.register_profile("quick", max_examples=int(__import__("os").environ.get("N", 60)), derandomize=True, **quick)
settings.register_profile(
    "nightly", max_examples=NIGHTLY, phases=(Phase.generate, Phase.shrink), print_blob=True, **quick
)
settings.load_profile("quick")
