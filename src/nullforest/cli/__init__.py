"""The command line: one small module per command, imported when it runs."""

from __future__ import annotations

import io
import os
import signal
import sys


def main() -> None:
    """Run the command line; the entry point of `nullforest` and `python -m nullforest`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            # A terminal that cannot show a name shows its code; it must not end the run.
            stream.reconfigure(errors="backslashreplace")
    # By default SIGTERM ends a process at once and leaves its unfinished files.
    signal.signal(signal.SIGTERM, lambda number, _: sys.exit(128 + number))
    status: object = 0
    try:
        from nullforest.cli.app import app

        app(prog_name="nullforest")
    except SystemExit as ending:
        status = ending.code
    except KeyboardInterrupt:  # before a command has begun, or after it has ended
        status = 130
    except OSError as error:  # standard output is full, or gone
        status = 2
        print(f"Error: The output could not be written: {error.strerror}.", file=sys.stderr)
    try:
        sys.stdout.flush()
    except OSError:
        # What is left in the buffer cannot be written when Python ends either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        status = status or 2
    sys.exit(status)  # type: ignore[arg-type]  # a code of SystemExit
