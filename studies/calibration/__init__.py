"""Calibration study: false positive rates, false discovery proportions and power."""
