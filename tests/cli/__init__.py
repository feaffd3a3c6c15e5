"""Does the command do what it says? Tests through `nullforest` itself."""
