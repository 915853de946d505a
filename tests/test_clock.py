"""Time and identifiers of the real world."""

from datetime import timedelta

from flyball.clock import SystemClock, system_clock


def test_now_is_an_aware_utc_time() -> None:
    assert system_clock.now().utcoffset() == timedelta(0)


def test_monotonic_time_does_not_go_back() -> None:
    clock = SystemClock()
    readings = [clock.monotonic() for _ in range(1000)]
    assert readings == sorted(readings)


def test_every_nonce_is_new_and_holds_at_least_16_bytes() -> None:
    nonces = {system_clock.nonce() for _ in range(1000)}
    assert len(nonces) == 1000
    assert all(len(bytes.fromhex(nonce)) >= 16 for nonce in nonces)
