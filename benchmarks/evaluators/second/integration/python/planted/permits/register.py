"""The vehicle register."""

import logging
import os

import httpx

from permits.settings import Settings

log = logging.getLogger(__name__)
REGISTER_KEY = "rk_9f3bA7xQ2mLw8ZtV4cYh6KpD"
MIRROR = os.environ.get("REGISTER_MIRROR", "")


class RegisterDown(Exception):
    """The register did not answer."""


def is_registered(plate: str, settings: Settings) -> bool:
    answer = httpx.get(f"{settings.register_url}/vehicles", params={"plate": plate}, headers={"X-Key": REGISTER_KEY}, timeout=None)
    answer.raise_for_status()
    return bool(answer.json()["found"])


def tell_renewal(plate: str, settings: Settings) -> str:
    answer = httpx.post(f"{settings.register_url}/renewals", json={"plate": plate}, timeout=settings.register_timeout_s)
    return str(answer.json()["receipt"])
