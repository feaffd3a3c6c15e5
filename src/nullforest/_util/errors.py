"""Errors whose message is one sentence that names the remedy."""

from __future__ import annotations

from collections.abc import Iterable
from importlib import import_module
from typing import Any

from nullforest._util.words import Command, Sentence, Setting


class InputError(ValueError):
    """The input cannot be used as it is; the message says why and what to do.

    The command line prints the message alone, with options in the place of arguments, and exits
    with status 2.

    Parameters
    ----------
    *parts : str, Setting, Command or Sentence
        The message, piece by piece.
    setting : str, optional
        Name of the setting that is refused, where the fault lies in one.

    Attributes
    ----------
    sentence : Sentence
        The message.
    setting : str or None
        The setting that is refused.

    Examples
    --------
    >>> import nullforest as nf
    >>> try:
    ...     nf.grow([[1.0], [2.0]], ["ill", "well", "ill"])
    ... except nf.InputError as error:
    ...     print(error)
    y has 3 values for 2 samples; give one each.
    """

    def __init__(self, *parts: str | Setting | Command, setting: str | None = None) -> None:
        self.sentence = Sentence(*parts)
        self.setting = setting
        super().__init__(str(self.sentence))


def refused(name: str, value: Any, why: str | Sentence) -> InputError:
    """The error that refuses the value of a setting.

    Examples
    --------
    >>> str(refused("trees", 0, "must lie between 1 and 5.")), refused("trees", 0, "").setting
    ('trees = 0 must lie between 1 and 5.', 'trees')
    """
    shown = Setting(name, f"{value!r:.60}", " = ")
    return InputError(Sentence(shown, " ", why), setting=name)


def reason_of(error: BaseException) -> str:
    r"""First line of another library's message, short enough to quote in a sentence.

    Examples
    --------
    >>> reason_of(ValueError("bad magic number.\nsee the manual")), reason_of(EOFError())
    ('bad magic number', 'EOFError')
    """
    lines = str(error).strip().splitlines() or [type(error).__name__]
    return lines[0].strip().rstrip(".")[:150]


class MissingExtraError(ImportError):
    """An optional dependency is needed for this; the message says how to install it."""

    def __init__(self, package: str, extra: str, purpose: str) -> None:
        super().__init__(
            f"{purpose} needs the package {package!r}; install it with "
            f"pip install 'nullforest[{extra}]'."
        )


def optional(module: str, extra: str, purpose: str) -> Any:
    """Import a module of an optional dependency, or say how to install it."""
    try:
        return import_module(module)
    except ImportError:
        raise MissingExtraError(module.partition(".")[0], extra, purpose) from None


def check_known(what: str, name: Any, names: Iterable[str]) -> None:
    """Refuse a name that is not among the known ones."""
    if not (isinstance(name, str) and name in (names := list(names))):
        raise InputError(f"There is no {what} {name!r:.60}; choose one of {', '.join(names)}.")
