"""Builds the site of the documentation: `python -m docsite FOLDER`, or `make docs`.

Every page of `docs` is taken as it lies there; the pages of the policies and the references are
made from what the program itself says of them. The pages need no network.
"""
