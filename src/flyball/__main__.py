"""The entry point: `--version` answers before anything heavy is imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from flyball import __version__

        sys.stdout.write(f"flyball {__version__}\n")
        return
    from flyball.cli.app import run

    run()


if __name__ == "__main__":
    main()
