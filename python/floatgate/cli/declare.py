"""Commands as functions whose annotations declare their arguments: a thin layer over click.

Unused commands cost nothing. A function becomes a command of click at the first access, and its
module is imported then.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import re
import textwrap
import types
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, Union, get_args, get_origin

import click

from floatgate.engine import InputError
from floatgate.hints import hint, nearest
from floatgate.mistakes import IncompleteError, UnknownNameError
from floatgate.words import filled

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

SHAPES_RESULTS = False

Command = Callable[..., None]


class Option(NamedTuple):
    """The value of a flag. Without `flags` the flag has the name of its parameter.

    `min` is the least number; `completes` gives the continuations of a value.
    """

    flags: tuple[str, ...] = ()
    metavar: str | None = None
    help: str = ""
    min: float | None = None
    completes: Callable[[str], list[str]] | None = None


class Argument(NamedTuple):
    """A positional argument.

    `completes` gives the continuations of a value; with `files`, the name of a file is possible
    too.
    """

    metavar: str | None = None
    help: str = ""
    completes: Callable[[str], list[str]] | None = None
    files: bool = False


def option(*flags: str, **how: Any) -> Option:
    """An option, as `Option` has it."""
    return Option(flags, **how)


GREATEST = 2**63 - 1
"""The greatest whole number that anything takes."""


class _Number(click.ParamType[float]):
    """A number, from a least one on."""

    def __init__(self, kind: type[int] | type[float], least: float | None = None) -> None:
        self._kind = kind
        self._least = least
        self.name = "integer" if kind is int else "float"

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> int | float:
        """The number in the text."""
        try:
            number = self._kind(value)
        except ValueError:
            number = None
        meant = "" if number is not None else self._meant(str(value))
        what = "a whole number" if self._kind is int else "a number"
        least = "" if self._least is None else f" from {self._least:g} on"
        if number is not None and (self._least is None or number >= self._least):
            if self._kind is float or number <= GREATEST:
                return number
            least = f" up to {GREATEST}"
        return self.fail(f"expected {what}{least}, not `{value}`{meant}", param, ctx)

    def _meant(self, value: str) -> str:
        """The number for a short form such as `1k`, `2M`, `1e6` or `1,000`."""
        found = re.fullmatch(r"(\d+(?:\.\d+)?)(?:e(\d+))?([kmgKMG]?)", value.replace(",", ""))
        if not found:
            return ""
        steps = {"": 0, "k": 3, "m": 6, "g": 9}[found[3].lower()] + int(found[2] or 0)
        from decimal import Decimal

        number = Decimal(found[1]).scaleb(min(steps, 30))
        if number != int(number) or number > GREATEST:
            return ""
        return f"; did you mean `{int(number)}`?"


_TYPES: Mapping[type, Any] = {
    str: click.STRING,
    int: _Number(int),
    float: _Number(float),
    Path: click.Path(path_type=Path),
}


class _Formatter(click.HelpFormatter):
    """Writes help like other pages: as wide as the terminal, with no word split."""

    def write_text(self, text: str) -> None:
        """Writes paragraphs; one that begins with a backspace has its own lines."""
        indent = " " * self.current_indent
        pages = []
        for paragraph in text.split("\n\n"):
            first, _, rest = paragraph.partition("\n")
            own = first.strip() == "\b"
            words = " ".join(paragraph.split())
            pages.append(
                textwrap.indent(rest, indent) if own else filled(words, self.width, indent, indent)
            )
        self.write("\n\n".join(pages) + "\n")

    def write_dl(
        self, rows: Iterable[tuple[str, str]], col_max: int = 30, col_spacing: int = 2
    ) -> None:
        """Writes names and their descriptions; a long name has its description on the next line."""
        rows = [*rows]
        # In a narrow terminal there would be no space for long words beside it.
        most = col_max if self.width >= _NARROW else col_max // 2
        column = min(max(len(name) for name, _ in rows), most) + col_spacing
        here, there = " " * self.current_indent, " " * (self.current_indent + column)
        for name, what in rows:
            text = filled(what, self.width, there, there)
            beside = len(name) + col_spacing <= column
            self.write(
                f"{here}{name:<{column}}{text[len(there) :]}" if beside else f"{here}{name}\n{text}"
            )
            self.write("\n")


_NARROW = 76
"""The width of help in columns below which the description is printed on the next line."""


class _Context(click.Context):
    formatter_class = _Formatter


class _Command(click.Command):
    """A command whose help ends with words of its own."""

    context_class = _Context
    last_words: Callable[[], str] | None = None
    """They are made at the first access."""
    examples: Sequence[str] = ()

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the purpose of the command, and lines that the user can type."""
        super().format_help_text(ctx, formatter)
        if self.examples:
            with formatter.section("Examples" if len(self.examples) > 1 else "Example"):
                formatter.write_text("\b\n" + "\n".join(self.examples))

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes the last words."""
        if self.last_words is not None:
            self.epilog = self.last_words()
        super().format_epilog(ctx, formatter)


class _Group(click.Group):
    """Commands that are made at the first access."""

    context_class = _Context

    def __init__(
        self, entries: Mapping[str, Command | App | str], lines: Mapping[str, str], **more: Any
    ) -> None:
        super().__init__(**more)
        self._entries = entries
        self._lines = lines

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Their names."""
        return list(self._entries)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """One of them."""
        if cmd_name not in self.commands and cmd_name in self._entries:
            self.commands[cmd_name] = _made(cmd_name, self._entries[cmd_name])
        return self.commands.get(cmd_name)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Finds the command that the words begin with."""
        if args and args[0] not in self._entries and not args[0].startswith("-"):
            said = hint(args[0], self._entries)
            raise _NoSuchCommandError(
                f"`{args[0]}` is not a command of {ctx.command_path}; {said}", ctx
            )
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Writes each command and its purpose; one that declares its purpose is not loaded."""
        rows = []
        for name in self._entries:
            known = self._lines.get(name)
            command = click.Command(name, help=known) if known else self.get_command(ctx, name)
            assert command is not None
            rows.append((name, command.get_short_help_str(_WHOLE)))
        with formatter.section("Commands"):
            formatter.write_dl(rows)


_WHOLE = 1000
"""The letters of a line that is not cut; click wraps it."""


class App:
    """A group of commands."""

    def __init__(self, **more: Any) -> None:
        self._entries: dict[str, Command | App | str] = {}
        self._lines: dict[str, str] = {}
        self._more = more

    def command(self, name: str | None = None) -> Callable[[Command], Command]:
        """Declares a function."""

        def declared(function: Command) -> Command:
            self._entries[name or function.__name__] = function
            return function

        return declared

    def add(self, name: str, place: str, line: str) -> None:
        """Declares a function or a group by its place, `module:name`; `line` is its purpose."""
        self._entries[name] = place
        self._lines[name] = line

    def group(self, name: str) -> click.Group:
        """The same for click."""
        return _Group(self._entries, self._lines, name=name, no_args_is_help=True, **self._more)


def ends_with(words: Callable[[], str]) -> Callable[[Command], Command]:
    """A command whose help ends with additional words."""

    def told(command: Command) -> Command:
        command.last_words = words  # type: ignore[attr-defined]
        return command

    return told


def example(*lines: str) -> Callable[[Command], Command]:
    """A command whose help shows its call."""

    def told(command: Command) -> Command:
        command.examples = lines  # type: ignore[attr-defined]
        return command

    return told


def _made(name: str, what: Command | App | str) -> click.Command:
    if isinstance(what, str):
        module, _, of = what.partition(":")
        what = getattr(importlib.import_module(module), of)
    if isinstance(what, App):
        return what.group(name)
    assert callable(what)
    parameters = inspect.signature(what, eval_str=True).parameters.values()
    params = [_parameter(each) for each in parameters]
    command = _Command(name, callback=what, params=params, help=inspect.getdoc(what))
    command.last_words = getattr(what, "last_words", None)
    command.examples = getattr(what, "examples", ())
    return command


def _parameter(parameter: inspect.Parameter) -> click.Parameter:
    """A parameter whose annotation is `Annotated[type, Option or Argument]`."""
    hint, how = get_args(parameter.annotation)
    several, kind = _kind(hint)
    required = parameter.default is inspect.Parameter.empty
    default = None if required or several else parameter.default
    more: dict[str, Any] = {"help": how.help, "metavar": how.metavar, "required": required}
    more |= {"type": _TYPES[kind]} if kind is not bool else {}
    if default is not None:
        more["default"] = default
    if several:
        more["callback"] = functools.partial(_listed, None if required else parameter.default)
    if isinstance(how, Argument):
        if several:
            more["nargs"] = -1
        shown = how.metavar or parameter.name.upper()
        more["metavar"] = shown if required else f"[{shown}]"
        if how.completes is not None:
            more["shell_complete"] = functools.partial(_complete, how.completes, how.files)
        return click.Argument([parameter.name], **more)
    flags = how.flags or (f"--{parameter.name.replace('_', '-')}",)
    if kind is bool:
        more["is_flag"] = True
    if how.min is not None:
        more["type"] = _Number(float if kind is float else int, how.min)
    if how.completes is not None:
        more["shell_complete"] = functools.partial(_complete, how.completes, False)
    # The default of a flag is not shown.
    more["show_default"] = default is not None and (kind is not bool or "/" in flags[0])
    return click.Option([parameter.name, *flags], multiple=several, **more)


def in_words(error: click.ClickException) -> InputError:
    """A mistake in a command line, in the form of other errors."""
    said = error.format_message().rstrip(".")
    kind: type[InputError] = InputError
    context = error.ctx if isinstance(error, click.UsageError) else None
    where = context.command_path if context is not None else "floatgate"
    if isinstance(error, _NoSuchCommandError):
        kind = UnknownNameError
    elif isinstance(error, click.NoSuchOption) and context is not None:
        kind = UnknownNameError
        flags = [flag for each in context.command.params for flag in each.opts]
        near = [name for name in nearest(error.option_name, flags) if name.startswith("--")]
        said = f"`{error.option_name}` is not an option of {where}"
        if near:
            return kind(f"{said}; {hint(error.option_name, near)}")
    elif isinstance(error, click.MissingParameter) and context is not None and error.param:
        kind = IncompleteError
        named = isinstance(error.param, click.Option)
        flag = f"{max(error.param.opts, key=len)} " if named else ""
        said = f"{where} needs {flag}{error.param.make_metavar(context)}"
    elif isinstance(error, click.BadOptionUsage):
        without = "not take" in said
        kind = InputError if without else IncompleteError
        said = f"`{error.option_name}` {'takes no' if without else 'needs a'} value"
    elif isinstance(error, click.BadParameter) and error.param is not None:
        said = f"`{error.param.opts[0]}`: {error.message}"
    elif found := re.fullmatch(r"Got unexpected extra arguments? \((.*)\)", said):
        said = f"{where} takes no further argument: `{found[1]}`"
    return kind(said if said.endswith("?") else f"{said}; see `{where} --help`")


class _NoSuchCommandError(click.UsageError):
    """A word in the place of a command's name."""


def _listed(
    default: object, _context: click.Context, _of: click.Parameter, values: Sequence[Any]
) -> Any:
    """Values as a list, or the default if there are none."""
    return list(values) or default


def _complete(
    completes: Callable[[str], list[str]],
    files: bool,
    _context: click.Context,
    _of: click.Parameter,
    given: str,
) -> list[CompletionItem]:
    """The words. A mark for names of files comes first; shells add these names themselves."""
    from click.shell_completion import CompletionItem

    words = [CompletionItem(word) for word in completes(given)]
    return [CompletionItem(given, type="file"), *words] if files else words


def _kind(hint: Any) -> tuple[bool, type]:
    """Whether there may be several values, and the type of each."""
    if get_origin(hint) in (Union, types.UnionType):
        (hint,) = (each for each in get_args(hint) if each is not type(None))
    if get_origin(hint) is list:
        return True, get_args(hint)[0]
    return False, hint
