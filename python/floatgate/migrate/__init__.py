"""Parameter files of other simulators, converted to our drives and workloads.

`mqsim.py` and `ssdsim.py` give, for each of their parameters, its meaning here, or the reason why
it has no counterpart. A parameter that neither table names is reported as unknown.
"""

SHAPES_RESULTS = False
