"""What a licence, as a site or a source's entry states it, allows: may a clip made of the video be published?

A clip is an adaptation of its video: it is cut out of it, brought to another rate and encoded anew. So licences without derivatives
allow none, and what is not understood allows nothing.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

DEFAULT_ALLOWED = ("CC0-1.0", "CC-PDM-1.0", "CC-BY-*", "CC-BY-SA-*", "MIT", "Apache-2.0", "BSD-2-Clause", "BSD-3-Clause")
_ANY = "4.0"  # the version where none is stated: sites that name none use the current one
_PLAIN = {
    "mit": "MIT",
    "mit license": "MIT",
    "mit licence": "MIT",
    "apache-2.0": "Apache-2.0",
    "apache license 2.0": "Apache-2.0",
    "bsd-2-clause": "BSD-2-Clause",
    "bsd-3-clause": "BSD-3-Clause",
    "public domain": "CC-PDM-1.0",
    "cc-pdm-1.0": "CC-PDM-1.0",
    "public domain mark 1.0": "CC-PDM-1.0",
    "creative commons attribution license (reuse allowed)": "CC-BY-3.0",  # YouTube's words, which link to version 3.0
    "creative commons attribution licence (reuse allowed)": "CC-BY-3.0",
}
_ADDRESS = re.compile(
    r"https?://(?:www\.)?creativecommons\.org/(?:licenses/([a-z-]+)/([1-4]\.[0-9])|publicdomain/(zero|mark)/1\.0)(?:/[\w-]+(?:\.[\w-]+)?)*/?"
)
_CODE = re.compile(r"(?:(?:cc|creative commons)[ -]?)?(by(?:[ -](?:nc|sa|nd))*)(?:[ -]v?([1-4]\.[0-9]))?")
_CC0 = re.compile(r"(?:cc|creative commons)[ -]?(?:zero|0)(?:[ -]1\.0)?(?: universal)?")
_WORDS = {"attribution": "by", "non-commercial": "nc", "noncommercial": "nc", "share-alike": "sa", "sharealike": "sa"}
_WORDS |= {"no-derivatives": "nd", "noderivatives": "nd", "noderivs": "nd", "no derivative works": "nd"}


def identifier(stated: str) -> str:
    """The licence's identifier by SPDX; empty where the words are not understood.

    >>> identifier("by-nc-nd"), identifier("CC BY-SA 4.0"), identifier("https://creativecommons.org/licenses/by/3.0/")
    ('CC-BY-NC-ND-4.0', 'CC-BY-SA-4.0', 'CC-BY-3.0')
    >>> identifier("Creative Commons Attribution license (reuse allowed)"), identifier("CC0"), identifier("All rights reserved")
    ('CC-BY-3.0', 'CC0-1.0', '')
    """
    text = " ".join(stated.lower().split())
    if text in _PLAIN:
        return _PLAIN[text]
    address = _ADDRESS.fullmatch(text)
    if address:
        if address[3]:
            return "CC0-1.0" if address[3] == "zero" else "CC-PDM-1.0"
        return _creative_commons(address[1], address[2])
    if _CC0.fullmatch(text):
        return "CC0-1.0"
    for word, code in _WORDS.items():
        text = text.replace(word, code)
    text = re.sub(r"\b(international|unported|license|licence)\b", "", text)
    code = _CODE.fullmatch(" ".join(text.split()))
    return _creative_commons(code[1], code[2] or _ANY) if code else ""


def allows_media(stated: str, allowed: Sequence[str] = DEFAULT_ALLOWED) -> bool:
    """Whether clips under this licence may be published.

    Args:
        allowed: SPDX identifiers; a `*` in them is any version. One without derivatives never allows it.

    >>> allows_media("CC BY 4.0"), allows_media("by-nc"), allows_media("by-nc", ["CC-BY-NC-*"])
    (True, False, True)
    >>> allows_media("by-nd", ["CC-BY-ND-*"])
    False
    """
    known = identifier(stated)
    if not known or "-ND" in known:
        return False
    return any(re.fullmatch(re.escape(pattern).replace(r"\*", "[0-9.]+"), known) for pattern in allowed)


def is_pattern(pattern: str) -> bool:
    """Whether an entry of `allowed` can ever allow anything.

    >>> is_pattern("CC-BY-*"), is_pattern("CC0-1.0"), is_pattern("CC BY 4.0"), is_pattern("*"), is_pattern("CC-BY-ND-4.0")
    (True, True, False, False, False)
    """
    return allows_media(pattern.replace("*", _ANY), [pattern])


def _creative_commons(parts: str, version: str) -> str:
    named = re.split(r"[ -]", parts)
    if named[0] != "by" or not set(named[1:]) <= {"nc", "sa", "nd"} or len(set(named)) != len(named):
        return ""
    return f"CC-{'-'.join(part.upper() for part in named)}-{version}"
