"""What can be done from the shell? One small module per command, imported when it runs."""

from __future__ import annotations

import io
import sys


def main() -> None:
    """Run the command line; the entry point of `nullforest` and `python -m nullforest`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a name shows its code; it must not end the run.
            stream.reconfigure(errors="backslashreplace")
    try:
        from nullforest.cli.app import app

        app(prog_name="nullforest")
    except KeyboardInterrupt:  # before a command has begun, or after it has ended
        sys.exit(130)
