"""Nothing that a page does reaches a listener, and no file of the machine appears in its picture."""

from __future__ import annotations

import contextlib
import os
import shutil
import socket
import subprocess
import sys
import time

import cv2
import numpy as np
import pytest

from codecap.records import Outcome

BOX = """<body style="margin:0;background:#102030">
<div id="box" style="position:absolute;width:20px;height:20px;background:#fc0"></div>"""


def page(script: str, body: str = "") -> str:
    """A box that moves, with more of a body and a script."""
    return f"<!DOCTYPE html>{BOX}{body}<script>window.seek = t => {{ box.style.left = t * 200 + 'px' }};\n{script}</script>"


def talks(port: int) -> str:
    """Tries every way that a page has to reach a listener on this machine's loopback, at load and in seek."""
    return page(TALKS.replace("PORT", str(port)), LINKS.replace("PORT", str(port))).replace(
        "t * 200 + 'px'", "t * 200 + 'px'; speak()"
    )


LINKS = """
<link rel="dns-prefetch" href="http://localhost:PORT/"><link rel="preconnect" href="http://127.0.0.1:PORT/">
<link rel="prefetch" href="http://127.0.0.1:PORT/a"><link rel="preload" as="image" href="http://127.0.0.1:PORT/b">
<link rel="prerender" href="http://127.0.0.1:PORT/c"><link rel="stylesheet" href="http://127.0.0.1:PORT/d.css">
<link rel="icon" href="http://127.0.0.1:PORT/e.ico"><link rel="manifest" href="http://127.0.0.1:PORT/m.json">
<script type="speculationrules">{"prefetch": [{"source": "list", "urls": ["http://127.0.0.1:PORT/s"]}]}</script>
<style>@import url(http://127.0.0.1:PORT/f.css); body {font-family: g}
@font-face {font-family: g; src: url(http://127.0.0.1:PORT/g.woff)}
i {background: url(http://127.0.0.1:PORT/h.png)}</style><i>text</i><a href="#" ping="http://127.0.0.1:PORT/ping">.</a>
<img src="http://127.0.0.1:PORT/i.png"><img src="http://[::1]:PORT/j.png"><img src="http://0.0.0.0:PORT/k.png">
<iframe src="http://127.0.0.1:PORT/l"></iframe>
<video src="http://127.0.0.1:PORT/v.mp4"></video><object data="http://127.0.0.1:PORT/n"></object>
<embed src="http://127.0.0.1:PORT/o">
<svg><image href="http://127.0.0.1:PORT/p.png"/><use href="http://127.0.0.1:PORT/q.svg#a"/></svg>
"""
TALKS = """
const to = 'http://127.0.0.1:PORT/', quiet = () => {}, tries = [
  () => fetch(to, {mode: 'no-cors', keepalive: true}).catch(quiet),
  () => { const x = new XMLHttpRequest(); x.open('GET', to); x.send() },
  () => navigator.sendBeacon(to, 'x'),
  () => new WebSocket('ws://127.0.0.1:PORT/'),
  () => new EventSource(to),
  () => { const w = new WebTransport('https://127.0.0.1:PORT/'); w.ready.catch(quiet); w.closed.catch(quiet) },
  () => { new Image().src = to + 'image' },
  () => import(to + 'module.js').catch(quiet),
  () => new Worker(URL.createObjectURL(new Blob([`
      fetch('${to}w').catch(() => 0); new WebSocket('ws://127.0.0.1:PORT/w'); try { importScripts('${to}i.js') } catch {}`]))),
  () => new SharedWorker(URL.createObjectURL(new Blob([`fetch('${to}w').catch(() => 0)`]))),
  () => { const p = new RTCPeerConnection({iceServers: [
            {urls: ['stun:127.0.0.1:PORT', 'stun:localhost:PORT']},
            {urls: 'turn:127.0.0.1:PORT?transport=tcp', username: 'a', credential: 'b'}]});
          p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o)).catch(quiet) },
  () => { const f = document.createElement('iframe'); f.sandbox = 'allow-scripts';
          f.srcdoc = `<img src="${to}f"><script>fetch('${to}g').catch(() => 0)<\\/script>`; document.body.append(f) },
  () => window.open(to + 'popup'),
];
window.speak = () => { for (const attempt of tries) try { attempt() } catch {} };
speak();
"""


class Ears:
    """A listener for TCP and UDP at one port of this machine's loopback, which answers nobody."""

    def __enter__(self) -> Ears:
        self._tcp = socket.create_server(("127.0.0.1", 0), backlog=100)
        self.port = self._tcp.getsockname()[1]
        self._udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._udp.bind(("127.0.0.1", self.port))
        for ear in (self._tcp, self._udp):
            ear.setblocking(False)
        return self

    def __exit__(self, *why: object) -> None:
        self._tcp.close()
        self._udp.close()

    def heard(self) -> set[str]:
        """What has been heard since it was made: "tcp", "udp"."""
        found = set()
        with contextlib.suppress(BlockingIOError):
            self._tcp.accept()[0].close()
            found.add("tcp")
        with contextlib.suppress(BlockingIOError):
            self._udp.recvfrom(2000)
            found.add("udp")
        return found


@pytest.mark.parametrize("engine", ["beginframe", pytest.param("playwright", marks=pytest.mark.slow)])
def test_a_listener_hears_nothing(render, engine):
    with Ears() as ears:
        certificate = render(talks(ears.port), engine=engine).certificate
        assert ears.heard() == set()
    assert certificate.outcome == Outcome.OK
    for kind in ("image", "fetch", "websocket"):
        assert any(f":{ears.port}" in blocked and kind in blocked for blocked in certificate.requests_blocked)


def test_the_listener_would_hear_a_browser_that_is_not_shut_in(browser, tmp_path):
    """Else the test before this one would prove nothing."""
    with Ears() as ears:
        source = tmp_path / "talks.html"
        source.write_text(talks(ears.port))
        command = [
            browser,
            "--headless",
            "--no-sandbox",
            f"--user-data-dir={tmp_path}/profile",
            "--remote-debugging-port=0",
            source.as_uri(),
        ]
        free = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            heard, ends_at = set(), time.monotonic() + 20
            while heard != {"tcp", "udp"} and time.monotonic() < ends_at:
                time.sleep(0.05)
                heard |= ears.heard()
        finally:
            os.killpg(free.pid, 9)
            free.wait(10)
    assert heard == {"tcp", "udp"}


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="namespaces are Linux's")
def test_a_listener_hears_nothing_where_no_namespace_can_be_made(browser, tmp_path):
    """As on a cluster's node where they are off: the browser's own switches must do."""
    unshare = shutil.which("unshare")
    if not unshare or subprocess.run([unshare, "--user", "--map-root-user", "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine has no user namespaces: the test above ran without them")
    script = (
        "import sys; from pathlib import Path; from codecap.render import render_page\n"
        "told = render_page(Path(sys.argv[1]), 4, 160, 96, Path(sys.argv[2]), {'repeat_samples': 0})\n"
        "print(told.outcome.value, *told.flags)\n"
    )
    forbid = 'for kind in user net pid mnt; do echo 0 > /proc/sys/user/max_${kind}_namespaces; done; exec "$@"'
    with Ears() as ears:
        (tmp_path / "page.html").write_text(talks(ears.port))
        shut = [unshare, "--user", "--map-root-user", "sh", "-c", forbid, "sh"]
        command = [*shut, sys.executable, "-c", script, tmp_path / "page.html", tmp_path / "page.mp4"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
        assert ears.heard() == set()
    outcome, *flags = done.stdout.split()
    assert outcome == "ok"
    assert {"no_network_namespace", "no_pid_namespace"} <= set(flags)


@pytest.mark.parametrize("engine", ["beginframe", pytest.param("playwright", marks=pytest.mark.slow)])
def test_no_local_file_appears_in_the_picture(render, tmp_path, engine):
    folder = tmp_path / "secret"
    folder.mkdir()
    red, secret = folder / "red.png", folder / "secret.html"
    cv2.imwrite(str(red), np.full((64, 64, 3), (0, 0, 255), np.uint8))
    secret.write_text("<body style='background:#f00'>secret")
    (folder / "red.css").write_text("body {background: #f00 !important}")
    body = f"""<link rel=stylesheet href="{folder.as_uri()}/red.css"><style>div {{background-image: url({red.as_uri()})}}</style>
        <img src="{red.as_uri()}"><img src="secret/red.png">
        <iframe src="{secret.as_uri()}"></iframe><object data="{secret.as_uri()}"></object>
        <embed src="{red.as_uri()}"><svg width=64 height=64><image href="{red.as_uri()}" width=64 height=64 /></svg>
        <video poster="{red.as_uri()}"></video>"""
    script = f"""
        const redden = () => document.body.style.background = '#f00';
        fetch('{secret.as_uri()}').then(r => r.text()).then(redden).catch(() => 0);
        try {{ const x = new XMLHttpRequest(); x.open('GET', '{secret.as_uri()}', false); x.send(); redden() }} catch {{}}
        fetch('secret/red.png').then(r => r.blob()).then(redden).catch(() => 0);
        window.seek = () => new Promise(done => setTimeout(done, 100));"""
    rendered = render(page(script, body), engine=engine)
    assert rendered.certificate.outcome == Outcome.OK
    reddest = max(int((rgb[..., 0].astype(int) - rgb[..., 1]).max()) for rgb in rendered.frames())
    assert reddest < 80  # the yellow box: 0xff - 0xcc; pure red would be 255
    assert any("red.png" in blocked for blocked in rendered.certificate.requests_blocked)
