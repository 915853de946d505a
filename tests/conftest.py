"""Settings for every test."""

from hypothesis import HealthCheck, settings

# How long an example takes says something of the machine's load, and nothing of what is tested.
settings.register_profile("flyball", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("flyball")
