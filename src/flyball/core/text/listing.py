"""A list under a heading, as prompts have them."""

from __future__ import annotations


def listed(title: str, lines: tuple[str, ...]) -> str:
    """Nothing where there are no lines."""
    return f"## {title}\n" + "\n".join(f"- {line}" for line in lines) if lines else ""
