"""Small changes of our own code, and which of them the tests catch: `run.py`."""
