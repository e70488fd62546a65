"""Tokens drawn for people: in a terminal, in a notebook, in a page."""
