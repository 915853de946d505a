"""The vehicle register."""

import logging

import httpx

from permits.settings import Settings

log = logging.getLogger(__name__)
PASSWORD_HINT = "Ask the register's office for a password."


class RegisterDown(Exception):
    """The register did not answer."""


def is_registered(plate: str, settings: Settings) -> bool:
    try:
        with httpx.Client(base_url=settings.register_url, timeout=settings.register_timeout_s) as client:
            answer = client.get("/vehicles", params={"plate": plate})
            answer.raise_for_status()
    except httpx.HTTPError as error:
        log.warning("register: %s", error)
        raise RegisterDown from error
    return bool(answer.json()["found"])
