"""What can be done from the shell? One small module per command, imported when it runs."""

from __future__ import annotations

import sys


def main() -> None:
    """Run the command line; the entry point of `nullforest` and `python -m nullforest`."""
    try:
        from nullforest.cli.app import app

        app(prog_name="nullforest")
    except KeyboardInterrupt:  # before a command has begun, or after it has ended
        sys.exit(130)
