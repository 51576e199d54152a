"""compare PAGE [--at SECONDS ...] [-o PICTURE]

Draws a page at each second of the reference, or at the instants given, and says how alike the two are there: SSIM, 1 where they are
equal. Writes both side by side into PICTURE, `compare.png` by default. Exit status 1: the page failed.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from asking import ask, complaints, page_at, seconds, write


def main() -> int:
    parser = argparse.ArgumentParser("compare", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("page")
    parser.add_argument("--at", nargs="+", type=seconds, action="extend", metavar="SECONDS")
    parser.add_argument("-o", "--out", default="compare.png", type=Path, metavar="PICTURE")
    asked = parser.parse_args()
    told = ask("/codecap/compare", {"page": page_at(asked.page), "at_s": asked.at})
    found = told.get("ssim", [])
    for row in found:
        print(f"{row['time_s']:9.3f} s  SSIM {row['ssim']:.4f}")
    if found:
        print(f"     mean    SSIM {sum(row['ssim'] for row in found) / len(found):.4f}")
        write(asked.out, told["sheet"])
        print(asked.out)
    for line in complaints(told):
        print(line)
    return 0 if told["outcome"] == "ok" else 1


if __name__ == "__main__":
    sys.exit(main())
