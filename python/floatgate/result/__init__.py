"""Results: what a run gave, where it is stored, and several side by side."""
