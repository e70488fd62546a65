"""Files: reading files from strangers, writing whole files or none, temporary files, text and JSON."""
