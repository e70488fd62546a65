"""The command line. A command imports what it needs when it runs; `import toksmith` imports none of it."""

import sys


def main() -> None:
    """Run the `toksmith` command on the arguments of this process, and exit with its status."""
    try:
        from .app import run

        status = run(sys.argv[1:])
    except KeyboardInterrupt:
        status = 130
    sys.exit(status)
