"""The references of the command line, of Python and of drive files, from the program itself."""

from __future__ import annotations

import inspect
import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import click

import floatgate
from floatgate.reproduce.runner import known
from since import SCHEMA, SINCE


def cli() -> str:
    """Every command with its arguments and options."""
    from floatgate.cli import app

    lines = [
        "# The command line",
        "",
        "This page lists every command with its arguments and options, as `--help` prints them.",
        "",
    ]
    for path, command in _commands(app.group("floatgate"), ["floatgate"]):
        lines += [f"## {' '.join(path)}", ""]
        lines += [_prose(command.help or ""), ""]
        parameters = [p for p in command.params if p.name != "help"]
        arguments = [p for p in parameters if p.param_type_name == "argument"]
        usage = " ".join([*path, *(_metavar(a) for a in arguments), "[OPTIONS]"])
        lines += ["```text", usage, "```", ""]
        if parameters:
            lines += ["| parameter | meaning |", "|---|---|"]
            for parameter in parameters:
                lines.append(f"| {_names(parameter)} | {_cell(_help(parameter))} |")
            lines.append("")
    return "\n".join(lines)


def _commands(command: Any, path: list[str]) -> Iterator[tuple[list[str], Any]]:
    if not isinstance(command, click.Group):
        yield path, command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        yield from _commands(command.get_command(context, name), [*path, name])


def _metavar(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _names(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{_cell(_metavar(parameter))}`"
    value = "" if isinstance(parameter.default, bool) else f" {_metavar(parameter)}"
    return f"`{_cell(', '.join(parameter.opts) + value)}`"


def _help(parameter: Any) -> str:
    return str(getattr(parameter, "help", None) or "")


def _prose(text: str) -> str:
    return re.sub(r"\s*\f[\s\S]*", "", inspect.cleandoc(text)).replace("\b", "")


def _cell(text: str) -> str:
    return str(text).replace("|", "\\|").replace("\n", " ")


def python() -> str:
    """Every public name of the package, with its signature and its words."""
    lines = ["# Python", "", "This page lists every public name of `import floatgate`.", ""]
    for name in floatgate.__all__:
        value = getattr(floatgate, name)
        lines += _documented(f"floatgate.{name}", value)
        if inspect.isclass(value) and not issubclass(value, Exception):
            ours = [base for base in value.__mro__ if base.__module__.startswith("floatgate")]
            members = {k: v for base in reversed(ours) for k, v in vars(base).items()}
            for method, each in members.items():
                if method.startswith("_"):
                    continue
                inner = each.__func__ if isinstance(each, classmethod | staticmethod) else each
                inner = inner.fget if isinstance(inner, property) else inner
                if inspect.isfunction(inner):
                    lines += _documented(f"{name}.{method}", inner, level=3)
    return "\n".join(lines)


def _documented(name: str, value: Any, level: int = 2) -> list[str]:
    lines = [f"{'#' * level} {name}", ""]
    if inspect.isfunction(value):
        lines += ["```python", _signature(name, value), "```", ""]
    doc = inspect.getdoc(value) if not inspect.ismodule(value) else (value.__doc__ or "")
    return [*lines, *_google(inspect.cleandoc(doc or "")), ""]


def _signature(name: str, value: Any) -> str:
    signature = inspect.signature(value)
    parameters = [str(p) for p in signature.parameters.values() if p.name != "self"]
    text = f"{name}({', '.join(parameters)})"
    if len(text) > 90:
        parts = [f"    {parameter}" for parameter in parameters]
        text = f"{name}(\n" + ",\n".join(parts) + ",\n)"
    returns = signature.return_annotation
    return text if returns is inspect.Signature.empty else f"{text} -> {returns}"


def _google(doc: str) -> list[str]:
    """A docstring with sections as Markdown."""
    lines: list[str] = []
    section = ""
    for line in doc.splitlines():
        if re.fullmatch(r"(Args|Returns|Raises|Yields):", line):
            section = line[:-1]
            lines += ["", f"**{section}**", ""]
        elif (
            section
            and (found := re.match(r"    (\*{0,2}\w+): (.*)", line))
            and section != "Returns"
        ):
            lines.append(f"- `{found[1]}`: {found[2]}")
        elif line.startswith(">>> ") or line.startswith("    >>> "):
            lines += ["", f"    {line.strip()}"]
        elif section and line.startswith("    "):
            lines.append(f"  {line.strip()}" if section != "Returns" else line.strip())
        else:
            lines.append(line)
    return lines


def drive_files() -> str:
    """Every key of a drive file, from its schema: the text of docs/reference/drive-files.md."""
    lines = [
        "# Every key of a drive file",
        "",
        "This page lists every key of a drive file (TOML), and so of `--set KEY=VALUE`. It is made",
        "by `make schema`. `floatgate config schema` prints it as a JSON schema, for editors.",
        "`floatgate config show DRIVE` prints the values of a drive.",
    ]
    section = None
    since = json.loads(SINCE.read_text(encoding="utf-8"))["since"]
    for path, entry in _keys(json.loads(SCHEMA.read_text(encoding="utf-8"))):
        head = path.partition(".")[0] if "." in path else ""
        if head != section:
            section = head
            title = f"`[{head}]`" if head else "The drive as a whole"
            lines += [
                "",
                f"## {title}",
                "",
                "| key | meaning | default | since |",
                "|---|---|---|---|",
            ]
        default = f"`{entry['default']}`" if "default" in entry else ""
        meaning = _cell(entry.get("description", ""))
        # A key within a table that may also be a word came with that table.
        version = next(since[above] for above in _up(path) if above in since)
        lines.append(f"| `{path}` | {meaning} | {_cell(default)} | {version} |")
    return "\n".join(lines) + "\n"


def _up(path: str) -> Iterator[str]:
    """The nodes on the path, nearest first."""
    while path:
        yield path
        path = path.rpartition(".")[0]


def _keys(schema: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    for key, entry in schema.get("properties", {}).items():
        if "properties" in entry:
            yield from _keys(entry, f"{path}{key}.")
            continue
        yield f"{path}{key}", entry
        for choice in entry.get("anyOf", ()):
            yield from _keys(choice, f"{path}{key}.")


def experiments() -> str:
    """The studies of `floatgate reproduce`."""
    lines = [
        "# Included studies",
        "",
        "This page lists the studies that `floatgate reproduce NAME`",
    ]
    lines += ["repeats.", "", "| name | study |", "|---|---|"]
    lines += [f"| `{name}` | {_cell(each.title)} |" for name, each in known().items()]
    return "\n".join(lines) + "\n"
