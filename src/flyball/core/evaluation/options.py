"""What a project says of its evaluation."""

import msgspec


class EvaluatorOptions(msgspec.Struct, frozen=True, omit_defaults=True):
    build: str = ""
    start: str = ""
    url: str = ""
    pages: tuple[str, ...] = ("/",)
    business: tuple[str, ...] = ()
    api: tuple[str, ...] = ()
    safe_calls: tuple[str, ...] = ()
    timeout_s: float = 900.0
    start_timeout_s: float = 60.0
