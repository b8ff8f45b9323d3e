"""`python -m soak`."""

import sys

from soak.course import main

sys.exit(main(sys.argv[1:]))
