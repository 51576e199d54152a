"""The whole tree is counted: known loads in children, daemons and grandchildren, also those that the kernel forgets."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import uuid

import psutil
import pytest

from codecap.bench.process_cost import CommandFailed, Sampler, measure_process

BURN_S = 0.4
BURN = f"import time\nwhile time.process_time() < {BURN_S}: pass"


def in_python(code: str) -> list[str]:
    return [sys.executable, "-c", code]


def test_cpu_of_a_child_of_a_child_and_of_a_daemon_is_counted():
    orphan = f"""
import os, subprocess, sys
burn = {BURN!r}
subprocess.Popen([sys.executable, "-c", burn], start_new_session=True)  # not waited for: an orphan
subprocess.run([sys.executable, "-c", "import subprocess, sys; subprocess.run([sys.executable, '-c', sys.argv[1]])", burn])
"""
    cost = measure_process(in_python(orphan))
    assert 2 * BURN_S <= cost.cpu_s < 2 * BURN_S + 0.6  # and five starts of Python
    assert cost.peak_mb is None and cost.left_running == 0


def test_cpu_of_what_ends_with_a_process_namespace_is_counted():
    """A caged browser does; the account of ended children that the kernel keeps holds nothing of it."""
    unshare = ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--kill-child"]
    if not shutil.which("unshare") or subprocess.run([*unshare, "true"], capture_output=True, check=False).returncode:
        pytest.skip("no process namespaces here")
    burn = f"{BURN}\nprint(flush=True)\ntime.sleep(60)"
    burn_in_background = f"import subprocess, sys; subprocess.Popen([sys.executable, '-c', {burn!r}], stdout=-1).stdout.readline()"
    cost = measure_process([*unshare, *in_python(burn_in_background)])
    assert cost.cpu_from in ("control group", "sampling")
    assert 0.8 * BURN_S <= cost.cpu_s < BURN_S + 0.5


def test_sampling_finds_the_time_of_every_descendant():
    sampler = Sampler(memory=False)
    try:
        nested = f"import subprocess, sys; subprocess.run([sys.executable, '-c', {BURN!r}]); import time; time.sleep(0.2)"
        subprocess.run(in_python(nested), check=True)
    finally:
        sampler.stop()
    assert 0.8 * BURN_S <= sampler.cpu_s < BURN_S + 0.4


def test_memory_counts_a_shared_page_once_and_a_browser_apart(tmp_path):
    program = tmp_path / "chromium-like"
    program.symlink_to(sys.executable)
    hold = "import mmap, os, time; m = mmap.mmap(-1, 100_000_000); m.write(b'x' * 100_000_000); os.fork(); time.sleep(0.8)"
    start = f"import subprocess; subprocess.run([{str(program)!r}, '-c', {hold!r}])"
    cost = measure_process(in_python(start), memory=True)
    assert 100 < cost.peak_mb < 260  # 100 MB shared by two, and once more while it is written
    assert cost.peak_beside_browser_mb < 40


def test_a_command_that_fails_is_told_with_its_last_words():
    with pytest.raises(CommandFailed, match="status 3: no luck"):
        measure_process(in_python("print('no luck'); raise SystemExit(3)"))


def test_a_command_that_never_ends_is_ended_with_all_its_children():
    mark = f"codecap-test-{uuid.uuid4().hex}"
    child = ["-c", "import time; time.sleep(60)", mark]
    sleeper = f"import subprocess, sys, time; subprocess.Popen([sys.executable, *{child!r}]); time.sleep(60)"
    with pytest.raises(CommandFailed, match="limit of 0.5 s"):
        measure_process(in_python(sleeper), limit_s=0.5)
    assert not [one for one in psutil.process_iter(["cmdline"]) if mark in (one.info["cmdline"] or [])[-1:]]


def test_the_environment_is_the_one_given():
    environment = {**os.environ, "CODECAP_TEST": "seen"}
    code = "import os; raise SystemExit(os.environ.get('CODECAP_TEST') != 'seen')"
    assert measure_process(in_python(code), env=environment).wall_s > 0
