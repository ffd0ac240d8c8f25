"""`python -m robustssl` is the command robustssl."""

from robustssl.cli import main

main()
