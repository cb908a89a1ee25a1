"""The process of the command `floatgate`: its begin and its end, for every command.

In a short run, the beginning and the end of the interpreter take most of the time.
"""

from __future__ import annotations

import atexit
import gc
import os
import sys
import threading
from typing import NoReturn

SHAPES_RESULTS = False

OBJECTS = 100_000
"""The number of new objects before a search for unused ones. Modules have half as many, all of them
used, and searching these repeatedly is a tenth of a short run.
"""

THREADS = {"OPENBLAS_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"}
"""The number of threads for libraries that start one for each core. A run leaves no work for more:
numpy's would spin while they wait for matrices, and one of polars reads fast enough."""


def main() -> NoReturn:
    """Runs the command line, and ends with its exit code.

    The process ends without finalizing the interpreter, which is a sixth of a short run. Two things
    are done before: threads that others wait for are joined, and the functions of `atexit` run.
    """
    gc.set_threshold(OBJECTS)
    for name, threads in THREADS.items():
        os.environ.setdefault(name, threads)
    from floatgate import cli

    code = 0
    try:
        cli.main()
    except SystemExit as end:
        if not isinstance(end.code, int | None):
            raise
        code = end.code or 0
    # In the order of the interpreter: a pool is told that no more jobs come before its threads are
    # joined.
    threading._shutdown()  # type: ignore[attr-defined]
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)
