#!/usr/bin/env bash
# For developers: %files, %post and %test of codecap.def, for real, where there is no Apptainer. As root, with debootstrap:
#   envs/try_in_chroot.sh /tmp/codecap-chroot
# The folder takes 9 GB and is kept; what is mounted in it is gone at the end. BEFORE_POST is a command that gets the folder as its
# argument before %post, for packages that come from mirrors or behind certificates of your own.
set -euo pipefail
root=${1:?name a folder that is not there yet}
[ -n "${OWN_MOUNTS:-}" ] || OWN_MOUNTS=1 exec unshare --mount --propagation private -- "$0" "$@"
definition=$(dirname "$0")/codecap.def

section() { awk -v heading="%$1" '/^%/ { on = ($1 == heading); next } on' "$definition"; }
inside() { env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin chroot "$root" /bin/sh -c "$1"; }

[ ! -e "$root" ] || { echo "$root: is there already; remove it, or name another folder" >&2; exit 1; }
debootstrap --variant=minbase "$(sed -n 's/^From: debian:\(.*\)-slim$/\1/p' "$definition")" "$root"
section files | while read -r source place; do
    if [ -n "$source" ]; then
        mkdir -p "$(dirname "$root$place")"
        cp -rL "$(dirname "$0")/../$source" "$root$place"
    fi
done
mount -t proc proc "$root/proc"
mkdir -p "$root/dev/shm"
mount -t tmpfs tmpfs "$root/dev/shm"
[ -z "${BEFORE_POST:-}" ] || $BEFORE_POST "$root"
inside "$(section post)"
inside "$(section environment)
$(section test)"
