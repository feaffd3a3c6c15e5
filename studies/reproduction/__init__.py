"""Reproduction of every table and figure of the paper at its own sizes."""
