"""`python -m solstice`: the program."""

import sys

from .launch import main

sys.exit(main())
