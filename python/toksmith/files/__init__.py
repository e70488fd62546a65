"""Files: reading what a stranger may have written, writing whole files or none, temporary files, text and JSON."""
