"""What there is to read, in words for a terminal: at most 80 columns."""

SHAPES_RESULTS = False
