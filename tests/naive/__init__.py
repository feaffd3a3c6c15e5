"""Plain, slow computations that share no code with the library; the tests' oracles."""
