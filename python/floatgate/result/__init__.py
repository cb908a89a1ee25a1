"""Results: the numbers of a run, where it is stored, and several runs compared."""
