"""The studies that come along, each a folder with what is its own."""
