"""Builds the site of the documentation: `python -m docsite FOLDER`, or `make docs`.

Every page of `docs` is taken as it is; the pages of the policies and the references are made from
the program's own descriptions. The pages need no network.
"""
