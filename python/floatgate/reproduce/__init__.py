"""Published results, reproduced."""

SHAPES_RESULTS = False
