"""Measures what a run on many machines depends on; see docs/scale.md.

usage: python benches/scale gather OUT FOLDERS...   real text of this machine, by kind
       python benches/scale heaps FILES...          how the number of different pretokens grows
       python benches/scale sample FILES...         what samples and leaving out rare pretokens change
       python benches/scale rates FILES...          processor time of each step, memory for each different pretoken
       python benches/scale plan                    figures for 10 TB and 100 TB from such measurements
"""

from __future__ import annotations

import argparse

import gather
import growth
import plan
import rates
import sampling

COMMANDS = {"gather": gather, "heaps": growth, "sample": sampling, "rates": rates, "plan": plan}


def main() -> None:
    parser = argparse.ArgumentParser(prog="benches/scale", description="Measure what a run on many machines takes.")
    commands = parser.add_subparsers(dest="command", required=True)
    for name, module in COMMANDS.items():
        own = commands.add_parser(
            name, description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
        )
        module.add_options(own)
    options = parser.parse_args()
    COMMANDS[options.command].run(options)


if __name__ == "__main__":
    main()
