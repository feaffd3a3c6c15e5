"""The data set: columns, target and samples, and all that depends on them alone."""
