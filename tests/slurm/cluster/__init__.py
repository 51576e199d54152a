"""A real SLURM on this machine, for tests: munge, MariaDB, slurmdbd, slurmctld and two nodes, one with two fake GPUs.

    python -m tests.slurm.cluster up DIR
    python -m tests.slurm.cluster down DIR

All that it keeps lies in DIR; it listens on the loopback interface alone. It takes the place of /etc/slurm while it is up (jobs of
Snakemake's executor find their cluster there), so there is one at a time on a machine, and root is needed.
"""

from .life import Cluster, ClusterError, bring_down, bring_up, in_use

__all__ = ["Cluster", "ClusterError", "bring_down", "bring_up", "in_use"]
