"""time-left

Prints the seconds that are left until the run is ended.
"""

from __future__ import annotations

import sys

from asking import ask

if __name__ == "__main__":
    if len(sys.argv) > 1:
        print(__doc__.strip())
    else:
        print(f"{ask('/codecap/time-left', {})['seconds']:.0f}")
