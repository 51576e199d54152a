"""Keys appear in no record, log or error, also when a server sends one back."""

from __future__ import annotations

import base64
import json
import os
import re
from urllib.parse import quote

from codecap.exchange.failures import Rejected
from codecap.exchange.question import Endpoint

SHORTEST_SECRET = 8  # "EMPTY" and "none" are what servers without keys are given
TELLING_START = 12  # so much of a key is as good as secret: servers like to quote the start of a wrong one
_NAME_IN_ADDRESS = re.compile(r"(?<=://)[^/@\s]+@")


class Redactor:
    """Replaces keys in texts by the names of the variables that they came from; used by many threads at once."""

    def __init__(self) -> None:
        self._secrets: dict[str, str] = {}

    def add(self, secret: str, name: str) -> None:
        if len(secret) < SHORTEST_SECRET:
            return
        shapes = (secret, quote(secret, safe=""), json.dumps(secret)[1:-1], base64.b64encode(secret.encode()).decode())
        if len(secret) >= 2 * TELLING_START:
            shapes += (secret[:TELLING_START], secret[-TELLING_START:])
        told = self._secrets | dict.fromkeys(shapes, f"[{name}]")
        self._secrets = dict(sorted(told.items(), key=lambda item: len(item[0]), reverse=True))

    def __call__(self, text: str) -> str:
        """A text without keys, otherwise as it is."""
        for secret, name in self._secrets.items():
            text = text.replace(secret, name)
        return text

    def message(self, text: str) -> str:
        """A message to people: also without names and passwords in addresses, as proxies have them."""
        return _NAME_IN_ADDRESS.sub("", self(text))


def key_of(endpoint: Endpoint, redactor: Redactor) -> str | None:
    """An endpoint's key from the environment; None when it needs none.

    Raises:
        Rejected: the variable is not set, or holds what cannot be a key. The message names the variable, never what is in it.
    """
    if endpoint.key_env is None:
        return None
    key = os.environ.get(endpoint.key_env, "").strip()
    if not key:
        raise Rejected(f"{endpoint.name}: no key; set the environment variable {endpoint.key_env}")
    if not key.isascii() or not key.isprintable() or " " in key:
        raise Rejected(f"{endpoint.name}: what the environment variable {endpoint.key_env} holds is no key; set it anew")
    redactor.add(key, endpoint.key_env)
    return key
