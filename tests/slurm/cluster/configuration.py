"""The configuration files of the cluster."""

import hashlib
import socket
from dataclasses import dataclass
from pathlib import Path

CPUS = 12  # of each node, more than this machine may have: who submits jobs says how many run at once
MEMORY_MB = 64_000  # likewise
GPUS = 2
NODES = {"n1": ("cpu", "network"), "n2": ("gpu",)}  # and the partitions that each serves
ACCOUNT = "benchmark"


@dataclass(frozen=True)
class Layout:
    """One cluster: where its files lie, and which ports it listens on.

    Attributes:
        cgroups: whether memory limits are kept by the kernel; otherwise SLURM samples the memory of jobs once a second.
    """

    folder: Path
    ports: dict[str, int]
    cgroups: bool

    @property
    def name(self) -> str:
        """Name of the cluster, another one for each folder: jobs carry it in their environment, so that theirs are known."""
        return "codecap" + hashlib.sha256(str(self.folder).encode()).hexdigest()[:8]

    @property
    def gpus(self) -> list[Path]:
        return [self.folder / f"gpu{number}" for number in range(GPUS)]

    @property
    def munge_socket(self) -> Path:
        return self.folder / "munge" / "socket"

    def files(self) -> dict[str, str]:
        """Text of each file."""
        return {
            "slurm.conf": _slurm(self),
            "slurmdbd.conf": _slurmdbd(self),
            "gres.conf": f"NodeName=n2 Name=gpu File={self.folder}/gpu[0-{GPUS - 1}]\n",
            "cgroup.conf": CGROUP,
        }


PORTS = ("slurmctld", "slurmdbd", "mariadb", *NODES)

CGROUP = """\
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
ConstrainCores=no
ConstrainRAMSpace=yes
ConstrainSwapSpace=no
ConstrainDevices=no
"""


def _slurm(layout: Layout) -> str:
    folder, ports, host = layout.folder, layout.ports, socket.gethostname().split(".")[0]
    if layout.cgroups:
        limits = "TaskPlugin=task/cgroup\nJobAcctGatherFrequency=2"
    else:
        limits = "TaskPlugin=task/none\nJobAcctGatherFrequency=1\nJobAcctGatherParams=OverMemoryKill"
    lines = f"""\
ClusterName={layout.name}
SlurmctldHost={host}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthInfo=socket={layout.munge_socket}
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
MessageTimeout=30
SlurmctldPort={ports["slurmctld"]}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool/%n
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.%n.pid
SlurmctldLogFile={folder}/log/slurmctld.log
SlurmdLogFile={folder}/log/slurmd.%n.log
MailProg=/bin/true
ProctrackType=proctrack/linuxproc
{limits}
JobAcctGatherType=jobacct_gather/linux
SelectType=select/cons_tres
SelectTypeParameters=CR_Core_Memory
DefMemPerCPU=500
GresTypes=gpu
SlurmdParameters=config_overrides
KillWait=30
MinJobAge=300
ReturnToService=1
SchedulerParameters=sched_min_interval=0,batch_sched_delay=0,bf_interval=2
AccountingStorageType=accounting_storage/slurmdbd
AccountingStorageHost=127.0.0.1
AccountingStoragePort={ports["slurmdbd"]}
AccountingStoragePass={layout.munge_socket}
AccountingStorageTRES=gres/gpu
AccountingStorageEnforce=associations
AccountingStoreFlags=job_comment
"""
    for node, partitions in NODES.items():
        gres = f" Gres=gpu:{GPUS}" if "gpu" in partitions else ""
        lines += f"NodeName={node} NodeHostname={host} NodeAddr=127.0.0.1 Port={ports[node]}"
        lines += f" CPUs={CPUS} RealMemory={MEMORY_MB}{gres}\n"
    for node, partitions in NODES.items():
        for partition in partitions:
            default = " Default=YES" if partition == "cpu" else ""
            lines += f"PartitionName={partition} Nodes={node}{default} MaxTime=4:00:00 DefaultTime=10\n"
    return lines


def _slurmdbd(layout: Layout) -> str:
    folder, ports = layout.folder, layout.ports
    return f"""\
DbdHost=localhost
DbdAddr=127.0.0.1
DbdPort={ports["slurmdbd"]}
SlurmUser=root
AuthInfo=socket={layout.munge_socket}
CommunicationParameters=NoInAddrAny
StorageType=accounting_storage/mysql
StorageHost=127.0.0.1
StoragePort={ports["mariadb"]}
StorageUser=slurm
StoragePass=slurm
StorageLoc=slurm_acct
LogFile={folder}/log/slurmdbd.log
PidFile={folder}/slurmdbd.pid
"""
