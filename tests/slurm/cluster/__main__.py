"""`python -m tests.slurm.cluster up DIR` and `... down DIR`."""

import sys
import time
from pathlib import Path

from .life import ClusterError, bring_down, bring_up

USAGE = "usage: python -m tests.slurm.cluster up DIR | down DIR"


def main(arguments: list[str]) -> str | None:
    """A message where it failed, for `sys.exit`."""
    if len(arguments) != 2 or arguments[0] not in ("up", "down"):
        return USAGE
    folder = Path(arguments[1]).absolute()
    started = time.monotonic()
    try:
        if arguments[0] == "up":
            cluster = bring_up(folder)
            limits = "by cgroups" if cluster.cgroups else "by sampling once a second"
            print(f"up in {time.monotonic() - started:.1f} s; memory limits are kept {limits}; end it with: down {folder}")
        else:
            bring_down(folder)
            print(f"down in {time.monotonic() - started:.1f} s")
    except ClusterError as error:
        return f"cluster: {error}"
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
