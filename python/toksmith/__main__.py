"""`python -m toksmith`."""

from .cli import main

main()
