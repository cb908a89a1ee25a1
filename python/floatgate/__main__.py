"""`python -m floatgate`, the same as the command `floatgate`."""

import sys

if not sys.flags.safe_path:
    # Python puts the current folder first: files there would be imported in place of floatgate's
    # own.
    del sys.path[0]

from floatgate.process import main

main()
