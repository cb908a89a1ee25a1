"""The kinds of wrong input, each with the code that `floatgate explain` knows.

`InputError` itself means a value of the wrong form, kind or range. `floatgate.text.explained` has
the meaning of each kind, and the advice.
"""

from __future__ import annotations

from collections.abc import Iterable

from floatgate.engine import ConfigError, InputError

SHAPES_RESULTS = False


class UnknownNameError(InputError):
    """An unknown name: of a drive, a policy, a measure, a command, an option."""

    code = "input::unknown-name"


class IncompleteError(InputError):
    """Something is needed and not given."""

    code = "input::missing"


class ConflictError(InputError):
    """The given options contradict each other."""

    code = "input::conflict"


class NoFileError(InputError):
    """A file or folder that does not exist."""

    code = "file::missing"


class FileError(InputError):
    """A file or folder that cannot be read or written, or that is in the way."""

    code = "file::unusable"


class ServiceError(InputError):
    """Nothing answers at an address, or another service does."""

    code = "service::address"


class PackageError(InputError):
    """A package is needed that is not installed."""

    code = "system::package"


def said(error: InputError) -> list[str]:
    """Each mistake as people read it, with its code.

    The engine includes the codes of a drive's mistakes itself.

    >>> said(UnknownNameError("`a` is no drive"))
    ['error[input::unknown-name]: `a` is no drive']
    """
    return error.errors if isinstance(error, ConfigError) else [f"{_head(code_of(error))}{error}"]


def as_one(errors: Iterable[InputError], texts: Iterable[str]) -> InputError:
    """Several errors as one, with these texts; `said` has their beginnings."""
    errors, texts = [*errors], [*texts]
    text = "\n\n".join(texts)
    config = [error for error in errors if isinstance(error, ConfigError)]
    if config:
        every = ConfigError(text)
        every.errors = texts
        return every
    code = code_of(errors[0])
    error = kind_of(errors)(text.removeprefix(_head(code)))
    error.code = code
    return error


def kind_of(errors: Iterable[InputError]) -> type[InputError]:
    """The kind of several errors: their own, if all are of one kind."""
    kinds = {type(error) for error in errors}
    return kinds.pop() if len(kinds) == 1 else InputError


def _head(code: str) -> str:
    return f"error[{code}]: "


def code_of(error: InputError) -> str:
    """The code of an error: that of its kind, or else that of the system error before it.

    >>> code_of(UnknownNameError("`a` is no drive")), code_of(InputError("-1 is too few"))
    ('input::unknown-name', 'input::value')
    """
    refused = error.__cause__ or error.__context__
    says_no_kind = type(error) is InputError and "code" not in vars(error)
    if says_no_kind and isinstance(refused, OSError):
        kind = NoFileError if isinstance(refused, FileNotFoundError) else FileError
        return kind.code
    return error.code
