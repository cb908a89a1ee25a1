"""A drive that programs can mount: serving it, and speaking to it while it is served."""
