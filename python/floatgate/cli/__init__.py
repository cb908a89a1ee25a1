"""The command `floatgate`.

Heavy modules are imported only where they are used, so help is instant.
"""

from __future__ import annotations

import re
import sys
from typing import NoReturn

import click

from floatgate import ConfigError, InputError, InternalError, PolicyError, mistakes, terminal
from floatgate.cli import completion, interrupt
from floatgate.cli.declare import App, in_words
from floatgate.cli.show import fail

SHAPES_RESULTS = False


def _version(context: click.Context, _of: click.Parameter, wanted: bool) -> None:
    if wanted and not context.resilient_parsing:
        import floatgate

        print(f"floatgate {floatgate.__version__}")
        context.exit()


app = App(
    help="SSD simulator: speed, lifetime and energy of a drive, "
    "and the flash-management techniques that change them.",
    epilog="Exit codes: 0 done (a worn-out drive included), 2 the input is wrong, "
    "1 a bug of floatgate, 130 Ctrl-C.",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    params=[
        click.Option(["--version", "-V"], is_flag=True, callback=_version, is_eager=True,
                     expose_value=False, help="Print the version."),
        *completion.options(),
    ],
)  # fmt: skip
# The module of each command, and the first line of its help. A list of all commands imports none of
# them.
for _name, _place, _line in [
    (
        "run",
        "runs:run",
        "Run WORKLOAD on DRIVE: latency, write amplification and wear, split by cause.",
    ),
    (
        "compare",
        "compare:compare",
        "Run every combination of the values given, and show the results side by side.",
    ),
    (
        "lifetime",
        "lifetime:lifetime",
        "Compute how long DRIVE lasts under WORKLOAD: TBW, DWPD, years.",
    ),
    (
        "sweep",
        "experiments:sweep",
        "Make the missing runs of an experiment.",
    ),
    (
        "results",
        "experiments:results",
        "Ask stored results a question in SQL (DuckDB).",
    ),
    (
        "reproduce",
        "experiments:reproduce",
        "Reproduce published results, on a page that compares both.",
    ),
    (
        "report",
        "report:report",
        "Write stored results as one page that needs no network: plots, tables, configuration.",
    ),
    (
        "view",
        "view:view",
        "Write the picture of a run's drive over time as one page that needs no network.",
    ),
    (
        "serve",
        "live:serve",
        "Serve DRIVE as a block device over NBD: any program can read, write and mount it.",
    ),
    (
        "top",
        "live:top",
        "Watch a served drive: rates, latencies, write amplification, load and wear.",
    ),
    (
        "smart",
        "live:smart",
        "Show the health of a served drive, under the names of nvme-cli.",
    ),
    (
        "fault",
        "live:fault",
        "Plant a fault in a served drive.",
    ),
    (
        "drives",
        "lists:drives",
        "List the built-in drives; of one NAME, where every number comes from.",
    ),
    (
        "policies",
        "lists:policies",
        "List the policies by family; of one FAMILY, with parameters and papers.",
    ),
    (
        "chips",
        "lists:chips",
        "List the built-in chips; of one NAME, its pages and where every number comes from.",
    ),
    (
        "explain",
        "lists:explain",
        "Explain the CODE of a warning or error; without one, all of them.",
    ),
    (
        "init",
        "lists:init",
        "Write a drive, a workload, an experiment and a policy to start from, with comments.",
    ),
    (
        "trace",
        "traces:app",
        "Look at workloads.",
    ),
    (
        "config",
        "config:app",
        "Look at drive files.",
    ),
]:
    app.add(_name, f"floatgate.cli.{_place}", _line)


def main() -> None:
    """Runs the command line and exits: 2 if the input is wrong, 1 for a bug of floatgate."""
    terminal.listen_to_nobody_else()
    try:
        try:
            _answer()
        except terminal.OutputError:
            raise
        except BaseException:  # also the end of a command, which is a SystemExit
            sys.stdout.flush()
            raise
        sys.stdout.flush()
    except terminal.OutputError as error:
        terminal.give_up()
        if error.nobody_reads:
            terminal.end_like_a_pipe()
        _refuse(mistakes.FileError(str(error)))


def _answer() -> None:
    root = app.group("floatgate")
    if completion.answer(root):
        return
    interrupt.listen()
    try:
        _obey(root)
    except PolicyError as error:
        if error.__cause__ is not None:
            import traceback

            traceback.print_exception(error.__cause__)
        _refuse(error)
    except InputError as error:
        _refuse(error)
    except OSError as error:
        _refuse(_of_system(error))
    except MemoryError:
        _refuse(_no_memory())
    except UnicodeEncodeError as error:
        if _is_text(error.object):
            raise
        _refuse(_no_text(error.object))
    except InternalError as error:
        fail(
            f"floatgate has a bug: {error}\n"
            "The input is not at fault. Please report this with the command and the drive file.",
            1,
        )


def _of_system(error: OSError) -> InputError:
    """The message if the system refuses a call and no command has a better one."""
    names = [str(name) for name in (error.filename, error.filename2) if name is not None]
    kind = mistakes.NoFileError if isinstance(error, FileNotFoundError) else mistakes.FileError
    place = f"{' and '.join(names)}: " if names else ""
    return kind(f"{place}the system refuses this ({(error.strerror or str(error)).lower()})")


def _is_text(word: str) -> bool:
    """Whether a word was UTF-8: Python keeps other bytes as surrogates."""
    return word.isprintable() or not any("\ud800" <= letter <= "\udfff" for letter in word)


def _no_text(name: str) -> InputError:
    """The message about a name that is not UTF-8."""
    return mistakes.FileError(
        f"`{name}`: this is not UTF-8, and floatgate takes only names that are; rename the file or "
        "folder, or name a symbolic link to it"
    )


def _no_memory() -> InputError:
    """The message when memory is exhausted."""
    error = InputError(
        "there is too little memory for this; give it less (fewer requests, a smaller drive, fewer "
        "workers), or lift the limit (`ulimit -v`, or that of the container)"
    )
    error.code = "system::memory"
    return error


def _refuse(error: InputError) -> NoReturn:
    """Ends the command: its input is wrong, as the error describes."""
    if not isinstance(error, ConfigError):
        (text,) = mistakes.said(error)
        fail(_for_terminal(text) if sys.stderr.isatty() else text, 2)
    # A drive or an experiment has many keys: an example helps.
    codes = dict.fromkeys(re.findall(r"^error\[([a-z:-]+)\]", str(error), re.MULTILINE))
    fail("\n".join([str(error), *(f"`floatgate explain {c}` has an example" for c in codes)]), 2)


def _for_terminal(text: str) -> str:
    """Lines that are no longer than the terminal is wide.

    A terminal would break longer ones within words.
    """
    from floatgate.words import filled, page_width

    lines = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        lines.append(filled(line.strip(), page_width(), indent, f"{indent}  "))
    return "\n".join(lines)


def _obey(root: click.Group) -> None:
    """The command that the command line names, with its values."""
    for word in sys.argv[1:]:
        if not _is_text(word):
            raise _no_text(word)
    try:
        with root.make_context("floatgate", sys.argv[1:]) as context:
            root.invoke(context)
    except click.exceptions.Exit as ended:
        sys.exit(ended.exit_code)
    except click.exceptions.NoArgsIsHelpError as error:
        fail(error.format_message(), error.exit_code)
    except click.ClickException as error:
        _refuse(in_words(error))
    except KeyboardInterrupt:
        sys.exit(130)
