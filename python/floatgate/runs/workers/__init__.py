"""Where runs are carried out: in this process, or in several at a time."""
