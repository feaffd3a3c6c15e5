"""What every part uses: errors, files, progress, random streams."""
