"""`python -m solstice.locate NAME`: prints the file of the module `package.module`, importing none of it.

Exits with 1 where there is none.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from typing import Optional


def locate(name: str) -> Optional[str]:
    path = None  # sys.path
    spec = None
    for end in range(1, len(parts := name.split(".")) + 1):
        spec = PathFinder.find_spec(".".join(parts[:end]), path)
        if spec is None:
            return None
        path = list(spec.submodule_search_locations or ())
    return spec.origin if spec and spec.has_location else None


def main() -> int:
    found = locate(sys.argv[1])
    if found:
        print(found)
    return 0 if found else 1


if __name__ == "__main__":
    sys.exit(main())
