"""The included studies, each in a folder of its own."""
