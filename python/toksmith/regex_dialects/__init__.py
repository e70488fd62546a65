"""Patterns of other regular-expression engines, written for the `regex` package, and a limit on their size."""
