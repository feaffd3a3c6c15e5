"""Errors whose message is one sentence that names the remedy."""


class InputError(ValueError):
    """The input cannot be used as it is; the message says why and what to do.

    The command line prints the message alone and exits with status 2.
    """


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
