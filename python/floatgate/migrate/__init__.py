"""From other simulators: their parameter files as drives and workloads of ours.

`mqsim.py` and `ssdsim.py` give, for each of their parameters, its meaning here, or the reason why
it has no counterpart. Nothing is passed over: a parameter that neither table names is reported as
unknown.
"""

SHAPES_RESULTS = False
