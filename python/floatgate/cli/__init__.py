"""The command `floatgate`. Heavy modules are imported where they are used: help is instant."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

import floatgate
from floatgate import ConfigError, InputError, InternalError, PolicyError, terminal
from floatgate.cli import (
    completion,
    config,
    experiments,
    interrupt,
    lifetime,
    lists,
    live,
    report,
    runs,
    view,
)
from floatgate.cli import traces as trace
from floatgate.cli.options import choices, opens_files
from floatgate.cli.show import fail

SHAPES_RESULTS = False

app = typer.Typer(
    name="floatgate",
    help="SSD simulator: how fast, for how long, at what energy, "
    "and which flash-management technique changes that.",
    epilog="Exit codes: 0 done (a worn-out drive included), 2 the input is wrong, "
    "1 a bug of floatgate, 130 Ctrl-C.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command(epilog=choices())(opens_files(runs.run))
app.command(epilog=choices())(opens_files(runs.compare))
app.command(epilog=choices())(opens_files(lifetime.lifetime))
app.command()(opens_files(experiments.sweep))
app.command()(experiments.results)
app.command()(experiments.reproduce)
app.command()(report.report)
app.command()(view.view)
app.command()(lists.drives)
app.command(epilog=choices())(opens_files(live.serve))
app.command()(live.top)
app.command()(live.smart)
app.command()(live.fault)
app.command()(lists.policies)
app.command()(lists.chips)
app.command()(lists.explain)
app.command()(lists.init)
app.add_typer(trace.app, name="trace", help="Look at workloads.")
app.add_typer(config.app, name="config", help="Look at drive files.")


def main() -> None:
    """Runs the command line and exits: 2 if the input is wrong, 1 if floatgate is."""
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
        fail(f"error: {error}", 2)


def _answer() -> None:
    if (answers := completion.bash_policy()) is not None:
        print("\n".join(answers))
        return
    interrupt.listen()
    try:
        app(prog_name="floatgate")
    except ConfigError as error:
        fail(str(error), 2)  # a list of errors, each with its lines
    except PolicyError as error:
        if error.__cause__ is not None:
            import traceback

            traceback.print_exception(error.__cause__)
        fail(f"error: {error}", 2)
    except InputError as error:
        fail(f"error: {error}", 2)
    except InternalError as error:
        fail(
            f"floatgate has a bug: {error}\n"
            "The input is not at fault. Please report this with the command and the drive file.",
            1,
        )


def _version(wanted: bool) -> None:
    if wanted:
        print(f"floatgate {floatgate.__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool,
        typer.Option(
            "--version", "-V", callback=_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    pass
