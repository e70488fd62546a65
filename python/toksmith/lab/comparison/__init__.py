"""`toksmith.lab.compare`: how tokenizers encode the same texts."""
