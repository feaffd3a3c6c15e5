"""Images of the brain: volumes, surfaces and grayordinates, with the way back to their maps."""
