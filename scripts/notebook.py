"""Runs the example notebook and stores the output of its cells: `make notebook`.

No Jupyter is needed: a cell shows its last expression, as HTML where the value has it.
"""

from __future__ import annotations

import ast
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

NOTEBOOK = Path(__file__).resolve().parent.parent / "examples/first-look.ipynb"


def values(cells: list[dict[str, Any]], name: str) -> Iterator[tuple[dict[str, Any], Any]]:
    """Runs the cells one after the other. Returns those with output, each with its output."""
    names: dict[str, Any] = {}
    for cell in cells:
        if cell["cell_type"] != "code":
            continue
        *lines, last = ast.parse("".join(cell["source"])).body
        if not isinstance(last, ast.Expr):
            lines.append(last)
        exec(compile(ast.Module(lines, []), name, "exec"), names)
        if isinstance(last, ast.Expr):
            yield cell, eval(compile(ast.Expression(last.value), name, "eval"), names)


def data(value: Any) -> dict[str, list[str]]:
    """The forms in which a notebook stores a value, by kind."""
    html = value._repr_html_() if hasattr(value, "_repr_html_") else None
    text = f"<{type(value).__module__}.{type(value).__name__}>" if html else repr(value)
    kinds = {"text/html": html, "text/plain": text}
    return {kind: said.splitlines(keepends=True) for kind, said in kinds.items() if said}


def main() -> None:
    """Runs the notebook and stores its outputs in it."""
    notebook = json.loads(NOTEBOOK.read_text(encoding="utf-8"))
    os.chdir(NOTEBOOK.parent)
    for count, cell in enumerate((c for c in notebook["cells"] if c["cell_type"] == "code"), 1):
        cell["outputs"], cell["execution_count"] = [], count
    for cell, value in values(notebook["cells"], NOTEBOOK.name):
        cell["outputs"] = [
            {
                "output_type": "execute_result",
                "execution_count": cell["execution_count"],
                "metadata": {},
                "data": data(value),
            }
        ]
    text = json.dumps(notebook, indent=1, ensure_ascii=False) + "\n"
    NOTEBOOK.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
