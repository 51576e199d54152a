"""Why a machine refuses namespaces, in words, and the way out."""

from __future__ import annotations

from pathlib import Path

NEWER = "install bubblewrap 0.8 or newer (conda install -c conda-forge bubblewrap needs no root)"
OTHERWISE = "or set the sandbox's backend to apptainer, where that is installed; docs/sandbox.md, Where it does not work"
KERNEL = Path("/proc/sys")
SYSCTLS = {  # settings of the kernel, and the value with which it refuses
    "user/max_user_namespaces": ("0", "sysctl user.max_user_namespaces=15000"),
    "kernel/unprivileged_userns_clone": ("0", "sysctl kernel.unprivileged_userns_clone=1"),
    "kernel/apparmor_restrict_unprivileged_userns": (
        "1",
        "an AppArmor profile that lets bwrap make user namespaces, or sysctl kernel.apparmor_restrict_unprivileged_userns=0",
    ),
}
NAMESPACES = ("namespace", "uid map", "gid map", "RTM_NEWADDR", "setgroups")
PROC = ("mount proc", "/newroot/proc")


def no_program(name: str) -> str:
    return (
        f"{name}: not found; agents run in a sandbox made by bubblewrap: apt-get install bubblewrap, dnf install bubblewrap, "
        f"or without root conda install -c conda-forge bubblewrap; {OTHERWISE}"
    )


def explained(said: str) -> str:
    """What bubblewrap said, and what to do about it."""
    if not said.startswith("bwrap: "):
        return said
    if any(words in said for words in PROC):
        return (
            f"{said}: this container hides parts of /proc, so that no sandbox in it can have its own; start the container with "
            f"--security-opt systempaths=unconfined (docker, podman), or run outside of it, {OTHERWISE}"
        )
    if any(words in said for words in NAMESPACES):
        return f"{said}: plain users may not make user namespaces here; {_way_out()}, {OTHERWISE}"
    if "seccomp" in said:
        return f"{said}: this kernel has no filters of system calls; set system_call_filter: false to do without"
    return said


def _way_out() -> str:
    """By the settings of this kernel."""
    for name, (refusing, cure) in SYSCTLS.items():
        setting = KERNEL / name
        try:
            if setting.read_text().strip() == refusing:
                return f"{name.replace('/', '.')} is {refusing}, so ask an administrator for {cure}"
        except OSError:
            continue
    return (
        "in a container, start that with --security-opt seccomp=unconfined --security-opt systempaths=unconfined; "
        "on a node, ask an administrator"
    )
