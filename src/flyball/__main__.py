"""The entry point: `--version` and hooks answer before anything heavy is imported."""

import os
import sys


def main() -> None:
    """Run the command line; whoever breaks it off before it has begun anything reads no traceback."""
    try:
        _main()
    except KeyboardInterrupt:
        sys.exit(130)


def _main() -> None:
    # Services may start with closed streams: no file opened later may take their numbers, there is nothing to read, and what is said is lost.
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
    sys.stdin = sys.stdin or os.fdopen(0, encoding="utf-8", closefd=False)
    sys.stderr = sys.stderr or os.fdopen(2, "w", encoding="utf-8", closefd=False)
    if sys.argv[1:] in (["--version"], ["-V"]):
        from flyball import __version__

        if sys.stdout is not None:
            sys.stdout.write(f"flyball {__version__}\n")
        return
    if sys.argv[1:2] == ["hook"] and not {"-h", "--help"} & set(sys.argv):
        import gc

        # An agent waits, and so short a life needs neither collections of garbage nor the interpreter's own farewell.
        gc.disable()
        from flyball.hook import main as hook

        os._exit(hook(sys.argv[2:]))
    from flyball.cli.app import run

    run()


if __name__ == "__main__":
    main()
