"""Pages of results: what was published beside what came out here, plots, and the runs."""
