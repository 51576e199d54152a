#!/usr/bin/env bash
# What base.yaml cannot say. Snakemake runs it once in the new environment; by hand: conda activate, then bash envs/base.post-deploy.sh
set -euo pipefail
: "${CONDA_PREFIX:?activate the environment first}"

# Meta's SAM 2, by the line of envs/sam2.txt: this script runs as a copy elsewhere and cannot read it there (a test compares them)
SAM2_BUILD_CUDA=0 python -m pip install --quiet --no-deps --no-build-isolation --require-hashes -r /dev/stdin <<'PIN'
sam2==1.1.0 --hash=sha256:7e0ea252d43c10d853e3acfce0b5770ac683c30481bd6de311300e9d44f45b74
PIN

# The browser that this Playwright is made for, inside the environment
browsers="$CONDA_PREFIX/share/ms-playwright"
PLAYWRIGHT_BROWSERS_PATH="$browsers" python -m playwright install chromium-headless-shell
shell=$(find "$browsers" -type f \( -name chrome-headless-shell -o -name headless_shell \) | sort | tail -n 1)
[ -n "$shell" ] || { echo "codecap: playwright put no headless shell into $browsers" >&2; exit 1; }

# It alone gets the environment's libraries: in LD_LIBRARY_PATH of everything they would break the node's own programs. libgbm is
# packed for compilers, beside a C library that must not be found.
libraries="$CONDA_PREFIX/share/codecap/lib"
mkdir -p "$libraries"
find "$CONDA_PREFIX" -path '*/sysroot/*' -name 'libgbm.so.1' -exec ln -sf {} "$libraries/" \;
cat >"$CONDA_PREFIX/bin/chromium-headless-shell" <<WRAPPER
#!/bin/sh
export LD_LIBRARY_PATH="$CONDA_PREFIX/lib:$libraries\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
exec "$shell" "\$@"
WRAPPER
chmod +x "$CONDA_PREFIX/bin/chromium-headless-shell"
"$CONDA_PREFIX/bin/chromium-headless-shell" --version || {
    echo "codecap: the browser does not start (above: why); a library that is missing belongs into envs/base.yaml" >&2
    exit 1
}

# The browser's own fontconfig and the one that Python asks must read the same fonts, and packages in ~/.local must not get in
mkdir -p "$CONDA_PREFIX/etc/conda/activate.d" "$CONDA_PREFIX/etc/conda/deactivate.d"
cat >"$CONDA_PREFIX/etc/conda/activate.d/zz-codecap.sh" <<'ACTIVATE'
export FONTCONFIG_FILE="$CONDA_PREFIX/etc/fonts/fonts.conf" PYTHONNOUSERSITE=1
ACTIVATE
cat >"$CONDA_PREFIX/etc/conda/deactivate.d/zz-codecap.sh" <<'DEACTIVATE'
unset FONTCONFIG_FILE PYTHONNOUSERSITE
DEACTIVATE
