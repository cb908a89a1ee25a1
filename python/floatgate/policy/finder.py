"""Finds the policies that are written in Python, and checks them before a run begins."""

from __future__ import annotations

import inspect
import json
import os
import sys
from collections.abc import Callable, Mapping
from types import FunctionType, ModuleType
from typing import Any, NamedTuple, NoReturn

from floatgate import engine
from floatgate.engine import InputError
from floatgate.hints import nearest
from floatgate.policy import FAMILIES, Policy
from floatgate.policy.permission import code_allowed

Method = Callable[..., object]

RESERVED = ("name", "source")
"""Keys of a drive file's entry that are not parameters."""


class Found(NamedTuple):
    """A policy that can be made."""

    make: Callable[[], dict[str, Method]]
    """Makes one in its first state. Returns the methods that it defines."""
    params: str
    """Its parameters, complete, as JSON."""
    source: str
    repeatable: bool


class Refusal(NamedTuple):
    """Why a policy does not exist."""

    message: str
    key: str | None
    suggestion: str | None


class RefusalError(Exception):
    """Carries a `Refusal`."""

    def __init__(self, message: str, key: str | None = None, suggestion: str | None = None) -> None:
        super().__init__(message)
        self.refusal = Refusal(message, key, suggestion)


class Finder:
    """Finds policies by name; those that were given as classes or instances, by family.

    A name from a file, which the user has not typed, needs permission.
    """

    def __init__(self, typed: frozenset[str] = frozenset(), given: Mapping[str, object] = {}):
        self._typed, self._given = typed, given

    def __call__(self, family: str, name: str, params: str) -> Found | Refusal:
        """The policy `py:module.Class` of a family, with parameters as a JSON object."""
        try:
            return self._find(family, name, json.loads(params))
        except RefusalError as error:
            return error.refusal

    def interrupt(self, thread: int) -> None:
        """Raises KeyboardInterrupt in a policy that keeps a thread busy."""
        import ctypes

        ctypes.pythonapi.PyThreadState_SetAsyncExc(
            ctypes.c_ulong(thread), ctypes.py_object(KeyboardInterrupt)
        )

    def _find(self, family: str, name: str, params: dict[str, Any]) -> Found:
        given = self._given.get(family)
        if given is not None and name == name_of(given):
            return _given(family, name, given)
        if name not in self._typed and not code_allowed():
            raise RefusalError(
                f"this file wants to run code: `{name}`, {_where(name)}; if you trust it, say "
                "--allow-code (in Python: `with floatgate.allow_code():`)"
            )
        module, cls = _class(name)
        return _described(family, name, cls, params, module)


def name_of(policy: object) -> str:
    """The name of a class, or of the class of an instance."""
    cls = policy if isinstance(policy, type) else type(policy)
    return f"py:{cls.__module__}.{cls.__qualname__}"


def _given(family: str, name: str, given: object) -> Found:
    """A class or an instance that `floatgate.run` was given."""
    if isinstance(given, type):
        module = sys.modules.get(given.__module__)
        named = module and getattr(module, given.__qualname__, None) is given
        named = named and given.__module__ != "__main__"
        return _described(family, name, given, {}, module if named else None)

    from copy import deepcopy

    cls = type(given)
    _check_methods(family, name, cls)
    names = inspect.signature(cls).parameters
    values = {_kebab(key): getattr(given, key) for key in names if hasattr(given, key)}
    return _found(family, name, cls, lambda: deepcopy(given), values, None)


def _described(
    family: str, name: str, cls: type, params: dict[str, Any], module: ModuleType | None
) -> Found:
    """A class with its parameters as written, and its module if it can be found by name."""
    from copy import deepcopy

    _check_methods(family, name, cls)
    source = params.pop("source", None)
    given, values = _arguments(name, cls, params)
    found = _found(family, name, cls, lambda: cls(**deepcopy(given)), values, module)
    if str(source).startswith("memory"):
        raise RefusalError(
            f"`{name}` was in memory when this was written, and may be lost; remove `source` to "
            "take what has this name now",
            "source",
        )
    if source is not None and source != found.source:
        raise RefusalError(
            f"the code of `{name}` is no longer what it was when this was written; remove "
            f"`source` to take it as it is now ({found.source})",
            "source",
        )
    return found


def _found(
    family: str,
    name: str,
    cls: type,
    construct: Callable[[], object],
    values: Mapping[str, Any],
    module: ModuleType | None,
) -> Found:
    """Makes one policy as a trial, and describes it."""
    from floatgate.policy import source as code

    policy = _tried(f"`{name}` refuses its parameters", construct)
    base = FAMILIES[family]
    for key, method in _methods(base, policy).items():
        _check_arguments(name, key, method, getattr(base, key))
    source = code.digest_of_module(module) if module else None
    return Found(
        make=lambda: _methods(base, construct()),
        params=json.dumps({_kebab(k): v for k, v in values.items() if _is_plain(v)}),
        source=source or code.digest_in_memory(cls),
        repeatable=source is not None,
    )


def _where(name: str) -> str:
    """The file in which the code of `py:module.Class` lies, found without running any of it."""
    module = name.removeprefix("py:").rpartition(".")[0]
    origin = _origin(module)
    if origin is None:
        return f"whose module `{module}` does not exist"
    return f"which would be loaded from {origin}"


def _origin(module: str) -> str | None:
    """The file or folder of a module, found without running any of it; None if there is none."""
    from importlib.machinery import PathFinder

    search = [*sys.path, os.getcwd()]
    origin = None
    for part in module.split("."):
        spec = PathFinder.find_spec(part, search)
        if spec is None:
            return None
        search = list(spec.submodule_search_locations or ())
        origin = spec.origin or next(iter(search), None)
    return origin


def _imported(path: str) -> ModuleType:
    """A module of the environment, or else of the current folder, and only that one."""
    import importlib

    folder = os.getcwd()
    sys.path.append(folder)
    try:
        importlib.invalidate_caches()
        return importlib.import_module(path)
    finally:
        # The last one, because the folder may have been on the path before.
        del sys.path[len(sys.path) - 1 - sys.path[::-1].index(folder)]


def _class(name: str) -> tuple[ModuleType, type]:
    """The class called `py:module.Class`."""
    path, _, wanted = name.removeprefix("py:").rpartition(".")
    if not (path and wanted):
        raise RefusalError(f"`{name}` must name a module and a class in it: py:module.Class")
    try:
        module = _imported(path)
    except ModuleNotFoundError as error:
        if error.name and f"{path}.".startswith(f"{error.name}."):
            raise RefusalError(
                f"there is no module `{error.name}` where Python looks for it: in the folder that "
                "you are in, and in those of PYTHONPATH"
            ) from None
        _refuse(f"`{path}` cannot be imported", error)
    except (Exception, SystemExit) as error:
        what = f"`{path}` cannot be imported"
        if isinstance(error, SyntaxError | ValueError) and (origin := _origin(path)):
            _check_text(what, origin)
        _refuse(what, error)
    cls = getattr(module, wanted, None)
    if isinstance(cls, type):
        return module, cls
    where = getattr(module, "__file__", None) or "built in"
    if cls is not None:
        raise RefusalError(f"`{wanted}` in `{path}` ({where}) is not a class")
    classes = [key for key, value in vars(module).items() if isinstance(value, type)]
    raise RefusalError(
        f"`{path}` ({where}) has no class `{wanted}`", None, _nearest(wanted, classes)
    )


def _check_text(what: str, path: str) -> None:
    """Refuses a module that is not text; Python's own message would not help."""
    try:
        engine.text_of(path, "a policy (Python)", 16 << 20)
    except InputError as error:
        raise RefusalError(f"{what}: {error}") from None


def _check_methods(family: str, name: str, cls: type) -> None:
    """Whether a class answers the question of a family."""
    base = FAMILIES[family]
    for key in sorted(getattr(base, "__abstractmethods__", ())):
        method = getattr(cls, key, None)
        if not callable(method) or getattr(method, "__isabstractmethod__", False):
            words = ", ".join(inspect.signature(getattr(base, key)).parameters)
            raise RefusalError(
                f"`{name}` has no method `{key}({words})`: every {family} policy has one"
            )
    events = [key for key in dir(base) if key.startswith("on_")]
    for key in dir(cls):
        if key.startswith("on_") and key not in events:
            raise RefusalError(
                f"`{key}` of `{name}` would never be called (there are {', '.join(events)})",
                None,
                _nearest(key, events),
            )


def _methods(base: type[Policy], policy: object) -> dict[str, Method]:
    """The methods that a policy has of its own."""
    methods = {}
    for key, asked in {**vars(Policy), **vars(base)}.items():
        method = getattr(policy, key, None)
        own = getattr(method, "__func__", method) is not asked
        if isinstance(asked, FunctionType) and not key.startswith("_") and own and callable(method):
            methods[key] = method
    return methods


def _check_arguments(name: str, key: str, method: Method, asked: Method) -> None:
    """Whether a method takes the arguments that it will be given."""
    words = list(inspect.signature(asked).parameters)[1:]
    try:
        taken = inspect.signature(method)
        taken.bind(*words)
    except TypeError:
        takes = ", ".join(taken.parameters) or "nothing"
        expected = ", ".join(["self", *words])
        place = _at(inspect.unwrap(method))
        message = f"`{key}` of `{name}` must take ({expected}); it takes {takes}{place}"
        raise RefusalError(message) from None
    except ValueError:
        pass  # not written in Python, and does not say


def _arguments(
    name: str, cls: type, params: Mapping[str, Any]
) -> tuple[dict[str, Any], dict[str, Any]]:
    """Parameters as they are written, as arguments of the constructor; these, and with defaults."""
    signature = inspect.signature(cls)
    known = [_kebab(key) for key in signature.parameters]
    for key in RESERVED:
        if key in known:
            raise RefusalError(
                f"`{name}` has a parameter `{key}`: a drive file keeps this word for itself"
            )
    extra = [key for key, p in signature.parameters.items() if p.kind is p.VAR_KEYWORD]
    for key in params:
        if _kebab(key) not in known and not extra:
            has = f"it has {', '.join(known)}" if known else "it has none"
            message = f"`{key}` is not a parameter of `{name}` ({has})"
            raise RefusalError(message, key, _nearest(_kebab(key), known))
    given = {key.replace("-", "_"): value for key, value in params.items()}
    try:
        bound = signature.bind(**given)
    except TypeError as error:
        raise RefusalError(f"`{name}` refuses its parameters: {error}") from None
    bound.apply_defaults()
    values = bound.arguments
    return given, {k: v for k, v in values.items() if k not in extra} | given


def _tried(what: str, call: Callable[[], object]) -> Any:
    try:
        return call()
    except (Exception, SystemExit) as error:
        _refuse(what, error)


def _refuse(what: str, error: BaseException) -> NoReturn:
    """Gives the failure and its place in the user's code."""
    import traceback

    if isinstance(error, SyntaxError):
        why, place = error.msg, f" ({error.filename}, line {error.lineno})"
    else:
        why, place = str(error).partition("\n")[0], ""
        for frame in traceback.extract_tb(error.__traceback__):
            if frame.filename != __file__ and not frame.filename.startswith("<frozen"):
                place = f" ({frame.filename}, line {frame.lineno})"
    raise RefusalError(f"{what}: {type(error).__name__}: {why}{place}") from None


def _at(method: object) -> str:
    code = getattr(method, "__code__", None)
    return f" ({code.co_filename}, line {code.co_firstlineno})" if code else ""


def _is_plain(value: object) -> bool:
    """Whether a drive file can hold it."""
    if isinstance(value, float):
        return value - value == 0  # finite
    if isinstance(value, list):
        return all(map(_is_plain, value))
    return isinstance(value, str) or (isinstance(value, int) and -(2**63) <= value < 2**63)


def _kebab(key: str) -> str:
    return key.replace("_", "-")


def _nearest(word: str, words: list[str]) -> str | None:
    return next(iter(nearest(word, words)), None)
