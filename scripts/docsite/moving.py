"""Tables of other simulators' parameters and of ours, from the rules of the conversion."""

from __future__ import annotations

import html

from docsite.examples import EXAMPLES
from floatgate.experiments.toml import inline
from floatgate.migrate.convert import convert
from floatgate.migrate.rules import Fate


def tables() -> dict[str, str]:
    """By name, a table of every parameter, as the conversion of an example answers."""
    import tempfile
    from pathlib import Path

    found = {}
    for name, text in EXAMPLES.items():
        with tempfile.TemporaryDirectory(prefix="floatgate-") as folder:
            path = Path(folder) / name
            path.write_text(text, encoding="utf-8")
            found[name] = _table(convert(path)[0].fates)
    return found


def _table(fates: list[Fate] | tuple[Fate, ...] | object) -> str:
    rows = []
    assert isinstance(fates, list | tuple)
    for fate in fates:
        name = fate.name.partition(": ")[2] or fate.name
        ours = "<br>".join(
            f"<code>{html.escape(f'{k} = {inline(v)}')}</code>" for k, v in fate.ours.items()
        )
        rows.append(
            f"<tr><td><code>{html.escape(name)}</code></td><td>{html.escape(fate.value)}</td>"
            f"<td>{ours or 'not carried over'}</td><td>{html.escape(fate.note)}</td></tr>"
        )
    head = "<tr><th>parameter</th><th>for example</th><th>here</th><th>what differs</th></tr>"
    return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"
