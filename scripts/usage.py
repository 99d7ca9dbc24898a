"""What programs in scripts/ and bench/ do with --help."""
import sys


def show_help(text):
    """Prints a program's text and ends it, if an argument asks for help."""
    if {"-h", "--help"} & set(sys.argv[1:]):
        print(text.strip())
        sys.exit()
