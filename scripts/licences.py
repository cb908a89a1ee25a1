#!/usr/bin/env python3
"""Checks that every dependency has a permissive licence. Needs no network.

Cargo lists the crates; the installed packages of this Python list the Python packages.

    .venv/bin/python scripts/licences.py       prints each licence with who has it
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent

PERMISSIVE = {
    "0BSD", "Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause",
    "BSL-1.0", "CC0-1.0", "ISC", "MIT", "MIT-0", "PSF-2.0", "Unicode-3.0", "Unlicense", "Zlib",
    "bzip2-1.0.6",
}  # fmt: skip

# Names of licences in the metadata of some packages, and the usual ones.
NAMES = {
    "apache 2.0": "Apache-2.0",
    "apache software license": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "apache license, version 2.0": "Apache-2.0",
    "bsd": "BSD-3-Clause",
    "bsd license": "BSD-3-Clause",
    "bsd 3-clause": "BSD-3-Clause",
    "3-clause bsd": "BSD-3-Clause",
    "new bsd": "BSD-3-Clause",
    "isc license (iscl)": "ISC",
    "mit license": "MIT",
    "mozilla public license 2.0 (mpl 2.0)": "MPL-2.0",
    "python software foundation license": "PSF-2.0",
}

# Copyleft of single files only, of packages that no wheel of ours holds: used for tests.
DEVELOPMENT = {"hypothesis": "MPL-2.0", "pathspec": "MPL-2.0"}


def allowed(expression: str) -> bool:
    """Whether an SPDX expression leaves a choice that is permissive.

    >>> allowed("MIT OR GPL-2.0"), allowed("MIT AND GPL-2.0"), allowed("(MIT OR X) AND ISC")
    (True, False, True)
    >>> allowed("Apache-2.0 WITH LLVM-exception"), allowed("")
    (True, False)
    """
    tokens = re.findall(r"[()]|[^\s()/]+|/", expression.replace(" WITH ", "-WITH-"))
    if not tokens:
        return False

    def either() -> bool:
        found = both()
        while tokens and tokens[0] in ("OR", "/", "or"):
            tokens.pop(0)
            other = both()
            found = found or other
        return found

    def both() -> bool:
        found = one()
        while tokens and tokens[0] in ("AND", "and"):
            tokens.pop(0)
            other = one()
            found = found and other
        return found

    def one() -> bool:
        token = tokens.pop(0)
        if token == "(":
            found = either()
            tokens.pop(0)
            return found
        return token.replace("-WITH-", " WITH ") in PERMISSIVE

    return either() and not tokens


def crates() -> Iterator[tuple[str, str]]:
    """Name and licence of every crate that the workspace is built from."""
    command = ["cargo", "metadata", "--format-version=1", "--offline", "--locked"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    for package in json.loads(done.stdout)["packages"]:
        yield package["name"], package["license"] or ""


def packages() -> Iterator[tuple[str, str]]:
    """Name and licence of every package that constraints.txt pins and that is installed."""
    pins = re.findall(r"^([\w.-]+)==", (ROOT / "constraints.txt").read_text(), re.MULTILINE)
    for name in pins:
        try:
            about = metadata.metadata(name)
        except metadata.PackageNotFoundError:
            continue  # For another platform, or it has a place of its own in the wheel of another.
        yield name, licence_of(about)


def licence_of(about: metadata.PackageMetadata) -> str:
    """The licence as an SPDX expression, as far as the metadata tell."""
    if expression := about["License-Expression"]:
        return str(expression)
    classifiers = [
        each.rpartition(" :: ")[2]
        for each in about.get_all("Classifier") or []
        # Classifiers that say who approves of a licence name none.
        if each.startswith("License :: ") and not each.lower().endswith(" approved")
    ]
    known = [NAMES.get(each.lower(), each) for each in classifiers]
    if known:
        return " AND ".join(known)
    words = str(about["License"] or "").strip().splitlines()
    return NAMES.get(words[0].strip().lower(), words[0].strip()) if words else ""


def main() -> int:
    """Prints who has which licence; 1 if some is not permissive."""
    by: dict[str, list[str]] = {}
    refused = []
    for name, licence in [*crates(), *packages()]:
        by.setdefault(licence, []).append(name)
        if not allowed(licence) and DEVELOPMENT.get(name) != licence:
            refused.append(f"{name}: {licence or 'no licence is given'}")
    for licence, names in sorted(by.items()):
        print(f"{licence}: {', '.join(sorted({*names}))}")
    if refused:
        print("\nNot permissive:\n" + "\n".join(refused), file=sys.stderr)
    return 1 if refused else 0


if __name__ == "__main__":
    sys.exit(main())
