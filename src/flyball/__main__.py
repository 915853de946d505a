"""The entry point: `--version` and hooks answer before anything heavy is imported."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line."""
    if sys.argv[1:] in (["--version"], ["-V"]):
        from flyball import __version__

        sys.stdout.write(f"flyball {__version__}\n")
        return
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        from flyball.hook import main as hook

        sys.exit(hook(sys.argv[2:]))
    from flyball.cli.app import run

    run()


if __name__ == "__main__":
    main()
