"""Blocks of trees: their settings, the kernel that grows them, and what they predict."""
