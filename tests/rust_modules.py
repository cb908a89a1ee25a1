"""The uses among the modules of a crate, read from its text.

A path of `use`, or one that begins with `crate`, `super` or `self`, is followed through re-exports
to the module that declares its end. Tests inside a crate may use everything, so they are left out.
"""

import re
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

Names = tuple[str, ...]

_ITEM = re.compile(
    r"\b(?:pub(?:\([^)]*\))?\s+)?(?:const\s+fn|fn|struct|enum|trait|type|const|static|mod)\s+(\w+)"
)
_USE = re.compile(r"\b(pub(?:\([^)]*\))?\s+)?use\s+([^;]+);")
_PATH = re.compile(r"(?<![\w:$])((?:crate|super|self)(?:::\w+)+)")
_TEST = re.compile(r"#\[cfg\(test\)\]\s*")


def without_tests(text: str) -> str:
    """The code of a module: without comments, and without the code that is built for tests
    alone."""
    text = re.sub(r"//[^\n]*", "", text)
    kept, at = [], 0
    while found := _TEST.search(text, at):
        kept.append(text[at : found.start()])
        at, depth = found.end(), 0
        while True:
            at += 1
            char = text[at - 1]
            depth += (char == "{") - (char == "}")
            if depth == 0 and char in ";}":
                break
    return "".join([*kept, text[at:]])


def expanded(tree: str) -> Iterator[tuple[Names, str]]:
    """The paths of a `use`, each with the name that it declares."""
    tree = tree.strip()
    if group := re.match(r"((?:\w+\s*::\s*)*)\{(.*)\}$", tree, re.DOTALL):
        head = tuple(part.strip() for part in group[1].split("::") if part.strip())
        parts, depth = [""], 0
        for char in group[2]:
            depth += (char == "{") - (char == "}")
            if char == "," and depth == 0:
                parts.append("")
            else:
                parts[-1] += char
        for part in filter(str.strip, parts):
            for path, name in expanded(part):
                if path == ("self",):
                    yield head, head[-1]
                else:
                    yield head + path, name
        return
    path_text, _, name = tree.partition(" as ")
    path = tuple(part.strip() for part in path_text.split("::"))
    yield path, name.strip() or path[-1]


@dataclass
class Module:
    """A module: its declarations, re-exports and uses."""

    items: set[str] = field(default_factory=set)
    names: dict[str, Names] = field(default_factory=dict)
    public: set[str] = field(default_factory=set)
    globs: list[Names] = field(default_factory=list)
    uses: list[Names] = field(default_factory=list)
    outside: set[str] = field(default_factory=set)


class Crate:
    """The modules of a crate by their paths; the root is the empty path."""

    def __init__(self, source: Path) -> None:
        texts = {}
        for path in sorted(source.rglob("*.rs")):
            parts = path.relative_to(source).with_suffix("").parts
            if "tests" in parts:
                continue
            if parts[-1] == "mod" or parts == ("lib",):
                parts = parts[:-1]
            texts[parts] = without_tests(path.read_text())
        self.modules: dict[Names, Module] = {path: Module() for path in texts}
        for name, text in texts.items():
            self._read(name, text)

    def _read(self, path: Names, text: str) -> None:
        module = self.modules[path]
        module.items = set(_ITEM.findall(text))
        for public, tree in _USE.findall(text):
            for used, name in expanded(tree):
                target = self._absolute(path, used)
                if target is None:
                    module.outside.add(used[0])
                    continue
                module.uses.append(target)
                if name == "*":
                    module.globs.append(target[:-1])
                    continue
                module.names[name] = target
                if public:
                    module.public.add(name)
        rest = _USE.sub("", text)
        for used_text in _PATH.findall(rest):
            target = self._absolute(path, tuple(used_text.split("::")))
            assert target is not None
            module.uses.append(target)
        module.outside |= set(re.findall(r"(?<![\w:.])([a-z_]\w*)(?=::)", _PATH.sub("", rest)))

    def _absolute(self, module: Names, path: Names) -> Names | None:
        """The path from the root of the crate; none for another crate's."""
        if path[0] == "crate":
            return path[1:]
        if path[0] in ("super", "self"):
            base = module
            while path and path[0] in ("super", "self"):
                base = base[:-1] if path[0] == "super" else base
                path = path[1:]
            return base + path
        return module + path if (*module, path[0]) in self.modules else None

    def home(self, path: Names, depth: int = 0) -> Names:
        """The module in which a path ends."""
        at: Names = ()
        for i, name in enumerate(path):
            module = self.modules[at]
            if (*at, name) in self.modules:
                at = (*at, name)
                continue
            target = module.names.get(name)
            if target is not None and target != path[: i + 1] and depth < 9:
                return self.home(target + path[i + 1 :], depth + 1)
            if name not in module.items:
                for glob in map(self.home, module.globs):
                    inner = self.modules[glob]
                    if glob != at and (name in inner.items or name in inner.public):
                        return self.home((*glob, name), depth + 1)
                    for nested in map(self.home, inner.globs):
                        if name in self.modules[nested].items:
                            return nested
            return at
        return at

    def graph(self) -> dict[str, set[str]]:
        """The modules that each top-level module uses; children count as their parents."""
        graph: dict[str, set[str]] = defaultdict(set)
        for path, module in self.modules.items():
            if not path:
                continue
            tops = {home[0] for home in map(self.home, module.uses) if home}
            graph[path[0]] |= tops - {path[0]}
        return graph

    def crates(self, top: str) -> set[str]:
        """The first names of a top-level module's paths that lead out of this crate."""
        of = [m.outside for path, m in self.modules.items() if path and path[0] == top]
        return set().union(*of)
