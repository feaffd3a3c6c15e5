"""Comparison with published tests, other packages, permuted labels, and the paper."""
