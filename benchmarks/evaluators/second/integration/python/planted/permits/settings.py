"""What the environment says."""

import os
from dataclasses import dataclass


@dataclass(frozen=True)
class Settings:
    database_url: str
    token_key: str
    register_url: str
    register_timeout_s: float


def read() -> Settings:
    return Settings(
        os.environ["DATABASE_URL"],
        os.environ["TOKEN_KEY"],
        os.environ.get("REGISTER_URL", "https://register.example"),
        float(os.environ.get("REGISTER_TIMEOUT_S", "5")),
    )
