"""Does the paper reproduce? Every table and figure of it at its own sizes."""
