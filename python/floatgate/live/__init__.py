"""A drive that programs can mount: serving it, and controlling it while it is served."""
