"""Runs inside a sandbox and tries to get out of it; what it could do, it prints as JSON. By path, on a bare Python."""

# ruff: noqa: PTH101, PTH102, PTH108, PTH118, PTH123, PTH208, PTH211

import ctypes
import errno
import json
import os
import resource
import signal
import socket
import stat
import sys

libc = ctypes.CDLL(None, use_errno=True)
PTRACE_ATTACH, PR_SET_DUMPABLE = 16, 4
CLONE_NEWUSER, CLONE_NEWNET, MS_REMOUNT, MS_BIND = 0x10000000, 0x40000000, 32, 4096
KERNEL_SETTINGS = (
    "/proc/sys/kernel/core_pattern",
    "/proc/sys/vm/drop_caches",
    "/proc/sysrq-trigger",
    "/proc/irq/default_smp_affinity",
)
SKIPPED = ["/proc", "/usr", "/nix", "/gnu"]


def refusal(call, *arguments):
    """Name of the error that a call gives; "done" for none."""
    try:
        call(*arguments)
    except OSError as error:
        return errno.errorcode.get(error.errno, str(error.errno))
    except ValueError as error:  # a limit above the highest
        return str(error)
    return "done"


def by_libc(name, *arguments):
    ctypes.set_errno(0)
    if getattr(libc, name)(*arguments) == -1:
        raise OSError(ctypes.get_errno(), name)


def syscall(number, *arguments):
    by_libc("syscall", number, *arguments)


def read(path):
    with open(path, "rb") as file:
        return file.read(1_000_000)


def connect(family, address):
    with socket.socket(family, socket.SOCK_STREAM) as client:
        client.settimeout(2)
        client.connect(address)


def open_socket(family):
    socket.socket(
        family, socket.SOCK_STREAM if family == 1 else socket.SOCK_RAW if family in (17, 16) else socket.SOCK_STREAM
    ).close()


def folders():
    """All that can be seen, but the system's own programs."""
    for where, inner, _ in os.walk("/"):
        inner[:] = [name for name in inner if os.path.join(where, name) not in SKIPPED]
        yield where


def writable():
    """Mount points and folders in which a file can be made."""
    found = []
    for where in [*folders(), "/proc", "/usr", "/usr/bin", "/usr/local/bin", "/proc/self", "/proc/sys/kernel"]:
        if refusal(make, os.path.join(where, "made-by-adversary")) == "done":
            found.append(where)
    return found


def make(path):
    os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY))
    os.unlink(path)


def kernel_settings():
    """Files of the kernel's that can be opened for writing; nothing is written."""
    found = []
    for where, inner, files in os.walk("/proc"):
        if where == "/proc":
            inner[:] = [name for name in inner if not name.isdigit() and name not in ("self", "thread-self")]
        found += [f"{where}/{name}" for name in files if refusal(open_for_writing, f"{where}/{name}") == "done"]
    return found


def sockets():
    found = []
    for where in folders():
        for name in os.listdir(where) if os.access(where, os.R_OK) else []:
            path = os.path.join(where, name)
            if refusal(os.lstat, path) == "done" and stat.S_ISSOCK(os.lstat(path).st_mode):
                found.append(path)
    return found


def with_token(token):
    """Places under /proc that show a word."""
    found = []
    for process in filter(str.isdigit, os.listdir("/proc")):
        for file in ("environ", "cmdline", "mountinfo", "maps", "comm"):
            path = f"/proc/{process}/{file}"
            if refusal(read, path) == "done" and token.encode() in read(path):
                found.append(path)
    return found


def leave_traps(private):
    """Links and other things in the work folder, for whoever reads it later."""
    os.chdir("/work")
    os.symlink(private, "index.html")
    os.symlink("/", "root")
    os.symlink("../secret.txt", "above.html")
    os.mkfifo("pipe.html")
    with open("large.html", "wb") as file:
        file.truncate(20_000_000)
    os.mkdir("closed")
    with open("closed/page.html", "w") as file:
        file.write("<html>")
    deep = "/work"
    for number in range(40):
        deep = f"{deep}/d{number}"
        os.mkdir(deep)
    os.chmod("closed", 0)
    return refusal(os.link, "/usr/bin/env", "/work/env"), refusal(os.mknod, "/work/disk", stat.S_IFBLK | 0o600, os.makedev(8, 0))


def main():
    told = json.loads(sys.argv[1])
    SKIPPED.extend(told["programs"])
    pid, token, private = told["pid"], told["token"], told["private"]
    network = {
        "host": refusal(connect, socket.AF_INET, ("127.0.0.1", told["port"])),
        "world": refusal(connect, socket.AF_INET, ("192.0.2.1", 443)),
        "world6": refusal(connect, socket.AF_INET6, ("2001:db8::1", 443)),
        "abstract": refusal(connect, socket.AF_UNIX, "\0" + told["abstract"]),
        "unix": refusal(connect, socket.AF_UNIX, told["unix"]),
        "vsock": refusal(open_socket, 40),
        "packet": refusal(open_socket, 17),
        "alg": refusal(open_socket, 38),
        "interfaces": [name for _, name in socket.if_nameindex()],
    }
    status = dict(line.split(":\t", 1) for line in read("/proc/self/status").decode().splitlines() if ":\t" in line)
    report = {
        "uid": os.getuid(),
        "environment": dict(os.environ),
        "stdin": os.read(0, 10).decode(),
        "read": {path: refusal(read, path) for path in told["paths"]},
        "listed": {path: sorted(os.listdir(path)) for path in ("/", "/home", "/work", "/input")},
        "token": with_token(token),
        "descriptors": [number for number in os.listdir("/proc/self/fd") if refusal(os.fstat, int(number)) == "done"],
        "network": network,
        "sockets": sockets(),
        "writable": writable(),
        "capabilities": {name: int(status[name], 16) for name in ("CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb")},
        "walls": [status["NoNewPrivs"], status["Seccomp"]],
        "others": {"kill": refusal(os.kill, pid, signal.SIGKILL), "ptrace": refusal(by_libc, "ptrace", PTRACE_ATTACH, pid, 0, 0)},
        "reaper": refusal(by_libc, "ptrace", PTRACE_ATTACH, 1, 0, 0),
        "calls": {
            "namespace": refusal(by_libc, "unshare", CLONE_NEWUSER),
            "network": refusal(by_libc, "unshare", CLONE_NEWNET),
            "remount": refusal(by_libc, "mount", None, b"/usr", None, MS_REMOUNT | MS_BIND, None),
            "mount": refusal(by_libc, "mount", b"none", b"/tmp", b"tmpfs", 0, None),
            "chroot": refusal(os.chroot, "/work"),
            "clone3": refusal(syscall, 435, 0, 0),
            "keyctl": refusal(syscall, {"x86_64": 250, "aarch64": 219}[os.uname().machine], 0, 0, 0),
            "setuid": refusal(os.setuid, 0),
            "hostname": refusal(socket.sethostname, "mine"),
            "higher limit": refusal(resource.setrlimit, resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY)),
            "spared": refusal(write, "/proc/self/oom_score_adj", "-500"),
        },
        "kernel": kernel_settings(),
        "traps": leave_traps(private),
    }
    print(json.dumps(report))


def open_for_writing(path):
    os.close(os.open(path, os.O_WRONLY | os.O_NONBLOCK))


def write(path, text):
    with open(path, "w") as file:
        file.write(text)


main()
