"""The physics of cells: their lifetime, the errors of their pages, the time of reads.

>>> from floatgate import physics
>>> physics.read_us(1), physics.read_us(3), physics.read_us(7)
(70.0, 170.0, 310.0)

docs/physics.md has the equations, and the source of each constant.
"""

from floatgate.engine import Cell, Recovery, correctable, program_us, read_us, reprogram_wear

__all__ = ["Cell", "Recovery", "correctable", "program_us", "read_us", "reprogram_wear"]
