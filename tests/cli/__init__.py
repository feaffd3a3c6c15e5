"""Tests of the command, through `nullforest` itself."""
