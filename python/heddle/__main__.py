"""`python -m heddle` is the command `heddle`."""
from heddle._command import main

main()
