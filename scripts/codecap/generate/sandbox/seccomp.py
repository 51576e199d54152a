"""A filter of system calls, as the kernel's small programs: what no agent needs and what has let others out of their walls.

It refuses to look into other processes, new namespaces and mounts, kernel modules, keyrings, the kernel's own programs (bpf,
io_uring, performance events), all addresses but the usual ones (a virtual machine's AF_VSOCK leads to its host past all network
namespaces), and typing into terminals.
"""

from __future__ import annotations

import errno
import platform
import struct
from collections.abc import Iterable

# Numbers of the calls on x86_64 and aarch64, from the kernel's tables (arch/x86/entry/syscalls, asm-generic/unistd.h).
REFUSED = {
    "ptrace": (101, 117),
    "process_vm_readv": (310, 270),
    "process_vm_writev": (311, 271),
    "kcmp": (312, 272),
    "pidfd_getfd": (438, 438),
    "add_key": (248, 217),
    "request_key": (249, 218),
    "keyctl": (250, 219),
    "bpf": (321, 280),
    "perf_event_open": (298, 241),
    "userfaultfd": (323, 282),
    "unshare": (272, 97),
    "setns": (308, 268),
    "mount": (165, 40),
    "umount2": (166, 39),
    "pivot_root": (155, 41),
    "chroot": (161, 51),
    "open_tree": (428, 428),
    "move_mount": (429, 429),
    "fsopen": (430, 430),
    "fsconfig": (431, 431),
    "fsmount": (432, 432),
    "fspick": (433, 433),
    "mount_setattr": (442, 442),
    "open_by_handle_at": (304, 265),
    "quotactl": (179, 60),
    "quotactl_fd": (443, 443),
    "swapon": (167, 224),
    "swapoff": (168, 225),
    "acct": (163, 89),
    "syslog": (103, 116),
    "reboot": (169, 142),
    "init_module": (175, 105),
    "finit_module": (313, 273),
    "delete_module": (176, 106),
    "kexec_load": (246, 104),
    "kexec_file_load": (320, 294),
}
UNKNOWN = {  # answered as by a kernel that does not have them, so that programs take their older way
    "clone3": (435, 435),  # its flags cannot be seen from here
    "io_uring_setup": (425, 425),
    "io_uring_enter": (426, 426),
    "io_uring_register": (427, 427),
}
HIDDEN_MEMORY = {  # memory that no process shows as its own
    "memfd_create": (319, 279),
    "memfd_secret": (447, 447),
    "shmget": (29, 194),
}
CLONE, SOCKET, IOCTL = (56, 220), (41, 198), (16, 29)
NEW_NAMESPACES = 0x7E020000  # CLONE_NEWNS, NEWCGROUP, NEWUTS, NEWIPC, NEWUSER, NEWPID, NEWNET
ADDRESS_FAMILIES = (1, 2, 10, 16)  # unix, IPv4, IPv6, netlink (which lists network interfaces)
TERMINAL_CALLS = (0x5412, 0x541C)  # TIOCSTI, TIOCLINUX
MACHINES = {"x86_64": (0, 0xC000003E), "aarch64": (1, 0xC00000B7)}  # column above, and the kernel's name of the architecture
X32 = 0x40000000

LOAD, EQUAL, AT_LEAST, ANY_BIT, RETURN = 0x20, 0x15, 0x35, 0x45, 0x06
ALLOW, ERROR = 0x7FFF0000, 0x00050000
NUMBER_AT, MACHINE_AT, ARGUMENTS_AT = 0, 4, 16


def known_machine() -> bool:
    """There is a table of calls for this machine."""
    return platform.machine() in MACHINES


def program(machine: str, hidden_memory: bool) -> bytes:
    """The filter, to be read by `bwrap --seccomp`.

    Args:
        machine: as `platform.machine()` names it.
        hidden_memory: allow memory that only a control group can count.
    """
    column, name = MACHINES[machine]
    unknown = UNKNOWN | ({} if hidden_memory else HIDDEN_MEMORY)
    code = [
        _do(LOAD, MACHINE_AT),
        *_unless(EQUAL, name, errno.ENOSYS),
        _do(LOAD, NUMBER_AT),
        *_if(AT_LEAST, X32, errno.ENOSYS),
    ]
    for calls, answer in ((REFUSED, errno.EPERM), (unknown, errno.ENOSYS)):
        for numbers in calls.values():
            code += _if(EQUAL, numbers[column], answer)
    code += _by_argument(CLONE[column], 0, _if(ANY_BIT, NEW_NAMESPACES, errno.EPERM))
    code += _by_argument(IOCTL[column], 1, [step for call in TERMINAL_CALLS for step in _if(EQUAL, call, errno.EPERM)])
    code += _by_argument(SOCKET[column], 0, _unless_one_of(ADDRESS_FAMILIES, errno.EAFNOSUPPORT))
    return b"".join([*code, _do(RETURN, ALLOW)])


def _do(what: int, value: int, if_true: int = 0, if_false: int = 0) -> bytes:
    """One instruction; jumps count instructions from the next one on."""
    return struct.pack("<HBBI", what, if_true, if_false, value)


def _refuse(answer: int) -> bytes:
    return _do(RETURN, ERROR | answer)


def _if(test: int, value: int, answer: int) -> list[bytes]:
    return [_do(test, value, 0, 1), _refuse(answer)]


def _unless(test: int, value: int, answer: int) -> list[bytes]:
    return [_do(test, value, 1, 0), _refuse(answer)]


def _unless_one_of(values: Iterable[int], answer: int) -> list[bytes]:
    known = list(values)
    tests = [_do(EQUAL, value, len(known) - at, 0) for at, value in enumerate(known)]
    return [*tests, _refuse(answer)]


def _by_argument(number: int, argument: int, tests: list[bytes]) -> list[bytes]:
    """Tests of a call's argument (its lower half), and then all is allowed; other calls go on."""
    inner = [_do(LOAD, ARGUMENTS_AT + 8 * argument), *tests, _do(RETURN, ALLOW)]
    return [_do(EQUAL, number, 0, len(inner)), *inner]
