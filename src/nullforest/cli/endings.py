"""Ends of a command: 0, 2 with one sentence on bad input, or 130 on Ctrl-C."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import typer

BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells count


def ends_cleanly(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what a user can cause into an exit status and one sentence on standard error.

    Anything else is a defect of nullforest and keeps its traceback.
    """

    @functools.wraps(command)
    def run(**options: Any) -> None:
        from nullforest._util.errors import InputError, MissingExtraError

        try:
            command(**options)
        except (InputError, MissingExtraError) as error:
            from nullforest.cli.options import IN_SHELL

            sentence = getattr(error, "sentence", None)
            complain(str(error) if sentence is None else sentence.in_shell(IN_SHELL))
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            complain("There is not enough memory for this table; give fewer columns or rows.")
            raise typer.Exit(BAD_INPUT) from None
        except OSError as error:
            if error.filename is None:
                raise  # standard output, which cannot be written
            complain(f"{error.filename} cannot be used: {error.strerror}; give another name.")
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            complain("Interrupted; no file was left half-written.", "Stopped")
            raise typer.Exit(INTERRUPTED) from None

    return run


def complain(sentence: str, label: str = "Error") -> None:
    """Say what is wrong on standard error."""
    from nullforest._util.words import printable

    typer.secho(f"{label}: ", fg="red", bold=True, err=True, nl=False)
    typer.echo(printable(sentence), err=True)
