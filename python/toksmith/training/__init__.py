"""Training: from files and texts to pretoken counts, and from counts to the merges of a tokenizer."""
