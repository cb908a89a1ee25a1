"""How long drives last: a run with the model of the cells, years by a fluid model, advice."""
