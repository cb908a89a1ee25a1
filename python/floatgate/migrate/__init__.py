"""From other simulators: their parameter files as drives and workloads of ours.

`mqsim.py` and `ssdsim.py` say, for each parameter of theirs, what it is here, or why it has no
counterpart. Nothing is passed over: a parameter that neither table names is reported as unknown.
"""

SHAPES_RESULTS = False
