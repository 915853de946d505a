"""What flyball needs for its optional parts, and the command that brings it into the environment it runs in."""

import shlex

PACKAGES = {
    "acp": ("agent-client-protocol>=0.12",),
    "evaluators": (
        *("ast-grep-py>=0.51", "grimp>=3.19", "jscpd>=5.4", "kingfisher-bin>=2.14"),
        *("mypy>=2.4", "oxlint>=1.89", "ruff>=0.17", "squawk-cli>=2.70", "typos>=1.51"),
    ),
    "mcp": ("mcp>=2.3",),
    "notify": ("apprise>=1.9",),
    "prices": ("genai-prices>=0.2",),
    "telemetry": ("opentelemetry-sdk>=1.39", "opentelemetry-exporter-otlp-proto-http>=1.39"),
    "ui": ("axe-playwright-python>=0.1.8", "playwright>=1.65"),
}
"""Each extra of pyproject.toml by the packages it stands for: they can be installed wherever flyball came from."""


def install_command(extra: str, python: str) -> str:
    """A command line that installs an extra's packages for the Python that runs flyball."""
    return f"{shlex.quote(python)} -m pip install {shlex.join(PACKAGES[extra])}"
