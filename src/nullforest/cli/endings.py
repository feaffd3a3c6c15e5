"""How does a command end? 0, or 2 with one sentence on bad input, or 130 on Ctrl-C."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import ParamSpec, TypeVar

import typer

P = ParamSpec("P")
R = TypeVar("R")

BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells count


def ends_cleanly(command: Callable[P, R]) -> Callable[P, R]:
    """Turn what a user can cause into an exit status and one sentence on standard error.

    Anything else is a defect of nullforest and keeps its traceback.
    """

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        from nullforest._util.errors import InputError, MissingExtraError

        try:
            return command(*args, **kwargs)
        except (InputError, MissingExtraError) as error:
            complain(str(error))
            raise typer.Exit(BAD_INPUT) from None
        except MemoryError:
            complain("There is not enough memory for this table; give fewer columns or rows.")
            raise typer.Exit(BAD_INPUT) from None
        except KeyboardInterrupt:
            complain("Interrupted; no file was left half-written.", "Stopped")
            raise typer.Exit(INTERRUPTED) from None

    return run


def complain(sentence: str, label: str = "Error") -> None:
    """Say what is wrong on standard error."""
    typer.secho(f"{label}: ", fg="red", bold=True, err=True, nl=False)
    typer.echo(sentence, err=True)
