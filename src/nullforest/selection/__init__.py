"""From p-values to an answer: error rates, the Selection, its trajectory."""
