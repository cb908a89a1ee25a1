"""Pages of text for a terminal: at most 80 columns."""

SHAPES_RESULTS = False
