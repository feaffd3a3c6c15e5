"""The run: a block of trees is grown, added and tested, until the forest is large enough."""
