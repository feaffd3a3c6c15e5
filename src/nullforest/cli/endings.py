"""Ends of a command: 0, 2 with one sentence on bad input, or 130 on Ctrl-C."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Container
from inspect import signature
from typing import Any

import typer

BAD_INPUT = 2
INTERRUPTED = 130  # 128 + SIGINT, as shells count
#: A setting with its value, or two values, in a message of the library.
_SETTING = re.compile(r"^([a-z_]+) = |(?<=\()([a-z_]+): ")
#: Settings that another option decides.
_DECIDED_BY = {"pool": "draw", "criterion": "task"}


def ends_cleanly(command: Callable[..., None]) -> Callable[..., None]:
    """Turn what a user can cause into an exit status and one sentence on standard error.

    Anything else is a defect of nullforest and keeps its traceback.
    """

    @functools.wraps(command)
    def run(**given: Any) -> None:
        from nullforest._util.errors import InputError, MissingExtraError

        try:
            command(**given)
        except (InputError, MissingExtraError) as error:
            complain(in_options(str(error), signature(command).parameters))
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


def in_options(message: str, known: Container[str]) -> str:
    """A message of the library with settings and methods as the command line names them.

    Examples
    --------
    >>> in_options("n_jobs = 0 must be a number of threads.", ("jobs", "seed"))
    '--jobs 0 must be a number of threads.'
    >>> in_options("different settings (pool: 30 and 8); make one with Tally.save()", ())
    'different settings (--draw: 30 and 8); make one with nullforest select --tally FILE'
    """

    def option(found: re.Match[str]) -> str:
        name = found[1] or found[2]
        if name not in known and name.removeprefix("n_") in known:
            name = name.removeprefix("n_")
        words = _DECIDED_BY.get(name, name).replace("_", "-")
        return f"--{words} " if found[1] else f"--{words}: "

    message = message.replace("give n_samples.", "give --n-samples.")
    return _SETTING.sub(option, message).replace("Tally.save()", "nullforest select --tally FILE")
