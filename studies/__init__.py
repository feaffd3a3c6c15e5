"""Long statistical studies: resumable, each result a CSV with its seed and version."""
