"""The command `heddle` of the wheel: becomes the program that lies in the package."""
import os
import sys


def main():
    from heddle._places import command
    try:
        os.execv(command(), ["heddle", *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"heddle: {error}")
