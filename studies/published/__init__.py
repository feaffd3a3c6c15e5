"""Published tests that only the studies use, on nullforest's forests."""
