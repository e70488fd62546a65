"""Stand-ins for other libraries: change the import, keep the program.

Each module here has the names, the signatures and the results of the library that it is named after, and runs on
toksmith. Its page in `docs/` lists where it differs from the original, and why.
"""
