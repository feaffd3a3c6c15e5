"""The Tally: the selection counts of a forest with what is needed to test them."""
