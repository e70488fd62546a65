"""Published encodings: their definitions, the models that have them, and their rank files on this machine."""
