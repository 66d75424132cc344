"""The command; its functions are in a module that other processes can import."""

import sys

from tests.simulation.mass import main

if __name__ == "__main__":
    sys.exit(main())
