"""Tools for every part: errors, files, progress, random streams."""
