"""Answers of record: forests and p-values that a change must reproduce, or list as changed."""
