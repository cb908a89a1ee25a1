"""`python -m floatgate`, the same as the command `floatgate`."""

from floatgate.cli import main

main()
