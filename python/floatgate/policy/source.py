"""The code of a policy: a digest of its files, if these hold the code in memory."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import CodeType, FunctionType, ModuleType

from floatgate import engine

_read: dict[str, tuple[ModuleSpec | None, bytes]] = {}
"""The content of a module's file when it was first read, since its last import."""


def digest_of_module(module: ModuleType) -> str | None:
    """The digest of a module and of its imports from its own package or folder.

    None if the code in memory differs from that of the files. For a single file, the digest is that
    of the command `sha256sum`.
    """
    files = {}
    for part in _parts(module):
        try:
            content = Path(str(part.__file__)).read_bytes()
            if not _is_current(part, content):
                return None
        except (OSError, SyntaxError, ValueError):
            return None
        files[part.__name__] = engine.sha256(content)
    if len(files) > 1:
        lines = "".join(f"{digest}  {name}\n" for name, digest in sorted(files.items()))
        return f"sha256:{engine.sha256(lines.encode())}"
    return f"sha256:{files[module.__name__]}" if files else None


def digest_in_memory(cls: type) -> str:
    """The digest of a class that was typed, if Python has its text."""
    try:
        text = inspect.getsource(cls)
    except (OSError, TypeError):
        return "memory"
    return f"memory sha256:{engine.sha256(text.encode())}"


def _parts(module: ModuleType) -> Iterator[ModuleType]:
    """The module, and those of its package or folder that it uses; no other dependencies."""
    package = module.__name__.partition(".")[0]
    folder = Path(module.__file__ or "").parent
    seen, todo = set(), [module]
    while todo:
        part = todo.pop()
        file = getattr(part, "__file__", None)
        related = part.__name__.partition(".")[0] == package or Path(file or "").parent == folder
        if file is None or not related or part.__name__ in seen:
            continue
        seen.add(part.__name__)
        yield part
        for value in list(vars(part).values()):
            home = value if isinstance(value, ModuleType) else sys.modules.get(_home(value))
            if home is not None:
                todo.append(home)


def _home(value: object) -> str:
    """The name of the module that a function or class was defined in."""
    home = getattr(value, "__module__", None)
    return home if isinstance(home, str) else ""


def _is_current(module: ModuleType, content: bytes) -> bool:
    """Whether a module in memory equals its file now."""
    spec, before = _read.get(module.__name__, (None, b""))
    if spec is not module.__spec__:
        _read[module.__name__] = (module.__spec__, content)
    elif content != before:
        return False
    file = str(module.__file__)
    if not file.endswith(".py"):
        return True
    written: dict[str, list[CodeType]] = {}
    todo = [compile(content, file, "exec", dont_inherit=True)]
    while todo:
        code = todo.pop()
        written.setdefault(code.co_qualname, []).append(code)
        todo += [inner for inner in code.co_consts if isinstance(inner, CodeType)]
    codes = [function.__code__ for function in _functions(module)]
    return all(
        code in written.get(code.co_qualname, []) for code in codes if code.co_filename == file
    )


def _functions(module: ModuleType) -> Iterator[FunctionType]:
    """The functions of a module and the methods of its classes."""
    for value in vars(module).values():
        members = vars(value).values() if isinstance(value, type) else [value]
        yield from (member for member in members if isinstance(member, FunctionType))
