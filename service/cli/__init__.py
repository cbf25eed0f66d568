"""The command line: one module for each group of commands, `main` to choose among them.

Exit status: 0 fine, 1 a check failed or something broke, 2 bad use.
"""
