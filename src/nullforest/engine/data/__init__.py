"""What the engine reads: rank tables, matrices on disk, targets."""
