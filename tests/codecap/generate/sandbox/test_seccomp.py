"""The filter of system calls, run by a small machine as the kernel runs it."""

import errno
import struct

import pytest

from codecap.generate.sandbox.seccomp import MACHINES, REFUSED, program

ALLOWED = "allowed"


def answer(filter_: bytes, number: int, *arguments: int, machine: int) -> str:
    """What the kernel would answer a call (seccomp_data: number, architecture, instruction pointer, six arguments)."""
    data = struct.pack("<iIQ6Q", number, machine, 0, *(arguments + (0,) * 6)[:6])
    steps = list(struct.iter_unpack("<HBBI", filter_))
    at, held = 0, 0
    while True:
        code, if_true, if_false, value = steps[at]
        at += 1
        if code == 0x20:
            held = struct.unpack_from("<I", data, value)[0]
        elif code == 0x06:
            return ALLOWED if value == 0x7FFF0000 else errno.errorcode[value & 0xFFFF]
        else:
            holds = {0x15: held == value, 0x35: held >= value, 0x45: bool(held & value)}[code]
            at += if_true if holds else if_false


@pytest.fixture(params=sorted(MACHINES))
def asked(request):
    machine = request.param

    def ask(x86_64: int, aarch64: int, *arguments: int, hidden_memory: bool = True) -> str:
        number = x86_64 if machine == "x86_64" else aarch64
        return answer(program(machine, hidden_memory), number, *arguments, machine=MACHINES[machine][1])

    return ask


def test_usual_calls_are_allowed(asked):
    for numbers in (
        (0, 63),
        (1, 64),
        (57, 1000),
        (59, 221),
        (231, 94),
        (439, 439),
    ):  # read, write, fork, execve, exit_group, faccessat2
        assert asked(*numbers) == ALLOWED


def test_what_no_agent_needs_is_refused(asked):
    assert {asked(*numbers) for numbers in REFUSED.values()} == {"EPERM"}
    assert asked(435, 435) == asked(425, 425) == "ENOSYS"


def test_processes_and_threads_but_no_namespaces(asked):
    assert asked(56, 220, 0x003D0F00) == ALLOWED  # CLONE_VM | FS | FILES | SIGHAND | THREAD | SYSVSEM | SETTLS | ...
    assert asked(56, 220, 17) == ALLOWED  # SIGCHLD alone: fork
    for flag in (0x00020000, 0x02000000, 0x04000000, 0x08000000, 0x10000000, 0x20000000, 0x40000000):
        assert asked(56, 220, flag | 17) == "EPERM"


def test_usual_addresses_only(asked):
    assert {asked(41, 198, family) for family in (1, 2, 10, 16)} == {ALLOWED}
    assert {asked(41, 198, family) for family in (17, 38, 40, 29, 44)} == {"EAFNOSUPPORT"}  # packet, alg, vsock, can, xdp


def test_nobody_types_into_terminals(asked):
    assert asked(16, 29, 0, 0x5401) == ALLOWED
    assert asked(16, 29, 0, 0x5412) == asked(16, 29, 0, 0xFFFFFFFF_00005412) == "EPERM"


def test_memory_that_nobody_counts_is_refused_only_where_it_would_not_be(asked):
    for numbers in ((319, 279), (29, 194)):
        assert asked(*numbers) == ALLOWED
        assert asked(*numbers, hidden_memory=False) == "ENOSYS"


def test_other_ways_to_call_the_kernel_are_closed():
    whole = program("x86_64", hidden_memory=True)
    assert answer(whole, 0, machine=0x40000003) == "ENOSYS"  # i386
    assert answer(whole, 0x40000000, machine=MACHINES["x86_64"][1]) == "ENOSYS"  # x32
