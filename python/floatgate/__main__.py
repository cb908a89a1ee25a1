"""`python -m floatgate`, the same as the command `floatgate`."""

import sys

if not sys.flags.safe_path:
    # Python puts the current folder first: whatever lies there would be imported in place of what
    # floatgate means.
    del sys.path[0]

from floatgate.process import main

main()
