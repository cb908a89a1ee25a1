"""What commands write besides the text of their results."""

from __future__ import annotations

import json
import sys
from typing import Any, NoReturn


def print_json(schema: str, **values: Any) -> None:
    """Prints the one object of `--json`."""
    print(json.dumps({"schema": schema, **values}))


def fail(message: str, code: int) -> NoReturn:
    """Ends the command with a message."""
    print(message, file=sys.stderr)
    sys.exit(code)
