"""Fills the templates; every text that is not our own markup is escaped, and its control characters are shown."""

import functools
import hashlib
from datetime import UTC, datetime
from importlib import resources
from typing import Any

import jinja2
import msgspec
from markupsafe import Markup, escape

from flyball.core.text.quantities import plural
from flyball.markup.highlight import code
from flyball.projections.history.spend import Spend
from flyball.projections.plots.failing import spark
from flyball.projections.plots.failing_story import failing_story
from flyball.projections.plots.governor import governor
from flyball.projections.wording import age, cut, dollars, duration, money, short_time, split_command, stamp, visible

PACKAGE = "flyball.markup"


class Crumb(msgspec.Struct, frozen=True):
    name: str
    href: str = ""


def render(template: str, **values: Any) -> str:
    return _environment().get_template(template).render(**values)


def asset(name: str) -> bytes:
    return resources.files(PACKAGE).joinpath("assets", name).read_bytes()


@functools.cache
def assets_version() -> str:
    """Changes when the style sheet or the script does, so that no browser keeps an old one."""
    return hashlib.sha256(asset("style.css") + asset("page.js")).hexdigest()[:10]


@functools.cache
def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.PackageLoader(PACKAGE),
        autoescape=True,
        finalize=lambda value: visible(value) if type(value) is str else value,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters.update(
        amount=_amount,
        code=code,
        countdown=_countdown,
        cut=cut,
        date=lambda at: f"{at.astimezone(UTC):%d %b %Y, %H:%M} UTC",
        dollars=dollars,
        duration=duration,
        split_command=split_command,
        governor=lambda angle, size=30: Markup(governor(angle, size)),  # noqa: S704 - our own picture
        hm=lambda at: f"{at.astimezone(UTC):%H:%M}",
        hms=lambda at: f"{at.astimezone(UTC):%H:%M:%S}",
        iso=lambda at: f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}",
        plural=plural,
        short_time=short_time,
        since=lambda at, now: _since((now - at).total_seconds()),
        slug=lambda key: key.replace("/", "-"),
        spark=lambda marks, label: Markup(spark(marks, label=label)),  # noqa: S704 - our own picture
        stamp=stamp,
        story=failing_story,
        tail=lambda text, limit: text if len(text) <= limit else f"…{text[1 - limit :]}",
        typed=escape,
        thousands=lambda number: "–" if number is None else f"{number:,}",
    )
    return made


def _amount(spend: Spend) -> str:
    return money(spend.usd, spend.known_usd, estimated=spend.estimated).replace(" USD", "") if spend.turns else "–"


def _countdown(until: datetime, now: datetime) -> str:
    """`40:53` within the hour, `11 h 2 min` before."""
    seconds = max(0, round((until - now).total_seconds()))
    return f"{seconds // 60}:{seconds % 60:02d}" if seconds < 3600 else duration(seconds)


def _since(seconds: float) -> str:
    if seconds >= 86_400:
        return plural(int(seconds // 86_400), "day")
    return duration(seconds) if seconds >= 3600 else age(seconds)
