"""Asking the host, from inside: one POST of JSON to the gateway, and its answer."""

from __future__ import annotations

import base64
import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path

LONGEST_S = 1800
LATEST_S = 1e6


def seconds(word: str) -> float:
    """A time on the command line; for `argparse`, which says what is wrong."""
    told = float(word)
    if not abs(told) <= LATEST_S:
        raise ValueError
    return told


def ask(path: str, told: dict) -> dict:
    """The host's answer; ends the program with a message where there is none."""
    address = os.environ.get("CODECAP_GATEWAY")
    if not address:
        sys.exit("CODECAP_GATEWAY is not set: this command works inside a run only")
    request = urllib.request.Request(address + path, json.dumps(told).encode(), {"Content-Type": "application/json"})
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    try:
        with opener.open(request, timeout=LONGEST_S) as response:
            return json.loads(response.read())
    except urllib.error.HTTPError as error:
        try:
            words = json.loads(error.read())["error"]
        except (ValueError, KeyError, TypeError):
            words = error.reason
        sys.exit(f"not done: {words}")
    except (urllib.error.URLError, OSError, ValueError) as error:
        sys.exit(f"not done: the host does not answer ({error})")


def page_at(path: str) -> str:
    """A page's text; ends the program with a message where it cannot be read."""
    try:
        return Path(path).read_bytes().decode("utf-8", errors="replace")
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")


def write(path: Path, encoded: str) -> None:
    """Write a file that came in base64."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(base64.b64decode(encoded))
    except OSError as error:
        sys.exit(f"{path}: {error.strerror}")


def complaints(told: dict) -> list[str]:
    """What went wrong in a drawing, a line each; empty where nothing did."""
    lines = [] if told["outcome"] == "ok" else [f"outcome: {told['outcome']}: {told['detail']}"]
    lines += [f"console: {word}" for word in told["console_errors"]]
    lines += [f"blocked: {word}" for word in told["requests_blocked"]]
    return lines
