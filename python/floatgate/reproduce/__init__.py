"""Published results, made again."""

SHAPES_RESULTS = False
